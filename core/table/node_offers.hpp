// The tests of a node of a tree, one node at a time: those that its state offers (table/offers.hpp) and that are
// feasible.
//
// Where states choose their tests, two levels below a state that a depth limit leaves share its choice: a node with one
// level left, unless it is the root, takes the tests of the state above it that are feasible on its own cover.
//
// Owns the buffers: one object per thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "table/offers.hpp"

namespace everytree {

// Whether a node at this depth takes the tests of the state above it.
inline bool tests_from_above(const CountTable& table, int max_depth, std::size_t depth) {
  return table.local() && max_depth >= 1 && depth > 0 && depth + 1 == static_cast<std::size_t>(max_depth);
}

// The upper (table/columns.hpp) of a cut that a cover offers, found from its rows; 0 for a test that is no cut.
std::uint32_t upper_of(const CountTable& table, const std::uint64_t* cover, std::uint32_t test);

class NodeOffers {
 public:
  // max_depth −1: no limit.
  NodeOffers(const CountTable& table, int max_depth, std::int64_t min_leaf);

  bool from_above(std::size_t depth) const { return tests_from_above(*table_, max_depth_, depth); }
  // The classes of tests at a node, in order. `above`: the cover of its parent, looked at only if from_above(depth).
  std::span<const std::uint32_t> of(const std::uint64_t* cover, std::size_t depth, const std::uint64_t* above);
  // The upper of each of them, after of().
  std::span<const std::uint32_t> upper() const { return upper_; }

 private:
  const CountTable* table_;
  int max_depth_;
  std::int64_t min_leaf_;
  Offers offers_;
  std::vector<std::uint32_t> classes_, upper_;
};

}  // namespace everytree
