// Rising factorials in logarithms:  log a(a+1)…(a+n−1) = log Γ(a+n) − log Γ(a),  the parts of a leaf's logM.
// Γ goes on between the whole numbers, and so do they: n may have a fraction.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "algebra/tie.hpp"

namespace everytree {

// A sum that gives back what rounding took away: its error does not grow with the number of terms.
class Sum {
 public:
  void add(double x) {
    const double t = sum_ + x;
    carry_ += std::abs(sum_) >= std::abs(x) ? (sum_ - t) + x : (x - t) + sum_;
    sum_ = t;
    size_ += std::abs(x);
  }
  double value() const { return sum_ + carry_; }
  double size() const { return size_; }  // Σ |term|: rounding is a small multiple of 2^-53 of it

 private:
  double sum_ = 0, carry_ = 0, size_ = 0;
};

// Equal but for rounding: the slack is some hundred times what compensated sums of rounded logarithms can be off.
inline bool tied(const Sum& x, const Sum& y) { return tied_sums(x.value(), x.size(), y.value(), y.size()); }

// log Γ(x) for x > 0. The sign of Γ, which std::lgamma writes to a variable all threads share, is left alone.
inline double log_gamma(double x) {
#if defined(_MSC_VER)
  return std::lgamma(x);
#else
  int sign;
  return lgamma_r(x, &sign);
#endif
}

// log a(a+1)…(a+n−1) for any n ≥ 0. For a ≥ 32 the difference of Stirling's series, in which log Γ(a) itself does not
// occur: it would drown the rest where a is huge.
inline double log_rising(double a, double n) {
  if (a < 32) return log_gamma(a + n) - log_gamma(a);
  const auto tail = [](double x) {
    const double y = 1 / (x * x);
    return (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y / 1680))) / x;
  };
  return n * (std::log(a) - 1) + (a + n - 0.5) * std::log1p(n / a) + (tail(a + n) - tail(a));
}

// log a(a+1)…(a+n−1), from a table that grows as far as counts ask for; `per_example` counts make n larger by one.
class Rising {
 public:
  static constexpr std::size_t kTable = std::size_t{1} << 16;  // counts up to this are looked up; larger ones are rare

  explicit Rising(double a, std::int64_t per_example = 1) : a_(a), per_example_(static_cast<double>(per_example)) {}
  void reach(std::int64_t n) {
    const std::size_t upto = static_cast<std::size_t>(std::min(n, static_cast<std::int64_t>(kTable)));
    while (table_.size() <= upto) {
      if (per_example_ != 1) {
        table_.push_back(log_rising(a_, static_cast<double>(table_.size()) / per_example_));
        continue;
      }
      sum_.add(std::log(a_ + static_cast<double>(table_.size() - 1)));
      table_.push_back(sum_.value());
    }
  }
  double operator()(std::int64_t n) const {
    if (static_cast<std::size_t>(n) < table_.size()) return table_[static_cast<std::size_t>(n)];
    return log_rising(a_, static_cast<double>(n) / per_example_);
  }
  double a() const { return a_; }
  std::size_t bytes() const { return table_.capacity() * sizeof(double); }

 private:
  double a_, per_example_;
  Sum sum_;
  std::vector<double> table_ = {0.0};
};

}  // namespace everytree
