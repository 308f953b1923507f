// Where equal covers meet: open addressing, with half of a cover's hash beside its number, so that a miss touches one
// line of memory. That half also says where a cover belongs, so that growing reads the index alone: to hash all covers
// again took a fifth of the time of building a graph of a million states, and 0.6 s at once, in which nobody looked at
// the limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace everytree {

class CoverIndex {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffu;
  explicit CoverIndex(std::size_t slots) : slots_(slots) {}  // a power of two

  // The number of the cover with this hash of which same(number) is true, or kNone.
  template <class Same>
  std::uint32_t find(std::uint64_t hash, Same&& same) const {
    const auto tag = static_cast<std::uint32_t>(hash);
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t k = tag & mask; slots_[k].id != kNone; k = (k + 1) & mask)
      if (slots_[k].tag == tag && same(slots_[k].id)) return slots_[k].id;
    return kNone;
  }
  // Adds what was not found; at most half of the slots are taken.
  void add(std::uint64_t hash, std::uint32_t id) {
    if (taking(1) > 0) grow();
    put({static_cast<std::uint32_t>(hash), id});
    ++size_;
  }
  // Forgets every number, and keeps the memory.
  void clear() {
    slots_.assign(slots_.size(), Slot{});
    size_ = 0;
  }
  std::size_t bytes() const { return slots_.capacity() * sizeof(Slot); }
  // The bytes that growing takes beside these if so many more are added; 0 if there is room.
  std::size_t taking(std::size_t more) const {
    std::size_t to = slots_.size();
    while (2 * (size_ + more) > to) to *= 2;
    return to == slots_.size() ? 0 : to * sizeof(Slot);
  }

 private:
  struct Slot {
    std::uint32_t tag = 0, id = kNone;
  };
  void put(const Slot& slot) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t k = slot.tag & mask;
    while (slots_[k].id != kNone) k = (k + 1) & mask;
    slots_[k] = slot;
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.id != kNone) put(slot);
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace everytree
