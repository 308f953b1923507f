// AVX2 + BMI2: popcount by table look-up in registers, packing by pext.
#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "everytree/kernels/kernels.hpp"

namespace everytree::avx2 {

static inline std::uint64_t popcount64(std::uint64_t x) { return static_cast<std::uint64_t>(_mm_popcnt_u64(x)); }
static inline std::uint64_t compress(std::uint64_t value, std::uint64_t mask) { return _pext_u64(value, mask); }

struct Lanes {
  static constexpr std::size_t kWidth = 8;
  using Counts = __m256i;
  static Counts zero() { return _mm256_setzero_si256(); }
  struct Acc {
    __m256i sum = _mm256_setzero_si256(), bytes = _mm256_setzero_si256();
    int pending = 0;
    void add(const std::uint32_t* j, std::uint32_t i) {
      const __m256i low = _mm256_set1_epi8(0x0f);
      const __m256i counts = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2,
                                              3, 2, 3, 3, 4);
      const __m256i x = _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(j)),
                                         _mm256_set1_epi32(static_cast<int>(i)));
      bytes = _mm256_add_epi8(bytes, _mm256_shuffle_epi8(counts, _mm256_and_si256(x, low)));
      bytes = _mm256_add_epi8(bytes, _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi16(x, 4), low)));
      if (++pending == 31) flush();  // a byte holds 31 × 8
    }
    void flush() {
      const __m256i pairs = _mm256_maddubs_epi16(bytes, _mm256_set1_epi8(1));
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
      bytes = _mm256_setzero_si256();
      pending = 0;
    }
    Counts finish() {
      flush();
      return sum;
    }
  };
  static Counts multiply_add(Counts x, std::int32_t factor, Counts sum) {
    return _mm256_add_epi32(_mm256_mullo_epi32(x, _mm256_set1_epi32(factor)), sum);
  }
  static void store(std::int32_t* out, Counts x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), x); }
};

#include "kernels/look_up_x86.hpp"
#include "kernels/generic.hpp"

extern const Kernels table;
const Kernels table = table_of("avx2");

}  // namespace everytree::avx2
