// C4.5, release 8, as a greedy grower on whole columns.
//
//   gain(test)  = known/n · (H(classes) − Σ_k n_k/known · H(classes | branch k)), H in bits over the known values
//   gain(cut)  −= log2(number of admissible cuts)/n        what it costs to say which cut was meant
//   ratio(test) = gain / H(branches, with "missing" as one more)
//   chosen: the largest ratio among tests whose gain is at least the average gain
//
// A row whose value is missing goes down every branch, with a share of its weight as large as the branch's share of the
// known rows. Pruning is by estimated errors: the errors of a leaf plus added_errors (weights/leaf_cost.hpp).
#pragma once

#include <cstdint>

#include "common/control.hpp"
#include "grow/columns.hpp"
#include "grow/multiway.hpp"

namespace everytree::grow {

struct C45Options {
  double min_leaf = 2;         // at least so many examples in at least two branches
  double confidence = 0.25;    // of the estimated errors
  double z = 0;                // the normal quantile of 1 − confidence
  double resolution = 1e-5;    // a cut lies between values that differ by more than this
  bool binary_splits = false;  // nominal tests "value or not" instead of one branch per value
  bool collapse = true;        // undo splits that do not lower the training errors
  bool prune = true;
  bool subtree_raising = true;
};

// No path is longer; nodes there are leaves. Pruning recurses, and the stack of a thread may be small.
constexpr std::size_t kDeepest = 1500;

MultiwayTree grow_c45(Columns& data, const C45Options& options, Control& control);

// n_rows × n_classes probabilities: n_c/n of the leaf, or (n_c + 1)/(n + C) with laplace. A row that lacks a value gets
// the average over the branches, by their examples; at a branch without examples, or none for its value, the node
// counts.
void predict_c45(const MultiwayTree& tree, const Columns& data, bool laplace, double* out, Control& control);

}  // namespace everytree::grow
