// The exact leave-one-out average, in one pass over the folded graph.
//
// The trees stay those of the whole table. Without one example i of row x and class y the leaf of x has one example of
// y less, and every other leaf weighs what it did. With p_c = (n_c − [c = y] + a_c) / (n − 1 + Σa) in that leaf and
// M^η the weights of leaves, its weight changes by the factor r = p_y^−η, so
//     P(c | x, all but i) = E[r · p_c] / E[r],      E over the posterior given all examples,      Σ_c E[r · p_c] = E[r]
// and E[r] = evidence without i / evidence. The values r · p_c depend on the leaf's class counts and on (y, c) alone.
//
// Where a count is less than an example (DirichletParameters::per_example), one example is left out of a row and class
// that has as much, and all of it where it has less: w examples of class y with 0 < w < 1. Then
//     p_c = (n_c − w [c = y] + a_c) / (n − w + Σa),     r = (Γ(n_y + a_y − w) Γ(n + Σa) / (Γ(n_y + a_y) Γ(n + Σa −
//     w)))^η
//
// A row of the table is in a state's cover or not: the probability π(s) that a tree has state s is one number for all
// its rows, and flows down the graph once. At a closed state two tests follow, and the sum over the leaves of a row is
// a form in the outcomes z of the tests:
//     short     const + Σ_i b_i z_i + Σ_{i<j} A_ij z_i z_j, z_i = 1 where test i holds; its numbers are differences
//     literal   the same with 2n outcomes (test i holds, test i does not, …): all numbers are positive, nothing cancels
// The short form has a quarter of the terms. Where one of its values is a small part of what was added up, and so
// would lack digits, the literal form is used.
#pragma once

#include <cstdint>
#include <vector>

#include "down/posterior.hpp"

namespace everytree {

// E[r · p_c] for every row and class of the table with examples there: one row of n_classes numbers each, in the order
// of (row, class). `counts`, n_rows × n_classes, are those the table was made of. Throws InvalidInput if they are not.
std::vector<double> leave_one_out(const Posterior& posterior, const std::int64_t* counts, std::size_t n_rows,
                                  std::size_t n_threads, Control& control);

}  // namespace everytree
