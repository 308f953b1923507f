// The kernels of lanes.hpp: in 512 bits one instruction advances all lanes of a step, elsewhere lanes are walked one by
// one. Included by the file of each instruction set, inside its namespace.

#if defined(__AVX512BW__)

// Masks are put together as masks: gcc 12 widens a mask to 64 bits by writing 32 of them to the stack and reading 64,
// when it has no register for it (seen under the thread sanitizer).
static void at_most16(const std::uint16_t* codes, const std::uint64_t* rows, std::size_t n_steps, std::uint16_t cut,
                      std::uint64_t* sides) {
  const __m512i bound = _mm512_set1_epi16(static_cast<short>(cut));
  for (std::size_t s = 0; s < n_steps; ++s, codes += 64) {
    const __mmask32 low = _mm512_cmple_epu16_mask(_mm512_loadu_si512(codes), bound);
    const __mmask32 high = _mm512_cmple_epu16_mask(_mm512_loadu_si512(codes + 32), bound);
    sides[s] = _cvtmask64_u64(_mm512_kunpackd(high, low)) & rows[s];
  }
}

static void at_most32(const std::uint32_t* codes, const std::uint64_t* rows, std::size_t n_steps, std::uint32_t cut,
                      std::uint64_t* sides) {
  const __m512i bound = _mm512_set1_epi32(static_cast<int>(cut));
  for (std::size_t s = 0; s < n_steps; ++s, codes += 64) {
    __mmask16 part[4];
    for (int k = 0; k < 4; ++k) part[k] = _mm512_cmple_epu32_mask(_mm512_loadu_si512(codes + 16 * k), bound);
    const __mmask32 low = _mm512_kunpackw(part[1], part[0]), high = _mm512_kunpackw(part[3], part[2]);
    sides[s] = _cvtmask64_u64(_mm512_kunpackd(high, low)) & rows[s];
  }
}

static void gather16(const std::uint16_t* from, const std::uint32_t* places, std::size_t n, std::uint16_t* to) {
  for (std::size_t k = 0; k < n; k += 16) {
    const __m512i found = _mm512_i32gather_epi32(_mm512_loadu_si512(places + k), from, 2);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + k), _mm512_cvtepi32_epi16(found));
  }
}

static void gather32(const std::uint32_t* from, const std::uint32_t* places, std::size_t n, std::uint32_t* to) {
  for (std::size_t k = 0; k < n; k += 16)
    _mm512_storeu_si512(to + k, _mm512_i32gather_epi32(_mm512_loadu_si512(places + k), from, 4));
}

// Words moved up by `k` places, zeros below.
template <int k>
static inline __m512i up_words(__m512i x) {
  alignas(64) static constexpr auto index = [] {
    struct {
      std::uint16_t at[32];
    } made{};
    for (int i = 0; i < 32; ++i) made.at[i] = static_cast<std::uint16_t>(i >= k ? i - k : 0);
    return made;
  }();
  return _mm512_maskz_permutexvar_epi16(0xffffffffu << k, _mm512_load_si512(index.at), x);
}

// Inclusive sums of 32 words.
static inline __m512i running_words(__m512i x) {
  x = _mm512_add_epi16(x, up_words<1>(x));
  x = _mm512_add_epi16(x, up_words<2>(x));
  x = _mm512_add_epi16(x, up_words<4>(x));
  x = _mm512_add_epi16(x, up_words<8>(x));
  return _mm512_add_epi16(x, up_words<16>(x));
}

static inline std::int32_t least_word(__m512i x) {
  const __m256i half = _mm256_min_epi16(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64(x, 1));
  const __m128i eight = _mm_min_epi16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  const __m128i least = _mm_minpos_epu16(_mm_xor_si128(eight, _mm_set1_epi16(-32768)));
  return static_cast<std::int16_t>(_mm_extract_epi16(least, 0) ^ 0x8000);
}

static inline std::int32_t last_word(__m512i x) {
  return static_cast<std::int16_t>(_mm_extract_epi16(_mm512_extracti32x4_epi32(x, 3), 7));
}

// The lanes of one segment: what each adds up to moves those after it. A segment has less than 2^13 rows: its sums fit
// words, with room for the mark of lanes without a cut.
struct LaneSums {
  __m512i base[2];  // the sum before each lane, lanes 0–31 and 32–63
  std::int32_t total;
  explicit LaneSums(__m512i ends) {
    const __m512i low = _mm512_cvtepi8_epi16(_mm512_castsi512_si256(ends));
    const __m512i high = _mm512_cvtepi8_epi16(_mm512_extracti64x4_epi64(ends, 1));
    const __m512i sum = running_words(low);
    const std::int32_t first = last_word(sum);
    const __m512i next = _mm512_add_epi16(running_words(high), _mm512_set1_epi16(static_cast<short>(first)));
    base[0] = _mm512_sub_epi16(sum, low);
    base[1] = _mm512_sub_epi16(next, high);
    total = last_word(next);
  }
  LaneSums(const LaneSums& all, const LaneSums& part) {
    for (int k = 0; k < 2; ++k) base[k] = _mm512_sub_epi16(all.base[k], part.base[k]);
    total = all.total - part.total;
  }
  void widen(Extremes& out, std::int32_t before, __m512i low, __m512i high, std::uint64_t has) const {
    if (has == 0) return;
    const auto at = [&](__m512i x, int k) {
      return _mm512_add_epi16(
          base[k], _mm512_cvtepi8_epi16(k == 0 ? _mm512_castsi512_si256(x) : _mm512_extracti64x4_epi64(x, 1)));
    };
    const auto has0 = static_cast<__mmask32>(has), has1 = static_cast<__mmask32>(has >> 32);
    const __m512i most = _mm512_set1_epi16(32767), zero = _mm512_setzero_si512();
    __m512i l = _mm512_mask_mov_epi16(most, has0, at(low, 0));
    l = _mm512_min_epi16(l, _mm512_mask_mov_epi16(most, has1, at(low, 1)));
    __m512i h = _mm512_mask_sub_epi16(most, has0, zero, at(high, 0));
    h = _mm512_min_epi16(h, _mm512_mask_sub_epi16(most, has1, zero, at(high, 1)));
    out.low = out.low < before + least_word(l) ? out.low : before + least_word(l);
    out.high = out.high > before - least_word(h) ? out.high : before - least_word(h);
  }
};

static void extremes_of_sides(const std::int8_t* signs, const std::uint64_t* rows, const std::uint64_t* sides,
                              const std::uint64_t* cuts1, const std::uint64_t* cuts0, LaneShape shape,
                              Extremes out[2]) {
  out[0] = out[1] = Extremes{};
  std::int32_t before1 = 0, before0 = 0;
  for (std::size_t g = 0; g < shape.segments; ++g) {
    const __m512i top = _mm512_set1_epi8(127), bottom = _mm512_set1_epi8(-127);
    __m512i sum1 = _mm512_setzero_si512(), sum = sum1;
    __m512i low1 = top, high1 = bottom, low0 = top, high0 = bottom;
    std::uint64_t has1 = 0, has0 = 0;
    for (std::size_t s = 0; s < shape.length; ++s, signs += 64) {
      const __m512i sign = _mm512_loadu_si512(signs);
      const std::uint64_t at1 = *cuts1++, at0 = *cuts0++;
      sum1 = _mm512_mask_add_epi8(sum1, *sides++, sum1, sign);
      sum = _mm512_mask_add_epi8(sum, *rows++, sum, sign);
      const __m512i sum0 = _mm512_sub_epi8(sum, sum1);
      low1 = _mm512_mask_min_epi8(low1, at1, low1, sum1);
      high1 = _mm512_mask_max_epi8(high1, at1, high1, sum1);
      low0 = _mm512_mask_min_epi8(low0, at0, low0, sum0);
      high0 = _mm512_mask_max_epi8(high0, at0, high0, sum0);
      has1 |= at1;
      has0 |= at0;
    }
    const LaneSums all(sum), one(sum1), zero(all, one);
    one.widen(out[1], before1, low1, high1, has1);
    zero.widen(out[0], before0, low0, high0, has0);
    before1 += one.total;
    before0 += zero.total;
  }
}

static void extremes_at16(const std::uint16_t* codes, std::uint16_t cut, const std::int8_t* signs,
                          const std::uint64_t* rows, const std::uint64_t* cuts, LaneShape shape, Extremes out[2]) {
  out[0] = out[1] = Extremes{};
  std::int32_t before1 = 0, before0 = 0;
  const __m512i bound = _mm512_set1_epi16(static_cast<short>(cut));
  for (std::size_t g = 0; g < shape.segments; ++g) {
    const __m512i top = _mm512_set1_epi8(127), bottom = _mm512_set1_epi8(-127);
    __m512i sum1 = _mm512_setzero_si512(), sum0 = sum1;
    __m512i low1 = top, high1 = bottom, low0 = top, high0 = bottom;
    std::uint64_t has = 0;
    for (std::size_t s = 0; s < shape.length; ++s, signs += 64, codes += 64) {
      const __mmask32 lower = _mm512_cmple_epu16_mask(_mm512_loadu_si512(codes), bound);
      const __mmask32 upper = _mm512_cmple_epu16_mask(_mm512_loadu_si512(codes + 32), bound);
      const __mmask64 below = _mm512_kunpackd(upper, lower), in = _cvtu64_mask64(*rows++);
      const __m512i sign = _mm512_loadu_si512(signs);
      const __mmask64 at = _cvtu64_mask64(*cuts);
      has |= *cuts++;
      sum1 = _mm512_mask_add_epi8(sum1, _kand_mask64(below, in), sum1, sign);
      sum0 = _mm512_mask_add_epi8(sum0, _kandn_mask64(below, in), sum0, sign);
      low1 = _mm512_mask_min_epi8(low1, at, low1, sum1);
      high1 = _mm512_mask_max_epi8(high1, at, high1, sum1);
      low0 = _mm512_mask_min_epi8(low0, at, low0, sum0);
      high0 = _mm512_mask_max_epi8(high0, at, high0, sum0);
    }
    const LaneSums one(sum1), zero(sum0);
    one.widen(out[1], before1, low1, high1, has);
    zero.widen(out[0], before0, low0, high0, has);
    before1 += one.total;
    before0 += zero.total;
  }
}

static void extremes_of_pair(const std::uint64_t* plus, const std::uint64_t* minus, const std::uint64_t* rows,
                             const std::uint64_t* sides, std::uint64_t flip, const std::uint64_t* cuts, LaneShape shape,
                             Extremes* out) {
  *out = Extremes{};
  std::int32_t before = 0;
  const __m512i one = _mm512_set1_epi8(1);
  for (std::size_t g = 0; g < shape.segments; ++g) {
    __m512i sum = _mm512_setzero_si512(), low = _mm512_set1_epi8(127), high = _mm512_set1_epi8(-127);
    std::uint64_t has = 0;
    for (std::size_t s = 0; s < shape.length; ++s) {
      const std::uint64_t in = (*sides++ ^ flip) & *rows++, at = *cuts++;
      sum = _mm512_mask_add_epi8(sum, in & *plus++, sum, one);
      sum = _mm512_mask_sub_epi8(sum, in & *minus++, sum, one);
      low = _mm512_mask_min_epi8(low, at, low, sum);
      high = _mm512_mask_max_epi8(high, at, high, sum);
      has |= at;
    }
    const LaneSums lanes(sum);
    lanes.widen(*out, before, low, high, has);
    before += lanes.total;
  }
}

// A lane with r rows up to a step may be cut there if low < r <= high, which saturate: no lane has more than 127 rows.
static void sized_cuts(const std::uint64_t* rows, const std::uint64_t* sides, std::uint64_t flip,
                       const std::uint64_t* may, std::int64_t least, std::int64_t total, LaneShape shape,
                       std::uint64_t* cuts) {
  const __m512i one = _mm512_set1_epi8(1);
  std::int64_t before = 0;
  for (std::size_t g = 0; g < shape.segments; ++g) {
    __m512i sum = _mm512_setzero_si512();
    const std::size_t first = g * shape.length, stop = first + shape.length;
    for (std::size_t s = first; s < stop; ++s) sum = _mm512_mask_add_epi8(sum, (sides[s] ^ flip) & rows[s], sum, one);
    const LaneSums lanes(sum);
    const auto from = [&](std::int64_t n) {
      const __m512i all = _mm512_set1_epi16(in_word(n - before));
      const __m256i lower = _mm512_cvtsepi16_epi8(_mm512_sub_epi16(all, lanes.base[0]));
      const __m256i upper = _mm512_cvtsepi16_epi8(_mm512_sub_epi16(all, lanes.base[1]));
      return _mm512_inserti64x4(_mm512_castsi256_si512(lower), upper, 1);
    };
    const __m512i low = from(least - 1), high = from(total - least);
    sum = _mm512_setzero_si512();
    for (std::size_t s = first; s < stop; ++s) {
      sum = _mm512_mask_add_epi8(sum, (sides[s] ^ flip) & rows[s], sum, one);
      const __mmask64 enough = _mm512_mask_cmpgt_epi8_mask(_cvtu64_mask64(may[s]), sum, low);
      cuts[s] = _cvtmask64_u64(_mm512_mask_cmple_epi8_mask(enough, sum, high));
    }
    before += lanes.total;
  }
}

static void count_runs(const std::uint64_t* rows, const std::uint64_t* sides, std::uint64_t flip, LaneShape shape,
                       std::uint8_t* runs) {
  const __m512i one = _mm512_set1_epi8(1);
  for (std::size_t g = 0; g < shape.segments; ++g) {
    __m512i sum = _mm512_setzero_si512();
    for (std::size_t s = 0; s < shape.length; ++s, runs += 64) {
      sum = _mm512_mask_add_epi8(sum, (*sides++ ^ flip) & *rows++, sum, one);
      _mm512_storeu_si512(runs, sum);
    }
  }
}

#else

template <class Code>
static void at_most(const Code* codes, const std::uint64_t* rows, std::size_t n_steps, Code cut, std::uint64_t* sides) {
  for (std::size_t s = 0; s < n_steps; ++s, codes += 64) {
    std::uint64_t bits = 0;
    for (int k = 0; k < 64; ++k) bits |= static_cast<std::uint64_t>(codes[k] <= cut) << k;
    sides[s] = bits & rows[s];
  }
}
static void at_most16(const std::uint16_t* codes, const std::uint64_t* rows, std::size_t n_steps, std::uint16_t cut,
                      std::uint64_t* sides) {
  at_most(codes, rows, n_steps, cut, sides);
}
static void at_most32(const std::uint32_t* codes, const std::uint64_t* rows, std::size_t n_steps, std::uint32_t cut,
                      std::uint64_t* sides) {
  at_most(codes, rows, n_steps, cut, sides);
}
static void gather16(const std::uint16_t* from, const std::uint32_t* places, std::size_t n, std::uint16_t* to) {
  for (std::size_t k = 0; k < n; ++k) to[k] = from[places[k]];
}
static void gather32(const std::uint32_t* from, const std::uint32_t* places, std::size_t n, std::uint32_t* to) {
  for (std::size_t k = 0; k < n; ++k) to[k] = from[places[k]];
}

// Walks the places of the order: f(word, bit).
template <class F>
static void walk(LaneShape shape, F f) {
  for (std::size_t g = 0; g < shape.segments; ++g)
    for (std::size_t lane = 0; lane < LaneShape::kLanes; ++lane)
      for (std::size_t s = 0; s < shape.length; ++s) f(g * shape.length + s, lane);
}
static inline void widen(Extremes& e, std::int32_t sum) {
  if (sum < e.low) e.low = sum;
  if (sum > e.high) e.high = sum;
}

static void extremes_of_sides(const std::int8_t* signs, const std::uint64_t* rows, const std::uint64_t* sides,
                              const std::uint64_t* cuts1, const std::uint64_t* cuts0, LaneShape shape,
                              Extremes out[2]) {
  out[0] = out[1] = Extremes{};
  std::int32_t sum[2] = {0, 0};
  walk(shape, [&](std::size_t word, std::size_t bit) {
    if (rows[word] >> bit & 1) sum[sides[word] >> bit & 1] += signs[word * 64 + bit];
    if (cuts1[word] >> bit & 1) widen(out[1], sum[1]);
    if (cuts0[word] >> bit & 1) widen(out[0], sum[0]);
  });
}

static void extremes_at16(const std::uint16_t* codes, std::uint16_t cut, const std::int8_t* signs,
                          const std::uint64_t* rows, const std::uint64_t* cuts, LaneShape shape, Extremes out[2]) {
  out[0] = out[1] = Extremes{};
  std::int32_t sum[2] = {0, 0};
  walk(shape, [&](std::size_t word, std::size_t bit) {
    if (rows[word] >> bit & 1) sum[codes[word * 64 + bit] <= cut ? 1 : 0] += signs[word * 64 + bit];
    if (!(cuts[word] >> bit & 1)) return;
    widen(out[1], sum[1]);
    widen(out[0], sum[0]);
  });
}

static void extremes_of_pair(const std::uint64_t* plus, const std::uint64_t* minus, const std::uint64_t* rows,
                             const std::uint64_t* sides, std::uint64_t flip, const std::uint64_t* cuts, LaneShape shape,
                             Extremes* out) {
  *out = Extremes{};
  std::int32_t sum = 0;
  walk(shape, [&](std::size_t word, std::size_t bit) {
    const std::uint64_t in = (sides[word] ^ flip) & rows[word];
    sum += static_cast<std::int32_t>((in & plus[word]) >> bit & 1);
    sum -= static_cast<std::int32_t>((in & minus[word]) >> bit & 1);
    if (cuts[word] >> bit & 1) widen(*out, sum);
  });
}

static void sized_cuts(const std::uint64_t* rows, const std::uint64_t* sides, std::uint64_t flip,
                       const std::uint64_t* may, std::int64_t least, std::int64_t total, LaneShape shape,
                       std::uint64_t* cuts) {
  for (std::size_t s = 0; s < shape.steps(); ++s) cuts[s] = 0;
  std::int64_t sum = 0;
  walk(shape, [&](std::size_t word, std::size_t bit) {
    sum += static_cast<std::int64_t>(((sides[word] ^ flip) & rows[word]) >> bit & 1);
    if (sum >= least && total - sum >= least) cuts[word] |= may[word] & std::uint64_t{1} << bit;
  });
}

static void count_runs(const std::uint64_t* rows, const std::uint64_t* sides, std::uint64_t flip, LaneShape shape,
                       std::uint8_t* runs) {
  std::uint8_t sum = 0;
  walk(shape, [&](std::size_t word, std::size_t bit) {
    if (word % shape.length == 0) sum = 0;
    sum = static_cast<std::uint8_t>(sum + (((sides[word] ^ flip) & rows[word]) >> bit & 1));
    runs[word * 64 + bit] = sum;
  });
}

#endif

extern const LaneKernels lanes;
const LaneKernels lanes = {at_most16,     at_most32,        gather16,   gather32,  extremes_of_sides,
                           extremes_at16, extremes_of_pair, sized_cuts, count_runs};
