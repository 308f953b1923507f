#include "grow/view.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "grow/branch.hpp"

namespace everytree::grow {

namespace {

constexpr std::uint32_t kNoPart = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kFew = 64;  // records that are sorted faster by comparing

// By rank, then by row; the records come by row. Digit by digit, from the lowest: a sixth of the time of comparing at
// ten thousand records.
void by_rank(std::vector<Record>& records, std::uint32_t largest) {
  if (records.size() <= kFew) {
    std::sort(records.begin(), records.end(),
              [](const Record& x, const Record& y) { return x.rank != y.rank ? x.rank < y.rank : x.row < y.row; });
    return;
  }
  const int n_bits = std::bit_width(largest), n_passes = (n_bits + 10) / 11;
  if (n_passes == 0) return;
  const int width = (n_bits + n_passes - 1) / n_passes;
  const std::size_t n_digits = std::size_t{1} << width;
  std::vector<Record> sorted(records.size());
  std::vector<std::uint32_t> starts(n_digits);
  for (int shift = 0; shift < n_bits; shift += width) {
    const auto digit = [&](const Record& x) { return (x.rank >> shift) & (n_digits - 1); };
    std::fill(starts.begin(), starts.end(), 0);
    for (const Record& record : records) ++starts[digit(record)];
    std::uint32_t sum = 0;
    for (std::uint32_t& start : starts) sum += std::exchange(start, sum);
    for (const Record& record : records) sorted[starts[digit(record)]++] = record;
    records.swap(sorted);
  }
}

}  // namespace

std::size_t Storage::bytes() const {
  std::size_t sum = rows.capacity() * sizeof(rows[0]);
  for (const std::vector<Record>& column : sorted) sum += column.capacity() * sizeof(Record);
  return sum;
}

void sort_column(std::span<const std::uint32_t> rows, const Columns& columns, std::size_t j, std::vector<Record>& out) {
  const Column& column = columns[j];
  out.clear();
  out.reserve(rows.size());
  if (rows.size() == columns.n_rows()) {
    for (const std::uint32_t row : column.order) out.push_back({column.ranks[row], row});
    return;
  }
  for (const std::uint32_t row : rows)
    if (!std::isnan(column.values[row])) out.push_back({column.ranks[row], row});
  if (out.size() < 2) return;
  by_rank(out, column.order.empty() ? 0 : column.ranks[column.order.back()]);
}

std::size_t view_bytes(std::size_t n_rows, const Columns& columns) {
  std::size_t numeric = 0;
  for (std::size_t j = 0; j < columns.n_columns(); ++j) numeric += columns[j].numeric;
  return n_rows * (sizeof(std::uint32_t) + numeric * sizeof(Record));
}

View view_of(std::span<const std::uint32_t> rows, const Columns& columns, Storage& storage) {
  storage.rows.assign(rows.begin(), rows.end());
  storage.sorted.resize(columns.n_columns());
  View view;
  view.rows = storage.rows;
  view.sorted.resize(columns.n_columns());
  for (std::size_t j = 0; j < columns.n_columns(); ++j) {
    if (!columns[j].numeric) continue;
    sort_column(rows, columns, j, storage.sorted[j]);
    view.sorted[j] = storage.sorted[j];
  }
  return view;
}

Splitter::Splitter(const Columns& columns) : columns_(columns) { labels_.of_row.resize(columns.n_rows()); }

const Labels& Splitter::label(std::span<const std::uint32_t> rows, std::int32_t attribute, double threshold) {
  const Column& column = columns_[static_cast<std::size_t>(attribute)];
  const auto missing = static_cast<std::uint32_t>(n_branches(column, threshold));  // the last slot
  // No pass over all values: a node with few rows of a column with many values is labelled in the time of its rows.
  if (part_of_slot_.size() <= missing) part_of_slot_.resize(missing + std::size_t{1}, kNoPart);
  std::uint32_t* of_row = labels_.of_row.data();
  labels_.slot.clear();
  with_branch(column, threshold, [&](const auto& branch) {
    for (const std::uint32_t row : rows) {
      const std::int32_t k = branch(row);
      const std::uint32_t slot = of_row[row] = k < 0 ? missing : static_cast<std::uint32_t>(k);
      if (part_of_slot_[slot] != kNoPart) continue;
      part_of_slot_[slot] = 0;
      labels_.slot.push_back(slot);
    }
  });
  std::sort(labels_.slot.begin(), labels_.slot.end());
  for (std::size_t part = 0; part < labels_.n_parts(); ++part)
    part_of_slot_[labels_.slot[part]] = static_cast<std::uint32_t>(part);
  labels_.size.assign(labels_.n_parts(), 0);
  for (const std::uint32_t row : rows) {
    of_row[row] = part_of_slot_[of_row[row]];
    ++labels_.size[of_row[row]];
  }
  for (const std::uint32_t slot : labels_.slot) part_of_slot_[slot] = kNoPart;
  return labels_;
}

// Into consecutive parts, each in the old order; starts[p] is where part p begins, starts[n_parts] the end.
template <class T>
void Splitter::scatter(std::span<const T> from, T* to, std::vector<std::size_t>& starts) const {
  const std::uint32_t* of_row = labels_.of_row.data();
  const auto part = [&](const T& x) {
    if constexpr (std::is_same_v<T, Record>)
      return of_row[x.row];
    else
      return of_row[x];
  };
  const std::size_t n_parts = labels_.n_parts();
  starts.assign(n_parts + 1, 0);
  if (n_parts == 2) {  // cuts: no counting pass, the second part is written from the end and turned round
    std::size_t low = 0, high = from.size();
    for (const T& x : from) {
      const std::size_t second = part(x);  // without a branch: which side a row takes cannot be foreseen
      to[second ? high - 1 : low] = x;
      low += 1 - second;
      high -= second;
    }
    std::reverse(to + high, to + from.size());
    starts[1] = low;
    starts[2] = from.size();
    return;
  }
  for (const T& x : from) ++starts[part(x) + 1];
  for (std::size_t p = 0; p < n_parts; ++p) starts[p + 1] += starts[p];
  std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
  for (const T& x : from) to[next[part(x)]++] = x;
}

std::vector<View> Splitter::split(View& view) {
  std::vector<View> parts(labels_.n_parts());
  std::vector<std::size_t> starts;
  rows_.resize(view.rows.size());
  scatter<std::uint32_t>(view.rows, rows_.data(), starts);
  std::copy(rows_.begin(), rows_.end(), view.rows.begin());
  for (std::size_t p = 0; p < parts.size(); ++p) {
    parts[p].rows = view.rows.subspan(starts[p], starts[p + 1] - starts[p]);
    parts[p].sorted.resize(view.sorted.size());
  }
  for (std::size_t j = 0; j < view.sorted.size(); ++j) {
    std::span<Record> column = view.sorted[j];
    if (column.empty()) continue;
    records_.resize(std::max(records_.size(), column.size()));
    scatter<Record>(column, records_.data(), starts);
    std::copy(records_.begin(), records_.begin() + static_cast<std::ptrdiff_t>(column.size()), column.begin());
    for (std::size_t p = 0; p < parts.size(); ++p)
      parts[p].sorted[j] = column.subspan(starts[p], starts[p + 1] - starts[p]);
  }
  return parts;
}

std::vector<View> Splitter::split(const View& view, Storage& storage) {
  std::vector<View> parts(labels_.n_parts());
  std::vector<std::size_t> starts;
  storage.rows.resize(view.rows.size());
  scatter<std::uint32_t>(view.rows, storage.rows.data(), starts);
  const std::span<std::uint32_t> rows(storage.rows);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    parts[p].rows = rows.subspan(starts[p], starts[p + 1] - starts[p]);
    parts[p].sorted.resize(view.sorted.size());
  }
  storage.sorted.resize(view.sorted.size());
  for (std::size_t j = 0; j < view.sorted.size(); ++j) {
    storage.sorted[j].resize(view.sorted[j].size());
    if (view.sorted[j].empty()) continue;
    scatter<Record>(view.sorted[j], storage.sorted[j].data(), starts);
    const std::span<Record> column(storage.sorted[j]);
    for (std::size_t p = 0; p < parts.size(); ++p)
      parts[p].sorted[j] = column.subspan(starts[p], starts[p + 1] - starts[p]);
  }
  return parts;
}

}  // namespace everytree::grow
