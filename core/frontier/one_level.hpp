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

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "algebra/product.hpp"
#include "frontier/cost_fold.hpp"
#include "frontier/frontier.hpp"
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

  void resize(std::size_t splits, std::size_t padded, double no_split);
};

// A closed state on its own, in a graph or not: these examples at this depth, and so many levels of tests below them.
struct ClosedState {
  const std::uint64_t* cover;
  std::size_t depth;
  int levels;
};

// Marginal likelihood times tree prior, prepared for one graph, or for any cover of one table.
// Largest class counts of closed states with at most so many examples, for each size that linear tables may have.
struct TableSizes {
  static constexpr std::int32_t kBounds[3] = {1800, 1200, 600};
  std::int32_t most[3][2] = {};
  static TableSizes of(const Graph& graph);
};

class ProductWeights {
 public:
  // linear = false keeps everything in the log domain, in two passes (slower; the fast paths are tested against it).
  ProductWeights(const Graph& graph, Prior prior, std::shared_ptr<const Dirichlet> leaf, bool linear = true);
  // For some states of a graph elsewhere, whose sizes these are: the same weights to the last bit.
  ProductWeights(const TableSizes& sizes, std::size_t n_classes, std::int64_t min_leaf, Prior prior,
                 std::shared_ptr<const Dirichlet> leaf, bool linear = true);
  ProductWeights(const CountTable& table, std::int64_t min_leaf, Prior prior, std::shared_ptr<const Dirichlet> leaf,
                 bool linear = true);

  const Prior& prior() const { return prior_; }
  const Dirichlet& leaf() const { return *leaf_; }
  double log_leaf(const std::int32_t* counts, std::size_t depth, bool open) const {
    return prior_.log_leaf(depth, open) + leaf_->log_marginal(depth, counts);
  }
  bool relative() const { return fast_; }
  // The linear tables, if they hold for covers of this many examples.
  const LinearTables* linear(std::int32_t total) const {
    return linear_ && total <= linear_bound_ ? &*linear_ : nullptr;
  }

 private:
  Prior prior_;
  std::shared_ptr<const Dirichlet> leaf_;
  std::optional<LinearTables> linear_;
  std::int32_t linear_bound_ = 0;
  bool fast_;

  // Linear tables for covers with at most bounds(n)[c] examples of class c, where n bounds all their examples.
  template <class Bounds>
  void tabulate(std::size_t n_classes, std::int64_t min_leaf, Bounds&& bounds);
};

// The share of each test among the feasible tests of one node: 1, 1/e, or attribute-fair.
class Shares {
 public:
  void begin(const Prior& prior);
  void add(std::uint32_t test);  // every feasible original test of the node
  double share(std::uint32_t test) const;
  // The same for all the tests of a split, given by its parts: their sum, or the best one.
  template <class Parts>
  void add(const CountTable& table, const Parts& parts) {
    table.for_each_test(parts, [this](std::uint32_t test, bool) { add(test); });
  }
  template <PlainProduct A, class Parts>
  double share(const CountTable& table, const Parts& parts) const {
    double result = 0;
    table.for_each_test(parts, [&](std::uint32_t test, bool) { result = plus<A>(result, share(test)); });
    return result;
  }

 private:
  const Prior* prior_ = nullptr;
  double n_tests_ = 0, n_attributes_ = 0;
  std::vector<std::int32_t> per_attribute_, touched_;
};

// Computes OneLevel for closed states. Owns the buffers: one object per thread.
class OneLevelFold {
 public:
  explicit OneLevelFold(const Graph& graph);
  OneLevelFold(const CountTable& table, std::int64_t min_leaf) : frontier_(table, min_leaf) {}
  // Obey these limits inside a state too: with thousands of tests one state takes seconds.
  void watch(Control& control, bool calling_thread) { ticker_.watch(control, calling_thread); }

  template <PlainProduct A>
  void product(const ClosedState& state, const ProductWeights& weights, OneLevel& out);
  // What follows takes the number of a state in the graph.
  template <PlainProduct A>
  void product(std::size_t state, const ProductWeights& weights, OneLevel& out) {
    product<A>(closed(state), weights, out);
  }
  void cost(std::size_t state, const LeafCost& cost, OneLevel& out);
  // Only the numbers of feasible second tests, for counting.
  void tests(std::size_t state, OneLevel& out);

  // Only load the cover of a closed state with levels > 0.
  void load_state(std::size_t state) {
    OneLevel nothing;
    load(closed(state), nothing);
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
  // Share of group j's tests (all of them, or the best one) at child a of split i, after load_pairs(i).
  template <PlainProduct A>
  void child_shares(const Prior& prior, int a, double* share, double& n_tests);

 private:
  // Load the cover; false if no split can follow (then `out` is the leaf alone).
  bool load(const ClosedState& state, OneLevel& out);
  ClosedState closed(std::size_t state) const {
    const State& s = graph_->state(state);
    return {graph_->cover(state), static_cast<std::size_t>(s.depth), s.levels};
  }
  template <PlainProduct A>
  void product_linear(const ProductWeights& weights, const LinearTables& tables, OneLevel& out);
  template <PlainProduct A>
  void product_log(const ProductWeights& weights, OneLevel& out);
  template <PlainProduct A>
  bool fold_relative(const ProductWeights& weights, OneLevel& out);
  template <PlainProduct A>
  void fold_two_pass(const ProductWeights& weights, OneLevel& out);
  std::int32_t* begin_tests(int a);
  void end_tests(OneLevel& out) const;
  void log_terms(const ProductWeights& weights, std::size_t i);
  template <PlainProduct A>
  double group_share(std::size_t g) const;
  const LinearTables* tables_for(const ProductWeights& weights) const;

  const Graph* graph_ = nullptr;
  Ticker ticker_;
  Frontier frontier_;
  Shares shares_;
  std::size_t depth_ = 0, pair_of_ = 0;
  int levels_ = 0;
  std::vector<std::int32_t> pairs_, pair_total_;
  CostFold cost_fold_;
  std::vector<double> log_term_[2], share_, reference_[2];
  std::vector<std::int32_t> tests_[2];
  std::vector<const double*> rising_;
};

}  // namespace everytree
