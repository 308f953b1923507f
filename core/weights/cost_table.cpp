#include "weights/cost_table.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace everytree {

const double* CostTable::cover(const LeafCost& cost, std::int64_t min_leaf, std::int32_t n0, std::int32_t n1) {
  const bool known = cost.id() == cost_id_ && min_leaf == min_leaf_;
  if (known && n0 <= most0_ && n1 <= most1_) return table_.data();
  // Powers of two, so that it is built only a few times while covers grow.
  const auto room = [](std::int32_t n) { return std::bit_ceil(static_cast<std::uint32_t>(n) + 1); };
  std::int64_t rows = room(std::max(n0, known ? most0_ : 0));
  const std::int64_t columns = room(std::max(n1, known ? most1_ : 0));
  if (rows * columns > kMaxEntries) rows = n0 + 1;
  if (rows * columns > kMaxEntries) return nullptr;
  cost_id_ = cost.id();
  min_leaf_ = min_leaf;
  most0_ = static_cast<std::int32_t>(rows) - 1;
  most1_ = static_cast<std::int32_t>(columns) - 1;
  shift_ = std::bit_width(static_cast<std::uint32_t>(most1_));
  table_.assign(static_cast<std::size_t>(rows) << shift_, std::numeric_limits<double>::infinity());
  for (std::int32_t x = 0; x <= most0_; ++x)
    for (std::int32_t y = 0; y <= most1_; ++y) {
      if (x + y < min_leaf) continue;
      const std::int32_t counts[2] = {x, y};
      const double c = cost(counts);
      if (c < kNoCost) table_[(static_cast<std::size_t>(x) << shift_) + static_cast<std::size_t>(y)] = c;
    }
  return table_.data();
}

}  // namespace everytree
