// LongLog: a logarithm as a sum of two doubles.
//
// A tree on 10^8 examples weighs e^−10^8 or so, and a double holds such an exponent to 10^−8 only: by so much two trees
// that weigh alike would seem to differ, and predictions with them. The sum keeps another sixteen digits.
#pragma once

#include <cmath>

namespace everytree {

class LongLog {
 public:
  constexpr LongLog(double high = 0, double low = 0) : high_(high), low_(low) {}

  LongLog& operator+=(double x) {
    const double sum = high_ + x;
    if (std::isfinite(sum)) {  // what the rounded sum has lost (Knuth)
      const double part = sum - high_;
      low_ += (high_ - (sum - part)) + (x - part);
    } else {
      low_ = 0;  // log 0
    }
    high_ = sum;
    return *this;
  }
  LongLog& operator+=(LongLog x) {
    *this += x.high_;
    low_ += x.low_;
    return *this;
  }
  LongLog& operator-=(LongLog x) { return *this += LongLog(-x.high_, -x.low_); }
  friend LongLog operator+(LongLog x, LongLog y) { return x += y; }
  // x − y, where it is no large number; log 0 must not be taken away.
  friend double operator-(LongLog x, LongLog y) { return (x.high_ - y.high_) + (x.low_ - y.low_); }
  friend bool operator<(LongLog x, LongLog y) { return (x.high_ - y.high_) + (x.low_ - y.low_) < 0; }

  double value() const { return high_ + low_; }
  double high() const { return high_; }
  double low() const { return low_; }

 private:
  double high_, low_;
};

}  // namespace everytree
