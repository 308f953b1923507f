#include "grow/scan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "common/errors.hpp"
#include "grow/branch.hpp"

namespace everytree::grow {

Scanner::Scanner(const Columns& columns, std::int64_t min_leaf, bool binary_nominal)
    : columns_(columns), min_leaf_(min_leaf), binary_nominal_(binary_nominal) {
  if (columns.n_classes() > std::numeric_limits<std::uint16_t>::max())
    throw InvalidInput("more than 65,535 classes; these growers are made for fewer");
  classes_.assign(columns.classes().begin(), columns.classes().end());  // narrow: the hot array of every scan
  const std::vector<std::int64_t>& weights = columns.weights();
  weighted_ = std::any_of(weights.begin(), weights.end(), [](std::int64_t w) { return w != 1; });
}

void Scanner::count(std::span<const std::uint32_t> rows, std::vector<std::int64_t>& counts) const {
  counts.assign(columns_.n_classes(), 0);
  for (const std::uint32_t row : rows) counts[classes_[row]] += weight(row);
}

void Scanner::scan(const View& view, const std::int64_t* counts, std::size_t column, const Score& score) {
  scores_.clear();
  where_.clear();
  n_branches_.clear();
  if (!columns_[column].numeric) return values(view.rows, counts, column, score);
  const std::span<const Record> sorted = view.sorted[column];
  const bool some_missing = sorted.size() < view.rows.size();
  if (sorted.empty() || (!some_missing && sorted.front().rank == sorted.back().rank)) return;
  if (weighted_)
    cuts<true>(sorted, some_missing, counts, score);
  else
    cuts<false>(sorted, some_missing, counts, score);
}

template <bool kWeighted>
void Scanner::cuts(std::span<const Record> sorted, bool some_missing, const std::int64_t* counts, const Score& score) {
  const std::size_t n_classes = columns_.n_classes();
  left_.assign(n_classes, 0);
  right_.assign(counts, counts + n_classes);
  std::int64_t of_missing = 0, n_missing = 0;
  if (some_missing) {
    missing_.assign(counts, counts + n_classes);
    for (const Record& record : sorted) missing_[classes_[record.row]] -= weight(record.row);
    for (std::size_t c = 0; c < n_classes; ++c) {
      right_[c] -= missing_[c];
      n_missing += missing_[c];
    }
    of_missing = score(missing_.data());
  }
  ups_.resize(n_classes);
  std::int64_t sum_left = 0, sum_right = 0, n_left = 0, n_right = 0;
  for (std::size_t c = 0; c < n_classes; ++c) {
    ups_[c] = &score.up(c);
    sum_right += (*ups_[c])(right_[c]);
    n_right += right_[c];
  }
  const Climb& total = score.total();
  const std::int64_t known_or_missing = of_missing + sum_right - total(n_right);
  const bool known_test = some_missing && enough(n_right, 0, n_missing);  // the cut beyond every value
  const std::size_t last = sorted.size() - 1;
  const std::uint16_t* classes = classes_.data();
  for (std::size_t i = 0; i < last; ++i) {
    const std::uint32_t row = sorted[i].row;
    const std::size_t c = classes[row];
    const std::int64_t w = kWeighted ? weight(row) : 1;
    const Climb& up = *ups_[c];
    const std::int64_t l = left_[c], r = right_[c];
    sum_left += up(l + w) - up(l);
    sum_right += up(r - w) - up(r);
    left_[c] = l + w;
    right_[c] = r - w;
    n_left += w;
    n_right -= w;
    if (sorted[i].rank != sorted[i + 1].rank && enough(n_left, n_right, n_missing))
      add(of_missing + sum_left - total(n_left) + sum_right - total(n_right), static_cast<std::uint32_t>(i),
          2 + some_missing);
  }
  if (known_test) add(known_or_missing, kKnown, 2);
}

// Class counts of every value that occurs, in the order of the codes: f(code, counts of its classes, n), with the
// classes that it has in touched_. Missing comes last, as code n_values. Cells are counted in a matrix, or, where that
// would be much larger than the node, rows are sorted by value: the work is that of the rows, however many values and
// classes.
void Scanner::values(std::span<const std::uint32_t> rows, const std::int64_t* counts, std::size_t j,
                     const Score& score) {
  const Column& column = columns_[j];
  const std::size_t n_classes = columns_.n_classes(), n_values = static_cast<std::size_t>(column.n_values);
  const std::size_t n_cells = (n_values + 1) * n_classes;
  const auto value_of = [&](std::uint32_t row) {
    return column.codes[row] < 0 ? n_values : static_cast<std::size_t>(column.codes[row]);
  };
  const bool one_by_one = binary_nominal_ && n_values > 2;
  std::int64_t sum = 0, n_missing = 0, of_missing = 0;
  std::size_t n_branches = 0, n_enough = 0;
  // A value and its class counts, once as a branch of the multiway test, once more as a test of its own.
  std::vector<std::int64_t>& value_counts = left_;
  value_counts.assign(n_classes, 0);
  const auto for_each_value = [&](auto f) {
    if (n_cells <= 4 * rows.size() + 64) {
      cells_.assign(n_cells, 0);
      for (const std::uint32_t row : rows) cells_[value_of(row) * n_classes + classes_[row]] += weight(row);
      for (std::size_t value = 0; value <= n_values; ++value) {
        const std::int64_t* here = cells_.data() + value * n_classes;
        std::int64_t n = 0;
        touched_.clear();
        for (std::size_t c = 0; c < n_classes; ++c)
          if (here[c] > 0) {
            n += here[c];
            touched_.push_back(static_cast<std::uint16_t>(c));
          }
        if (n > 0) f(value, here, n);
      }
      return;
    }
    keys_.clear();
    for (const std::uint32_t row : rows) keys_.push_back(static_cast<std::uint64_t>(value_of(row)) << 32 | row);
    std::sort(keys_.begin(), keys_.end());
    for (std::size_t i = 0; i < keys_.size();) {
      const std::uint64_t value = keys_[i] >> 32;
      touched_.clear();
      std::int64_t n = 0;
      for (; i < keys_.size() && keys_[i] >> 32 == value; ++i) {
        const auto row = static_cast<std::uint32_t>(keys_[i]);
        if (value_counts[classes_[row]] == 0) touched_.push_back(classes_[row]);
        value_counts[classes_[row]] += weight(row);
        n += weight(row);
      }
      f(static_cast<std::size_t>(value), value_counts.data(), n);
      for (const std::uint16_t c : touched_) value_counts[c] = 0;
    }
  };
  const auto score_of_value = [&](const std::int64_t* here, std::int64_t n) {
    std::int64_t score_here = -score.total()(n);
    for (const std::uint16_t c : touched_) score_here += score.up(c)(here[c]);
    return score_here;
  };
  if (!one_by_one) {
    for_each_value([&](std::size_t, const std::int64_t* here, std::int64_t n) {
      sum += score_of_value(here, n);
      ++n_branches;
      n_enough += n >= min_leaf_;
    });
    if (n_branches >= 2 && n_enough >= 2) add(sum, 0, n_branches);
    return;
  }
  right_.assign(counts, counts + n_classes);  // the examples with a known value
  std::int64_t n_known = std::accumulate(counts, counts + n_classes, std::int64_t{0});
  for (const std::uint32_t row : rows)
    if (column.codes[row] < 0) {
      right_[classes_[row]] -= weight(row);
      n_missing += weight(row);
    }
  n_known -= n_missing;
  if (n_missing > 0) {
    missing_.assign(counts, counts + n_classes);
    for (std::size_t c = 0; c < n_classes; ++c) missing_[c] -= right_[c];
    of_missing = score(missing_.data());
  }
  std::int64_t of_known = 0;  // without the total
  for (std::size_t c = 0; c < n_classes; ++c) of_known += score.up(c)(right_[c]);
  for_each_value([&](std::size_t value, const std::int64_t* here, std::int64_t n) {
    if (value == n_values || !enough(n, n_known - n, n_missing)) return;
    std::int64_t rest = of_known;
    for (const std::uint16_t c : touched_) rest += score.up(c)(right_[c] - here[c]) - score.up(c)(right_[c]);
    add(score_of_value(here, n) + rest - score.total()(n_known - n) + of_missing, static_cast<std::uint32_t>(value),
        1 + (n_known > n) + (n_missing > 0));
  });
}

std::size_t Scanner::first_best(std::int64_t tie) const {
  std::size_t k = 0;
  while (scores_[k] < best_ - tie) ++k;
  return k;
}

double Scanner::threshold(const View& view, std::size_t j, std::size_t test) const {
  const Column& column = columns_[j];
  if (!column.numeric)
    return binary_nominal_ && column.n_values > 2 ? static_cast<double>(where_[test])
                                                  : std::numeric_limits<double>::quiet_NaN();
  if (where_[test] == kKnown) return std::numeric_limits<double>::infinity();
  const double low = column.values[view.sorted[j][where_[test]].row];
  const double high = column.values[view.sorted[j][where_[test] + 1].row];
  const double middle = low / 2 + high / 2;  // in halves: the sum of two large values may be infinite
  return middle >= low && middle < high ? middle : low;
}

std::int64_t Scanner::score_of(std::span<const std::uint32_t> rows, std::size_t j, double threshold,
                               const Score& score) {
  const Column& column = columns_[j];
  const std::size_t n_classes = columns_.n_classes();
  const std::size_t missing = n_branches(column, threshold);  // the last slot
  cells_.assign((missing + 1) * n_classes, 0);
  with_branch(column, threshold, [&](const auto& branch) {
    for (const std::uint32_t row : rows) {
      const std::int32_t k = branch(row);
      cells_[(k < 0 ? missing : static_cast<std::size_t>(k)) * n_classes + classes_[row]] += weight(row);
    }
  });
  std::int64_t sum = 0;
  for (std::size_t slot = 0; slot <= missing; ++slot) sum += score(cells_.data() + slot * n_classes);
  return sum;
}

bool Scanner::feasible(std::span<const std::uint32_t> rows, std::size_t j) {
  const Column& column = columns_[j];
  if (rows.size() < 2) return false;
  if (!column.numeric) {
    const bool one_by_one = binary_nominal_ && column.n_values > 2;
    const auto n_values = static_cast<std::size_t>(column.n_values);
    if (n_values > 4 * rows.size() + 64) return feasible_among_many(rows, column, one_by_one);
    sizes_.assign(n_values + 1, 0);
    std::int64_t known = 0;
    for (const std::uint32_t row : rows) {
      sizes_[column.codes[row] < 0 ? n_values : static_cast<std::size_t>(column.codes[row])] += weight(row);
      known += column.codes[row] < 0 ? 0 : weight(row);
    }
    if (!one_by_one)
      return std::count_if(sizes_.begin(), sizes_.end(), [&](std::int64_t n) { return n >= min_leaf_; }) >= 2;
    for (std::size_t value = 0; value < n_values; ++value)
      if (sizes_[value] > 0 && enough(sizes_[value], known - sizes_[value], sizes_[n_values])) return true;
    return false;
  }
  // min_leaf 1: two different values, or one known and one missing.
  std::int64_t n_missing = 0, known = 0;
  const double first = column.values[rows[0]];
  for (const std::uint32_t row : rows) {
    const double value = column.values[row];
    if (min_leaf_ == 1 && std::isnan(value) != std::isnan(first)) return true;
    if (min_leaf_ == 1 && value != first && !std::isnan(first)) return true;
    (std::isnan(value) ? n_missing : known) += weight(row);
  }
  if (min_leaf_ == 1 || known == 0) return false;
  if (n_missing >= min_leaf_ && known >= min_leaf_) return true;
  // Most columns have a cut at one of a few values taken from the rows themselves; only the others are sorted.
  for (const std::size_t quarter : {2, 1, 3}) {
    const double at = column.values[rows[rows.size() * quarter / 4]];
    std::int64_t below = 0;
    for (const std::uint32_t row : rows)
      if (column.values[row] <= at) below += weight(row);
    if (below < known && enough(below, known - below, n_missing)) return true;
  }
  keys_.clear();
  for (const std::uint32_t row : rows)
    if (!std::isnan(column.values[row])) keys_.push_back(static_cast<std::uint64_t>(column.ranks[row]) << 32 | row);
  std::sort(keys_.begin(), keys_.end());
  std::int64_t below = 0;
  for (std::size_t i = 0; i + 1 < keys_.size(); ++i) {
    below += weight(static_cast<std::uint32_t>(keys_[i]));
    if (keys_[i] >> 32 != keys_[i + 1] >> 32 && enough(below, known - below, n_missing)) return true;
  }
  return false;
}

// The same for a nominal column with far more values than rows, in the time of the rows.
bool Scanner::feasible_among_many(std::span<const std::uint32_t> rows, const Column& column, bool one_by_one) {
  std::int64_t known = 0, n_missing = 0;
  keys_.clear();
  for (const std::uint32_t row : rows) {
    if (column.codes[row] < 0) {
      n_missing += weight(row);
      continue;
    }
    known += weight(row);
    keys_.push_back(static_cast<std::uint64_t>(column.codes[row]) << 32 | row);
  }
  std::sort(keys_.begin(), keys_.end());
  int n_enough = n_missing >= min_leaf_;
  for (std::size_t i = 0; i < keys_.size();) {
    const std::uint64_t value = keys_[i] >> 32;
    std::int64_t n = 0;
    for (; i < keys_.size() && keys_[i] >> 32 == value; ++i) n += weight(static_cast<std::uint32_t>(keys_[i]));
    n_enough += n >= min_leaf_;
    if (one_by_one ? enough(n, known - n, n_missing) : n_enough >= 2) return true;
  }
  return false;
}

bool Scanner::any_feasible(std::span<const std::uint32_t> rows) {
  std::int64_t n = 0;
  for (const std::uint32_t row : rows) {
    n += weight(row);
    if (n >= 2 * min_leaf_) break;
  }
  if (n < 2 * min_leaf_) return false;
  for (std::size_t j = 0; j < columns_.n_columns(); ++j)
    if (feasible(rows, j)) return true;
  return false;
}

}  // namespace everytree::grow
