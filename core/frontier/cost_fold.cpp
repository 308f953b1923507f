#include "frontier/cost_fold.hpp"

#include <algorithm>

#include "frontier/one_level.hpp"
#include "frontier/side_fold.hpp"

namespace everytree {

void CostFold::fold(Frontier& frontier, int levels, const LeafCost& cost, Ticker& ticker, OneLevel& out) {
  const std::size_t n = frontier.n_groups();
  out.resize(n, frontier.stride(), kNoCost);
  if (bounds_)
    for (auto& lower : out.lower) lower.assign(frontier.stride(), -kNoCost);
  out.log_scale = 0;
  out.state_leaf = cost(frontier.totals());
  const bool two_classes = frontier.table().n_classes() == 2;
  if (use_kernels_ && two_classes && !cost.plain_error())
    if (const double* table = table_.cover(cost, frontier.min_leaf(), frontier.totals()[0], frontier.totals()[1])) {
      frontier.set_index(table_.shift());
      for (std::size_t i = 0; i < n; ++i) {
        out.leaf[1][i] = std::min(table[frontier.index()[i]], kNoCost);
        out.leaf[0][i] = std::min(table[frontier.total_index() - frontier.index()[i]], kNoCost);
      }
      if (levels >= 2 && n >= 2) two_class_costs(frontier, table, ticker, out);
      return;
    }
  leaves(frontier, cost, out);
  if (keep_ != nullptr) keep_->begin(frontier);
  if (levels < 2 || n < 2) return;
  if (!use_kernels_ || !cost.plain_error())
    any_cost(frontier, cost, ticker, out);
  else if (two_classes && frontier.total() < 32768)
    two_class_errors(frontier, cost, ticker, out);
  else
    any_errors(frontier, cost, ticker, out);
}

void CostFold::leaves(const Frontier& frontier, const LeafCost& cost, OneLevel& out) {
  const std::size_t n = frontier.n_groups(), n_classes = frontier.table().n_classes();
  if (n_classes == 2 && cost.plain_error()) {
    const std::int32_t *n0 = frontier.counts(0), *n1 = frontier.counts(1);
    const std::int32_t t0 = frontier.totals()[0], t1 = frontier.totals()[1];
    for (std::size_t i = 0; i < n; ++i) {
      out.leaf[1][i] = std::min(n0[i], n1[i]) + cost.per_leaf();
      out.leaf[0][i] = std::min(t0 - n0[i], t1 - n1[i]) + cost.per_leaf();
    }
    return;
  }
  counts_.resize(n_classes);
  for (std::size_t i = 0; i < n; ++i)
    for (int a = 0; a < 2; ++a) {
      for (std::size_t c = 0; c < n_classes; ++c)
        counts_[c] = a == 1 ? frontier.count(c, i) : frontier.totals()[c] - frontier.count(c, i);
      out.leaf[a][i] = cost(counts_.data());
    }
}

void CostFold::two_class_errors(Frontier& frontier, const LeafCost& cost, Ticker& ticker, OneLevel& out) {
  const std::size_t n = frontier.n_groups(), stride = frontier.stride();
  frontier.set_index(16);  // both counts in one 32-bit lane
  for (int a = 0; a < 2; ++a) {
    error_[a].assign(stride, kInfeasible);
    if (bounds_) bound_[a].assign(stride, kInfeasible);
  }
  const auto min_leaf = static_cast<std::int32_t>(frontier.min_leaf());
  // Whole errors only, so a price rounded down; one that no error can exceed need not be larger.
  const auto price = static_cast<std::int32_t>(std::min<double>(cost.per_leaf(), kInfeasibleError));
  PairErrors errors{frontier.index(),
                    frontier.total_index(),
                    min_leaf,
                    price,
                    {error_[0].data(), error_[1].data()},
                    {bounds_ ? bound_[0].data() : nullptr, bounds_ ? bound_[1].data() : nullptr}};
  for (std::size_t i = 0; i + 1 < n; i += kPairRows) {
    if (keep_ != nullptr) {
      errors.pairs = keep_->rows(i);
      errors.pairs_stride = keep_->width(i);
    }
    frontier.pair_errors(i, errors);
    ticker.tick(frontier, kPairRows);
  }
  errors_to(frontier, cost, kInfeasibleError, out);
  if (bounds_)
    for (int a = 0; a < 2; ++a)
      for (std::size_t i = 0; i < n; ++i)
        out.lower[a][i] = bound_[a][i] < kInfeasibleError ? bound_[a][i] + 2 * cost.per_leaf() : kNoCost;
}

void CostFold::any_errors(const Frontier& frontier, const LeafCost& cost, Ticker& ticker, OneLevel& out) {
  const std::size_t n = frontier.n_groups(), stride = frontier.stride(), n_classes = frontier.table().n_classes();
  for (int a = 0; a < 2; ++a) error_[a].assign(stride, kInfeasible);
  std::int32_t* const best[2] = {error_[0].data(), error_[1].data()};
  const PairCounts counts{n_classes,
                          frontier.counts(0),
                          frontier.totals(),
                          frontier.group_totals(),
                          frontier.total(),
                          static_cast<std::int32_t>(frontier.min_leaf()),
                          stride};
  for (std::size_t i = 0; i + 1 < n; ++i) {
    if (keep_ != nullptr && i % kPairRows == 0) frontier.pair_rows(i, keep_->width(i), keep_->rows(i));
    frontier.kernel().fold_errors(counts, frontier.next_pair_counts(i, pairs_), i, n, best);
    ticker.tick(frontier);
  }
  errors_to(frontier, cost, kInfeasible, out);
}

void CostFold::errors_to(const Frontier& frontier, const LeafCost& cost, std::int32_t none, OneLevel& out) const {
  for (int a = 0; a < 2; ++a)
    for (std::size_t i = 0; i < frontier.n_groups(); ++i)
      if (error_[a][i] < none) out.split[a][i] = error_[a][i] + 2 * cost.per_leaf();
}

void CostFold::two_class_costs(Frontier& frontier, const double* table, Ticker& ticker, OneLevel& out) {
  const std::size_t n = frontier.n_groups(), stride = frontier.stride();
  for (int a = 0; a < 2; ++a) tests_[a].assign(stride, 0);
  std::int32_t* const tests[2] = {tests_[0].data(), tests_[1].data()};
  double* const split[2] = {out.split[0].data(), out.split[1].data()};  // kNoCost so far
  const PairTable pairs{table, frontier.index(), frontier.multiplicities(), frontier.total_index()};
  for (std::size_t i = 0; i + 1 < n; ++i) {
    frontier.kernel().fold_min(pairs, frontier.next_pair_index(i, tests, pairs_), i, n, split);
    ticker.tick(frontier);
  }
}

void CostFold::any_cost(const Frontier& frontier, const LeafCost& cost, Ticker& ticker, OneLevel& out) {
  const std::size_t n = frontier.n_groups(), stride = frontier.stride(), n_classes = frontier.table().n_classes();
  counts_.resize(n_classes);
  const std::int32_t* pairs = nullptr;  // of i
  // Cost of the quadrant (i = a, j = b), and kNoCost below min_leaf.
  const auto quadrant = [&](std::size_t i, std::size_t j, int a, int b) {
    std::int64_t total = 0;
    for (std::size_t c = 0; c < n_classes; ++c) {
      const std::int32_t both = pairs[c * stride + j], of_i = frontier.count(c, i), of_j = frontier.count(c, j);
      counts_[c] =
          a == 1 ? (b == 1 ? both : of_i - both) : (b == 1 ? of_j - both : frontier.totals()[c] - of_i - of_j + both);
      total += counts_[c];
    }
    return total < frontier.min_leaf() ? kNoCost : cost(counts_.data());
  };
  const auto improve = [](double& best, double x, double y) {
    if (!no_cost(x) && !no_cost(y)) best = std::min(best, x + y);
  };
  for (std::size_t i = 0; i + 1 < n; ++i) {
    pairs = frontier.next_pair_counts(i, pairs_);
    for (std::size_t j = i + 1; j < n; ++j) {
      if ((j & 255) == 0) ticker.tick(frontier);
      const double q11 = quadrant(i, j, 1, 1), q10 = quadrant(i, j, 1, 0), q01 = quadrant(i, j, 0, 1),
                   q00 = quadrant(i, j, 0, 0);
      improve(out.split[1][i], q11, q10);
      improve(out.split[0][i], q01, q00);
      improve(out.split[1][j], q11, q01);
      improve(out.split[0][j], q10, q00);
    }
    ticker.tick(frontier);
  }
}

}  // namespace everytree
