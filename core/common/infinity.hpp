// Infinity under one name: the cost of what is not allowed and, negative, the logarithm of zero.
#pragma once

#include <limits>

namespace everytree {

inline constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace everytree
