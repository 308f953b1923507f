// What a chain over tops knows of a state (cover, depth).
//
// A *top* is the part of a tree above the closed states (graph/graph.hpp): a closed state ends the top, and stands for
// all of its subtrees at once; any other state is a leaf of the tree or is split. With u the sum over the subtrees,
//     log_stop = log u(state)             if it is closed: at most two levels, summed by the frontier
//              = log leaf weight          otherwise
//     split by test t:  log_split + log_share(t),  and both children go on.
// The product over the nodes of a top is the sum of the joint weights of all the trees with this top.
//
// Proposals come from a look two levels ahead: with u₂ the sum over subtrees of at most two levels,
//     r(stop) ∝ leaf(state)      r(split by t) ∝ split weight · u₁(child 1) · u₁(child 0)
// mixed with the prior's shares, so that no test and no end of the top is ever out of reach. r depends on nothing but
// the state. The look ahead costs as much as one closed state.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "frontier/one_level.hpp"
#include "graph/graph.hpp"
#include "table/offers.hpp"

namespace everytree {

struct TopState {
  Cover cover;
  std::int32_t depth = 0;
  std::int32_t total = 0;
  std::int8_t levels = State::kInner;
  double log_stop = 0;
  double log_split = 0;
  std::vector<std::uint32_t> tests;  // feasible original tests that it offers, in order; none at a closed state
  std::vector<double> log_shares;    // one for all tests, or one per test under an attribute-fair prior
  // The proposal, made when first wanted.
  double stop = 0;                 // r(stop)
  std::vector<double> cumulative;  // r(split by tests[0..k] | split)

  bool may_split() const { return !tests.empty(); }
  // Where a test stands among the feasible ones, or tests.size().
  std::size_t find(std::uint32_t test) const;
  double log_split_weight(std::size_t k) const { return log_split + log_shares[log_shares.size() == 1 ? 0 : k]; }
  double log_proposal(std::size_t k) const;
};

// Finds and makes states, and keeps them while memory lasts. One object per thread: what it returns depends only on
// what is asked.
class TopStates {
 public:
  TopStates(const CountTable& table, int max_depth, std::int64_t min_leaf, const ProductWeights& weights,
            std::size_t max_bytes);
  void watch(Control& control, bool calling_thread) { fold_.watch(control, calling_thread); }

  std::shared_ptr<TopState> root() { return get(table_->all().data(), 0); }
  // The child of a state on one side of one of its tests.
  std::shared_ptr<TopState> child(const TopState& state, std::uint32_t test, int side);
  // Fill in stop and cumulative.
  void propose(TopState& state);

  const CountTable& table() const { return *table_; }
  const ProductWeights& weights() const { return *weights_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<TopState> get(const std::uint64_t* cover, std::int32_t depth);
  std::shared_ptr<TopState> make(const std::uint64_t* cover, std::int32_t depth);
  void keep(std::size_t bytes);

  const CountTable* table_;
  int max_depth_;
  std::int64_t min_leaf_;
  const ProductWeights* weights_;
  std::size_t max_bytes_, bytes_ = 0;
  OneLevelFold fold_;
  OneLevel level_;
  Offers offers_;
  Shares shares_;
  Cover scratch_;
  std::vector<std::int32_t> counts_;
  std::vector<double> weight_;
  std::unordered_multimap<std::uint64_t, std::shared_ptr<TopState>> known_;
};

// The log of the sum over the trees of a closed state.
double log_sum_of(const OneLevel& level);

}  // namespace everytree
