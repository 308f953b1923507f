// Bounds on the evidence of every tree, of any depth, from the graph of the trees of depth ≤ δ.
//
// A prior whose factors sum to at most one at every node (o + s ≤ 1 for an open leaf and all splits together, c ≤ 1 for
// a closed leaf) gives all subtrees below a node together at most the prior 1. And no partition of a cover has a larger
// product of leaf marginals than the one into pure leaves, one per class:
//     M(n) ≤ Π_c M(n_c of class c alone) = P(n),      P(n + m) ≥ P(n) · P(m)
// So the value u of a cover at depth δ that could still be split lies in
//     o · M ≤ u ≤ o · M + s · P,                      and where no test is feasible, u = c · M.
// The fold of the levels above grows with each of its parts: with these numbers at depth δ it brackets u(∅).
//
// Where states choose their tests, every state of the space without a limit has its own: so the δ levels are those in
// which each state chooses for itself. The graph has them down to its closed states, whose two levels would share one
// choice; what lies below these is walked anew, state by state, each with its own tests. That the leaves at depth δ are
// bounded as above does not depend on which tests follow, only on whether one does.
#pragma once

#include "down/posterior.hpp"

namespace everytree {

struct Bracket {
  double lower = 0, upper = 0;  // of the log evidence
};

// Weights must not depend on depth other than through the prior: one Dirichlet variant. The caller vouches for the
// prior.
Bracket evidence_bracket(const Posterior& posterior, std::size_t n_threads, Control& control);

}  // namespace everytree
