#include "grow/leaf_charge.hpp"

#include <algorithm>
#include <cmath>

namespace everytree::grow {

double LeafCharge::of_leaf(Scanner& scanner, std::span<const std::uint32_t> rows, std::size_t depth) const {
  if (!asks(depth)) return prior_.log_leaf(depth, !deep(depth));
  return prior_.log_leaf(depth, scanner.any_feasible(rows));
}

double LeafCharge::of_parts(Scanner& scanner, std::span<const std::uint32_t> rows, const Labels& labels,
                            std::size_t depth) {
  double sum = 0;
  for (std::uint32_t part = 0; part < labels.n_parts(); ++part) {
    rows_.clear();
    for (const std::uint32_t row : rows)
      if (labels.of_row[row] == part) rows_.push_back(row);
    sum += of_leaf(scanner, rows_, depth);
  }
  return sum;
}

void LeafCharge::add(Scanner& scanner, const View& view, std::size_t j, std::size_t depth, const Score& score,
                     bool as_open) {
  const double open = prior_.log_leaf(depth, !deep(depth)), closed = prior_.log_leaf(depth, false);
  if (scanner.n_tests() == 0 || (open == 0 && closed == 0)) return;
  const bool asking = !as_open && asks(depth);
  if (asking) {
    n_open_.assign(scanner.n_tests(), 0);
    if (columns_[j].numeric)
      cuts(scanner, view, j);
    else
      values(scanner, view, j);
  }
  scanner.adjust([&](std::size_t k) {
    const double n = scanner.branches_of(k), n_open = asking ? n_open_[k] : n;
    // One rounding per test, so that tests with the same branches stay tied.
    return std::llround((n_open * open + (n - n_open) * closed) / score.unit());
  });
}

// The first k < n with open(k), which stays true from there on; n if there is none.
template <class Open>
std::size_t LeafCharge::first_open(std::size_t n, Open open) {
  std::size_t low = 0, step = 1;  // nothing before `low` is open
  while (low < n && !open(std::min(low + step, n) - 1)) {
    low = std::min(low + step, n);
    step *= 2;
  }
  std::size_t high = std::min(low + step, n);  // open(high − 1), if there is any
  if (low >= n) return n;
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    if (open(middle - 1))
      high = middle;
    else
      low = middle;
  }
  return high - 1;
}

void LeafCharge::cuts(Scanner& scanner, const View& view, std::size_t j) {
  const std::span<const Record> sorted = view.sorted[j];
  const bool some_missing = sorted.size() < view.rows.size();
  std::size_t n_cuts = scanner.n_tests();
  const bool known_test = scanner.place(n_cuts - 1) == Scanner::kKnown;
  n_cuts -= known_test;
  const auto ask = [&](std::size_t from, std::size_t to) {
    rows_.clear();
    for (std::size_t i = from; i < to; ++i) rows_.push_back(sorted[i].row);
    return scanner.any_feasible(rows_);
  };
  const std::size_t lower = first_open(n_cuts, [&](std::size_t k) { return ask(0, scanner.place(k) + 1); });
  const std::size_t upper =
      first_open(n_cuts, [&](std::size_t k) { return ask(scanner.place(n_cuts - 1 - k) + 1, sorted.size()); });
  for (std::size_t k = 0; k < n_cuts; ++k) n_open_[k] = (k >= lower) + (n_cuts - 1 - k >= upper);
  if (!some_missing) return;
  rows_.clear();
  for (const std::uint32_t row : view.rows)
    if (std::isnan(columns_[j].values[row])) rows_.push_back(row);
  const bool missing_open = scanner.any_feasible(rows_);
  for (std::uint32_t& n : n_open_) n += missing_open;
  if (known_test) n_open_[n_cuts] += ask(0, sorted.size());
}

// Rows in the order of their values, missing ones last; a group per value that occurs.
void LeafCharge::values(Scanner& scanner, const View& view, std::size_t j) {
  const Column& column = columns_[j];
  const bool one_by_one = settings_.binary_nominal && column.n_values > 2;
  const auto code_of = [&](std::uint32_t row) {
    return column.codes[row] < 0 ? static_cast<std::uint32_t>(column.n_values)
                                 : static_cast<std::uint32_t>(column.codes[row]);
  };
  order_.assign(view.rows.begin(), view.rows.end());
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::uint32_t x, std::uint32_t y) { return code_of(x) < code_of(y); });
  begin_.clear();
  for (std::size_t i = 0; i < order_.size(); ++i)
    if (i == 0 || code_of(order_[i]) != code_of(order_[i - 1])) begin_.push_back(i);
  const std::size_t n_groups = begin_.size();
  begin_.push_back(order_.size());
  const auto group = [&](std::size_t g) {
    return std::span<const std::uint32_t>(order_.data() + begin_[g], begin_[g + 1] - begin_[g]);
  };
  const bool some_missing = code_of(order_.back()) == static_cast<std::uint32_t>(column.n_values);
  std::vector<char> open(n_groups, 0);
  std::size_t n_open = 0;
  for (std::size_t g = 0; g < n_groups; ++g) n_open += open[g] = scanner.any_feasible(group(g));
  if (!one_by_one) {
    n_open_[0] = static_cast<std::uint32_t>(n_open);
    return;
  }
  const std::size_t n_known = n_groups - some_missing;
  const std::size_t known_open = n_open - (some_missing && open[n_groups - 1]);
  for (std::size_t k = 0; k < scanner.n_tests(); ++k) {
    std::size_t g = 0;
    while (code_of(order_[begin_[g]]) != scanner.place(k)) ++g;
    n_open_[k] = open[g] + (some_missing && open[n_groups - 1]);
    if (n_known == 1) continue;
    // The others are open with any one of them.
    bool rest_open = known_open > static_cast<std::size_t>(open[g]);
    if (!rest_open) {
      rows_.assign(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(begin_[g]));
      rows_.insert(rows_.end(), order_.begin() + static_cast<std::ptrdiff_t>(begin_[g + 1]),
                   order_.begin() + static_cast<std::ptrdiff_t>(begin_[n_known]));
      rest_open = scanner.any_feasible(rows_);
    }
    n_open_[k] += rest_open;
  }
}

}  // namespace everytree::grow
