// The kernels' algorithms, written once. Each instruction set includes this file after defining
//   look_up and max4 (four_*.hpp), Compress, popcount64, and
//   Lanes: kWidth, Vec, and popcounts<R>(i, j, n, sums): Σ_k popcount(i_r[k] & j[k]) for R columns i_r that stand side
//   by side and kWidth columns j, k over n chunks of a tile
// inside its own namespace, so that every copy is compiled for its own machine.
// Nothing here may be a non-inline function with external linkage: the linker would keep only one copy.

#include "kernels/pairs.hpp"

static void pack(const std::uint64_t* columns, std::size_t column_words, const std::uint32_t* which,
                 std::size_t n_columns, const PackStep* steps, std::size_t n_steps, std::uint32_t* bits,
                 std::size_t n_chunks) {
  constexpr std::size_t stride = RowBlock::kTile;
  const Compress compress(steps, n_steps);
  for (std::size_t j = 0; j < n_columns; ++j) {
    const std::uint64_t* column = columns + which[j] * column_words;
    std::uint32_t* out = bits + RowBlock::word(n_chunks, 0, j);
    std::uint64_t pending = 0;  // bits not yet written, `fill` < 32 of them
    std::uint32_t fill = 0;
    for (std::size_t k = 0; k < n_steps; ++k) {
      const PackStep& step = steps[k];
      const std::uint64_t packed = compress(column[step.word], k);
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

// Four pairs at a time, in the compiler's vector types: each instruction set lowers them to its own registers.
// Four and not eight: 512-bit arithmetic would close the port that the blends of look_up need.
typedef std::int64_t Mask4 __attribute__((vector_size(32)));
typedef double Real8 __attribute__((vector_size(64)));

static inline double add_lanes(Real4 v) { return (v[0] + v[2]) + (v[1] + v[3]); }
static inline double max_lanes(Real4 v) {
  const double a = v[0] > v[2] ? v[0] : v[2], b = v[1] > v[3] ? v[1] : v[3];
  return a > b ? a : b;
}

static inline double min_lanes(Real4 v) {
  const double a = v[0] < v[2] ? v[0] : v[2], b = v[1] < v[3] ? v[1] : v[3];
  return a < b ? a : b;
}

struct SumOp {
  static constexpr double kZero = 0.0;
  static Real4 times(Real4 x, Real4 y) { return x * y; }
  static Real4 plus(Real4 acc, Real4 x, Real4 multiplicity) { return acc + multiplicity * x; }
  static double plus(double acc, Real4 x) { return acc + add_lanes(x); }
};
struct MaxOp {
  static constexpr double kZero = 0.0;
  static Real4 times(Real4 x, Real4 y) { return x * y; }
  static Real4 plus(Real4 acc, Real4 x, Real4) { return max4(acc, x); }
  static double plus(double acc, Real4 x) {
    const double m = max_lanes(x);
    return acc > m ? acc : m;
  }
};

struct MinOp {
  static constexpr double kZero = __builtin_inf();
  static Real4 times(Real4 x, Real4 y) { return x + y; }
  static Real4 plus(Real4 acc, Real4 x, Real4) { return min4(acc, x); }
  static double plus(double acc, Real4 x) {
    const double m = min_lanes(x);
    return acc < m ? acc : m;
  }
};

// With kApart the terms of i stay apart, one for each j, and feasible ones are counted.
template <class Op, bool kApart = false>
static inline void fold_pairs(const PairTable& t, const std::int32_t* pair, std::size_t i, std::size_t n,
                              double* const split[2], const Apart* apart = nullptr) {
  const double* leaf = t.leaf;
  const std::int32_t index_i = t.index[i], rest = t.total - index_i;
  const Real4 zero = Real4{} + Op::kZero, m_i = Real4{} + t.multiplicity[i];
  Real4 yes = zero, no = zero;
  double* s1 = split[1];
  double* s0 = split[0];
  const auto quadrants = [&](std::size_t j, Real4& i1, Real4& i0, Real4& j1, Real4& j0) {
    const Int4 p = load<Int4>(pair + j), index_j = load<Int4>(t.index + j);
    const Real4 q11 = look_up(leaf, p), q10 = look_up(leaf, index_i - p), q01 = look_up(leaf, index_j - p),
                q00 = look_up(leaf, rest - index_j + p);
    i1 = Op::times(q11, q10);
    i0 = Op::times(q01, q00);
    j1 = Op::times(q11, q01);
    j0 = Op::times(q10, q00);
  };
  // The pair (i, i) and the padding contribute the algebra's zero; only lanes before i have to be blanked.
  std::size_t j = i & ~std::size_t{3};
  const Int4 at = Int4{0, 1, 2, 3} + static_cast<std::int32_t>(j - i);
  const Mask4 behind = __builtin_convertvector(at >= 0, Mask4);
  Real4 i1, i0, j1, j0;
  quadrants(j, i1, i0, j1, j0);
  const auto blank = [&](Real4 x) { return behind ? x : zero; };
  for (;;) {
    const Real4 m_j = load<Real4>(t.multiplicity + j);
    if (j <= i) {
      i1 = blank(i1);
      i0 = blank(i0);
      j1 = blank(j1);
      j0 = blank(j0);
    }
    if constexpr (kApart) {
      const Real4 one = Real4{} + 1.0;
      store(apart->own[1] + j, i1);
      store(apart->own[0] + j, i0);
      store(s1 + j, Op::plus(load<Real4>(s1 + j), j1, one));
      store(s0 + j, Op::plus(load<Real4>(s0 + j), j0, one));
      store(apart->tests[1] + j, load<Real4>(apart->tests[1] + j) + (j1 > zero ? one : zero));
      store(apart->tests[0] + j, load<Real4>(apart->tests[0] + j) + (j0 > zero ? one : zero));
    } else {
      yes = Op::plus(yes, i1, m_j);
      no = Op::plus(no, i0, m_j);
      store(s1 + j, Op::plus(load<Real4>(s1 + j), j1, m_i));
      store(s0 + j, Op::plus(load<Real4>(s0 + j), j0, m_i));
    }
    j += 4;
    if (j >= n) break;
    quadrants(j, i1, i0, j1, j0);
  }
  if constexpr (kApart) return;
  s1[i] = Op::plus(s1[i], yes);
  s0[i] = Op::plus(s0[i], no);
}

static void apart_sum(const PairTable& t, const std::int32_t* pair, std::size_t i, std::size_t n, const Apart& out) {
  fold_pairs<SumOp, true>(t, pair, i, n, out.split, &out);
}
static void apart_max(const PairTable& t, const std::int32_t* pair, std::size_t i, std::size_t n, const Apart& out) {
  fold_pairs<MaxOp, true>(t, pair, i, n, out.split, &out);
}

static void fold_sum(const PairTable& t, const std::int32_t* pair, std::size_t i, std::size_t n,
                     double* const split[2]) {
  fold_pairs<SumOp>(t, pair, i, n, split);
}
static void fold_max(const PairTable& t, const std::int32_t* pair, std::size_t i, std::size_t n,
                     double* const split[2]) {
  fold_pairs<MaxOp>(t, pair, i, n, split);
}

static void fold_min(const PairTable& t, const std::int32_t* pair, std::size_t i, std::size_t n,
                     double* const split[2]) {
  fold_pairs<MinOp>(t, pair, i, n, split);
}

// e^x to the last bit or two: 2^k · e^r with |r| ≤ ln 2 / 2, e^r by its series to r^13. 0 below −708, inf above 709.
// Several vectors side by side: the series is one long chain, and four chains take hardly longer than one.
template <std::size_t kMany>
static inline void exp_each(const Real4 (&x)[kMany], Real4 (&out)[kMany]) {
  const Real4 magic = Real4{} + 0x1.8p52;
  Real4 shifted[kMany], r[kMany], e[kMany];
  for (std::size_t v = 0; v < kMany; ++v) {
    shifted[v] = x[v] * 1.4426950408889634074 + magic;
    const Real4 k = shifted[v] - magic;
    r[v] = (x[v] - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    e[v] = Real4{} + 1.6059043836821613e-10;
  }
  const double series[] = {2.08767569878681e-09,
                           2.505210838544172e-08,
                           2.7557319223985893e-07,
                           2.7557319223985893e-06,
                           2.48015873015873e-05,
                           0.0001984126984126984,
                           0.001388888888888889,
                           0.008333333333333333,
                           0.041666666666666664,
                           0.16666666666666666,
                           0.5,
                           1.0,
                           1.0};
  for (double c : series)
    for (std::size_t v = 0; v < kMany; ++v) e[v] = e[v] * r[v] + c;
  const Real4 inf = Real4{} + __builtin_inf();
  for (std::size_t v = 0; v < kMany; ++v) {
    Mask4 bits;
    std::memcpy(&bits, &shifted[v], sizeof bits);
    Mask4 power = (bits + 1023) << 52;  // the low bits of `shifted` are k
    Real4 scale;
    std::memcpy(&scale, &power, sizeof scale);
    out[v] = x[v] > 709.0 ? inf : x[v] < -708.0 ? Real4{} : e[v] * scale;
  }
}

static inline Real4 exp4(Real4 x) {
  const Real4 one[1] = {x};
  Real4 out[1];
  exp_each(one, out);
  return out[0];
}

struct LogSumOp {
  static constexpr double kZero = 0.0, kInfeasible = -1.0;
  static void values(const Real4 (&log_terms)[4], Real4 (&out)[4]) { exp_each(log_terms, out); }
  static Real4 plus(Real4 acc, Real4 x, Real4 multiplicity) { return acc + multiplicity * x; }
  static double plus(double acc, Real4 x) { return acc + add_lanes(x); }
};
struct LogMaxOp {
  static constexpr double kZero = -__builtin_inf(), kInfeasible = -__builtin_inf();
  static void values(const Real4 (&log_terms)[4], Real4 (&out)[4]) {
    for (int v = 0; v < 4; ++v) out[v] = log_terms[v];
  }
  static Real4 plus(Real4 acc, Real4 x, Real4) { return max4(acc, x); }
  static double plus(double acc, Real4 x) {
    const double m = max_lanes(x);
    return acc > m ? acc : m;
  }
};

template <class Op, bool kApart = false>
static inline void fold_logs(const PairLogs& t, const std::int32_t* pair, std::size_t i, std::size_t n,
                             double* const split[2], double* const tests[2], const Apart* apart = nullptr) {
  const Real4 none = Real4{} + Op::kZero, nothing = Real4{};
  const Real4 m_i = nothing + (kApart ? 1.0 : t.multiplicity[i]);
  const Real4 ref_i1 = nothing + t.reference[1][i], ref_i0 = nothing + t.reference[0][i];
  const std::int32_t total_i = t.total_of[i], total_rest = t.total - total_i;
  Real4 yes = none, no = none, tests_yes = nothing, tests_no = nothing;
  for (std::size_t j = (i + 1) & ~std::size_t{3}; j < n; j += 4) {
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
    const Real4 m_j = load<Real4>(t.multiplicity + j);
    const Real4 log_terms[4] = {q11 + q10 - ref_i1, q01 + q00 - ref_i0, q11 + q01 - load<Real4>(t.reference[1] + j),
                                q10 + q00 - load<Real4>(t.reference[0] + j)};
    Real4 value[4];
    Op::values(log_terms, value);
    if constexpr (kApart) {
      const Real4 infeasible = nothing + Op::kInfeasible;
      store(apart->own[1] + j, fi1 ? value[0] : infeasible);
      store(apart->own[0] + j, fi0 ? value[1] : infeasible);
    } else {
      yes = Op::plus(yes, fi1 ? value[0] : none, m_j);
      no = Op::plus(no, fi0 ? value[1] : none, m_j);
    }
    store(split[1] + j, Op::plus(load<Real4>(split[1] + j), fj1 ? value[2] : none, m_i));
    store(split[0] + j, Op::plus(load<Real4>(split[0] + j), fj0 ? value[3] : none, m_i));
    tests_yes += fi1 ? m_j : nothing;
    tests_no += fi0 ? m_j : nothing;
    store(tests[1] + j, load<Real4>(tests[1] + j) + (fj1 ? m_i : nothing));
    store(tests[0] + j, load<Real4>(tests[0] + j) + (fj0 ? m_i : nothing));
  }
  if constexpr (kApart) return;
  split[1][i] = Op::plus(split[1][i], yes);
  split[0][i] = Op::plus(split[0][i], no);
  tests[1][i] += add_lanes(tests_yes);
  tests[0][i] += add_lanes(tests_no);
}

static void fold_log_sum(const PairLogs& t, const std::int32_t* pair, std::size_t i, std::size_t n,
                         double* const split[2], double* const tests[2]) {
  fold_logs<LogSumOp>(t, pair, i, n, split, tests);
}
static void fold_log_max(const PairLogs& t, const std::int32_t* pair, std::size_t i, std::size_t n,
                         double* const split[2], double* const tests[2]) {
  fold_logs<LogMaxOp>(t, pair, i, n, split, tests);
}

static void apart_log_sum(const PairLogs& t, const std::int32_t* pair, std::size_t i, std::size_t n, const Apart& out) {
  fold_logs<LogSumOp, true>(t, pair, i, n, out.split, out.tests, &out);
}
static void apart_log_max(const PairLogs& t, const std::int32_t* pair, std::size_t i, std::size_t n, const Apart& out) {
  fold_logs<LogMaxOp, true>(t, pair, i, n, out.split, out.tests, &out);
}

// A hash of every column that does not see whether the column was complemented; eight columns at once.
static void hash_columns(const std::uint32_t* bits, const std::uint32_t* valid, std::size_t n_chunks, std::size_t n,
                         std::uint32_t* out) {
  typedef std::uint32_t Word8 __attribute__((vector_size(32)));
  for (std::size_t j = 0; j < n; j += 8) {
    const std::uint32_t* column = bits + RowBlock::word(n_chunks, 0, j);
    const Word8 flip = -(load<Word8>(column) & 1u);
    Word8 h = Word8{} + 0x9e3779b9u;
    for (std::size_t k = 0; k < n_chunks; ++k) {
      h = (h ^ load<Word8>(column + k * RowBlock::kTile) ^ (flip & valid[k])) * 0x85ebca6bu;
      h ^= h >> 15;
    }
    store(out + j, h);
  }
}

// Error = examples − the largest class; lane by lane, one class after the other.
static void fold_errors(const PairCounts& t, const std::int32_t* pair, std::size_t i, std::size_t n,
                        std::int32_t* const best[2]) {
  const IntW zero = IntW{}, lane = lane_numbers(), least = zero + (t.min_leaf - 1), none = zero + kInfeasible;
  // By the sign of a difference, as in pair_index: no comparison of wide vectors.
  const auto where = [](IntW mask, IntW x, IntW y) { return (x & mask) | (y & ~mask); };
  const auto larger = [](IntW x, IntW y) { return x + ((y - x) & ~((y - x) >> 31)); };
  const auto smaller = [](IntW x, IntW y) { return x + ((y - x) & ((y - x) >> 31)); };
  const std::int32_t total_i = t.total_of[i], total_rest = t.total - total_i;
  std::int32_t* b1 = best[1];
  std::int32_t* b0 = best[0];
  IntW yes = none, no = none;
  for (std::size_t j = (i + 1) & ~(Lanes::kWidth - 1); j < n; j += Lanes::kWidth) {
    IntW m11 = zero, m10 = zero, m01 = zero, m00 = zero, both = zero;
    for (std::size_t c = 0; c < t.n_classes; ++c) {
      const std::int32_t in_i = t.counts[c * t.stride + i], rest = t.class_totals[c] - in_i;
      const IntW b = load<IntW>(pair + c * t.stride + j), in_j = load<IntW>(t.counts + c * t.stride + j);
      both += b;
      m11 = larger(m11, b);
      m10 = larger(m10, in_i - b);
      m01 = larger(m01, in_j - b);
      m00 = larger(m00, rest - in_j + b);
    }
    const IntW of_j = load<IntW>(t.total_of + j);
    // Pairs with j > i only. Errors are below 2^29, so that two times kInfeasible still fits.
    const IntW behind = (static_cast<std::int32_t>(i) - static_cast<std::int32_t>(j) - lane) >> 31;
    const auto error = [&](IntW examples, IntW most) {
      return where(((least - examples) >> 31) & behind, examples - most, none);
    };
    const IntW q11 = error(both, m11), q10 = error(total_i - both, m10), q01 = error(of_j - both, m01),
               q00 = error(total_rest - of_j + both, m00);
    yes = smaller(yes, q11 + q10);
    no = smaller(no, q01 + q00);
    store(b1 + j, smaller(load<IntW>(b1 + j), q11 + q01));
    store(b0 + j, smaller(load<IntW>(b0 + j), q10 + q00));
  }
  for (std::size_t k = 0; k < Lanes::kWidth; ++k) {
    b1[i] = b1[i] < yes[k] ? b1[i] : yes[k];
    b0[i] = b0[i] < no[k] ? b0[i] : no[k];
  }
}

static void log_terms(const PairLogs& t, const std::int32_t* pair, std::size_t i, std::size_t n, const double shift[2],
                      double* const term[2], double* const feasible[2]) {
  const Real4 nothing = Real4{}, one = nothing + 1.0;
  const std::int32_t total_i = t.total_of[i], total_rest = t.total - total_i;
  for (std::size_t j = 0; j < n; j += 4) {
    const Int4 at = Int4{0, 1, 2, 3} + static_cast<std::int32_t>(j);
    const Int4 valid = (at != static_cast<std::int32_t>(i)) & (at < static_cast<std::int32_t>(n));
    Real4 yes = nothing, no = nothing;
    Int4 both = Int4{}, of_j = Int4{};
    for (std::size_t c = 0; c < t.n_classes; ++c) {
      if (t.class_totals[c] == 0) continue;  // rising is 0 of no examples
      const std::int32_t in_i = t.counts[c * t.stride + i], rest = t.class_totals[c] - in_i;
      const Int4 b = load<Int4>(pair + c * t.stride + j) & valid, jj = load<Int4>(t.counts + c * t.stride + j) & valid;
      const double* r = t.rising[c];
      yes += look_up(r, b) + look_up(r, in_i - b);
      no += look_up(r, jj - b) + look_up(r, rest - jj + b);
      both += b;
      of_j += jj;
    }
    yes -= look_up(t.rising_sum, both) + look_up(t.rising_sum, total_i - both);
    no -= look_up(t.rising_sum, of_j - both) + look_up(t.rising_sum, total_rest - of_j + both);
    const auto wide = [](Int4 mask) { return __builtin_convertvector(mask, Mask4); };
    const Mask4 f1 = wide((both >= t.min_leaf) & (total_i - both >= t.min_leaf) & valid),
                f0 = wide((of_j - both >= t.min_leaf) & (total_rest - of_j + both >= t.min_leaf) & valid);
    store(term[1] + j, f1 ? exp4(yes + shift[1]) : nothing);
    store(term[0] + j, f0 ? exp4(no + shift[0]) : nothing);
    store(feasible[1] + j, f1 ? one : nothing);
    store(feasible[0] + j, f0 ? one : nothing);
  }
}

static void pair_terms(const PairTable& t, int shift, const std::int32_t* n0, const std::int32_t* n1, std::size_t i,
                       std::size_t n, const double each[2], double* const term[2]) {
  const std::int32_t of_i = t.index[i], rest = t.total - of_i;
  std::size_t j = 0;
  for (; j + 4 <= n; j += 4) {
    const Int4 p = (load<Int4>(n0 + j) << shift) + load<Int4>(n1 + j), of_j = load<Int4>(t.index + j);
    const Real4 m = load<Real4>(t.multiplicity + j);
    store(term[1] + j, each[1] * m * look_up(t.leaf, p) * look_up(t.leaf, of_i - p));
    store(term[0] + j, each[0] * m * look_up(t.leaf, of_j - p) * look_up(t.leaf, rest - of_j + p));
  }
  for (; j < n; ++j) {
    const std::int32_t p = (n0[j] << shift) + n1[j];
    term[1][j] = each[1] * t.multiplicity[j] * t.leaf[p] * t.leaf[of_i - p];
    term[0][j] = each[0] * t.multiplicity[j] * t.leaf[t.index[j] - p] * t.leaf[rest - t.index[j] + p];
  }
  term[0][i] = term[1][i] = 0;
}

typedef std::int32_t Int8 __attribute__((vector_size(32)));

// Eight values at a time, or one.
template <int kKind, class T>
static inline T value_of(T mass, T total, double centre, double example) {
  if constexpr (kKind == 2) return mass * (total - mass) / (total * total * (total * example + 1));
  const T m = mass / total;
  if constexpr (kKind == 1) return (m - centre) * (m - centre);
  return m;
}

template <int kKind>
static double pair_values_of(const PairValues& v, int side, const double* term, const double* each, std::size_t n,
                             double* difference, double* zeros) {
  // Counts of (i = side, j = 0) are those of i = side less those with j.
  const std::int32_t whole = side == 1 ? v.of_i : v.rest, total = side == 1 ? v.total_i : v.total_rest;
  const auto yes = [side](auto both, auto of_j) { return side == 1 ? both : of_j - both; };
  Real8 sum = Real8{};
  std::size_t j = 0;
  for (; j + 8 <= n; j += 8) {
    const Int8 n_yes = yes(load<Int8>(v.both + j), load<Int8>(v.of_j + j)),
               all_yes = yes(load<Int8>(v.both_total + j), load<Int8>(v.total_j + j));
    const Real8 one = value_of<kKind>(__builtin_convertvector(n_yes, Real8) + v.a,
                                      __builtin_convertvector(all_yes, Real8) + v.sum_a, v.centre, v.example),
                zero = value_of<kKind>(__builtin_convertvector(whole - n_yes, Real8) + v.a,
                                       __builtin_convertvector(total - all_yes, Real8) + v.sum_a, v.centre, v.example);
    const Real8 t = load<Real8>(term + j);
    store(difference + j, load<Real8>(each + j) * (t * (one - zero)));
    const Real8 weighted = t * zero;
    store(zeros + j, weighted);
    sum += weighted;
  }
  double result = 0;
  for (int k = 0; k < 8; ++k) result += sum[k];
  for (; j < n; ++j) {
    const std::int32_t n_yes = yes(v.both[j], v.of_j[j]), all_yes = yes(v.both_total[j], v.total_j[j]);
    const double one = value_of<kKind>(n_yes + v.a, all_yes + v.sum_a, v.centre, v.example),
                 zero = value_of<kKind>(whole - n_yes + v.a, total - all_yes + v.sum_a, v.centre, v.example);
    difference[j] = each[j] * (term[j] * (one - zero));
    result += zeros[j] = term[j] * zero;
  }
  return result;
}

static double pair_values(const PairValues& v, int side, const double* term, const double* each, std::size_t n,
                          double* difference, double* zeros) {
  return v.kind == 0   ? pair_values_of<0>(v, side, term, each, n, difference, zeros)
         : v.kind == 1 ? pair_values_of<1>(v, side, term, each, n, difference, zeros)
                       : pair_values_of<2>(v, side, term, each, n, difference, zeros);
}

static void add_row(const double* one, const double* zero, double x, double y, std::size_t n, double* linear,
                    double* row) {
  std::size_t j = 0;
  for (; j + 8 <= n; j += 8) {
    const Real8 z = load<Real8>(zero + j);
    store(linear + j, load<Real8>(linear + j) + x * z);
    store(row + j, y * (load<Real8>(one + j) - z));
  }
  for (; j < n; ++j) {
    linear[j] += x * zero[j];
    row[j] = y * (one[j] - zero[j]);
  }
}

// Four rows at a time share the loads of the matrix. With registers of eight doubles two columns of blocks go together:
// four sums alone would wait for each other's multiply-add.
constexpr std::size_t kColumns = Lanes::kWidth == 16 ? 2 : 1;

template <std::size_t kRows, std::size_t kBlocks>
static inline void quadratic_block(const double* a, std::size_t stride, std::size_t j, std::size_t n,
                                   const double* const* y, Real8* acc) {
  Real8 sum[kBlocks][kRows] = {};
  const std::size_t end = j + 8 * kBlocks < n ? j + 8 * kBlocks : n;
  for (std::size_t i = 0; i < end; ++i) {
    Real8 row[kBlocks];
    for (std::size_t b = 0; b < kBlocks; ++b) row[b] = load<Real8>(a + i * stride + j + 8 * b);
    for (std::size_t r = 0; r < kRows; ++r)
      for (std::size_t b = 0; b < kBlocks; ++b) sum[b][r] += row[b] * y[r][i];
  }
  for (std::size_t b = 0; b < kBlocks; ++b)
    for (std::size_t r = 0; r < kRows; ++r) acc[r] += sum[b][r] * load<Real8>(y[r] + j + 8 * b);
}

template <std::size_t kRows>
static inline void quadratic_rows(const double* a, std::size_t stride, std::size_t n, const double* const* y,
                                  double* out) {
  Real8 acc[kRows] = {};
  std::size_t j = 0;
  // A block that is left over comes first, where columns are short.
  for (; (n + 7 - j) / 8 % kColumns != 0; j += 8) quadratic_block<kRows, 1>(a, stride, j, n, y, acc);
  for (; j < n; j += 8 * kColumns) quadratic_block<kRows, kColumns>(a, stride, j, n, y, acc);
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

#include "kernels/masses.hpp"

static std::uint64_t nonzero(const std::int32_t* numbers) {
  std::uint64_t bits = 0;
#if defined(__AVX512F__)
  for (int k = 0; k < 4; ++k) {
    const __m512i x = _mm512_loadu_si512(numbers + 16 * k);
    bits |= static_cast<std::uint64_t>(_mm512_test_epi32_mask(x, x)) << (16 * k);
  }
#elif defined(__AVX2__)
  for (int k = 0; k < 8; ++k) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(numbers + 8 * k));
    const __m256i zero = _mm256_cmpeq_epi32(x, _mm256_setzero_si256());
    bits |= static_cast<std::uint64_t>(~_mm256_movemask_ps(_mm256_castsi256_ps(zero)) & 0xff) << (8 * k);
  }
#else
  for (int k = 0; k < 64; ++k) bits |= static_cast<std::uint64_t>(numbers[k] != 0) << k;
#endif
  return bits;
}

static std::uint64_t count_and(const std::uint64_t* a, const std::uint64_t* b, std::size_t n) {
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < n; ++k) sum += popcount64(a[k] & b[k]);
  return sum;
}

static constexpr Kernels table_of(const char* name) {
  return {name,          pack,         pair_index,   pair_counts,     pair_rows,    fold_sum,      fold_max,
          fold_min,      fold_log_sum, fold_log_max, apart_sum,       apart_max,    apart_log_sum, apart_log_max,
          pair_errors,   side_errors,  fold_errors,  hash_columns,    pair_terms,   log_terms,     pair_values,
          add_row,       quadratic,    pair_masses,  pair_log_masses, mass_factors, leaf_sums,     pattern_sums,
          four_outcomes, pass_on,      nonzero,      count_and};
}
