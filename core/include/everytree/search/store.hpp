// What a search knows of the states it has met: proven bounds, and the best tree seen so far.
//
// A state is (cover, tests that may still follow on a path). States are never moved or forgotten, so a pointer to one
// stays valid; equal covers are found by hash and proved equal word by word.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "everytree/control.hpp"
#include "everytree/table/count_table.hpp"
#include "everytree/weights/leaf.hpp"

namespace everytree {

struct Known {
  static constexpr std::uint32_t kTwoLevels = 0xffffffffu;

  // lower ≤ least cost ≤ upper. Other threads may read them while one thread works on the state.
  std::atomic<double> lower{0}, upper{0};
  // No tree that costs at most `cap` has less than `fewest` leaves. Once the least cost is proved, `leaves` is that of
  // the known tree. One thread looks at leaves.
  double cap = -kNoCost;
  std::uint32_t fewest = 1, leaves = 0xffffffffu;
  const std::uint64_t* cover = nullptr;
  std::int32_t total = 0;
  std::int32_t left = 0;
  // The known tree: the test class of its first split and the states of its sides (null where the side is a leaf or
  // has one split), or kTwoLevels: the best tree of two levels.
  std::uint32_t split = kTwoLevels;
  Known* side[2] = {nullptr, nullptr};
  std::atomic<bool> busy{false};
  bool folded = false;  // else the known tree is what the parent's frontier told: a leaf or one split

  bool proved() const { return lower.load(std::memory_order_relaxed) >= upper.load(std::memory_order_relaxed); }
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

class Store {
 public:
  Store(const CountTable& table, bool merge, bool threads);

  // The state of this cover, or nullptr.
  Known* find(const std::uint64_t* cover, std::int32_t left);
  // The state of this cover; made with the given bounds if it is new.
  Known* find_or_add(const std::uint64_t* cover, std::int32_t left, std::int32_t total, double lower, double upper,
                     Control& control);
  std::size_t size() const { return size_; }
  std::size_t bytes() const;

 private:
  // Open addressing; half of the hash stands beside the state, so that a miss touches one line of memory.
  struct Slot {
    std::uint32_t tag = 0, id = kEmpty;
    static constexpr std::uint32_t kEmpty = 0xffffffffu;
  };
  // The slot of this cover, or the empty one where it belongs.
  Slot& look(const std::uint64_t* cover, std::int32_t left, std::uint64_t hash);
  void grow();
  Known& at(std::uint32_t id) { return nodes_[id >> kBits][id & kMask]; }
  std::unique_lock<ShortLock> lock() { return threads_ ? std::unique_lock(guard_) : std::unique_lock<ShortLock>(); }

  static constexpr int kBits = 9;
  static constexpr std::uint32_t kMask = (1u << kBits) - 1;
  const CountTable* table_;
  bool merge_, threads_;
  std::size_t words_, size_ = 0;
  std::vector<std::unique_ptr<Known[]>> nodes_;
  std::vector<std::unique_ptr<std::uint64_t[]>> covers_;
  std::vector<Slot> index_;
  ShortLock guard_;
};

}  // namespace everytree
