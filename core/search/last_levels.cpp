#include "search/last_levels.hpp"

#include <algorithm>
#include <cmath>

#include "algebra/max_product.hpp"
#include "weights/leaf_cost.hpp"

namespace everytree {

LastLevels::Best LastLevels::best(const std::uint64_t* cover, std::size_t depth) {
  fold_.product<MaxProduct>(ClosedState{cover, depth, 2}, weights_, level_);
  double value = level_.state_leaf;
  std::uint32_t leaves = 1;
  const auto better = [](double y, std::uint32_t y_leaves, double& x, std::uint32_t& x_leaves) {
    if (!product_improves(y, x, y_leaves < x_leaves)) return;
    x = y;
    x_leaves = y_leaves;
  };
  for (std::size_t i = 0; i < level_.n; ++i) {
    double side[2];
    std::uint32_t side_leaves[2];
    for (int a = 0; a < 2; ++a) {
      side[a] = level_.leaf[a][i];
      side_leaves[a] = 1;
      better(level_.split[a][i], 2, side[a], side_leaves[a]);
    }
    better(level_.weight[i] * (side[1] * side[0]), side_leaves[0] + side_leaves[1], value, leaves);
  }
  const auto cost = [&](double x) { return x > 0 ? std::min(-std::log(x) - level_.log_scale, kNoCost) : kNoCost; };
  return {cost(value), cost(level_.state_leaf), leaves};
}

void LastLevels::Found::improve(double c, std::uint32_t n, std::int32_t t, std::size_t g, bool f) {
  const bool as_good = tied(c, cost);
  if ((c < cost && !as_good) || (as_good && (n < leaves || (n == leaves && t < test)))) *this = {c, n, t, g, f};
}

// The best tree of side a of split i, after load_pairs(i).
LastLevels::Found LastLevels::side(std::size_t i, int a, std::size_t depth) {
  const Frontier& f = fold_.frontier();
  const std::size_t n = f.n_groups();
  std::vector<std::size_t> feasible;
  shares_.begin(weights_.prior());
  for (std::size_t j = 0; j < n; ++j) {
    if (j == i || !fold_.feasible(j, a)) continue;
    feasible.push_back(j);
    shares_.add(f.table(), f.parts(j));
  }
  for (std::size_t c = 0; c < counts_.size(); ++c) counts_[c] = a == 1 ? f.count(c, i) : f.totals()[c] - f.count(c, i);
  Found found{-weights_.log_leaf(counts_.data(), depth, !feasible.empty()), 1, -1};
  const double base = -weights_.prior().log_split_base(depth);
  for (const std::size_t j : feasible) {
    fold_.quadrant(j, a, 1, counts_.data());
    fold_.quadrant(j, a, 0, other_.data());
    const double leaves =
        weights_.log_leaf(counts_.data(), depth + 1, false) + weights_.log_leaf(other_.data(), depth + 1, false);
    f.table().for_each_test(f.parts(j), [&](std::uint32_t test, bool flipped) {
      found.improve(base - std::log(shares_.share(test)) - leaves, 2, static_cast<std::int32_t>(test), j, flipped);
    });
  }
  return found;
}

void LastLevels::write(const std::uint64_t* cover, std::size_t depth, Key& key) {
  fold_.product<MaxProduct>(ClosedState{cover, depth, 2}, weights_, level_);  // loads the cover
  const Frontier& f = fold_.frontier();
  const std::size_t n = f.n_groups();
  counts_.resize(f.table().n_classes());
  other_.resize(f.table().n_classes());
  Found best{-weights_.log_leaf(f.totals(), depth, n > 0), 1, -1};
  Shares shares;
  shares.begin(weights_.prior());
  for (std::size_t i = 0; i < n; ++i) shares.add(f.table(), f.parts(i));
  for (std::size_t i = 0; i < n; ++i) {
    fold_.load_pairs(i);
    const Found zero = side(i, 0, depth + 1), one = side(i, 1, depth + 1);
    f.table().for_each_test(f.parts(i), [&](std::uint32_t test, bool flipped) {
      best.improve(-weights_.prior().log_split_base(depth) - std::log(shares.share(test)) + zero.cost + one.cost,
                   zero.leaves + one.leaves, static_cast<std::int32_t>(test), i, flipped);
    });
  }
  key.push_back(best.test);
  if (best.test < 0) return;
  fold_.load_pairs(best.group);
  for (int a = 0; a < 2; ++a) {  // the 0 side of the test comes first
    const Found below = side(best.group, best.flipped ? 1 - a : a, depth + 1);
    key.push_back(below.test);
    if (below.test >= 0) key.insert(key.end(), {-1, -1});
  }
}

}  // namespace everytree
