// Buntine's growers on whole columns: trees, and option trees, by the posterior probability of the piece being added.
//
// Tests of a column at a node (rows without a value are a branch of their own, where the node has any):
//   numeric   a cut between neighbouring values of the node; and "known or missing", where some are missing
//   nominal   one branch for every value of the node; with binary_nominal and more than two declared values, "this
//   value
//             or not" for every value
// A test is feasible if two of its branches have min_leaf examples. A columns have a feasible test, column j has K_j:
//
//   log Pr(test of j) = log_split[d] − log A (for priors per test) − log K_j      cuts share the prior of one test
//   q(test)           = log Pr(test) + Σ_branches (log Pr(leaf) + logM(n_branch))  a's and leaves of the next depth
//   Q_j               = log Σ_{tests of j} exp q                                   the average over cuts
//
// A quality is what the test adds to the posterior of the whole tree (equation 5 of the paper); a branch is an open
// leaf if a feasible test could follow in it, else a closed one. The column with the largest Q_j is installed with its
// best test if Q_j > log Pr(leaf) + logM(n) + log stop_factor. A lookahead of N puts L_{N−1}(branch) = max(L_0, the
// largest q with N − 1 plies), L_0 = log Pr(leaf) + logM, in the place of L_0(branch). An option graph keeps every
// column with Q_j within option_factor of the best.
//
// What a split weighs in the folds: exp(log_split) of the option. The installed cut stands for all cuts of its column,
// log_split = Q_j − Σ_branches L(branch); with each_cut every test is an option and weighs Pr(test).
//
// Other scores decide which test is installed, not what it weighs: "bayes" is max over tests of Σ logM (Cano et al.),
// "gain_ratio" is C4.5's ratio among columns of at least average gain, and weighs Pr(test).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/control.hpp"
#include "grow/columns.hpp"
#include "grow/option_graph.hpp"
#include "weights/dirichlet_parameters.hpp"
#include "weights/prior.hpp"

namespace everytree::grow {

enum class GrowScore { quality, bayes, gain_ratio };

struct GrowSettings {
  GrowScore score = GrowScore::quality;
  std::size_t lookahead = 1;
  std::size_t beam = 0;     // columns looked at below the first ply, the best by their one-ply quality; 0: all
  std::size_t n_cuts = 32;  // tests of one column that a lookahead starts from
  std::int64_t min_leaf = 1;
  std::int64_t max_depth = -1;  // −1: none
  double stop_factor = 1;
  bool split_pure = false;  // otherwise a node of one class is a leaf
  bool binary_nominal = false;
  bool each_cut = false;
  double option_factor = 1;     // keep tests within this factor of the best; 1: the best alone
  std::size_t max_options = 0;  // 0: no limit
  std::size_t max_nodes = 0;    // 0: no limit
  bool random = false;          // draw the test with probability proportional to exp(quality)
  std::uint64_t seed = 0, number = 0;
  double subsample_lead = 0;  // 0: see all examples; else the Bayes factor at which a column is decided
  std::size_t subsample_first = 1000;
  double subsample_growth = 2;
};

struct GrowReport {
  std::size_t n_merged = 0;               // children that were there already
  bool budget_reached = false;            // nodes were left as leaves for max_nodes
  double cells_all = 0;                   // examples × columns of the nodes that were asked for a test
  double cells_seen = 0;                  // … that were looked at
  std::size_t n_kept = 0, n_regrown = 0;  // restructuring: nodes that kept their test, and subtrees grown anew
  std::size_t n_unlooked = 0;             // of those that kept it: nodes whose other columns were not looked at
};

struct Grown {
  OptionGraph graph;
  GrowReport report;
  // For each node of a tree what no test of another column exceeds, with these examples and more (see choose.hpp); NaN
  // where that is not known. Empty for option graphs.
  std::vector<double> rivals;
};

Grown grow_options(Columns& columns, const GrowSettings& settings, const Prior& prior, const DirichletParameters& a,
                   Control& control);

// A tree grown on earlier examples follows new ones: a node keeps its column unless another one now leads by the Bayes
// factor, and its cut unless the best cut of the column leads by it; else the node is grown anew. Leaves grow on.
// `rivals` are those of the older tree, or empty: with them, a node whose lead is safe does without a look at its other
// columns, and the tree is the same. They count only if examples were added since, and nothing else has changed:
// neither the prior and the parameters nor the settings.
Grown restructure(Columns& columns, const OptionGraph& old, double lead, const GrowSettings& settings,
                  const Prior& prior, const DirichletParameters& a, Control& control,
                  const std::vector<double>& rivals = {});

}  // namespace everytree::grow
