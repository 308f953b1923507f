// When two scores are the same: the one tie rule of every search, fold, set, miner, grower and chain.
//
// Sums and products of the same terms in another order differ in their last bits. A choice made by those bits would
// depend on the order of the work, so scores that differ by no more than rounding are *tied*, and something else
// decides (fewer leaves, then the leaf, then the lowest test). The law of every form below:
//     tied(x, x);  tied(x, y) = tied(y, x);  what lies between two tied scores is tied with both;
//     the slack is relative to what was summed, so it does not depend on the unit of a cost.
// It is not transitive: a chain of ties may lead far. So compare with one fixed score (the best so far), never in a
// sort; what has to sort uses tie_class.
//
// Slacks, each a bound of the rounding of the numbers that it is for, with room:
//     kTie         scores of which the size is their own: sums of terms of one sign (costs, −log weights)
//     kTermTie     sums of terms of both signs: relative to Σ|term|, as the sum itself may cancel
//     kProductTie  products of weights: each factor is rounded once more than the terms of a sum are
//     kDriftTie    log weights kept up to date by adding differences, move after move: absolute, for the errors add up
//                  over the moves and not over the terms
//     kGainTie     information gains in bits: absolute, for a gain is the difference of entropies of size one
// (C4.5's 10^-6 is no slack for rounding but a part of that algorithm: grow/c45_parts.hpp. χ² is compared exactly:
// weights/leaf_rule.hpp.)
#pragma once

#include <algorithm>
#include <cmath>

namespace everytree {

inline constexpr double kTie = 1e-12, kTermTie = 1e-13, kProductTie = 1e-11, kDriftTie = 1e-9, kGainTie = 1e-10;

// Whole numbers below 2^29 are never mixed up. Infinite scores are tied with themselves alone.
inline bool tied(double x, double y) {
  if (!std::isfinite(x) || !std::isfinite(y)) return x == y;
  return std::abs(x - y) <= kTie * std::max(std::abs(x), std::abs(y));
}

// The same rule as limits, for comparisons with one incumbent x. Anything at or above below(x) does not improve on x;
// anything at or above above(x) is worse than x. (Some slack at zero too: a cost of 0 is as good as 0.)
inline double below(double x) { return x - kTie * std::abs(x); }
inline double above(double x) { return x + kTie * std::abs(x) + 1e-300; }

// Sums whose terms have these absolute values, added up.
inline bool tied_sums(double x, double size_x, double y, double size_y) {
  return std::abs(x - y) <= kTermTie * (size_x + size_y);
}

// Logarithms of weights whose size need not be that of their terms: beside the relative slack an absolute one, of the
// terms that cancelled. Two infinite logarithms are no tie: both weigh nothing, and nothing is chosen for that.
inline bool tied_logs(double x, double y) {
  return std::isfinite(x - y) && std::abs(x - y) <= kTie + kTermTie * (std::abs(x) + std::abs(y));
}

// Whether the weight y takes the place of x: it is larger, or as large and the tree is smaller.
inline bool product_improves(double y, double x, bool smaller) {
  return y > x * (1 + kProductTie) || (y > x * (1 - kProductTie) && smaller);
}

// For sorting, which needs an order: the score with 40 bits. Equal classes are ties up to 2^-40 ≈ kTie; of two scores
// this close, a few stand on both sides of a border and are told apart.
inline double tie_class(double x) {
  const double shift = x * 8193.0;
  return shift - (shift - x);
}

}  // namespace everytree
