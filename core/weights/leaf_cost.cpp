#include "weights/leaf_cost.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <utility>

namespace everytree {

namespace {

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
                   LeafRule rule, std::int64_t per_example)
    : kind_(kind),
      n_classes_(n_classes),
      matrix_(std::move(matrix)),
      confidence_(confidence),
      per_leaf_(per_leaf),
      per_example_(static_cast<double>(per_example)),
      rule_(std::move(rule)) {
  if (per_example < 1) throw InvalidInput("per_example is " + std::to_string(per_example) + "; expected at least 1");
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
      cost = static_cast<double>(n - most);
      // The addition is not proportional to the examples, as all other costs are.
      cost += per_example_ * added_errors(total / per_example_, cost / per_example_, confidence_, z_);
      break;
    case CostKind::gini: {
      // n − Σ n_c² / n without its cancellation, which left a pure leaf of 10^8 counts a cost above 0.
      double pairs = 0;
      for (std::size_t c = 0; c < n_classes_; ++c) pairs += counts[c * stride] * (total - counts[c * stride]);
      cost = n == 0 ? 0 : pairs / total;
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
