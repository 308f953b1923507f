// (max, ×) on non-negative reals: the most probable tree.
#pragma once

#include "everytree/algebra/concept.hpp"
#include "everytree/wide.hpp"

namespace everytree {

struct MaxProduct {
  using Value = Wide;
  using Weight = Wide;
  static constexpr bool kIdempotent = true, kSelective = true;
  static Value zero() { return {}; }
  static Value leaf(const Weight& w) { return w; }
  static Value cherry(const Weight& w) { return w; }
  static Value join(const Weight& w, const Value& a, const Value& b) { return w * a * b; }
  static void add(Value& x, const Value& y) {
    if (x < y) x = y;
  }
};
static_assert(Algebra<MaxProduct>);

}  // namespace everytree
