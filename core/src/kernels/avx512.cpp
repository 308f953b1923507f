// AVX-512 with vpopcntdq: sixteen pairs of tests per instruction.
#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "everytree/kernels/kernels.hpp"

namespace everytree::avx512 {

static inline std::uint64_t popcount64(std::uint64_t x) { return static_cast<std::uint64_t>(_mm_popcnt_u64(x)); }
// The bits of a word under the mask of a step, moved together.
struct Compress {
  const PackStep* steps;
  Compress(const PackStep* steps, std::size_t) : steps(steps) {}
  std::uint64_t operator()(std::uint64_t value, std::size_t step) const { return _pext_u64(value, steps[step].mask); }
};

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
