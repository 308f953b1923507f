#include "frontier/frontier.hpp"

#include <algorithm>
#include <bit>

namespace everytree {

namespace {
std::size_t round16(std::size_t n) { return (n + 15) & ~std::size_t{15}; }
}  // namespace

Frontier::Frontier(const CountTable& table, std::int64_t min_leaf)
    : table_(&table),
      kernels_(&kernels()),
      min_leaf_(min_leaf),
      n_classes_(table.n_classes()),
      offers_(table, min_leaf) {
  if (!table.local()) offer(table.all().data());
  totals_.resize(n_classes_);
}

// The tests to look at: those that the cover offers.
void Frontier::offer(const std::uint64_t* cover) {
  const std::span<const std::uint32_t> offered = offers_.of(cover), upper = offers_.upper();
  class_of_.assign(offered.begin(), offered.end());
  upper_of_.assign(upper.begin(), upper.end());
  which_.clear();
  for (const std::uint32_t k : class_of_) which_.push_back(table_->test_classes()[k].test);
}

// Sections and chunks of the rows of a cover, and how they are packed.
void Frontier::lay_out(const std::uint64_t* cover) {
  steps_.clear();
  sections_.clear();
  valid_.clear();
  std::fill(totals_.begin(), totals_.end(), 0);
  total_ = 0;
  std::uint32_t chunk = 0;
  for (const Section& s : table_->sections()) {
    std::uint32_t rows = 0;
    for (std::uint32_t w = s.begin; w < s.end; ++w) {
      if (cover[w] == 0) continue;
      const auto n = static_cast<std::uint32_t>(std::popcount(cover[w]));
      steps_.push_back({w, n, cover[w], 0});
      rows += n;
    }
    if (rows == 0) continue;
    steps_.back().ends_section = 1;
    const std::uint32_t chunks = (rows + 31) / 32;
    sections_.push_back({chunk, chunk + chunks, s.cls, s.shift, 0});
    chunk += chunks;
    valid_.resize(chunk, 0xffffffffu);
    if (rows % 32 != 0) valid_.back() = (std::uint32_t{1} << (rows % 32)) - 1;
    totals_[s.cls] += s.multiplicity() * static_cast<std::int32_t>(rows);
    total_ += s.multiplicity() * static_cast<std::int32_t>(rows);
  }
  n_chunks_ = chunk;
}

void Frontier::pack(const std::vector<std::uint32_t>& tests, std::vector<std::uint32_t>& bits, std::size_t stride,
                    std::vector<std::int32_t>& counts) {
  const std::size_t n = tests.size();
  bits.resize(n_chunks_ * stride);
  for (std::size_t k = 0; k < n_chunks_; ++k)
    for (std::size_t j = n; j < stride; ++j) bits[RowBlock::word(n_chunks_, k, j)] = j == n ? valid_[k] : 0;
  kernels_->pack(table_->columns(), table_->n_words(), tests.data(), n, steps_.data(), steps_.size(), bits.data(),
                 n_chunks_);
  counts.resize(n_classes_ * stride);
  kernels_->pair_counts({bits.data(), n_chunks_, sections_.data(), sections_.size()}, n_classes_, n, 0, n, stride,
                        counts.data());
}

void Frontier::load_tests(const std::uint64_t* cover, const std::vector<std::uint32_t>& tests) {
  lay_out(cover);
  n_groups_ = tests.size();
  stride_ = round16(n_groups_ + 1);
  pack(tests, bits_, stride_, counts_);
  for (std::size_t k = 0; k < n_chunks_; ++k) bits_[RowBlock::word(n_chunks_, k, n_groups_)] = 0;  // the column of ones
  group_total_.assign(stride_, 0);
  for (std::size_t c = 0; c < n_classes_; ++c)
    for (std::size_t g = 0; g < stride_; ++g)
      if (g < n_groups_)
        group_total_[g] += counts_[c * stride_ + g];
      else
        counts_[c * stride_ + g] = 0;
}

void Frontier::load(const std::uint64_t* cover) {
  lay_out(cover);
  if (table_->local()) offer(cover);
  const std::size_t n_candidates = which_.size(), stride = round16(n_candidates + 1);
  pack(which_, packed_, stride, raw_counts_);
  kept_.clear();
  for (std::uint32_t j = 0; j < n_candidates; ++j) {
    std::int32_t ones = 0;
    for (std::size_t c = 0; c < n_classes_; ++c) ones += raw_counts_[c * stride + j];
    if (ones >= min_leaf_ && total_ - ones >= min_leaf_) kept_.push_back(j);
  }
  group(stride);
}

void Frontier::group(std::size_t stride) {
  const std::size_t n_kept = kept_.size();
  group_of_.resize(n_kept);
  representative_.clear();
  const auto packed = [&](std::uint32_t j) { return packed_.data() + RowBlock::word(n_chunks_, 0, j); };
  // Hashing costs chunks per test; pairs cost chunks · tests / 16. On large covers tests hardly ever coincide, so
  // there every test is its own group.
  const bool look = !apart_ && (n_chunks_ <= 40 || n_kept >= 64);
  if (look) {
    hash_.resize(stride);
    kernels_->hash_columns(packed_.data(), valid_.data(), n_chunks_, which_.size(), hash_.data());
    const std::size_t size = std::bit_ceil(2 * n_kept + 1);
    bucket_.assign(size, 0xffffffffu);
    for (std::uint32_t x = 0; x < n_kept; ++x) {
      const std::uint32_t a = kept_[x];
      const std::uint32_t* column_a = packed(a);
      std::size_t slot = hash_[a] & (size - 1);
      std::uint32_t group = 0xffffffffu;
      for (; bucket_[slot] != 0xffffffffu; slot = (slot + 1) & (size - 1)) {
        const std::uint32_t y = bucket_[slot];
        const std::uint32_t b = kept_[y];
        if (hash_[b] != hash_[a]) continue;
        const std::uint32_t* column_b = packed(b);
        const std::uint32_t differ = -((*column_a ^ *column_b) & 1u);
        bool equal = true;
        for (std::size_t k = 0; k < n_chunks_ && equal; ++k)
          equal = column_a[k * RowBlock::kTile] == (column_b[k * RowBlock::kTile] ^ (differ & valid_[k]));
        if (equal) {
          group = group_of_[y];
          break;
        }
      }
      if (group == 0xffffffffu) {
        bucket_[slot] = x;
        group = static_cast<std::uint32_t>(representative_.size());
        representative_.push_back(x);
      }
      group_of_[x] = group;
    }
  } else {
    for (std::uint32_t x = 0; x < n_kept; ++x) {
      group_of_[x] = x;
      representative_.push_back(x);
    }
  }

  n_groups_ = representative_.size();
  stride_ = round16(n_groups_ + 1);
  counts_.resize(n_classes_ * stride_);
  group_total_.assign(stride_, 0);
  whole_multiplicity_.assign(stride_, 0);
  multiplicity_.assign(stride_, 0.0);
  bits_.resize(n_chunks_ * stride_);
  for (std::size_t first = 0; first < stride_; first += RowBlock::kTile) {
    std::uint32_t* to = bits_.data() + first * n_chunks_;
    const std::uint32_t* from[RowBlock::kTile];
    const std::size_t width = std::min(RowBlock::kTile, n_groups_ - std::min(first, n_groups_));
    for (std::size_t t = 0; t < width; ++t) from[t] = packed(kept_[representative_[first + t]]);
    for (std::size_t k = 0; k < n_chunks_; ++k, to += RowBlock::kTile) {
      for (std::size_t t = 0; t < width; ++t) to[t] = from[t][k * RowBlock::kTile];
      std::fill(to + width, to + RowBlock::kTile, 0);
    }
  }
  for (std::size_t c = 0; c < n_classes_; ++c) {
    for (std::size_t g = 0; g < n_groups_; ++g) {
      counts_[c * stride_ + g] = raw_counts_[c * stride + kept_[representative_[g]]];
      group_total_[g] += counts_[c * stride_ + g];
    }
    for (std::size_t g = n_groups_; g < stride_; ++g) counts_[c * stride_ + g] = 0;
  }
  // Members by counting sort, so that parts of a group stand in the order of their tests.
  parts_begin_.assign(n_groups_ + 1, 0);
  for (std::size_t x = 0; x < n_kept; ++x) ++parts_begin_[group_of_[x] + 1];
  for (std::size_t g = 0; g < n_groups_; ++g) parts_begin_[g + 1] += parts_begin_[g];
  parts_.resize(n_kept);
  uppers_.resize(n_kept);
  bucket_.assign(parts_begin_.begin(), parts_begin_.end());
  n_tests_ = 0;
  const auto& classes = table_->test_classes();
  for (std::uint32_t x = 0; x < n_kept; ++x) {
    const std::uint32_t g = group_of_[x], a = kept_[x], b = kept_[representative_[g]];
    const std::uint32_t flipped = (*packed(a) ^ *packed(b)) & 1u;
    uppers_[bucket_[g]] = upper_of_[a];
    parts_[bucket_[g]++] = class_of_[a] << 1 | flipped;
    const auto members = static_cast<double>(classes[class_of_[a]].members.size());
    multiplicity_[g] += members;
    whole_multiplicity_[g] += static_cast<std::int32_t>(members);
    n_tests_ += members;
  }
}

bool Frontier::splittable(std::size_t i, int a, std::size_t j, int b, std::int32_t total, std::size_t& first,
                          std::vector<std::uint32_t>& scratch) const {
  if (total < 2 * min_leaf_) return false;
  scratch.resize(n_chunks_);
  for (std::size_t k = 0; k < n_chunks_; ++k) {
    const std::uint32_t x = bits(k, i), y = bits(k, j);
    scratch[k] = (a == 1 ? x : ~x) & (b == 1 ? y : ~y) & valid_[k];
  }
  for (std::size_t n = 0; n <= n_groups_; ++n) {
    const std::size_t g = n == 0 ? first : n - 1;
    if (g >= n_groups_) continue;
    std::int64_t ones = 0;
    for (const Section& s : sections_) {
      std::int64_t rows = 0;
      for (std::uint32_t k = s.begin; k < s.end; ++k) rows += std::popcount(scratch[k] & bits(k, g));
      ones += rows << s.shift;
    }
    if (ones >= min_leaf_ && total - ones >= min_leaf_) {
      first = g;
      return true;
    }
  }
  return false;
}

void Frontier::set_index(int shift) {
  index_shift_ = shift;
  index_.assign(stride_, 0);
  total_index_ = 0;
  for (std::size_t c = 0; c < n_classes_; ++c) {
    const int by = c == 0 ? shift : 0;
    for (std::size_t g = 0; g < n_groups_; ++g) index_[g] += counts_[c * stride_ + g] << by;
    total_index_ += totals_[c] << by;
  }
  index_sections_ = sections_;
  for (Section& s : index_sections_) s.index_shift = static_cast<std::uint8_t>(s.shift + (s.cls == 0 ? shift : 0));
}

}  // namespace everytree
