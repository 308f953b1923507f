// The cover of a node as growers scan it: its rows, and for every numeric column those with a value, by value.
//
// A view looks into arrays of its owner. Splitting a view by a label per row keeps every order: the parts of a sorted
// column are sorted, so that columns are sorted once, at the root, and never again below it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "grow/columns.hpp"

namespace everytree::grow {

// A row of a numeric column and the rank of its value among the values of the whole column.
struct Record {
  std::uint32_t rank, row;
};

struct View {
  std::span<std::uint32_t> rows;          // ascending
  std::vector<std::span<Record>> sorted;  // one per column, empty for nominal ones
};

// The arrays behind a view.
struct Storage {
  std::vector<std::uint32_t> rows;
  std::vector<std::vector<Record>> sorted;
  std::size_t bytes() const;
};

// A view of these rows (ascending), sorted anew; `columns` have been sorted as wholes. Columns in `only`, if any.
View view_of(std::span<const std::uint32_t> rows, const Columns& columns, Storage& storage);
// Bytes of the storage of so many rows.
std::size_t view_bytes(std::size_t n_rows, const Columns& columns);
// The known rows of one numeric column, sorted.
void sort_column(std::span<const std::uint32_t> rows, const Columns& columns, std::size_t column,
                 std::vector<Record>& out);

// The branch of every row of a node, numbered 0 … n_parts − 1 without gaps; `slot` says which branch of the test each
// part is.
struct Labels {
  std::vector<std::uint32_t> of_row;  // one per row of the data; those of other nodes hold old numbers
  std::vector<std::uint32_t> slot;
  std::vector<std::size_t> size;  // rows of each part
  std::size_t n_parts() const { return slot.size(); }
};

class Splitter {
 public:
  explicit Splitter(const Columns& columns);
  // Label the rows by a test: its branches (grow/branch.hpp), and the last slot for rows without a value.
  const Labels& label(std::span<const std::uint32_t> rows, std::int32_t column, double threshold);
  // The parts of a view, as labelled last: in place (the view is used up), or in other storage. A view may have no
  // sorted columns: then the rows alone are divided.
  std::vector<View> split(View& view);
  std::vector<View> split(const View& view, Storage& storage);

 private:
  template <class T>
  void scatter(std::span<const T> from, T* to, std::vector<std::size_t>& starts) const;

  const Columns& columns_;
  Labels labels_;
  std::vector<std::uint32_t> part_of_slot_;  // kNoPart between two calls
  std::vector<std::uint32_t> rows_;
  std::vector<Record> records_;
};

}  // namespace everytree::grow
