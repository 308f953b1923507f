// The trie of the miners: itemsets in ascending order of their items, each with its class counts.
//
// Miners make all children of a node at once, so they lie side by side, sorted by item: a node needs two numbers for
// them and a look-up is a binary search.
// (Study of DL8's strategies: see mine/strategies.hpp.)
#pragma once

#include <deque>

#include "mine/lattice.hpp"

namespace everytree::mine {

class Trie {
 public:
  struct Node {
    Item item;
    std::uint32_t begin = 0, end = 0;  // children
    std::uint32_t deepest = 0;         // longest itemset below, as far as the miner keeps it
  };

  Trie(std::size_t n_classes, Meter& meter) : n_classes_(n_classes), meter_(&meter), nodes_(meter) {}

  std::size_t size() const { return nodes_.size(); }
  Node& node(std::size_t id) { return nodes_[id]; }
  const Node& node(std::size_t id) const { return nodes_[id]; }
  std::int32_t* counts(std::size_t id) { return counts_[id / kBlock].data() + id % kBlock * n_classes_; }
  const std::int32_t* counts(std::size_t id) const { return counts_[id / kBlock].data() + id % kBlock * n_classes_; }

  // A node that its parent does not know yet; counts may be null (zeros).
  std::uint32_t add(Item item, const std::int32_t* counts);
  void move(std::uint32_t from, std::uint32_t to);  // item and counts
  void truncate(std::size_t n);

  std::uint32_t child(std::uint32_t id, Item item) const;
  // From a node down along items; kNone if that itemset is not stored.
  std::uint32_t descend(std::uint32_t id, const Item* items, std::size_t n) const;
  // The itemset without its k-th item.
  std::uint32_t find_without(const Item* items, std::size_t n, std::size_t k) const;

 private:
  static constexpr std::size_t kBlock = 4096;
  std::size_t n_classes_;
  Meter* meter_;
  Store<Node> nodes_;
  // Of so many nodes each. In one array that moves as it grows, hundreds of megabytes for hundreds of classes took 60
  // ms, in which nobody looks at the clock, and were there twice.
  std::deque<Store<std::int32_t>> counts_;
};

}  // namespace everytree::mine
