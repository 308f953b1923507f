// Eclat: depth first over classes of itemsets with a common prefix, each itemset with the set of its
// rows (here a bitset), so that    rows(P∪a∪b) = rows(P∪a) ∩ rows(P∪b)    and nothing is counted twice.
//
// Kept is what is frequent; with relevancy, what is relevant.
// Relevancy of an itemset asks for its subsets, so these must come first: a class is walked from its largest item
// down, and then every subset of P∪a∪b stands in a branch that is already complete.
// Bitsets are kept only for the classes on the way down; the trie keeps items and class counts.
// (Study of DL8's strategies: see mine/strategies.hpp.)
#pragma once

#include "mine/trie.hpp"

namespace everytree::mine {

class Eclat {
 public:
  Eclat(const Lattice& lattice, bool relevancy, Trie& trie, Meter& meter);
  // Fills the trie; returns the number of itemsets counted.
  std::size_t run();

 private:
  // The class of a node: its children, and their rows one after the other.
  void grow(std::uint32_t id, const Store<std::uint64_t>& rows);
  bool relevant(const std::int32_t* counts, const std::int32_t* parent) const;
  bool relevant_otherwise(const std::int32_t* counts) const;

  const Lattice* lattice_;
  bool relevancy_;
  Trie* trie_;
  Meter* meter_;
  std::size_t n_words_;
  std::size_t counted_ = 0;
  std::vector<Item> items_;            // of the itemset at hand
  std::vector<std::uint64_t> joined_;  // its rows
  std::vector<std::int32_t> counts_;
  mutable std::vector<std::int32_t> other_;
};

}  // namespace everytree::mine
