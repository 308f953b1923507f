#include "mcmc/tree_moves.hpp"

#include <cmath>

namespace everytree {

namespace {

double log_of(std::size_t n) { return std::log(static_cast<double>(n)); }
std::size_t index(MoveKind kind) { return static_cast<std::size_t>(kind); }

}  // namespace

TreeMoves::TreeMoves(NodeStates& states, const MoveOdds& odds) : states_(&states) {
  for (std::size_t k = 0; k < kMoveKinds; ++k) log_odds_[k] = std::log(odds.p[k]);
}

Move TreeMoves::propose(MoveKind kind, const ChainTree& tree, const Powers& powers, Stream& random) {
  Move move;
  switch (kind) {
    case MoveKind::grow: {
      const std::size_t n = tree.count(ChainTree::growable);
      if (n == 0) return move;
      const std::int32_t v = tree.member(ChainTree::growable, random.below(n));
      move = grow(tree, v, powers, random);
      // A cherry more, but the parent of v is none any more.
      const std::int32_t up = tree[v].parent;
      const std::size_t after = tree.count(ChainTree::cherries) + 1 - (up >= 0 && tree.cherry(up));
      move.log_forward += log_odds_[index(MoveKind::grow)] - log_of(n);
      move.log_reverse = log_odds_[index(MoveKind::prune)] - log_of(after);
      return move;
    }
    case MoveKind::prune: {
      const std::size_t n = tree.count(ChainTree::cherries);
      if (n == 0) return move;
      const std::int32_t v = tree.member(ChainTree::cherries, random.below(n));
      move = prune(tree, v, powers);
      std::size_t after = tree.count(ChainTree::growable) + 1;  // v is open: it was split
      for (std::int32_t child : tree[v].child) after -= tree[child].at[ChainTree::growable] >= 0;
      move.log_forward = log_odds_[index(MoveKind::prune)] - log_of(n);
      move.log_reverse += log_odds_[index(MoveKind::grow)] - log_of(after);
      return move;
    }
    case MoveKind::change:
      return change(tree, powers, random);
    case MoveKind::swap:
      return swap(tree, powers, random);
    case MoveKind::regrow:
      return regrow(tree, powers, random);
  }
  return move;
}

Move TreeMoves::propose_stack(const ChainTree& tree, const Powers& powers, Stream& random, MoveKind& kind) {
  const std::size_t leaves = tree.n_leaves(), choice = random.below(leaves + 1);
  Move move;
  kind = choice == leaves ? MoveKind::prune : MoveKind::grow;
  if (choice < tree.count(ChainTree::growable)) {
    move = grow(tree, tree.member(ChainTree::growable, choice), powers, random);
    move.log_forward -= log_of(leaves + 1);
    move.log_reverse = -log_of(leaves + 2);
  } else if (choice == leaves && !tree.order().empty()) {
    move = prune(tree, tree.order().back(), powers);
    move.log_forward = -log_of(leaves + 1);
    move.log_reverse -= log_of(leaves);
  }
  return move;
}

// The parts of growing and pruning that both kernels share: the target, and r.
Move TreeMoves::grow(const ChainTree& tree, std::int32_t v, const Powers& powers, Stream& random) {
  Move move;
  move.proposed = true;
  kind_ = MoveKind::grow;
  v_ = v;
  const TreeNode& node = tree[v];
  test_ = states_->draw(node.state, random);
  below_ = states_->split(node.state, test_);
  const NodeState &zero = (*states_)[below_[0]], &one = (*states_)[below_[1]];
  move.log_target =
      weighed(powers, states_->log_split(node.state, test_) + zero.log_prior_leaf + one.log_prior_leaf - node.log_prior,
              zero.log_data_leaf + one.log_data_leaf - node.log_data);
  move.log_forward = states_->log_proposal(node.state, test_);
  return move;
}

Move TreeMoves::prune(const ChainTree& tree, std::int32_t v, const Powers& powers) {
  Move move;
  move.proposed = true;
  kind_ = MoveKind::prune;
  v_ = v;
  const TreeNode &node = tree[v], &zero = tree[node.child[0]], &one = tree[node.child[1]];
  const NodeState& state = (*states_)[node.state];
  move.log_target = weighed(powers, state.log_prior_leaf - (node.log_prior + zero.log_prior + one.log_prior),
                            state.log_data_leaf - (zero.log_data + one.log_data));
  move.log_reverse = states_->log_proposal(node.state, static_cast<std::uint32_t>(node.test));
  return move;
}

// The same shape at and below v, with new_test(node) at every split: its states and its weight. False if it is not in
// the space. Counting tests is the costly part, so all covers are tried before any is counted.
template <class NewTest>
bool TreeMoves::rebuild(const ChainTree& tree, std::int32_t v, const Powers& powers, NewTest&& new_test, Move& move) {
  places_.clear();
  stack_.assign(1, {v, tree[v].state});
  while (!stack_.empty()) {
    const auto [at, state] = stack_.back();
    stack_.pop_back();
    const TreeNode& node = tree[at];
    const std::int32_t test = node.split() ? new_test(at) : -1;
    places_.push_back({at, state, test});
    if (test < 0) continue;
    const NodeStates::Children below = states_->split(state, static_cast<std::uint32_t>(test));
    if (below[0] == NodeStates::kNone) return false;
    stack_.emplace_back(node.child[1], below[1]);
    stack_.emplace_back(node.child[0], below[0]);
  }
  double log_prior = 0, log_data = 0;
  for (const Place& place : places_) {
    const TreeNode& node = tree[place.node];
    if (place.test >= 0) {
      log_prior += states_->log_split(place.state, static_cast<std::uint32_t>(place.test)) - node.log_prior;
    } else {
      const NodeState& state = (*states_)[place.state];
      log_prior += state.log_prior_leaf - node.log_prior;
      log_data += state.log_data_leaf - node.log_data;
    }
  }
  move.log_target = weighed(powers, log_prior, log_data);
  move.proposed = true;
  v_ = v;
  return true;
}

Move TreeMoves::change(const ChainTree& tree, const Powers& powers, Stream& random) {
  Move move;
  const std::size_t n = tree.count(ChainTree::splits);
  if (n == 0) return move;
  const std::int32_t v = tree.member(ChainTree::splits, random.below(n));
  const TreeNode& node = tree[v];
  const auto test = static_cast<std::int32_t>(states_->draw(node.state, random));
  if (test == node.test) return move;
  kind_ = MoveKind::change;
  if (!rebuild(tree, v, powers, [&](std::int32_t at) { return at == v ? test : tree[at].test; }, move)) return move;
  const double each = log_odds_[index(MoveKind::change)] - log_of(n);
  move.log_forward = each + states_->log_proposal(node.state, static_cast<std::uint32_t>(test));
  move.log_reverse = each + states_->log_proposal(node.state, static_cast<std::uint32_t>(node.test));
  return move;
}

Move TreeMoves::swap(const ChainTree& tree, const Powers& powers, Stream& random) {
  Move move;
  const std::size_t n = tree.count(ChainTree::splits);
  if (n < 2) return move;
  const std::int32_t w = tree.member(ChainTree::splits, 1 + random.below(n - 1)), v = tree[w].parent;
  const std::int32_t upper = tree[v].test, lower = tree[w].test;
  kind_ = MoveKind::swap;
  const auto exchanged = [&](std::int32_t at) {
    if (at == v) return lower;
    return tree[at].parent == v && tree[at].test == lower ? upper : tree[at].test;
  };
  if (!rebuild(tree, v, powers, exchanged, move)) return move;
  move.log_forward = move.log_reverse = log_odds_[index(MoveKind::swap)] - log_of(n - 1);
  v_ = w;
  return move;
}

Move TreeMoves::regrow(const ChainTree& tree, const Powers& powers, Stream& random) {
  Move move;
  const std::size_t growable = tree.count(ChainTree::growable), n = growable + tree.count(ChainTree::splits);
  if (n == 0) return move;
  const std::size_t k = random.below(n);
  const std::int32_t v =
      k < growable ? tree.member(ChainTree::growable, k) : tree.member(ChainTree::splits, k - growable);
  const auto split = [&](std::int32_t at) { return at >= 0 && tree[at].split(); };
  for (std::int32_t child : tree[v].child)
    if (split(child) && (split(tree[child].child[0]) || split(tree[child].child[1]))) return move;  // too deep
  // What there is: its weight, the chance to draw it, and its nodes in G ∪ S.
  double log_prior = 0, log_data = 0;
  std::size_t after = n;
  const auto look = [&](std::int32_t at, int levels) {
    const TreeNode& node = tree[at];
    log_prior -= node.log_prior;
    log_data -= node.log_data;
    after -= node.split() || node.at[ChainTree::growable] >= 0;
    if (levels > 0) move.log_reverse += states_->log_level(node.state, levels, node.test);
  };
  look(v, 2);
  if (split(v))
    for (std::int32_t child : tree[v].child) {
      look(child, 1);
      if (split(child))
        for (std::int32_t leaf : tree[child].child) look(leaf, 0);
    }
  // What comes in its place.
  places_.clear();
  const auto draw = [&](auto&& self, std::uint32_t state, int levels) -> void {
    const std::int32_t test = levels > 0 ? states_->draw_level(state, levels, random) : -1;
    if (levels > 0) move.log_forward += states_->log_level(state, levels, test);
    after += (*states_)[state].open;
    places_.push_back({-1, state, test});
    if (test < 0) {
      log_prior += (*states_)[state].log_prior_leaf;
      log_data += (*states_)[state].log_data_leaf;
      return;
    }
    log_prior += states_->log_split(state, static_cast<std::uint32_t>(test));
    for (std::uint32_t child : states_->split(state, static_cast<std::uint32_t>(test))) self(self, child, levels - 1);
  };
  draw(draw, tree[v].state, 2);
  kind_ = MoveKind::regrow;
  v_ = v;
  move.proposed = true;
  move.log_target = weighed(powers, log_prior, log_data);
  move.log_forward += log_odds_[index(MoveKind::regrow)] - log_of(n);
  move.log_reverse += log_odds_[index(MoveKind::regrow)] - log_of(after);
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
