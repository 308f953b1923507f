#include "mine/lattice.hpp"

#include <limits>
#include <string>

#include "common/errors.hpp"

namespace everytree::mine {

bool pure_is_final(const LeafCost& cost) {
  if (!(cost.per_leaf() >= 0)) return false;  // leaves that earn something are worth splitting for
  switch (cost.kind()) {
    case CostKind::error:
    case CostKind::gini:
    case CostKind::entropy:
      return true;  // 0 for one class, and never negative
    case CostKind::matrix:
      return true;  // n · (least entry of the class's row): the same for the parts together
    case CostKind::expected_error:
      // n·(1 − CF^(1/n)) for one class. The factor falls as n grows, so the parts together cost more.
      return true;
  }
  return false;
}

Lattice::Lattice(const CountTable& table, const LeafCost& cost, int max_depth, std::int64_t min_leaf)
    : table_(&table), cost_(&cost), max_depth_(max_depth), min_leaf_(min_leaf), pure_is_final_(pure_is_final(cost)) {
  if (cost.n_classes() != table.n_classes())
    throw InvalidInput("the cost is for " + std::to_string(cost.n_classes()) + " classes; the table has " +
                       std::to_string(table.n_classes()));
  if (min_leaf < 1) throw InvalidInput("min_leaf is " + std::to_string(min_leaf) + "; expected at least 1");
  if (table.total() < min_leaf)
    throw InvalidInput("the table holds " + std::to_string(table.total()) + " examples, fewer than min_leaf " +
                       std::to_string(min_leaf) + ": no tree exists");
}

Tip Lattice::leaf(const std::int32_t* counts) const {
  // Of a forbidden leaf: infinity absorbs whatever is added to it.
  const double cost = (*cost_)(counts);
  return {!no_cost(cost) ? cost : std::numeric_limits<double>::infinity(), 1, Tip::kLeaf};
}

std::int64_t Lattice::total(const std::int32_t* counts) const {
  std::int64_t sum = 0;
  for (std::size_t c = 0; c < n_classes(); ++c) sum += counts[c];
  return sum;
}

bool Lattice::final(const std::int32_t* counts) const {
  if (!pure_is_final_) return false;
  bool seen = false;
  for (std::size_t c = 0; c < n_classes(); ++c) {
    if (counts[c] == 0) continue;
    if (seen) return false;
    seen = true;
  }
  return true;
}

}  // namespace everytree::mine
