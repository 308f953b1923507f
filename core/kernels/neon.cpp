// NEON (64-bit ARM): byte popcount instruction, widened once per 31 chunks.
#include <arm_neon.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/kernels.hpp"
#include "kernels/lanes.hpp"
#include "kernels/row_kernels.hpp"

namespace everytree::neon {

static inline std::uint64_t popcount64(std::uint64_t x) { return static_cast<std::uint64_t>(std::popcount(x)); }

#include "kernels/compress.hpp"

struct Lanes {
  static constexpr std::size_t kWidth = 4;
  using Vec = uint32x4_t;
  template <std::size_t kRows>
  static void popcounts(const std::uint32_t* i, const std::uint32_t* j, std::size_t n, Vec* total) {
    while (n > 0) {
      const std::size_t block = n < 31 ? n : 31;  // a byte holds 31 × 8
      n -= block;
      uint8x16_t sum[kRows];
      for (uint8x16_t& s : sum) s = vdupq_n_u8(0);
      for (std::size_t k = 0; k < block; ++k, i += RowBlock::kTile, j += RowBlock::kTile) {
        const uint32x4_t word = vld1q_u32(j);
        for (std::size_t r = 0; r < kRows; ++r)
          sum[r] = vaddq_u8(sum[r], vcntq_u8(vreinterpretq_u8_u32(vandq_u32(word, vdupq_n_u32(i[r])))));
      }
      for (std::size_t r = 0; r < kRows; ++r) total[r] = vpadalq_u16(total[r], vpaddlq_u8(sum[r]));
    }
  }
};

#include "kernels/four_portable.hpp"
#include "kernels/generic.hpp"
#include "kernels/lanes_generic.hpp"
#include "kernels/row_generic.hpp"

extern const Kernels table;
const Kernels table = table_of("neon");

}  // namespace everytree::neon
