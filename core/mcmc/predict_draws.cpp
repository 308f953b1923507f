#include "mcmc/predict_draws.hpp"

#include <algorithm>

#include "common/errors.hpp"
#include "down/forest.hpp"

namespace everytree {

namespace {

constexpr std::size_t kTrees = 64;  // read at a time: their leaves stay in the cache

}  // namespace

void predict_draws(const CountTable& table, const DrawnTrees& trees, const Dirichlet& leaf, const NewRows& rows,
                   std::size_t n_threads, double* out, Control& control) {
  if ((rows.reach != nullptr) != table.local())
    throw InvalidInput("rows are given by their outcomes, or by their reach where states choose their tests");
  if (trees.weights.size() != trees.ends.size()) throw InvalidInput("expected one weight for each tree");
  const std::size_t classes = table.n_classes(), n_trees = trees.ends.size();
  std::fill(out, out + rows.n_rows * classes, 0.0);
  ForestReader reader(table, trees.max_depth, leaf);
  Forest forest;
  for (std::size_t first = 0; first < n_trees; first += kTrees) {
    forest.clear();
    for (std::size_t k = first; k < std::min(n_trees, first + kTrees); ++k)
      if (trees.weights[k] != 0)  // else of another batch of draws
        reader.add(trees.key(k), trees.weights[k], forest);
    control.check(true, "averaging over draws", first, n_trees);
    add_forest({forest.nodes, forest.trees, forest.theta.data(), classes}, rows, n_threads, out, control);
  }
}

std::span<const std::int32_t> DrawnTrees::key(std::size_t k) const {
  const std::uint64_t begin = k == 0 ? 0 : ends[k - 1], end = ends[k];
  if (begin > end || end > keys.size()) throw InvalidInput("the ends of the keys must rise, to their number");
  return keys.subspan(begin, end - begin);
}

}  // namespace everytree
