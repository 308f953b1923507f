// The data as greedy growers see them: whole columns, not 0/1 tests.
//
// A nominal column is a code 0 … n_values − 1 per row, a numeric one a double. What is not known is marked: kMissing
// (NaN in a numeric column), and kUnseen for a value that was not declared in training. A row counts `weight` times,
// and `per_example` counts make one example.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/control.hpp"

namespace everytree::grow {

constexpr std::int32_t kMissing = -1;
constexpr std::int32_t kUnseen = -2;

struct Column {
  bool numeric = false;
  std::int32_t n_values = 0;         // declared values of a nominal column
  std::vector<std::int32_t> codes;   // nominal
  std::vector<double> values;        // numeric; NaN is missing
  std::vector<std::uint32_t> order;  // numeric, after sort(): the rows with a value, by value, then by row
  std::vector<std::uint32_t> ranks;  // numeric, after sort(): rank of the value of a row; equal values share it
  bool missing(std::size_t row) const { return numeric ? values[row] != values[row] : codes[row] == kMissing; }
};

class Columns {
 public:
  explicit Columns(std::size_t n_rows);
  void add_nominal(std::vector<std::int32_t> codes, std::int32_t n_values);
  void add_numeric(std::vector<double> values);
  // Classes 0 … n_classes − 1 and whole weights ≥ 1 (empty: every row counts once). Needed for growing only.
  void set_classes(std::vector<std::int32_t> classes, std::int32_t n_classes, std::vector<std::int64_t> weights,
                   std::int64_t per_example = 1);
  void sort(Control* control = nullptr);  // fills order and ranks of numeric columns, once

  std::size_t n_rows() const { return n_rows_; }
  std::size_t n_columns() const { return columns_.size(); }
  std::size_t n_classes() const { return n_classes_; }
  const Column& operator[](std::size_t j) const { return columns_[j]; }
  const std::vector<std::int32_t>& classes() const { return classes_; }
  const std::vector<std::int64_t>& weights() const { return weights_; }  // one per row, also where none were given
  std::int64_t total() const { return total_; }
  std::int64_t per_example() const { return per_example_; }
  double examples(std::size_t row) const {
    return static_cast<double>(weights_[row]) / static_cast<double>(per_example_);
  }
  bool any_missing() const { return any_missing_; }
  std::size_t bytes() const;

 private:
  std::size_t n_rows_;
  std::vector<Column> columns_;
  std::size_t n_classes_ = 0;
  std::vector<std::int32_t> classes_;
  std::vector<std::int64_t> weights_;
  std::int64_t total_ = 0, per_example_ = 1;
  bool any_missing_ = false;
};

}  // namespace everytree::grow
