// What a leaf needs, whatever it models.
//
// A leaf sees its examples through a *statistic*: width() numbers of type Entry that add. Class counts are one; so are
// (n, Σx, Σx²). All of a fold rests on that: the statistic of a cover is a sum over its rows, and that of one side of a
// split is the difference of the cover's and the other side's.
//
//     LeafModel   log_marginal(depth, s)   the log probability (density) of the examples behind s
//                 predict(depth, s, out)   outputs() numbers that say what comes next
//     LeafCosts   operator()(s)            what the leaf costs; smaller is better, costs of leaves add
//                 prediction(s)            what the leaf says
//
// Laws, checked by one test for every model (tests/test_leaf_model.cpp):
//     s(A ∪ B) = s(A) + s(B), entry by entry, for disjoint A and B
//     log_marginal(depth, 0) = 0: no examples say nothing
//     exp(log_marginal(depth, s + e) − log_marginal(depth, s)) is what predict(depth, s) gives an example e
//         (so the marginal is the product of the predictions, in any order of the examples)
//     the cost of a leaf and what it says depend on its statistic alone
// A model that keeps them goes through every fold by fold/weigh_model.hpp. Dirichlet over class counts also has the
// kernels of the frontier, which rest on its tables.
#pragma once

#include <concepts>
#include <cstddef>

namespace everytree {

template <class M>
concept LeafStatistic = requires(const M& m) {
  requires std::integral<typename M::Entry> || std::floating_point<typename M::Entry>;
  { m.width() } -> std::same_as<std::size_t>;
};

template <class M>
concept LeafModel =
    LeafStatistic<M> && requires(const M& m, std::size_t depth, const typename M::Entry* s, double* out) {
      { m.log_marginal(depth, s) } -> std::same_as<double>;
      { m.outputs() } -> std::same_as<std::size_t>;
      m.predict(depth, s, out);
    };

template <class M>
concept LeafCosts = LeafStatistic<M> && requires(const M& m, const typename M::Entry* s) {
  { m(s) } -> std::same_as<double>;
  { m.prediction(s) } -> std::same_as<std::size_t>;
};

}  // namespace everytree
