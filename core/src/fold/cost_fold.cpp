#include "everytree/fold/cost_fold.hpp"

#include <algorithm>

#include "everytree/fold/one_level.hpp"

namespace everytree {

void CostFold::fold(Frontier& frontier, int levels, const LeafCost& cost, Ticker& ticker, OneLevel& out) {
  const std::size_t n = frontier.n_groups();
  out.resize(n, frontier.stride(), kNoCost);
  out.log_scale = 0;
  out.state_leaf = cost(frontier.totals());
  leaves(frontier, cost, out);
  if (levels < 2 || n < 2) return;
  if (frontier.table().n_classes() == 2 && cost.kind() == CostKind::error && frontier.total() < 32768)
    two_class_errors(frontier, cost, ticker, out);
  else
    any_cost(frontier, cost, ticker, out);
}

void CostFold::leaves(const Frontier& frontier, const LeafCost& cost, OneLevel& out) {
  const std::size_t n = frontier.n_groups(), n_classes = frontier.table().n_classes();
  if (n_classes == 2 && cost.kind() == CostKind::error) {
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
    tests_[a].assign(stride, 0);
  }
  std::int32_t* const best[2] = {error_[0].data(), error_[1].data()};
  std::int32_t* const tests[2] = {tests_[0].data(), tests_[1].data()};
  pairs_.resize(std::max(pairs_.size(), stride));
  for (std::size_t i = 0; i + 1 < n; ++i) {
    frontier.pair_index(i, tests, pairs_.data());
    frontier.kernel().fold_error(frontier.index(), frontier.total_index(),
                                 static_cast<std::int32_t>(frontier.min_leaf()), pairs_.data(), i, n, best);
    ticker.tick(frontier);
  }
  for (int a = 0; a < 2; ++a)
    for (std::size_t i = 0; i < n; ++i)
      if (error_[a][i] < kInfeasible) out.split[a][i] = error_[a][i] + 2 * cost.per_leaf();
}

void CostFold::any_cost(const Frontier& frontier, const LeafCost& cost, Ticker& ticker, OneLevel& out) {
  const std::size_t n = frontier.n_groups(), stride = frontier.stride(), n_classes = frontier.table().n_classes();
  pairs_.resize(std::max(pairs_.size(), n_classes * stride));
  counts_.resize(n_classes);
  for (std::size_t i = 0; i < n; ++i) {
    frontier.pair_counts(i, pairs_.data());
    ticker.tick(frontier);
    for (int a = 0; a < 2; ++a) {
      double best = kNoCost;
      for (std::size_t j = 0; j < n; ++j) {
        if (j == i) continue;
        double sum = 0;
        bool feasible = true;
        for (int b = 0; b < 2 && feasible; ++b) {
          std::int64_t total = 0;
          for (std::size_t c = 0; c < n_classes; ++c) {
            const std::int32_t both = pairs_[c * stride + j], of_i = frontier.count(c, i), of_j = frontier.count(c, j);
            counts_[c] = a == 1 ? (b == 1 ? both : of_i - both)
                                : (b == 1 ? of_j - both : frontier.totals()[c] - of_i - of_j + both);
            total += counts_[c];
          }
          feasible = total >= frontier.min_leaf();
          if (feasible) sum += cost(counts_.data());
        }
        if (feasible) best = std::min(best, sum);
      }
      out.split[a][i] = best;
    }
  }
}

}  // namespace everytree
