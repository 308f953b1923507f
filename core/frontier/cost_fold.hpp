// The frontier in (min, +): for every split of a cover and both of its sides, the cost of the side as a leaf and the
// least cost of the side split once more.
//
//     u = min(state_leaf, min_i min(leaf_1i, split_1i) + min(leaf_0i, split_0i))
//
// kNoCost stands for a side that cannot be split, or cannot be a leaf. The pairs themselves are never stored. Three
// kernels and one plain loop do the work, and all give the same numbers:
//     two classes, error, fewer than 32768 examples     both counts packed into 32-bit lanes (pair_errors)
//     error, any number of classes and examples         32-bit lanes, one class after the other (fold_errors)
//     two classes, any cost and any rule for leaves     a table over the counts (fold_min)
//     the rest                                          leaf by leaf
// Owns the buffers: one object per thread.
#pragma once

#include <cstdint>
#include <vector>

#include "common/control.hpp"
#include "frontier/frontier.hpp"
#include "weights/cost_table.hpp"
#include "weights/leaf_cost.hpp"

namespace everytree {

struct OneLevel;
class WholePairs;

// Looks at the limits every few milliseconds of work inside one cover: with thousands of tests one takes seconds.
class Ticker {
 public:
  void watch(Control& control, bool calling_thread) {
    control_ = &control;
    calling_thread_ = calling_thread;
  }
  // After the pairs of one test, or of several.
  void tick(const Frontier& frontier, std::size_t n_tests = 1) {
    work_ += n_tests * frontier.n_groups() * (8 + frontier.n_chunks() + frontier.table().n_classes());
    if (work_ < (std::size_t{1} << 22) || control_ == nullptr) return;
    work_ = 0;
    control_->check(calling_thread_, "folding the frontier", 0, 0);
  }

 private:
  Control* control_ = nullptr;
  bool calling_thread_ = false;
  std::size_t work_ = 0;
};

class CostFold {
 public:
  // The cover is in the frontier already; `levels` (1 or 2) tests may follow it on a path.
  void fold(Frontier& frontier, int levels, const LeafCost& cost, Ticker& ticker, OneLevel& out);
  // Also OneLevel::lower: of side a split by any test and then as one likes, for two-class errors; else −kNoCost.
  void want_bounds(bool on) { bounds_ = on; }
  // Where to keep the pairs of the next fold over two levels (null: nowhere); for errors only.
  void keep_pairs(WholePairs* pairs) { keep_ = pairs; }
  // Leaf by leaf, whatever the cost: what the kernels are tested against.
  void use_kernels(bool on) { use_kernels_ = on; }

 private:
  void leaves(const Frontier& frontier, const LeafCost& cost, OneLevel& out);
  void two_class_errors(Frontier& frontier, const LeafCost& cost, Ticker& ticker, OneLevel& out);
  void any_errors(const Frontier& frontier, const LeafCost& cost, Ticker& ticker, OneLevel& out);
  void two_class_costs(Frontier& frontier, const double* table, Ticker& ticker, OneLevel& out);
  void any_cost(const Frontier& frontier, const LeafCost& cost, Ticker& ticker, OneLevel& out);
  void errors_to(const Frontier& frontier, const LeafCost& cost, std::int32_t none, OneLevel& out) const;

  bool use_kernels_ = true, bounds_ = false;
  WholePairs* keep_ = nullptr;
  CostTable table_;
  std::vector<std::int32_t> counts_, pairs_, error_[2], bound_[2], tests_[2];
};

}  // namespace everytree
