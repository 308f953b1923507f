// What a closed state says about many rows, part of generic.hpp: the probability of the leaves of pairs of tests, sums
// of leaf values over them, and those sums for rows that are given by the outcomes of the tests.

// mass[2a + b][j] = alpha_a(i) · share · leaf(a1) leaf(a0) + alpha_b(j) · share · leaf(1b) leaf(0b), from the weights
// of the four leaves of one pair, which `term` gives as products: i1, i0, j1, j0.
static inline void store_masses(const PairScale& s, std::size_t i, std::size_t j, Real4 i1, Real4 i0, Real4 j1,
                                Real4 j0, double* const mass[4]) {
  i1 *= s.alpha[1][i];
  i0 *= s.alpha[0][i];
  j1 *= load<Real4>(s.alpha[1] + j);
  j0 *= load<Real4>(s.alpha[0] + j);
  if (s.of_i[0] != nullptr) {
    i1 *= load<Real4>(s.of_i[1] + j);
    i0 *= load<Real4>(s.of_i[0] + j);
    j1 *= load<Real4>(s.of_j[1] + j);
    j0 *= load<Real4>(s.of_j[0] + j);
  }
  store(mass[3] + j, i1 + j1);
  store(mass[2] + j, i1 + j0);
  store(mass[1] + j, i0 + j1);
  store(mass[0] + j, i0 + j0);
}

static void pair_masses(const PairTable& t, int shift, const std::int32_t* n0, const std::int32_t* n1, std::size_t i,
                        std::size_t n, const PairScale& scale, double* const mass[4]) {
  const std::int32_t of_i = t.index[i], rest = t.total - of_i;
  for (std::size_t j = i & ~std::size_t{7}; j < ((n + 7) & ~std::size_t{7}); j += 4) {
    const Int4 at = Int4{0, 1, 2, 3} + static_cast<std::int32_t>(j);
    const Int4 valid = (at > static_cast<std::int32_t>(i)) & (at < static_cast<std::int32_t>(n));
    const Int4 p = ((load<Int4>(n0 + j) << shift) + load<Int4>(n1 + j)) & valid, of_j = load<Int4>(t.index + j) & valid;
    const Real4 q11 = look_up(t.leaf, p), q10 = look_up(t.leaf, of_i - p), q01 = look_up(t.leaf, of_j - p),
                q00 = look_up(t.leaf, rest - of_j + p);
    const Mask4 keep = __builtin_convertvector(valid, Mask4);
    const auto kept = [&](Real4 x) { return keep ? x : Real4{}; };
    store_masses(scale, i, j, kept(q11 * q10), kept(q01 * q00), kept(q11 * q01), kept(q10 * q00), mass);
  }
}

static void pair_log_masses(const PairLogs& t, const std::int32_t* pair, std::size_t i, std::size_t n,
                            const PairScale& scale, double* const mass[4]) {
  const Real4 nothing = Real4{};
  const Real4 ref_i1 = nothing + t.reference[1][i], ref_i0 = nothing + t.reference[0][i];
  const std::int32_t total_i = t.total_of[i], total_rest = t.total - total_i;
  for (std::size_t j = i & ~std::size_t{7}; j < ((n + 7) & ~std::size_t{7}); j += 4) {
    const Int4 at = Int4{0, 1, 2, 3} + static_cast<std::int32_t>(j);
    const Int4 valid = (at > static_cast<std::int32_t>(i)) & (at < static_cast<std::int32_t>(n));
    Real4 q11 = nothing, q10 = nothing, q01 = nothing, q00 = nothing;
    Int4 both = Int4{}, of_j = Int4{};
    for (std::size_t c = 0; c < t.n_classes; ++c) {
      if (t.class_totals[c] == 0) continue;  // rising is 0 of no examples
      const std::int32_t in_i = t.counts[c * t.stride + i], rest = t.class_totals[c] - in_i;
      const Int4 b = load<Int4>(pair + c * t.stride + j) & valid, jj = load<Int4>(t.counts + c * t.stride + j) & valid;
      const double* r = t.rising[c];
      q11 += look_up(r, b);
      q10 += look_up(r, in_i - b);
      q01 += look_up(r, jj - b);
      q00 += look_up(r, rest - jj + b);
      both += b;
      of_j += jj;
    }
    q11 -= look_up(t.rising_sum, both);
    q10 -= look_up(t.rising_sum, total_i - both);
    q01 -= look_up(t.rising_sum, of_j - both);
    q00 -= look_up(t.rising_sum, total_rest - of_j + both);
    const Int4 f11 = (both >= t.min_leaf) & valid, f10 = (total_i - both >= t.min_leaf) & valid,
               f01 = (of_j - both >= t.min_leaf) & valid, f00 = (total_rest - of_j + both >= t.min_leaf) & valid;
    const auto wide = [](Int4 mask) { return __builtin_convertvector(mask, Mask4); };
    const Mask4 fi1 = wide(f11 & f10), fi0 = wide(f01 & f00), fj1 = wide(f11 & f01), fj0 = wide(f10 & f00);
    const Real4 ref_j1 = load<Real4>(t.reference[1] + j), ref_j0 = load<Real4>(t.reference[0] + j);
    const Real4 log_terms[4] = {q11 + q10 - ref_i1, q01 + q00 - ref_i0, q11 + q01 - ref_j1, q10 + q00 - ref_j0};
    Real4 term[4];
    exp_each(log_terms, term);
    store_masses(scale, i, j, fi1 ? term[0] : nothing, fi0 ? term[1] : nothing, fj1 ? term[2] : nothing,
                 fj0 ? term[3] : nothing, mass);
  }
}

// The four quadrants of the pairs (i, j … j + 7) of one kind of count.
struct Quadrants8 {
  Int8 q[4];
  Quadrants8(const std::int32_t* both, const std::int32_t* of_j, std::int32_t of_i, std::int32_t total, std::size_t j) {
    const Int8 b = load<Int8>(both + j), jj = load<Int8>(of_j + j);
    q[3] = b;
    q[2] = of_i - b;
    q[1] = jj - b;
    q[0] = (total - of_i) - jj + b;
  }
};

static void mass_factors(const PairCounts& t, const std::int32_t* pair, const std::int32_t* pair_total, std::size_t i,
                         std::size_t n, const LeafFactor& leaf, const double* const mass[4], double* const factor[4]) {
  for (std::size_t j = i & ~std::size_t{7}; j < n; j += 8) {
    const Quadrants8 all(pair_total, t.total_of, t.total_of[i], t.total, j);
    for (std::size_t x = 0; x < 4; ++x) {
      const Real8 m = load<Real8>(mass[x] + j);
      if (leaf.own == nullptr) {
        store(factor[x] + j, m / (__builtin_convertvector(all.q[x], Real8) + leaf.sum_a));
        continue;
      }
      const std::size_t plane = leaf.cls * t.stride;
      const Quadrants8 own(pair + plane, t.counts + plane, t.counts[plane + i], t.class_totals[leaf.cls], j);
      Real8 power;
      for (int k = 0; k < 8; ++k)  // where there is no mass the counts may be anything
        power[k] = m[k] > 0 ? leaf.own[own.q[x][k]] * leaf.all[all.q[x][k]] : 0.0;
      store(factor[x] + j, m * power);
    }
  }
}

// Sums of value · weight over the leaves of the pairs (i, j), j > i; see PairSums. The value is n_c + a, or of a kind
// (see PairValues) greater than 0. What is taken from n_c is taken first: n_c + (a − 1) would have no digit of an a of
// 1e-16.
template <int kKind>
static void add_leaf_sums(const PairCounts& t, const std::int32_t* pair, const std::int32_t* pair_total, std::size_t i,
                          std::size_t n, const LeafTerm& leaf, const double* const weight[4],
                          const double* multiplicity, const PairSums& out) {
  const std::size_t plane = leaf.cls * t.stride;
  Real8 constant = Real8{}, linear = Real8{}, size = Real8{};
  for (std::size_t j = i & ~std::size_t{7}; j < n; j += 8) {
    const Quadrants8 own(pair + plane, t.counts + plane, t.counts[plane + i], t.class_totals[leaf.cls], j);
    const Quadrants8 all(pair_total, t.total_of, t.total_of[i], t.total, j);
    Real8 v[4];
    for (std::size_t x = 0; x < 4; ++x) {
      const Real8 mass = __builtin_convertvector(own.q[x] - leaf.taken, Real8) + leaf.a;
      if constexpr (kKind == 0)
        v[x] = load<Real8>(weight[x] + j) * mass;
      else
        v[x] = load<Real8>(weight[x] + j) *
               value_of<kKind>(mass, __builtin_convertvector(all.q[x], Real8) + leaf.sum_a, leaf.centre, leaf.example);
    }
    const Real8 m = load<Real8>(multiplicity + j), by_i = v[2] - v[0], by_j = v[1] - v[0];
    store(out.row + j, (v[3] - v[2]) - by_j);
    store(out.linear + j, load<Real8>(out.linear + j) + out.multiplicity * by_j);
    linear += m * by_i;
    constant += m * v[0];
    size += m * ((v[0] + v[1]) + (v[2] + v[3]));
  }
  double sums[3] = {};
  for (int k = 0; k < 8; ++k) {
    sums[0] += constant[k];
    sums[1] += linear[k];
    sums[2] += size[k];
  }
  *out.constant += out.multiplicity * sums[0];
  out.linear[i] += sums[1];
  *out.size += out.multiplicity * sums[2];
}

static void leaf_sums(const PairCounts& t, const std::int32_t* pair, const std::int32_t* pair_total, std::size_t i,
                      std::size_t n, const LeafTerm& leaf, const double* const weight[4], const double* multiplicity,
                      const PairSums& out) {
  (leaf.kind == 0   ? add_leaf_sums<0>
   : leaf.kind == 1 ? add_leaf_sums<1>
                    : add_leaf_sums<2>)(t, pair, pair_total, i, n, leaf, weight, multiplicity, out);
}

// Rows by patterns of four outcomes. For each of the sixteen patterns the rows of the matrix that it selects are added
// up once, eight columns at a time; a row then needs one addition for four tests. What is in use at a time fits the
// first cache. Fewer than eight rows add up the rows of the matrix themselves.
constexpr std::size_t kRuns = 24;  // of four tests whose sums are kept at a time: 24 KB

static inline void few_rows(const double* a, std::size_t stride, std::size_t n, const double* linear,
                            const std::uint16_t* patterns, std::size_t pitch, std::size_t n_rows, Real8* sum,
                            double* out) {
  const std::size_t blocks = (n + 7) / 8;
  for (std::size_t r = 0; r < n_rows; ++r) {
    for (std::size_t k = 0; k < blocks; ++k) sum[k] = load<Real8>(linear + 8 * k);
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (!(patterns[i / 4 * pitch + r] >> (3 + i % 4) & 1)) continue;
      // Tests before this one have given what they give to it: the matrix is upper triangular.
      double own;
      std::memcpy(&own, reinterpret_cast<const char*>(sum) + i * sizeof(double), sizeof own);
      total += own;
      for (std::size_t k = i / 8; k < blocks; ++k) sum[k] += load<Real8>(a + i * stride + 8 * k);
    }
    out[r] = total;
  }
}

// The sums of the lanes of eight vectors, side by side: lane by lane it took longer than the patterns of ten tests.
static inline Real8 sums_of_eight(const Real8* v) {
  Real8 two[4], four[2];
  for (int k = 0; k < 4; ++k)
    two[k] = __builtin_shufflevector(v[2 * k], v[2 * k + 1], 0, 8, 2, 10, 4, 12, 6, 14) +
             __builtin_shufflevector(v[2 * k], v[2 * k + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  for (int k = 0; k < 2; ++k)
    four[k] = __builtin_shufflevector(two[2 * k], two[2 * k + 1], 0, 1, 8, 9, 4, 5, 12, 13) +
              __builtin_shufflevector(two[2 * k], two[2 * k + 1], 2, 3, 10, 11, 6, 7, 14, 15);
  return __builtin_shufflevector(four[0], four[1], 0, 1, 2, 3, 8, 9, 10, 11) +
         __builtin_shufflevector(four[0], four[1], 4, 5, 6, 7, 12, 13, 14, 15);
}

static void pattern_sums(const double* a, std::size_t stride, std::size_t n, const double* linear,
                         const std::uint16_t* patterns, std::size_t pitch, std::size_t n_rows, double* scratch,
                         double* out) {
  Real8* sum = reinterpret_cast<Real8*>(scratch);
  if (n_rows < 8) {
    few_rows(a, stride, n, linear, patterns, pitch, n_rows, sum, out);
    return;
  }
  const std::size_t runs = (n + 3) / 4, padded = (n_rows + 7) & ~std::size_t{7};
  Real8* total = sum + padded;
  for (std::size_t r = 0; r < padded; ++r) total[r] = Real8{};
  alignas(64) double of[kRuns * 128], yes[2 * 128];
  for (std::size_t p = 0; p < 16; ++p)
    for (std::size_t k = 0; k < 8; ++k) {
      yes[8 * p + k] = k < 4 && (p >> k & 1) ? 1.0 : 0.0;
      yes[128 + 8 * p + k] = k >= 4 && (p >> (k - 4) & 1) ? 1.0 : 0.0;
    }
  for (std::size_t j = 0; j < n; j += 8) {
    const Real8 own = load<Real8>(linear + j);
    const std::size_t last = j / 4 + 2 < runs ? j / 4 + 2 : runs;
    for (std::size_t from = 0; from < last; from += kRuns) {
      const std::size_t n_runs = last - from < kRuns ? last - from : kRuns;
      for (std::size_t q = 0; q < n_runs; ++q) {
        const std::size_t i = 4 * (from + q);
        double* sums = of + q * 128;
        store(sums, Real8{});
        for (std::size_t b = 0; b < 4; ++b) {
          const Real8 row = i + b < n ? load<Real8>(a + (i + b) * stride + j) : Real8{};
          for (std::size_t p = 0; p < std::size_t{8} << b; p += 8)
            store(sums + p + (std::size_t{8} << b), load<Real8>(sums + p) + row);
        }
      }
      const bool first = from == 0, end = from + n_runs == last;
      for (std::size_t r = 0; r < padded; r += 8) {
        Real8 s[8];
        for (std::size_t k = 0; k < 8; ++k) s[k] = first ? own : sum[r + k];
        const std::uint16_t* pattern = patterns + from * pitch + r;
        for (std::size_t q = 0; q < n_runs; ++q, pattern += pitch)
          for (std::size_t k = 0; k < 8; ++k) s[k] += load<Real8>(of + q * 128 + pattern[k]);
        if (!end) {
          for (std::size_t k = 0; k < 8; ++k) sum[r + k] = s[k];
          continue;
        }
        const std::uint16_t* low = patterns + j / 4 * pitch + r;
        for (std::size_t k = 0; k < 8; ++k) {
          Real8 y = load<Real8>(yes + low[k]);
          if (j + 4 < n) y += load<Real8>(yes + 128 + low[pitch + k]);
          total[r + k] += s[k] * y;
        }
      }
    }
  }
  std::size_t r = 0;
  for (; r + 8 <= n_rows; r += 8) store(out + r, sums_of_eight(total + r));
  for (; r < n_rows; ++r) {
    double x = 0;
    for (int k = 0; k < 8; ++k) x += total[r][k];
    out[r] = x;
  }
}

static void four_outcomes(const FourTests& tests, std::size_t n, std::uint16_t* patterns) {
  typedef std::uint16_t Word32 __attribute__((vector_size(64)));
  Word32 upper[4], yes[4], no[4];
  for (int b = 0; b < 4; ++b) {
    upper[b] = Word32{} + tests.upper[b];
    yes[b] = Word32{} + tests.yes[b];
    no[b] = Word32{} + tests.no[b];
  }
  std::size_t r = 0;
  for (; r + 32 <= n; r += 32) {
    Word32 pattern = Word32{};
    for (int b = 0; b < 4; ++b) pattern |= load<Word32>(tests.reach[b] + r) <= upper[b] ? yes[b] : no[b];
    store(patterns + r, pattern);
  }
  for (; r < n; ++r) {
    patterns[r] = 0;
    for (int b = 0; b < 4; ++b)
      patterns[r] |= static_cast<std::uint16_t>(tests.reach[b][r] <= tests.upper[b] ? tests.yes[b] : tests.no[b]);
  }
}

static void pass_on(const double* from, const std::uint16_t* reach, std::uint32_t upper, double yes, double no,
                    std::size_t n, double* to) {
  for (std::size_t r = 0; r < n; ++r) to[r] += from[r] * (reach[r] <= upper ? yes : no);
}
