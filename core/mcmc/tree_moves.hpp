// Moves between whole trees: the law is that of mcmc/moves.hpp, with the r of node_states.hpp.
//
// Change and swap find the feasibility of every node below v, its e and whether its leaves are open anew. Regrow
// replaces a part of at most two levels by another one, with r_2(v) · Π r_1 of its children, if it is split; where v
// has more levels below it there is no proposal.
//
// The stack kernel has ℓ + 1 choices at ℓ leaves: split a leaf, or undo the split added last. A choice that is
// impossible is staying put.
//
//     growth   r(t) / (ℓ + 1), undone with 1 / (ℓ + 2)
//
// Its state is a tree with an order of additions, which weighs
//
//     counted   π(T), so that a tree is drawn once for each of its orders
//     once      π(T) / orders(T), so that a tree is drawn as π says; heating leaves the divisor as it is
#pragma once

#include <array>
#include <vector>

#include "mcmc/chain_tree.hpp"
#include "mcmc/moves.hpp"

namespace everytree {

enum class ChainKernel { chipman, stack };
enum class Orders { counted, once };

class TreeMoves {
 public:
  TreeMoves(NodeStates& states, const MoveOdds& odds, Orders orders);

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
  class Whole;  // a tree as mcmc/moves.hpp asks for it

  NodeStates* states_;
  LogOdds log_odds_;
  Orders orders_;  // of the stack kernel
  // Of the last proposal.
  MoveKind kind_ = MoveKind::grow;
  double log_plain_ = 0;
  std::int32_t v_ = 0;
  std::uint32_t test_ = 0;
  std::size_t open_after_ = 0;  // of a regrowth: |O| of the tree that is proposed
  NodeStates::Children below_{};
  std::vector<Place> places_;  // change and swap: nodes; regrow: the new part in preorder, without nodes
  std::vector<std::pair<std::int32_t, std::uint32_t>> stack_;
  std::vector<std::int32_t> nodes_;
};

}  // namespace everytree
