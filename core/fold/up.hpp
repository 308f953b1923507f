// The upward fold: one value per state, children first.
//
//     value(state) = leaf(state) ⊕ ⊕_splits join(weight, value(child 1), value(child 0))
//
// A closed state gets its value from the two levels summed by the frontier. `Weights` says what leaves and splits
// weigh in the algebra; see fold/weigh.hpp. Weights may also bring buffers(thread) for closed states, in the place of a
// OneLevel, and keep(value), which is called with every finished value. Closed states wait for nobody, so their values
// may also come from elsewhere: other processes fold some of them each (fold_part), and only the inner states are
// folded here.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "algebra/concept.hpp"
#include "common/control.hpp"
#include "common/parallel.hpp"
#include "fold/order.hpp"

namespace everytree {

template <class Weights>
auto buffers_of(const Weights& weights, std::size_t thread) {
  if constexpr (requires { weights.buffers(thread); })
    return weights.buffers(thread);
  else
    return OneLevel();
}

template <class Weights, class Value>
void keep(const Weights& weights, Value& value) {
  if constexpr (requires { weights.keep(value); }) weights.keep(value);
}

template <class Weights>
std::size_t bytes_of(const Weights& weights) {
  if constexpr (requires { weights.bytes(); })
    return weights.bytes();
  else
    return 0;
}

// The values of these closed states.
template <Algebra A, class Weights>
std::vector<typename A::Value> fold_part(const Graph& graph, const Weights& weights,
                                         const std::vector<std::uint32_t>& closed, Control& control,
                                         std::size_t n_threads) {
  control.check_memory(graph.bytes() + bytes_of(weights) + graph.size() * sizeof(std::uint32_t) +
                       closed.size() * sizeof(typename A::Value));
  std::vector<typename A::Value> value(closed.size());
  std::vector<OneLevelFold> folds = one_fold_per_thread(graph, n_threads, control);
  std::vector<decltype(buffers_of(weights, 0))> buffers;
  for (std::size_t k = 0; k < folds.size(); ++k) buffers.push_back(buffers_of(weights, k));
  for_each_parallel(closed.size(), n_threads, control, "folding the frontier", [&](std::size_t k, std::size_t worker) {
    value[k] = weights.closed(closed[k], folds[worker], buffers[worker]);
    keep(weights, value[k]);
  });
  return value;
}

// All values, from those of the closed states in the order of `order`.
template <Algebra A, class Weights>
std::vector<typename A::Value> fold_inner(const Graph& graph, const Weights& weights, const Order& order,
                                          std::vector<typename A::Value> closed, Control& control) {
  control.check_memory(graph.bytes() + bytes_of(weights) +
                       graph.size() * (sizeof(std::uint32_t) + sizeof(typename A::Value)) +
                       closed.size() * sizeof(typename A::Value));
  std::vector<typename A::Value> value(graph.size());
  for (std::size_t k = 0; k < closed.size(); ++k) value[order.closed[k]] = std::move(closed[k]);
  std::vector<typename A::Value>().swap(closed);
  const std::vector<std::uint32_t>& inner = order.inner;
  typename Weights::Inner node;
  std::size_t done = 0;
  for (std::uint32_t id : inner) {
    if ((++done & 255) == 0) control.check(true, "folding the inner states", done, inner.size());
    const State& s = graph.state(id);
    weights.inner(id, node);
    typename A::Value v = A::leaf(node.leaf);
    const auto splits = graph.splits(s);
    for (std::size_t k = 0; k < splits.size(); ++k)
      add_join<A>(v, node.split[k], value[splits[k].child[1]], value[splits[k].child[0]]);
    keep(weights, v);
    value[id] = std::move(v);
  }
  return value;
}

template <Algebra A, class Weights>
std::vector<typename A::Value> fold_up(const Graph& graph, const Weights& weights, Control& control,
                                       std::size_t n_threads) {
  const Order order(graph);
  auto closed = fold_part<A>(graph, weights, order.closed, control, n_threads);
  return fold_inner<A>(graph, weights, order, std::move(closed), control);
}

}  // namespace everytree
