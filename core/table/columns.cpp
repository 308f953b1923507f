#include "table/columns.hpp"

#include <string>
#include <utility>

#include "common/errors.hpp"

namespace everytree {

Columns::Columns(std::vector<Column> columns, std::size_t n_tests) : columns_(std::move(columns)) {
  std::size_t at = 0;
  std::uint32_t place = 0;
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    const Column& c = columns_[k];
    const bool missing = c.missing != Column::kNone;
    if (c.begin != at || c.end < c.begin || (missing && c.missing != c.end))
      throw InvalidInput("the tests of column " + std::to_string(k) + " are not the next ones, in order");
    if (c.bins == 1) throw InvalidInput("a column is cut into at least 2 bins, or 0 for every cut");
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
