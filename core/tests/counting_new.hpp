// Every allocation of a test program, counted: how many, which one fails, how many blocks and bytes are held.
//
// Replaces the global operator new: to be included by one file of a program.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace counting {

inline std::atomic<long> asked{0};           // allocations so far
inline std::atomic<long> fails_at{0};        // the one that fails; 0: none
inline std::atomic<long> held{0};            // blocks that are not freed yet
inline std::atomic<long> bytes{0}, peak{0};  // of them, where the library tells
#if defined(__GLIBC__)
constexpr bool kTellsBytes = true;
// With what the library adds to a block.
inline long size_of(void* block) { return static_cast<long>(malloc_usable_size(block)) + 8; }
#else
constexpr bool kTellsBytes = false;
inline long size_of(void*) { return 0; }
#endif

inline void* allocate(std::size_t size, std::size_t alignment) {
  const long k = ++asked;
  if (k == fails_at.load(std::memory_order_relaxed)) throw std::bad_alloc();
  size = std::max<std::size_t>(size, 1);
  void* block = alignment <= alignof(std::max_align_t)
                    ? std::malloc(size)
                    : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (block == nullptr) throw std::bad_alloc();
  ++held;
  const long now = bytes += size_of(block);
  for (long most = peak; now > most && !peak.compare_exchange_weak(most, now);) {
  }
  return block;
}

inline void release(void* block) noexcept {
  if (block == nullptr) return;
  --held;
  bytes -= size_of(block);
  std::free(block);
}

}  // namespace counting

void* operator new(std::size_t size) { return counting::allocate(size, alignof(std::max_align_t)); }
void* operator new[](std::size_t size) { return counting::allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t a) {
  return counting::allocate(size, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t size, std::align_val_t a) {
  return counting::allocate(size, static_cast<std::size_t>(a));
}
// std::stable_sort asks for its buffer this way, and does without one where there is none.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return counting::allocate(size, alignof(std::max_align_t));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* block, const std::nothrow_t&) noexcept { counting::release(block); }
void operator delete(void* block) noexcept { counting::release(block); }
void operator delete[](void* block) noexcept { counting::release(block); }
void operator delete(void* block, std::size_t) noexcept { counting::release(block); }
void operator delete[](void* block, std::size_t) noexcept { counting::release(block); }
void operator delete(void* block, std::align_val_t) noexcept { counting::release(block); }
void operator delete[](void* block, std::align_val_t) noexcept { counting::release(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { counting::release(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { counting::release(block); }
