// AVX2 + BMI2: popcount by table look-up in registers, packing by pext.
#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "kernels/kernels.hpp"
#include "kernels/lanes.hpp"
#include "kernels/row_kernels.hpp"

namespace everytree::avx2 {

#include "kernels/compress_x86.hpp"

struct Lanes {
  static constexpr std::size_t kWidth = 8;
  using Vec = __m256i;
  static __m256i byte_counts(__m256i x) {
    const __m256i low = _mm256_set1_epi8(0x0f);
    const __m256i counts = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1,
                                            2, 2, 3, 2, 3, 3, 4);
    return _mm256_add_epi8(_mm256_shuffle_epi8(counts, _mm256_and_si256(x, low)),
                           _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi16(x, 4), low)));
  }
  template <std::size_t kRows>
  static void popcounts(const std::uint32_t* i, const std::uint32_t* j, std::size_t n, Vec* total) {
    while (n > 0) {
      const std::size_t block = n < 31 ? n : 31;  // a byte holds 31 × 8
      n -= block;
      __m256i sum[kRows];
      for (__m256i& s : sum) s = _mm256_setzero_si256();
      for (std::size_t k = 0; k < block; ++k, i += RowBlock::kTile, j += RowBlock::kTile) {
        const __m256i word = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(j));
        for (std::size_t r = 0; r < kRows; ++r)
          sum[r] =
              _mm256_add_epi8(sum[r], byte_counts(_mm256_and_si256(word, _mm256_set1_epi32(static_cast<int>(i[r])))));
      }
      for (std::size_t r = 0; r < kRows; ++r) {
        const __m256i pairs = _mm256_maddubs_epi16(sum[r], _mm256_set1_epi8(1));
        total[r] = _mm256_add_epi32(total[r], _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
      }
    }
  }
};

#include "kernels/four_x86.hpp"
#include "kernels/generic.hpp"
#include "kernels/lanes_avx2.hpp"
#include "kernels/row_generic.hpp"

extern const Kernels table;
const Kernels table = table_of("avx2");

}  // namespace everytree::avx2
