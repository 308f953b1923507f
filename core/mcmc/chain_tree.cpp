#include "mcmc/chain_tree.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "common/errors.hpp"

namespace everytree {

ChainTree::ChainTree(NodeStates& states, bool ordered) : ordered_(ordered) { leaf(states.root(), -1, states); }

ChainTree::ChainTree(NodeStates& states, const Key& key, bool ordered) : ChainTree(states, ordered) {
  std::vector<std::int32_t> open{kRoot};
  for (std::int32_t test : key) {
    if (open.empty()) throw InvalidInput("the key goes on after the tree is complete");
    const std::int32_t v = open.back();
    open.pop_back();
    if (test == -1) continue;
    const auto t = static_cast<std::uint32_t>(test);
    const NodeStates::Children below =
        test < 0 ? NodeStates::Children{NodeStates::kNone, NodeStates::kNone} : states.split(node(v).state, t);
    if (below[0] == NodeStates::kNone)
      throw InvalidInput("test " + std::to_string(test) + " is not feasible where the key uses it");
    grow(v, t, below, states);
    open.push_back(node(v).child[1]);
    open.push_back(node(v).child[0]);
  }
  if (!open.empty()) throw InvalidInput("the key ends before the tree is complete");
}

void ChainTree::put(Set set, std::int32_t v, bool in) {
  std::int32_t& at = node(v).at[set];
  if (in == (at >= 0)) return;
  auto& members = sets_[set];
  if (in) {
    at = static_cast<std::int32_t>(members.size());
    members.push_back(v);
  } else {
    members[static_cast<std::size_t>(at)] = members.back();
    node(members.back()).at[set] = at;
    members.pop_back();
    at = -1;
  }
}

// Weights of a node for its state and test; whether it can grow.
void ChainTree::weigh(std::int32_t v, NodeStates& states) {
  TreeNode& n = node(v);
  if (n.split()) {
    n.log_prior = states.log_split(n.state, static_cast<std::uint32_t>(n.test));
    n.log_data = 0;
  } else {
    n.log_prior = states[n.state].log_prior_leaf;
    n.log_data = states[n.state].log_data_leaf;
  }
  put(growable, v, !n.split() && states[n.state].open);
}

std::int32_t ChainTree::leaf(std::uint32_t state, std::int32_t parent, NodeStates& states) {
  std::int32_t v;
  if (free_.empty()) {
    v = static_cast<std::int32_t>(nodes_.size());
    nodes_.emplace_back();
  } else {
    v = free_.back();
    free_.pop_back();
  }
  TreeNode& n = node(v);
  n.test = -1;
  n.state = state;
  n.parent = parent;
  n.child = {-1, -1};
  n.splits = 0;
  weigh(v, states);
  return v;
}

void ChainTree::grow(std::int32_t v, std::uint32_t test, NodeStates::Children below, NodeStates& states) {
  node(v).test = static_cast<std::int32_t>(test);
  weigh(v, states);
  for (std::size_t side = 0; side < 2; ++side) {
    const std::int32_t child = leaf(below[side], v, states);
    node(v).child[side] = child;
  }
  put(splits, v, true);
  put(cherries, v, true);
  if (node(v).parent >= 0) put(cherries, node(v).parent, false);
  if (!ordered_) return;
  order_.push_back(v);
  for (std::int32_t at = v; at >= 0; at = node(at).parent) ++node(at).splits;
}

void ChainTree::prune(std::int32_t v, NodeStates& states) {
  for (std::int32_t child : node(v).child) {
    put(growable, child, false);
    free_.push_back(child);
  }
  node(v).test = -1;
  node(v).child = {-1, -1};
  put(splits, v, false);
  put(cherries, v, false);
  weigh(v, states);
  if (const std::int32_t up = node(v).parent; up >= 0) {
    const TreeNode& parent = node(up);
    if (!node(parent.child[0]).split() && !node(parent.child[1]).split()) put(cherries, up, true);
  }
  if (!ordered_) return;
  order_.pop_back();  // only the last one is ever undone
  for (std::int32_t at = v; at >= 0; at = node(at).parent) --node(at).splits;
}

double ChainTree::log_more_orders(std::int32_t v, bool undone) const {
  const double less = undone ? 1 : 0;  // the splits are to be counted without v
  double sum = std::log(static_cast<double>(count(splits)) - less + 1);
  for (std::int32_t at = (*this)[v].parent; at >= 0; at = (*this)[at].parent) {
    const double k = static_cast<double>((*this)[at].splits) - less;
    sum += std::log(k) - std::log(k + 1);
  }
  return sum;
}

void ChainTree::assign(std::int32_t v, std::uint32_t state, std::int32_t test, NodeStates& states) {
  node(v).state = state;
  node(v).test = test;
  weigh(v, states);
}

void ChainTree::attach(NodeStates& states) {
  std::vector<std::pair<std::int32_t, std::uint32_t>> open{{kRoot, states.root()}};
  while (!open.empty()) {
    const auto [v, state] = open.back();
    open.pop_back();
    node(v).state = state;
    if (!node(v).split()) continue;
    const NodeStates::Children below = states.split(state, static_cast<std::uint32_t>(node(v).test));
    open.emplace_back(node(v).child[1], below[1]);
    open.emplace_back(node(v).child[0], below[0]);
  }
}

Key ChainTree::key() const {
  Key out;
  out.reserve(2 * n_leaves() - 1);
  preorder(kRoot, [&](std::int32_t v) { out.push_back((*this)[v].test); });
  return out;
}

Key ChainTree::order_of_key() const {
  std::vector<std::int32_t> number(nodes_.size(), -1);
  for (std::size_t k = 0; k < order_.size(); ++k)
    number[static_cast<std::size_t>(order_[k])] = static_cast<std::int32_t>(k);
  Key out;
  preorder(kRoot, [&](std::int32_t v) { out.push_back(number[static_cast<std::size_t>(v)]); });
  return out;
}

Key ChainTree::places(Set set) const {
  Key out;
  preorder(kRoot, [&](std::int32_t v) { out.push_back((*this)[v].at[set]); });
  return out;
}

void ChainTree::arrange(const std::array<Key, 3>& places, const Key& order) {
  std::vector<std::int32_t> nodes;
  preorder(kRoot, [&](std::int32_t v) { nodes.push_back(v); });
  // The nodes by place; throws unless exactly those that are `in` have one each.
  const auto by_place = [&](const Key& at, std::size_t n, auto&& in) {
    std::vector<std::int32_t> members(n, -1);
    bool good = at.size() == nodes.size();
    for (std::size_t k = 0; good && k < at.size(); ++k) {
      const bool placed = at[k] >= 0 && static_cast<std::size_t>(at[k]) < n;
      good = in(nodes[k]) ? placed && members[static_cast<std::size_t>(at[k])] < 0 : at[k] == -1;
      if (good && placed) members[static_cast<std::size_t>(at[k])] = nodes[k];
    }
    if (!good) throw InvalidInput("the places of nodes are not those of this tree");
    return members;
  };
  std::array<std::vector<std::int32_t>, 3> sets;
  for (std::size_t set = 0; set < 3; ++set)
    sets[set] = by_place(places[set], sets_[set].size(), [&](std::int32_t v) { return node(v).at[set] >= 0; });
  if (!sets[splits].empty() && sets[splits][0] != kRoot) throw InvalidInput("the root is not the first of the splits");
  if (ordered_) {
    std::vector<std::int32_t> added = by_place(order, order_.size(), [&](std::int32_t v) { return node(v).split(); });
    std::vector<char> seen(nodes_.size(), 0);
    for (std::int32_t v : added) {
      if (node(v).parent >= 0 && !seen[static_cast<std::size_t>(node(v).parent)])
        throw InvalidInput("a split was added before the one above it");
      seen[static_cast<std::size_t>(v)] = 1;
    }
    order_ = std::move(added);
  } else if (!order.empty()) {
    throw InvalidInput("this kernel keeps no order of additions");
  }
  sets_ = std::move(sets);
  for (std::size_t set = 0; set < 3; ++set)
    for (std::size_t k = 0; k < sets_[set].size(); ++k) node(sets_[set][k]).at[set] = static_cast<std::int32_t>(k);
}

std::size_t ChainTree::depth(const NodeStates& states) const {
  std::int32_t most = 0;
  preorder(kRoot, [&](std::int32_t v) { most = std::max(most, states[(*this)[v].state].depth); });
  return static_cast<std::size_t>(most);
}

double ChainTree::log_prior() const {
  double sum = 0;
  preorder(kRoot, [&](std::int32_t v) { sum += (*this)[v].log_prior; });
  return sum;
}

double ChainTree::log_data() const {
  double sum = 0;
  preorder(kRoot, [&](std::int32_t v) { sum += (*this)[v].log_data; });
  return sum;
}

}  // namespace everytree
