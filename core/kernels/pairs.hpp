// Counting pairs of tests, part of generic.hpp.
//
// Four tests i at a time: each word of the tests j is loaded once for all four, and with 16 tests j in a register the
// sums of 4 × 16 pairs never leave the registers. Counting then waits for nothing but the three instructions of a word
// (and, popcount, add). Test by test it waited for memory: four times as long with 2,000 tests and 10^4 rows.

// Vectors as wide as the lanes, for the arithmetic on counts.
typedef std::int32_t IntW __attribute__((vector_size(4 * Lanes::kWidth)));

template <class V, class T>
static inline V load(const T* from) {
  V v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <class V, class T>
static inline void store(T* to, V v) {
  std::memcpy(to, &v, sizeof v);
}
static inline IntW lane_numbers() {
  IntW lane;
  for (std::size_t k = 0; k < Lanes::kWidth; ++k) lane[k] = static_cast<std::int32_t>(k);
  return lane;
}

// Adds Σ popcount(i & j) over the chunks of a section, shifted, for kRows tests from i on and Lanes::kWidth tests from
// j on.
template <std::size_t kRows>
static inline void add_section(const RowBlock& b, const Section& section, std::size_t shift, std::size_t i,
                               std::size_t j, IntW* sum) {
  typename Lanes::Vec counts[kRows] = {};
  Lanes::template popcounts<kRows>(b.bits + RowBlock::word(b.n_chunks, section.begin, i),
                                   b.bits + RowBlock::word(b.n_chunks, section.begin, j), section.end - section.begin,
                                   counts);
  for (std::size_t r = 0; r < kRows; ++r) {
    IntW x;
    std::memcpy(&x, &counts[r], sizeof x);
    sum[r] += x << static_cast<std::int32_t>(shift);
  }
}

// The index of the pairs (i + r, j).
static inline void add_index(const RowBlock& b, std::size_t i, std::size_t j, IntW* sum) {
  for (std::size_t s = 0; s < b.n_sections; ++s)
    add_section<kPairRows>(b, b.sections[s], b.sections[s].index_shift, i, j, sum);
}

static void pair_index(const RowBlock& b, std::size_t i, std::size_t n, const TestCounter& t, std::size_t stride,
                       std::int32_t* out) {
  const IntW lane = lane_numbers(), zero = IntW{};
  const IntW least = zero + (t.min_leaf - 1);
  // a < b as a mask, by the sign of the difference: compilers take comparisons of wide vectors apart.
  const auto below = [](IntW a, auto b) { return (a - b) >> 31; };
  IntW tests_yes[kPairRows] = {}, tests_no[kPairRows] = {};
  for (std::size_t j = i & ~(Lanes::kWidth - 1); j < n; j += Lanes::kWidth) {
    IntW sum[kPairRows] = {};
    add_index(b, i, j, sum);
    const IntW of_j = load<IntW>(t.total_of + j), multiplicity = load<IntW>(t.multiplicity + j);
    IntW yes = load<IntW>(t.tests[1] + j), no = load<IntW>(t.tests[0] + j);
    for (std::size_t r = 0; r < kPairRows; ++r) {
      store(out + r * stride + j, sum[r]);
      const std::int32_t of_i = t.total_of[i + r], rest = t.total - of_i;
      // Which of the four quadrants are large enough, for the pairs with j > i.
      const IntW both = t.shift == 0 ? sum[r] : (sum[r] >> t.shift) + (sum[r] & ((1 << t.shift) - 1));
      const IntW behind = below(static_cast<std::int32_t>(i + r) - static_cast<std::int32_t>(j) - lane, 0);
      const IntW q11 = below(least, both), q10 = below(least, of_i - both), q01 = below(least, of_j - both),
                 q00 = below(least, rest - of_j + both);
      const IntW m_j = multiplicity & behind, m_i = (zero + t.multiplicity[i + r]) & behind;
      tests_yes[r] += q11 & q10 & m_j;
      tests_no[r] += q01 & q00 & m_j;
      yes += q11 & q01 & m_i;
      no += q10 & q00 & m_i;
    }
    store(t.tests[1] + j, yes);
    store(t.tests[0] + j, no);
  }
  for (std::size_t r = 0; r < kPairRows; ++r) {
    std::int32_t yes = 0, no = 0;
    for (std::size_t k = 0; k < Lanes::kWidth; ++k) {
      yes += tests_yes[r][k];
      no += tests_no[r][k];
    }
    t.tests[1][i + r] += yes;
    t.tests[0][i + r] += no;
  }
}

template <std::size_t kRows>
static inline void counts_of_rows(const RowBlock& b, std::size_t n_classes, std::size_t i, std::size_t first,
                                  std::size_t n, std::size_t stride, std::int32_t* out) {
  for (std::size_t j = first & ~(Lanes::kWidth - 1); j < n; j += Lanes::kWidth) {
    std::size_t s = 0;
    for (std::size_t c = 0; c < n_classes; ++c) {  // sections are sorted by class
      IntW sum[kRows] = {};
      for (; s < b.n_sections && b.sections[s].cls == c; ++s)
        add_section<kRows>(b, b.sections[s], b.sections[s].shift, i, j, sum);
      for (std::size_t r = 0; r < kRows; ++r) store(out + (r * n_classes + c) * stride + j, sum[r]);
    }
  }
}

static void pair_counts(const RowBlock& b, std::size_t n_classes, std::size_t i, std::size_t first, std::size_t n,
                        std::size_t stride, std::int32_t* out) {
  counts_of_rows<1>(b, n_classes, i, first, n, stride, out);
}
static void pair_rows(const RowBlock& b, std::size_t n_classes, std::size_t i, std::size_t n, std::size_t stride,
                      std::int32_t* out) {
  counts_of_rows<kPairRows>(b, n_classes, i, i + 1, n, stride, out);
}

// Errors of the pairs (i + r, j) of one cover, from their indices: four tests i and kWidth tests j at a time.
//
// Counts are below 2^15, so 16 bits do: each lane of 32 bits holds one class of two pairs, (i + r, j) below and
// (i + r + 1, j) above. That halves the instructions.
template <bool kLower>
class ErrorsOfRows {
 public:
  ErrorsOfRows(std::size_t i, const PairErrors& t) : i_(i), t_(t), least_(all(static_cast<std::int32_t>(t.min_leaf))) {
    for (std::size_t d = 0; d < kDoubles; ++d) {
      const std::int32_t *of = t.index + i + 2 * d, first = of[0], second = of[1];
      const std::int32_t other[2] = {t.total - first, t.total - second};
      of_i_[d][0] = lanes(first >> 16, second >> 16);
      of_i_[d][1] = lanes(first & 0xffff, second & 0xffff);
      rest_[d][0] = lanes(other[0] >> 16, other[1] >> 16);
      rest_[d][1] = lanes(other[0] & 0xffff, other[1] & 0xffff);
      for (int a = 0; a < 2; ++a) own_[d][a] = own_lower_[d][a] = none();
    }
  }
  inline void add(std::size_t j, const IntW* index) {
    if (j <= i_ + kPairRows)
      add_tile<true>(j, index);
    else
      add_tile<false>(j, index);
  }
  inline void finish() {
    for (std::size_t d = 0; d < kDoubles; ++d)
      for (int a = 0; a < 2; ++a) {
        lanes_to(t_.best[a] + i_ + 2 * d, own_[d][a]);
        if constexpr (kLower) lanes_to(t_.lower[a] + i_ + 2 * d, own_lower_[d][a]);
      }
  }

 private:
  typedef std::uint16_t HalfW __attribute__((vector_size(4 * Lanes::kWidth)));
  typedef std::uint32_t WordW __attribute__((vector_size(4 * Lanes::kWidth)));
  static constexpr std::size_t kDoubles = kPairRows / 2;

  template <class T>
  static HalfW halves(T x) {
    HalfW h;
    std::memcpy(&h, &x, sizeof h);
    return h;
  }
  static WordW words(HalfW x) {
    WordW w;
    std::memcpy(&w, &x, sizeof w);
    return w;
  }
  static HalfW none() { return HalfW{} + static_cast<std::uint16_t>(kInfeasibleError); }
  static HalfW all(std::int32_t x) { return HalfW{} + static_cast<std::uint16_t>(x); }
  static HalfW lanes(std::int32_t low, std::int32_t high) {
    return halves(WordW{} + (static_cast<std::uint32_t>(low) | static_cast<std::uint32_t>(high) << 16));
  }
  template <class T>
  static T smaller(T x, T y) {
    return x < y ? x : y;
  }
  // Of two tests, from the lower and the upper halves.
  static void lanes_to(std::int32_t* to, HalfW x) {
    std::uint16_t lane[2 * Lanes::kWidth];
    std::memcpy(lane, &x, sizeof lane);
    for (std::size_t width = Lanes::kWidth; width >= 2; width /= 2)
      for (std::size_t k = 0; k < width; ++k) lane[k] = lane[k] < lane[k + width] ? lane[k] : lane[k + width];
    for (int k = 0; k < 2; ++k) to[k] = to[k] < lane[k] ? to[k] : lane[k];
  }

  // kDiagonal: some of these j may not be behind i + r.
  template <bool kDiagonal>
  inline void add_tile(std::size_t j, const IntW* index) {
    const WordW of_j = load<WordW>(t_.index + j), low = WordW{} + 0xffffu;
    const HalfW j1 = halves((of_j & low) | (of_j << 16)), j0 = halves((of_j >> 16) | (of_j & ~low));
    HalfW best[2] = {none(), none()}, lower[2] = {none(), none()};
    for (std::size_t d = 0; d < kDoubles; ++d) {
      WordW first, second;
      std::memcpy(&first, &index[2 * d], sizeof first);
      std::memcpy(&second, &index[2 * d + 1], sizeof second);
      const HalfW p1 = halves((first & low) | (second << 16)), p0 = halves((first >> 16) | (second & ~low));
      const HalfW n1[4] = {p1, of_i_[d][1] - p1, j1 - p1, rest_[d][1] - j1 + p1};
      const HalfW n0[4] = {p0, of_i_[d][0] - p0, j0 - p0, rest_[d][0] - j0 + p0};
      HalfW error[4], bound[4];
      for (int q = 0; q < 4; ++q) {
        const HalfW least = smaller(n1[q], n0[q]);
        auto allowed = n1[q] + n0[q] >= least_;
        if constexpr (kDiagonal) {
          const IntW distance = static_cast<std::int32_t>(i_ + 2 * d) - static_cast<std::int32_t>(j) - lane_numbers();
          const IntW behind = ((distance >> 31) & 0xffff) | (((distance + 1) >> 31) << 16);
          decltype(allowed) mask;
          std::memcpy(&mask, &behind, sizeof mask);
          allowed &= mask;
        }
        error[q] = allowed ? least : none();
        if constexpr (kLower) {
          const HalfW missing = least_ > least ? least_ - least : HalfW{};
          bound[q] = allowed ? smaller(least, all(t_.price) + missing) : none();
        }
      }
      own_[d][1] = smaller(own_[d][1], error[0] + error[1]);
      own_[d][0] = smaller(own_[d][0], error[2] + error[3]);
      best[1] = smaller(best[1], error[0] + error[2]);
      best[0] = smaller(best[0], error[1] + error[3]);
      if constexpr (kLower) {
        own_lower_[d][1] = smaller(own_lower_[d][1], bound[0] + bound[1]);
        own_lower_[d][0] = smaller(own_lower_[d][0], bound[2] + bound[3]);
        lower[1] = smaller(lower[1], bound[0] + bound[2]);
        lower[0] = smaller(lower[0], bound[1] + bound[3]);
      }
    }
    const auto keep = [&](std::int32_t* to, HalfW x) {
      const WordW w = words(x);
      store(to, smaller(load<WordW>(to), smaller(w & low, w >> 16)));
    };
    for (int a = 0; a < 2; ++a) {
      keep(t_.best[a] + j, best[a]);
      if constexpr (kLower) keep(t_.lower[a] + j, lower[a]);
    }
  }

  std::size_t i_;
  const PairErrors& t_;
  HalfW least_, of_i_[kDoubles][2], rest_[kDoubles][2];  // by class
  HalfW own_[kDoubles][2], own_lower_[kDoubles][2];      // of the tests i + r, by side
};

template <bool kLower>
static inline void pair_errors_of(const RowBlock& b, std::size_t i, std::size_t n, const PairErrors& t) {
  ErrorsOfRows<kLower> rows(i, t);
  for (std::size_t j = (i + 1) & ~(Lanes::kWidth - 1); j < n; j += Lanes::kWidth) {
    IntW index[kPairRows] = {};
    add_index(b, i, j, index);
    if (t.pairs != nullptr)
      for (std::size_t r = 0; r < kPairRows; ++r) store(t.pairs + r * t.pairs_stride + j, index[r]);
    rows.add(j, index);
  }
  rows.finish();
}

static void pair_errors(const RowBlock& b, std::size_t i, std::size_t n, const PairErrors& t) {
  if (t.lower[0] == nullptr)
    pair_errors_of<false>(b, i, n, t);
  else
    pair_errors_of<true>(b, i, n, t);
}

static void side_errors(const RowBlock& b, std::size_t i, std::size_t n, const SideErrors& t) {
  ErrorsOfRows<false> counted(i, t.counted), rest(i, t.rest);
  for (std::size_t j = (i + 1) & ~(Lanes::kWidth - 1); j < n; j += Lanes::kWidth) {
    IntW index[kPairRows] = {};
    add_index(b, i, j, index);
    counted.add(j, index);
    // Counts of the whole are never less than those of a part, so no field borrows from the other.
    for (std::size_t r = 0; r < kPairRows; ++r) index[r] = load<IntW>(t.whole + r * t.whole_stride + j) - index[r];
    rest.add(j, index);
  }
  counted.finish();
  rest.finish();
}
