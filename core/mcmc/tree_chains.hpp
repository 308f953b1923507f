// Metropolis–Hastings over whole trees: several chains, each with random numbers of its own.
//
//     accept T → T' with probability  min(1, π(T') q(T | T') / (π(T) q(T' | T)))
//
// Draw k of chain c depends on the seed and on (c, k), not on threads, limits or the memory for states. Chains go on
// from where they are when run again.
//
// Parallel tempering: beside the tree of a chain go others, in which the data weigh less: log π_i = prior + b_i · data,
// 1 = b_0 > b_1 > … . Every so many proposals two neighbours propose to exchange their trees,
//
//     accepted with probability  min(1, exp((b_i − b_{i+1}) · (data_{i+1} − data_i)))
//
// which is reversible on all of them together; draws are those of b_0.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mcmc/tree_moves.hpp"

namespace everytree {

struct TreeDraws {
  // Trees: a draw that equals the one before it shares its tree. Tree k is keys[ends[k − 1] … ends[k]).
  Key keys, orders;  // orders: place of each split in the order of additions, for the stack kernel only
  std::vector<std::uint64_t> ends;
  std::vector<std::int32_t> leaves, depths;
  // Draws: their trees, and the two parts of log π, not heated.
  std::vector<std::uint32_t> which;
  std::vector<double> log_prior, log_data;
  // By kind of move, in this run, for the tree that is drawn.
  std::array<std::uint64_t, kMoveKinds> proposed{}, accepted{};
  std::vector<std::uint64_t> exchanges, exchanged;  // of trees i and i + 1: proposed, accepted
  // The largest log π met since the chain began, whether kept or not.
  Key best;
  double best_log_target = 0;
};

struct TreeRun {
  std::vector<TreeDraws> chains;
  std::string stopped;  // why there are fewer draws than asked for; empty otherwise
};

struct TreePlan {
  // burn_in in draws that are not kept; thin in proposals, of which 0 keep the trees as they are.
  std::size_t n_draws = 1000, burn_in = 0, thin = 100;
  // Powers of π for each draw, those of the burn-in first: annealing. Empty: 1. The last one goes on.
  std::vector<double> powers;
};

struct ChainSettings {
  ChainKernel kernel = ChainKernel::chipman;
  Orders orders = Orders::counted;  // of the stack kernel
  MoveOdds odds;
  double blind = 1;                 // ε of the proposals of tests (node_states.hpp)
  std::vector<double> density;      // d, one positive number for each test; empty: uniform
  bool density_outright = false;    // d is a distribution over all tests; one that is not feasible is no proposal
  std::vector<double> ladder{1.0};  // b_0, b_1, …
  std::size_t exchange_every = 10;  // proposals of each tree between two exchanges
  std::size_t n_chains = 4;
  std::uint64_t seed = 0;
  std::size_t n_threads = 1;
  std::size_t state_bytes = std::size_t{1} << 28;  // memory for states that are known, over all chains
};

// All that the draws to come depend on: a chain that is given it goes on elsewhere as it would have gone on here.
struct ChainState {
  struct Tree {
    Key key, order;  // order: for the stack kernel only
    std::array<Key, 3> places;
    double log_target = 0;
  };
  std::uint64_t random = 0;
  std::size_t proposals = 0;  // since the last exchange
  std::vector<Tree> trees;    // one for each step of the ladder
  Key best;
  double best_log_target = 0;
};

class TreeChains {
 public:
  TreeChains(std::shared_ptr<const CountTable> table, int max_depth, std::int64_t min_leaf, TreeTarget target,
             ChainSettings settings, Control& control);
  ~TreeChains();
  TreeChains(TreeChains&&) noexcept;

  // All chains go forward together, so that a limit leaves every one of them equally long.
  TreeRun run(const TreePlan& plan, Control& control);
  // Put chain c at this tree. Where no start is given it is the single leaf.
  void start(std::size_t chain, const Key& key);
  // Between two runs.
  ChainState state(std::size_t chain) const;
  void restore(std::size_t chain, const ChainState& state);

  // For tests and for the curious: the two parts of log π, and single proposals from a tree with the trees they lead
  // to.
  std::pair<double, double> log_target(const Key& key) const;
  std::vector<std::pair<Move, Key>> propose(const Key& key, MoveKind kind, std::uint64_t seed, std::size_t n,
                                            Control& control) const;

  std::size_t n_chains() const { return chains_.size(); }
  const CountTable& table() const { return *table_; }

 private:
  struct Chain;
  Chain& at(std::size_t chain) const;
  ChainSpace space() const;
  bool ordered() const { return settings_.kernel == ChainKernel::stack; }
  void check() const;
  void step(Chain& chain, const TreePlan& plan, std::size_t draw) const;
  void exchange(Chain& chain, double power) const;

  std::shared_ptr<const CountTable> table_;
  int max_depth_;
  std::int64_t min_leaf_;
  std::unique_ptr<const TreeTarget> target_;
  std::unique_ptr<const std::vector<TestRange>> ranges_;
  ChainSettings settings_;
  std::unique_ptr<const ProductWeights> frontier_;  // if trees regrow
  std::vector<std::unique_ptr<Chain>> chains_;
};

}  // namespace everytree
