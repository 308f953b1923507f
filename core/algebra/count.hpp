// (+, ×) on natural numbers of any size: how many trees there are.
#pragma once

#include "algebra/concept.hpp"
#include "common/natural.hpp"

namespace everytree {

struct Count {
  using Value = Natural;
  using Weight = Natural;
  static constexpr bool kIdempotent = false, kSelective = false;
  static Value zero() { return {}; }
  static Value leaf(const Weight& w) { return w; }
  static Value cherry(const Weight& w) { return w; }
  static Value join(const Weight& w, const Value& a, const Value& b) { return w * (a * b); }
  static void add(Value& x, const Value& y) { x += y; }
};
static_assert(Algebra<Count>);

}  // namespace everytree
