// AVX-512 with vpopcntdq: sixteen pairs of tests per instruction.
#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "kernels/kernels.hpp"
#include "kernels/lanes.hpp"
#include "kernels/row_kernels.hpp"

namespace everytree::avx512 {

#include "kernels/compress_x86.hpp"

struct Lanes {
  static constexpr std::size_t kWidth = 16;
  using Vec = __m512i;
  template <std::size_t kRows>
  static void popcounts(const std::uint32_t* i, const std::uint32_t* j, std::size_t n, Vec* sum) {
    for (std::size_t k = 0; k < n; ++k, i += RowBlock::kTile, j += RowBlock::kTile) {
      const __m512i word = _mm512_loadu_si512(j);
      for (std::size_t r = 0; r < kRows; ++r)
        sum[r] = _mm512_add_epi32(
            sum[r], _mm512_popcnt_epi32(_mm512_and_si512(word, _mm512_set1_epi32(static_cast<int>(i[r])))));
    }
  }
};

#include "kernels/four_x86.hpp"
#include "kernels/generic.hpp"
#include "kernels/lanes_generic.hpp"
#include "kernels/row_generic.hpp"

extern const Kernels table;
const Kernels table = table_of("avx512");

}  // namespace everytree::avx512
