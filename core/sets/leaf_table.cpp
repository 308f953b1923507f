#include "sets/leaf_table.hpp"

#include <algorithm>

namespace everytree {

std::uint64_t LeafTable::hash(const std::int32_t* counts) const {
  std::uint64_t h = 0x9e3779b97f4a7c15ULL;
  for (std::size_t c = 0; c < n_classes_; ++c) {
    h = (h ^ static_cast<std::uint32_t>(counts[c])) * 0xbf58476d1ce4e5b9ULL;
    h ^= h >> 29;
  }
  return h;
}

std::uint32_t LeafTable::add(const std::int32_t* counts) {
  if (2 * size_ >= slots_.size()) {
    slots_.assign(2 * slots_.size(), kEmpty);
    for (std::uint32_t leaf = 0; leaf < size_; ++leaf) {
      std::size_t k = hash(this->counts(leaf)) & (slots_.size() - 1);
      while (slots_[k] != kEmpty) k = (k + 1) & (slots_.size() - 1);
      slots_[k] = leaf;
    }
  }
  std::size_t k = hash(counts) & (slots_.size() - 1);
  for (; slots_[k] != kEmpty; k = (k + 1) & (slots_.size() - 1))
    if (std::equal(counts, counts + n_classes_, this->counts(slots_[k]))) return slots_[k];
  slots_[k] = static_cast<std::uint32_t>(size_);
  counts_.insert(counts_.end(), counts, counts + n_classes_);
  return static_cast<std::uint32_t>(size_++);
}

}  // namespace everytree
