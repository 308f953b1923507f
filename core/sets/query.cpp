#include "sets/query.hpp"

#include <limits>
#include <string>

#include "algebra/by_leaves.hpp"
#include "algebra/lexicographic.hpp"
#include "algebra/min_plus.hpp"
#include "fold/up.hpp"
#include "fold/weigh.hpp"

namespace everytree {

namespace {
void check(const Graph& graph, const LeafCost& cost) {
  if (cost.n_classes() != graph.table().n_classes())
    throw InvalidInput("the cost is for " + std::to_string(cost.n_classes()) + " classes; the table has " +
                       std::to_string(graph.table().n_classes()));
}
}  // namespace

Natural count_trees(const Graph& graph, Control& control) {
  return fold_up<Count>(graph, WeighCount(graph), control, graph.options().n_threads)[0];
}

double least_cost(const Graph& graph, const LeafCost& cost, Control& control) {
  check(graph, cost);
  return fold_up<MinPlus>(graph, WeighCost<MinPlus>(graph, cost), control, graph.options().n_threads)[0];
}

std::vector<Ranked> best_trees(const Graph& graph, const LeafCost& cost, std::size_t k, Control& control) {
  check(graph, cost);
  const auto value =
      fold_up<Lexicographic>(graph, WeighCost<Lexicographic>(graph, cost), control, graph.options().n_threads);
  if (!(value[0].cost < std::numeric_limits<double>::infinity()))
    return {};  // no tree has only leaves that are allowed
  const CostScores scores(cost);
  TreeFinder finder = TreeFinder::of<Lexicographic>(graph, scores, value, control);
  if (k == 1) return {{value[0].cost, finder.best_tree()}};
  return finder.first(k);
}

std::vector<FrontPoint> cost_front(const Graph& graph, const LeafCost& cost, Control& control) {
  check(graph, cost);
  using A = ByLeaves<MinPlus>;
  const auto value = fold_up<A>(graph, WeighCost<A>(graph, cost), control, graph.options().n_threads);
  const CostScores scores(cost);
  TreeFinder finder(graph, scores, control);
  std::vector<FrontPoint> out;
  for (std::size_t n = 1; n <= value[0].size(); ++n) {
    const double least = value[0][n - 1];
    if (least < std::numeric_limits<double>::infinity() &&
        (out.empty() || (least < out.back().cost && !tied(least, out.back().cost))))
      out.push_back({n, least, finder.best_with_leaves(value, n)});
  }
  return out;
}

}  // namespace everytree
