#include "grow/columns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "common/errors.hpp"

namespace everytree::grow {

namespace {

void check_length(std::size_t n, std::size_t n_rows, const char* what) {
  if (n != n_rows)
    throw InvalidInput(std::string(what) + " must have one entry for each of the " + std::to_string(n_rows) +
                       " rows, not " + std::to_string(n));
}

}  // namespace

Columns::Columns(std::size_t n_rows) : n_rows_(n_rows) {
  if (n_rows > std::numeric_limits<std::uint32_t>::max()) throw InvalidInput("more than 2^32 rows");
}

void Columns::add_nominal(std::vector<std::int32_t> codes, std::int32_t n_values) {
  check_length(codes.size(), n_rows_, "codes");
  if (n_values < 0) throw InvalidInput("n_values must not be negative");
  for (std::int32_t code : codes) {
    if (code < kUnseen || code >= n_values)
      throw InvalidInput("code " + std::to_string(code) + " is not below n_values = " + std::to_string(n_values));
    any_missing_ |= code < 0;
  }
  Column column;
  column.n_values = n_values;
  column.codes = std::move(codes);
  columns_.push_back(std::move(column));
}

void Columns::add_numeric(std::vector<double> values) {
  check_length(values.size(), n_rows_, "values");
  for (double value : values) {
    if (std::isinf(value)) throw InvalidInput("a numeric column holds infinity");
    any_missing_ |= std::isnan(value);
  }
  Column column;
  column.numeric = true;
  column.values = std::move(values);
  columns_.push_back(std::move(column));
}

void Columns::set_classes(std::vector<std::int32_t> classes, std::int32_t n_classes, std::vector<std::int64_t> weights,
                          std::int64_t per_example) {
  if (per_example < 1) throw InvalidInput("per_example is " + std::to_string(per_example) + "; expected at least 1");
  check_length(classes.size(), n_rows_, "classes");
  if (weights.empty()) weights.assign(n_rows_, 1);
  check_length(weights.size(), n_rows_, "weights");
  std::int64_t total = 0;
  for (std::size_t row = 0; row < n_rows_; ++row) {
    if (classes[row] < 0 || classes[row] >= n_classes)
      throw InvalidInput("class " + std::to_string(classes[row]) +
                         " is not below n_classes = " + std::to_string(n_classes));
    // 2^53: sums of whole weights stay exact as doubles.
    if (weights[row] < 1 || weights[row] > (std::int64_t{1} << 53) - total)
      throw InvalidInput("row " + std::to_string(row) + " has weight " + std::to_string(weights[row]) +
                         "; weights must be at least 1, and their sum at most 2^53: divide them by a common factor");
    total += weights[row];
  }
  classes_ = std::move(classes);
  n_classes_ = static_cast<std::size_t>(n_classes);
  weights_ = std::move(weights);
  total_ = total;
  per_example_ = per_example;
}

void Columns::sort(Control* control) {
  for (Column& column : columns_) {
    if (!column.numeric || !column.ranks.empty()) continue;
    if (control) {
      control->check(true, "sorting", 0, 0);
      control->check_memory(bytes() + 8 * n_rows_);
    }
    const std::vector<double>& values = column.values;
    column.order.reserve(n_rows_);
    for (std::uint32_t row = 0; row < n_rows_; ++row)
      if (!std::isnan(values[row])) column.order.push_back(row);
    std::size_t compared = 0;
    std::sort(column.order.begin(), column.order.end(), [&](std::uint32_t x, std::uint32_t y) {
      if ((++compared & 0xfffff) == 0 && control) control->check(true, "sorting", 0, 0);
      return values[x] != values[y] ? values[x] < values[y] : x < y;
    });
    column.ranks.assign(n_rows_, 0);
    std::uint32_t rank = 0;
    for (std::size_t i = 0; i < column.order.size(); ++i) {
      if (i > 0 && values[column.order[i]] != values[column.order[i - 1]]) ++rank;
      column.ranks[column.order[i]] = rank;
    }
  }
}

std::size_t Columns::bytes() const {
  std::size_t sum = classes_.size() * 4 + weights_.size() * 8;
  for (const Column& c : columns_)
    sum += c.codes.size() * 4 + c.values.size() * 8 + c.order.capacity() * 4 + c.ranks.size() * 4;
  return sum;
}

}  // namespace everytree::grow
