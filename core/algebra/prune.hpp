// Pruning by bounds: for searches over an algebra in which an option may be dropped.
#pragma once

#include "algebra/concept.hpp"
#include "algebra/tie.hpp"

namespace everytree {

// A search derives from this with the algebra whose best tree it looks for. Bounds and costs are A::cost of values, and
// may differ by rounding: what costs at least below(x) does not improve on x, what costs at least above(x) is worse.
template <Prunable A>
struct Prunes {
  static double below(double x) { return everytree::below(x); }
  static double above(double x) { return everytree::above(x); }
};

}  // namespace everytree
