// Wide: a non-negative real x · 2^e. Sums and products of weights over every tree leave the range of a double
// (10^5 rows give e^-70000); with the exponent apart they need no logarithm until the end.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace everytree {

class Wide {
 public:
  constexpr Wide() = default;
  explicit Wide(double x) : Wide(x, 0) {}
  Wide(double x, std::int64_t exponent) : x_(x), e_(exponent) { normalise(); }

  // Of a logarithm in two parts: `low` is what `log_value` was rounded off by.
  static Wide from_log(double log_value, double low = 0) {
    if (!(log_value > -std::numeric_limits<double>::infinity())) return Wide();
    constexpr double kLog2e = 1.4426950408889634074, kLn2Hi = 6.93147180369123816490e-01,
                     kLn2Lo = 1.90821492927058770002e-10;
    const double n = std::nearbyint(log_value * kLog2e);
    return Wide(std::exp((log_value - n * kLn2Hi) - n * kLn2Lo + low), static_cast<std::int64_t>(n));
  }
  double log() const {
    if (x_ == 0) return -std::numeric_limits<double>::infinity();
    return std::log(x_) + static_cast<double>(e_) * 0.69314718055994530942;
  }
  bool is_zero() const { return x_ == 0; }
  std::int64_t exponent() const { return e_; }

  // This number divided by 2^exponent, as a double (0 or inf outside its range).
  double scaled(std::int64_t exponent) const { return x_ == 0 ? 0 : std::ldexp(x_, clamp(e_ - exponent)); }

  friend Wide operator*(Wide a, Wide b) { return Wide(a.x_ * b.x_, a.e_ + b.e_); }
  friend Wide operator+(Wide a, Wide b) {
    if (a.x_ == 0) return b;
    if (b.x_ == 0) return a;
    if (a.e_ < b.e_) return b + a;
    const std::int64_t shift = a.e_ - b.e_;
    return shift > 100 ? a : Wide(a.x_ + std::ldexp(b.x_, -static_cast<int>(shift)), a.e_);
  }
  Wide& operator+=(Wide b) { return *this = *this + b; }
  friend Wide operator/(Wide a, Wide b) { return Wide(a.x_ / b.x_, a.e_ - b.e_); }
  friend bool operator<(Wide a, Wide b) {
    if (a.x_ == 0 || b.x_ == 0) return a.x_ < b.x_;
    return a.e_ != b.e_ ? a.e_ < b.e_ : a.x_ < b.x_;
  }
  friend bool operator==(Wide a, Wide b) { return a.x_ == b.x_ && (a.x_ == 0 || a.e_ == b.e_); }

 private:
  static int clamp(std::int64_t e) { return static_cast<int>(e > 4000 ? 4000 : e < -4000 ? -4000 : e); }
  void normalise() {
    if (!(x_ > 0)) {
      x_ = 0;
      e_ = 0;
      return;
    }
    const auto bits = std::bit_cast<std::uint64_t>(x_);
    const int exponent = static_cast<int>(bits >> 52);  // sign is 0
    if (exponent == 0) {                                // subnormal
      int shift;
      x_ = 2 * std::frexp(x_, &shift);
      e_ += shift - 1;
      return;
    }
    e_ += exponent - 1023;
    x_ = std::bit_cast<double>((bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL);
  }

  double x_ = 0;  // 0, or in [1, 2)
  std::int64_t e_ = 0;
};

}  // namespace everytree
