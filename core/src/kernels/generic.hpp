// The kernels' algorithms, written once. Each instruction set includes this file after defining
//   Lanes: kWidth, Acc{ void add(Bits) ; Counts finish() } …
// inside its own namespace, so that every copy is compiled for its own machine.
// Nothing here may be a non-inline function with external linkage: the linker would keep only one copy.

// Σ over the chunks of a section of popcount(i & j), for Lanes::kWidth tests j at once.
static inline typename Lanes::Counts section_counts(const std::uint32_t* bits, std::size_t stride, const Section& section,
                                                    std::size_t i, std::size_t j) {
  Lanes::Acc acc;
  const std::uint32_t* row = bits + section.begin * stride;
  for (std::uint32_t chunk = section.begin; chunk < section.end; ++chunk, row += stride) acc.add(row + j, row[i]);
  return acc.finish();
}

static void pair_index(const std::uint32_t* bits, std::size_t stride, const Section* sections, std::size_t n_sections,
                       std::size_t i, std::size_t j_begin, std::size_t j_end, std::int32_t* out) {
  for (std::size_t j = j_begin; j < j_end; j += Lanes::kWidth) {
    auto sum = Lanes::zero();
    for (std::size_t s = 0; s < n_sections; ++s)
      sum = Lanes::multiply_add(section_counts(bits, stride, sections[s], i, j), sections[s].factor, sum);
    Lanes::store(out + j, sum);
  }
}

static void pair_counts(const std::uint32_t* bits, std::size_t stride, const Section* sections, std::size_t n_sections,
                        std::size_t n_classes, std::size_t i, std::size_t j_begin, std::size_t j_end, std::int32_t* out) {
  for (std::size_t j = j_begin; j < j_end; j += Lanes::kWidth) {
    std::size_t s = 0;
    for (std::size_t c = 0; c < n_classes; ++c) {  // sections are sorted by class
      auto sum = Lanes::zero();
      for (; s < n_sections && sections[s].cls == c; ++s)
        sum = Lanes::multiply_add(section_counts(bits, stride, sections[s], i, j), sections[s].factor, sum);
      Lanes::store(out + c * stride + j, sum);
    }
  }
}

static void pack(const std::uint64_t* columns, std::size_t column_words, const std::uint32_t* which, std::size_t n_columns,
                 const PackStep* steps, std::size_t n_steps, std::uint32_t* bits, std::size_t stride) {
  for (std::size_t j = 0; j < n_columns; ++j) {
    const std::uint64_t* column = columns + which[j] * column_words;
    std::uint32_t* out = bits + j;
    std::uint64_t pending = 0;  // bits not yet written, `fill` < 32 of them
    std::uint32_t fill = 0;
    for (std::size_t k = 0; k < n_steps; ++k) {
      const PackStep& step = steps[k];
      const std::uint64_t packed = compress(column[step.word], step.mask);
      pending |= packed << fill;
      const std::uint32_t have = fill + step.count;  // at most 31 + 64
      fill = have;
      if (have >= 32) {
        *out = static_cast<std::uint32_t>(pending);
        out += stride;
        if (have >= 64) {
          *out = static_cast<std::uint32_t>(pending >> 32);
          out += stride;
          fill = have - 64;
          pending = fill == 0 ? 0 : packed >> (step.count - fill);  // the bits that did not fit
        } else {
          pending >>= 32;
          fill = have - 32;
        }
      }
      if (step.ends_section) {
        if (fill > 0) {
          *out = static_cast<std::uint32_t>(pending);
          out += stride;
        }
        pending = 0;
        fill = 0;
      }
    }
  }
}

struct SumOp {
  static double times(double a, double b) { return a * b; }
  static double plus(double acc, double x, double multiplicity) { return acc + multiplicity * x; }
  static bool feasible(double x) { return x != 0.0; }
  static constexpr double zero() { return 0.0; }
};
struct MaxOp {
  static double times(double a, double b) { return a * b; }
  static double plus(double acc, double x, double) { return acc > x ? acc : x; }
  static bool feasible(double x) { return x != 0.0; }
  static constexpr double zero() { return 0.0; }
};
struct MinOp {
  static double times(double a, double b) { return a + b; }
  static double plus(double acc, double x, double) { return acc < x ? acc : x; }
  static bool feasible(double x) { return x < 1e300; }
  static constexpr double zero() { return 1e301; }
};

// Scalar loads on purpose: on the measured machine eight scalar loads are as quick as one gather, and the
// loop keeps both load ports busy.
template <class Op>
static inline void fold_pairs(const PairTable& t, const std::int32_t* pair, std::size_t i, std::size_t n, const PairSums& out) {
  const double* leaf = t.leaf;
  const std::int32_t index_i = t.index[i];
  const std::int32_t rest = t.total - index_i;
  const double m_i = t.multiplicity[i];
  double yes = Op::zero(), no = Op::zero(), tests_yes = 0, tests_no = 0;
  double* __restrict s1 = out.split[1];
  double* __restrict s0 = out.split[0];
  double* __restrict e1 = out.tests[1];
  double* __restrict e0 = out.tests[0];
  for (std::size_t j = i + 1; j < n; ++j) {
    const std::int32_t p = pair[j];
    const double q11 = leaf[p];
    const double q10 = leaf[index_i - p];
    const double q01 = leaf[t.index[j] - p];
    const double q00 = leaf[rest - t.index[j] + p];
    const double m_j = t.multiplicity[j];
    const double i1 = Op::times(q11, q10), i0 = Op::times(q01, q00);
    const double j1 = Op::times(q11, q01), j0 = Op::times(q10, q00);
    yes = Op::plus(yes, i1, m_j);
    no = Op::plus(no, i0, m_j);
    tests_yes += Op::feasible(i1) ? m_j : 0.0;
    tests_no += Op::feasible(i0) ? m_j : 0.0;
    s1[j] = Op::plus(s1[j], j1, m_i);
    s0[j] = Op::plus(s0[j], j0, m_i);
    e1[j] += Op::feasible(j1) ? m_i : 0.0;
    e0[j] += Op::feasible(j0) ? m_i : 0.0;
  }
  s1[i] = Op::plus(s1[i], yes, 1.0);
  s0[i] = Op::plus(s0[i], no, 1.0);
  e1[i] += tests_yes;
  e0[i] += tests_no;
}

static void fold_sum(const PairTable& t, const std::int32_t* pair, std::size_t i, std::size_t n, const PairSums& out) {
  fold_pairs<SumOp>(t, pair, i, n, out);
}
static void fold_max(const PairTable& t, const std::int32_t* pair, std::size_t i, std::size_t n, const PairSums& out) {
  fold_pairs<MaxOp>(t, pair, i, n, out);
}
static void fold_min(const PairTable& t, const std::int32_t* pair, std::size_t i, std::size_t n, const PairSums& out) {
  fold_pairs<MinOp>(t, pair, i, n, out);
}

// Plain loop over int32: every compiler turns it into vector code of its instruction set.
static void fold_error(const std::int32_t* index, std::int32_t total, std::int32_t min_leaf, const std::int32_t* pair,
                       std::size_t i, std::size_t n, std::int32_t* const best[2]) {
  const std::int32_t index_i = index[i], rest = total - index_i;
  std::int32_t* __restrict b1 = best[1];
  std::int32_t* __restrict b0 = best[0];
  std::int32_t yes = b1[i], no = b0[i];
  const auto error = [min_leaf](std::int32_t packed) {
    const std::int32_t a = packed & 0xffff, b = static_cast<std::int32_t>(static_cast<std::uint32_t>(packed) >> 16);
    const std::int32_t least = a < b ? a : b;
    return a + b < min_leaf ? kInfeasible : least;
  };
  for (std::size_t j = i + 1; j < n; ++j) {
    const std::int32_t p = pair[j];
    const std::int32_t q11 = error(p), q10 = error(index_i - p), q01 = error(index[j] - p), q00 = error(rest - index[j] + p);
    const std::int32_t i1 = q11 + q10, i0 = q01 + q00, j1 = q11 + q01, j0 = q10 + q00;
    yes = yes < i1 ? yes : i1;
    no = no < i0 ? no : i0;
    b1[j] = b1[j] < j1 ? b1[j] : j1;
    b0[j] = b0[j] < j0 ? b0[j] : j0;
  }
  b1[i] = yes;
  b0[i] = no;
}

static std::uint64_t count_and(const std::uint64_t* a, const std::uint64_t* b, std::size_t n) {
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < n; ++k) sum += popcount64(a[k] & b[k]);
  return sum;
}

static constexpr Kernels table_of(const char* name) {
  return {name, pack, pair_index, pair_counts, fold_sum, fold_max, fold_min, fold_error, count_and};
}
