// The best tree of two levels for a part of a frame, where an error costs the same everywhere.
//
// The lowest test: a side predicts a on the low part and b on the high part of column g. With S(j) the rows of class a
// minus those of class b among the rows of the side up to place j of the order, and n_a, n_b all of them, the rows that
// are right are
//
//     (a, b):  n_b + max_j S(j),      (b, a):  n_a − min_j S(j)
//
// so that the extremes of running sums are all there is to compute, 64 places a step. Of many classes, pairs that have
// no more rows than are right already are left out. The upper test: every cut of every column, by what neighbours leave
// of them (bounds.hpp).
#pragma once

#include <vector>

#include "common/control.hpp"
#include "ordered/bounds.hpp"
#include "ordered/frame.hpp"

namespace everytree::ordered {

class TwoLevels {
 public:
  // `calling` whether it works on the thread that asked: only that one tells of progress.
  TwoLevels(const Problem& problem, Control& control, std::int64_t min_leaf, bool calling)
      : p_(problem), control_(control), calling_(calling), min_leaf_(min_leaf) {}

  // The least cost if it is below `limit`, and then `tree`; otherwise a bound that is not below it. `known` has bounds
  // by first column to begin with, and gets better ones.
  Bound solve(Part& part, Value limit, std::vector<Bound>& known, Steps& tree);
  // What was best at the last cut is tried first at the next, unless the next has nothing to do with it.
  void forget() { winner_[0] = winner_[1] = 0; }
  // One level less: bounds by column, and the best of them and the leaf.
  Bound one_level(Part& part, std::vector<Bound>& known);

  std::size_t n_solved = 0, n_cuts = 0, n_scans = 0;

 private:
  // The rows of each side, or in those of side 0 the others, by which its leaves must be large enough; how many.
  struct Sized {
    const std::uint64_t* sides[2];
    std::int64_t n[2];
  };
  struct Runs {
    std::vector<std::uint8_t> in_lane;
    std::vector<std::uint32_t> before;
  };
  class View;
  enum Sizes : std::uint8_t { kAny, kEnds, kHere };               // which leaves a column is scanned with next
  bool quick() const { return p_.n_classes == 2 && !p_.wide(); }  // whether one pass scans both sides
  void scanned(const Frame& frame);
  Value cost_of(const Extremes& e, int side) const;
  // Of each side: the least cost of two leaves, or a bound that is not below what was known.
  void splits(Part& part, std::size_t g, const std::uint64_t* real, const Sized& sized, const Value known[2],
              bool whole, Value out[2]);
  void scan(Part& part, const View& view, std::size_t g, const Node& t, const std::ptrdiff_t sizes[2],
            const Value known[2], Value out[2]);
  std::int64_t most_right(Frame& frame, std::size_t g, const std::uint64_t* rows, int side, const std::uint64_t* cuts,
                          std::int64_t enough);
  void evaluate(Part& part, View& view, Value& least, Value wanted, Node& t, std::ptrdiff_t first_cut,
                std::ptrdiff_t last_cut, Steps& tree);

  const Problem& p_;
  Control& control_;
  bool calling_;
  std::int64_t min_leaf_;
  std::vector<std::uint64_t> sides_, sized_[2], allowed_[2];
  Runs runs_[2];
  std::vector<std::uint8_t> asked_;
  std::vector<std::int64_t> counts_[2];
  std::int64_t n_[2] = {0, 0};
  std::vector<std::uint32_t> labels_;
  std::vector<Bound> whole_;
  std::vector<std::size_t> order_;
  Node low_, high_;
  NodeStack nodes_;
  std::size_t winner_[2] = {0, 0};
  std::uint32_t ticks_ = 0;
  std::size_t work_ = 0;
};

}  // namespace everytree::ordered
