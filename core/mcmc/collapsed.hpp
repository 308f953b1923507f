// Metropolis–Hastings over tops: the top of the tree is sampled, what lies below it is summed exactly.
//
//     π(top) ∝ Σ over the trees with this top of  prior · marginal likelihood
//     accept top → top' with probability  min(1, π(top') q(top | top') / (π(top) q(top' | top)))
//
// Given the top, a row's class probabilities are those of the leaf it reaches, or the exact mixture over all subtrees
// of the closed state it reaches. Chains are independent streams of random numbers: draw k of chain c depends on the
// seed and on (c, k), not on threads or limits.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "common/control.hpp"
#include "down/new_rows.hpp"
#include "mcmc/top.hpp"

namespace everytree {

struct ChainDraws {
  // Tops: a draw that equals the one before it shares its top. Top k is keys[ends[k − 1] … ends[k]).
  Key keys;
  std::vector<std::uint64_t> ends;
  std::vector<std::uint32_t> which;  // the top of each kept draw
  std::vector<double> log_joint;     // of the top of each kept draw
  std::array<std::uint64_t, kMoveKinds> proposed{}, accepted{};

  std::size_t n_tops() const { return ends.size(); }
  Key top(std::size_t k) const {
    const auto at = [&](std::size_t end) { return keys.begin() + static_cast<std::ptrdiff_t>(end); };
    return Key(at(k == 0 ? 0 : ends[k - 1]), at(ends[k]));
  }
};

struct CollapsedRun {
  std::vector<ChainDraws> chains;
  std::string stopped;  // why there are fewer draws than asked for; empty otherwise
};

struct CollapsedPlan {
  std::size_t n_chains = 4, n_draws = 2000, burn_in = 500, thin = 1;  // in steps
  std::size_t least = 20;  // fewer draws than these are no answer: the limit is then an error
  std::uint64_t seed = 0;
};

class Collapsed {
 public:
  static constexpr std::size_t kProposals = 50;  // in a step

  // max_depth −1: no limit. With `control` the memory is looked at before there are tables.
  Collapsed(std::shared_ptr<const CountTable> table, int max_depth, std::int64_t min_leaf, Prior prior,
            std::shared_ptr<const Dirichlet> leaf, bool linear, std::size_t n_threads,
            const Control* control = nullptr);

  // All chains go forward together, so that a limit leaves every one of them equally long.
  CollapsedRun run(const CollapsedPlan& plan, Control& control) const;

  // Weight of a top, and single proposals from it: for tests and for the curious.
  double log_joint(const Key& top) const;
  std::vector<std::pair<Move, Key>> propose(const Key& top, MoveKind kind, std::uint64_t seed, std::size_t n,
                                            Control& control) const;

  // Σ over tops of count · P(class | row, top), by batch: out[batch][row][class], set to zero first.
  // in_batch[k]: (batch, count) of top k.
  using Counts = std::vector<std::vector<std::pair<std::uint32_t, double>>>;
  void predict(const std::vector<Key>& tops, const Counts& in_batch, std::size_t n_batches, const NewRows& rows,
               double* out, Control& control) const;

  const CountTable& table() const { return *table_; }
  // The root is closed: there is one top, and nothing to sample.
  bool ends_at_root() const {
    return levels_of(table_->local(), max_depth_, min_leaf_, 0, table_->total()) != State::kInner;
  }

 private:
  TopStates states(std::size_t max_bytes) const { return {*table_, max_depth_, min_leaf_, weights_, max_bytes}; }

  std::shared_ptr<const CountTable> table_;
  int max_depth_;
  std::int64_t min_leaf_;
  ProductWeights weights_;
  std::size_t n_threads_;
};

}  // namespace everytree
