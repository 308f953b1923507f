#include "bind.hpp"
#include "mine/strategies.hpp"

namespace everytree::bind {

namespace {

using Query = std::tuple<std::vector<const LeafCost*>, std::vector<std::size_t>,
                         std::vector<std::pair<std::size_t, double>>, std::vector<std::uint32_t>, std::size_t>;

// (costs, rank, bounds, required, k), as `pareto` takes them.
ParetoQuery query_of(const Query& given) {
  ParetoQuery query;
  std::tie(query.costs, query.rank, query.bounds, query.required, query.k) = given;
  for (std::uint32_t bits : query.required) query.all_required |= bits;
  return query;
}

using Trees = std::vector<std::pair<std::vector<double>, Key>>;

std::tuple<Trees, nb::typed<nb::dict, nb::str, nb::object>> told(mine::Found found) {
  Trees trees;
  for (Judged& tree : found.trees) trees.emplace_back(std::move(tree.values), std::move(tree.key));
  nb::dict report;
  report["itemsets"] = found.report.itemsets;
  report["counted"] = found.report.counted;
  report["states"] = found.report.states;
  report["bytes"] = found.report.bytes;
  report["seconds_mining"] = found.report.seconds_mining;
  report["seconds_total"] = found.report.seconds_total;
  return {std::move(trees), nb::borrow<nb::typed<nb::dict, nb::str, nb::object>>(report)};
}

}  // namespace

void bind_mine(nb::module_& m) {
  m.def(
      "mine",
      [](const CountTable& table, const std::string& strategy, const Query& query, int max_depth, std::int64_t min_leaf,
         PyControl& control) {
        return told(run(control, [&](Control& c) {
          mine::Meter meter(c);
          return mine::find_strategy(strategy).run(mine::Lattice(table, query_of(query), max_depth, min_leaf), meter);
        }));
      },
      nb::arg("table"), nb::arg("strategy"), nb::arg("query"), nb::arg("max_depth"), nb::arg("min_leaf"),
      nb::arg("control"),
      "The answers to a query (costs, rank, bounds, required, k) by a strategy of DL8: (trees, report). Trees are "
      "(values, key), best first; values are those of `pareto`, and only the cost where the query ranks one cost, or "
      "one cost and then leaves, and nothing else.");
}

}  // namespace everytree::bind
