// Kernels for any machine: 128-bit vectors through the compiler's vector types, popcount by adding in parallel.
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/kernels.hpp"
#include "kernels/lanes.hpp"
#include "kernels/row_kernels.hpp"

namespace everytree::portable {

static inline std::uint64_t popcount64(std::uint64_t x) {
  x -= (x >> 1) & 0x5555555555555555ULL;
  x = (x & 0x3333333333333333ULL) + ((x >> 2) & 0x3333333333333333ULL);
  return (((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fULL) * 0x0101010101010101ULL) >> 56;
}

#include "kernels/compress.hpp"

struct Lanes {
  static constexpr std::size_t kWidth = 8;
  typedef std::uint32_t Vec
      __attribute__((vector_size(32)));  // two 128-bit registers hide the latency of the long popcount
  static Vec at(const std::uint32_t* from) {
    Vec v;
    std::memcpy(&v, from, sizeof v);
    return v;
  }
  // Bits counted in fields of two, then of four bits.
  static Vec pairs(Vec x) { return x - ((x >> 1) & 0x55555555u); }
  static Vec nibbles(Vec x) { return (x & 0x33333333u) + ((x >> 2) & 0x33333333u); }
  static Vec bytes(Vec x) { return (x & 0x0f0f0f0fu) + ((x >> 4) & 0x0f0f0f0fu); }

  template <std::size_t kRows>
  static void popcounts(const std::uint32_t* i, const std::uint32_t* j, std::size_t n, Vec* total) {
    for (std::size_t r = 0; r < kRows; ++r) total[r] += popcounts(i + r, j, n);
  }
  static Vec popcounts(const std::uint32_t* i, const std::uint32_t* j, std::size_t n) {
    constexpr std::size_t stride = RowBlock::kTile;
    Vec total = Vec{};
    while (n > 0) {
      const std::size_t block = n < 30 ? n : 30;  // a byte holds 10 × 24
      n -= block;
      Vec sum = Vec{};
      std::size_t k = 0;
      // Three words at a time: a full adder leaves two words, ones and twos, and their fields of four bits add up to
      // at most 12. A third less work than word by word.
      for (; k + 3 <= block; k += 3, i += 3 * stride, j += 3 * stride) {
        const Vec a = at(j) & i[0], b = at(j + stride) & i[stride], c = at(j + 2 * stride) & i[2 * stride];
        const Vec half = a ^ b;
        const Vec ones = half ^ c, twos = (a & b) | (half & c);
        sum += bytes(nibbles(pairs(ones)) + (nibbles(pairs(twos)) << 1));
      }
      if (k + 2 <= block) {
        sum += bytes(nibbles(pairs(at(j) & i[0])) + nibbles(pairs(at(j + stride) & i[stride])));
        k += 2;
        i += 2 * stride;
        j += 2 * stride;
      }
      if (k < block) {
        sum += bytes(nibbles(pairs(at(j) & i[0])));
        i += stride;
        j += stride;
      }
      sum = (sum & 0x00ff00ffu) + ((sum >> 8) & 0x00ff00ffu);
      total += (sum & 0xffffu) + (sum >> 16);
    }
    return total;
  }
};

#include "kernels/four_portable.hpp"
#include "kernels/generic.hpp"
#include "kernels/lanes_generic.hpp"
#include "kernels/row_generic.hpp"

extern const Kernels table;
const Kernels table = table_of("portable");

}  // namespace everytree::portable
