// The frontier: everything about the two levels below one cover, from the class counts of pairs of tests.
//
// The rows of the cover are packed together, tests that split them alike are grouped, and the counts of (i, j)
// give the other three quadrants by subtraction. A test is feasible at the cover if both sides have min_leaf
// examples; at a child of i the same holds again for j: both roles are checked. Where states choose their tests, both
// levels use those that the cover offers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "table/count_table.hpp"
#include "table/offers.hpp"

namespace everytree {

class Frontier {
 public:
  Frontier(const CountTable& table, std::int64_t min_leaf);

  // Whether the tests of columns stay apart from now on, though they split a cover alike: a group is one test then.
  void keep_apart(bool on) { apart_ = on; }
  bool apart() const { return apart_; }
  void load(const std::uint64_t* cover);
  // The same with a group for each of these tests, whether or not it is feasible; parts() and multiplicities are not
  // set.
  void load_tests(const std::uint64_t* cover, const std::vector<std::uint32_t>& tests);

  std::size_t n_groups() const { return n_groups_; }
  std::size_t n_chunks() const { return n_chunks_; }
  double n_tests() const { return n_tests_; }                            // feasible original tests
  double multiplicity(std::size_t g) const { return multiplicity_[g]; }  // original tests in group g
  const double* multiplicities() const { return multiplicity_.data(); }
  std::int32_t total() const { return total_; }
  const std::int32_t* totals() const { return totals_.data(); }  // per class
  std::int32_t total(std::size_t g) const { return group_total_[g]; }
  // Examples of class c in the cover for which group g's first test holds.
  std::int32_t count(std::size_t c, std::size_t g) const { return counts_[c * stride_ + g]; }
  const std::int32_t* counts(std::size_t c) const { return counts_.data() + c * stride_; }
  const std::int32_t* group_totals() const { return group_total_.data(); }
  std::size_t stride() const { return stride_; }
  // The classes of tests in group g: class << 1 | flipped.
  std::span<const std::uint32_t> parts(std::size_t g) const { return {parts_begin(g), parts_end(g)}; }
  const std::uint32_t* parts_begin(std::size_t g) const { return parts_.data() + parts_begin_[g]; }
  const std::uint32_t* parts_end(std::size_t g) const { return parts_.data() + parts_begin_[g + 1]; }
  // The uppers of the same: see table/offers.hpp.
  const std::uint32_t* uppers_begin(std::size_t g) const { return uppers_.data() + parts_begin_[g]; }

  // The rows of the cover as they are packed: chunks of 32, by section. Of chunk k the bits of groups g, g + 1, … to
  // the end of a tile (kernels/kernels.hpp), and which bits are rows.
  const std::vector<Section>& sections() const { return sections_; }
  const std::uint32_t* words(std::size_t chunk, std::size_t g) const { return &bits(chunk, g); }
  std::uint32_t valid(std::size_t chunk) const { return valid_[chunk]; }

  // Class counts of (g holds, j holds) for all j ≥ first: out[c * stride + j].
  void pair_counts(std::size_t g, std::size_t first, std::int32_t* out) const {
    kernels_->pair_counts(block(sections_), n_classes_, g, first, n_groups_, stride_, out);
  }
  // The same for all j > g. Several tests are counted at a time into `rows`: ask for g = 0, 1, 2, … in order.
  const std::int32_t* next_pair_counts(std::size_t g, std::vector<std::int32_t>& rows) const {
    const std::size_t row = n_classes_ * stride_;
    if (g % kPairRows == 0) {
      rows.resize(std::max(rows.size(), kPairRows * row));
      kernels_->pair_rows(block(sections_), n_classes_, g, n_groups_, stride_, rows.data());
    }
    return rows.data() + g % kPairRows * row;
  }
  // The same as one number: n_0 << shift | n_1 for two classes, or with shift = 0 the number of examples.
  void set_index(int shift);
  const std::int32_t* index() const { return index_.data(); }
  std::int32_t total_index() const { return total_index_; }
  // For j > g, in order as above; also counts feasible second tests into tests[a] (stride entries each).
  const std::int32_t* next_pair_index(std::size_t g, std::int32_t* const tests[2],
                                      std::vector<std::int32_t>& rows) const {
    if (g % kPairRows != 0) return rows.data() + g % kPairRows * stride_;
    rows.resize(std::max(rows.size(), kPairRows * stride_));
    const TestCounter counter{
        group_total_.data(), whole_multiplicity_.data(), total_, static_cast<std::int32_t>(min_leaf_),
        index_shift_,        {tests[0], tests[1]}};
    kernels_->pair_index(block(index_sections_), g, n_groups_, counter, stride_, rows.data());
    return rows.data();
  }
  // Least errors of the pairs (i, j), j > i, for kPairRows tests i from g on; after set_index(16).
  void pair_errors(std::size_t g, const PairErrors& errors) const {
    kernels_->pair_errors(block(index_sections_), g, n_groups_, errors);
  }
  void side_errors(std::size_t g, const SideErrors& errors) const {
    kernels_->side_errors(block(index_sections_), g, n_groups_, errors);
  }
  // The class counts of pairs of kPairRows tests from g on, in rows of the given width; see Kernels::pair_rows.
  void pair_rows(std::size_t g, std::size_t width, std::int32_t* out) const {
    kernels_->pair_rows(block(sections_), n_classes_, g, n_groups_, width, out);
  }
  // Whether some test splits the examples with (i = a, j = b), `total` of them, into two sides of min_leaf. `first` is
  // tried before the others, and becomes the test that did.
  bool splittable(std::size_t i, int a, std::size_t j, int b, std::int32_t total, std::size_t& first,
                  std::vector<std::uint32_t>& scratch) const;
  const Kernels& kernel() const { return *kernels_; }
  const CountTable& table() const { return *table_; }
  std::int64_t min_leaf() const { return min_leaf_; }

 private:
  RowBlock block(const std::vector<Section>& sections) const {
    return {bits_.data(), n_chunks_, sections.data(), sections.size()};
  }
  const std::uint32_t& bits(std::size_t chunk, std::size_t g) const {
    return bits_[RowBlock::word(n_chunks_, chunk, g)];
  }
  void offer(const std::uint64_t* cover);
  void lay_out(const std::uint64_t* cover);
  // Pack these tests, and behind them a column of ones whose pair counts are the counts of the tests themselves.
  void pack(const std::vector<std::uint32_t>& tests, std::vector<std::uint32_t>& bits, std::size_t stride,
            std::vector<std::int32_t>& counts);
  void group(std::size_t n_candidates);

  const CountTable* table_;
  const Kernels* kernels_;
  std::int64_t min_leaf_;
  std::size_t n_classes_, n_groups_ = 0, stride_ = 0, n_chunks_ = 0;
  double n_tests_ = 0;
  std::int32_t total_ = 0, total_index_ = 0, index_shift_ = 0;
  std::vector<std::int32_t> totals_, counts_, group_total_, index_, whole_multiplicity_;
  std::vector<double> multiplicity_;
  bool apart_ = false;
  Offers offers_;
  std::vector<std::uint32_t> bits_, packed_, valid_, which_, class_of_, upper_of_, parts_, parts_begin_, uppers_;
  std::vector<Section> sections_, index_sections_;
  std::vector<PackStep> steps_;
  // grouping
  std::vector<std::uint32_t> hash_, kept_, group_of_, bucket_, representative_;
  std::vector<std::int32_t> raw_counts_;
};

}  // namespace everytree
