// Kernels for any machine: 128-bit vectors through the compiler's vector types, popcount by adding in parallel.
#include <cstdint>
#include <cstring>

#include "everytree/kernels/kernels.hpp"

namespace everytree::portable {

static inline std::uint64_t popcount64(std::uint64_t x) {
  x -= (x >> 1) & 0x5555555555555555ULL;
  x = (x & 0x3333333333333333ULL) + ((x >> 2) & 0x3333333333333333ULL);
  return (((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fULL) * 0x0101010101010101ULL) >> 56;
}

// The bits of `value` under `mask`, moved together: parallel suffix, six rounds (Hacker's Delight, 7-4).
static inline std::uint64_t compress(std::uint64_t value, std::uint64_t mask) {
  if (mask == ~0ULL) return value;
  value &= mask;
  std::uint64_t to_right = ~mask << 1;
  for (int round = 0; round < 6; ++round) {
    std::uint64_t parity = to_right ^ (to_right << 1);
    parity ^= parity << 2;
    parity ^= parity << 4;
    parity ^= parity << 8;
    parity ^= parity << 16;
    parity ^= parity << 32;
    const std::uint64_t moved = parity & mask;
    mask = (mask ^ moved) | (moved >> (1 << round));
    const std::uint64_t t = value & moved;
    value = (value ^ t) | (t >> (1 << round));
    to_right &= ~parity;
  }
  return value;
}

struct Lanes {
  static constexpr std::size_t kWidth = 8;  // two vectors at once hide the latency of the long popcount
  typedef std::uint32_t Vec __attribute__((vector_size(16)));
  struct Counts {
    Vec v[2];
  };
  static Counts zero() { return {}; }
  static Vec byte_counts(Vec x) {
    x -= (x >> 1) & 0x55555555u;
    x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
    return (x + (x >> 4)) & 0x0f0f0f0fu;
  }
  static Vec add_bytes(Vec x) {
    x = (x & 0x00ff00ffu) + ((x >> 8) & 0x00ff00ffu);
    return (x & 0xffffu) + (x >> 16);
  }
  struct Acc {
    Vec sum[2] = {}, bytes[2] = {};
    int pending = 0;
    void add(const std::uint32_t* j, std::uint32_t i) {
      Vec x[2];
      std::memcpy(x, j, sizeof x);
      bytes[0] += byte_counts(x[0] & i);
      bytes[1] += byte_counts(x[1] & i);
      if (++pending == 31) flush();  // a byte holds 31 × 8
    }
    void flush() {
      for (int k = 0; k < 2; ++k) {
        sum[k] += add_bytes(bytes[k]);
        bytes[k] = Vec{};
      }
      pending = 0;
    }
    Counts finish() {
      flush();
      return {{sum[0], sum[1]}};
    }
  };
  static Counts multiply_add(Counts x, std::int32_t factor, Counts sum) {
    const auto f = static_cast<std::uint32_t>(factor);
    return {{x.v[0] * f + sum.v[0], x.v[1] * f + sum.v[1]}};
  }
  static void store(std::int32_t* out, Counts x) { std::memcpy(out, x.v, sizeof x.v); }
};

#include "kernels/look_up.hpp"
#include "kernels/generic.hpp"

extern const Kernels table;
const Kernels table = table_of("portable");

}  // namespace everytree::portable
