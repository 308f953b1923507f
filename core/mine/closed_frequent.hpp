// All closed frequent itemsets, depth first. Without a depth limit each is met once (LCM, Uno et al. 2004):
//
//     closure(rows) = every item that all rows satisfy
//     from a closed C made by item c:  C' = closure(rows(C) ∩ rows(j)) for the items j > c that C lacks; C' is C's
//     child
//                                      if it adds no item before j, and so every closed itemset has one parent
// With one, wanted are the closures of itemsets that are short enough, and how a closed itemset came about matters:
// then the frequent itemsets are walked, but for items that are in the closure already, and new closures are kept.
// (Study of DL8's strategies: see mine/strategies.hpp.)
#pragma once

#include "mine/single_step.hpp"

namespace everytree::mine {

class ClosedFrequent {
 public:
  ClosedFrequent(const Lattice& lattice, Mined& mined, Meter& meter);
  // Fills `mined`; returns the number of itemsets counted.
  std::size_t run();

 private:
  void grow(const Store<std::uint64_t>& rows, const Store<Item>& items, Item made_by, std::size_t depth);
  void close(const std::uint64_t* rows, Store<Item>& items) const;
  void keep(const Store<Item>& items);

  const Lattice* lattice_;
  const CountTable* table_;
  Mined* mined_;
  Meter* meter_;
  std::size_t counted_ = 0;
  std::vector<std::int32_t> counts_;
};

}  // namespace everytree::mine
