// (+, ×) on non-negative reals: the evidence (Nijssen 2008).
#pragma once

#include "algebra/concept.hpp"
#include "common/wide.hpp"

namespace everytree {

struct SumProduct {
  using Value = Wide;
  using Weight = Wide;
  static constexpr bool kIdempotent = false, kSelective = false;
  static Value zero() { return {}; }
  static Value leaf(const Weight& w) { return w; }
  static Value cherry(const Weight& w) { return w; }
  static Value join(const Weight& w, const Value& a, const Value& b) { return w * a * b; }
  static void add(Value& x, const Value& y) { x += y; }
};
static_assert(Algebra<SumProduct>);

}  // namespace everytree
