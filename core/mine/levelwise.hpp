// Apriori: itemsets level by level, candidates joined from the level before and counted in one pass over the rows.
//
//     candidates of length k+1:  P∪a, P∪b in the trie (a < b, of different tests) give P∪a∪b, if all its subsets of
//                                length k are there
//     counting:                  each row walks down the candidate trie along the items it satisfies
//     kept:                      what is frequent; with relevancy, what is relevant
// With relevancy a candidate also needs a subset I−i that may be split; the counts of (I−i) ∪ ¬i are those of I−i
// minus those of I, so both sides of a split are checked without counting the other one.
// (Study of DL8's strategies: see mine/strategies.hpp.)
#pragma once

#include "mine/trie.hpp"

namespace everytree::mine {

class Levelwise {
 public:
  Levelwise(const Lattice& lattice, bool relevancy, Trie& trie, Meter& meter);
  // Fills the trie; returns the number of itemsets counted. After each level, the empty itemset first, `enough` may
  // say that no longer itemset is wanted.
  std::size_t run(const std::function<bool()>& enough = {});

 private:
  struct Kind {
    std::uint32_t cls;
    std::int32_t multiplicity;
  };
  struct Transaction {
    const std::uint64_t* tests;  // bit t: the outcome of test t
    Kind kind;
    bool satisfies(Item i) const { return (tests[i >> 7] >> (i >> 1 & 63) & 1) == (i & 1); }
  };

  void read_rows();
  void first_candidates();
  bool extend(std::uint32_t id, std::size_t depth);  // makes the children of the nodes at length `level_`
  bool possible(const std::vector<Item>& items) const;
  void count(std::uint32_t id, std::size_t depth, const Transaction& row);
  void keep(std::uint32_t id, std::size_t depth);
  bool wanted(const std::vector<Item>& items, const std::int32_t* counts) const;

  const Lattice* lattice_;
  bool relevancy_;
  Trie* trie_;
  Meter* meter_;
  std::size_t row_words_;
  Store<std::uint64_t> rows_;  // row_words_ each, one row for every slot of the table
  Store<Kind> kinds_;
  std::size_t level_ = 0;    // length of the longest itemsets so far
  std::uint32_t kept_ = 0;   // where the next survivor goes
  std::vector<Item> items_;  // the path of the walk
  mutable std::vector<std::int32_t> other_;
};

}  // namespace everytree::mine
