#include "search/spread.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace everytree {

namespace {

constexpr std::size_t kWork = std::size_t{1} << 21;  // steps between two looks at the clock

// The examples of the table, one row of bits (over the tests) each.
struct Examples {
  std::size_t words = 0;
  std::vector<std::uint64_t> bits;
  std::vector<std::uint32_t> cls;
  std::size_t size() const { return cls.size(); }
  const std::uint64_t* row(std::size_t k) const { return bits.data() + k * words; }
};

// f(section, bits over the tests) for every row of the table, until f returns false.
template <class F>
void for_each_row(const CountTable& table, Control& control, F&& f) {
  std::vector<std::uint64_t> row((table.n_tests() + 63) / 64);
  std::size_t work = 0;
  for (const Section& s : table.sections())
    for (std::uint32_t w = s.begin; w < s.end; ++w)
      for (std::uint64_t rest = table.all()[w]; rest != 0; rest &= rest - 1) {
        const int b = std::countr_zero(rest);
        if ((work += table.n_tests()) > kWork) {
          work = 0;
          control.check(true, "measuring distances", 0, 0);
        }
        std::fill(row.begin(), row.end(), 0);
        for (std::size_t t = 0; t < table.n_tests(); ++t) row[t / 64] |= (table.column(t)[w] >> b & 1) << (t % 64);
        if (!f(s, row)) return;
      }
}

Examples examples_of(const CountTable& table, std::int32_t most_copies, std::size_t enough, Control& control) {
  Examples out;
  out.words = (table.n_tests() + 63) / 64;
  for_each_row(table, control, [&](const Section& s, const auto& row) {
    for (std::int32_t copy = 0; copy < std::min(s.multiplicity(), most_copies); ++copy) {
      out.bits.insert(out.bits.end(), row.begin(), row.end());
      out.cls.push_back(s.cls);
    }
    return out.size() <= enough;
  });
  return out;
}

// The largest number of examples with the same row.
std::int32_t largest_group(const CountTable& table, Control& control) {
  const std::size_t words = (table.n_tests() + 63) / 64;
  std::size_t n = 0;
  for (const std::uint64_t w : table.all()) n += static_cast<std::size_t>(std::popcount(w));
  control.check_memory(n * (8 * words + 4 + 4));
  std::vector<std::uint64_t> bits;
  std::vector<std::int32_t> copies;
  std::vector<std::uint32_t> order(n);
  bits.reserve(n * words);
  copies.reserve(n);
  for_each_row(table, control, [&](const Section& s, const auto& row) {
    bits.insert(bits.end(), row.begin(), row.end());
    copies.push_back(s.multiplicity());
    return true;
  });
  const auto row = [&](std::uint32_t k) { return bits.data() + k * words; };
  std::iota(order.begin(), order.end(), 0u);
  std::size_t work = 0;
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if ((++work & 0xffff) == 0) control.check(true, "measuring distances", 0, 0);
    return std::lexicographical_compare(row(a), row(a) + words, row(b), row(b) + words);
  });
  std::int32_t most = 0, here = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const bool same = k > 0 && std::equal(row(order[k]), row(order[k]) + words, row(order[k - 1]));
    here = (same ? here : 0) + copies[order[k]];
    most = std::max(most, here);
  }
  return most;
}

}  // namespace

Spread::Spread(const CountTable& table, Control& control) : n_classes_(table.n_classes()) {
  most_alike_ = largest_group(table, control);
  if (table.local()) return;
  const Examples examples = examples_of(table, kMost, kMaxExamples, control);
  const std::size_t n = examples.size(), groups = n_classes_ == 2 ? 2 : 1;
  if (n > kMaxExamples) return;
  constexpr std::size_t width = kMost + 1;
  // sum[g][r * width + k]: distances from example r to its k nearest others of group g; far: to the k-th of them.
  std::vector<std::int32_t> sum[2], far[2];
  std::vector<std::int32_t> histogram;
  for (std::size_t g = 0; g < groups; ++g) {
    sum[g].assign(n * width, 1 << 28);
    far[g].assign(n * width, 1 << 28);
  }
  for (std::size_t r = 0; r < n; ++r) {
    control.check(true, "measuring distances", r, n);
    histogram.assign(groups * (table.n_tests() + 1), 0);
    for (std::size_t q = 0; q < n; ++q) {
      if (q == r) continue;
      std::size_t distance = 0;
      for (std::size_t w = 0; w < examples.words; ++w)
        distance += static_cast<std::size_t>(std::popcount(examples.row(r)[w] ^ examples.row(q)[w]));
      ++histogram[(groups == 2 ? examples.cls[q] : 0) * (table.n_tests() + 1) + distance];
    }
    for (std::size_t g = 0; g < groups; ++g) {
      std::int32_t* s = sum[g].data() + r * width;
      std::int32_t* f = far[g].data() + r * width;
      s[0] = f[0] = 0;
      std::size_t k = 1;
      for (std::size_t d = 0; d <= table.n_tests() && k < width; ++d)
        for (std::int32_t left = histogram[g * (table.n_tests() + 1) + d]; left > 0 && k < width; --left, ++k) {
          s[k] = s[k - 1] + static_cast<std::int32_t>(d);
          f[k] = static_cast<std::int32_t>(d);
        }
    }
  }
  std::vector<std::int32_t> key;
  // Of the examples of class c: the `take` smallest of value(r), as their sum, and the largest of them.
  const auto smallest = [&](std::size_t c, std::int32_t take, const auto& value, std::int64_t& total,
                            std::int32_t& largest) {
    key.clear();
    for (std::size_t r = 0; r < n; ++r)
      if (groups == 1 || examples.cls[r] == c) key.push_back(value(r));
    total = 0;
    largest = 0;
    if (take == 0 || static_cast<std::size_t>(take) > key.size()) return take == 0;
    std::nth_element(key.begin(), key.begin() + (take - 1), key.end());
    for (std::int32_t k = 0; k < take; ++k) total += key[static_cast<std::size_t>(k)];
    largest = key[static_cast<std::size_t>(take - 1)];
    return true;
  };
  const std::int32_t rows = groups == 2 ? kMost + 1 : 1;
  table_.assign(static_cast<std::size_t>(rows) * width, 0);
  for (std::int32_t n0 = 0; n0 < rows; ++n0)
    for (std::int32_t n1 = 0; n1 <= kMost; ++n1) {
      control.check(true, "measuring distances", n, n);
      const std::int32_t of[2] = {groups == 2 ? n0 : n1, n1};
      const std::int64_t all = groups == 2 ? n0 + n1 : n1;
      std::int32_t& least = table_[static_cast<std::size_t>(n0) * width + static_cast<std::size_t>(n1)];
      if (all < 2) continue;
      std::int64_t twice = 0;
      bool possible = true;
      for (std::size_t c = 0; c < groups && possible; ++c) {
        std::int64_t total = 0;
        std::int32_t largest = 0;
        const std::int32_t same = of[c] - 1, other = groups == 2 ? of[1 - c] : 0;
        if (of[c] == 0) continue;
        possible = smallest(
            c, of[c],
            [&](std::size_t r) {
              return sum[c][r * width + static_cast<std::size_t>(same)] +
                     (groups == 2 ? sum[1 - c][r * width + static_cast<std::size_t>(other)] : 0);
            },
            total, largest);
        twice += total;
        possible = possible &&
                   smallest(
                       c, of[c],
                       [&](std::size_t r) {
                         return std::max(far[c][r * width + static_cast<std::size_t>(same)],
                                         groups == 2 ? far[1 - c][r * width + static_cast<std::size_t>(other)] : 0);
                       },
                       total, largest);
        least = std::max(least, largest);
      }
      if (!possible) {  // there are not so many examples: nothing asks
        least = 0;
        continue;
      }
      const std::int64_t quarter = (all * all) / 4;
      least = std::max<std::int32_t>(least, static_cast<std::int32_t>((twice / 2 + quarter - 1) / quarter));
      if (all > most_alike_) least = std::max(least, 1);
    }
}

std::int32_t Spread::least(const std::int32_t* counts, std::size_t n_classes) const {
  std::int64_t total = 0;
  for (std::size_t c = 0; c < n_classes; ++c) total += counts[c];
  if (table_.empty()) return any(total);
  constexpr std::size_t width = kMost + 1;
  const std::size_t k = n_classes_ == 2 ? static_cast<std::size_t>(std::min(counts[0], kMost)) * width +
                                              static_cast<std::size_t>(std::min(counts[1], kMost))
                                        : static_cast<std::size_t>(std::min<std::int64_t>(total, kMost));
  return std::max(any(total), table_[k]);
}

std::int32_t Spread::least(std::size_t c, std::int32_t n) const {
  if (table_.empty()) return any(n);
  const auto k = static_cast<std::size_t>(std::min(n, kMost));
  return std::max(any(n), table_[n_classes_ == 2 && c == 0 ? k * (kMost + 1) : k]);
}

}  // namespace everytree
