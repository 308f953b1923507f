// What a tree prior charges for the leaves that a test makes (equation 5 of Buntine's paper).
//
//   charge(test) = Σ_branches log Pr(leaf)        open, if a feasible test could follow in the branch; else closed
//
// A branch that has the rows of another one and more has its feasible tests too. So along the cuts of a numeric column
// the lower branch is closed up to some cut and open from there on, the upper branch the other way round: the two
// places are found by doubling steps from the ends, where branches have few rows. Asking every branch of every cut
// would cost a pass over the columns for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "grow/columns.hpp"
#include "grow/grow_options.hpp"
#include "grow/scan.hpp"
#include "grow/score.hpp"
#include "grow/view.hpp"
#include "weights/prior.hpp"

namespace everytree::grow {

class LeafCharge {
 public:
  LeafCharge(const Columns& columns, const GrowSettings& settings, const Prior& prior)
      : columns_(columns), settings_(settings), prior_(prior) {}

  // Adds its charge to every test that `scanner` found last, of column j at a node whose branches lie at `depth`. With
  // `as_open` every branch above the depth limit counts as open.
  void add(Scanner& scanner, const View& view, std::size_t j, std::size_t depth, const Score& score,
           bool as_open = false);
  // log Pr(leaf) of rows at a depth.
  double of_leaf(Scanner& scanner, std::span<const std::uint32_t> rows, std::size_t depth) const;
  // Σ log Pr(leaf) over the parts of labelled rows.
  double of_parts(Scanner& scanner, std::span<const std::uint32_t> rows, const Labels& labels, std::size_t depth);
  bool deep(std::size_t depth) const {
    return settings_.max_depth >= 0 && depth >= static_cast<std::size_t>(settings_.max_depth);
  }

 private:
  // Whether it has to be asked if a branch is open.
  bool asks(std::size_t depth) const {
    return !deep(depth) && prior_.log_leaf(depth, true) != prior_.log_leaf(depth, false);
  }
  void cuts(Scanner& scanner, const View& view, std::size_t j);
  void values(Scanner& scanner, const View& view, std::size_t j);
  template <class Open>
  static std::size_t first_open(std::size_t n, Open open);

  const Columns& columns_;
  const GrowSettings& settings_;
  const Prior& prior_;
  std::vector<std::uint32_t> rows_, order_;
  std::vector<std::size_t> begin_;
  std::vector<std::uint32_t> n_open_;  // open branches of each test, in the scanner's order
};

}  // namespace everytree::grow
