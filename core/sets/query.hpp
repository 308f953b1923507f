// Questions about a graph that need no posterior: how many trees, the least cost, the best trees, the front.
#pragma once

#include <cstddef>
#include <vector>

#include "algebra/count.hpp"
#include "sets/best.hpp"

namespace everytree {

struct FrontPoint {
  std::size_t leaves;
  double cost;
  Key key;
};

Natural count_trees(const Graph& graph, Control& control);
double least_cost(const Graph& graph, const LeafCost& cost, Control& control);
// The k trees of least cost, in order; none if the cost's rule forbids every tree. The single best one is also the
// smallest among those of least cost.
std::vector<Ranked> best_trees(const Graph& graph, const LeafCost& cost, std::size_t k, Control& control);
// The least cost for every number of leaves; points that a smaller tree equals or beats are left out.
std::vector<FrontPoint> cost_front(const Graph& graph, const LeafCost& cost, Control& control);

}  // namespace everytree
