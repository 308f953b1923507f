// (max, ×) on non-negative reals: the most probable tree; among equally probable ones the smallest.
// Products of the same factors in another order differ in their last bits, so weights that agree to 10^-11 count as
// equal. The laws hold up to that tolerance.
#pragma once

#include "algebra/concept.hpp"
#include "common/wide.hpp"

namespace everytree {

struct MaxProduct {
  struct Value {
    Wide weight;
    double leaves = 0;
  };
  using Weight = Wide;
  static constexpr bool kIdempotent = true, kSelective = true;
  static constexpr double kTie = 1e-11;
  static Value zero() { return {}; }
  static Value leaf(const Weight& w) { return {w, 1}; }
  static Value cherry(const Weight& w) { return {w, 2}; }
  static Value join(const Weight& w, const Value& a, const Value& b) {
    const Wide product = w * a.weight * b.weight;
    return product.is_zero() ? zero() : Value{product, a.leaves + b.leaves};
  }
  static void add(Value& x, const Value& y) {
    const double ratio = y.weight.is_zero() ? 0.0 : x.weight.is_zero() ? 2.0 : (y.weight / x.weight).scaled(0);
    if (ratio > 1 + kTie || (ratio > 1 - kTie && y.leaves < x.leaves)) x = y;
  }
};
static_assert(Algebra<MaxProduct>);

}  // namespace everytree
