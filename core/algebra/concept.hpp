// What an algebra is. A fold asks this of it:
//     leaf(w)        the tree that is one leaf of weight w
//     cherry(w)      all trees with one test and two leaves, of aggregated weight w
//     join(w, a, b)  a test of weight w above the subtrees a (test holds) and b
//     add(x, y)      x becomes x ⊕ y: either this or that tree
// Laws, checked by one test for every algebra:
//     ⊕ is associative and commutative with zero() as its neutral element;
//     join distributes over ⊕ in both arguments;  join(w, zero, b) = join(w, a, zero) = zero.
// An algebra of lists may also make x ⊕ join(w, a, b) in place, as add_join(x, w, a, b).
// Properties declare what an algorithm may rely on:
//     kIdempotent  x ⊕ x = x: equal options may be counted once
//     kSelective   x ⊕ y is one of x, y: there is a best tree, and bounds may prune
//     cost(x)      of a selective algebra: a number that is smaller for the better value, additive over join
// An algorithm names what it relies on by a concept, so that a wrong pairing does not compile. Why it is sound: where ⊕
// selects, distributivity says join(w, best of x and y, z) = best of join(w, x, z) and join(w, y, z). So the best tree
// is made of best subtrees, and an option that cannot be better than a known one may be dropped before it is folded. A
// sum has no such option: every tree counts.
#pragma once

#include <concepts>

namespace everytree {

template <class A>
concept Algebra = requires(typename A::Value x, const typename A::Value& y, const typename A::Weight& w) {
  { A::zero() } -> std::same_as<typename A::Value>;
  { A::leaf(w) } -> std::same_as<typename A::Value>;
  { A::cherry(w) } -> std::same_as<typename A::Value>;
  { A::join(w, y, y) } -> std::same_as<typename A::Value>;
  A::add(x, y);
  { A::kIdempotent } -> std::convertible_to<bool>;
  { A::kSelective } -> std::convertible_to<bool>;
};

// x becomes x ⊕ join(w, a, b).
template <Algebra A>
void add_join(typename A::Value& x, const typename A::Weight& w, const typename A::Value& a,
              const typename A::Value& b) {
  if constexpr (requires { A::add_join(x, w, a, b); })
    A::add_join(x, w, a, b);
  else
    A::add(x, A::join(w, a, b));
}

template <class A>
concept Idempotent = Algebra<A> && A::kIdempotent;

template <class A>
concept Selective = Algebra<A> && A::kSelective;

// Options may be dropped by bounds of their costs (algebra/prune.hpp).
template <class A>
concept Prunable = Selective<A> && requires(const typename A::Value& x) {
  { A::cost(x) } -> std::same_as<double>;
};

// A best tree can be read off the values of the states, ties by size (sets/best.hpp).
template <class A>
concept GivesTree = Prunable<A> && requires(const typename A::Value& x) {
  { x.leaves } -> std::convertible_to<double>;
};

}  // namespace everytree
