// The best tree of two levels for a cover, whatever weights and costs are: columns are walked row by row.
//
// A side predicts a on the low part and b on the high part of column g. With S(j) the sum of cost(c, a) − cost(c, b)
// over the rows of the side up to place j of the order,
//
//     split(a, b) = Σ_side cost(c, b) + min_j S(j),      split(b, a) = Σ_side cost(c, a) − max_j S(j).
#pragma once

#include <vector>

#include "common/control.hpp"
#include "ordered/bounds.hpp"
#include "ordered/cuts.hpp"

namespace everytree::ordered {

class WalkedLevels {
 public:
  // `calling` whether it works on the thread that asked: only that one tells of progress.
  WalkedLevels(const Problem& problem, Control& control, std::int64_t min_leaf, bool calling)
      : p_(problem), control_(control), calling_(calling), min_leaf_(min_leaf) {}

  // As TwoLevels::solve and one_level.
  Bound solve(const Cover& cover, Value limit, std::vector<Bound>& known, Steps& tree);
  Bound one_level(const Cover& cover, std::vector<Bound>& known);
  // The best cut of column g for one side: its cost, and the rank.
  struct Best {
    Value cost = kNever;
    std::uint32_t rank = 0;
  };
  Best best_cut(const Cover& cover, std::size_t g);

  std::size_t n_solved = 0, n_cuts = 0, n_scans = 0;

 private:
  Best best_plain_cut(const Cover& cover, std::size_t g) const;
  struct Sides {
    bool whole = true;
    std::size_t f = 0;
    std::uint32_t rank = 0;
    std::vector<std::int64_t> counts[2];
    std::int64_t weight[2] = {0, 0};
    // The cuts by which leaves must be large enough in a relaxed tree, and the weights of the sides of these.
    std::uint32_t wide[2] = {0, 0};
    std::int64_t wide_weight[2] = {0, 0};
  };
  void splits(const Cover& cover, std::size_t g, const Sides& sides, Bound out[2], Best* best = nullptr);

  const Problem& p_;
  Control& control_;
  bool calling_;
  std::int64_t min_leaf_;
  CutList cuts_;
  Sides sides_;
  std::vector<Bound> whole_;
  std::vector<std::size_t> order_;
  Node low_, high_;
  NodeStack nodes_;
  std::uint32_t ticks_ = 0;
};

}  // namespace everytree::ordered
