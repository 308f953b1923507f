// A trie that itemsets enter in any order: an edge is the exact pair (node, item), found in one hash table of edges.
//
// Equality is proved by construction: a walk ends where the same items have led before, and edges are compared whole.
// Nodes that are only prefixes carry no result.
// (Study of DL8's strategies: see mine/strategies.hpp.)
#pragma once

#include "mine/lattice.hpp"

namespace everytree::mine {

class ItemIndex {
 public:
  explicit ItemIndex(Meter& meter);

  // The result of an itemset (its items in ascending order): its number, new ones the next. A `last` edge after the
  // items tells results of one itemset apart (by depth); kNone: there is just one.
  std::uint32_t locate(const Item* items, std::size_t n, std::uint32_t last = kNone);

  // The same without making one: kNone if the itemset was never asked for.
  std::uint32_t find(const Item* items, std::size_t n) const;

  std::size_t n_results() const { return n_results_; }
  std::size_t n_itemsets() const { return n_itemsets_; }  // that were asked for, not counting prefixes

 private:
  struct Edge {
    std::uint32_t from = kNone, item = 0, to = 0;
  };
  std::uint32_t step(std::uint32_t from, std::uint32_t item);
  void grow();

  Store<Edge> edges_;  // open addressing, a power of two
  std::size_t used_ = 0;
  Store<std::uint32_t> result_;  // by node; kNone for a prefix
  std::uint32_t n_results_ = 0;
  std::size_t n_itemsets_ = 0;
  Meter* meter_;
};

}  // namespace everytree::mine
