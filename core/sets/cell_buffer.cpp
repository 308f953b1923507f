#include "sets/cell_buffer.hpp"

namespace everytree {

void CellBuffer::load(const NearSet& set, const NearSet::Node& v) {
  set_ = &set;
  node_ = &v;
  first_ = set.first_cell(v, 1);
  const std::size_t n = set.first_cell(v, v.most + 1) - first_;
  shift_.assign(v.most + 1, 0);
  std::int64_t range = 0;
  for (std::size_t l = 1; l <= v.most; ++l) {
    const std::size_t from = set.first_cell(v, l), to = set.first_cell(v, l + 1);
    if (from == to) continue;
    shift_[l] = range - set.cell_errors()[from];
    range += set.cell_errors()[to - 1] - set.cell_errors()[from] + 1;
  }
  dense_ = range <= static_cast<std::int64_t>(64 + 16 * n);
  size_ = dense_ ? static_cast<std::size_t>(range) : n;
}

}  // namespace everytree
