// The tree of a chain: nodes in one array, and what moves choose from kept at hand.
//
//     growable   leaves at an open state        cherries   splits above two leaves        splits   all of them
//
// The root is the first of `splits` whenever it is one; every other split is the lower half of one pair (split, child
// that is a split). A change of the tree costs what it touches; nodes that are gone are used again.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/key.hpp"
#include "mcmc/node_states.hpp"

namespace everytree {

struct TreeNode {
  std::int32_t test = -1;  // −1: a leaf
  std::uint32_t state = 0;
  std::int32_t parent = -1;
  std::array<std::int32_t, 2> child{-1, -1};
  std::array<std::int32_t, 3> at{-1, -1, -1};  // where it stands in the sets below
  std::int32_t splits = 0;                     // at and below it; kept up in ordered trees only
  double log_prior = 0, log_data = 0;

  bool split() const { return test >= 0; }
};

class ChainTree {
 public:
  enum Set { growable, cherries, splits };

  // A single leaf. Only an ordered tree knows in which order its splits were added.
  ChainTree(NodeStates& states, bool ordered);
  // The tree with this key (tests in preorder, −1 for a leaf); throws InvalidInput if it is not in the space. Its
  // splits count as added in preorder.
  ChainTree(NodeStates& states, const Key& key, bool ordered);

  const TreeNode& operator[](std::int32_t v) const { return nodes_[static_cast<std::size_t>(v)]; }
  static constexpr std::int32_t kRoot = 0;
  std::size_t count(Set set) const { return sets_[set].size(); }
  std::int32_t member(Set set, std::size_t k) const { return sets_[set][k]; }
  std::size_t n_leaves() const { return count(splits) + 1; }
  bool cherry(std::int32_t v) const { return (*this)[v].at[cherries] >= 0; }
  // Splits in the order in which they were added.
  const std::vector<std::int32_t>& order() const { return order_; }
  // Of an ordered tree: the log of how many times more orders of additions it has once this leaf is split. With n
  // splits in the tree, and k at and below an ancestor, n! / Π k is the number of orders, so that the factor is
  // (n + 1) · Π_ancestors k / (k + 1). `undone`: v is the cherry, and the factor that of splitting it again.
  double log_more_orders(std::int32_t v, bool undone) const;

  // Split a leaf; make a cherry a leaf; give a node another state and test, the shape as it is.
  void grow(std::int32_t leaf, std::uint32_t test, NodeStates::Children below, NodeStates& states);
  void prune(std::int32_t cherry, NodeStates& states);
  void assign(std::int32_t v, std::uint32_t state, std::int32_t test, NodeStates& states);
  // Find all states again after they were forgotten.
  void attach(NodeStates& states);

  Key key() const;
  // For each node of the key: the place of its split in the order of additions, −1 for a leaf.
  Key order_of_key() const;
  // For each node of the key: its place in a set, −1 if it is not in it. Moves choose by place, so that a tree with
  // the same key and the same places meets the same fate.
  Key places(Set set) const;
  // Put the members of the sets, and of an ordered tree the order of additions, at these places.
  void arrange(const std::array<Key, 3>& places, const Key& order);
  std::size_t depth(const NodeStates& states) const;
  // Σ over all nodes, in preorder.
  double log_prior() const;
  double log_data() const;

  // f(v) for every node at or below v in preorder.
  template <class F>
  void preorder(std::int32_t v, F&& f) const {
    stack_.assign(1, v);
    while (!stack_.empty()) {
      const std::int32_t at = stack_.back();
      stack_.pop_back();
      f(at);
      const TreeNode& node = (*this)[at];
      if (!node.split()) continue;
      stack_.push_back(node.child[1]);
      stack_.push_back(node.child[0]);
    }
  }

 private:
  TreeNode& node(std::int32_t v) { return nodes_[static_cast<std::size_t>(v)]; }
  std::int32_t leaf(std::uint32_t state, std::int32_t parent, NodeStates& states);
  void weigh(std::int32_t v, NodeStates& states);
  void put(Set set, std::int32_t v, bool in);

  bool ordered_;
  std::vector<TreeNode> nodes_;
  std::vector<std::int32_t> free_, order_;
  std::array<std::vector<std::int32_t>, 3> sets_;
  mutable std::vector<std::int32_t> stack_;
};

}  // namespace everytree
