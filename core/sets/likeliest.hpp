// The most probable trees of a posterior.
#pragma once

#include <vector>

#include "down/posterior.hpp"
#include "sets/best.hpp"

namespace everytree {

// The most probable tree; of trees that tie, the one that TreeFinder prefers.
Key map_tree(const Posterior& posterior, Control& control);
// The k most probable trees in order; score = log joint.
std::vector<Ranked> top_trees(const Posterior& posterior, std::size_t k, Control& control);

}  // namespace everytree
