// NEON (64-bit ARM): byte popcount instruction, widened once per 31 chunks.
#include <arm_neon.h>

#include <bit>
#include <cstdint>
#include <cstring>

#include "everytree/kernels/kernels.hpp"

namespace everytree::neon {

static inline std::uint64_t popcount64(std::uint64_t x) { return static_cast<std::uint64_t>(std::popcount(x)); }

static inline std::uint64_t compress(std::uint64_t value, std::uint64_t mask) {
  if (mask == ~0ULL) return value;
  std::uint64_t out = 0;
  for (int k = 0; mask != 0; mask &= mask - 1, ++k) out |= static_cast<std::uint64_t>((value & mask & -mask) != 0) << k;
  return out;
}

struct Lanes {
  static constexpr std::size_t kWidth = 4;
  using Counts = uint32x4_t;
  static Counts zero() { return vdupq_n_u32(0); }
  struct Acc {
    uint32x4_t sum = vdupq_n_u32(0);
    uint8x16_t bytes = vdupq_n_u8(0);
    int pending = 0;
    void add(const std::uint32_t* j, std::uint32_t i) {
      bytes = vaddq_u8(bytes, vcntq_u8(vreinterpretq_u8_u32(vandq_u32(vld1q_u32(j), vdupq_n_u32(i)))));
      if (++pending == 31) flush();
    }
    void flush() {
      sum = vpadalq_u16(sum, vpaddlq_u8(bytes));
      bytes = vdupq_n_u8(0);
      pending = 0;
    }
    Counts finish() {
      flush();
      return sum;
    }
  };
  static Counts multiply_add(Counts x, std::int32_t factor, Counts sum) {
    return vmlaq_u32(sum, x, vdupq_n_u32(static_cast<std::uint32_t>(factor)));
  }
  static void store(std::int32_t* out, Counts x) { vst1q_s32(out, vreinterpretq_s32_u32(x)); }
};

#include "kernels/look_up.hpp"
#include "kernels/generic.hpp"

extern const Kernels table;
const Kernels table = table_of("neon");

}  // namespace everytree::neon
