// (min, +) on the reals with infinity: least error or any leaf-additive risk. Sums of whole numbers below 2^53,
// and so errors, are exact.
#pragma once

#include <limits>

#include "algebra/concept.hpp"

namespace everytree {

struct MinPlus {
  using Value = double;
  using Weight = double;
  static constexpr bool kIdempotent = true, kSelective = true;
  static Value zero() { return std::numeric_limits<double>::infinity(); }
  static Value leaf(const Weight& w) { return w; }
  static Value cherry(const Weight& w) { return w; }
  static Value join(const Weight& w, const Value& a, const Value& b) { return w + a + b; }
  static void add(Value& x, const Value& y) {
    if (y < x) x = y;
  }
  static double cost(const Value& x) { return x; }
};
static_assert(Prunable<MinPlus>);

}  // namespace everytree
