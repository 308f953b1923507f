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
template <bool kLower>
class ErrorsOfRows {
 public:
  ErrorsOfRows(std::size_t i, const PairErrors& t) : i_(i), t_(t), min_leaf_(IntW{} + t.min_leaf) {
    for (auto* rows : {own_, own_lower_})
      for (std::size_t r = 0; r < kPairRows; ++r) rows[r][0] = rows[r][1] = none();
  }
  inline void add(std::size_t j, const IntW* index) {
    const IntW zero = IntW{}, index_j = load<IntW>(t_.index + j);
    // j > i + r
    const IntW distance = static_cast<std::int32_t>(i_) - static_cast<std::int32_t>(j) - lane_numbers();
    IntW best[2], lower[2];
    for (int a = 0; a < 2; ++a) {
      best[a] = load<IntW>(t_.best[a] + j);
      if constexpr (kLower) lower[a] = load<IntW>(t_.lower[a] + j);
    }
    for (std::size_t r = 0; r < kPairRows; ++r) {
      const IntW p = index[r];
      const std::int32_t index_i = t_.index[i_ + r], rest = t_.total - index_i;
      const IntW behind = (distance + static_cast<std::int32_t>(r)) >> 31;
      IntW error[4], bound[4];
      const IntW quadrant[4] = {p, index_i - p, index_j - p, rest - index_j + p};
      for (int q = 0; q < 4; ++q) {
        const IntW n1 = quadrant[q] & 0xffff, n0 = quadrant[q] >> 16;
        const IntW least = smaller(n1, n0);
        const IntW allowed = (n1 + n0 >= min_leaf_) & behind;
        error[q] = allowed ? least : none();
        if constexpr (kLower) {
          const IntW missing = min_leaf_ - least;
          bound[q] = allowed ? smaller(least, t_.price + (missing > zero ? missing : zero)) : none();
        }
      }
      own_[r][1] = smaller(own_[r][1], error[0] + error[1]);
      own_[r][0] = smaller(own_[r][0], error[2] + error[3]);
      best[1] = smaller(best[1], error[0] + error[2]);
      best[0] = smaller(best[0], error[1] + error[3]);
      if constexpr (kLower) {
        own_lower_[r][1] = smaller(own_lower_[r][1], bound[0] + bound[1]);
        own_lower_[r][0] = smaller(own_lower_[r][0], bound[2] + bound[3]);
        lower[1] = smaller(lower[1], bound[0] + bound[2]);
        lower[0] = smaller(lower[0], bound[1] + bound[3]);
      }
    }
    for (int a = 0; a < 2; ++a) {
      store(t_.best[a] + j, best[a]);
      if constexpr (kLower) store(t_.lower[a] + j, lower[a]);
    }
  }
  inline void finish() {
    for (std::size_t r = 0; r < kPairRows; ++r)
      for (int a = 0; a < 2; ++a) {
        lanes_to(t_.best[a][i_ + r], own_[r][a]);
        if constexpr (kLower) lanes_to(t_.lower[a][i_ + r], own_lower_[r][a]);
      }
  }

 private:
  static IntW none() { return IntW{} + kInfeasible; }
  static IntW smaller(IntW x, IntW y) { return x < y ? x : y; }
  static void lanes_to(std::int32_t& to, IntW x) {
    for (std::size_t k = 0; k < Lanes::kWidth; ++k) to = to < x[k] ? to : x[k];
  }

  std::size_t i_;
  const PairErrors& t_;
  IntW min_leaf_, own_[kPairRows][2], own_lower_[kPairRows][2];  // of the tests i + r, by side
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

template <bool kLower>
static inline void side_errors_of(const RowBlock& b, std::size_t i, std::size_t n, const SideErrors& t) {
  ErrorsOfRows<kLower> counted(i, t.counted), rest(i, t.rest);
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

static void side_errors(const RowBlock& b, std::size_t i, std::size_t n, const SideErrors& t) {
  if (t.counted.lower[0] == nullptr)
    side_errors_of<false>(b, i, n, t);
  else
    side_errors_of<true>(b, i, n, t);
}
