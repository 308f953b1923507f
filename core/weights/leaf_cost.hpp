// Costs of leaves (additive weights): error, expected error, Gini, entropy, cost matrix; kNoCost where a rule forbids
// the leaf.
#pragma once

#include <cstdint>
#include <vector>

#include "common/errors.hpp"
#include "weights/leaf_model.hpp"
#include "weights/leaf_rule.hpp"

namespace everytree {

enum class CostKind { error, expected_error, gini, entropy, matrix };

// No leaf is allowed, or no second test is feasible. Finite, so that differences of costs stay numbers; sums of it with
// real costs are at least kNoCost / 2.
constexpr double kNoCost = 1e301;
inline bool no_cost(double x) { return x > kNoCost / 2; }

// Additive leaf costs; smaller is better.
class LeafCost {
 public:
  using Entry = std::int32_t;  // a statistic is the class counts
  // matrix[c * n_classes + k]: cost of predicting k for an example of class c. Costs are of counts: where `per_example`
  // of them make one example, they are so much larger than those of examples.
  LeafCost(CostKind kind, std::size_t n_classes, std::vector<double> matrix = {}, double confidence = 0.25,
           double per_leaf = 0.0, LeafRule rule = {}, std::int64_t per_example = 1);
  CostKind kind() const { return kind_; }
  std::size_t n_classes() const { return n_classes_; }
  std::size_t width() const { return n_classes_; }
  double per_leaf() const { return per_leaf_; }
  const LeafRule& rule() const { return rule_; }
  // Never less than the errors. (The pessimistic addition is negative beyond a confidence of one half.)
  bool at_least_errors() const {
    return kind_ == CostKind::error || (kind_ == CostKind::expected_error && confidence_ <= 0.5);
  }
  bool plain_error() const { return kind_ == CostKind::error && rule_.none(); }
  bool non_negative() const;  // no leaf costs less than nothing: bounds on sums prune
  // The same number for every leaf.
  bool same(const LeafCost& other) const {
    return kind_ == other.kind_ && n_classes_ == other.n_classes_ && matrix_ == other.matrix_ &&
           confidence_ == other.confidence_ && per_leaf_ == other.per_leaf_ && rule_ == other.rule_ &&
           per_example_ == other.per_example_;
  }
  // A cover with these classes costs at least so much, however it is split: every example at its cheapest answer.
  double least(const std::int32_t* counts) const {
    double sum = 0;
    if (kind_ == CostKind::matrix)
      for (std::size_t c = 0; c < n_classes_; ++c) sum += cheapest_[c] * counts[c];
    return sum;
  }
  // What errors on an example of each class cost over all wrong answers; the same for all where no matrix is given.
  std::vector<double> weights() const;
  std::uint64_t id() const { return id_; }  // the same for copies, another for every object made anew
  double operator()(const std::int32_t* counts, std::size_t stride = 1) const;
  // The class a leaf predicts: least cost, lowest index on ties.
  std::size_t prediction(const std::int32_t* counts) const;

 private:
  CostKind kind_;
  std::size_t n_classes_;
  std::vector<double> matrix_, cheapest_;  // cheapest_[c]: the least entry of row c
  double confidence_, z_, per_leaf_, per_example_;
  LeafRule rule_;
  std::uint64_t id_;
};
static_assert(LeafCosts<LeafCost>);

// C4.5's pessimistic addition to e errors among n examples, with z the normal quantile of 1 − confidence.
double added_errors(double n, double e, double confidence, double z);

}  // namespace everytree
