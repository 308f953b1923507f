#include "mine/lattice.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

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

namespace {
ParetoQuery plain(const LeafCost& cost) {
  ParetoQuery query;
  query.costs = {&cost};
  query.rank = {0, query.leaves()};
  return query;
}
}  // namespace

Lattice::Lattice(const CountTable& table, const LeafCost& cost, int max_depth, std::int64_t min_leaf)
    : Lattice(table, plain(cost), max_depth, min_leaf) {}

Lattice::Lattice(const CountTable& table, ParetoQuery query, int max_depth, std::int64_t min_leaf, PathRule rule)
    : Lattice(table.n_tests(), table.n_classes(), std::move(query), max_depth, min_leaf) {
  table_ = &table;
  rule_ = std::move(rule);
  if (table.local())
    throw InvalidInput(
        "itemsets need tests fixed for the whole table: where states choose their cuts, whether a path "
        "exists depends on the order of its tests; use global cuts");
  if (table.total() < min_leaf)
    throw InvalidInput("the table holds " + std::to_string(table.total()) + " examples, fewer than min_leaf " +
                       std::to_string(min_leaf) + ": no tree exists");
}

Lattice::Lattice(std::size_t n_tests, std::size_t n_classes, ParetoQuery query, int max_depth, std::int64_t min_leaf)
    : query_(std::move(query)),
      n_tests_(n_tests),
      n_classes_(n_classes),
      max_depth_(max_depth),
      min_leaf_(min_leaf),
      pure_is_final_(query_.k == 1 && query_.required.empty() &&
                     std::all_of(query_.costs.begin(), query_.costs.end(),
                                 [](const LeafCost* cost) { return pure_is_final(*cost); })) {
  check_query(query_, n_tests, n_classes);
  if (min_leaf < 1) throw InvalidInput("min_leaf is " + std::to_string(min_leaf) + "; expected at least 1");
}

bool Lattice::one_tree() const {
  return query_.costs.size() == 1 && query_.k == 1 && query_.bounds.empty() && query_.required.empty() &&
         (query_.rank == std::vector<std::size_t>{0} || query_.rank == std::vector<std::size_t>{0, query_.leaves()});
}

Tip Lattice::leaf(const std::int32_t* counts) const {
  // Of a forbidden leaf: infinity absorbs whatever is added to it.
  const double cost = (*query_.costs[0])(counts);
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
