// How probable the leaves of a closed state are, pair by pair.
//
//     P(leaf at i = a, j = b) = alpha_a(i) · w_i(a1) w_i(a0) + alpha_b(j) · w_j(1b) w_j(0b)
//
// the first where i is the upper test, the second where j is: alpha holds all that does not depend on the other test,
// that is the weight of the split, the trees on its other side, and the share of a second test. The four leaves need
// the same four look-ups as the fold, and each pair is seen once.
#include <algorithm>
#include <cmath>

#include "frontier/one_level.hpp"

namespace everytree {

bool OneLevelFold::begin_masses(const ProductWeights& weights, const OneLevel& level) {
  const Prior& prior = weights.prior();
  if (prior.fair && !weights.apart()) return false;  // shares differ within a group
  const LinearTables* tables = tables_for(weights);
  if (tables == nullptr && !(weights.relative() && weights.leaf().tabulated(frontier_.total()))) return false;
  const std::size_t n = level.n, stride = frontier_.stride();
  all_trees_ = level.state_leaf;
  for (std::size_t i = 0; i < n; ++i) all_trees_ += level.weight[i] * full(level, i, 1) * full(level, i, 0);
  if (weights.apart() && has_pairs()) runs_.set_shares();
  unit_.assign(stride, 0.0);
  for (std::size_t i = 0; i < n; ++i) unit_[i] = level.weight[i] / (frontier_.multiplicity(i) * all_trees_);
  const double log_split = prior.log_split_base(depth_ + 1) + 2 * prior.log_leaf(depth_ + 2, false);
  const double split = tables != nullptr ? std::exp(log_split) : 1.0;
  for (int a = 0; a < 2; ++a) {
    alpha_[a].assign(stride, 0.0);
    of_i_[a].assign(stride, 0.0);
    log_reference_[a].assign(stride, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      const double tests = level.tests[a][i];
      if (tables == nullptr) log_reference_[a][i] = reference_[a][i] - log_split;
      if (!(tests > 0)) continue;
      const double each =
          weights.apart() ? prior.fair_sum(tests) / runs_.n_columns(a, i) : 1 / prior.share_divisor(tests);
      alpha_[a][i] = unit_[i] * full(level, i, 1 - a) * split * each;
    }
  }
  for (auto& mass : masses_) mass.resize(stride);
  pair_of_ = static_cast<std::size_t>(-1);  // pairs_ is about to be overwritten
  return true;
}

PairCounts OneLevelFold::pair_counts() const {
  return {frontier_.table().n_classes(),
          frontier_.counts(0),
          frontier_.totals(),
          frontier_.group_totals(),
          frontier_.total(),
          static_cast<std::int32_t>(frontier_.min_leaf()),
          frontier_.stride()};
}

OneLevelFold::PairRow OneLevelFold::next_masses(const ProductWeights& weights, std::size_t i) {
  const std::size_t n = frontier_.n_groups(), stride = frontier_.stride(), n_classes = frontier_.table().n_classes();
  const std::int32_t* pair = frontier_.next_pair_counts(i, pairs_);
  ticker_.tick(frontier_);
  pair_total_.resize(stride);
  const std::size_t from = i & ~std::size_t{7}, to = (n + 7) & ~std::size_t{7};
  std::copy(pair + from, pair + to, pair_total_.data() + from);
  for (std::size_t c = 1; c < n_classes; ++c)
    for (std::size_t j = from; j < to; ++j) pair_total_[j] += pair[c * stride + j];
  PairScale scale{{alpha_[0].data(), alpha_[1].data()}, {nullptr, nullptr}, {nullptr, nullptr}};
  if (weights.apart()) {
    const std::size_t mine = runs_.run_of(i);
    for (int a = 0; a < 2; ++a) {
      for (std::size_t j = i + 1; j < n; ++j) of_i_[a][j] = runs_.share(a, runs_.run_of(j))[i];
      scale.of_i[a] = of_i_[a].data();
      scale.of_j[a] = runs_.share(a, mine);
    }
  }
  double* const mass[4] = {masses_[0].data(), masses_[1].data(), masses_[2].data(), masses_[3].data()};
  if (const LinearTables* tables = tables_for(weights)) {
    const PairTable table{tables->at_depth(weights.leaf(), depth_ + 2), frontier_.index(), frontier_.multiplicities(),
                          frontier_.total_index()};
    frontier_.kernel().pair_masses(table, tables->shift(), pair, pair + stride, i, n, scale, mass);
  } else {
    rising_.clear();
    for (std::size_t c = 0; c < n_classes; ++c) rising_.push_back(weights.leaf().rising(depth_ + 2, c));
    const PairLogs logs{n_classes,
                        rising_.data(),
                        weights.leaf().rising_sum(depth_ + 2),
                        frontier_.counts(0),
                        frontier_.totals(),
                        frontier_.group_totals(),
                        frontier_.total(),
                        static_cast<std::int32_t>(frontier_.min_leaf()),
                        stride,
                        frontier_.multiplicities(),
                        {log_reference_[0].data(), log_reference_[1].data()}};
    frontier_.kernel().pair_log_masses(logs, pair, i, n, scale, mass);
  }
  return {{mass[0], mass[1], mass[2], mass[3]}, pair, pair_total_.data()};
}

}  // namespace everytree
