// (min, +) on pairs (cost, leaves), compared in that order (costs up to rounding): the least cost, and among those the
// smallest tree.
#pragma once

#include <limits>

#include "algebra/concept.hpp"
#include "algebra/tie.hpp"

namespace everytree {

struct Lexicographic {
  struct Value {
    double cost, leaves;
    friend bool operator<(const Value& x, const Value& y) {
      return tied(x.cost, y.cost) ? x.leaves < y.leaves : x.cost < y.cost;
    }
    friend bool operator==(const Value&, const Value&) = default;
  };
  using Weight = double;
  static constexpr bool kIdempotent = true, kSelective = true;
  static Value zero() { return {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()}; }
  static Value leaf(const Weight& w) { return {w, 1}; }
  static Value cherry(const Weight& w) { return {w, 2}; }
  static Value join(const Weight& w, const Value& a, const Value& b) {
    return {w + a.cost + b.cost, a.leaves + b.leaves};
  }
  static void add(Value& x, const Value& y) {
    if (y < x) x = y;
  }
  static double cost(const Value& x) { return x.cost; }
};
static_assert(GivesTree<Lexicographic>);

}  // namespace everytree
