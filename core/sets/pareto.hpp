// The fold that answers any query: per state, the trees that no other tree replaces.
//
// Criteria are costs (added over leaves), leaves (added) and depth (one more than the deeper side); a tree also has a
// set of required items that it uses. Tree a may replace tree b of the same state in any context if
//     a ≤ b in every bounded criterion, and a uses what b uses, and
//     a < b in the leading added criteria of the ranking, compared in order; or a = b there, and a ≤ b in all the
//     others.
// (An order of sums survives adding the same to both sides; the order of a maximum only survives as ≤, so everything
// from depth on is compared one by one.) For the k best a tree is kept unless k others may replace it. Bounds prune
// inside, since what they bound never shrinks on the way up. Costs that agree up to rounding are ties
// (algebra/tie.hpp).
//
// Offering a tree to a list is an ⊕, and making the trees of a split a join: the algebra is sets/pareto_algebra.hpp,
// the pass fold/up.hpp. Beside a pass of its own that takes 0.99 to 1.02 times the processor
// time, measured with two queries on three generated tables (least of 7 alternating runs).
//
// Reference: Nijssen & Fromont 2007, section 3.3, keep one tree per size or depth in the same spirit.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "common/key.hpp"
#include "graph/graph.hpp"
#include "weights/leaf_cost.hpp"

namespace everytree {

struct ParetoQuery {
  std::vector<const LeafCost*> costs;  // criteria 0, 1, …; leaves and depth are the next two
  std::vector<std::size_t> rank;       // criteria in order
  std::vector<std::pair<std::size_t, double>> bounds;
  bool front = false;                   // no order among the ranked criteria: all trees that are best in some way
  std::vector<std::uint32_t> required;  // per test, the required items that it belongs to, as bits; or empty
  std::uint32_t all_required = 0;
  std::size_t k = 1;

  std::size_t leaves() const { return costs.size(); }
  std::size_t depth() const { return costs.size() + 1; }
  std::size_t width() const { return costs.size() + 2; }
};

// A tree with the values of all criteria.
struct Judged {
  std::vector<double> values;
  Key key;
};

// Throws InvalidInput unless costs, criteria and required items fit the data.
void check_query(const ParetoQuery& query, std::size_t n_tests, std::size_t n_classes);

// The k best trees in order of the ranking, fewer if fewer satisfy the query; for a front, all of it in that order.
std::vector<Judged> pareto_trees(const Graph& graph, const ParetoQuery& query, Control& control);

}  // namespace everytree
