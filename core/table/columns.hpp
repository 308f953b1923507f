// Columns: which tests of a table belong together, so that every state can choose among them.
//
// Where a table has columns, its tests are their fine cuts, and a state offers some of them, chosen from its own rows
// (table/offers.hpp). An *ordered* column with m codes has m − 1 tests, and test begin + i holds where code ≤ i. A
// *nominal* one has a test for each value. Both may have one test more, `missing`: where it holds no other does.
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

// The code of each column in each row: its place among all codes of all columns.
class Columns {
 public:
  Columns() = default;
  // Checked: the columns must hold all tests, in order.
  Columns(std::vector<Column> columns, std::size_t n_tests);

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

 private:
  std::vector<Column> columns_;
  std::vector<std::uint32_t> place_, column_of_;
};

}  // namespace everytree
