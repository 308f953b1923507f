// A tree as the preorder list of its tests, −1 for a leaf; the subtree where the test is 0 comes first.
#pragma once

#include <cstdint>
#include <vector>

namespace everytree {

using Key = std::vector<std::int32_t>;

}  // namespace everytree
