// How large a graph would be, and how long the evidence of its trees would take, before it is built.
//
// Random descents (Knuth's estimator): a descent that had e_k feasible tests at depth k stands for Π 2·e_k ordered
// paths. Paths that end in the same cover are one state, so each cover is divided by the number of its paths of this
// length: the sets of items that hold on all of the cover and nowhere else, times their orders. Where these are too
// many they are sampled as well. Where states choose their tests, the orders of the descent's own path stand for them.
// Time is measured: some covers where descents end are folded, and stand for all others by the same weights.
#pragma once

#include <cstdint>
#include <memory>

#include "common/control.hpp"
#include "graph/graph.hpp"

namespace everytree {

struct GraphEstimate {
  double states = 0, inner = 0, splits = 0;
  double bytes = 0;
  double seconds = 0;  // to build the graph and fold the evidence on one thread; 0 if nothing was measured
};

// `budget`: seconds for the measurement; 0 for none. The sizes are the same for every call, the seconds are not.
GraphEstimate estimate_graph(std::shared_ptr<const CountTable> table, const GraphOptions& options, double budget,
                             Control& control, std::uint64_t seed = 1);

}  // namespace everytree
