// What a move says of itself: Metropolis–Hastings accepts it with probability min(1, exp(log_ratio)).
#pragma once

#include <cstddef>

namespace everytree {

enum class MoveKind { grow, prune, change, swap, regrow };
constexpr std::size_t kMoveKinds = 5;

struct Move {
  bool proposed = false;  // false: nothing to propose, everything is as before
  std::size_t place = 0;  // of the node v (of w for a swap) in preorder, before and after the move
  double log_target = 0;  // log of π(new) / π(old)
  double log_forward = 0, log_reverse = 0;
  double log_ratio() const { return log_target + log_reverse - log_forward; }
};

}  // namespace everytree
