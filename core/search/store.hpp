// What a search knows of the states it has met.
//
// A state is a cover and its place: the tests that may still follow on a path, or the depth, whichever a search needs
// to tell equal covers apart. States are never moved or forgotten, so a pointer to one stays valid; equal covers are
// found by hash and proved equal word by word.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "common/control.hpp"
#include "table/count_table.hpp"
#include "table/cover_index.hpp"

namespace everytree {

// What every node of a store has, beside `lower` and `upper` bounds of its own kind.
struct Placed {
  const std::uint64_t* cover = nullptr;
  std::int32_t total = 0;
  std::int32_t place = 0;
};

// For a few hundred nanoseconds: a mutex would put the other thread to sleep, which takes far longer.
class ShortLock {
 public:
  void lock() {
    for (unsigned tries = 0; taken_.exchange(true, std::memory_order_acquire); ++tries)
      if (tries > 200) std::this_thread::yield();  // its owner may not be running
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

template <class Node>
class StateStore {
 public:
  StateStore(const CountTable& table, bool merge, bool threads)
      : merge_(merge), threads_(threads), words_(table.n_words()), index_(2048) {}

  // The state of this cover, or nullptr.
  Node* find(const std::uint64_t* cover, std::int32_t place) {
    if (!merge_) return nullptr;
    const std::uint64_t hash = hash_of(cover, place);
    const auto held = lock();
    const std::uint32_t id = look(cover, place, hash);
    return id == CoverIndex::kNone ? nullptr : &at(id);
  }

  // The state of this cover; made with the given bounds if it is new. `others`: bytes that count beside the store's.
  Node* find_or_add(const std::uint64_t* cover, std::int32_t place, std::int32_t total, double lower, double upper,
                    Control& control, std::size_t others = 0) {
    const std::uint64_t hash = hash_of(cover, place);
    const auto held = lock();
    if (merge_) {
      const std::uint32_t id = look(cover, place, hash);
      if (id != CoverIndex::kNone) return &at(id);
    }
    if (size_ >= 0xfffffff0u) throw LimitReached(LimitReached::Reason::memory, "more than 4·10^9 states");
    // Asked before the memory is taken, so that the limit holds.
    if (const std::size_t more = merge_ ? index_.taking(1) : 0; more > 0) control.check_memory(bytes() + others + more);
    if ((size_ & kMask) == 0) {
      control.check_memory(bytes() + others + chunk_bytes());
      nodes_.push_back(std::make_unique<Node[]>(kMask + 1));
      covers_.push_back(std::make_unique_for_overwrite<std::uint64_t[]>((kMask + 1) * words_));
    }
    const auto id = static_cast<std::uint32_t>(size_++);
    Node& node = at(id);
    std::uint64_t* words = covers_[id >> kBits].get() + (id & kMask) * words_;
    std::memcpy(words, cover, words_ * 8);
    node.cover = words;
    node.place = place;
    node.total = total;
    node.lower = lower;
    node.upper = upper;
    if (merge_) index_.add(hash, id);
    return &node;
  }

  std::size_t size() const { return size_; }
  std::size_t bytes() const { return nodes_.size() * chunk_bytes() + index_.bytes(); }

 private:
  std::uint64_t hash_of(const std::uint64_t* cover, std::int32_t place) const {
    return hash_words(cover, words_, static_cast<std::uint64_t>(place));
  }
  std::size_t chunk_bytes() const { return (kMask + 1) * (sizeof(Node) + words_ * 8); }
  Node& at(std::uint32_t id) { return nodes_[id >> kBits][id & kMask]; }
  std::unique_lock<ShortLock> lock() { return threads_ ? std::unique_lock(guard_) : std::unique_lock<ShortLock>(); }

  // The number of this cover's state, or CoverIndex::kNone.
  std::uint32_t look(const std::uint64_t* cover, std::int32_t place, std::uint64_t hash) {
    return index_.find(hash, [&](std::uint32_t id) {
      const Node& node = at(id);
      return node.place == place && std::memcmp(node.cover, cover, words_ * 8) == 0;
    });
  }

  static constexpr int kBits = 9;
  static constexpr std::uint32_t kMask = (1u << kBits) - 1;
  bool merge_, threads_;
  std::size_t words_, size_ = 0;
  std::vector<std::unique_ptr<Node[]>> nodes_;
  std::vector<std::unique_ptr<std::uint64_t[]>> covers_;
  CoverIndex index_;
  ShortLock guard_;
};

}  // namespace everytree
