// The hot loops behind one table of functions, picked once at run time by CPU feature.
//
// A *block* holds the rows of one cover, packed into chunks of 32 rows. Tests stand in tiles of sixteen, and a tile is
// laid out [chunk][test]: what one instruction loads is one line of memory, and a tile is read from its beginning to
// its end. (Laid out [chunk][test] over all tests, as it was once, every chunk was on another page.) Chunks belong to
// *sections*; all rows of a section have the same class and the same multiplicity 2^b, so every class count is a sum of
// popcounts: n_c = Σ_sections(c) popcount << b.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace everytree {

// Chunks [begin, end) of a block. A row of the section counts 2^shift times, and adds 2^index_shift to an index.
struct Section {
  std::uint32_t begin;
  std::uint32_t end;
  std::uint32_t cls;
  std::uint8_t shift;
  std::uint8_t index_shift;
  std::int32_t multiplicity() const { return std::int32_t{1} << shift; }
};

struct RowBlock {
  static constexpr std::size_t kTile = 16;
  // Where chunk k of test j stands; kTile further on is its next chunk.
  static constexpr std::size_t word(std::size_t n_chunks, std::size_t k, std::size_t j) {
    return (j / kTile * n_chunks + k) * kTile + j % kTile;
  }

  const std::uint32_t* bits;
  std::size_t n_chunks;
  const Section* sections;
  std::size_t n_sections;
};

// Pairs are counted for so many tests i at a time: i, i + 1, … from a multiple of it.
constexpr std::size_t kPairRows = 4;

// One 64-bit word of a cover that has rows in it: how its bits are packed into the block.
struct PackStep {
  std::uint32_t word;   // index of the word in a table column
  std::uint32_t count;  // popcount of mask
  std::uint64_t mask;   // the rows of the cover in this word
  std::uint32_t ends_section;
};

// Counts the feasible second tests of every child while pairs are counted. Index a = 1 is the child where test i
// holds, a = 0 the other one. All arrays are padded to a multiple of 16 tests.
struct TestCounter {
  const std::int32_t* total_of;      // examples where test j holds
  const std::int32_t* multiplicity;  // how many original tests stand behind test j; 0 in the padding
  std::int32_t total;                // examples of the cover
  std::int32_t min_leaf;
  std::int32_t shift;      // an index is n_0 << shift | n_1 of two classes; 0: it is the number of examples
  std::int32_t* tests[2];  // in and out: number of feasible j at the children of each i
};

// Leaf weights come from a table over the index n_0 << shift | n_1, which is linear in the counts: the four quadrants
// of (i, j) follow by subtraction. Entry 0 (no example) must be the algebra's zero.
struct PairTable {
  const double* leaf;          // by index; the algebra's zero where the count is below min_leaf
  const std::int32_t* index;   // index of the cover {j = 1}; 0 in the padding
  const double* multiplicity;  // of test j; 0 in the padding
  std::int32_t total;          // index of the whole cover
};

// The same without a table, for any number of classes: logM = Σ_c rising_c[n_c] − rising_sum[n].
struct PairLogs {
  std::size_t n_classes;
  const double* const* rising;  // one table per class
  const double* rising_sum;
  const std::int32_t* counts;        // counts[c * stride + j]: examples of class c where test j holds
  const std::int32_t* class_totals;  // of the cover
  const std::int32_t* total_of;      // examples where test j holds
  std::int32_t total, min_leaf;
  std::size_t stride;
  const double* multiplicity;
  const double* reference[2];  // logM of the children of every test: terms are relative to it
};

// Where the second tests of a split are not simply added up but by column: what one test i gives.
//   own[a][j]    the term of the second test j at side a of i, for j > i; 0, or below 0 in logarithms, if infeasible
//   split[a][j]  ⊕= the term of the second test i at side a of j, and tests[a][j] += 1 if it is feasible
struct Apart {
  double* own[2];
  double* split[2];
  double* tests[2];
};

// The class counts themselves, for errors of any number of classes.
struct PairCounts {
  std::size_t n_classes;
  const std::int32_t* counts;        // counts[c * stride + j]: examples of class c where test j holds
  const std::int32_t* class_totals;  // of the cover
  const std::int32_t* total_of;      // examples where test j holds
  std::int32_t total, min_leaf;
  std::size_t stride;
};

// Errors of two classes in 32-bit lanes; an index packs the counts as n_0 << 16 | n_1. For both tests k of a pair,
// best[a][k] is kept minimal over the other test: the errors of side a split once more; kInfeasibleError or more if no
// test splits it. Fewer than 32768 examples, and a price of at most 2^14.
// lower[a][k] (if asked for) is the same with leaves that may still be split: a leaf of e errors then costs at least
// min(e, price + max(min_leaf − e, 0)). All arrays are padded to a multiple of 16 tests.
struct PairErrors {
  const std::int32_t* index;
  std::int32_t total, min_leaf, price;
  std::int32_t* best[2];
  std::int32_t* lower[2];  // both null: not asked for
  // If not null, the index of the pair (i + r, j) is kept here, at [r * pairs_stride + j].
  std::int32_t* pairs = nullptr;
  std::size_t pairs_stride = 0;
};

// The same for two covers that make up a third one. The pairs of the first are counted in its block; those of the
// second are the rest of the pairs of the whole: whole[r * whole_stride + j] for the pair (i + r, j). No `lower`.
struct SideErrors {
  PairErrors counted, rest;
  const std::int32_t* whole;
  std::size_t whole_stride;
};

// A value of leaves (see weights/leaf_value.hpp) in the four quadrants of the pairs (i, j), for one class.
struct PairValues {
  // 0: m, 1: (m − centre)², 2: m (1 − m) / (B · example + 1), where m = (n_c + a) / B and B = n + sum_a
  std::int32_t kind;
  double a, sum_a, centre, example;       // example: how much of one a count is
  const std::int32_t *both, *both_total;  // examples with i and j: of the class, and all
  const std::int32_t *of_j, *total_j;     // examples with j
  std::int32_t of_i, total_i;             // examples with i
  std::int32_t rest, total_rest;          // and without
};

// How much the leaves of a pair (i, j) weigh: the products of two leaves at side a of test i, where j comes second,
// times alpha[a][i] and of_i[a][j]; those at side b of test j, where i comes second, times alpha[b][j] and of_j[b][j].
struct PairScale {
  const double* alpha[2];           // by test; 0 in the padding
  const double *of_i[2], *of_j[2];  // shares of second tests; null: all 1
};

// What the mass of a leaf is multiplied with: 1 / (n + sum_a), or own[n_cls] · all[n] where these are given.
struct LeafFactor {
  double sum_a;
  std::size_t cls;
  const double *own, *all;
};

// A value of leaves. Kind 0: n_cls + a; 1 and 2 as in PairValues.
struct LeafTerm {
  std::int32_t kind;
  std::size_t cls;
  double a, sum_a, centre, example;  // as in PairValues
  std::int32_t taken = 0;  // examples of the class that are left out: a small `a` keeps its digits beside them
};

// Where the sums of one test i go. With v_ab the weighted value of the leaf (i = a, j = b)
//     row[j] = v_11 − v_10 − v_01 + v_00,  linear[j] += m_i (v_01 − v_00),  linear[i] += Σ_j m_j (v_10 − v_00)
//     constant += m_i Σ_j m_j v_00,  size += m_i Σ_j m_j (v_11 + v_10 + v_01 + v_00)
struct PairSums {
  double multiplicity;  // m_i
  double *row, *linear, *constant, *size;
};

// Four tests of rows that are given by their reach (down/new_rows.hpp): patterns[r] = Σ_b (reach[b][r] ≤ upper[b] ?
// yes[b] : no[b]), with bits that do not meet.
struct FourTests {
  const std::uint16_t* reach[4];
  std::uint16_t upper[4], yes[4], no[4];
};

struct Kernels {
  const char* name;

  // Pack `n_columns` table columns under a cover into a block.
  void (*pack)(const std::uint64_t* columns, std::size_t column_words, const std::uint32_t* which,
               std::size_t n_columns, const PackStep* steps, std::size_t n_steps, std::uint32_t* bits,
               std::size_t n_chunks);

  // For the kPairRows tests from i on: out[r * stride + j] = Σ_sections popcount(bits_(i + r) & bits_j) << index_shift
  // for j > i + r, from a multiple of 16 at or below i on; up to 15 entries past n are written. Counts the feasible
  // second tests of i + r and of every j > i + r.
  void (*pair_index)(const RowBlock& block, std::size_t i, std::size_t n, const TestCounter& counter,
                     std::size_t stride, std::int32_t* out);

  // out[c * stride + j] = examples of class c with i and j, for first ≤ j < n (and up to 15 on either side).
  void (*pair_counts)(const RowBlock& block, std::size_t n_classes, std::size_t i, std::size_t first, std::size_t n,
                      std::size_t stride, std::int32_t* out);
  // The same for the kPairRows tests from i on and j > i: out[(r * n_classes + c) * stride + j].
  void (*pair_rows)(const RowBlock& block, std::size_t n_classes, std::size_t i, std::size_t n, std::size_t stride,
                    std::int32_t* out);

  // split[a][k] for both tests k of every pair (i, j), j > i: plus-ed with leaf(k=a, other=1) ⊗ leaf(k=a, other=0).
  void (*fold_sum)(const PairTable& table, const std::int32_t* pair, std::size_t i, std::size_t n,
                   double* const split[2]);
  void (*fold_max)(const PairTable& table, const std::int32_t* pair, std::size_t i, std::size_t n,
                   double* const split[2]);
  // (min, +): the table holds costs, infinite below min_leaf and where a leaf is not allowed.
  void (*fold_min)(const PairTable& table, const std::int32_t* pair, std::size_t i, std::size_t n,
                   double* const split[2]);

  // The same from pair_counts, for the pairs j > i: sums of exp(log term − reference), or the largest log term −
  // reference.
  void (*fold_log_sum)(const PairLogs& logs, const std::int32_t* pair, std::size_t i, std::size_t n,
                       double* const split[2], double* const tests[2]);
  void (*fold_log_max)(const PairLogs& logs, const std::int32_t* pair, std::size_t i, std::size_t n,
                       double* const split[2], double* const tests[2]);

  // The terms of single pairs (i, j), j > i: see Apart. Multiplicities are taken to be 1. In logarithms an infeasible
  // own term is −1 for the sum, and −∞ for the maximum.
  void (*apart_sum)(const PairTable& table, const std::int32_t* pair, std::size_t i, std::size_t n, const Apart& out);
  void (*apart_max)(const PairTable& table, const std::int32_t* pair, std::size_t i, std::size_t n, const Apart& out);
  void (*apart_log_sum)(const PairLogs& logs, const std::int32_t* pair, std::size_t i, std::size_t n, const Apart& out);
  void (*apart_log_max)(const PairLogs& logs, const std::int32_t* pair, std::size_t i, std::size_t n, const Apart& out);

  // Least error of two classes, from the bits to the minima without a stop in memory, for the kPairRows tests from i on
  // and the pairs j > i + r.
  void (*pair_errors)(const RowBlock& block, std::size_t i, std::size_t n, const PairErrors& errors);
  void (*side_errors)(const RowBlock& block, std::size_t i, std::size_t n, const SideErrors& errors);

  // The same from pair_counts, for any number of classes and up to 2^29 − 1 examples. best[a] is written up to 15
  // entries past n.
  void (*fold_errors)(const PairCounts& counts, const std::int32_t* pair, std::size_t i, std::size_t n,
                      std::int32_t* const best[2]);

  // out[j]: a hash of column j that is the same for a column and its complement (within the valid bits of each
  // chunk). Reads and writes up to 7 columns past n.
  void (*hash_columns)(const std::uint32_t* bits, const std::uint32_t* valid, std::size_t n_chunks, std::size_t n,
                       std::uint32_t* out);

  // term[a][j] = each[a] · multiplicity_j · leaf(i = a, j = 1) · leaf(i = a, j = 0) for j < n, 0 for j = i; n0 and n1
  // are the counts of (i, j) in the two classes.
  void (*pair_terms)(const PairTable& table, int shift, const std::int32_t* n0, const std::int32_t* n1, std::size_t i,
                     std::size_t n, const double each[2], double* const term[2]);

  // The same from the class counts: term[a][j] = exp(logM(i = a, j = 1) + logM(i = a, j = 0) + shift[a]), and whether
  // both are large enough, as 1 or 0; the term is 0 otherwise, and for j = i. `both` are the counts of the pairs. Reads
  // and writes up to 3 entries past n.
  void (*log_terms)(const PairLogs& logs, const std::int32_t* both, std::size_t i, std::size_t n, const double shift[2],
                    double* const term[2], double* const feasible[2]);

  // zero[j] = term[j] · value(i = side, j = 0) and difference[j] = each[j] · term[j] · (value(i = side, j = 1) −
  // value(i = side, j = 0)) for j < n; returns Σ_j zero[j].
  double (*pair_values)(const PairValues& values, int side, const double* term, const double* each, std::size_t n,
                        double* difference, double* zero);

  // linear[j] += x · zero[j] and row[j] = y · (one[j] − zero[j]) for j < n.
  void (*add_row)(const double* one, const double* zero, double x, double y, std::size_t n, double* linear,
                  double* row);

  // out[k] = Σ_{i ≤ j} a[i * stride + j] · y_i · y_j for the rows y + rows[k] * y_stride. Below the diagonal `a` must
  // be zero; stride and y_stride are multiples of 8, and the padding of y is zero.
  void (*quadratic)(const double* a, std::size_t stride, std::size_t n, const double* y, std::size_t y_stride,
                    const std::uint32_t* rows, std::size_t n_rows, double* out);

  // mass[2a + b][j]: how much the leaf (i = a, j = b) weighs, j > i, from the counts of (i, j) in two classes, or from
  // those of any classes; 0 for j ≤ i from a multiple of 8 on, and for j ≥ n up to the next one.
  void (*pair_masses)(const PairTable& table, int shift, const std::int32_t* n0, const std::int32_t* n1, std::size_t i,
                      std::size_t n, const PairScale& scale, double* const mass[4]);
  void (*pair_log_masses)(const PairLogs& logs, const std::int32_t* pair, std::size_t i, std::size_t n,
                          const PairScale& scale, double* const mass[4]);

  // factor = mass · what LeafFactor says, and the sums of values weighted so (kinds 1 and 2: by the masses themselves).
  // `pair` holds the class counts of (i, j), `pair_total` their sum; both, and the rows written, have 8 entries at a
  // time from the multiple of 8 at or below i on.
  void (*mass_factors)(const PairCounts& counts, const std::int32_t* pair, const std::int32_t* pair_total,
                       std::size_t i, std::size_t n, const LeafFactor& leaf, const double* const mass[4],
                       double* const factor[4]);
  void (*leaf_sums)(const PairCounts& counts, const std::int32_t* pair, const std::int32_t* pair_total, std::size_t i,
                    std::size_t n, const LeafTerm& leaf, const double* const weight[4], const double* multiplicity,
                    const PairSums& out);

  // out[r] = Σ_i y_i (linear[i] + Σ_{j > i} a[i * stride + j] y_j), where bit 3 + i % 4 of patterns[i / 4 * pitch + r]
  // is y_i of row r; there are no other bits. `a` is 0 on and below the diagonal in blocks of 8 columns, and `a` and
  // `linear` are 0 up to a multiple of 8. Patterns of rows up to a multiple of 8 are read. scratch: 64-byte aligned, 16
  // doubles for each row up to a multiple of 8, and no fewer than n + 8.
  void (*pattern_sums)(const double* a, std::size_t stride, std::size_t n, const double* linear,
                       const std::uint16_t* patterns, std::size_t pitch, std::size_t n_rows, double* scratch,
                       double* out);
  // The patterns of four tests.
  void (*four_outcomes)(const FourTests& tests, std::size_t n, std::uint16_t* patterns);
  // to[r] += from[r] · (reach[r] ≤ upper ? yes : no).
  void (*pass_on)(const double* from, const std::uint16_t* reach, std::uint32_t upper, double yes, double no,
                  std::size_t n, double* to);

  // A bit for each of 64 numbers that is not zero.
  std::uint64_t (*nonzero)(const std::int32_t* numbers);

  // popcount(a & b) over n words.
  std::uint64_t (*count_and)(const std::uint64_t* a, const std::uint64_t* b, std::size_t n);
};

// The kernels in use. The environment variable EVERYTREE_KERNELS forces one ("portable", "avx2", "avx512",
// "neon"); a name that is unknown or not supported by this CPU throws std::invalid_argument.
const Kernels& kernels();

// Every kernel set this CPU can run, portable first.
std::vector<const Kernels*> available_kernels();

// The set with this name, or the best one for "" and "auto". Throws std::invalid_argument as above.
const Kernels& find_kernels(const std::string& name);

// Use another set from now on (tests and benchmarks). Not to be called while a fold runs.
void use_kernels(const std::string& name);

constexpr std::int32_t kInfeasible = 1 << 29;
// What PairErrors finds is below this, or there is no feasible pair: of fewer than 32768 examples at most half are
// errors.
constexpr std::int32_t kInfeasibleError = 1 << 14;

}  // namespace everytree
