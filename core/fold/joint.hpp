// log prior + log marginal likelihood of one tree, from the definition.
#pragma once

#include "common/key.hpp"
#include "table/count_table.hpp"
#include "weights/dirichlet.hpp"
#include "weights/prior.hpp"

namespace everytree {

// −inf for a tree outside the space of this depth limit (−1: none) and min_leaf. Throws InvalidInput on a malformed
// key.
double log_joint(const CountTable& table, int max_depth, std::int64_t min_leaf, const Prior& prior,
                 const Dirichlet& leaf, const Key& key);

}  // namespace everytree
