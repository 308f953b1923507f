// Settings for the naive twin: one prior, cost matrix, cost of leaves and set of options for every number.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "graph/graph.hpp"
#include "weights/leaf_cost.hpp"
#include "weights/prior.hpp"

namespace naive {

using everytree::Prior;

constexpr unsigned kPriors = 8;

// All kinds of priors: uniform, leaf penalty, shapes, coding, size; and the last three attribute-fair.
inline Prior some_prior(unsigned which, std::size_t n_tests) {
  Prior p;
  const double half = std::log(0.5);
  switch (which % kPriors) {
    case 0:
      break;
    case 1:
      p.log_leaf_open = p.log_leaf_closed = {std::log(0.3)};
      break;
    case 5:
      p.fair = true;
      [[fallthrough]];
    case 2:
      p.per_test = true;
      break;
    case 6:
      p.fair = true;
      [[fallthrough]];
    case 3:
      p.per_test = true;
      p.log_split = p.log_leaf_open = p.log_leaf_closed = {half};
      break;
    case 7:
      p.fair = true;
      [[fallthrough]];
    case 4:
      p.per_test = true;
      p.log_split.clear();
      p.log_leaf_open.clear();
      for (int d = 0; d < 4; ++d) {  // shorter than some trees: the last entry goes on
        const double split = 0.8 * std::pow(1.0 + d, -0.8);
        p.log_split.push_back(std::log(split));
        p.log_leaf_open.push_back(std::log(1 - split));
      }
      break;
  }
  if (p.fair)
    for (std::size_t t = 0; t < n_tests; ++t) p.attribute.push_back(static_cast<std::int32_t>((t * 5 + 3) % 7 / 2));
  return p;
}
inline bool depends_on_depth(const Prior& p) {
  return p.log_split.size() + p.log_leaf_open.size() + p.log_leaf_closed.size() > 3;
}

// The switches of a graph in round k; every combination comes up.
inline everytree::GraphOptions some_options(unsigned k, int max_depth, std::int64_t min_leaf) {
  everytree::GraphOptions o;
  o.max_depth = max_depth;
  o.min_leaf = min_leaf;
  o.merge = k % 5 != 0;
  o.frontier = k % 3 != 0;
  o.by_depth = k % 2;
  return o;
}

// Prices of wrong answers, and nothing for right ones; less `gain` for both.
inline std::vector<double> some_matrix(std::size_t n_classes, double gain = 0) {
  std::vector<double> out;
  for (std::size_t x = 0; x < n_classes * n_classes; ++x)
    out.push_back((x % (n_classes + 1) == 0 ? 0.0 : 1.0 + static_cast<double>(x % 3)) - gain);
  return out;
}

// All kinds of costs, each without and with a price of leaves.
inline everytree::LeafCost some_cost(unsigned k, std::size_t n_classes, everytree::LeafRule rule = {}) {
  using everytree::CostKind;
  constexpr std::array kinds{CostKind::error, CostKind::expected_error, CostKind::gini, CostKind::entropy,
                             CostKind::matrix};
  const CostKind kind = kinds[k % kinds.size()];
  const auto matrix = kind == CostKind::matrix ? some_matrix(n_classes) : std::vector<double>{};
  return everytree::LeafCost(kind, n_classes, matrix, 0.25, k % 2 ? 0.5 : 0.0, std::move(rule));
}

// For searches: more errors than anything else, since most bounds are for them, and matrices with gains.
inline everytree::LeafCost search_cost(unsigned k, std::size_t n_classes) {
  using everytree::CostKind;
  constexpr std::array kinds{CostKind::error, CostKind::expected_error, CostKind::error, CostKind::gini,
                             CostKind::error, CostKind::entropy,        CostKind::matrix};
  const CostKind kind = kinds[k % kinds.size()];
  const auto matrix = kind == CostKind::matrix ? some_matrix(n_classes, k % 2 ? 1.5 : 0.0) : std::vector<double>{};
  constexpr std::array prices{0.0, 0.5, 0.0, 1.0, 2.7};
  return everytree::LeafCost(kind, n_classes, matrix, k % 3 ? 0.25 : 0.9, prices[k / 7 % prices.size()]);
}

// Rules of leaves; totals: examples of each class.
inline everytree::LeafRule some_rule(unsigned which, const std::vector<std::int32_t>& totals) {
  const std::vector<std::int64_t> wide(totals.begin(), totals.end());
  switch (which % 5) {
    case 1:
      return {4, 0, 0, {}};
    case 2:
      return {0, 2, 0, {}};
    case 3:
      return {0, 0, 1.5, wide};
    case 4:
      return {3, 1, 0.25, wide};
    default:
      return {};
  }
}

}  // namespace naive
