#include "weights/dirichlet.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace everytree {

namespace {

// power · log Γ(a + k / per_example) / Γ(a) for k = 0..n; of whole examples by compensated summation. `end` becomes the
// last entry with what it was rounded off by.
std::vector<double> rising_table(double a, double power, double per_example, std::size_t n, Control* control,
                                 LongLog& end) {
  std::vector<double> table(n + 1);
  if (per_example != 1) {
    for (std::size_t k = 1; k <= n; ++k) {
      table[k] = power * log_rising(a, static_cast<double>(k) / per_example);
      if (control != nullptr && (k & 0xffff) == 0xffff) control->check(true, "starting", 0, 0);
    }
    const LongLog last = long_rising(a, static_cast<double>(n) / per_example);
    end = LongLog(table[n], std::fma(power, last.high(), -table[n]) + power * last.low());
    return table;
  }
  double sum = 0, carry = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const double y = std::log(a + static_cast<double>(k)) - carry;
    const double t = sum + y;
    carry = (t - sum) - y;
    sum = t;
    table[k + 1] = power * sum;
    if (control != nullptr && (k & 0xffff) == 0xffff) control->check(true, "starting", 0, 0);
  }
  end = LongLog(table[n], std::fma(power, sum, -table[n]) - power * carry);
  return table;
}

}  // namespace

Dirichlet::Dirichlet(const DirichletParameters& a, const std::vector<std::int32_t>& class_totals, Control* control,
                     std::int64_t longest, std::size_t held)
    : n_classes_(class_totals.size()),
      longest_(longest),
      power_(a.power()),
      per_example_(static_cast<double>(a.per_example())),
      kappa_(a.kappa()) {
  a.check_classes(n_classes_);
  const std::int64_t total = std::accumulate(class_totals.begin(), class_totals.end(), std::int64_t{0});
  all_tabulated_ = total <= longest;
  log_all_ = total > 0 ? std::log(static_cast<double>(total)) : 0;
  const auto entries = [&](std::int64_t n) { return static_cast<std::size_t>(std::min(n, longest)); };
  std::vector<std::vector<double>> different(a.size());  // parameters of each variant, and the largest count of each
  std::vector<std::vector<std::int64_t>> most(a.size());
  std::vector<double> sums;  // of the parameters of each variant
  std::size_t bytes = 0;
  for (std::size_t d = 0; d < a.size(); ++d) {
    const std::vector<double>& row = a[d];
    Variant v;
    v.a = row;
    v.table_of.resize(n_classes_);
    std::vector<double>& seen = different[d];
    std::vector<std::int64_t>& size = most[d];
    for (std::size_t c = 0; c < n_classes_; ++c) {
      v.sum_a += row[c];
      const auto it = std::find(seen.begin(), seen.end(), row[c]);
      v.table_of[c] = static_cast<std::size_t>(it - seen.begin());
      if (it == seen.end()) {
        seen.push_back(row[c]);
        size.push_back(0);
      }
      size[v.table_of[c]] = std::max<std::int64_t>(size[v.table_of[c]], class_totals[c]);
    }
    const auto needed = [&](std::int64_t n) {
      bytes += (entries(n) + 1) * sizeof(double) + FarRising::n_anchors(longest, n) * sizeof(LongLog);
    };
    std::for_each(size.begin(), size.end(), needed);
    needed(total);
    sums.push_back(v.sum_a);
    v.sum_a *= per_example_;
    for (double& x : v.a) x *= per_example_;
    variants_.push_back(std::move(v));
  }
  if (control != nullptr) control->check_memory(held + bytes);
  for (std::size_t d = 0; d < a.size(); ++d) {
    Variant& v = variants_[d];
    const auto make = [&](double of, std::int64_t n, std::vector<double>& table, FarRising& far) {
      LongLog end;
      table = rising_table(of, power_, per_example_, entries(n), control, end);
      far = n > longest ? FarRising(of, per_example_, power_, longest, n, end, control)
                        : FarRising(of, per_example_, power_);
    };
    v.rising.resize(most[d].size());
    v.far.resize(most[d].size());
    for (std::size_t k = 0; k < most[d].size(); ++k) make(different[d][k], most[d][k], v.rising[k], v.far[k]);
    make(sums[d], total, v.rising_sum, v.far_sum);
    if (kappa_ > 0)  // a leaf has at least one example
      for (std::size_t n = 1; n < v.rising_sum.size(); ++n) v.rising_sum[n] -= log_held(static_cast<std::int64_t>(n));
  }
}

LongLog Dirichlet::long_marginal(std::size_t depth, const std::int32_t* counts, std::size_t stride) const {
  LongLog sum;
  std::int64_t n = 0;
  for (std::size_t c = 0; c < n_classes_; ++c) {
    sum += long_rising(depth, c, counts[c * stride]);
    n += counts[c * stride];
  }
  return sum -= long_rising_sum(depth, n);
}

std::size_t Dirichlet::bytes() const {
  std::size_t sum = 0;
  for (const Variant& v : variants_) {
    for (const auto& table : v.rising) sum += table.size() * sizeof(double);
    for (const auto& far : v.far) sum += far.bytes();
    sum += v.rising_sum.size() * sizeof(double) + v.far_sum.bytes();
  }
  return sum;
}

}  // namespace everytree
