// What the trees below a cover can weigh at best, from its class counts and depth alone.
//
// Costs are −log(prior · marginal likelihood). With m_c(n) = −log M of n examples of class c alone, A = Σa, and
//     l_c(1) = m_c(1) + m_c(n_c − 1) − m_c(n_c)       what it costs to part class c (least for one example)
//     r(i, j) = Σ_{k<j} log((A + i + k) / (A + k))     what a leaf with i and j examples costs more than two pure ones
// a tree with at least two leaves costs
//     the split        −log P(split at d) + log e, with e the number of feasible tests, known or at least that of
//     Spread the likelihood   Σ_c m_c(n_c): no partition beats the pure one and the least of
//       pure leaves, one per class: their prior
//       pure leaves, more than one of some class: another split, and l_c(1)
//       some leaf mixed: r(1, 1) + l_0(1) + l_1(1), or r(n_0, 1) + l_1(1), or r(1, n_1) + l_0(1).
// Where rows with different classes are equal, k examples at least are outvoted: q_l in leaf l, with Σ q_l ≥ k. If both
// classes have the same parameter, M(k, k) M_0(n_0 − k) M_1(n_1 − k) bounds the likelihood. If not, examples of the
// rarer class may be likelier beside others than alone, and what is sure is that mixing costs Σ r(q_l, q_l). As
// r(q + 1, q + 1) − r(q, q) rises with q, or rises and then falls, r(q, q) / q is least at one of its ends: so the sum
// is at least k r(1, 1), or r(k, k) where that is less.
//
// Under a power η of the leaves (weights/dirichlet.hpp) m, l and r are η times these. Where a leaf also weighs its
// share of the N examples to the power κ, all of the above is without it, as it is at most 1; and two leaves or more,
// which have n examples in all, weigh at most (n/2N)^2κ by it, whatever else they weigh.
//
// Where a count is less than an example, the least part of a class is one count, and n is real: m is concave with
// m(0) = 0 and R(n) = log Γ(A + n)/Γ(A) convex with R(0) = 0, so all of the above holds with r(i, j) = R(i + j) − R(i)
// − R(j); for r(q, q) by the duplication formula of ψ', which leaves r'' one change of sign. Two things do not hold:
// the bound by M(k, k) with equal parameters, whose steps are of whole examples, and that one of two sets of parameters
// is the least for every n if it is at both ends.
//
// Sound for priors without a factor above 1 (all of the library's): check `sound`.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "search/spread.hpp"
#include "weights/dirichlet.hpp"
#include "weights/prior.hpp"

namespace everytree {

class Hope {
 public:
  // `held`: bytes that are there already; the tables are charged beside them before they are made.
  Hope(const CountTable& table, Prior prior, std::shared_ptr<const Dirichlet> leaf, int max_depth,
       std::int64_t min_leaf, Spread spread, std::size_t held, Control& control);

  static bool sound(const Prior& prior);

  // A leaf with these counts, if it is known whether a test could follow.
  double leaf(const std::int32_t* counts, std::size_t depth, bool open) const {
    return -prior_.log_leaf(depth, open) - leaf_->log_marginal(depth, counts);
  }
  // The split of a node with e feasible tests, without its sides.
  double split(std::size_t depth, std::int32_t n_tests) const {
    return -prior_.log_split_base(depth) + log_tests_[static_cast<std::size_t>(n_tests)];
  }
  // A tree with at least two leaves, on a cover with n_tests feasible tests, costs at least this.
  double at_least(const std::int32_t* counts, std::size_t depth, std::int32_t n_tests) const {
    return split(depth, n_tests) + below_split(counts, depth) + held_by_two(counts);
  }
  // The same where `outvoted` examples share their row with more of the other class. Two classes.
  double at_least_outvoted(const std::int32_t* counts, std::size_t depth, std::int32_t n_tests,
                           std::int64_t outvoted) const;
  bool knows_outvoted() const { return single_ && leaf_->n_classes() == 2; }

  // A cover of which only the counts are known: as a leaf at most `plain`, with whatever tree at least `hope`.
  double plain(const std::int32_t* counts, std::size_t depth) const;
  double hope(const std::int32_t* counts, std::size_t depth) const;
  double least_as_leaf(const std::int32_t* counts, std::size_t depth) const;

  // `plain` and `hope` of two classes at a depth as tables over n_0 << shift | n_1, kNoCost below min_leaf; for covers
  // of at most most(0), most(1) examples. Made when first asked for; nullptr where they would take more than half of
  // the memory limit together with `held` bytes: then whoever asks goes by plain() and hope().
  struct Tables {
    std::vector<double> plain, hope;
  };
  const Tables* tables(std::size_t depth, std::size_t held, Control& control);
  std::int32_t most(int c) const { return most_[c]; }
  int shift() const { return shift_; }
  std::size_t bytes() const;

 private:
  double below_split(const std::int32_t* counts, std::size_t depth) const;
  double pure(std::size_t depth, std::size_t c, std::int32_t n) const;
  double far_pure(std::size_t variant, std::size_t c, std::int32_t n) const;
  double held_by_two(const std::int32_t* counts) const;  // −2κ log(n/2N)
  double log_mixed(std::int32_t n) const;                // r(n, 1), of one set of parameters
  double far_mixed(std::int32_t n) const;
  double part(std::size_t depth, std::size_t c, std::int32_t n) const;
  double pure_cover(std::size_t depth, std::size_t c, std::int32_t n) const;
  double least_leaf(std::size_t depth, std::int64_t n) const;
  bool closed(std::size_t depth, std::int64_t n) const {
    return n < 2 * min_leaf_ || (max_depth_ >= 0 && depth >= static_cast<std::size_t>(max_depth_));
  }
  bool open(std::size_t depth, std::int64_t n) const {
    return min_leaf_ == 1 && n > spread_.most_alike() && !closed(depth, n) && offers_own(depth);
  }
  // With one level left a state offers what its parent did, and that may be nothing that splits it.
  bool offers_own(std::size_t depth) const {
    return !local_ || max_depth_ < 0 || depth + 1 < static_cast<std::size_t>(max_depth_);
  }

  Prior prior_;
  std::shared_ptr<const Dirichlet> leaf_;
  int max_depth_;
  std::int64_t min_leaf_;
  Spread spread_;
  bool local_;                                // states choose their tests
  bool single_;                               // one set of Dirichlet parameters for all depths
  bool alike_;                                // the same parameter for both of two classes
  std::vector<double> any_split_, any_leaf_;  // least cost of a split, a leaf, at this depth or deeper
  // m_c(n) at this depth or deeper: whose parameters give it, or the same for every n; and its table for n ≤ kCounts.
  struct Pure {
    std::size_t variant = 0;
    bool flat = false;
    std::vector<double> table;
  };
  static constexpr std::int32_t kCounts = std::int32_t{1} << 18;
  std::vector<std::vector<Pure>> pure_;  // [variant][class]
  std::vector<double> log_tests_;        // what a test among n costs; all zero where every test weighs the same
  std::vector<double> log_mixed_;        // r(n, 1) for n ≤ kCounts; empty if Dirichlet parameters differ by depth
  std::int32_t most_[2] = {0, 0};
  int shift_ = 0;
  std::vector<std::unique_ptr<Tables>> tables_;
};

}  // namespace everytree
