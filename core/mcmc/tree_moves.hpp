// Moves between trees, each with the log probabilities of proposing it and its undoing.
//
// With G, K, S, P the growable leaves, the cherries, the splits and the pairs (split, child split) of the tree, r the
// proposal of tests (node_states.hpp) and p the fixed probabilities of the kinds:
//
//     grow     v ∈ G, a test t                  p(grow) / |G(T)| · r(t)         undone by prune
//     prune    v ∈ K                            p(prune) / |K(T)|               undone by grow
//     change   v ∈ S, another test t            p(change) / |S| · r(t)          |S| stays
//     swap     (v, w) ∈ P, tests exchanged      p(swap) / |P|                   |P| stays, and so it cancels
//     regrow   v ∈ G ∪ S, the part below it     p(regrow) / |G ∪ S| · r_2(v) · Π r_1 of its children, if it is split
//
// |G| counts the leaves that *can* be split, of the tree it is asked of: under a minimum leaf size, the number of
// leaves would make the ratio wrong. Change and swap keep the shape below v and give every node there a new cover: its
// feasibility, its e and whether its leaves are open are all found anew; where a test is no longer feasible there is no
// proposal. If both children of v carry the same test, swap exchanges in both. Regrow replaces a part of at most two
// levels by another one; where v has more levels below it there is no proposal.
//
// The stack kernel has ℓ + 1 choices at ℓ leaves: split a leaf, or undo the split added last. A choice that is
// impossible is staying put.
//
//     growth   r(t) / (ℓ + 1), undone with 1 / (ℓ + 2)
#pragma once

#include <array>
#include <vector>

#include "mcmc/chain_tree.hpp"
#include "mcmc/move.hpp"

namespace everytree {

enum class ChainKernel { chipman, stack };

// Probabilities of the kinds of moves of the Chipman kernel, summing to one.
struct MoveOdds {
  std::array<double, kMoveKinds> p{0.25, 0.25, 0.25, 0.25, 0};
  MoveKind draw(Stream& random) const {
    double x = random.uniform();
    std::size_t k = 0, last = 0;
    for (; k < kMoveKinds; ++k) {
      if (p[k] <= 0) continue;
      last = k;
      if (x < p[k]) return static_cast<MoveKind>(k);
      x -= p[k];
    }
    return static_cast<MoveKind>(last);  // rounding
  }
};

class TreeMoves {
 public:
  TreeMoves(NodeStates& states, const MoveOdds& odds);

  // Propose a move of this kind; nothing changes until accept().
  Move propose(MoveKind kind, const ChainTree& tree, const Powers& powers, Stream& random);
  // The stack kernel: grow or prune, whichever is drawn.
  Move propose_stack(const ChainTree& tree, const Powers& powers, Stream& random, MoveKind& kind);
  void accept(ChainTree& tree);
  // The node that the last proposal is about: v, or w of a swap.
  std::int32_t node() const { return v_; }
  // Its log of π(new) / π(old), not heated.
  double log_plain() const { return log_plain_; }

 private:
  struct Place {
    std::int32_t node;
    std::uint32_t state;
    std::int32_t test;
  };
  Move grow(const ChainTree& tree, std::int32_t v, const Powers& powers, Stream& random);
  Move prune(const ChainTree& tree, std::int32_t v, const Powers& powers);
  Move change(const ChainTree& tree, const Powers& powers, Stream& random);
  Move swap(const ChainTree& tree, const Powers& powers, Stream& random);
  Move regrow(const ChainTree& tree, const Powers& powers, Stream& random);
  template <class NewTest>
  bool rebuild(const ChainTree& tree, std::int32_t v, const Powers& powers, NewTest&& new_test, Move& move);

  NodeStates* states_;
  std::array<double, kMoveKinds> log_odds_;
  // Of the last proposal.
  double weighed(const Powers& powers, double log_prior, double log_data) {
    log_plain_ = log_prior + log_data;
    return powers.of(log_prior, log_data);
  }

  MoveKind kind_ = MoveKind::grow;
  double log_plain_ = 0;
  std::int32_t v_ = 0;
  std::uint32_t test_ = 0;
  NodeStates::Children below_{};
  std::vector<Place> places_;  // change and swap: nodes; regrow: the new part in preorder, without nodes
  std::vector<std::pair<std::int32_t, std::uint32_t>> stack_;
  std::vector<std::int32_t> nodes_;
};

}  // namespace everytree
