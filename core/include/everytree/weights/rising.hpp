// Rising factorials in logarithms:  log a(a+1)…(a+n−1) = log Γ(a+n) − log Γ(a),  the parts of a leaf's logM.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

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

// Equal but for rounding: 1e-13 is some hundred times what compensated sums of rounded logarithms can be off.
inline bool tied(const Sum& x, const Sum& y) {
  return std::abs(x.value() - y.value()) <= 1e-13 * (x.size() + y.size());
}

// log a(a+1)…(a+n−1), from a table that grows as far as counts ask for.
class Rising {
 public:
  static constexpr std::size_t kTable = std::size_t{1} << 16;  // counts up to this are looked up; larger ones are rare

  explicit Rising(double a) : a_(a), log_gamma_(std::lgamma(a)) {}
  void reach(std::int64_t n) {
    const std::size_t upto = static_cast<std::size_t>(std::min(n, static_cast<std::int64_t>(kTable)));
    while (table_.size() <= upto) {
      sum_.add(std::log(a_ + static_cast<double>(table_.size() - 1)));
      table_.push_back(sum_.value());
    }
  }
  double operator()(std::int64_t n) const {
    if (static_cast<std::size_t>(n) < table_.size()) return table_[static_cast<std::size_t>(n)];
    return std::lgamma(a_ + static_cast<double>(n)) - log_gamma_;
  }
  double a() const { return a_; }
  std::size_t bytes() const { return table_.capacity() * sizeof(double); }

 private:
  double a_, log_gamma_;
  Sum sum_;
  std::vector<double> table_ = {0.0};
};

}  // namespace everytree
