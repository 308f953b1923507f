// AVX-512 with vpopcntdq: sixteen pairs of tests per instruction.
#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "everytree/kernels/kernels.hpp"

namespace everytree::avx512 {

static inline std::uint64_t popcount64(std::uint64_t x) { return static_cast<std::uint64_t>(_mm_popcnt_u64(x)); }
static inline std::uint64_t compress(std::uint64_t value, std::uint64_t mask) { return _pext_u64(value, mask); }

struct Lanes {
  static constexpr std::size_t kWidth = 16;
  using Counts = __m512i;
  static Counts zero() { return _mm512_setzero_si512(); }
  struct Acc {
    __m512i sum = _mm512_setzero_si512();
    void add(const std::uint32_t* j, std::uint32_t i) {
      const __m512i x = _mm512_and_si512(_mm512_loadu_si512(j), _mm512_set1_epi32(static_cast<int>(i)));
      sum = _mm512_add_epi32(sum, _mm512_popcnt_epi32(x));
    }
    Counts finish() { return sum; }
  };
  static Counts multiply_add(Counts x, std::int32_t factor, Counts sum) {
    return _mm512_add_epi32(_mm512_mullo_epi32(x, _mm512_set1_epi32(factor)), sum);
  }
  static void store(std::int32_t* out, Counts x) { _mm512_storeu_si512(out, x); }
};

#include "kernels/look_up_x86.hpp"
#include "kernels/generic.hpp"

extern const Kernels table;
const Kernels table = table_of("avx512");

}  // namespace everytree::avx512
