// The expectation semiring (Eisner 2002): pairs (p, r) with p a weight and r = p · (sum of a quantity over the
// leaves). (p, r) ⊕ (q, s) = (p + q, r + s);  (p, r) ⊗ (q, s) = (pq, ps + qr). With one unit per leaf, r/p at the root
// is the expected number of leaves.
#pragma once

#include "algebra/concept.hpp"
#include "common/wide.hpp"

namespace everytree {

struct Expectation {
  struct Value {
    Wide p, r;
  };
  using Weight = Wide;
  static constexpr bool kIdempotent = false, kSelective = false;
  static Value zero() { return {}; }
  static Value leaf(const Weight& w) { return {w, w}; }
  static Value cherry(const Weight& w) { return {w, w * Wide(2.0)}; }
  static Value join(const Weight& w, const Value& a, const Value& b) {
    return {w * a.p * b.p, w * (a.p * b.r + a.r * b.p)};
  }
  static void add(Value& x, const Value& y) {
    x.p += y.p;
    x.r += y.r;
  }
};
static_assert(Algebra<Expectation>);

}  // namespace everytree
