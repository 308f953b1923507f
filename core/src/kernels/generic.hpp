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

// Eight pairs at a time, in the compiler's vector types: each instruction set lowers them to its own registers.
typedef double Real8 __attribute__((vector_size(64)));
typedef std::int64_t Mask8 __attribute__((vector_size(64)));
typedef std::int32_t Int8 __attribute__((vector_size(32)));

// leaf[index] for eight indices. Not a gather instruction: where its microcode is patched against data sampling a
// gather takes 1.07 ns per element, these loads 0.31 ns. Two indices per 64-bit load leave the load ports to the table.
static inline Real8 look_up(const double* leaf, Int8 index) {
  std::uint64_t two[4];
  std::memcpy(two, &index, sizeof two);
  return Real8{leaf[static_cast<std::uint32_t>(two[0])], leaf[two[0] >> 32], leaf[static_cast<std::uint32_t>(two[1])], leaf[two[1] >> 32],
               leaf[static_cast<std::uint32_t>(two[2])], leaf[two[2] >> 32], leaf[static_cast<std::uint32_t>(two[3])], leaf[two[3] >> 32]};
}
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

struct SumOp {
  static Real8 times(Real8 a, Real8 b) { return a * b; }
  static Real8 plus(Real8 acc, Real8 x, Real8 multiplicity) { return acc + multiplicity * x; }
  static double plus(double acc, double x) { return acc + x; }
  static Mask8 feasible(Real8 x) { return x != 0.0; }
  static constexpr double kZero = 0.0;
};
struct MaxOp {
  static Real8 times(Real8 a, Real8 b) { return a * b; }
  static Real8 plus(Real8 acc, Real8 x, Real8) { return acc > x ? acc : x; }
  static double plus(double acc, double x) { return acc > x ? acc : x; }
  static Mask8 feasible(Real8 x) { return x != 0.0; }
  static constexpr double kZero = 0.0;
};
struct MinOp {
  static Real8 times(Real8 a, Real8 b) { return a + b; }
  static Real8 plus(Real8 acc, Real8 x, Real8) { return acc < x ? acc : x; }
  static double plus(double acc, double x) { return acc < x ? acc : x; }
  static Mask8 feasible(Real8 x) { return x < 1e300; }
  static constexpr double kZero = 1e301;
};

template <class Op>
static inline void fold_pairs(const PairTable& t, const std::int32_t* pair, std::size_t i, std::size_t n, const PairSums& out) {
  const std::int32_t index_i = t.index[i], rest = t.total - index_i;
  const Real8 none = Real8{} + Op::kZero, nothing = Real8{};
  const Real8 m_i = nothing + t.multiplicity[i];
  Real8 yes = none, no = none, tests_yes = nothing, tests_no = nothing;
  const Int8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
  for (std::size_t j = (i + 1) & ~std::size_t{7}; j < n; j += 8) {
    // Lanes outside i < j < n read harmless entries and are blanked afterwards.
    const Int8 at = lane + static_cast<std::int32_t>(j);
    const Int8 valid = (at > static_cast<std::int32_t>(i)) & (at < static_cast<std::int32_t>(n));
    const Int8 p = load<Int8>(pair + j) & valid;
    const Int8 index_j = load<Int8>(t.index + j) & valid;
    const Real8 q11 = look_up(t.leaf, p);
    const Real8 q10 = look_up(t.leaf, index_i - p);
    const Real8 q01 = look_up(t.leaf, index_j - p);
    const Real8 q00 = look_up(t.leaf, rest - index_j + p);
    const Mask8 wide = __builtin_convertvector(valid, Mask8);
    const Real8 m_j = load<Real8>(t.multiplicity + j);
    const Real8 i1 = wide ? Op::times(q11, q10) : none, i0 = wide ? Op::times(q01, q00) : none;
    const Real8 j1 = wide ? Op::times(q11, q01) : none, j0 = wide ? Op::times(q10, q00) : none;
    yes = Op::plus(yes, i1, m_j);
    no = Op::plus(no, i0, m_j);
    tests_yes += Op::feasible(i1) ? m_j : nothing;
    tests_no += Op::feasible(i0) ? m_j : nothing;
    store(out.split[1] + j, Op::plus(load<Real8>(out.split[1] + j), j1, m_i));
    store(out.split[0] + j, Op::plus(load<Real8>(out.split[0] + j), j0, m_i));
    store(out.tests[1] + j, load<Real8>(out.tests[1] + j) + (Op::feasible(j1) ? m_i : nothing));
    store(out.tests[0] + j, load<Real8>(out.tests[0] + j) + (Op::feasible(j0) ? m_i : nothing));
  }
  for (int k = 0; k < 8; ++k) {
    out.split[1][i] = Op::plus(out.split[1][i], yes[k]);
    out.split[0][i] = Op::plus(out.split[0][i], no[k]);
    out.tests[1][i] += tests_yes[k];
    out.tests[0][i] += tests_no[k];
  }
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

// A hash of every column that does not see whether the column was complemented; eight columns at once.
static void hash_columns(const std::uint32_t* bits, std::size_t stride, const std::uint32_t* valid, std::size_t n_chunks,
                         std::size_t n, std::uint32_t* out) {
  typedef std::uint32_t Word8 __attribute__((vector_size(32)));
  for (std::size_t j = 0; j < n; j += 8) {
    const Word8 flip = -(load<Word8>(bits + j) & 1u);
    Word8 h = Word8{} + 0x9e3779b9u;
    for (std::size_t k = 0; k < n_chunks; ++k) {
      h = (h ^ load<Word8>(bits + k * stride + j) ^ (flip & valid[k])) * 0x85ebca6bu;
      h ^= h >> 15;
    }
    store(out + j, h);
  }
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

// Four rows at a time share the loads of the matrix.
template <std::size_t kRows>
static inline void quadratic_rows(const double* a, std::size_t stride, std::size_t n, const double* const* y, double* out) {
  Real8 acc[kRows] = {};
  for (std::size_t j = 0; j < n; j += 8) {
    Real8 sum[kRows] = {};
    const std::size_t end = j + 8 < n ? j + 8 : n;
    for (std::size_t i = 0; i < end; ++i) {
      const Real8 row = load<Real8>(a + i * stride + j);
      for (std::size_t r = 0; r < kRows; ++r) sum[r] += row * y[r][i];
    }
    for (std::size_t r = 0; r < kRows; ++r) acc[r] += sum[r] * load<Real8>(y[r] + j);
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    double total = 0;
    for (int k = 0; k < 8; ++k) total += acc[r][k];
    out[r] = total;
  }
}

static void quadratic(const double* a, std::size_t stride, std::size_t n, const double* y, std::size_t y_stride,
                      const std::uint32_t* rows, std::size_t n_rows, double* out) {
  const double* at[4];
  std::size_t r = 0;
  for (; r + 4 <= n_rows; r += 4) {
    for (std::size_t k = 0; k < 4; ++k) at[k] = y + rows[r + k] * y_stride;
    quadratic_rows<4>(a, stride, n, at, out + r);
  }
  for (; r < n_rows; ++r) {
    at[0] = y + rows[r] * y_stride;
    quadratic_rows<1>(a, stride, n, at, out + r);
  }
}

static std::uint64_t count_and(const std::uint64_t* a, const std::uint64_t* b, std::size_t n) {
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < n; ++k) sum += popcount64(a[k] & b[k]);
  return sum;
}

static constexpr Kernels table_of(const char* name) {
  return {name, pack, pair_index, pair_counts, fold_sum, fold_max, fold_min, fold_error, hash_columns, quadratic, count_and};
}
