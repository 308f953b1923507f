// Forest: trees read once from their keys, to be asked about many rows.
//
//     sum(row, c) = Σ_trees weight · (n_c + a_c) / (n + Σa)   at the leaf that the row reaches
//
// A leaf leads to itself, so that a row takes as many steps as its tree is deep and no step is a branch of the program:
// several rows walk down side by side. (1,000 trees of depth 6 and 20,000 rows: 0.24 s, where a loop that ends at the
// leaf took 0.46.)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/control.hpp"
#include "down/new_rows.hpp"
#include "table/count_table.hpp"
#include "weights/dirichlet.hpp"

namespace everytree {

struct ForestNode {
  std::uint32_t test;     // 0 at a leaf
  std::uint32_t upper;    // where states choose their tests, that of the cut; else 0
  std::uint32_t next[2];  // where the test does not hold, where it does; both the node itself at a leaf
};

struct ForestTree {
  std::uint32_t root, depth;
};

struct Forest {
  std::vector<ForestNode> nodes;
  std::vector<ForestTree> trees;
  std::vector<double> theta;  // by node and class, times the weight of the tree; 0 at splits

  void clear();
};

// Reads keys (tests in preorder, −1 for a leaf) into a forest: counts of the leaves and cuts of the nodes come from the
// table. `max_depth` is that of the space of the trees, −1 for no limit.
class ForestReader {
 public:
  ForestReader(const CountTable& table, int max_depth, const Dirichlet& leaf);
  void add(std::span<const std::int32_t> key, double weight, Forest& forest);

 private:
  struct Open {
    std::uint32_t parent;  // for child 1; kNobody for child 0, whose cover is there already
    std::size_t depth;
  };
  const CountTable* table_;
  int max_depth_;
  const Dirichlet* leaf_;
  std::vector<std::int32_t> counts_;
  std::vector<Open> open_;
  std::vector<Cover> covers_;
};

// Borrowed arrays of a forest.
struct ForestView {
  std::span<const ForestNode> nodes;
  std::span<const ForestTree> trees;
  const double* theta;
  std::size_t n_classes;

  // Throws InvalidInput unless every walk of a row with so many tests stays inside the arrays.
  void check(std::size_t n_tests) const;
};

// Adds the sums of the trees to out, n_rows × classes. The same to the last bit for any number of threads.
void add_forest(const ForestView& forest, const NewRows& rows, std::size_t n_threads, double* out, Control& control);

}  // namespace everytree
