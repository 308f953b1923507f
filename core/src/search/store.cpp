#include "everytree/search/store.hpp"

namespace everytree {

Store::Store(const CountTable& table, bool merge, bool threads)
    : table_(&table), merge_(merge), threads_(threads), words_(table.n_words()), index_(2048) {}

std::size_t Store::bytes() const {
  return nodes_.size() * (kMask + 1) * (sizeof(Known) + words_ * 8) + index_.size() * sizeof(Slot);
}

Store::Slot& Store::look(const std::uint64_t* cover, std::int32_t left, std::uint64_t hash) {
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  const std::size_t mask = index_.size() - 1;
  std::size_t k = hash & mask;
  for (; index_[k].id != Slot::kEmpty; k = (k + 1) & mask) {
    if (index_[k].tag != tag) continue;
    const Known& known = at(index_[k].id);
    if (known.left == left && std::memcmp(known.cover, cover, words_ * 8) == 0) break;
  }
  return index_[k];
}

Known* Store::find(const std::uint64_t* cover, std::int32_t left) {
  if (!merge_) return nullptr;
  const std::uint64_t hash = hash_words(cover, words_, static_cast<std::uint64_t>(left));
  const auto held = lock();
  const Slot& slot = look(cover, left, hash);
  return slot.id == Slot::kEmpty ? nullptr : &at(slot.id);
}

Known* Store::find_or_add(const std::uint64_t* cover, std::int32_t left, std::int32_t total, double lower, double upper,
                          Control& control) {
  const std::uint64_t hash = hash_words(cover, words_, static_cast<std::uint64_t>(left));
  const auto held = lock();
  if (merge_) {
    const Slot& slot = look(cover, left, hash);
    if (slot.id != Slot::kEmpty) return &at(slot.id);
  }
  if (size_ >= 0xfffffff0u) throw LimitReached(LimitReached::Reason::memory, "more than 4·10^9 states");
  if ((size_ & kMask) == 0) {
    // Asked before the memory is taken, so that the limit holds.
    control.check_memory(bytes() + (kMask + 1) * (sizeof(Known) + words_ * 8));
    nodes_.push_back(std::make_unique<Known[]>(kMask + 1));
    covers_.push_back(std::make_unique_for_overwrite<std::uint64_t[]>((kMask + 1) * words_));
  }
  const auto id = static_cast<std::uint32_t>(size_++);
  Known& known = at(id);
  std::uint64_t* words = covers_[id >> kBits].get() + (id & kMask) * words_;
  std::memcpy(words, cover, words_ * 8);
  known.cover = words;
  known.left = left;
  known.total = total;
  known.lower = lower;
  known.upper = upper;
  if (merge_) {
    if (size_ * 2 > index_.size()) grow();
    look(cover, left, hash) = {static_cast<std::uint32_t>(hash >> 32), id};
  }
  return &known;
}

void Store::grow() {
  std::vector<Slot> old(index_.size() * 2);
  old.swap(index_);
  const std::size_t mask = index_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.id == Slot::kEmpty) continue;
    const Known& known = at(slot.id);
    std::size_t k = hash_words(known.cover, words_, static_cast<std::uint64_t>(known.left)) & mask;
    while (index_[k].id != Slot::kEmpty) k = (k + 1) & mask;
    index_[k] = slot;
  }
}

}  // namespace everytree
