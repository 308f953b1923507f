// Leaf weights: a number for the class counts of a leaf (and its depth).
//
// Dirichlet (product weights):   logM(n) = Σ_c Σ_{k<n_c} log(a_c + k) − Σ_{k<n} log(Σa + k)
// as sums of logarithms, tabulated: no lgamma, and little cancellation for huge a. Counts beyond a million, which only
// heavy weights have, go on from the end of the table by Stirling's series: no table grows with the weights.
// Costs (additive weights): error, expected error, Gini, entropy, cost matrix; kNoCost where a rule forbids the leaf.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "common/control.hpp"
#include "common/errors.hpp"
#include "weights/leaf_model.hpp"
#include "weights/leaf_rule.hpp"
#include "weights/rising.hpp"

namespace everytree {

class Dirichlet {
 public:
  using Entry = std::int32_t;                                    // a statistic is the class counts
  static constexpr std::int64_t kTable = std::int64_t{1} << 20;  // the largest count in a table: 8 MiB each

  // a[d][c]; the last row goes on for deeper leaves. class_totals bound the tables. With `control` the memory is
  // looked at before there are any tables, and the time while they are filled. longest = 0: without tables.
  Dirichlet(const std::vector<std::vector<double>>& a, const std::vector<std::int32_t>& class_totals,
            Control* control = nullptr, std::int64_t longest = kTable);

  std::size_t n_classes() const { return n_classes_; }
  std::size_t width() const { return n_classes_; }
  std::size_t outputs() const { return n_classes_; }
  std::size_t variant(std::size_t depth) const { return depth < variants_.size() ? depth : variants_.size() - 1; }
  std::size_t n_variants() const { return variants_.size(); }
  double a(std::size_t depth, std::size_t c) const { return variants_[variant(depth)].a[c]; }
  double sum_a(std::size_t depth) const { return variants_[variant(depth)].sum_a; }

  // counts[c * stride]
  double log_marginal(std::size_t depth, const std::int32_t* counts, std::size_t stride = 1) const {
    if (!all_tabulated_) return far_marginal(depth, counts, stride);
    const Variant& v = variants_[variant(depth)];
    double sum = 0;
    std::int64_t n = 0;
    for (std::size_t c = 0; c < n_classes_; ++c) {
      sum += v.rising[v.table_of[c]][static_cast<std::size_t>(counts[c * stride])];
      n += counts[c * stride];
    }
    return sum - v.rising_sum[static_cast<std::size_t>(n)];
  }
  // P(the next example is of class c), for every class.
  void predict(std::size_t depth, const std::int32_t* counts, double* out) const {
    const Variant& v = variants_[variant(depth)];
    double n = v.sum_a;
    for (std::size_t c = 0; c < n_classes_; ++c) n += counts[c];
    for (std::size_t c = 0; c < n_classes_; ++c) out[c] = (counts[c] + v.a[c]) / n;
  }
  // log a(a+1)…(a+n−1) for class c, and the same for Σa: the parts of log_marginal.
  double log_rising(std::size_t depth, std::size_t c, std::int64_t n) const {
    const Variant& v = variants_[variant(depth)];
    return at(v.rising[v.table_of[c]], v.a[c], n);
  }
  double log_rising_sum(std::size_t depth, std::int64_t n) const {
    const Variant& v = variants_[variant(depth)];
    return at(v.rising_sum, v.sum_a, n);
  }
  // The same as tables, for covers of which they hold every count.
  bool tabulated(std::int64_t total) const { return all_tabulated_ || total <= longest_; }
  const double* rising(std::size_t depth, std::size_t c) const {
    const Variant& v = variants_[variant(depth)];
    return v.rising[v.table_of[c]].data();
  }
  const double* rising_sum(std::size_t depth) const { return variants_[variant(depth)].rising_sum.data(); }
  std::size_t bytes() const;

 private:
  struct Variant {
    std::vector<double> a;
    double sum_a = 0;
    std::vector<std::size_t> table_of;  // classes with equal a share a table
    std::vector<std::vector<double>> rising;
    std::vector<double> rising_sum;
  };
  static double at(const std::vector<double>& table, double a, std::int64_t n) {
    if (static_cast<std::size_t>(n) < table.size()) return table[static_cast<std::size_t>(n)];
    const auto last = static_cast<double>(table.size() - 1);
    return table.back() + everytree::log_rising(a + last, static_cast<double>(n) - last);
  }
  double far_marginal(std::size_t depth, const std::int32_t* counts, std::size_t stride) const;

  std::size_t n_classes_;
  std::int64_t longest_;
  bool all_tabulated_ = true;
  std::vector<Variant> variants_;
};
static_assert(LeafModel<Dirichlet>);

// logM for two classes in the linear domain, scaled:  exp(logM(n_0, n_1) + s·(n_0 + n_1)), and 0 below min_leaf.
// A product over the parts of a cover then carries the factor exp(s · examples of the cover), whatever the parts,
// so sums over trees are sums of plain doubles. One table per Dirichlet variant (depth), all with the same s.
class LinearTables {
 public:
  // Bounds: no cover asked about has more than max0, max1 examples of the two classes.
  LinearTables(const Dirichlet& leaf, std::int32_t max0, std::int32_t max1, std::int64_t min_leaf);
  const double* at_depth(const Dirichlet& leaf, std::size_t depth) const { return tables_[leaf.variant(depth)].data(); }
  int shift() const { return shift_; }             // entry n_0 << shift | n_1
  double log_scale() const { return log_scale_; }  // s
  // Covers with more examples than this could leave the range of a double.
  std::int32_t safe_total() const { return safe_total_; }

 private:
  std::vector<std::vector<double>> tables_;
  int shift_ = 0;
  double log_scale_ = 0;
  std::int32_t safe_total_ = 0;
};

enum class CostKind { error, expected_error, gini, entropy, matrix };

// No leaf is allowed, or no second test is feasible. Finite, so that differences of costs stay numbers; sums of it with
// real costs are at least kNoCost / 2.
constexpr double kNoCost = 1e301;
inline bool no_cost(double x) { return x > kNoCost / 2; }

// Additive leaf costs; smaller is better.
class LeafCost {
 public:
  using Entry = std::int32_t;  // a statistic is the class counts
  // matrix[c * n_classes + k]: cost of predicting k for an example of class c.
  LeafCost(CostKind kind, std::size_t n_classes, std::vector<double> matrix = {}, double confidence = 0.25,
           double per_leaf = 0.0, LeafRule rule = {});
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
           confidence_ == other.confidence_ && per_leaf_ == other.per_leaf_ && rule_ == other.rule_;
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
  double confidence_, z_, per_leaf_;
  LeafRule rule_;
  std::uint64_t id_;
};
static_assert(LeafCosts<LeafCost>);

// C4.5's pessimistic addition to e errors among n examples, with z the normal quantile of 1 − confidence.
double added_errors(double n, double e, double confidence, double z);

}  // namespace everytree
