// A greedy tree: the floor under every search that a limit may end.
//
//     down   at every state the feasible test of the largest gain; of those that tie, the lowest. Where states choose
//            their tests, of those that the state offers
//     up     a split stays only where it and its sides cost less than the leaf, and less than the best single split
//
// The counts of all tests at a state take tests · min(words, rows) operations, so a level of a tree takes at most
// tests · rows. No clock ends it: a search may answer with this tree however little time it had. A stop ends it, and so
// does Ctrl-C.
#pragma once

#include <cstdint>
#include <vector>

#include "common/control.hpp"
#include "common/key.hpp"
#include "search/space.hpp"
#include "table/count_table.hpp"
#include "weights/dirichlet.hpp"
#include "weights/leaf_cost.hpp"
#include "weights/prior.hpp"

namespace everytree {

// What is grown, and what it costs.
class GreedyRule {
 public:
  virtual ~GreedyRule() = default;
  // Of a split, by the class counts of its sides.
  virtual double gain(const std::int32_t* one, const std::int32_t* zero, std::size_t depth) const = 0;
  // The cost of a split whose sides are leaves; kNoCost where that is not looked at.
  virtual double single(const std::int32_t* one, const std::int32_t* zero) const = 0;
  // `open`: a feasible test could follow.
  virtual double leaf(const std::int32_t* counts, std::size_t depth, bool open) const = 0;
  // Of a split by a test class, without its sides; `feasible` are all classes that split the state.
  virtual double split(const std::vector<std::uint32_t>& feasible, std::uint32_t chosen, std::size_t depth) = 0;
};

// Whether one look two tests ahead takes long, some 10 ms or more: then a search grows the greedy tree before it, so
// that it is there whatever happens. Else it is grown only if a limit has ended the search, and takes less than a look.
inline bool looking_takes_long(const CountTable& table) {
  const std::size_t tests = most_offered(table);
  return tests * tests * table.n_words() > std::size_t{1} << 26;
}

struct GreedyTree {
  double cost = kNoCost;  // kNoCost or more: no tree is allowed
  Key key;
};

// The greedy tree of a rule with at most max_depth tests on a path (−1: no limit) in a space that has this limit, or
// `space_depth` where that is another.
GreedyTree grow_greedy(const CountTable& table, int max_depth, std::int64_t min_leaf, GreedyRule& rule,
                       Control& control);
GreedyTree grow_greedy(const CountTable& table, int max_depth, int space_depth, std::int64_t min_leaf, GreedyRule& rule,
                       Control& control);

// The best of the greedy trees by the fall of Gini's impurity, of the entropy and of the cost itself; with a cost
// matrix also of the impurities in which an example counts what errors on its class cost. As single splits are those of
// least cost, none of these trees is worse than the one that its impurity alone gives.
GreedyTree greedy_tree(const CountTable& table, const LeafCost& cost, int max_depth, std::int64_t min_leaf,
                       Control& control);

// The greedy tree by the weight of the new leaves under a Dirichlet and a prior; costs are −log(prior · likelihood).
GreedyTree greedy_tree(const CountTable& table, const Prior& prior, const Dirichlet& leaf, int max_depth,
                       int space_depth, std::int64_t min_leaf, Control& control);

}  // namespace everytree
