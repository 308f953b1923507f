// AVX-512 with vpopcntdq: sixteen pairs of tests per instruction.
#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "everytree/kernels/kernels.hpp"

namespace everytree::avx512 {

#include "kernels/compress_x86.hpp"

struct Lanes {
  static constexpr std::size_t kWidth = 16;
  static __m512i popcounts(const std::uint32_t* i, const std::uint32_t* j, std::size_t stride, std::size_t n) {
    __m512i sum = _mm512_setzero_si512();
    for (std::size_t k = 0; k < n; ++k, i += stride, j += stride)
      sum = _mm512_add_epi32(
          sum, _mm512_popcnt_epi32(_mm512_and_si512(_mm512_loadu_si512(j), _mm512_set1_epi32(static_cast<int>(*i)))));
    return sum;
  }
};

#include "kernels/four_x86.hpp"
#include "kernels/generic.hpp"

extern const Kernels table;
const Kernels table = table_of("avx512");

}  // namespace everytree::avx512
