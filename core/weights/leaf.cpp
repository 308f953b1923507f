#include "weights/leaf.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>

namespace everytree {

namespace {

// log a(a+1)…(a+k−1) for k = 0..n, by compensated summation.
std::vector<double> rising_table(double a, std::size_t n, Control* control) {
  std::vector<double> table(n + 1);
  double sum = 0, carry = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const double y = std::log(a + static_cast<double>(k)) - carry;
    const double t = sum + y;
    carry = (t - sum) - y;
    sum = t;
    table[k + 1] = sum;
    if (control != nullptr && (k & 0xffff) == 0xffff) control->check(true, "starting", 0, 0);
  }
  return table;
}

// Quantile of the standard normal by bisection on erfc: called once per object.
double normal_quantile(double p) {
  double low = -40, high = 40;
  for (int k = 0; k < 200; ++k) {
    const double mid = 0.5 * (low + high);
    (0.5 * std::erfc(-mid / std::sqrt(2.0)) < p ? low : high) = mid;
  }
  return 0.5 * (low + high);
}

}  // namespace

Dirichlet::Dirichlet(const std::vector<std::vector<double>>& a, const std::vector<std::int32_t>& class_totals,
                     Control* control, std::int64_t longest)
    : n_classes_(class_totals.size()), longest_(longest) {
  if (a.empty()) throw InvalidInput("dirichlet has no parameters");
  const std::int64_t total = std::accumulate(class_totals.begin(), class_totals.end(), std::int64_t{0});
  all_tabulated_ = total <= longest;
  const auto entries = [&](std::int64_t n) { return static_cast<std::size_t>(std::min(n, longest)); };
  std::vector<std::vector<double>> different(a.size());  // parameters of each variant, and the largest count of each
  std::vector<std::vector<std::size_t>> most(a.size());
  std::size_t bytes = 0;
  for (std::size_t d = 0; d < a.size(); ++d) {
    const std::vector<double>& row = a[d];
    if (row.size() != n_classes_) throw InvalidInput("dirichlet needs one parameter per class");
    Variant v;
    v.a = row;
    v.table_of.resize(n_classes_);
    std::vector<double>& seen = different[d];
    std::vector<std::size_t>& size = most[d];
    for (std::size_t c = 0; c < n_classes_; ++c) {
      if (!(row[c] > 0) || !std::isfinite(row[c]))
        throw InvalidInput("dirichlet parameters must be positive and finite");
      v.sum_a += row[c];
      const auto it = std::find(seen.begin(), seen.end(), row[c]);
      v.table_of[c] = static_cast<std::size_t>(it - seen.begin());
      if (it == seen.end()) {
        seen.push_back(row[c]);
        size.push_back(0);
      }
      size[v.table_of[c]] = std::max(size[v.table_of[c]], entries(class_totals[c]));
    }
    for (std::size_t n : size) bytes += (n + 1) * sizeof(double);
    bytes += (entries(total) + 1) * sizeof(double);
    variants_.push_back(std::move(v));
  }
  if (control != nullptr) control->check_memory(bytes);
  for (std::size_t d = 0; d < a.size(); ++d) {
    Variant& v = variants_[d];
    for (std::size_t k = 0; k < most[d].size(); ++k)
      v.rising.push_back(rising_table(different[d][k], most[d][k], control));
    v.rising_sum = rising_table(v.sum_a, entries(total), control);
  }
}

double Dirichlet::far_marginal(std::size_t depth, const std::int32_t* counts, std::size_t stride) const {
  double sum = 0;
  std::int64_t n = 0;
  for (std::size_t c = 0; c < n_classes_; ++c) {
    sum += log_rising(depth, c, counts[c * stride]);
    n += counts[c * stride];
  }
  return sum - log_rising_sum(depth, n);
}

std::size_t Dirichlet::bytes() const {
  std::size_t sum = 0;
  for (const Variant& v : variants_) {
    for (const auto& table : v.rising) sum += table.size();
    sum += v.rising_sum.size();
  }
  return sum * sizeof(double);
}

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
  for (std::size_t v = 0; v < leaf.n_variants(); ++v) {
    auto& table = tables_.emplace_back(static_cast<std::size_t>(max0 + 1) << shift_, 0.0);
    const double a1 = leaf.a(v, 1), sum_a = leaf.sum_a(v);
    for (std::int32_t n0 = 0; n0 <= std::min(max0, safe_total_); ++n0) {
      double* row = table.data() + (static_cast<std::size_t>(n0) << shift_);
      const std::int32_t last = std::min(max1, safe_total_ - n0);
      double value = 0;
      for (std::int32_t n1 = 0; n1 <= last; ++n1) {
        // Neighbours differ by the factor (a_1 + n1) / (Σa + n0 + n1): one exp per 32 entries instead of one per
        // entry, and often enough that rounding does not add up.
        if (n1 % 32 == 0) {
          const std::int32_t counts[2] = {n0, n1};
          value = std::exp(leaf.log_marginal(v, counts) + log_scale_ * (n0 + n1));
        }
        if (n0 + n1 >= min_leaf) row[n1] = value;
        value *= growth * (a1 + n1) / (sum_a + n0 + n1);
      }
    }
  }
}

double added_errors(double n, double e, double confidence, double z) {
  if (n <= 0) return 0;
  if (e < 1) {
    const double base = n * (1 - std::pow(confidence, 1 / n));
    return e == 0 ? base : base + e * (added_errors(n, 1, confidence, z) - base);
  }
  if (e + 0.5 >= n) return std::max(n - e, 0.0);
  const double f = (e + 0.5) / n;
  const double r = (f + z * z / (2 * n) + z * std::sqrt(f / n - f * f / n + z * z / (4 * n * n))) / (1 + z * z / n);
  return r * n - e;
}

LeafCost::LeafCost(CostKind kind, std::size_t n_classes, std::vector<double> matrix, double confidence, double per_leaf,
                   LeafRule rule)
    : kind_(kind),
      n_classes_(n_classes),
      matrix_(std::move(matrix)),
      confidence_(confidence),
      per_leaf_(per_leaf),
      rule_(std::move(rule)) {
  static std::atomic<std::uint64_t> made{0};
  id_ = ++made;
  if (kind == CostKind::matrix && matrix_.size() != n_classes * n_classes)
    throw InvalidInput("the cost matrix must have one row and one column per class");
  if (kind == CostKind::matrix)
    for (std::size_t c = 0; c < n_classes; ++c)
      cheapest_.push_back(*std::min_element(matrix_.begin() + static_cast<std::ptrdiff_t>(c * n_classes),
                                            matrix_.begin() + static_cast<std::ptrdiff_t>((c + 1) * n_classes)));
  z_ = kind == CostKind::expected_error ? normal_quantile(1 - confidence) : 0;
}

bool LeafCost::non_negative() const {
  return std::all_of(matrix_.begin(), matrix_.end(), [](double x) { return x >= 0; }) && per_leaf_ >= 0;
}

std::vector<double> LeafCost::weights() const {
  std::vector<double> sums(n_classes_, 1.0);
  if (kind_ == CostKind::matrix)
    for (std::size_t c = 0; c < n_classes_; ++c) {
      sums[c] = 0;
      for (std::size_t k = 0; k < n_classes_; ++k) sums[c] += matrix_[c * n_classes_ + k] - cheapest_[c];
    }
  return sums;
}

std::size_t LeafCost::prediction(const std::int32_t* counts) const {
  if (kind_ != CostKind::matrix)
    return static_cast<std::size_t>(std::max_element(counts, counts + n_classes_) - counts);
  std::size_t best = 0;
  double least = 0;
  for (std::size_t k = 0; k < n_classes_; ++k) {
    double cost = 0;
    for (std::size_t c = 0; c < n_classes_; ++c) cost += counts[c] * matrix_[c * n_classes_ + k];
    if (k == 0 || cost < least) {
      least = cost;
      best = k;
    }
  }
  return best;
}

double LeafCost::operator()(const std::int32_t* counts, std::size_t stride) const {
  if (!rule_.none() && !rule_.allows(counts, n_classes_, stride)) return kNoCost;
  std::int64_t n = 0, most = 0;
  for (std::size_t c = 0; c < n_classes_; ++c) {
    n += counts[c * stride];
    most = std::max<std::int64_t>(most, counts[c * stride]);
  }
  const auto total = static_cast<double>(n);
  double cost = 0;
  switch (kind_) {
    case CostKind::error:
      cost = static_cast<double>(n - most);
      break;
    case CostKind::expected_error:
      cost = static_cast<double>(n - most) + added_errors(total, static_cast<double>(n - most), confidence_, z_);
      break;
    case CostKind::gini: {
      double squares = 0;
      for (std::size_t c = 0; c < n_classes_; ++c)
        squares += static_cast<double>(counts[c * stride]) * counts[c * stride];
      cost = n == 0 ? 0 : total - squares / total;
      break;
    }
    case CostKind::entropy:
      for (std::size_t c = 0; c < n_classes_; ++c) {
        const double k = counts[c * stride];
        if (k > 0) cost -= k * std::log(k / total);
      }
      break;
    case CostKind::matrix:
      for (std::size_t k = 0; k < n_classes_; ++k) {
        double sum = 0;
        for (std::size_t c = 0; c < n_classes_; ++c) sum += counts[c * stride] * matrix_[c * n_classes_ + k];
        if (k == 0 || sum < cost) cost = sum;
      }
      break;
  }
  return cost + per_leaf_;
}

}  // namespace everytree
