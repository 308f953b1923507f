// Whole trees by the plain definitions: all of a space one by one, what each costs and weighs, sums over them, and the
// sums when an example is left out.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "naive.hpp"

namespace naive {

struct Tree {
  Key key;
  std::size_t leaves;
  double cost;
  Real log_joint;
};

// Every tree of a space, one by one. Only for spaces that answers() found to be small.
inline std::vector<Tree> every_tree(const Space& space, const Weights& weights, const everytree::LeafCost& cost) {
  using Value = std::vector<Tree>;
  return fold<Value>(
      space, space.table->all(), 0,
      [&](const Rows& cover, std::size_t depth, bool open) {
        const Counts counts = space.table->class_counts(cover);
        return Value{{{-1}, 1, cost(counts.data()), weights.log_leaf(counts, depth, open)}};
      },
      [&](const Rows&, std::size_t depth, const Tests& tests, std::uint32_t test, const Value& yes, const Value& no) {
        const Real w = weights.log_split(tests, test, depth);
        Value out;
        for (const Tree& zero : no)
          for (const Tree& one : yes) {
            Tree tree{{static_cast<std::int32_t>(test)},
                      zero.leaves + one.leaves,
                      zero.cost + one.cost,
                      w + zero.log_joint + one.log_joint};
            tree.key.insert(tree.key.end(), zero.key.begin(), zero.key.end());
            tree.key.insert(tree.key.end(), one.key.begin(), one.key.end());
            out.push_back(std::move(tree));
          }
        return out;
      },
      [](Value& x, const Value& y) { x.insert(x.end(), y.begin(), y.end()); });
}

// One tree: leaf(cover, depth, open) and split(tests, test, depth) added up over the nodes of its key. NaN if the key
// is no tree of the space.
template <class Leaf, class Split>
Real sum_over(const Space& space, const Key& key, const Leaf& leaf, const Split& split) {
  std::size_t at = 0;
  const std::function<Real(const Rows&, std::size_t, const Rows*)> below = [&](const Rows& cover, std::size_t depth,
                                                                               const Rows* above) -> Real {
    if (at >= key.size()) return std::nanl("");
    const std::int32_t test = key[at++];
    const Tests tests = space.feasible(cover, depth, above);
    if (test == -1) return leaf(cover, depth, !tests.empty());
    const auto t = static_cast<std::uint32_t>(test);
    if (std::find(tests.begin(), tests.end(), t) == tests.end()) return std::nanl("");
    Real sum = split(tests, t, depth);
    for (bool side : {false, true}) sum += below(space.table->side(cover, t, side), depth + 1, &cover);
    return sum;
  };
  const Rows all = space.table->all();
  const Real sum = space.table->total(all) < space.min_leaf ? std::nanl("") : below(all, 0, nullptr);
  return at == key.size() ? sum : std::nanl("");
}

inline double log_joint(const Space& space, const Weights& weights, const Key& key) {
  return static_cast<double>(sum_over(
      space, key,
      [&](const Rows& cover, std::size_t depth, bool open) {
        return weights.log_leaf(space.table->class_counts(cover), depth, open);
      },
      [&](const Tests& tests, std::uint32_t test, std::size_t depth) {
        return weights.log_split(tests, test, depth);
      }));
}

inline double cost_of(const Space& space, const everytree::LeafCost& cost, const Key& key) {
  return static_cast<double>(sum_over(
      space, key,
      [&](const Rows& cover, std::size_t, bool) -> Real { return cost(space.table->class_counts(cover).data()); },
      [](const Tests&, std::uint32_t, std::size_t) -> Real { return 0; }));
}

inline std::size_t leaves_of(const Key& key) {
  return static_cast<std::size_t>(std::count(key.begin(), key.end(), -1));
}

// The rows of the leaf that a row of outcomes ends in, and its depth.
inline std::pair<Rows, std::size_t> leaf_of(const Table& table, const Key& key, const std::uint8_t* outcomes) {
  Rows cover = table.all();
  std::size_t at = 0, depth = 0;
  for (; key[at] >= 0; ++depth) {
    const auto test = static_cast<std::size_t>(key[at++]);
    cover = table.side(cover, test, outcomes[test] != 0);
    if (outcomes[test] == 0) continue;
    for (int open = 1; open > 0; ++at) open += key[at] >= 0 ? 1 : -1;  // skip the subtree of outcome 0
  }
  return {cover, depth};
}

// The least cost of a space, and the fewest leaves of the trees that have it.
struct Least {
  double cost;
  std::size_t leaves;
};
inline Least least_of_all(const Space& space, const everytree::LeafCost& cost) {
  return fold<Least>(
      space, space.table->all(), 0,
      [&](const Rows& rows, std::size_t, bool) { return Least{cost(space.table->class_counts(rows).data()), 1}; },
      [](const Rows&, std::size_t, const Tests&, std::uint32_t, const Least& x, const Least& y) {
        return Least{x.cost + y.cost, x.leaves + y.leaves};
      },
      [](Least& x, const Least& y) {
        const bool as_good = std::abs(x.cost - y.cost) <= 1e-9 * std::max({1.0, std::abs(x.cost), std::abs(y.cost)});
        if ((as_good && y.leaves < x.leaves) || (!as_good && y.cost < x.cost)) x = y;
      });
}

// Without an example of `row` and class y, if `remove`: Σ over trees of prior · Π M^power (n/N)^κ, n and N with it; and
// times what the leaf of the row says of each class.
struct LeftOut {
  Real u;
  std::vector<Real> g;
};
inline LeftOut left_out(const Space& space, const Weights& weights, double power, double kappa, std::uint32_t row,
                        std::size_t y, bool remove) {
  const Table& table = *space.table;
  const auto all = static_cast<Real>(table.total(table.all()));
  return fold<LeftOut>(
      space, table.all(), 0,
      [&](const Rows& cover, std::size_t depth, bool open) {
        Counts counts = table.class_counts(cover);
        const Real held = static_cast<Real>(table.total(cover)) / all;
        if (remove && std::find(cover.begin(), cover.end(), row) != cover.end()) --counts[y];
        const Real prior = weights.prior.log_leaf(depth, open);
        LeftOut out{std::exp(prior + power * (weights.log_leaf(counts, depth, open) - prior)) *
                        std::pow(held, static_cast<Real>(kappa)),
                    {}};
        for (std::size_t x = 0; x < table.c; ++x) out.g.push_back(out.u * weights.theta(counts, depth, x));
        return out;
      },
      [&](const Rows&, std::size_t depth, const Tests& tests, std::uint32_t test, const LeftOut& yes,
          const LeftOut& no) {
        const Real w = std::exp(weights.log_split(tests, test, depth));
        const bool holds = table.holds(row, test);
        LeftOut out{w * yes.u * no.u, (holds ? yes : no).g};
        for (Real& x : out.g) x *= w * (holds ? no : yes).u;
        return out;
      },
      [](LeftOut& a, const LeftOut& b) {
        a.u += b.u;
        for (std::size_t x = 0; x < a.g.size(); ++x) a.g[x] += b.g[x];
      });
}

}  // namespace naive
