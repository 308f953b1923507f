#include "everytree/search/store.hpp"

namespace everytree {

Store::Store(const CountTable& table, bool merge, bool threads)
    : table_(&table), merge_(merge), threads_(threads), words_(table.n_words()), buckets_(1024, kEnd) {}

std::size_t Store::bytes() const {
  return nodes_.size() * (kMask + 1) * (sizeof(Known) + words_ * 8) + buckets_.size() * 4;
}

Known* Store::look(const std::uint64_t* cover, std::int32_t left, std::uint64_t hash) {
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  for (std::uint32_t id = buckets_[hash & (buckets_.size() - 1)]; id != kEnd;) {
    Known& known = at(id);
    if (known.tag == tag && known.left == left && std::memcmp(known.cover, cover, words_ * 8) == 0) return &known;
    id = known.next;
  }
  return nullptr;
}

Known* Store::find(const std::uint64_t* cover, std::int32_t left) {
  if (!merge_) return nullptr;
  const std::uint64_t hash = hash_words(cover, words_, static_cast<std::uint64_t>(left));
  const auto held = lock();
  return look(cover, left, hash);
}

Known* Store::find_or_add(const std::uint64_t* cover, std::int32_t left, std::int32_t total, double lower,
                          double upper, Control& control) {
  const std::uint64_t hash = hash_words(cover, words_, static_cast<std::uint64_t>(left));
  const auto held = lock();
  if (merge_)
    if (Known* known = look(cover, left, hash)) return known;
  if (size_ >= 0xfffffff0u) throw LimitReached(LimitReached::Reason::memory, "more than 4·10^9 states");
  if ((size_ & kMask) == 0) {
    // Asked before the memory is taken, so that the limit holds.
    control.check_memory(bytes() + (kMask + 1) * (sizeof(Known) + words_ * 8));
    nodes_.push_back(std::make_unique<Known[]>(kMask + 1));
    covers_.push_back(std::make_unique_for_overwrite<std::uint64_t[]>((kMask + 1) * words_));
  }
  if (size_ >= buckets_.size()) grow();
  const auto id = static_cast<std::uint32_t>(size_++);
  Known& known = at(id);
  std::uint64_t* words = covers_[id >> kBits].get() + (id & kMask) * words_;
  std::memcpy(words, cover, words_ * 8);
  known.cover = words;
  known.left = left;
  known.total = total;
  known.lower = lower;
  known.upper = upper;
  known.tag = static_cast<std::uint32_t>(hash >> 32);
  std::uint32_t& bucket = buckets_[hash & (buckets_.size() - 1)];
  known.next = bucket;
  bucket = id;
  return &known;
}

void Store::grow() {
  buckets_.assign(buckets_.size() * 2, kEnd);
  for (std::uint32_t id = 0; id < size_; ++id) {
    Known& known = at(id);
    const std::uint64_t hash = hash_words(known.cover, words_, static_cast<std::uint64_t>(known.left));
    std::uint32_t& bucket = buckets_[hash & (buckets_.size() - 1)];
    known.next = bucket;
    bucket = id;
  }
}

}  // namespace everytree
