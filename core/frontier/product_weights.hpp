// What leaves and splits weigh where weights are multiplied: marginal likelihood times tree prior.
//
// Two classes and covers that are not too large have their likelihoods in linear tables, so that the frontier needs no
// logarithm for a pair of tests; everything else is in logarithms.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "common/wide.hpp"
#include "graph/graph.hpp"
#include "weights/dirichlet.hpp"
#include "weights/linear_tables.hpp"
#include "weights/prior.hpp"

namespace everytree {

// Largest class counts of closed states with at most so many examples, for each size that linear tables may have.
struct TableSizes {
  static constexpr std::int32_t kBounds[3] = {1800, 1200, 600};
  std::int32_t most[3][2] = {};
  bool single = false;  // CountTable::single_tests
  static TableSizes of(const Graph& graph);
};

// Marginal likelihood times tree prior, prepared for one graph, or for any cover of one table.
class ProductWeights {
 public:
  // linear = false keeps everything in the log domain, in two passes (slower; the fast paths are tested against it).
  // With `control` the memory is looked at before there are tables beside the graph.
  ProductWeights(const Graph& graph, Prior prior, std::shared_ptr<const Dirichlet> leaf, bool linear = true,
                 const Control* control = nullptr);
  // For some states of a graph elsewhere, whose sizes these are: the same weights to the last bit.
  ProductWeights(const TableSizes& sizes, std::size_t n_classes, std::int64_t min_leaf, Prior prior,
                 std::shared_ptr<const Dirichlet> leaf, bool linear = true);
  ProductWeights(const CountTable& table, std::int64_t min_leaf, Prior prior, std::shared_ptr<const Dirichlet> leaf,
                 bool linear = true, const Control* control = nullptr);

  const Prior& prior() const { return prior_; }
  const Dirichlet& leaf() const { return *leaf_; }
  double log_leaf(const std::int32_t* counts, std::size_t depth, bool open) const {
    return prior_.log_leaf(depth, open) + leaf_->log_marginal(depth, counts);
  }
  // The same as a number, of covers of any size.
  Wide wide_leaf(const std::int32_t* counts, std::size_t depth, bool open) const {
    if (leaf_->all_tabulated()) return Wide::from_log(log_leaf(counts, depth, open));
    const LongLog log = long_leaf(counts, depth, open);
    return Wide::from_log(log.high(), log.low());
  }
  LongLog long_leaf(const std::int32_t* counts, std::size_t depth, bool open) const {
    return leaf_->long_marginal(depth, counts) + LongLog(prior_.log_leaf(depth, open));
  }
  bool relative() const { return fast_; }
  // Whether the frontier keeps tests apart, each a group of its own in the run of its column: attribute-fair shares of
  // second tests are then sums by run. Only where no two tests are one class of the table.
  bool apart() const { return apart_; }
  std::size_t bytes() const { return leaf_->bytes() + (linear_ ? linear_->bytes() : 0); }
  // The linear tables, if they hold for covers of this many examples.
  const LinearTables* linear(std::int32_t total) const {
    return linear_ && total <= linear_bound_ ? &*linear_ : nullptr;
  }

 private:
  Prior prior_;
  std::shared_ptr<const Dirichlet> leaf_;
  std::optional<LinearTables> linear_;
  std::int32_t linear_bound_ = 0;
  bool fast_, apart_;

  // Linear tables for covers with at most bounds(n)[c] examples of class c, where n bounds all their examples.
  template <class Bounds>
  void tabulate(std::size_t n_classes, std::int64_t min_leaf, Bounds&& bounds, const Control* control = nullptr,
                std::size_t held = 0);
};

}  // namespace everytree
