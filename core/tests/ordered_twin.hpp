// The ordered search by definition: every column, every rank, rows looped over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "ordered/solver.hpp"

namespace ordered_twin {

using everytree::ordered::kNever;
using everytree::ordered::Problem;
using everytree::ordered::Step;
using everytree::ordered::Steps;
using everytree::ordered::Value;

struct Case {
  std::size_t n = 0, d = 0, n_classes = 0;
  std::vector<std::uint32_t> ranks;
  std::vector<std::uint16_t> classes;
  std::vector<std::int32_t> weights;
  std::vector<Value> costs;
  Value price = 0;
  std::int64_t min_leaf = 1;

  std::vector<std::uint32_t> all() const {
    std::vector<std::uint32_t> rows(n);
    std::iota(rows.begin(), rows.end(), 0u);
    return rows;
  }
  Problem problem() const { return Problem(n, d, ranks, classes, weights, n_classes, costs, price, min_leaf); }
};

using Rows = std::vector<std::uint32_t>;

inline Value leaf(const Case& c, const Rows& rows) {
  Value best = kNever;
  for (std::size_t k = 0; k < c.n_classes; ++k) {
    Value sum = 0;
    for (const auto r : rows) sum += c.weights[r] * c.costs[c.classes[r] * c.n_classes + k];
    best = std::min(best, sum);
  }
  return best + c.price;
}

inline std::int64_t weight(const Case& c, const Rows& rows) {
  std::int64_t sum = 0;
  for (const auto r : rows) sum += c.weights[r];
  return sum;
}

using Memo = std::map<std::pair<int, Rows>, Value>;
inline Value least(const Case& c, const Rows& rows, int depth, Memo& memo) {
  Value best = leaf(c, rows);
  if (depth == 0) return best;
  const auto key = std::make_pair(depth, rows);
  if (const auto known = memo.find(key); known != memo.end()) return known->second;
  for (std::size_t f = 0; f < c.d; ++f) {
    std::vector<std::uint32_t> cuts;
    for (const auto r : rows) cuts.push_back(c.ranks[f * c.n + r]);
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
      Rows side[2];
      for (const auto r : rows) side[c.ranks[f * c.n + r] <= cuts[k] ? 1 : 0].push_back(r);
      if (weight(c, side[0]) < c.min_leaf || weight(c, side[1]) < c.min_leaf) continue;
      best = std::min(best, least(c, side[0], depth - 1, memo) + least(c, side[1], depth - 1, memo));
    }
  }
  return memo[key] = best;
}

// The cost of a tree, −1 if it is not one of the space.
inline Value cost_of(const Case& c, const Rows& rows, const Steps& tree, std::size_t& at, int depth) {
  if (at >= tree.size() || weight(c, rows) < c.min_leaf) return -1;
  const Step step = tree[at++];
  if (step.column < 0) return step.column == -1 ? leaf(c, rows) : -1;
  if (depth == 0) return -1;
  Rows side[2];
  for (const auto r : rows)
    side[c.ranks[static_cast<std::size_t>(step.column) * c.n + r] <= step.rank ? 1 : 0].push_back(r);
  const Value zero = cost_of(c, side[0], tree, at, depth - 1), one = cost_of(c, side[1], tree, at, depth - 1);
  return zero < 0 || one < 0 ? -1 : zero + one;
}

// any(low, high): a number in [low, high].
template <class Any>
Case some_case(std::size_t most_rows, unsigned kind, const Any& any) {
  Case c;
  c.n = any(1, most_rows);
  c.d = any(0, 4);
  c.n_classes = kind % 3 == 0 ? any(1, 5) : 2;
  // Many ties, few, or none.
  const std::size_t most = std::vector<std::size_t>{2, 5, 4 * c.n}[any(0, 2)];
  for (std::size_t f = 0; f < c.d; ++f) {
    std::vector<std::uint32_t> column;
    for (std::size_t r = 0; r < c.n; ++r) column.push_back(static_cast<std::uint32_t>(any(0, most)));
    auto values = column;
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    for (const auto x : column)
      c.ranks.push_back(static_cast<std::uint32_t>(std::lower_bound(values.begin(), values.end(), x) - values.begin()));
  }
  const std::size_t signal = any(0, 2);
  for (std::size_t r = 0; r < c.n; ++r) {
    std::size_t y = any(0, c.n_classes - 1);
    if (signal > 0 && c.d > 0 && any(0, 3) > 0) y = c.ranks[r] / 2 % c.n_classes;
    c.classes.push_back(static_cast<std::uint16_t>(y));
    c.weights.push_back(kind % 4 == 1 ? static_cast<std::int32_t>(any(1, 4)) : 1);
  }
  const Value unit = static_cast<Value>(any(1, 3));
  for (std::size_t a = 0; a < c.n_classes; ++a)
    for (std::size_t b = 0; b < c.n_classes; ++b)
      c.costs.push_back(a == b ? 0 : kind % 5 == 2 ? static_cast<Value>(any(0, 5)) : unit);
  c.price = static_cast<Value>(std::vector<std::size_t>{0, 0, 1, 2, 5}[any(0, 4)]);
  std::int64_t total = 0;
  for (const auto w : c.weights) total += w;
  c.min_leaf = std::min<std::int64_t>(total, std::vector<std::int64_t>{1, 1, 2, 3, 5}[any(0, 4)]);
  return c;
}

// The least cost, and that of a tree which is claimed to have at most `depth` tests on a path.
inline Value least(const Case& c, int depth) {
  Memo memo;
  return least(c, c.all(), depth, memo);
}
inline Value cost_of(const Case& c, const Steps& tree, int depth) {
  std::size_t at = 0;
  const Value cost = cost_of(c, c.all(), tree, at, depth);
  return at == tree.size() ? cost : -1;
}

}  // namespace ordered_twin
