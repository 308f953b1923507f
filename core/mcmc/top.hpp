// A top and the moves between tops.
//
// The law of the moves is that of mcmc/moves.hpp, with the r(t | split) of top_states.hpp; regrow replaces all of the
// top below v, with Π r over its nodes. Every move replaces the part of the top below one node. A top is known by its
// splits alone: whether an end of it is a leaf or a closed state is a fact of its cover and depth. Kinds of moves are
// drawn with fixed probabilities, the same for grow and prune, so they cancel and are left out.
#pragma once

#include <memory>
#include <vector>

#include "common/key.hpp"
#include "common/stream.hpp"
#include "mcmc/moves.hpp"
#include "mcmc/top_states.hpp"

namespace everytree {

struct TopNode {
  std::shared_ptr<TopState> state;
  std::int32_t test = -1;  // −1: the top ends here
  double log_weight = 0;
  std::unique_ptr<TopNode> child[2];

  bool split() const { return test >= 0; }
};

class Top {
 public:
  // The top with this key; throws InvalidInput if there is none.
  Top(TopStates& states, const Key& key);
  // One from the proposal.
  Top(TopStates& states, Stream& random);

  // Make a move. Until the next one, undo() takes it back.
  Move move(MoveKind kind, TopStates& states, Stream& random);
  void undo();

  Key key() const;
  double log_joint() const { return log_weight(root_); }
  const TopNode& root() const { return root_; }

 private:
  class Moving;  // a top as mcmc/moves.hpp asks for it
  using Nodes = std::vector<TopNode*>;
  static double log_weight(const TopNode& node);
  static double log_proposal(const TopNode& node, TopStates& states);
  static TopNode end(std::shared_ptr<TopState> state);
  static bool split(TopNode& node, std::size_t k, TopStates& states);
  static TopNode drawn(std::shared_ptr<TopState> state, TopStates& states, Stream& random);
  // The same splits below another state; false if one of them is not feasible there.
  static bool rebuilt(const TopNode& old, std::shared_ptr<TopState> state, TopStates& states, TopNode& out);
  static bool rebuilt(const TopNode& old, std::int32_t test, std::shared_ptr<TopState> state, TopStates& states,
                      TopNode& out);
  template <class Wanted>
  void collect(Wanted&& wanted);
  template <class Wanted>
  std::size_t count(Wanted&& wanted);
  void replace(std::size_t at, TopNode fresh, Move& move);

  TopNode root_;
  TopNode* changed_ = nullptr;
  TopNode old_;
  Nodes found_;
  std::vector<std::size_t> places_;
};

}  // namespace everytree
