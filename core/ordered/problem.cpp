#include "ordered/problem.hpp"

#include <algorithm>
#include <string>

#include "common/errors.hpp"

namespace everytree::ordered {

namespace {
constexpr std::size_t kMostRanks = 1000000;  // of columns whose tests were made before: some may tell no rows apart
}

Problem::Problem(std::size_t rows, std::size_t columns, std::vector<std::uint32_t> all_ranks,
                 std::vector<std::uint16_t> row_classes, std::vector<std::int32_t> row_weights, std::size_t classes_,
                 std::vector<Value> all_costs, Value leaf_price, std::int64_t least)
    : n_rows(rows),
      n_columns(columns),
      n_classes(classes_),
      ranks(std::move(all_ranks)),
      n_ranks(columns, 0),
      classes(std::move(row_classes)),
      weights(std::move(row_weights)),
      costs(std::move(all_costs)),
      most(classes_, 0),
      price(leaf_price),
      min_leaf(least) {
  if (rows == 0) throw InvalidInput("a search over cut-points needs at least one row");
  if (rows >= (std::size_t{1} << 31)) throw InvalidInput("a search over cut-points takes fewer than 2^31 rows");
  if (ranks.size() != rows * columns || classes.size() != rows || weights.size() != rows)
    throw InvalidInput("ranks, classes and weights must have an entry for each row");
  if (costs.size() != classes_ * classes_) throw InvalidInput("costs must have a number for each class and label");
  if (min_leaf < 1) throw InvalidInput("min_leaf must be at least 1");
  if (price < 0) throw InvalidInput("the price of a leaf must not be negative");
  for (const std::uint16_t c : classes)
    if (c >= classes_) throw InvalidInput("a row has class " + std::to_string(c) + ", which is none");
  Value largest = price;
  for (std::size_t c = 0; c < classes_; ++c) {
    const auto [low, high] = std::minmax_element(costs.begin() + static_cast<std::ptrdiff_t>(c * classes_),
                                                 costs.begin() + static_cast<std::ptrdiff_t>((c + 1) * classes_));
    if (*low != 0) throw InvalidInput("the cheapest answer for a class must cost 0");
    most[c] = *high;
    largest = std::max(largest, *high);
  }
  std::int64_t total = 0;
  bool ones = true;
  for (const std::int32_t w : weights) {
    if (w < 1) throw InvalidInput("weights must be at least 1");
    total += w;
    ones = ones && w == 1;
  }
  if (total >= (std::int64_t{1} << 31)) throw InvalidInput("a search over cut-points takes fewer than 2^31 examples");
  if (total < min_leaf) throw InvalidInput("fewer examples than min_leaf: no tree exists; lower min_leaf");
  if (static_cast<double>(largest) * static_cast<double>(total) * 4 > static_cast<double>(kNever))
    throw InvalidInput("costs are too large to be added up exactly");
  bool same = classes_ > 1;
  for (std::size_t c = 0; c < classes_; ++c)
    for (std::size_t k = 0; k < classes_; ++k) same = same && costs[c * classes_ + k] == (c == k ? 0 : costs[1]);
  if (same) error = costs[1];
  if (ones) unit = error;

  order.resize(rows * columns);
  bool fits = true;
  std::vector<std::uint32_t> start;
  for (std::size_t f = 0; f < columns; ++f) {
    const std::uint32_t* rank = column(f);
    const std::uint32_t top = *std::max_element(rank, rank + rows);
    if (top >= std::max(rows, kMostRanks)) throw InvalidInput("ranks must be below the number of rows, or a million");
    n_ranks[f] = top + 1;
    fits = fits && top < 65536;
    start.assign(top + 2, 0);
    for (std::size_t r = 0; r < rows; ++r) ++start[rank[r] + 1];
    for (std::size_t k = 0; k <= top; ++k) start[k + 1] += start[k];
    std::uint32_t* to = order.data() + f * rows;
    for (std::size_t r = 0; r < rows; ++r) to[start[rank[r]]++] = static_cast<std::uint32_t>(r);
  }
  if (fits && columns > 0) {
    narrow.resize(rows * columns + 2);  // a gather reads two bytes more
    std::copy(ranks.begin(), ranks.end(), narrow.begin());
  }
}

}  // namespace everytree::ordered
