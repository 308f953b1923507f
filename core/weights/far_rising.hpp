// Rising factorials of counts beyond every table, in logarithms of two doubles:
//
//     log a(a+1)…(a+n−1) = that of the last anchor before n  +  the rest by Stirling's series
//
// Anchors stand at even distances and are known to some 25 digits. The rest is a sum of few terms, so that a double
// holds it: it costs what the whole did, and the tables do not grow with the weights.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/control.hpp"
#include "weights/long_log.hpp"
#include "weights/rising.hpp"

namespace everytree {

// log a(a+1)…(a+n−1) to some 25 digits; for n with a fraction, log Γ(a+n)/Γ(a).
LongLog long_rising(double a, double n);

class FarRising {
 public:
  static constexpr std::size_t kAnchors = std::size_t{1} << 13;

  FarRising() = default;
  // Without anchors: for the few counts that are asked for though no leaf has them.
  FarRising(double a, double per_example, double power) : a_(a), per_example_(per_example), power_(power) {}
  // For counts first … last, of which `per_example` make n larger by one; `at_first` is the value there, times power.
  FarRising(double a, double per_example, double power, std::int64_t first, std::int64_t last, LongLog at_first,
            Control* control);
  static std::size_t n_anchors(std::int64_t first, std::int64_t last) {
    return last < first ? 0 : static_cast<std::size_t>((last - first) >> shift(first, last)) + 1;
  }
  std::size_t bytes() const { return anchors_.size() * sizeof(LongLog); }

  LongLog operator()(std::int64_t n) const {
    if (anchors_.empty()) return LongLog(power_ * log_rising(a_, static_cast<double>(n) / per_example_));
    const std::int64_t last = static_cast<std::int64_t>(anchors_.size()) - 1;
    const std::int64_t k = std::min((n - first_) >> shift_, last), begin = first_ + (k << shift_);
    LongLog out = anchors_[static_cast<std::size_t>(k)];
    out += power_ *
           log_rising(a_ + static_cast<double>(begin) / per_example_, static_cast<double>(n - begin) / per_example_);
    return out;
  }

 private:
  static int shift(std::int64_t first, std::int64_t last) {
    int s = 7;
    while ((last - first) >> s >= static_cast<std::int64_t>(kAnchors)) ++s;
    return s;
  }

  double a_ = 0, per_example_ = 1, power_ = 1;
  std::int64_t first_ = 0;
  int shift_ = 7;
  std::vector<LongLog> anchors_;
};

}  // namespace everytree
