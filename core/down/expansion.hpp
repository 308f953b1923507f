// The average over every tree as a sum of parities, and the smallest part of it that stays within a bound.
//
// A row enters through z_t = ±1, one per test. A path of k tests is a product of factors (1 ± z_t)/2, so the exact
// prediction is a polynomial in which every test occurs at most once:
//     P(c | x) = Σ_S a_c(S) · Π_{t ∈ S} z_t(x),      |S| ≤ depth of the deepest leaf.
// Paths that differ in outcomes or in the order of their tests meet in the same S, and what they agree on cancels in
// the larger sets. As |Π z| = 1, leaving out a family D of sets moves class c by at most
//     bound_c = Σ_{S ∈ D} |a_c(S)|      for every one of the 2^tests rows, seen or not.
//
// What is kept is closed under taking subsets. Only then can it be written as a sum of *rules* without new sets:
// z = 2y − 1 turns a set into its subsets. A rule is a set of tests that all have their rarer outcome, so the base is
// what the usual outcomes predict, and rules say what is unusual. The sets are left out in the order of
//     need(S) = max_{T ⊇ S} max_c |a_c(T)|,
// larger sets first among equals, so none goes before those that contain it.
//
// Tests with equal columns are one variable Z_k = Σ ± z_t with |Z_k| ≤ m_k, see Slot; the bound takes Π m_k into
// account, and a rule is written once for every choice of its tests.
#pragma once

#include <vector>

#include "down/posterior.hpp"
#include "down/quadratic_form.hpp"
#include "down/set_sum.hpp"
#include "down/subsets.hpp"

namespace everytree {

// Σ of rules: base_c, plus move_c for every rule whose items all hold.
struct Rules {
  std::vector<double> base;          // per class
  std::vector<std::uint32_t> items;  // test << 1 | outcome, by test; rule r has begin[r] … begin[r + 1]
  std::vector<std::uint64_t> begin;
  std::vector<double> moves;  // rules × classes
  double bound = 0;           // on what was left out, for every row and class
};

class Expansion {
 public:
  Expansion(const Posterior& posterior, Control& control);

  // Sums of 10^9 terms err by less than this share of themselves.
  static constexpr double kRounding = 1e-6;

  struct Point {
    std::uint64_t n_rules;
    double bound;
  };
  // What would be kept for an epsilon ≥ 0.
  Point point(double epsilon) const;
  // The rules kept for an epsilon ≥ 0; bound ≤ epsilon.
  Rules rules(double epsilon, Control& control) const;

 private:
  // A quadratic form in Z, over slots_.
  struct InZ {
    double constant;
    std::vector<double> linear, square;
  };

  void expand(const Posterior& posterior, Control& control);
  void rewrite(const double* matrix, std::size_t stride, std::size_t n_given, InZ& out) const;
  void add_product(const SetSum<std::uint64_t>& path, const InZ& form, std::vector<double>& a, Control& control) const;
  void rank(Control& control);
  double choices(const std::uint32_t* elements, std::size_t k) const;  // Π m_k
  std::size_t dropped(double epsilon) const;                           // how many of order_ go

  std::size_t n_classes_;
  std::vector<Slot> slots_;            // those that split the whole table
  std::vector<std::uint32_t> origin_;  // of each among all slots
  std::vector<double> sign_;           // of each slot: −1 where its tests mostly hold
  bool plain_ = true;                  // every slot is a single test
  Subsets sets_{0, 0};
  std::vector<std::vector<double>> a_;  // [class but the last][set]
  std::vector<std::uint64_t> order_;    // non-empty sets that play a part, first to go first
  std::vector<double> left_out_;        // the bound when order_[0 … k] are left out
};

}  // namespace everytree
