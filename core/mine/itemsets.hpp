// Mined itemsets with their class counts as plain arrays: what an inductive database keeps, and DL8 asks again.
//
// Itemsets are ordered by length and then by items, the empty one first; every prefix of an itemset is one of them.
// (Study of DL8's strategies: see mine/strategies.hpp.)
#pragma once

#include "mine/lattice.hpp"

namespace everytree::mine {

struct Itemsets {
  std::vector<Item> items;           // of all itemsets, one after the other
  std::vector<std::int64_t> ends;    // where the items of each end
  std::vector<std::int32_t> counts;  // by itemset and class
};

// The relevant itemsets of a lattice, by Eclat.
Itemsets relevant_itemsets(const Lattice& lattice, Meter& meter);
// The answers to the lattice's query on itemsets that were mined before. Throws InvalidInput if they are out of order.
Found ask(const Lattice& lattice, const Itemsets& mined, Meter& meter);

}  // namespace everytree::mine
