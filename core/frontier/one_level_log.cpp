// Product weights of a closed state in logarithms: where the linear tables of frontier/product_weights.hpp do not
// reach. (Beyond the tables of logarithms: frontier/one_level_far.cpp.)
#include <algorithm>
#include <cmath>
#include <limits>

#include "common/infinity.hpp"
#include "frontier/one_level.hpp"

namespace everytree {

// log_term_[a][j] = log M(i=a, j=1) + log M(i=a, j=0), for feasible and infeasible j alike.
void OneLevelFold::log_terms(const ProductWeights& weights, std::size_t i) {
  load_pairs(i);
  const std::size_t n = frontier_.n_groups(), stride = frontier_.stride(), n_classes = frontier_.table().n_classes();
  for (int a = 0; a < 2; ++a) log_term_[a].assign(stride, 0.0);
  double* t1 = log_term_[1].data();
  double* t0 = log_term_[0].data();
  // r: log a(a+1)…(a+n−1) of class c by n; s: the same for Σa.
  const auto add_class = [&](std::size_t c, const double* r) {
    const std::int32_t* both = pairs_.data() + c * stride;
    const std::int32_t of_i = frontier_.count(c, i), rest = frontier_.totals()[c] - of_i;
    for (std::size_t j = 0; j < n; ++j) {
      const std::int32_t b = both[j], jj = frontier_.count(c, j);
      t1[j] += r[b] + r[of_i - b];
      t0[j] += r[jj - b] + r[rest - jj + b];
    }
  };
  const auto take_sum = [&](const double* s) {
    const std::int32_t of_i = frontier_.total(i), rest = frontier_.total() - of_i;
    for (std::size_t j = 0; j < n; ++j) {
      const std::int32_t b = pair_total_[j], jj = frontier_.total(j);
      t1[j] -= s[b] + s[of_i - b];
      t0[j] -= s[jj - b] + s[rest - jj + b];
    }
  };
  for (std::size_t c = 0; c < n_classes; ++c)
    if (frontier_.totals()[c] > 0) add_class(c, weights.leaf().rising(depth_ + 2, c));
  take_sum(weights.leaf().rising_sum(depth_ + 2));
}

// The terms of split i as `terms` gives them, by the kernel; where the parameters of leaves are tabulated.
void OneLevelFold::relative_terms(const ProductWeights& weights, std::size_t i, double log_split,
                                  double* const term[2]) {
  load_pairs(i);
  const Prior& prior = weights.prior();
  const std::size_t n = frontier_.n_groups(), stride = frontier_.stride(), n_classes = frontier_.table().n_classes();
  const Dirichlet& leaf = weights.leaf();
  rising_.clear();
  for (std::size_t c = 0; c < n_classes; ++c) rising_.push_back(leaf.rising(depth_ + 2, c));
  const PairLogs logs{n_classes,
                      rising_.data(),
                      leaf.rising_sum(depth_ + 2),
                      frontier_.counts(0),
                      frontier_.totals(),
                      frontier_.group_totals(),
                      frontier_.total(),
                      static_cast<std::int32_t>(frontier_.min_leaf()),
                      stride,
                      frontier_.multiplicities(),
                      {nullptr, nullptr}};
  for (int a = 0; a < 2; ++a) log_term_[a].resize(stride);
  double* const feasible[2] = {log_term_[0].data(), log_term_[1].data()};
  const double shift[2] = {log_split - reference_[0][i], log_split - reference_[1][i]};
  frontier_.kernel().log_terms(logs, pairs_.data(), i, n, shift, term, feasible);
  for (int a = 0; a < 2; ++a) {
    double n_tests = 0;
    if (frontier_.apart()) {
      share_by_column(prior, term[a], [&](std::size_t j) { return feasible[a][j] > 0; });
    } else if (prior.fair) {
      child_shares<SumProduct>(prior, a, share_.data(), n_tests);
      for (std::size_t j = 0; j < n; ++j) term[a][j] *= share_[j];
    } else {
      const double* m = frontier_.multiplicities();
      for (std::size_t j = 0; j < n; ++j) n_tests += m[j] * feasible[a][j];
      const double each = 1.0 / prior.share_divisor(std::max(n_tests, 1.0));
      for (std::size_t j = 0; j < n; ++j) term[a][j] *= m[j] * each;
    }
  }
}

// Terms relative to the child's leaf weight, folded by the kernel: true unless one of them leaves the range of a
// double.
template <PlainProduct A>
bool OneLevelFold::fold_relative(const ProductWeights& weights, OneLevel& out) {
  const std::size_t n = frontier_.n_groups(), stride = frontier_.stride(), n_classes = frontier_.table().n_classes();
  const Dirichlet& leaf = weights.leaf();
  std::vector<std::int32_t> counts(n_classes);
  rising_.clear();
  for (std::size_t c = 0; c < n_classes; ++c) rising_.push_back(leaf.rising(depth_ + 2, c));
  for (int a = 0; a < 2; ++a) {
    log_term_[a].assign(stride, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t c = 0; c < n_classes; ++c)
        counts[c] = a == 1 ? frontier_.count(c, i) : frontier_.totals()[c] - frontier_.count(c, i);
      log_term_[a][i] = leaf.log_marginal(depth_ + 2, counts.data());
    }
    std::fill(out.split[a].begin(), out.split[a].end(), Idempotent<A> ? -kInf : 0.0);
  }
  const PairLogs logs{n_classes,
                      rising_.data(),
                      leaf.rising_sum(depth_ + 2),
                      frontier_.counts(0),
                      frontier_.totals(),
                      frontier_.group_totals(),
                      frontier_.total(),
                      static_cast<std::int32_t>(frontier_.min_leaf()),
                      stride,
                      frontier_.multiplicities(),
                      {log_term_[0].data(), log_term_[1].data()}};
  if (weights.apart()) {
    const auto fold = Idempotent<A> ? frontier_.kernel().apart_log_max : frontier_.kernel().apart_log_sum;
    runs_.fold<A, true>(stride, out.split, out.tests, [&](std::size_t i, const Apart& apart) {
      fold(logs, frontier_.next_pair_counts(i, pairs_), i, n, apart);
      ticker_.tick(frontier_);
    });
  } else {
    double* const split[2] = {out.split[0].data(), out.split[1].data()};
    double* const tests[2] = {out.tests[0].data(), out.tests[1].data()};
    const auto fold = Idempotent<A> ? frontier_.kernel().fold_log_max : frontier_.kernel().fold_log_sum;
    for (std::size_t i = 0; i + 1 < n; ++i) {
      fold(logs, frontier_.next_pair_counts(i, pairs_), i, n, split, tests);
      ticker_.tick(frontier_);
    }
  }
  // To log split weights, without the prior.
  const Prior& prior = weights.prior();
  for (int a = 0; a < 2; ++a)
    for (std::size_t i = 0; i < n; ++i) {
      if (!(out.tests[a][i] > 0)) {
        out.split[a][i] = -kInf;
        continue;
      }
      const double log_sum = Idempotent<A> ? out.split[a][i] : std::log(out.split[a][i]);
      if (!std::isfinite(log_sum)) return false;
      out.split[a][i] =
          log_sum + log_term_[a][i] +
          (weights.apart() ? std::log(prior.fair_sum(out.tests[a][i])) : prior.log_share(out.tests[a][i]));
    }
  return true;
}

// The same in two passes per child, with the shares of attribute-fair priors: never leaves the range.
template <PlainProduct A>
void OneLevelFold::fold_two_pass(const ProductWeights& weights, OneLevel& out) {
  const std::size_t n = frontier_.n_groups();
  share_.resize(frontier_.stride());
  for (std::size_t i = 0; i < n; ++i) {
    ticker_.tick(frontier_);
    log_terms(weights, i);
    for (int a = 0; a < 2; ++a) {
      double largest = -kInf, sum = 0;
      child_shares<A>(weights.prior(), a, share_.data(), out.tests[a][i]);
      const double* t = log_term_[a].data();
      for (std::size_t j = 0; j < n; ++j)
        if (share_[j] > 0) largest = std::max(largest, t[j]);
      for (std::size_t j = 0; j < n; ++j) {
        if (!(share_[j] > 0)) continue;
        const double x = share_[j] * std::exp(t[j] - largest);
        sum = plus<A>(sum, x);
      }
      out.split[a][i] = sum > 0 ? largest + std::log(sum) : -kInf;
    }
  }
}

template <PlainProduct A>
void OneLevelFold::product_log(const ProductWeights& weights, OneLevel& out) {
  if (!weights.leaf().tabulated(frontier_.total())) {
    product_far<A>(weights, out);
    return;
  }
  const Prior& prior = weights.prior();
  const std::size_t n = frontier_.n_groups(), n_classes = frontier_.table().n_classes();
  std::vector<std::int32_t> counts(n_classes);
  // First log split weights in out.split, then everything relative to a reference.
  for (int a = 0; a < 2; ++a) std::fill(out.split[a].begin(), out.split[a].end(), -kInf);
  if (levels_ == 2 && n > 1) {
    if ((prior.fair && !weights.apart()) || !weights.relative() || !fold_relative<A>(weights, out)) {
      for (int a = 0; a < 2; ++a) std::fill(out.tests[a].begin(), out.tests[a].end(), 0.0);
      fold_two_pass<A>(weights, out);
    }
  }
  for (int a = 0; a < 2; ++a) reference_[a].assign(n, 0.0);
  const double log_split = prior.log_split_base(depth_ + 1) + 2 * prior.log_leaf(depth_ + 2, false);
  const double base = prior.log_split_base(depth_);
  double reference = weights.log_leaf(frontier_.totals(), depth_, n > 0);
  const double log_state_leaf = reference;
  for (std::size_t i = 0; i < n; ++i) {
    for (int a = 0; a < 2; ++a) {
      for (std::size_t c = 0; c < n_classes; ++c)
        counts[c] = a == 1 ? frontier_.count(c, i) : frontier_.totals()[c] - frontier_.count(c, i);
      const double as_leaf = weights.log_leaf(counts.data(), depth_ + 1, out.tests[a][i] > 0);
      const double as_split = out.split[a][i] + log_split;
      // Leaf and split of a child share a reference, so that neither leaves the range of a double.
      const double r = std::max(as_leaf, as_split);
      reference_[a][i] = r;
      out.leaf[a][i] = std::exp(as_leaf - r);
      out.split[a][i] = std::exp(as_split - r);
    }
    reference = std::max(reference, base + reference_[0][i] + reference_[1][i]);
  }
  for (std::size_t i = 0; i < n; ++i) out.weight[i] *= std::exp(base + reference_[0][i] + reference_[1][i] - reference);
  out.state_leaf = std::exp(log_state_leaf - reference);
  out.log_scale = reference;
  out.log_scale_low = 0;
  pair_of_ = static_cast<std::size_t>(-1);  // pairs_ was overwritten
}

template void OneLevelFold::product_log<SumProduct>(const ProductWeights&, OneLevel&);
template void OneLevelFold::product_log<MaxProduct>(const ProductWeights&, OneLevel&);

}  // namespace everytree
