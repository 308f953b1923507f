// Pruning by bounds: for searches over an algebra in which an option may be dropped.
#pragma once

#include <concepts>

#include "algebra/concept.hpp"
#include "algebra/product.hpp"
#include "algebra/tie.hpp"

namespace everytree {

// What a search among costs can find: one of least cost (MinPlus), or the smallest of those (Lexicographic).
template <class A>
concept PrunedByCost = Prunable<A> && std::same_as<typename A::Weight, double>;

// What a search among products of weights can find: the likeliest tree, and of those that tie the smallest.
template <class A>
concept PrunedByProduct = GivesTree<A> && ProductAlgebra<A>;

// A search derives from this with the algebra whose best tree it looks for. Bounds and costs are A::cost of values, and
// may differ by rounding: what costs at least below(x) does not improve on x, what costs at least above(x) is worse.
template <Prunable A>
struct Prunes {
  static double below(double x) { return everytree::below(x); }
  static double above(double x) { return everytree::above(x); }
};

}  // namespace everytree
