// Where the numbers of a node's cells are while they are made.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sets/near_set.hpp"

namespace everytree {

// Numbers for the cells of one node, in a buffer where a cell is found from (leaves, errors) without searching, if the
// errors lie close together; heavy weights leave wide gaps, and there a cell is looked up in its row.
class CellBuffer {
 public:
  void load(const NearSet& set, const NearSet::Node& v);
  std::size_t size() const { return size_; }
  std::size_t at(std::size_t l, std::int32_t errors) const {
    if (dense_) return static_cast<std::size_t>(shift_[l] + errors);
    const std::int32_t* row = set_->cell_errors();
    const std::int32_t* found =
        std::lower_bound(row + set_->first_cell(*node_, l), row + set_->first_cell(*node_, l + 1), errors);
    return static_cast<std::size_t>(found - row) - first_;
  }
  // use(cell, place in the buffer) for every cell of the node.
  template <class F>
  void for_cells(F&& use) const {
    for (std::size_t l = 1; l <= node_->most; ++l)
      for (std::size_t k = set_->first_cell(*node_, l); k < set_->first_cell(*node_, l + 1); ++k)
        use(k, dense_ ? static_cast<std::size_t>(shift_[l] + set_->cell_errors()[k]) : k - first_);
  }

 private:
  const NearSet* set_ = nullptr;
  const NearSet::Node* node_ = nullptr;
  bool dense_ = true;
  std::size_t size_ = 0, first_ = 0;
  std::vector<std::int64_t> shift_;  // by leaves
};

}  // namespace everytree
