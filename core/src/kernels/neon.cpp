// NEON (64-bit ARM): byte popcount instruction, widened once per 31 chunks.
#include <arm_neon.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "everytree/kernels/kernels.hpp"

namespace everytree::neon {

static inline std::uint64_t popcount64(std::uint64_t x) { return static_cast<std::uint64_t>(std::popcount(x)); }

#include "kernels/compress.hpp"

struct Lanes {
  static constexpr std::size_t kWidth = 4;
  static uint32x4_t popcounts(const std::uint32_t* i, const std::uint32_t* j, std::size_t stride, std::size_t n) {
    uint32x4_t total = vdupq_n_u32(0);
    while (n > 0) {
      const std::size_t block = n < 31 ? n : 31;  // a byte holds 31 × 8
      n -= block;
      uint8x16_t sum = vdupq_n_u8(0);
      for (std::size_t k = 0; k < block; ++k, i += stride, j += stride)
        sum = vaddq_u8(sum, vcntq_u8(vreinterpretq_u8_u32(vandq_u32(vld1q_u32(j), vdupq_n_u32(*i)))));
      total = vpadalq_u16(total, vpaddlq_u8(sum));
    }
    return total;
  }
};

#include "kernels/four_portable.hpp"
#include "kernels/generic.hpp"

extern const Kernels table;
const Kernels table = table_of("neon");

}  // namespace everytree::neon
