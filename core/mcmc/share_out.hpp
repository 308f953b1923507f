// The splits of a folded closed state, and how the weight of one is shared out among the tests that split alike.
#pragma once

#include "frontier/one_level.hpp"

namespace everytree {

// Of a split of the state with everything below it, in the scale of the fold.
inline double weight_of(const OneLevel& level, std::size_t i) {
  return level.weight[i] * ((level.leaf[1][i] + level.split[1][i]) * (level.leaf[0][i] + level.split[0][i]));
}

// f(test, weight) for every feasible test, as the prior shares it out: share(test), up to a common factor. Returns the
// weight of all splits together.
template <class Share, class F>
double share_out(const OneLevel& level, const Frontier& frontier, Share&& share, F&& f) {
  double all = 0;
  for (std::size_t g = 0; g < level.n; ++g) {
    const double weight = weight_of(level, g);
    double shares = 0;
    frontier.table().for_each_test(frontier.parts(g), [&](std::uint32_t test, bool) { shares += share(test); });
    frontier.table().for_each_test(frontier.parts(g),
                                   [&](std::uint32_t test, bool) { f(test, weight * share(test) / shares); });
    all += weight;
  }
  return all;
}

}  // namespace everytree
