// All tests of one column at one node, with the score of each: one pass over the rows of the node.
//
//   score(test) = Σ_branches score(class counts of the branch)
//
// Moving one row across a cut changes two counts of one class, so a cut costs four look-ups whatever the number of
// classes. Which tests a column has is said in grow_options.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "grow/columns.hpp"
#include "grow/score.hpp"
#include "grow/view.hpp"

namespace everytree::grow {

class Scanner {
 public:
  Scanner(const Columns& columns, std::int64_t min_leaf, bool binary_nominal);

  // The feasible tests of a column: their scores, and where they are: a number for `threshold`. `counts` are those of
  // the view.
  void scan(const View& view, const std::int64_t* counts, std::size_t column, const Score& score);
  const std::vector<std::int64_t>& scores() const { return scores_; }
  std::size_t n_tests() const { return scores_.size(); }
  std::int64_t best() const { return best_; }  // the largest score; only with n_tests() > 0
  // Adds f(test) to the score of every test.
  template <class F>
  void adjust(F f) {
    for (std::size_t k = 0; k < scores_.size(); ++k) {
      scores_[k] += f(k);
      if (k == 0 || scores_[k] > best_) best_ = scores_[k];
    }
  }
  // Where a test of the column scanned last is: the last row of its lower branch among the sorted rows of a numeric
  // column, a code, or kKnown for known or missing. Tests come in this order.
  std::uint32_t place(std::size_t test) const { return where_[test]; }
  std::uint32_t branches_of(std::size_t test) const { return n_branches_[test]; }  // those with a row of the node
  static constexpr std::uint32_t kKnown = 0xffffffffu;
  std::size_t first_best(std::int64_t tie) const;  // the first test whose score is the largest but for rounding
  // The threshold of a test scanned last: NaN for every value, a code, a cut, or +infinity for known or missing.
  double threshold(const View& view, std::size_t column, std::size_t test) const;

  // Whether a column has a feasible test, without scores. Rows of a node need not be sorted for it.
  bool feasible(std::span<const std::uint32_t> rows, std::size_t column);
  bool any_feasible(std::span<const std::uint32_t> rows);
  // The class counts of rows.
  void count(std::span<const std::uint32_t> rows, std::vector<std::int64_t>& counts) const;
  std::int64_t weight(std::uint32_t row) const { return columns_.weights()[row]; }
  // Score of the branches that a threshold makes of one column; need not be one of the cuts.
  std::int64_t score_of(std::span<const std::uint32_t> rows, std::size_t column, double threshold, const Score& score);

 private:
  template <bool kWeighted>
  void cuts(std::span<const Record> sorted, bool some_missing, const std::int64_t* counts, const Score& score);
  void values(std::span<const std::uint32_t> rows, const std::int64_t* counts, std::size_t column, const Score& score);
  bool feasible_among_many(std::span<const std::uint32_t> rows, const Column& column, bool one_by_one);
  void add(std::int64_t score, std::uint32_t where, std::size_t n_branches) {
    if (scores_.empty() || score > best_) best_ = score;
    scores_.push_back(score);
    where_.push_back(where);
    n_branches_.push_back(static_cast<std::uint32_t>(n_branches));
  }
  bool enough(std::int64_t first, std::int64_t second, std::int64_t missing) const {
    return (first >= min_leaf_) + (second >= min_leaf_) + (missing >= min_leaf_) >= 2;
  }

  const Columns& columns_;
  std::int64_t min_leaf_;
  bool binary_nominal_;
  bool weighted_;
  std::vector<std::uint16_t> classes_;
  std::vector<std::int64_t> scores_;
  std::vector<std::uint32_t> where_, n_branches_;
  std::int64_t best_ = 0;
  std::vector<std::int64_t> left_, right_, missing_, cells_, sizes_;
  std::vector<const Climb*> ups_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint16_t> touched_;  // classes of the value that is looked at
};

}  // namespace everytree::grow
