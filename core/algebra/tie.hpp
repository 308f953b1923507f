// When two scores are the same: sums of the same terms in another order differ in their last bits.
#pragma once

#include <algorithm>
#include <cmath>

namespace everytree {

// Relative only, so that it does not depend on the unit of a cost. Whole numbers below 2^29 are never mixed up.
inline bool tied(double x, double y) {
  if (!std::isfinite(x) || !std::isfinite(y)) return x == y;
  return std::abs(x - y) <= 1e-12 * std::max(std::abs(x), std::abs(y));
}

}  // namespace everytree
