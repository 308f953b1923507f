// Predictions by a sum of rules, many rows at once:  q_c(x) = base_c + Σ_{rules that hold for x} move_c.
//
// Rules that begin alike share their beginning in a trie, and a node carries the set of rows for which its items hold
// as a bit set: one AND serves 64 rows, and rules that hold for no row are passed over with all that begin like them.
//
// q is then moved to the nearest probabilities, with at least floor_c for every class: p_c = max(q_c − τ, floor_c) with
// Σ p = 1. If |q − P| ≤ b for true probabilities P ≥ floor, then |p − P| ≤ b for up to three classes (as Σ (q − P) = 0,
// where one class must be raised the others are too high by as much in all, and none of two can be off by more than b
// the other way), and ≤ 2b in general, as 0 ≤ τ ≤ b.
#pragma once

#include <vector>

#include "common/control.hpp"
#include "down/expansion.hpp"

namespace everytree {

class RuleSum {
 public:
  // Throws InvalidInput on rules that make no sense.
  RuleSum(const Rules& rules, std::size_t n_tests, std::vector<double> floor);
  std::size_t n_tests() const { return n_tests_; }
  std::size_t n_classes() const { return base_.size(); }
  // rows: n_rows × n_tests of 0/1, row-major; out: n_rows × n_classes.
  void predict(const std::uint8_t* rows, std::size_t n_rows, double* out, Control& control) const;

 private:
  struct Node {
    std::uint32_t item, depth;  // depth of its parent: 0 for the first item of a rule
    std::uint32_t skip;         // the next node that does not begin with this one
    std::uint32_t moves;        // row of moves_, or kNone
  };
  static constexpr std::uint32_t kNone = 0xffffffffu;
  void nearest(double* p) const;

  std::size_t n_tests_, deepest_ = 0;
  std::vector<double> base_, floor_, moves_;
  double free_ = 1;  // 1 − Σ floor
  std::vector<Node> nodes_;
};

}  // namespace everytree
