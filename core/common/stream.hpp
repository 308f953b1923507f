// Random numbers: SplitMix64, one stream per draw or per chain, so that each depends only on (seed, number) and never
// on how many others are asked for, or on threads.
#pragma once

#include <cstddef>
#include <cstdint>

namespace everytree {

class Stream {
 public:
  Stream(std::uint64_t seed, std::uint64_t number) : state_(mix(seed ^ mix(number + 0x9e3779b97f4a7c15ULL))) {}
  double uniform() { return static_cast<double>(mix(state_ += 0x9e3779b97f4a7c15ULL) >> 11) * 0x1.0p-53; }  // in [0, 1)
  // What the numbers to come depend on.
  std::uint64_t state() const { return state_; }
  void restore(std::uint64_t state) { state_ = state; }
  // One of 0 … n − 1, n > 0.
  std::size_t below(std::size_t n) {
    const auto k = static_cast<std::size_t>(uniform() * static_cast<double>(n));
    return k < n ? k : n - 1;
  }

 private:
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

}  // namespace everytree
