// The cuts of a column in a cover, with what the rows up to each hold; and the sides of a cut as covers.
#pragma once

#include <vector>

#include "ordered/problem.hpp"

namespace everytree::ordered {

class CutList {
 public:
  void find(const Problem& problem, const Cover& cover, std::size_t column);
  std::ptrdiff_t size() const { return static_cast<std::ptrdiff_t>(size_); }
  std::size_t column() const { return column_; }
  // The most that the rows up to cut k can cost.
  Value reach(std::ptrdiff_t k) const {
    return counted_ ? problem_->unit * static_cast<Value>(rows(k)) : reach_[static_cast<std::size_t>(k)];
  }
  // Of all rows up to cut k, ghosts too.
  std::int64_t weight(std::ptrdiff_t k) const {
    return problem_->plain() ? static_cast<std::int64_t>(rows(k)) : weights_[static_cast<std::size_t>(k)];
  }
  std::uint32_t rank(std::ptrdiff_t k) const { return rank_[static_cast<std::size_t>(k)]; }
  std::size_t rows(std::ptrdiff_t k) const { return rows_[static_cast<std::size_t>(k)]; }
  // Class counts of the sides of cut k: 1, the rows up to it, and 0, the others. They are kept at every 64th row, and
  // the rows from there on counted: of 400 classes, all of them are 1,600 bytes for each row and column.
  void counts(std::ptrdiff_t k, const Cover& cover, std::vector<std::int64_t> out[2]) const;
  // A side as a cover, whose rows are kept in `rows`.
  void side(const Problem& problem, const Cover& cover, std::ptrdiff_t k, int side, std::vector<std::uint32_t>& rows,
            Cover& out) const;
  // The same with the rows of the side of another cut, which include them: those more are ghosts, kept in `ghosts`.
  void wide_side(const Problem& problem, const Cover& cover, std::ptrdiff_t k, std::ptrdiff_t wide, int side,
                 std::vector<std::uint32_t>& rows, std::vector<std::uint8_t>& ghosts, Cover& out) const;

  std::size_t bytes() const { return 8 * (rank_.size() + reach_.size()) + 4 * (weights_.size() + counts_.size()); }

 private:
  const Problem* problem_ = nullptr;
  std::size_t column_ = 0, n_classes_ = 0, size_ = 0;
  bool counted_ = true;  // what rows can cost is told by their number
  std::vector<std::uint32_t> rank_, rows_;
  std::vector<Value> reach_;
  std::vector<std::int32_t> counts_, weights_;
};

// The most that all rows of a cover can cost.
Value reach_of(const Problem& problem, const Cover& cover);

}  // namespace everytree::ordered
