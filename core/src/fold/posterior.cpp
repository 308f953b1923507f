// The evidence, and what follows from folds alone. One node: path.cpp; draws: sample.cpp; prediction: predict.cpp;
// inclusion: inclusion.cpp.
#include "everytree/fold/posterior.hpp"

#include <cmath>
#include <limits>

#include "everytree/algebra/by_depth.hpp"
#include "everytree/algebra/by_leaves.hpp"
#include "everytree/algebra/expectation.hpp"
#include "everytree/fold/up.hpp"
#include "everytree/fold/weigh.hpp"

namespace everytree {

Posterior::Posterior(std::shared_ptr<const Graph> graph, Prior prior, std::shared_ptr<const Dirichlet> leaf,
                     bool linear, std::size_t n_threads, Control& control)
    : graph_(std::move(graph)), weights_(*graph_, std::move(prior), std::move(leaf), linear), n_threads_(n_threads) {
  u_ = fold_up<SumProduct>(*graph_, WeighProduct<SumProduct>(*graph_, weights_, Plus::sum), control, n_threads);
}

void Posterior::inner_node(std::size_t id, InnerNode& out) const {
  const State& s = graph_->state(id);
  const auto depth = static_cast<std::size_t>(s.depth);
  std::vector<std::int32_t> counts(graph_->table().n_classes());
  graph_->table().class_counts(graph_->cover(id), counts.data());
  const Wide u = u_[id];
  out.leaf = (Wide::from_log(weights_.log_leaf(counts.data(), depth, s.n_tests > 0)) / u).scaled(0);
  const Wide base = Wide::from_log(weights_.prior().log_split_base(depth)) / u;
  out.split.clear();
  for (const Split& split : graph_->splits(s))
    out.split.push_back((base * u_[split.child[1]] * u_[split.child[0]]).scaled(0));
}

double Posterior::log_joint(const Key& key) const {
  const CountTable& table = graph_->table();
  const GraphOptions& options = graph_->options();
  const Prior& prior = weights_.prior();
  const std::size_t words = table.n_words();
  struct Open {
    Cover cover;
    std::size_t depth;
  };
  std::vector<Open> open{{table.all(), 0}};
  std::vector<std::int32_t> counts(table.n_classes());
  Shares shares;
  double sum = 0;
  for (std::int32_t test : key) {
    if (open.empty()) throw InvalidInput("the tree's key goes on after the tree is complete");
    if (test < -1 || test >= static_cast<std::int32_t>(table.n_tests()))
      throw InvalidInput("the tree uses test " + std::to_string(test) + "; the space has " +
                         std::to_string(table.n_tests()) + " tests, counted from 0");
    Open node = std::move(open.back());
    open.pop_back();
    const std::int64_t total = table.count(node.cover.data());
    const bool at_limit = options.max_depth >= 0 && node.depth >= static_cast<std::size_t>(options.max_depth);
    bool any = false, chosen = false;
    shares.begin(prior);
    if (!at_limit)
      for (std::uint32_t t = 0; t < table.n_tests(); ++t) {
        const std::int64_t ones = table.count(node.cover.data(), t);
        if (ones < options.min_leaf || total - ones < options.min_leaf) continue;
        any = true;
        chosen = chosen || static_cast<std::int32_t>(t) == test;
        shares.add(t);
      }
    if (test < 0) {
      table.class_counts(node.cover.data(), counts.data());
      sum += weights_.log_leaf(counts.data(), node.depth, any);
      continue;
    }
    if (!chosen) return -std::numeric_limits<double>::infinity();
    sum += prior.log_split_base(node.depth) + std::log(shares.share(static_cast<std::uint32_t>(test)));
    const std::uint64_t* column = table.column(static_cast<std::size_t>(test));
    Open one{Cover(words), node.depth + 1};
    for (std::size_t w = 0; w < words; ++w) {
      one.cover[w] = node.cover[w] & column[w];
      node.cover[w] &= ~column[w];
    }
    ++node.depth;
    open.push_back(std::move(one));  // the 0 side comes first in the key
    open.push_back(std::move(node));
  }
  if (!open.empty()) throw InvalidInput("the tree's key ends before the tree is complete");
  return sum;
}

std::vector<Best> Posterior::likeliest(Control& control) const {
  const auto value =
      fold_up<MaxProduct>(*graph_, WeighProduct<MaxProduct>(*graph_, weights_, Plus::max), control, n_threads_);
  std::vector<Best> best;
  best.reserve(value.size());
  for (const auto& v : value) best.push_back({-v.weight.log(), v.leaves});
  return best;
}

Key Posterior::map_tree(Control& control) const {
  const ProductScores scores(weights_);
  return TreeFinder(*graph_, scores, likeliest(control), control).best_tree();
}

double Posterior::log_map(Control& control) const {
  return fold_up<MaxProduct>(*graph_, WeighProduct<MaxProduct>(*graph_, weights_, Plus::max), control, n_threads_)[0]
      .weight.log();
}

std::vector<Ranked> Posterior::top(std::size_t k, Control& control) const {
  const ProductScores scores(weights_);
  auto trees = TreeFinder(*graph_, scores, likeliest(control), control).first(k);
  for (Ranked& tree : trees) tree.score = -tree.score;
  return trees;
}

std::vector<double> Posterior::leaves_distribution(Control& control) const {
  using A = ByLeaves<SumProduct>;
  const auto value = fold_up<A>(*graph_, WeighProduct<A>(*graph_, weights_, Plus::sum), control, n_threads_);
  std::vector<double> out;
  for (const Wide& x : value[0]) out.push_back((x / u_[0]).scaled(0));
  return out;
}

std::vector<double> Posterior::depth_distribution(Control& control) const {
  using A = ByDepth<SumProduct>;
  const auto value = fold_up<A>(*graph_, WeighProduct<A>(*graph_, weights_, Plus::sum), control, n_threads_);
  std::vector<double> out;
  double below = 0;
  for (const Wide& x : value[0]) {
    const double at_most = (x / u_[0]).scaled(0);
    out.push_back(std::max(0.0, at_most - below));
    below = at_most;
  }
  return out;
}

double Posterior::expected_leaves(Control& control) const {
  const auto value =
      fold_up<Expectation>(*graph_, WeighProduct<Expectation>(*graph_, weights_, Plus::sum), control, n_threads_);
  return (value[0].r / value[0].p).scaled(0);
}

}  // namespace everytree
