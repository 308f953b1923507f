// The frontier of both sides of a split, for the price of the smaller one.
//
//     pairs(s ∧ ¬i) = pairs(s) − pairs(s ∧ i)
//
// The pairs of a cover are kept when it is folded (WholePairs); then only the pairs of the smaller side of each split
// are counted, at most half of the rows and a quarter of them where cuts are spread evenly. Both sides keep the tests
// of the cover: none is left out or grouped anew. For errors, with or without a price of leaves.
#pragma once

#include <cstdint>
#include <vector>

#include "frontier/cost_fold.hpp"
#include "frontier/frontier.hpp"
#include "weights/leaf_cost.hpp"

namespace everytree {

// Class counts of all pairs of tests of one cover: 4 bytes per pair for two classes and fewer than 32768 examples, else
// 4 bytes per class. Above the diagonal only, in bands of sixteen tests.
class WholePairs {
 public:
  static bool possible(const LeafCost& cost) { return cost.plain_error(); }
  // What the pairs of any cover of the table can take.
  static std::size_t most_bytes(const CountTable& table);

  // For the cover in the frontier; the pairs are then written, row by row.
  void begin(const Frontier& frontier);
  bool packed() const { return planes_ == 0; }
  // Of kPairRows tests from i on: [(r * planes + c) * width(i) + j].
  std::int32_t* rows(std::size_t i) {
    const std::size_t band = i / kBand, before = kBand * planes() * (band * stride_ - kBand * band * (band - 1) / 2);
    return pairs_.data() + before + i % kBand * planes() * width(i) - band * kBand;
  }
  const std::int32_t* rows(std::size_t i) const { return const_cast<WholePairs*>(this)->rows(i); }
  std::size_t width(std::size_t i) const { return stride_ - i / kBand * kBand; }
  std::size_t planes() const { return packed() ? 1 : planes_; }

  std::size_t n() const { return tests_.size(); }
  std::size_t stride() const { return stride_; }
  const std::vector<std::uint32_t>& tests() const { return tests_; }  // one of each group
  std::int32_t count(std::size_t c, std::size_t g) const { return counts_[c * stride_ + g]; }
  std::int32_t total(std::size_t c) const { return totals_[c]; }

 private:
  static constexpr std::size_t kBand = 16;
  static bool pack(const Frontier& frontier) { return frontier.table().n_classes() == 2 && frontier.total() < 32768; }
  static std::size_t size(std::size_t stride, std::size_t planes) { return planes * (stride + kBand) * stride / 2; }

  std::size_t stride_ = 0, planes_ = 0;
  std::vector<std::uint32_t> tests_;
  std::vector<std::int32_t> pairs_, counts_, totals_;
};

class SideFold {
 public:
  SideFold(const CountTable& table, std::int64_t min_leaf) : part_(table, min_leaf) {}

  // `cover` is a part of that of `whole`; out[0] is its fold over two levels, out[1] that of the rest.
  void fold(const WholePairs& whole, const std::uint64_t* cover, const LeafCost& cost, Ticker& ticker, OneLevel* out);

 private:
  void leaves(const LeafCost& cost, int which, OneLevel& out);
  void two_class_errors(const WholePairs& whole, Ticker& ticker);
  void any_errors(const WholePairs& whole, Ticker& ticker);

  Frontier part_;
  std::size_t n_ = 0, stride_ = 0;
  std::vector<std::int32_t> counts_[2], totals_[2], index_[2], total_of_[2], error_[2][2], pairs_, rest_, leaf_counts_;
  std::int32_t total_[2] = {0, 0};
};

}  // namespace everytree
