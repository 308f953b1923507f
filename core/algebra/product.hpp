// The two product algebras on plain numbers, and which of them stands behind another algebra.
//
// Product weights are made as doubles before they are values of an algebra: tests that split a state alike share one
// option, and a closed state is folded over its second tests. Whether such weights add up or the largest one counts
// follows from the algebra: where ⊕ is idempotent, equal options may be counted once.
#pragma once

#include <concepts>
#include <type_traits>

#include "algebra/concept.hpp"
#include "algebra/max_product.hpp"
#include "algebra/sum_product.hpp"

namespace everytree {

// What is compiled for plain numbers.
template <class A>
concept PlainProduct = std::same_as<A, SumProduct> || std::same_as<A, MaxProduct>;

// An algebra of products of weights.
template <class A>
concept ProductAlgebra = Algebra<A> && std::same_as<typename A::Weight, Wide>;

template <ProductAlgebra A>
using PlainOf = std::conditional_t<Idempotent<A>, MaxProduct, SumProduct>;

// ⊕ of two weights.
template <PlainProduct A>
constexpr double plus(double x, double y) {
  if constexpr (Idempotent<A>)
    return x < y ? y : x;
  else
    return x + y;
}

}  // namespace everytree
