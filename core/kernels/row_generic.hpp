// The kernels of row_kernels.hpp. Included by the file of each instruction set, inside its namespace, after
// generic.hpp.

// gcc converts each half on its own.
static inline Real8 reals(Int8 x) {
#if defined(__AVX512F__)
  __m256i whole;
  std::memcpy(&whole, &x, sizeof whole);
  const __m512d converted = _mm512_cvtepi32_pd(whole);
  Real8 out;
  std::memcpy(&out, &converted, sizeof out);
  return out;
#else
  return __builtin_convertvector(x, Real8);
#endif
}

// kTerms classes at a time: their sums stay in registers.
template <std::size_t kTerms>
static inline void mean_sums_of(const PairCounts& t, const std::int32_t* pair, const std::int32_t* pair_total,
                                std::size_t i, std::size_t n, double sum_a, const double* const mass[4],
                                const double* multiplicity, const MeanTerm* terms) {
  Real8 constant[kTerms] = {}, linear[kTerms] = {};
  for (std::size_t j = i & ~std::size_t{7}; j < n; j += 8) {
    const Quadrants8 all(pair_total, t.total_of, t.total_of[i], t.total, j);
    Real8 b[4];
    for (std::size_t x = 0; x < 4; ++x) b[x] = reals(all.q[x]) + sum_a;
    // Four divisions took as long as all the rest.
    const Real8 low = b[0] * b[1], high = b[2] * b[3], inverse = 1.0 / (low * high);
    const Real8 of_low = inverse * high, of_high = inverse * low;
    const Real8 factor[4] = {load<Real8>(mass[0] + j) * (of_low * b[1]), load<Real8>(mass[1] + j) * (of_low * b[0]),
                             load<Real8>(mass[2] + j) * (of_high * b[3]), load<Real8>(mass[3] + j) * (of_high * b[2])};
    const Real8 m = load<Real8>(multiplicity + j);
    for (std::size_t k = 0; k < kTerms; ++k) {
      const std::size_t plane = terms[k].cls * t.stride;
      const Quadrants8 own(pair + plane, t.counts + plane, t.counts[plane + i], t.class_totals[terms[k].cls], j);
      Real8 v[4];
      for (std::size_t x = 0; x < 4; ++x) v[x] = factor[x] * (reals(own.q[x]) + terms[k].a);
      const PairSums& out = terms[k].out;
      const Real8 by_i = v[2] - v[0], by_j = v[1] - v[0];
      store(out.row + j, (v[3] - v[2]) - by_j);
      store(out.linear + j, load<Real8>(out.linear + j) + out.multiplicity * by_j);
      linear[k] += m * by_i;
      constant[k] += m * v[0];
    }
  }
  for (std::size_t k = 0; k < kTerms; ++k) {
    const PairSums& out = terms[k].out;
    double sums[2] = {};
    for (int x = 0; x < 8; ++x) {
      sums[0] += constant[k][x];
      sums[1] += linear[k][x];
    }
    *out.constant += out.multiplicity * sums[0];
    out.linear[i] += sums[1];
  }
}

static void mean_sums(const PairCounts& t, const std::int32_t* pair, const std::int32_t* pair_total, std::size_t i,
                      std::size_t n, double sum_a, const double* const mass[4], const double* multiplicity,
                      const MeanTerm* terms, std::size_t n_terms) {
  std::size_t k = 0;
  for (; k + 4 <= n_terms; k += 4) mean_sums_of<4>(t, pair, pair_total, i, n, sum_a, mass, multiplicity, terms + k);
  for (; k < n_terms; ++k) mean_sums_of<1>(t, pair, pair_total, i, n, sum_a, mass, multiplicity, terms + k);
}

static std::size_t passing(const double* here, std::size_t n, double least, std::uint32_t* out) {
  std::size_t found = 0, r = 0;
#if defined(__AVX512F__)
  const __m512d bound = _mm512_set1_pd(least);
  for (; r + 16 <= n; r += 16) {
    const __mmask8 low = _mm512_cmp_pd_mask(_mm512_loadu_pd(here + r), bound, _CMP_GT_OQ),
                   high = _mm512_cmp_pd_mask(_mm512_loadu_pd(here + r + 8), bound, _CMP_GT_OQ);
    const __mmask16 bits = _mm512_kunpackb(high, low);  // as masks: see lanes_generic.hpp
    if (bits == 0) continue;
    const __m512i numbers = _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(r)),
                                             _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    // Whole registers are written: compressing to memory is slow on some machines.
    _mm512_storeu_si512(out + found, _mm512_maskz_compress_epi32(bits, numbers));
    found += static_cast<std::size_t>(__builtin_popcount(bits));
  }
#endif
  for (; r < n; ++r) {
    out[found] = static_cast<std::uint32_t>(r);
    found += here[r] > least ? 1 : 0;
  }
  return found;
}

static void cell_table(const double* coefficients, std::size_t n_tests, std::size_t width, double* table) {
  for (std::size_t v = 0; v < width; v += 8) {
    const double* from = coefficients + v;
    double* to = table + v;
    store(to, load<Real8>(from));
    const double* last = from + width * (1 + n_tests * (n_tests + 1) / 2);
    Real8 of_i[128];  // by the tests after i that hold: linear_i + Σ A_ij
    for (std::size_t i = n_tests; i-- > 0;) {
      const std::size_t after = n_tests - 1 - i;
      last -= width * (after + 1);  // linear_i, A_i,i+1, …
      of_i[0] = load<Real8>(last);
      for (std::size_t b = 0; b < after; ++b) {
        const Real8 a = load<Real8>(last + width * (b + 1));
        for (std::size_t m = 0; m < std::size_t{1} << b; ++m) of_i[m | std::size_t{1} << b] = of_i[m] + a;
      }
      for (std::size_t m = 0; m < std::size_t{1} << after; ++m) {
        const std::size_t cell = m << (i + 1);
        store(to + (cell | std::size_t{1} << i) * width, load<Real8>(to + cell * width) + of_i[m]);
      }
    }
  }
}

static void add_cells(const double* table, std::size_t width, const std::uint8_t* cells, const std::uint32_t* rows,
                      const double* weight, std::size_t n, double* sums) {
  for (std::size_t k = 0; k < n; ++k) {
    const double w = weight[rows[k]];
    const double* from = table + cells[k] * width;
    double* to = sums + rows[k] * width;
    for (std::size_t v = 0; v < width; v += 8) store(to + v, load<Real8>(to + v) + w * load<Real8>(from + v));
  }
}

extern const RowKernels of_rows;
const RowKernels of_rows = {mean_sums, passing, cell_table, add_cells};
