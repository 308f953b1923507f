// Cano, Masegosa and Moral: a Bayesian score grows a multiway tree, and predictions average along the path.
//
//   score(leaf t) = logM(n_t)      score(split t on X) = Σ_values x logM(n_{t,x})      a_k = S/C
//   split on the best X while score(split) > score(leaf);   log B_t = score(best split) − score(leaf)
//   h(root) = 1,  h(t_i) = Π_{j<i} B_{t_j} along the path,  P(c | x) ∝ Σ_i h(t_i) · (n_c(t_i) + a_c(t_i)) / (n(t_i) +
//   S)
//
// Every declared value has a branch, empty ones included, and an attribute is used once per path.
//
// Non-uniform prior: a node's counts give a vector a. If z > 1 classes have no example there, a_k = S / (C−z+1) for the
// classes that the node has, S / ((C−z+1)·z) for the others; otherwise a_k = S/C. Both scores of a node, as a leaf and
// split, take the vector of its own counts (Spread::own: one a in both, as in section 3.1 of the paper), so that a pure
// node is never split. Spread::parent scores the leaf with the vector of its parent's counts instead. The a's sum to S
// in every case, and a class without examples at a node has none below it, so that a score needs the a of the classes
// that the node has only:
//
//   logM(n) = Σ_{c: n_c > 0} log a(a+1)…(a+n_c−1)  −  log S(S+1)…(S+n−1),    one table of the first sum per z
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/control.hpp"
#include "grow/columns.hpp"
#include "grow/multiway.hpp"

namespace everytree::grow {

// How S is spread over the classes in the scores.
enum class Spread { uniform, own, parent };

struct PathAverageTree {
  MultiwayTree tree;
  std::vector<double> log_leaf;  // score of each node as a leaf
  std::vector<double> log_b;     // log B of each inner node, 0 of a leaf
};

// All columns are nominal. Scores that differ by rounding only are ties: a tie between splits goes to the lowest
// attribute, one between leaf and split to the leaf.
PathAverageTree grow_path_average(const Columns& columns, double s, Spread spread, Control& control);

}  // namespace everytree::grow
