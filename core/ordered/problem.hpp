// Ordered columns, the classes of their rows and what leaves cost: all that a search over every cut-point reads.
//
// A column is the rank of each row, from 0 on; its tests are "rank ≤ r" for every r that occurs but the last. What is
// not ordered comes as columns of two ranks. Costs are whole numbers, so that sums and comparisons are exact:
//
//     leaf(n) = price + min_k Σ_c n_c · cost(c, k),   cost ≥ 0 and min_k cost(c, k) = 0
//
// Hence no cover costs more than a larger one (examples are never a gain), as long as leaves may be of any size; and a
// row more costs at most its weight times `most(c)` = max_k cost(c, k), in a tree that stays as it is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace everytree::ordered {

using Value = std::int64_t;
constexpr const char* kStage = "searching every cut-point";
constexpr Value kNever = Value{1} << 60;  // no tree costs so much; sums of a few of these are numbers still

struct Problem {
  // ranks: column by column, n_rows each. costs: class by class, a cost for each label.
  Problem(std::size_t n_rows, std::size_t n_columns, std::vector<std::uint32_t> ranks,
          std::vector<std::uint16_t> classes, std::vector<std::int32_t> weights, std::size_t n_classes,
          std::vector<Value> costs, Value price, std::int64_t min_leaf);

  std::size_t n_rows, n_columns, n_classes;
  std::vector<std::uint32_t> ranks;
  std::vector<std::uint16_t> narrow;  // the same ranks where all fit
  std::vector<std::uint32_t> n_ranks;
  std::vector<std::uint16_t> classes;
  std::vector<std::int32_t> weights;
  std::vector<Value> costs, most;
  Value price;
  std::int64_t min_leaf;
  Value error = 0;  // what an error costs, if all cost the same; otherwise 0
  Value unit = 0;   // what an error costs, if all errors cost the same and all weights are 1; otherwise 0
  std::vector<std::uint32_t> order;  // the rows of each column by rank, equal ones by number

  std::size_t bytes() const {
    return 4 * (ranks.size() + order.size() + weights.size()) + 2 * (narrow.size() + classes.size());
  }
  bool plain() const { return unit > 0; }
  bool wide() const { return narrow.empty(); }
  const std::uint32_t* column(std::size_t f) const { return ranks.data() + f * n_rows; }
  Value leaf(const std::int64_t* counts) const {
    if (error > 0) {  // all but the largest class: of hundreds of classes the matrix takes hundreds of times as long
      std::int64_t all = 0, largest = 0;
      for (std::size_t c = 0; c < n_classes; ++c) {
        all += counts[c];
        largest = std::max(largest, counts[c]);
      }
      return (all - largest) * error + price;
    }
    Value best = kNever;
    for (std::size_t k = 0; k < n_classes; ++k) {
      Value sum = 0;
      for (std::size_t c = 0; c < n_classes; ++c) sum += counts[c] * costs[c * n_classes + k];
      if (sum < best) best = sum;
    }
    return best + price;
  }
};

// The rows of a state, in the order of every column. Some may be ghosts, which cost nothing and count only where the
// size of a leaf is asked for: bounds.hpp says what they are good for.
struct Cover {
  std::size_t n = 0;
  const std::uint32_t* rows = nullptr;   // n for each column
  const std::uint8_t* ghosts = nullptr;  // by row: whether it is one; nullptr where none is
  std::int64_t weight = 0;               // with ghosts
  std::vector<std::int64_t> counts;      // of each class, weighted, without ghosts
  Value leaf = 0;

  bool ghost(std::uint32_t row) const { return ghosts != nullptr && ghosts[row] != 0; }

  const std::uint32_t* order(std::size_t f) const { return rows + f * n; }
};

}  // namespace everytree::ordered
