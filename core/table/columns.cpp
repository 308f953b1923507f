#include "table/columns.hpp"

#include <string>
#include <utility>

#include "common/errors.hpp"

namespace everytree {

Columns::Columns(std::vector<Column> columns, std::size_t n_tests, Uppers uppers)
    : columns_(std::move(columns)), uppers_(std::move(uppers)) {
  if (!uppers_.empty() && uppers_.size() != columns_.size())
    throw InvalidInput(std::to_string(uppers_.size()) + " tables of uppers for " + std::to_string(columns_.size()) +
                       " columns");
  std::size_t at = 0;
  std::uint32_t place = 0;
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    const Column& c = columns_[k];
    const bool missing = c.missing != Column::kNone;
    if (c.begin != at || c.end < c.begin || (missing && c.missing != c.end))
      throw InvalidInput("the tests of column " + std::to_string(k) + " are not the next ones, in order");
    if (c.bins == 1) throw InvalidInput("a column is cut into at least 2 bins, or 0 for every cut");
    const std::size_t n = c.n_codes(), given = uppers_.empty() ? 0 : uppers_[k].size();
    if (given != 0 && (given != n * n || c.kind != Column::Kind::ordered))
      throw InvalidInput("the uppers of column " + std::to_string(k) + " are not " + std::to_string(n) + " by " +
                         std::to_string(n) + " numbers of an ordered column");
    at = c.end + (missing ? 1 : 0);
    if (at > n_tests) throw InvalidInput("columns name more tests than the " + std::to_string(n_tests) + " there are");
    column_of_.insert(column_of_.end(), at - c.begin, static_cast<std::uint32_t>(k));
    place_.push_back(place);
    place += (c.n_codes() + 1 + 63) & ~std::uint32_t{63};
  }
  place_.push_back(place);
  if (!columns_.empty() && at != n_tests)
    throw InvalidInput("columns hold " + std::to_string(at) + " tests, and there are " + std::to_string(n_tests));
}

std::size_t Columns::bytes() const {
  std::size_t sum = 0;
  for (const auto& table : uppers_) sum += 2 * table.size();
  return sum;
}

std::uint32_t Columns::place_in(std::size_t k, const std::uint8_t* row) const {
  const Column& c = columns_[k];
  std::uint32_t holds = 0, first = c.end;
  for (std::uint32_t t = c.begin; t < c.end; ++t)
    if (row[t] != 0) {
      if (holds++ == 0) first = t;
    }
  const bool missing = c.missing != Column::kNone && row[c.missing] != 0;
  // Ordered: the tests that hold are the last ones. Nominal: one test holds.
  const bool good = missing ? holds == 0 : c.kind == Column::Kind::ordered ? holds == c.end - first : holds == 1;
  if (!good) throw InvalidInput("a row contradicts the kind of column " + std::to_string(k));
  return place_[k] + (missing ? c.n_codes() : first - c.begin);
}

}  // namespace everytree
