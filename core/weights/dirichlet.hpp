// What a leaf of class counts n says of its examples, under Dirichlet parameters a (product weights):
//     logM(n) = Σ_c Σ_{k<n_c} log(a_c + k) − Σ_{k<n} log(Σa + k)
// as sums of logarithms, tabulated: no lgamma, and little cancellation for huge a. Counts beyond a million, which only
// heavy weights have, go on from the end of the table (weights/far_rising.hpp): no table grows with the weights. The
// exponents are then too large for a double, and are added up in two of them (weights/long_log.hpp).
//
// Where `per_example` counts make one example, n in the sums is that of examples, n = counts / per_example:
//     logM(n) = Σ_c log Γ(a_c + n_c)/Γ(a_c) − log Γ(Σa + n)/Γ(Σa)
// and a, sum_a are given in counts, per_example times as large: (n_c + a_c) / (n + Σa) needs no division by it.
//
// Under a power η every logarithm here is η times that, so whatever multiplies weights of leaves multiplies M(n)^η.
// With κ > 0 (dirichlet_parameters.hpp) the second sum is less by κ log(n/N), so that they multiply M(n)^η (n/N)^κ.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "common/control.hpp"
#include "weights/dirichlet_parameters.hpp"
#include "weights/far_rising.hpp"
#include "weights/leaf_model.hpp"
#include "weights/long_log.hpp"
#include "weights/rising.hpp"

namespace everytree {

class Dirichlet {
 public:
  using Entry = std::int32_t;                                    // a statistic is the class counts
  static constexpr std::int64_t kTable = std::int64_t{1} << 20;  // the largest count in a table: 8 MiB each

  // class_totals bound the tables. With `control` the memory is looked at before there are any tables, and the time
  // while they are filled. longest = 0: without tables. `held`: bytes that the question has already.
  Dirichlet(const DirichletParameters& a, const std::vector<std::int32_t>& class_totals, Control* control = nullptr,
            std::int64_t longest = kTable, std::size_t held = 0);

  std::size_t n_classes() const { return n_classes_; }
  std::size_t width() const { return n_classes_; }
  std::size_t outputs() const { return n_classes_; }
  std::size_t variant(std::size_t depth) const { return depth < variants_.size() ? depth : variants_.size() - 1; }
  std::size_t n_variants() const { return variants_.size(); }
  double a(std::size_t depth, std::size_t c) const { return variants_[variant(depth)].a[c]; }
  double sum_a(std::size_t depth) const { return variants_[variant(depth)].sum_a; }
  double power() const { return power_; }
  double per_example() const { return per_example_; }
  double kappa() const { return kappa_; }
  // κ log(n/N), which log_marginal has in it.
  double log_held(std::int64_t n) const {
    return kappa_ == 0 ? 0.0 : kappa_ * (std::log(static_cast<double>(n)) - log_all_);
  }

  // counts[c * stride]
  double log_marginal(std::size_t depth, const std::int32_t* counts, std::size_t stride = 1) const {
    if (!all_tabulated_) return long_marginal(depth, counts, stride).value();
    const Variant& v = variants_[variant(depth)];
    double sum = 0;
    std::int64_t n = 0;
    for (std::size_t c = 0; c < n_classes_; ++c) {
      sum += v.rising[v.table_of[c]][static_cast<std::size_t>(counts[c * stride])];
      n += counts[c * stride];
    }
    return sum - v.rising_sum[static_cast<std::size_t>(n)];
  }
  // The same in two doubles, for covers of which no table holds every count.
  LongLog long_marginal(std::size_t depth, const std::int32_t* counts, std::size_t stride = 1) const;
  // P(the next example is of class c), for every class.
  void predict(std::size_t depth, const std::int32_t* counts, double* out) const {
    const Variant& v = variants_[variant(depth)];
    double n = v.sum_a;
    for (std::size_t c = 0; c < n_classes_; ++c) n += counts[c];
    for (std::size_t c = 0; c < n_classes_; ++c) out[c] = (counts[c] + v.a[c]) / n;
  }
  // log a(a+1)…(a+n−1) for class c, and the same for Σa: the parts of log_marginal.
  double log_rising(std::size_t depth, std::size_t c, std::int64_t n) const { return long_rising(depth, c, n).value(); }
  double log_rising_sum(std::size_t depth, std::int64_t n) const { return long_rising_sum(depth, n).value(); }
  LongLog long_rising(std::size_t depth, std::size_t c, std::int64_t n) const {
    const Variant& v = variants_[variant(depth)];
    const std::vector<double>& table = v.rising[v.table_of[c]];
    return static_cast<std::size_t>(n) < table.size() ? LongLog(table[static_cast<std::size_t>(n)])
                                                      : v.far[v.table_of[c]](n);
  }
  LongLog long_rising_sum(std::size_t depth, std::int64_t n) const {
    const Variant& v = variants_[variant(depth)];
    if (static_cast<std::size_t>(n) < v.rising_sum.size()) return v.rising_sum[static_cast<std::size_t>(n)];
    return v.far_sum(n) + LongLog(-log_held(n));
  }
  // The same as tables, for covers of which they hold every count.
  bool tabulated(std::int64_t total) const { return all_tabulated_ || total <= longest_; }
  bool all_tabulated() const { return all_tabulated_; }
  const double* rising(std::size_t depth, std::size_t c) const {
    const Variant& v = variants_[variant(depth)];
    return v.rising[v.table_of[c]].data();
  }
  const double* rising_sum(std::size_t depth) const { return variants_[variant(depth)].rising_sum.data(); }
  std::size_t bytes() const;

 private:
  struct Variant {
    std::vector<double> a;  // in counts
    double sum_a = 0;
    std::vector<std::size_t> table_of;  // classes with equal a share a table
    std::vector<std::vector<double>> rising;
    std::vector<double> rising_sum;
    std::vector<FarRising> far;  // where the tables end
    FarRising far_sum;
  };

  std::size_t n_classes_;
  std::int64_t longest_;  // the largest count in a table
  bool all_tabulated_ = true;
  double power_ = 1, per_example_ = 1, kappa_ = 0, log_all_ = 0;  // log_all: of N
  std::vector<Variant> variants_;
};
static_assert(LeafModel<Dirichlet>);

}  // namespace everytree
