// Leaf costs of two classes, tabulated over the class counts:  entry n_0 << shift | n_1,  infinite where a leaf is
// below min_leaf or not allowed. With it every cost under every rule runs through one vector kernel (fold_min).
//
// The table grows with the covers that ask for it, up to kMaxEntries. It belongs to one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "weights/leaf_cost.hpp"

namespace everytree {

class CostTable {
 public:
  // Entries for all counts up to these, or nullptr if they would be too many.
  const double* cover(const LeafCost& cost, std::int64_t min_leaf, std::int32_t n0, std::int32_t n1);
  int shift() const { return shift_; }

  // 1.5 million doubles stay near the cache and are computed in some ten milliseconds. Look-ups in a table much larger
  // than the cache are slower than computing the cost.
  static constexpr std::int64_t kMaxEntries = 1'500'000;

 private:
  std::vector<double> table_;
  std::uint64_t cost_id_ = 0;
  std::int64_t min_leaf_ = 0;
  std::int32_t most0_ = -1, most1_ = -1;
  int shift_ = 0;
};

}  // namespace everytree
