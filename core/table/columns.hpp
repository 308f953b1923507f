// Columns: which tests of a table belong together, so that every state can choose among them.
//
// Where a table has columns, its tests are their fine cuts, and a state offers some of them, chosen from its own rows
// (table/offers.hpp). An *ordered* column with m codes has m − 1 tests, and test begin + i holds where code ≤ i. A
// *nominal* one has a test for each value. Both may have one test more, `missing`: where it holds no other does.
//
// A cover that holds the codes `lower` and `next` of an ordered column, and none between them, may be cut there. On
// rows of the table the cut is the test begin + lower, whatever `next` is. On new rows it asks x ≤ t(lower, next), and
// t need not rise with `next`. The *upper* of a cut is its position among all cuts above the same lower code:
//
//     upper(lower, next) = lower + 1 + (number of different t(lower, ·) that are smaller than t(lower, next))
//
// which is `next` itself where t rises strictly. Columns where it does not bring a table of these numbers.
#pragma once

#include <cstdint>
#include <vector>

namespace everytree {

struct Column {
  enum class Kind : std::uint8_t { ordered, nominal };
  static constexpr std::uint32_t kNone = 0xffffffffu;
  Kind kind = Kind::ordered;
  std::uint32_t begin = 0, end = 0;  // its tests, but for `missing`
  std::uint32_t missing = kNone;     // the test that asks whether the value is missing: the one at `end`
  std::uint32_t bins = 0;            // an ordered column is cut into at most so many; 0: every cut is offered

  std::uint32_t n_codes() const { return end - begin + (kind == Kind::ordered ? 1 : 0); }
};

// For each column n_codes × n_codes uppers, by lower code and next one; empty where the upper is the next code itself.
using Uppers = std::vector<std::vector<std::uint16_t>>;

// The code of each column in each row: its place among all codes of all columns.
class Columns {
 public:
  Columns() = default;
  // Checked: the columns must hold all tests, in order. No uppers at all: every upper is the next code.
  Columns(std::vector<Column> columns, std::size_t n_tests, Uppers uppers = {});

  bool empty() const { return columns_.empty(); }
  std::size_t size() const { return columns_.size(); }
  const Column& operator[](std::size_t k) const { return columns_[k]; }
  // Codes of column k have the places from this one on; a missing value the place after the last code. Places are
  // padded to whole words of 64.
  std::uint32_t place(std::size_t k) const { return place_[k]; }
  std::uint32_t n_places() const { return place_.back(); }
  // The place of column k in a row of tests; throws if the row contradicts what a column is.
  std::uint32_t place_in(std::size_t k, const std::uint8_t* row) const;
  std::size_t column_of(std::uint32_t test) const { return column_of_[test]; }
  // The upper of the cut of column k between the codes `lower`, which is not the last one, and `next`.
  std::uint32_t upper(std::size_t k, std::uint32_t lower, std::uint32_t next) const {
    if (uppers_.empty() || uppers_[k].empty()) return next;
    return uppers_[k][std::size_t{lower} * columns_[k].n_codes() + next];
  }
  std::size_t bytes() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::uint32_t> place_, column_of_;
  Uppers uppers_;
};

}  // namespace everytree
