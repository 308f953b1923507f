#include "mcmc/tree_moves.hpp"

#include <cmath>

namespace everytree {

TreeMoves::TreeMoves(NodeStates& states, const MoveOdds& odds, Orders orders) : states_(&states), orders_(orders) {
  for (std::size_t k = 0; k < kMoveKinds; ++k) log_odds_[k] = std::log(odds.p[k]);
}

class TreeMoves::Whole {
 public:
  using Node = std::int32_t;
  using Test = std::uint32_t;
  static constexpr Test kNoTest = NodeStates::kNone;
  Whole(TreeMoves& moves, const ChainTree& tree, const Powers& powers)
      : m_(moves), states_(*moves.states_), tree_(tree), powers_(powers) {}

  std::size_t count(NodeSet set) const {
    const std::size_t splits = tree_.count(ChainTree::splits);
    switch (set) {
      case NodeSet::growable:
        return tree_.count(ChainTree::growable);
      case NodeSet::cherries:
        return tree_.count(ChainTree::cherries);
      case NodeSet::splits:
        return splits;
      case NodeSet::pairs:  // every split but the root is the lower half of one
        return splits == 0 ? 0 : splits - 1;
      case NodeSet::open:
        return tree_.count(ChainTree::growable) + splits;
    }
    return 0;
  }
  Node member(NodeSet set, std::size_t k) const {
    const std::size_t growable = tree_.count(ChainTree::growable);
    switch (set) {
      case NodeSet::growable:
        return tree_.member(ChainTree::growable, k);
      case NodeSet::cherries:
        return tree_.member(ChainTree::cherries, k);
      case NodeSet::splits:
        return tree_.member(ChainTree::splits, k);
      case NodeSet::pairs:
        return tree_.member(ChainTree::splits, 1 + k);
      case NodeSet::open:
        return k < growable ? tree_.member(ChainTree::growable, k) : tree_.member(ChainTree::splits, k - growable);
    }
    return ChainTree::kRoot;
  }
  std::size_t count_after(NodeSet set) const {
    if (set == NodeSet::cherries) {  // a cherry more, but the parent of v is none any more
      const std::int32_t up = tree_[m_.v_].parent;
      return tree_.count(ChainTree::cherries) + 1 - (up >= 0 && tree_.cherry(up));
    }
    if (set == NodeSet::open) return m_.open_after_;
    std::size_t after = tree_.count(ChainTree::growable) + 1;  // v is open: it was split
    for (std::int32_t child : tree_[m_.v_].child) after -= tree_[child].at[ChainTree::growable] >= 0;
    return after;
  }

  Test test(Node v) const { return static_cast<Test>(tree_[v].test); }
  Test draw_test(Node v, Stream& random) { return states_.draw(tree_[v].state, random); }
  double log_proposal(Node v, Test test) { return states_.log_proposal(tree_[v].state, test); }

  void grow(Node v, Test test, Move& move) {
    begin(MoveKind::grow, v, move);
    const TreeNode& node = tree_[v];
    m_.test_ = test;
    m_.below_ = states_.split(node.state, test);
    const NodeState &zero = states_[m_.below_[0]], &one = states_[m_.below_[1]];
    weigh(move, states_.log_split(node.state, test) + zero.log_prior_leaf + one.log_prior_leaf - node.log_prior,
          zero.log_data_leaf + one.log_data_leaf - node.log_data);
  }

  void prune(Node v, Move& move) {
    begin(MoveKind::prune, v, move);
    const TreeNode &node = tree_[v], &zero = tree_[node.child[0]], &one = tree_[node.child[1]];
    const NodeState& state = states_[node.state];
    weigh(move, state.log_prior_leaf - (node.log_prior + zero.log_prior + one.log_prior),
          state.log_data_leaf - (zero.log_data + one.log_data));
  }

  bool change(Node v, Test test, Move& move) {
    const auto changed = [&](std::int32_t at) { return at == v ? static_cast<std::int32_t>(test) : tree_[at].test; };
    if (!rebuild(v, changed, move)) return false;
    begin(MoveKind::change, v, move);
    return true;
  }

  // w is the lower half of the pair.
  bool swap(Node w, Move& move) {
    const std::int32_t v = tree_[w].parent, upper = tree_[v].test, lower = tree_[w].test;
    const auto exchanged = [&](std::int32_t at) {
      if (at == v) return lower;
      return tree_[at].parent == v && tree_[at].test == lower ? upper : tree_[at].test;
    };
    if (!rebuild(v, exchanged, move)) return false;
    begin(MoveKind::swap, w, move);
    return true;
  }

  bool regrow(Node v, Stream& random, Move& move) {
    const auto split = [&](std::int32_t at) { return at >= 0 && tree_[at].split(); };
    for (std::int32_t child : tree_[v].child)
      if (split(child) && (split(tree_[child].child[0]) || split(tree_[child].child[1]))) return false;  // too deep
    // What there is: its weight, the chance to draw it, and its nodes in O.
    double log_prior = 0, log_data = 0;
    std::size_t after = count(NodeSet::open);
    const auto look = [&](std::int32_t at, int levels) {
      const TreeNode& node = tree_[at];
      log_prior -= node.log_prior;
      log_data -= node.log_data;
      after -= node.split() || node.at[ChainTree::growable] >= 0;
      if (levels > 0) move.log_reverse += states_.log_level(node.state, levels, node.test);
    };
    look(v, 2);
    if (split(v))
      for (std::int32_t child : tree_[v].child) {
        look(child, 1);
        if (split(child))
          for (std::int32_t leaf : tree_[child].child) look(leaf, 0);
      }
    // What comes in its place.
    m_.places_.clear();
    const auto draw = [&](auto&& self, std::uint32_t state, int levels) -> void {
      const std::int32_t test = levels > 0 ? states_.draw_level(state, levels, random) : -1;
      if (levels > 0) move.log_forward += states_.log_level(state, levels, test);
      after += states_[state].open;
      m_.places_.push_back({-1, state, test});
      if (test < 0) {
        log_prior += states_[state].log_prior_leaf;
        log_data += states_[state].log_data_leaf;
        return;
      }
      log_prior += states_.log_split(state, static_cast<std::uint32_t>(test));
      for (std::uint32_t child : states_.split(state, static_cast<std::uint32_t>(test))) self(self, child, levels - 1);
    };
    draw(draw, tree_[v].state, 2);
    m_.open_after_ = after;
    begin(MoveKind::regrow, v, move);
    weigh(move, log_prior, log_data);
    return true;
  }

 private:
  void begin(MoveKind kind, Node v, Move& move) {
    m_.kind_ = kind;
    m_.v_ = v;
    move.proposed = true;
  }
  void weigh(Move& move, double log_prior, double log_data) {
    m_.log_plain_ = log_prior + log_data;
    move.log_target = powers_.of(log_prior, log_data);
  }

  // The same shape at and below v, with new_test(node) at every split: its states and its weight. False if it is not in
  // the space. Counting tests is the costly part, so all covers are tried before any is counted.
  template <class NewTest>
  bool rebuild(std::int32_t v, NewTest&& new_test, Move& move) {
    auto& places = m_.places_;
    auto& stack = m_.stack_;
    places.clear();
    stack.assign(1, {v, tree_[v].state});
    while (!stack.empty()) {
      const auto [at, state] = stack.back();
      stack.pop_back();
      const TreeNode& node = tree_[at];
      const std::int32_t test = node.split() ? new_test(at) : -1;
      places.push_back({at, state, test});
      if (test < 0) continue;
      const NodeStates::Children below = states_.split(state, static_cast<std::uint32_t>(test));
      if (below[0] == NodeStates::kNone) return false;
      stack.emplace_back(node.child[1], below[1]);
      stack.emplace_back(node.child[0], below[0]);
    }
    double log_prior = 0, log_data = 0;
    for (const Place& place : places) {
      const TreeNode& node = tree_[place.node];
      if (place.test >= 0) {
        log_prior += states_.log_split(place.state, static_cast<std::uint32_t>(place.test)) - node.log_prior;
      } else {
        const NodeState& state = states_[place.state];
        log_prior += state.log_prior_leaf - node.log_prior;
        log_data += state.log_data_leaf - node.log_data;
      }
    }
    weigh(move, log_prior, log_data);
    return true;
  }

  TreeMoves& m_;
  NodeStates& states_;
  const ChainTree& tree_;
  const Powers& powers_;
};

Move TreeMoves::propose(MoveKind kind, const ChainTree& tree, const Powers& powers, Stream& random) {
  Whole whole(*this, tree, powers);
  return propose_move(kind, whole, log_odds_, random);
}

Move TreeMoves::propose_stack(const ChainTree& tree, const Powers& powers, Stream& random, MoveKind& kind) {
  const std::size_t leaves = tree.n_leaves(), choice = random.below(leaves + 1);
  Whole whole(*this, tree, powers);
  Move move;
  kind = choice == leaves ? MoveKind::prune : MoveKind::grow;
  if (choice < tree.count(ChainTree::growable)) {
    const std::int32_t v = tree.member(ChainTree::growable, choice);
    const std::uint32_t test = whole.draw_test(v, random);
    if (test == NodeStates::kNone) return move;
    whole.grow(v, test, move);
    if (orders_ == Orders::once) move.log_target -= tree.log_more_orders(v, false);
    move.log_forward = whole.log_proposal(v, test) - log_of(leaves + 1);
    move.log_reverse = -log_of(leaves + 2);
  } else if (choice == leaves && !tree.order().empty()) {
    const std::int32_t v = tree.order().back();
    whole.prune(v, move);
    if (orders_ == Orders::once) move.log_target += tree.log_more_orders(v, true);
    move.log_forward = -log_of(leaves + 1);
    move.log_reverse = whole.log_proposal(v, whole.test(v)) - log_of(leaves);
  }
  return move;
}

void TreeMoves::accept(ChainTree& tree) {
  switch (kind_) {
    case MoveKind::grow:
      tree.grow(v_, test_, below_, *states_);
      break;
    case MoveKind::prune:
      tree.prune(v_, *states_);
      break;
    case MoveKind::change:
    case MoveKind::swap:
      for (const Place& place : places_) tree.assign(place.node, place.state, place.test, *states_);
      break;
    case MoveKind::regrow: {
      const std::array<std::int32_t, 2> children = tree[v_].child;
      for (std::int32_t child : children)
        if (child >= 0 && tree[child].split()) tree.prune(child, *states_);
      if (tree[v_].split()) tree.prune(v_, *states_);
      std::vector<std::int32_t>& open = nodes_;
      open.assign(1, v_);
      for (std::size_t k = 0; k < places_.size(); ++k) {
        const std::int32_t at = open.back();
        open.pop_back();
        if (places_[k].test < 0) continue;
        const auto test = static_cast<std::uint32_t>(places_[k].test);
        tree.grow(at, test, states_->split(places_[k].state, test), *states_);
        open.push_back(tree[at].child[1]);
        open.push_back(tree[at].child[0]);
      }
      break;
    }
  }
}

}  // namespace everytree
