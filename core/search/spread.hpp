// How many tests must vary inside a cover, known from its class counts alone.
//
// A prior that divides by the number of feasible tests makes a split of a cover cost at least log e. What e can be at
// least follows from the distances between the examples: with D the sum of the Hamming distances over all pairs of n
// examples, and n_t of them with test t,
//     D = Σ_t n_t (n − n_t) ≤ e · ⌊n²/4⌋      so      e ≥ D / ⌊n²/4⌋,
// and also e ≥ the largest distance of any pair. Both are bounded from below, for every choice of n_0 and n_1 examples
// of the two classes, by the nearest neighbours of each example: the sum over the n_0 (n_1) examples with the nearest
// ones, and the n_0-th (n_1-th) smallest distance to the farthest neighbour.
//
// Holds where a test is feasible as soon as it varies: min_leaf = 1. Where states choose their tests, not all that vary
// are offered; but one of them is, so what is known is whether a test varies at all.
#pragma once

#include <cstdint>
#include <vector>

#include "common/control.hpp"
#include "table/count_table.hpp"

namespace everytree {

class Spread {
 public:
  // Nothing is known: at least one test.
  Spread() = default;
  Spread(const CountTable& table, Control& control);

  // The least number of tests that vary in a cover with these class counts; 0 if there may be none.
  std::int32_t least(const std::int32_t* counts, std::size_t n_classes) const;
  // The same for n examples of one class.
  std::int32_t least(std::size_t c, std::int32_t n) const;
  // More examples than this are never all alike.
  std::int32_t most_alike() const { return most_alike_; }

 private:
  std::int32_t any(std::int64_t total) const { return total > most_alike_ ? 1 : 0; }
  static constexpr std::int32_t kMost = 32;            // classes are looked at up to so many examples: more only add
  static constexpr std::size_t kMaxExamples = 12'000;  // the square of it is looked at
  std::size_t n_classes_ = 0;
  std::int32_t most_alike_ = CountTable::kMaxTotal;
  std::vector<std::int32_t> table_;  // two classes: by (n_0, n_1); else by n
};

}  // namespace everytree
