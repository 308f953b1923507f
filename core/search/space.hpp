// What searches know of spaces in which states choose their tests (table/offers.hpp).
//
// With more than two levels left, the tests of a child are its own: those of its parent say nothing of it. Where every
// cut is offered, though, whatever splits a child splits its parent too, by a test that the parent offers: then the
// trees of the space part the examples as those over all tests do, and only the names of their tests are to be found.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/key.hpp"
#include "table/count_table.hpp"

namespace everytree {

// Whether a state may offer a test that splits it as none of its parent's tests does.
inline bool children_choose(const CountTable& table) {
  const Columns& columns = table.by_column();
  for (std::size_t k = 0; k < columns.size(); ++k)
    if (columns[k].kind == Column::Kind::ordered && columns[k].bins > 0 && columns[k].end - columns[k].begin > 1)
      return true;
  return false;
}

// At most so many tests does a state offer.
inline std::size_t most_offered(const CountTable& table) {
  const Columns& columns = table.by_column();
  if (columns.empty()) return table.test_classes().size();
  std::size_t sum = 0;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const Column& c = columns[k];
    const std::size_t n = c.end - c.begin;
    sum += (c.kind == Column::Kind::ordered && c.bins > 0 ? std::min<std::size_t>(n, c.bins - 1) : n) +
           (c.missing != Column::kNone ? 1 : 0);
  }
  return sum;
}

// The tree with, at each node, the test that the state offers and that parts it alike; of a state at this depth that
// offers its own tests.
Key offered_key(const CountTable& table, int max_depth, std::int64_t min_leaf, const Cover& cover, std::size_t depth,
                const Key& key);

}  // namespace everytree
