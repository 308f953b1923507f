// What a move says of itself: Metropolis–Hastings accepts it with probability min(1, exp(log_ratio)).
#pragma once

#include <array>
#include <cstddef>

#include "common/stream.hpp"

namespace everytree {

enum class MoveKind { grow, prune, change, swap, regrow };
constexpr std::size_t kMoveKinds = 5;

// Probabilities of the kinds of moves, summing to one.
struct MoveOdds {
  std::array<double, kMoveKinds> p{0.25, 0.25, 0.25, 0.25, 0};
  MoveKind draw(Stream& random) const {
    double x = random.uniform();
    std::size_t k = 0, last = 0;
    for (; k < kMoveKinds; ++k) {
      if (p[k] <= 0) continue;
      last = k;
      if (x < p[k]) return static_cast<MoveKind>(k);
      x -= p[k];
    }
    return static_cast<MoveKind>(last);  // rounding
  }
};

struct Move {
  bool proposed = false;  // false: nothing to propose, everything is as before
  std::size_t place = 0;  // of the node v (of w for a swap) in preorder, before and after the move
  double log_target = 0;  // log of π(new) / π(old)
  double log_forward = 0, log_reverse = 0;
  double log_ratio() const { return log_target + log_reverse - log_forward; }
};

}  // namespace everytree
