// (max, ×) on non-negative reals: the most probable tree; among equally probable ones the smallest.
// The laws hold up to the ties of products (algebra/tie.hpp).
#pragma once

#include "algebra/concept.hpp"
#include "algebra/tie.hpp"
#include "common/wide.hpp"

namespace everytree {

struct MaxProduct {
  struct Value {
    Wide weight;
    double leaves = 0;
  };
  using Weight = Wide;
  static constexpr bool kIdempotent = true, kSelective = true;
  static Value zero() { return {}; }
  static Value leaf(const Weight& w) { return {w, 1}; }
  static Value cherry(const Weight& w) { return {w, 2}; }
  static Value join(const Weight& w, const Value& a, const Value& b) {
    const Wide product = w * a.weight * b.weight;
    return product.is_zero() ? zero() : Value{product, a.leaves + b.leaves};
  }
  static void add(Value& x, const Value& y) {
    const double ratio = y.weight.is_zero() ? 0.0 : x.weight.is_zero() ? 2.0 : (y.weight / x.weight).scaled(0);
    if (product_improves(ratio, 1, y.leaves < x.leaves)) x = y;
  }
  static double cost(const Value& x) { return -x.weight.log(); }
};
static_assert(GivesTree<MaxProduct>);

}  // namespace everytree
