// Leaves of many trees by their class counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/room.hpp"

namespace everytree {

// Class counts of leaves, each different one stored once.
class LeafTable {
 public:
  explicit LeafTable(std::size_t n_classes) : n_classes_(n_classes), slots_(1024, kEmpty) {}
  std::uint32_t add(const std::int32_t* counts);
  std::size_t size() const { return size_; }
  const std::int32_t* counts(std::size_t leaf) const { return counts_.data() + leaf * n_classes_; }
  std::size_t bytes() const { return counts_.capacity() * 4 + slots_.capacity() * 4; }
  // Bytes that the next new leaf may take.
  std::size_t growth() const {
    return everytree::growth(counts_, n_classes_) + (2 * size_ >= slots_.size() ? 8 * slots_.size() : 0);
  }

 private:
  static constexpr std::uint32_t kEmpty = 0xffffffffu;
  std::uint64_t hash(const std::int32_t* counts) const;

  std::size_t n_classes_, size_ = 0;
  std::vector<std::int32_t> counts_;
  std::vector<std::uint32_t> slots_;
};

}  // namespace everytree
