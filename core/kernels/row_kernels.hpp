// Kernels for rows that pass closed states: what prediction does beside the pairs of kernels.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernels.hpp"

namespace everytree {

// The mean of one class: where the sums of test i go, and n_cls + a of a leaf.
struct MeanTerm {
  std::size_t cls;
  double a;
  PairSums out;  // without `size`
};

struct RowKernels {
  // Kernels::mass_factors by 1 / (n + sum_a) and Kernels::leaf_sums of n_cls + a, for several classes at once and
  // nothing kept between: one division for the four leaves of a pair, so sum_a^4 must be within the range of a double.
  // `size` is not summed.
  void (*mean_sums)(const PairCounts& counts, const std::int32_t* pair, const std::int32_t* pair_total, std::size_t i,
                    std::size_t n, double sum_a, const double* const mass[4], const double* multiplicity,
                    const MeanTerm* terms, std::size_t n_terms);
  // The numbers r < n with here[r] > least, in order; how many. `out` has room for n rounded up to a multiple of 16.
  std::size_t (*passing)(const double* here, std::size_t n, double least, std::uint32_t* out);

  // Forms of at most eight tests by all of their 2^n_tests cells. Everything has `width` numbers, one for each value,
  // a multiple of 8. Coefficients stand as constant; linear_i, A_i,i+1 … A_i,n−1 for i = 0, 1, …; then
  // table[cell] = constant + Σ_{i in cell} (linear_i + Σ_{j > i, j in cell} A_ij).
  void (*cell_table)(const double* coefficients, std::size_t n_tests, std::size_t width, double* table);
  // sums[rows[k]] += weight[rows[k]] · table[cells[k]] for k < n.
  void (*add_cells)(const double* table, std::size_t width, const std::uint8_t* cells, const std::uint32_t* rows,
                    const double* weight, std::size_t n, double* sums);
};

// Those that belong to the kernels in use.
const RowKernels& row_kernels();

}  // namespace everytree
