// Least errors by number of leaves, for every state: what a near-best set is measured by.
//
// It is ByLeaves<MinPlus> on whole numbers, cut off at the most leaves that are asked for. Why it is not fold/up.hpp
// with that algebra: a vector for each state in the place of one array for all. Measured on three generated tables (400
// × 60, 800 × 40 and 300 × 24 tests; processor time, least of 7 alternating runs), lists of whole numbers made in place
// take 1.02, 1.01 and 1.07 times as long, ByLeaves<MinPlus> itself 1.03, 1.02 and 1.09 times; and a vector takes 24
// bytes more for a state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/control.hpp"
#include "graph/graph.hpp"

namespace everytree {

// Of a leaf with these counts.
inline std::int32_t errors_of(const std::int32_t* counts, std::size_t n_classes) {
  std::int32_t total = 0, most = 0;
  for (std::size_t c = 0; c < n_classes; ++c) {
    total += counts[c];
    most = std::max(most, counts[c]);
  }
  return total - most;
}

// Trees with more than most_leaves leaves are left out.
class LeastErrors {
 public:
  // No tree has this many leaves. More than any number of errors, and two of them still fit 32 bits.
  static constexpr std::int32_t kNever = std::int32_t{1} << 29;

  LeastErrors(const Graph& graph, std::size_t most_leaves, std::size_t n_threads, Control& control);
  // Entry l − 1 is for l leaves.
  std::span<const std::int32_t> of(std::size_t state) const {
    return {errors_.data() + begin_[state], static_cast<std::size_t>(size_[state])};
  }
  std::size_t bytes() const { return errors_.capacity() * 4 + begin_.capacity() * 8 + size_.capacity() * 4; }

 private:
  std::vector<std::int32_t> errors_;
  std::vector<std::size_t> begin_;
  std::vector<std::uint32_t> size_;
};

}  // namespace everytree
