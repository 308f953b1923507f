// Costs this close are the same: sums of the same terms in another order.
#pragma once

#include <cmath>

namespace everytree {

// Anything at or above below(x) does not improve on x; anything at or above above(x) is worse than x.
inline double below(double x) { return x - 1e-12 * std::abs(x); }
inline double above(double x) { return x + 1e-12 * std::abs(x) + 1e-300; }

}  // namespace everytree
