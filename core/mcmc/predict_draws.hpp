// The average over drawn trees:   out(row, c) = Σ_trees weight · (n_c + a_c) / (n + Σa)   at the leaf that the row
// reaches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/control.hpp"
#include "down/new_rows.hpp"
#include "table/count_table.hpp"
#include "weights/dirichlet.hpp"

namespace everytree {

// Trees one after the other: tree k is keys[ends[k − 1] … ends[k]), its tests in preorder, −1 for a leaf.
struct DrawnTrees {
  std::span<const std::int32_t> keys;
  std::span<const std::uint64_t> ends;
  std::span<const double> weights;
  int max_depth = -1;  // of their space: where states choose their tests, it says whose cuts the last level uses

  std::span<const std::int32_t> key(std::size_t k) const;
};

// out: n_rows × classes. The same to the last bit for any number of threads.
void predict_draws(const CountTable& table, const DrawnTrees& trees, const Dirichlet& leaf, const NewRows& rows,
                   std::size_t n_threads, double* out, Control& control);

}  // namespace everytree
