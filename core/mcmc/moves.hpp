// The moves of a chain, one law for whole trees and for tops, each with the log probabilities of proposing it and its
// undoing.
//
// Let G, K, S, P, O be the nodes that can be split but are not; the splits above two ends; the splits; the pairs
// (split, child that is a split); and the nodes that can be split, split or not. With r the proposal of tests at a
// node, and p the fixed probabilities of the kinds:
//
//     grow     v ∈ G, a test t                  p(grow) / |G(T)| · r(t)         undone by prune
//     prune    v ∈ K                            p(prune) / |K(T)|               undone by grow
//     change   v ∈ S, another test t            p(change) / |S| · r(t)          |S| stays
//     swap     (v, w) ∈ P, tests exchanged      p(swap) / |P|                   |P| stays, and so it cancels
//     regrow   v ∈ O, a new part below it       p(regrow) / |O(T)| · Π r        the same with the old part
//
// |G| counts the ends that *can* be split, of the tree it is asked of: under a minimum leaf size, the number of ends
// would make the ratio wrong. Change and swap keep the shape below v and give every node there a new cover; where a
// test is no longer feasible there is no proposal. If both children of v carry the same test, swap exchanges in both.
//
// What differs is the tree: how it finds its sets, what a change of it weighs, and how large the part is that regrow
// replaces (tree_moves.hpp, top.hpp).
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>

#include "common/stream.hpp"
#include "mcmc/move.hpp"

namespace everytree {

enum class NodeSet { growable, cherries, splits, pairs, open };  // G, K, S, P, O

// A tree that can be moved. Edits say what they weigh (log_target, proposed); false: there is no proposal, and nothing
// was said.
template <class T>
concept MovingTree = requires(T& tree, NodeSet set, std::size_t k, typename T::Node v, typename T::Test test,
                              Stream& random, Move& move) {
  { tree.count(set) } -> std::same_as<std::size_t>;
  { tree.member(set, k) } -> std::same_as<typename T::Node>;        // of the set that was counted last
  { tree.test(v) } -> std::same_as<typename T::Test>;               // of a split
  { tree.draw_test(v, random) } -> std::same_as<typename T::Test>;  // kNoTest: there is no proposal
  { T::kNoTest } -> std::convertible_to<typename T::Test>;
  { tree.log_proposal(v, test) } -> std::same_as<double>;  // log r, before and after the edit
  tree.grow(v, test, move);
  tree.prune(v, move);
  { tree.change(v, test, move) } -> std::same_as<bool>;
  { tree.swap(v, move) } -> std::same_as<bool>;
  // Also sets log_forward and log_reverse to Σ log r of the new part and of the old one.
  { tree.regrow(v, random, move) } -> std::same_as<bool>;
  { tree.count_after(set) } -> std::same_as<std::size_t>;  // in the tree that is proposed
};

using LogOdds = std::array<double, kMoveKinds>;  // log p

inline double log_of(std::size_t n) { return std::log(static_cast<double>(n)); }

template <MovingTree T>
Move propose_move(MoveKind kind, T& tree, const LogOdds& log_odds, Stream& random) {
  constexpr NodeSet kFrom[kMoveKinds] = {NodeSet::growable, NodeSet::cherries, NodeSet::splits, NodeSet::pairs,
                                         NodeSet::open};
  const auto odds = [&](MoveKind k) { return log_odds[static_cast<std::size_t>(k)]; };
  Move move;
  const NodeSet from = kFrom[static_cast<std::size_t>(kind)];
  const std::size_t n = tree.count(from);
  if (n == 0) return move;
  const typename T::Node v = tree.member(from, random.below(n));
  const double each = odds(kind) - log_of(n);
  switch (kind) {
    case MoveKind::grow: {
      const typename T::Test test = tree.draw_test(v, random);
      if (test == T::kNoTest) return move;
      tree.grow(v, test, move);
      move.log_forward = tree.log_proposal(v, test) + each;
      move.log_reverse = odds(MoveKind::prune) - log_of(tree.count_after(NodeSet::cherries));
      return move;
    }
    case MoveKind::prune: {
      const typename T::Test test = tree.test(v);
      tree.prune(v, move);
      move.log_forward = each;
      move.log_reverse =
          tree.log_proposal(v, test) + (odds(MoveKind::grow) - log_of(tree.count_after(NodeSet::growable)));
      return move;
    }
    case MoveKind::change: {
      const typename T::Test test = tree.draw_test(v, random), now = tree.test(v);
      if (test == now || test == T::kNoTest || !tree.change(v, test, move)) return move;
      move.log_forward = each + tree.log_proposal(v, test);
      move.log_reverse = each + tree.log_proposal(v, now);
      return move;
    }
    case MoveKind::swap:
      if (tree.swap(v, move)) move.log_forward = move.log_reverse = each;
      return move;
    case MoveKind::regrow:
      if (!tree.regrow(v, random, move)) return move;
      move.log_forward += each;
      move.log_reverse += odds(kind) - log_of(tree.count_after(NodeSet::open));
      return move;
  }
  return move;
}

}  // namespace everytree
