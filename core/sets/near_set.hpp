// The near-best set as a graph of its own: only the states, splits and leaves of trees that are in the set.
//
// A *cell* is (leaves, errors). The set holds every tree with l leaves and at most limit[l] errors, for given limits.
//     least(s)[l]  = least errors of the trees with l leaves below state s                              (upward)
//     limit(c1)[l] = max over parents, splits and m of  limit(parent)[l + m] − least(c0)[m]            (downward)
// A subtree below s with l leaves and e errors is part of some tree of the set if and only if e ≤ limit(s)[l]: the
// sibling with the least errors completes it. So what is kept is exactly what the set uses, and every number of trees
// met on the way is at most the number of trees in the set.
//
// Unlike the graph of the whole space this one also stores its two lowest levels: near the best there are few of them,
// and every later question is then a walk over plain arrays. A split whose children can only be leaves is a *cherry*.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/control.hpp"
#include "common/room.hpp"
#include "frontier/frontier.hpp"
#include "graph/graph.hpp"
#include "sets/leaf_table.hpp"
#include "sets/least_errors.hpp"

namespace everytree {

class NearSet {
 public:
  // Tests that split a node alike, as test << 1 | flipped: `tests` is an index into test_set().
  struct Split {
    std::uint32_t child[2];
    std::uint32_t tests;
  };
  struct Cherry {
    std::int32_t errors;
    std::uint32_t tests;
    std::uint32_t leaf[2];  // of the leaf table
  };
  struct Node {
    std::uint32_t splits_begin = 0, splits_end = 0, cherries_begin = 0, cherries_end = 0;
    std::int32_t leaf_errors = -1;  // −1: no tree of the set has a leaf here
    std::uint32_t leaf = 0;
    std::uint32_t limits = 0, most = 0;  // place of limit[1 … most]
    std::uint32_t rows = 0;              // place of the rows of cells, one for each number of leaves
  };

  // limits[l − 1]: most errors with l leaves, −1 for none.
  NearSet(const Graph& graph, const LeastErrors& least, const std::vector<std::int32_t>& limits, Control& control);

  std::size_t size() const { return nodes_.size(); }  // node 0 is the root; a node comes before its children
  const Node& node(std::size_t v) const { return nodes_[v]; }
  std::span<const Split> splits(const Node& v) const {
    return {splits_.data() + v.splits_begin, splits_.data() + v.splits_end};
  }
  std::span<const Cherry> cherries(const Node& v) const {
    return {cherries_.data() + v.cherries_begin, cherries_.data() + v.cherries_end};
  }
  std::size_t n_test_sets() const { return tests_begin_.size() - 1; }
  std::span<const std::uint32_t> test_set(std::uint32_t id) const {
    return {tests_.data() + tests_begin_[id], tests_.data() + tests_begin_[id + 1]};
  }
  // The uppers of the same (table/offers.hpp); empty unless states choose their tests.
  std::span<const std::uint32_t> uppers(std::uint32_t id) const {
    if (uppers_.empty()) return {};
    return {uppers_.data() + tests_begin_[id], uppers_.data() + tests_begin_[id + 1]};
  }
  const LeafTable& leaves() const { return leaves_; }

  // Cells of a node with l leaves: errors in rising order, numbered from first_cell(v, l) on.
  std::int32_t limit(const Node& v, std::size_t l) const { return limits_[v.limits + l - 1]; }
  std::size_t first_cell(const Node& v, std::size_t l) const { return rows_[v.rows + l - 1]; }
  std::size_t n_cells() const { return cell_errors_.size(); }
  const std::int32_t* cell_errors() const { return cell_errors_.data(); }

  // use(k1, from, to, l, e1) for every cell k1 of child 1 and the cells [from, to) of child 0 that may stand beside it:
  // together they have l leaves and e1 + cell_errors()[k0] errors, which is within the limit of v.
  template <class F>
  void for_pairs(const Node& v, const Split& split, F&& use) const {
    const Node &c1 = nodes_[split.child[1]], &c0 = nodes_[split.child[0]];
    for (std::size_t l1 = 1; l1 <= c1.most; ++l1)
      for (std::size_t l0 = 1; l0 <= c0.most && l1 + l0 <= v.most; ++l0) {
        const std::int32_t most = limit(v, l1 + l0);
        if (most < 0) continue;
        const std::size_t from = first_cell(c0, l0);
        std::size_t to = first_cell(c0, l0 + 1);
        for (std::size_t k1 = first_cell(c1, l1), end = first_cell(c1, l1 + 1); k1 < end; ++k1) {
          const std::int32_t e1 = cell_errors_[k1];
          while (to > from && cell_errors_[to - 1] > most - e1) --to;  // errors rise: the border only moves down
          if (to == from) break;
          use(k1, from, to, l1 + l0, e1);
        }
      }
  }

  std::size_t bytes() const;

 private:
  void keep_states(const LeastErrors& least, const std::vector<std::int32_t>& limits, Control& control);
  void add_inner(std::uint32_t v, std::uint32_t state, const LeastErrors& least);
  void add_closed(std::uint32_t v, std::uint32_t state, Frontier& frontier, Control& control);
  void add_cells(Control& control);
  // uppers: one for each part, or none unless states choose their tests.
  std::uint32_t add_tests(std::span<const std::uint32_t> parts, const std::uint32_t* uppers);
  std::uint32_t add_leaf(const std::int32_t* counts);
  // push_back and insert, which ask for the memory first.
  template <class T>
  void add(std::vector<T>& to, const T& x) {
    make_room(to, 1, [this](std::size_t more) { check_room(more); });
    to.push_back(x);
  }
  template <class T>
  void add_all(std::vector<T>& to, const std::vector<T>& from) {
    make_room(to, from.size(), [this](std::size_t more) { check_room(more); });
    to.insert(to.end(), from.begin(), from.end());
  }
  void check_room(std::size_t more) const { control_->check_memory(held_ + bytes() + more); }
  void check_size(Control& control) const;

  const Graph* graph_;
  LeafTable leaves_;
  std::vector<Node> nodes_;
  std::vector<Split> splits_;
  std::vector<Cherry> cherries_;
  std::vector<std::uint32_t> tests_, tests_begin_{0}, uppers_;
  std::vector<std::int32_t> limits_, cell_errors_;
  std::vector<std::uint32_t> rows_;
  // while building
  Control* control_ = nullptr;
  std::size_t held_ = 0;  // bytes beside these: the graph, the least errors
  std::vector<std::uint32_t> node_of_, state_of_;
  std::vector<std::uint32_t> group_tests_, group_uppers_;
  std::unordered_map<std::uint64_t, std::uint32_t> alone_;  // upper << 32 | test: the set of this test and no other
  std::vector<std::int32_t> pairs_, side_errors_[2];
};

}  // namespace everytree
