#include "table/count_table.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "common/errors.hpp"

namespace everytree {

namespace {
constexpr std::size_t kWork = std::size_t{1} << 22;  // steps between two looks at the limits
}

std::uint64_t hash_words(const std::uint64_t* words, std::size_t n, std::uint64_t seed) {
  // Multiply–xor mixing, two lanes so that the multiplications overlap. Equality is always proved afterwards, so
  // the hash only has to be quick and well spread.
  std::uint64_t a = seed ^ 0x9e3779b97f4a7c15ULL, b = seed + 0xd1b54a32d192ed03ULL;
  std::size_t k = 0;
  for (; k + 1 < n; k += 2) {
    a = (a ^ words[k]) * 0xff51afd7ed558ccdULL;
    b = (b ^ words[k + 1]) * 0xc4ceb9fe1a85ec53ULL;
    a ^= a >> 32;
    b ^= b >> 29;
  }
  if (k < n) a = (a ^ words[k]) * 0xff51afd7ed558ccdULL;
  a ^= std::rotl(b, 23);
  a ^= a >> 33;
  a *= 0x9fb21c651e98df25ULL;
  return a ^ (a >> 31);
}

CountTable::CountTable(const std::uint8_t* rows, const std::int64_t* counts, std::size_t n_rows, std::size_t n_tests,
                       std::size_t n_classes, Control* control, Columns columns)
    : n_tests_(n_tests), n_classes_(n_classes), by_column_(std::move(columns)) {
  if (n_rows >= 0xffffffffu) throw InvalidInput("the table has more than 4·10^9 rows");
  if (n_classes == 0) throw InvalidInput("the table has no classes; expected at least one");
  std::size_t work = 0;
  const auto tick = [&](std::size_t more) {
    if (control == nullptr || (work += more) < kWork) return;
    work = 0;
    control->check(true, "reading the table", 0, 0);
  };
  std::size_t n_slots = 0;
  std::vector<std::vector<std::uint32_t>> slots;  // rows of each section, in order
  // The rows of each class, in order: the counts lie row by row, and most of many classes are 0.
  std::vector<std::vector<std::uint32_t>> rows_of(n_classes);
  for (std::size_t r = 0; r < n_rows; ++r) {
    tick(n_classes);
    for (std::size_t c = 0; c < n_classes; ++c) {
      const std::int64_t n = counts[r * n_classes + c];
      if (n == 0) continue;
      if (n < 0) throw InvalidInput("a class count is " + std::to_string(n) + "; counts must not be negative");
      if (n > kMaxTotal - total_)
        throw InvalidInput("the table holds more than " + std::to_string(kMaxTotal) +
                           " examples; divide the weights by a common factor");
      total_ += n;
      rows_of[c].push_back(static_cast<std::uint32_t>(r));
    }
  }
  for (std::size_t c = 0; c < n_classes; ++c) {
    std::uint64_t used = 0;
    for (const std::uint32_t r : rows_of[c]) used |= static_cast<std::uint64_t>(counts[r * n_classes + c]);
    for (int b = 0; b < 32; ++b) {
      if (!(used >> b & 1)) continue;
      std::vector<std::uint32_t> rows_here;
      for (const std::uint32_t r : rows_of[c])
        if (counts[r * n_classes + c] >> b & 1) rows_here.push_back(r);
      n_slots += rows_here.size();
      tick(rows_of[c].size());
      const std::size_t words = (rows_here.size() + 63) / 64;
      sections_.push_back({static_cast<std::uint32_t>(n_words_), static_cast<std::uint32_t>(n_words_ + words),
                           static_cast<std::uint32_t>(c), static_cast<std::uint8_t>(b), 0});
      n_words_ += words;
      slots.push_back(std::move(rows_here));
    }
    rows_of[c] = {};
  }
  // The columns; where each row stands; and below its number among the distinct rows, with their classes.
  if (control != nullptr)
    control->check_memory((n_tests + 2) * n_words_ * 8 + 4 * n_slots + 4 * std::bit_ceil(2 * n_rows + 1) +
                          n_rows * (4 + 8 * n_classes) + 4 * (64 * n_words_ + n_rows) * by_column_.size());
  columns_.assign(n_tests * n_words_, 0);
  all_.assign(n_words_, 0);
  // The words of all tests for 64 rows, one row after the other; then each to its column: with thousands of tests the
  // columns are far apart, and this goes there once for 64 rows.
  std::vector<std::uint64_t> words(n_tests);
  for (std::size_t s = 0; s < sections_.size(); ++s) {
    for (std::size_t k = 0; k < slots[s].size(); ++k) {
      const std::size_t word = sections_[s].begin + k / 64;
      all_[word] |= std::uint64_t{1} << (k % 64);
      const std::uint8_t* row = rows + std::size_t{slots[s][k]} * n_tests;
      for (std::size_t t = 0; t < n_tests; ++t) words[t] |= static_cast<std::uint64_t>(row[t] != 0) << (k % 64);
      tick(n_tests);
      if (k % 64 != 63 && k + 1 != slots[s].size()) continue;
      for (std::size_t t = 0; t < n_tests; ++t) columns_[t * n_words_ + word] = words[t];
      std::fill(words.begin(), words.end(), 0);
    }
  }
  if (local()) {
    const std::size_t n_columns = by_column_.size();
    std::vector<std::uint32_t> of_row(n_rows * n_columns);
    for (std::size_t r = 0; r < n_rows; ++r) {
      tick(n_tests);
      for (std::size_t k = 0; k < n_columns; ++k)
        of_row[r * n_columns + k] = by_column_.place_in(k, rows + r * n_tests);
    }
    places_.assign(64 * n_words_ * n_columns, 0);
    for (std::size_t s = 0; s < sections_.size(); ++s)
      for (std::size_t k = 0; k < slots[s].size(); ++k)
        std::copy_n(of_row.data() + slots[s][k] * n_columns, n_columns,
                    places_.data() + (64 * std::size_t{sections_[s].begin} + k) * n_columns);
    // Which tests coincide depends on what a state offers: none are put together for the whole table.
    for (std::uint32_t t = 0; t < n_tests; ++t) test_classes_.push_back({t, {t << 1}});
  } else {
    group_tests(control);
  }

  // Examples that no tree can get right beside their equals: all but the largest class of every distinct row. Equal
  // rows are found by hash and proved equal: open addressing, row + 1, or 0.
  std::vector<std::uint32_t> first(std::bit_ceil(2 * n_rows + 1), 0), number_of(n_rows);
  std::uint32_t n_distinct = 0;
  const auto row = [&](std::size_t r) {
    return std::string_view(reinterpret_cast<const char*>(rows + r * n_tests), n_tests);
  };
  for (std::size_t r = 0; r < n_rows; ++r) {
    tick(64 + n_tests / 8);
    std::size_t k = std::hash<std::string_view>()(row(r)) & (first.size() - 1);
    while (first[k] != 0 && row(first[k] - 1) != row(r)) k = (k + 1) & (first.size() - 1);
    if (first[k] == 0) {
      first[k] = static_cast<std::uint32_t>(r) + 1;
      number_of[r] = n_distinct++;
    } else {
      number_of[r] = number_of[first[k] - 1];
    }
  }
  std::vector<std::int64_t> sums(n_distinct * n_classes, 0);
  for (std::size_t r = 0; r < n_rows; ++r) {
    tick(n_classes);
    for (std::size_t c = 0; c < n_classes; ++c) sums[number_of[r] * n_classes + c] += counts[r * n_classes + c];
  }
  std::vector<std::uint32_t> largest(n_distinct);
  for (std::size_t d = 0; d < n_distinct; ++d) {
    tick(n_classes);
    const std::int64_t* sum = sums.data() + d * n_classes;
    largest[d] = static_cast<std::uint32_t>(std::max_element(sum, sum + n_classes) - sum);
  }
  outvoted_.assign(n_words_, 0);
  for (std::size_t s = 0; s < sections_.size(); ++s) {
    tick(slots[s].size());
    for (std::size_t k = 0; k < slots[s].size(); ++k)
      if (largest[number_of[slots[s][k]]] != sections_[s].cls)
        outvoted_[sections_[s].begin + k / 64] |= std::uint64_t{1} << (k % 64);
  }
}

void CountTable::group_tests(Control* control) {
  std::size_t work = 0;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash;  // hash of the canonical column -> class
  std::vector<std::uint64_t> canonical(n_words_);
  std::vector<std::uint8_t> class_flipped;
  for (std::uint32_t t = 0; t < n_tests_; ++t) {
    const std::uint64_t* c = column(t);
    if (control != nullptr && (work += n_words_) > kWork) {
      work = 0;
      control->check(true, "reading the table", 0, 0);
    }
    // Canonical: the first slot is 0. Slot 0 is bit 0 of word 0 because every section is non-empty.
    const bool flip = n_words_ > 0 && (c[0] & 1);
    bool constant = true;
    for (std::size_t w = 0; w < n_words_; ++w) {
      canonical[w] = flip ? all_[w] & ~c[w] : c[w];
      constant = constant && canonical[w] == 0;
    }
    if (constant) continue;  // never splits anything: in no tree
    const std::uint64_t h = hash_words(canonical.data(), n_words_, 0);
    bool found = false;
    auto [begin, end] = by_hash.equal_range(h);
    for (auto it = begin; it != end && !found; ++it) {
      TestClass& known = test_classes_[it->second];
      const std::uint64_t* k = column(known.test);
      const bool differ = class_flipped[it->second] != flip;
      found = true;
      for (std::size_t w = 0; w < n_words_ && found; ++w) found = c[w] == (differ ? all_[w] & ~k[w] : k[w]);
      if (found) known.members.push_back(t << 1 | static_cast<std::uint32_t>(differ));
    }
    if (!found) {
      by_hash.emplace(h, static_cast<std::uint32_t>(test_classes_.size()));
      test_classes_.push_back({t, {t << 1}});
      class_flipped.push_back(flip);
    }
  }
}

void CountTable::class_counts(const std::uint64_t* cover, std::int32_t* counts) const {
  std::fill(counts, counts + n_classes_, 0);
  const auto& k = kernels();
  for (const Section& s : sections_)
    counts[s.cls] +=
        s.multiplicity() * static_cast<std::int32_t>(k.count_and(cover + s.begin, cover + s.begin, s.end - s.begin));
}

std::int64_t CountTable::count(const std::uint64_t* cover) const {
  std::int64_t sum = 0;
  const auto& k = kernels();
  for (const Section& s : sections_)
    sum += s.multiplicity() * static_cast<std::int64_t>(k.count_and(cover + s.begin, cover + s.begin, s.end - s.begin));
  return sum;
}

std::int64_t CountTable::count_both(const std::uint64_t* cover, const std::uint64_t* c) const {
  std::int64_t sum = 0;
  const auto& k = kernels();
  for (const Section& s : sections_)
    sum += s.multiplicity() * static_cast<std::int64_t>(k.count_and(cover + s.begin, c + s.begin, s.end - s.begin));
  return sum;
}

}  // namespace everytree
