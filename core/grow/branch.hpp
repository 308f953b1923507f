// The branch of a row at a test: the one place where rows of whole columns meet a test.
//
// A test is on one column, and a threshold says which test it is:
//   numeric                       0: value ≤ threshold, 1: greater (threshold +∞: every known value is in 0)
//   nominal, threshold is NaN     v: the value v, for every declared value
//   nominal, threshold is a code  0: the value has that code, 1: another one
// A row without a value (kMissing) or with one that was not declared (kUnseen) is in none of these. Growers give such
// rows a slot of their own, after those of the branches; trees with shares send them down every branch (c45.cpp), or
// stop there.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "grow/columns.hpp"

namespace everytree::grow {

inline bool every_value(const Column& column, double threshold) { return !column.numeric && std::isnan(threshold); }

// Branches by value, and the slots of a grower: one more, for rows without a value.
inline std::size_t n_branches(const Column& column, double threshold) {
  return every_value(column, threshold) ? static_cast<std::size_t>(column.n_values) : 2;
}
inline std::size_t n_slots(const Column& column, double threshold) { return n_branches(column, threshold) + 1; }

// use(branch), where branch(row) is the number of the row's branch, kMissing or kUnseen. The kind of the test is looked
// at once, so that a loop over rows has nothing but its values before it.
template <class Use>
decltype(auto) with_branch(const Column& column, double threshold, Use&& use) {
  if (column.numeric)
    return use([values = column.values.data(), threshold](std::size_t row) -> std::int32_t {
      return std::isnan(values[row]) ? kMissing : values[row] <= threshold ? 0 : 1;
    });
  const std::int32_t* codes = column.codes.data();
  if (std::isnan(threshold)) return use([codes](std::size_t row) -> std::int32_t { return codes[row]; });
  return use([codes, threshold](std::size_t row) -> std::int32_t {
    return codes[row] < 0 ? codes[row] : static_cast<double>(codes[row]) == threshold ? 0 : 1;
  });
}

// The same for one row.
inline std::int32_t branch_of(const Column& column, double threshold, std::size_t row) {
  return with_branch(column, threshold, [row](const auto& branch) { return branch(row); });
}

}  // namespace everytree::grow
