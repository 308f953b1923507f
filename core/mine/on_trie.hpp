// DL8's recursion on a trie of mined itemsets: the second step of the two-step strategies.
//
//     best(I) = least of  leaf(I)  and  best(I ∪ ¬t) + best(I ∪ t)  over the tests t with both itemsets in the trie,
// where I is not final. What is kept of it (mine/keep.hpp) lies beside the node, so every itemset is evaluated once.
// (Study of DL8's strategies: see mine/strategies.hpp.)
#pragma once

#include "mine/keep.hpp"
#include "mine/trie.hpp"

namespace everytree::mine {

template <class Keep>
class OnTrie {
 public:
  OnTrie(const Lattice& lattice, const Trie& trie, Meter& meter);

  // The answers to the query, below the empty itemset.
  std::vector<Judged> trees();
  std::size_t states() const { return states_; }

 private:
  // One itemset on the way down, and the trie nodes of its prefixes: node[k] is that of the first k items.
  struct Level {
    std::vector<Item> items;
    std::vector<std::uint32_t> node;
  };

  void evaluate(std::size_t depth);
  std::uint32_t find_with(const Level& level, std::size_t place, Item item) const;
  void enter(std::size_t depth, std::size_t place, Item item);
  void write(std::size_t depth, std::size_t place, Key& key);

  const Lattice* lattice_;
  const Trie* trie_;
  Meter* meter_;
  std::vector<std::uint32_t> tests_;  // with both outcomes below the root: no other test is ever feasible
  Keep keep_;
  Store<typename Keep::Entry> entries_;  // by node
  std::vector<Level> levels_;
  std::size_t states_ = 0;
};

// Both steps and their report: `mine` fills the trie and returns how many itemsets it counted.
template <class Mine>
Found in_two_steps(const Lattice& lattice, Meter& meter, Mine&& mine) {
  const double start = meter.seconds();
  Found found;
  Trie trie(lattice.n_classes(), meter);
  found.report.counted = mine(trie);
  found.report.itemsets = trie.size();
  found.report.seconds_mining = meter.seconds() - start;
  const auto build = [&](auto&& dl8) {
    found.trees = dl8.trees();
    found.report.states = dl8.states();
  };
  if (lattice.one_tree())
    build(OnTrie<OneTree>(lattice, trie, meter));
  else
    build(OnTrie<ManyTrees>(lattice, trie, meter));
  found.report.bytes = meter.peak();
  found.report.seconds_total = meter.seconds() - start;
  return found;
}

}  // namespace everytree::mine
