// The kernels of lanes.hpp in 256 bits: the lanes of a step are two halves, each walked through a segment in registers.
// Bits become bytes by a shuffle, and running sums begin at 128, so that a place that may not be cut is the neutral
// element of an unsigned minimum (255) or maximum (0) by one instruction.
//
// Included by avx2.cpp inside its namespace.

// 255 where the bit of a half is set.
static inline __m256i bytes_of(std::uint64_t bits, int half) {
  const __m256i spread =
      _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
  const __m256i each = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ull));
  const __m256i all = _mm256_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(bits >> (32 * half))));
  return _mm256_cmpeq_epi8(_mm256_and_si256(_mm256_shuffle_epi8(all, spread), each), each);
}

static inline __m256i at_most_bytes(const std::uint16_t* codes, __m256i bound) {
  const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes));
  const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + 16));
  const __m256i low = _mm256_cmpeq_epi16(_mm256_min_epu16(a, bound), a);
  const __m256i high = _mm256_cmpeq_epi16(_mm256_min_epu16(b, bound), b);
  return _mm256_permute4x64_epi64(_mm256_packs_epi16(low, high), 0xd8);
}

static void at_most16(const std::uint16_t* codes, const std::uint64_t* rows, std::size_t n_steps, std::uint16_t cut,
                      std::uint64_t* sides) {
  const __m256i bound = _mm256_set1_epi16(static_cast<short>(cut));
  for (std::size_t s = 0; s < n_steps; ++s, codes += 64) {
    const auto low = static_cast<std::uint32_t>(_mm256_movemask_epi8(at_most_bytes(codes, bound)));
    const auto high = static_cast<std::uint32_t>(_mm256_movemask_epi8(at_most_bytes(codes + 32, bound)));
    sides[s] = (low | static_cast<std::uint64_t>(high) << 32) & rows[s];
  }
}

static void at_most32(const std::uint32_t* codes, const std::uint64_t* rows, std::size_t n_steps, std::uint32_t cut,
                      std::uint64_t* sides) {
  const __m256i bound = _mm256_set1_epi32(static_cast<int>(cut));
  for (std::size_t s = 0; s < n_steps; ++s, codes += 64) {
    std::uint64_t bits = 0;
    for (int k = 0; k < 8; ++k) {
      const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + 8 * k));
      const __m256i below = _mm256_cmpeq_epi32(_mm256_min_epu32(x, bound), x);
      bits |= static_cast<std::uint64_t>(_mm256_movemask_ps(_mm256_castsi256_ps(below))) << (8 * k);
    }
    sides[s] = bits & rows[s];
  }
}

static void gather16(const std::uint16_t* from, const std::uint32_t* places, std::size_t n, std::uint16_t* to) {
  for (std::size_t k = 0; k < n; ++k) to[k] = from[places[k]];
}
static void gather32(const std::uint32_t* from, const std::uint32_t* places, std::size_t n, std::uint32_t* to) {
  for (std::size_t k = 0; k < n; ++k) to[k] = from[places[k]];
}

// Inclusive sums of 16 words.
static inline __m256i running_words(__m256i x) {
  x = _mm256_add_epi16(x, _mm256_slli_si256(x, 2));
  x = _mm256_add_epi16(x, _mm256_slli_si256(x, 4));
  x = _mm256_add_epi16(x, _mm256_slli_si256(x, 8));
  // The last word of the lower half to all of the upper.
  const __m256i lower = _mm256_permute2x128_si256(x, x, 0x08);  // zeros, lower
  return _mm256_add_epi16(x, _mm256_shuffle_epi8(lower, _mm256_set1_epi16(0x0f0e)));
}

static inline std::int32_t last_word(__m256i x) { return static_cast<std::int16_t>(_mm256_extract_epi16(x, 15)); }

static inline std::int32_t least_word(__m256i x) {
  const __m128i eight = _mm_min_epi16(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  const __m128i least = _mm_minpos_epu16(_mm_xor_si128(eight, _mm_set1_epi16(-32768)));
  return static_cast<std::int16_t>(_mm_extract_epi16(least, 0) ^ 0x8000);
}

// Running sums of half a step: at each place so far, the least and the greatest where it may be cut.
struct HalfSums {
  __m256i sum = _mm256_set1_epi8(-128), low = _mm256_set1_epi8(-1), high = _mm256_setzero_si256();
  void look(__m256i cuts) {
    low = _mm256_min_epu8(low, _mm256_or_si256(sum, _mm256_xor_si256(cuts, _mm256_set1_epi8(-1))));
    high = _mm256_max_epu8(high, _mm256_and_si256(sum, cuts));
  }
  void look(__m256i cuts, __m256i others) {
    low = _mm256_min_epu8(low, _mm256_or_si256(sum, others));
    high = _mm256_max_epu8(high, _mm256_and_si256(sum, cuts));
  }
  // At the end of a segment: what each lane adds up to moves those after it; `before` is the sum of the lanes before
  // these, and becomes that before the next. Lanes without a cut have a greatest of 0, which no sum is: all are within
  // 127 of 128.
  void widen(Extremes& out, std::int32_t& before) const {
    const __m256i zero = _mm256_setzero_si256(), middle = _mm256_set1_epi16(128);
    const __m256i most = _mm256_set1_epi16(32767);
    const __m256i none = _mm256_cmpeq_epi8(high, zero);
    const auto words = [&](__m256i x, int k) {
      const __m128i half = k == 0 ? _mm256_castsi256_si128(x) : _mm256_extracti128_si256(x, 1);
      return _mm256_sub_epi16(_mm256_cvtepu8_epi16(half), middle);
    };
    __m256i least = most, greatest = most;
    std::int32_t first = 0;
    for (int k = 0; k < 2; ++k) {
      const __m256i ends = words(sum, k), all = running_words(ends);
      const __m256i base = _mm256_add_epi16(_mm256_sub_epi16(all, ends), _mm256_set1_epi16(static_cast<short>(first)));
      const __m256i gone =
          _mm256_cvtepi8_epi16(k == 0 ? _mm256_castsi256_si128(none) : _mm256_extracti128_si256(none, 1));
      const __m256i l = _mm256_add_epi16(base, words(low, k));
      const __m256i h = _mm256_sub_epi16(zero, _mm256_add_epi16(base, words(high, k)));
      least = _mm256_min_epi16(least, _mm256_blendv_epi8(l, most, gone));
      greatest = _mm256_min_epi16(greatest, _mm256_blendv_epi8(h, most, gone));
      first += last_word(all);
    }
    if (_mm256_movemask_epi8(none) != -1) {
      const std::int32_t bottom = before + least_word(least), top = before - least_word(greatest);
      out.low = out.low < bottom ? out.low : bottom;
      out.high = out.high > top ? out.high : top;
    }
    before += first;
  }
};

static void extremes_of_sides(const std::int8_t* signs, const std::uint64_t* rows, const std::uint64_t* sides,
                              const std::uint64_t* cuts1, const std::uint64_t* cuts0, LaneShape shape,
                              Extremes out[2]) {
  out[0] = out[1] = Extremes{};
  std::int32_t before1 = 0, before0 = 0;
  for (std::size_t g = 0; g < shape.segments; ++g)
    for (int half = 0; half < 2; ++half) {
      HalfSums one, zero;
      for (std::size_t s = g * shape.length; s < (g + 1) * shape.length; ++s) {
        const __m256i sign = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(signs + 64 * s + 32 * half));
        one.sum = _mm256_add_epi8(one.sum, _mm256_and_si256(sign, bytes_of(sides[s] & rows[s], half)));
        zero.sum = _mm256_add_epi8(zero.sum, _mm256_and_si256(sign, bytes_of(rows[s] & ~sides[s], half)));
        one.look(bytes_of(cuts1[s], half));
        zero.look(bytes_of(cuts0[s], half));
      }
      one.widen(out[1], before1);
      zero.widen(out[0], before0);
    }
}

static void extremes_at16(const std::uint16_t* codes, std::uint16_t cut, const std::int8_t* signs,
                          const std::uint64_t* rows, const std::uint64_t* cuts, LaneShape shape, Extremes out[2]) {
  out[0] = out[1] = Extremes{};
  std::int32_t before1 = 0, before0 = 0;
  const __m256i bound = _mm256_set1_epi16(static_cast<short>(cut));
  for (std::size_t g = 0; g < shape.segments; ++g)
    for (int half = 0; half < 2; ++half) {
      HalfSums one, zero;
      for (std::size_t s = g * shape.length; s < (g + 1) * shape.length; ++s) {
        const std::size_t at = 64 * s + 32 * static_cast<std::size_t>(half);
        const __m256i below = at_most_bytes(codes + at, bound), may = bytes_of(cuts[s], half);
        const __m256i may_not = _mm256_xor_si256(may, _mm256_set1_epi8(-1));
        const __m256i sign =
            _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(signs + at)), bytes_of(rows[s], half));
        one.sum = _mm256_add_epi8(one.sum, _mm256_and_si256(below, sign));
        zero.sum = _mm256_add_epi8(zero.sum, _mm256_andnot_si256(below, sign));
        one.look(may, may_not);
        zero.look(may, may_not);
      }
      one.widen(out[1], before1);
      zero.widen(out[0], before0);
    }
}

static void extremes_of_pair(const std::uint64_t* plus, const std::uint64_t* minus, const std::uint64_t* rows,
                             const std::uint64_t* sides, std::uint64_t flip, const std::uint64_t* cuts, LaneShape shape,
                             Extremes* out) {
  *out = Extremes{};
  std::int32_t before = 0;
  for (std::size_t g = 0; g < shape.segments; ++g)
    for (int half = 0; half < 2; ++half) {
      HalfSums lanes;
      for (std::size_t s = g * shape.length; s < (g + 1) * shape.length; ++s) {
        const std::uint64_t in = (sides[s] ^ flip) & rows[s];
        // 255 is −1.
        lanes.sum = _mm256_sub_epi8(lanes.sum, bytes_of(in & plus[s], half));
        lanes.sum = _mm256_add_epi8(lanes.sum, bytes_of(in & minus[s], half));
        lanes.look(bytes_of(cuts[s], half));
      }
      lanes.widen(*out, before);
    }
}

// A lane with r rows up to a step may be cut there if low < r <= high, which saturate: no lane has more than 127 rows.
static void sized_cuts(const std::uint64_t* rows, const std::uint64_t* sides, std::uint64_t flip,
                       const std::uint64_t* may, std::int64_t least, std::int64_t total, LaneShape shape,
                       std::uint64_t* cuts) {
  std::int64_t before = 0;
  for (std::size_t g = 0; g < shape.segments; ++g)
    for (int half = 0; half < 2; ++half) {
      const std::size_t first = g * shape.length, stop = first + shape.length;
      __m256i sum = _mm256_setzero_si256();
      for (std::size_t s = first; s < stop; ++s)
        sum = _mm256_sub_epi8(sum, bytes_of((sides[s] ^ flip) & rows[s], half));
      const __m256i ends[2] = {_mm256_cvtepu8_epi16(_mm256_castsi256_si128(sum)),
                               _mm256_cvtepu8_epi16(_mm256_extracti128_si256(sum, 1))};
      const __m256i all[2] = {running_words(ends[0]), running_words(ends[1])};
      const std::int64_t below = last_word(all[0]);
      const auto from = [&](std::int64_t n) {
        const auto words = [&](int k, std::int64_t left) {
          return _mm256_sub_epi16(_mm256_set1_epi16(in_word(left)), _mm256_sub_epi16(all[k], ends[k]));
        };
        const __m256i both = _mm256_packs_epi16(words(0, n - before), words(1, n - before - below));
        return _mm256_permute4x64_epi64(both, 0xd8);
      };
      const __m256i low = from(least - 1), high = from(total - least);
      sum = _mm256_setzero_si256();
      for (std::size_t s = first; s < stop; ++s) {
        sum = _mm256_sub_epi8(sum, bytes_of((sides[s] ^ flip) & rows[s], half));
        const __m256i enough = _mm256_andnot_si256(_mm256_cmpgt_epi8(sum, high), _mm256_cmpgt_epi8(sum, low));
        const auto bits = static_cast<std::uint32_t>(_mm256_movemask_epi8(enough));
        cuts[s] = (half == 0 ? 0 : cuts[s]) | (static_cast<std::uint64_t>(bits) << (32 * half) & may[s]);
      }
      before += below + last_word(all[1]);
    }
}

static void count_runs(const std::uint64_t* rows, const std::uint64_t* sides, std::uint64_t flip, LaneShape shape,
                       std::uint8_t* runs) {
  for (std::size_t g = 0; g < shape.segments; ++g)
    for (int half = 0; half < 2; ++half) {
      __m256i sum = _mm256_setzero_si256();
      for (std::size_t s = g * shape.length; s < (g + 1) * shape.length; ++s) {
        sum = _mm256_sub_epi8(sum, bytes_of((sides[s] ^ flip) & rows[s], half));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(runs + 64 * s + 32 * half), sum);
      }
    }
}

extern const LaneKernels lanes;
const LaneKernels lanes = {at_most16,     at_most32,        gather16,   gather32,  extremes_of_sides,
                           extremes_at16, extremes_of_pair, sized_cuts, count_runs};
