// What is said of chains: the top of a tree by definition, and whether two trees have sets of the same sizes.
#pragma once

#include "graph/graph.hpp"
#include "mcmc/chain_tree.hpp"
#include "naive.hpp"

namespace chain_twin {

inline bool same_sets(const everytree::ChainTree& a, const everytree::ChainTree& b) {
  using everytree::ChainTree;
  for (auto set : {ChainTree::growable, ChainTree::cherries, ChainTree::splits})
    if (a.count(set) != b.count(set)) return false;
  return true;
}

// The top of the tree that begins at key[at]; `at` goes on to what follows it.
inline void top_of(const naive::Space& space, const everytree::Key& key, std::size_t& at, const naive::Rows& cover,
                   std::int32_t depth, bool inside, everytree::Key& out) {
  const std::int32_t test = key[at++];
  const naive::Table& d = *space.table;
  const bool ends = everytree::levels_of(!d.columns.empty(), space.max_depth, space.min_leaf, depth, d.total(cover)) !=
                        everytree::State::kInner ||
                    test < 0;
  if (inside) out.push_back(ends ? -1 : test);
  if (test < 0) return;
  for (bool side : {false, true})
    top_of(space, key, at, d.side(cover, static_cast<std::size_t>(test), side), depth + 1, inside && !ends, out);
}
inline everytree::Key top_of(const naive::Space& space, const everytree::Key& key) {
  everytree::Key out;
  std::size_t at = 0;
  top_of(space, key, at, space.table->all(), 0, true, out);
  return out;
}

}  // namespace chain_twin
