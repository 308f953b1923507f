#include "weights/linear_tables.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace everytree {

namespace {

// Largest cover for which products of up to four leaves stay in the range of a double.
// |logM + s·n| ≤ b + r·n for every leaf of n examples, with b = 12; a cover falls into at most four leaves, so
// products stay within 4b + r·n. For fixed n, logM is convex in n_0: its maximum is at an end and its minimum
// moves monotonically with n.
std::int32_t largest_safe_total(const Dirichlet& leaf, std::size_t variant, std::int32_t max0, std::int32_t max1,
                                double s) {
  const double* r0 = leaf.rising(variant, 0);
  const double* r1 = leaf.rising(variant, 1);
  const double* rs = leaf.rising_sum(variant);
  constexpr double kBase = 12, kRange = 600;
  double rate = 0;
  std::int32_t at = 0;
  for (std::int32_t n = 1; n <= max0 + max1; ++n) {
    const std::int32_t low = std::max(0, n - max1), high = std::min(n, max0);
    const auto value = [&](std::int32_t n0) { return r0[n0] + r1[n - n0] - rs[n] + s * n; };
    at = std::clamp(at, low, high);
    while (at < high && value(at + 1) < value(at)) ++at;
    while (at > low && value(at - 1) < value(at)) --at;
    const double largest = std::max({std::abs(value(low)), std::abs(value(high)), std::abs(value(at))});
    rate = std::max(rate, (largest - kBase) / n);
    if (4 * kBase + rate * n > kRange) return n - 1;
  }
  return max0 + max1;
}

}  // namespace

LinearTables::LinearTables(const Dirichlet& leaf, std::int32_t max0, std::int32_t max1, std::int64_t min_leaf) {
  shift_ = std::bit_width(static_cast<std::uint32_t>(max1));
  const std::int32_t most[2] = {max0, max1};
  // Half the rate of the evenly mixed leaf: centres the range of the values around zero.
  if (max0 + max1 > 0) log_scale_ = -0.5 * leaf.log_marginal(leaf.n_variants() - 1, most) / (max0 + max1);
  safe_total_ = max0 + max1;
  for (std::size_t v = 0; v < leaf.n_variants(); ++v)
    safe_total_ = std::min(safe_total_, largest_safe_total(leaf, v, max0, max1, log_scale_));
  const double growth = std::exp(log_scale_);
  const bool plain = leaf.power() == 1 && leaf.per_example() == 1 && leaf.kappa() == 0;
  for (std::size_t v = 0; v < leaf.n_variants(); ++v) {
    auto& table = tables_.emplace_back(static_cast<std::size_t>(max0 + 1) << shift_, 0.0);
    const double a1 = leaf.a(v, 1), sum_a = leaf.sum_a(v);
    for (std::int32_t n0 = 0; n0 <= std::min(max0, safe_total_); ++n0) {
      double* row = table.data() + (static_cast<std::size_t>(n0) << shift_);
      const std::int32_t last = std::min(max1, safe_total_ - n0);
      double value = 0;
      for (std::int32_t n1 = 0; n1 <= last; ++n1) {
        // Neighbours differ by the factor (a_1 + n1) / (Σa + n0 + n1): one exp per 32 entries instead of one per
        // entry, and often enough that rounding does not add up. A power of it, or of a part of an example, costs as
        // much as the exp.
        if (n1 % 32 == 0 || !plain) {
          const std::int32_t counts[2] = {n0, n1};
          value = std::exp(leaf.log_marginal(v, counts) + log_scale_ * (n0 + n1));
        }
        if (n0 + n1 >= min_leaf) row[n1] = value;
        value *= growth * (a1 + n1) / (sum_a + n0 + n1);
      }
    }
  }
}

}  // namespace everytree
