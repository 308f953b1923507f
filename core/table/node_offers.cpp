#include "table/node_offers.hpp"

#include <algorithm>
#include <bit>

namespace everytree {

std::uint32_t upper_of(const CountTable& table, const std::uint64_t* cover, std::uint32_t test) {
  const std::size_t k = table.by_column().column_of(test);
  const Column& column = table.by_column()[k];
  if (column.kind != Column::Kind::ordered || test == column.missing) return 0;
  const std::uint32_t first = table.by_column().place(k), lower = first + (test - column.begin);
  std::uint32_t next = first + column.n_codes();  // the place of a missing value
  for (std::size_t w = 0; w < table.n_words(); ++w)
    for (std::uint64_t bits = cover[w]; bits != 0; bits &= bits - 1) {
      const std::uint32_t place = table.places(64 * w + static_cast<std::size_t>(std::countr_zero(bits)))[k];
      if (place > lower) next = std::min(next, place);
    }
  return table.by_column().upper(k, lower - first, next - first);
}

NodeOffers::NodeOffers(const CountTable& table, int max_depth, std::int64_t min_leaf)
    : table_(&table), max_depth_(max_depth), min_leaf_(min_leaf), offers_(table, min_leaf) {}

std::span<const std::uint32_t> NodeOffers::of(const std::uint64_t* cover, std::size_t depth,
                                              const std::uint64_t* above) {
  classes_.clear();
  upper_.clear();
  const bool at_limit = max_depth_ >= 0 && depth >= static_cast<std::size_t>(max_depth_);
  const std::int64_t total = at_limit ? 0 : table_->count(cover);
  if (at_limit || total < 2 * min_leaf_) return classes_;
  const std::span<const std::uint32_t> offered = offers_.of(from_above(depth) ? above : cover);
  for (std::size_t k = 0; k < offered.size(); ++k) {
    const std::int64_t ones = table_->count(cover, table_->test_classes()[offered[k]].test);
    if (ones < min_leaf_ || total - ones < min_leaf_) continue;
    classes_.push_back(offered[k]);
    upper_.push_back(offers_.upper()[k]);
  }
  return classes_;
}

}  // namespace everytree
