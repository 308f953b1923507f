// What the posterior says of one node: whether it is a leaf, and by which test it is split.
#include <cmath>
#include <optional>

#include "down/posterior.hpp"
#include "fold/weigh.hpp"
#include "table/offers.hpp"

namespace everytree {

Posterior::PathNode Posterior::path_node(const std::vector<std::pair<std::int32_t, int>>& steps) const {
  const CountTable& table = graph_->table();
  const auto& classes = table.test_classes();
  const Prior& prior = weights_.prior();
  const std::int64_t min_leaf = graph_->options().min_leaf;
  std::vector<std::uint32_t> class_of(table.n_tests(), 0xffffffffu);
  for (std::uint32_t k = 0; k < classes.size(); ++k)
    for (std::uint32_t member : classes[k].members) class_of[member >> 1] = k;

  PathNode out;
  out.split.assign(table.n_tests(), 0.0);
  Cover cover = table.all();
  std::uint32_t id = 0;
  int below = 0;  // steps taken below a closed state
  // Whether a closed state offers a test, to both of its levels.
  std::vector<char> offered;
  const auto look = [&] {
    offered.assign(table.n_tests(), 0);
    Offers offers(table, min_leaf);
    for (const std::uint32_t k : offers.of(graph_->cover(id)))
      for (const std::uint32_t member : classes[k].members) offered[member >> 1] = 1;
  };
  // The state on one side of a class of tests of an inner state.
  const auto child_of = [&](const State& s, std::uint32_t cls, std::uint32_t side) -> std::optional<std::uint32_t> {
    for (const Split& split : graph_->splits(s))
      for (const std::uint32_t part : graph_->parts(split))
        if (part >> 1 == cls) return split.child[side ^ (part & 1)];
    return std::nullopt;
  };
  if (!graph_->state(id).inner()) look();
  std::size_t depth = 0;
  for (const auto& [test, outcome] : steps) {
    if (test < 0 || static_cast<std::size_t>(test) >= table.n_tests())
      throw InvalidInput("a path uses test " + std::to_string(test) + "; the space has " +
                         std::to_string(table.n_tests()) + " tests, counted from 0");
    const State& s = graph_->state(id);
    const std::int64_t ones = table.count(cover.data(), static_cast<std::size_t>(test));
    if (ones < min_leaf || table.count(cover.data()) - ones < min_leaf) return out;
    if (!s.inner() && (++below > s.levels || !offered[static_cast<std::size_t>(test)])) return out;
    const std::uint64_t* column = table.column(static_cast<std::size_t>(test));
    for (std::size_t w = 0; w < cover.size(); ++w) cover[w] &= outcome ? column[w] : ~column[w];
    ++depth;
    if (!s.inner()) continue;
    const std::uint32_t cls = class_of[static_cast<std::size_t>(test)];
    std::uint32_t flipped_member = 0;
    for (std::uint32_t member : classes[cls].members)
      if (member >> 1 == static_cast<std::uint32_t>(test)) flipped_member = member & 1;
    const std::uint32_t side = static_cast<std::uint32_t>(outcome != 0) ^ flipped_member;
    const std::optional<std::uint32_t> next = child_of(s, cls, side);
    if (!next) return out;  // the state does not offer the test
    id = *next;
    if (!graph_->state(id).inner()) look();
  }
  out.exists = true;
  out.counts.resize(table.n_classes());
  table.class_counts(cover.data(), out.counts.data());
  const State& s = graph_->state(id);
  if (!graph_->options().by_depth) depth = 0;

  if (s.inner()) {
    InnerNode node;
    inner_node(id, node);
    InnerShares shares(*graph_, prior);
    shares.load(s);
    out.leaf = node.leaf;
    const auto splits = graph_->splits(s);
    for (std::size_t k = 0; k < splits.size(); ++k)
      table.for_each_test(graph_->parts(splits[k]),
                          [&](std::uint32_t test, bool) { out.split[test] = node.split[k] * shares.share(test); });
    return out;
  }

  const int left = s.levels - below;
  if (left == 0) {
    out.leaf = 1;
    return out;
  }
  // Two levels left: from the frontier. One level left: the same sums over single tests, by direct counting.
  std::vector<double> weight(table.n_tests(), 0.0);  // relative to the largest, or to the scale of the level
  double leaf = 0;
  Shares shares;
  shares.begin(prior);
  if (left == 2) {
    OneLevelFold fold(*graph_);
    OneLevel level;
    fold.product<SumProduct>(id, weights_, level);
    leaf = level.state_leaf;
    if (level.n == 0) {
      out.leaf = 1;
      return out;
    }
    const Frontier& f = fold.frontier();
    for (std::size_t g = 0; g < level.n; ++g) shares.add(table, f.parts(g));
    for (std::size_t g = 0; g < level.n; ++g) {
      const double w = level.weight[g] * (level.leaf[1][g] + level.split[1][g]) *
                       (level.leaf[0][g] + level.split[0][g]) / shares.share<SumProduct>(table, f.parts(g));
      table.for_each_test(f.parts(g), [&](std::uint32_t t, bool) { weight[t] = w * shares.share(t); });
    }
  } else {
    std::vector<std::int32_t> side(table.n_classes());
    std::vector<LongLog> log_weight(table.n_tests());
    std::vector<std::uint32_t> feasible;
    Cover child(cover.size());
    const std::int64_t total = table.count(cover.data());
    for (std::uint32_t t = 0; t < table.n_tests(); ++t) {
      if (!offered[t]) continue;
      const std::int64_t ones = table.count(cover.data(), t);
      if (ones < min_leaf || total - ones < min_leaf) continue;
      feasible.push_back(t);
      shares.add(t);
      for (std::size_t w = 0; w < cover.size(); ++w) child[w] = cover[w] & table.column(t)[w];
      table.class_counts(child.data(), side.data());
      log_weight[t] = weights_.long_leaf(side.data(), depth + 1, false);
      for (std::size_t c = 0; c < side.size(); ++c) side[c] = out.counts[c] - side[c];
      log_weight[t] += weights_.long_leaf(side.data(), depth + 1, false);
      log_weight[t] += prior.log_split_base(depth);
    }
    const LongLog log_leaf = weights_.long_leaf(out.counts.data(), depth, !feasible.empty());
    LongLog reference = log_leaf;
    for (std::uint32_t t : feasible)
      if (reference < log_weight[t]) reference = log_weight[t];
    leaf = std::exp(log_leaf - reference);
    for (std::uint32_t t : feasible) weight[t] = shares.share(t) * std::exp(log_weight[t] - reference);
  }
  double total = leaf;
  for (double w : weight) total += w;
  out.leaf = leaf / total;
  for (std::size_t t = 0; t < weight.size(); ++t) out.split[t] = weight[t] / total;
  return out;
}

}  // namespace everytree
