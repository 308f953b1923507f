// A closed state, summed over its second level.
//
// For every split i of the state and side a, `leaf` is the weight of the child as a leaf and `split` the weight of
// the child split once more, aggregated over the second test (sum, max or min). Whatever an algebra wants to know
// of the two levels follows from these few numbers: the pairs themselves are never stored.
//
//   product weights:  u = exp(log_scale) · (state_leaf + Σ_i weight_i · (leaf_1i + split_1i)(leaf_0i + split_0i))
//
//   costs:            see frontier/cost_fold.hpp
#pragma once

#include <vector>

#include "algebra/product.hpp"
#include "frontier/cost_fold.hpp"
#include "frontier/frontier.hpp"
#include "frontier/product_weights.hpp"
#include "frontier/run_sums.hpp"
#include "frontier/second_levels.hpp"
#include "frontier/shares.hpp"
#include "graph/graph.hpp"
#include "weights/dirichlet.hpp"
#include "weights/leaf_value.hpp"
#include "weights/linear_tables.hpp"
#include "weights/prior.hpp"

namespace everytree {

struct OneLevel {
  std::size_t n = 0;                                        // splits of the state
  std::vector<double> weight, leaf[2], split[2], tests[2];  // tests: feasible second tests, by multiplicity
  std::vector<double> lower[2];                             // bounds for a search, see CostFold::want_bounds
  double state_leaf = 0;
  double log_scale = 0;
  double log_scale_low = 0;  // what log_scale was rounded off by: of heavy weights only

  void resize(std::size_t splits, std::size_t padded, double no_split);
};

// A closed state on its own, in a graph or not: these examples at this depth, and so many levels of tests below them.
struct ClosedState {
  const std::uint64_t* cover;
  std::size_t depth;
  int levels;
};

// Computes OneLevel for closed states. Owns the buffers: one object per thread.
class OneLevelFold {
 public:
  explicit OneLevelFold(const Graph& graph);
  OneLevelFold(const CountTable& table, std::int64_t min_leaf) : frontier_(table, min_leaf) {}
  // Obey these limits inside a state too: with thousands of tests one state takes seconds.
  void watch(Control& control, bool calling_thread) { ticker_.watch(control, calling_thread); }

  template <PlainProduct A>
  void product(const ClosedState& state, const ProductWeights& weights, OneLevel& out) {
    fold_state<A>(state, weights, nullptr, out);
  }
  // What follows takes the number of a state in the graph.
  template <PlainProduct A>
  void product(std::size_t state, const ProductWeights& weights, OneLevel& out) {
    product<A>(closed(state), weights, out);
  }
  // The same as product<SumProduct>, with what an earlier call with these weights kept.
  void again(std::size_t state, const ProductWeights& weights, const SecondLevels& kept, OneLevel& out) {
    fold_state<SumProduct>(closed(state), weights, kept.find(state), out);
  }
  // To be kept after product<SumProduct>: not where terms are relative to references of the fold, nor column by column.
  void keep(std::size_t state, const ProductWeights& weights, const OneLevel& level, SecondLevels& kept) const {
    if (levels_ == 2 && !weights.apart() && tables_for(weights) != nullptr)
      kept.keep(state, level.split, level.tests, level.n);
  }
  void cost(std::size_t state, const LeafCost& cost, OneLevel& out);
  // Only the numbers of feasible second tests, for counting.
  void tests(std::size_t state, OneLevel& out);

  // Only load the cover of a closed state with levels > 0.
  void load_state(std::size_t state) {
    OneLevel nothing;
    load(closed(state), false, nothing);
  }

  // What follows refers to the state of the last call.
  const Frontier& frontier() const { return frontier_; }
  // Terms of split i by second group j, in the scale of out.split: split[a][i] = Σ_j term[a][j]; term[a][i] = 0.
  void terms(const ProductWeights& weights, const OneLevel& level, std::size_t i, double* const term[2]);
  // Class counts of (i holds, j holds) for all j; then the four quadrants (i = a, j = b) by subtraction.
  void load_pairs(std::size_t i);
  void quadrant(std::size_t j, int a, int b, std::int32_t* counts) const;
  std::int32_t quadrant_total(std::size_t j, int a, int b) const;
  bool feasible(std::size_t j, int a) const {
    return quadrant_total(j, a, 1) >= frontier_.min_leaf() && quadrant_total(j, a, 0) >= frontier_.min_leaf();
  }
  // What the kernels need for the values of leaves in the quadrants of (i, j), after load_pairs(i); a and sum_a are the
  // Dirichlet parameters of the class.
  PairValues pair_values(const LeafValue& value, double a, double sum_a) const;
  std::size_t depth() const { return depth_; }

  // How probable the leaves of the two levels are given the state, for each single test of i and of j; by kernels that
  // see each pair once. False where there is none for these weights: then only terms() helps.
  bool begin_masses(const ProductWeights& weights, const OneLevel& level);
  // Whether second tests can follow; then for i = 0, 1, 2, … in order: mass[2a + b][j] of the leaf (i = a, j = b), j >
  // i; and the counts it was made of.
  struct PairRow {
    const double* mass[4];
    const std::int32_t *pair, *total;  // class counts of (i, j), and their sum
  };
  bool has_pairs() const { return levels_ == 2 && frontier_.n_groups() > 1; }
  PairRow next_masses(const ProductWeights& weights, std::size_t i);
  // The same of the leaf at side a of test i alone.
  double leaf_mass(const OneLevel& level, std::size_t i, int a) const {
    return unit_[i] * full(level, i, 1 - a) * level.leaf[a][i];
  }
  double state_mass(const OneLevel& level) const { return level.state_leaf / all_trees_; }
  PairCounts pair_counts() const;
  // Share of group j's tests (all of them, or the best one) at child a of split i, after load_pairs(i).
  template <PlainProduct A>
  void child_shares(const Prior& prior, int a, double* share, double& n_tests);

 private:
  // Load the cover; false if no split can follow (then `out` is the leaf alone).
  bool load(const ClosedState& state, bool apart, OneLevel& out);
  ClosedState closed(std::size_t state) const {
    const State& s = graph_->state(state);
    return {graph_->cover(state), static_cast<std::size_t>(s.depth), s.levels};
  }
  template <PlainProduct A>
  void fold_state(const ClosedState& state, const ProductWeights& weights, const double* kept, OneLevel& out);
  template <PlainProduct A>
  void product_linear(const ProductWeights& weights, const LinearTables& tables, const double* kept, OneLevel& out);
  template <PlainProduct A>
  void product_log(const ProductWeights& weights, OneLevel& out);
  template <PlainProduct A>
  void product_far(const ProductWeights& weights, OneLevel& out);
  void far_terms(const ProductWeights& weights, std::size_t i);
  template <PlainProduct A>
  bool fold_relative(const ProductWeights& weights, OneLevel& out);
  template <PlainProduct A>
  void fold_two_pass(const ProductWeights& weights, OneLevel& out);
  std::int32_t* begin_tests(int a);
  void end_tests(OneLevel& out) const;
  void log_terms(const ProductWeights& weights, std::size_t i);
  void relative_terms(const ProductWeights& weights, std::size_t i, double log_split, double* const term[2]);
  // Make terms of the shares 1 / (columns with a feasible test · feasible tests of the column), times what they add up
  // to; feasible(j) says which are.
  template <class Feasible>
  void share_by_column(const Prior& prior, double* term, Feasible&& feasible) const {
    double n_columns = 0, n_tests = 0;
    for (std::size_t r = 0; r < runs_.n_runs(); ++r) {
      double m = 0;
      for (std::size_t j = runs_.begin(r); j < runs_.begin(r + 1); ++j) m += feasible(j) ? 1.0 : 0.0;
      if (!(m > 0)) continue;
      n_columns += 1;
      n_tests += m;
      for (std::size_t j = runs_.begin(r); j < runs_.begin(r + 1); ++j) term[j] /= m;
    }
    const double all = n_columns > 0 ? prior.fair_sum(n_tests) / n_columns : 0.0;
    for (std::size_t j = 0; j < frontier_.n_groups(); ++j) term[j] *= all;
  }
  template <PlainProduct A>
  double group_share(std::size_t g) const;
  const LinearTables* tables_for(const ProductWeights& weights) const;

  const Graph* graph_ = nullptr;
  Ticker ticker_;
  Frontier frontier_;
  Shares shares_;
  RunSums runs_;
  std::size_t depth_ = 0, pair_of_ = 0;
  int levels_ = 0;
  std::vector<std::int32_t> pairs_, pair_total_;
  CostFold cost_fold_;
  std::vector<double> log_term_[2], share_, reference_[2];
  std::vector<LongLog> far_term_[2], far_reference_[2];
  std::vector<std::int32_t> tests_[2];
  std::vector<const double*> rising_;

  static double full(const OneLevel& level, std::size_t i, int a) { return level.leaf[a][i] + level.split[a][i]; }
  double all_trees_ = 0;
  std::vector<double> unit_, alpha_[2], masses_[4], of_i_[2], log_reference_[2];
};

}  // namespace everytree
