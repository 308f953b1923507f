// What most folds begin with: the states in the order of a fold, and the buffers of the threads that share them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/control.hpp"
#include "frontier/one_level.hpp"
#include "graph/graph.hpp"

namespace everytree {

// First the closed states, which no other state waits for: any thread may take any of them. Then the inner ones,
// children first.
struct Order {
  explicit Order(const Graph& graph) {
    for (std::uint32_t id : graph.children_first()) (graph.state(id).inner() ? inner : closed).push_back(id);
  }
  std::vector<std::uint32_t> closed, inner;
};

// A fold of closed states for each thread. All of them obey the limits; the first one is that of the calling thread.
inline std::vector<OneLevelFold> one_fold_per_thread(const Graph& graph, std::size_t n_threads, Control& control) {
  std::vector<OneLevelFold> folds;
  folds.reserve(std::max<std::size_t>(1, n_threads));
  for (std::size_t k = 0; k < std::max<std::size_t>(1, n_threads); ++k)
    folds.emplace_back(graph).watch(control, k == 0);
  return folds;
}

}  // namespace everytree
