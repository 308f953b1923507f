// The fold that answers any query, against a list of every tree.
#include <algorithm>
#include <array>
#include <set>

#include "check.hpp"
#include "naive_trees.hpp"
#include "sets/pareto.hpp"

using namespace everytree;

namespace {

constexpr std::array kKinds{CostKind::error, CostKind::expected_error, CostKind::gini};

struct Tree {
  Key key;
  std::vector<double> values;  // costs, leaves, depth
  std::uint32_t used = 0;
};

// Every tree of a space whose leaves are all allowed.
std::vector<Tree> every_tree(const naive::Space& space, const ParetoQuery& query) {
  using Value = std::vector<Tree>;
  const std::size_t m = query.costs.size();
  return naive::fold<Value>(
      space, space.table->all(), 0,
      [&](const naive::Rows& cover, std::size_t, bool) {
        const naive::Counts counts = space.table->class_counts(cover);
        Tree leaf{{-1}, {}, 0};
        for (const LeafCost* cost : query.costs) leaf.values.push_back((*cost)(counts.data()));
        if (no_cost(leaf.values[0])) return Value{};
        leaf.values.insert(leaf.values.end(), {1, 0});
        return Value{leaf};
      },
      [&](const naive::Rows&, std::size_t, const naive::Tests&, std::uint32_t test, const Value& yes, const Value& no) {
        Value out;
        for (const Tree& zero : no)
          for (const Tree& one : yes) {
            Tree tree{{static_cast<std::int32_t>(test)}, zero.values, zero.used | one.used};
            if (!query.required.empty()) tree.used |= query.required[test];
            for (std::size_t c = 0; c <= m; ++c) tree.values[c] += one.values[c];
            tree.values[m + 1] = 1 + std::max(zero.values[m + 1], one.values[m + 1]);
            tree.key.insert(tree.key.end(), zero.key.begin(), zero.key.end());
            tree.key.insert(tree.key.end(), one.key.begin(), one.key.end());
            out.push_back(std::move(tree));
          }
        return out;
      },
      [](Value& x, const Value& y) { x.insert(x.end(), y.begin(), y.end()); });
}

bool close(double x, double y) { return std::abs(x - y) <= 1e-9 * std::max({1.0, std::abs(x), std::abs(y)}); }

}  // namespace

TEST(any_query_is_answered_as_by_a_list_of_every_tree) {
  std::mt19937 random(1);
  std::size_t answered = 0, empty = 0;
  for (const Kernels* kernel : available_kernels()) {
    use_kernels(kernel->name);
    for (int round = 0; round < 1500; ++round) {
      const std::size_t classes = 1 + random() % 4;
      const int depth = static_cast<int>(random() % 5) - 1;
      const std::int64_t min_leaf = 1 + random() % 3;
      const naive::Table d = naive::random_table(random, {1, depth < 0 ? 9u : 14u}, {0, 4}, classes, {1, 3});
      if (d.total(d.all()) < min_leaf) continue;
      const naive::Space space{&d, depth, min_leaf};
      const naive::Counts counts = d.class_counts(d.all());
      const std::vector<std::int64_t> totals(counts.begin(), counts.end());
      LeafRule rule;
      if (round % 3 == 0) rule = LeafRule(0, random() % 3, random() % 2 ? 0.4 : 0.0, totals);
      std::vector<LeafCost> costs;
      for (std::size_t c = 0; c <= random() % 2; ++c) {
        std::vector<double> matrix;
        CostKind kind = kKinds[random() % kKinds.size()];
        if (random() % 4 == 0) {  // costs that may be negative: their bounds must not prune inside
          kind = CostKind::matrix;
          for (std::size_t x = 0; x < classes * classes; ++x) matrix.push_back(static_cast<double>(random() % 5) - 2);
        }
        costs.emplace_back(kind, classes, matrix, 0.25, random() % 3 == 0 ? 0.5 : 0.0, rule);
      }
      ParetoQuery query;
      for (const LeafCost& cost : costs) query.costs.push_back(&cost);
      std::vector<std::size_t> order(query.width());
      for (std::size_t c = 0; c < order.size(); ++c) order[c] = c;
      std::shuffle(order.begin(), order.end(), random);
      query.rank.assign(order.begin(), order.begin() + 1 + static_cast<std::ptrdiff_t>(random() % order.size()));
      query.k = std::array<std::size_t, 4>{1, 1, 3, 25}[random() % 4];
      if (random() % 3 == 0) {
        for (std::size_t t = 0; t < d.t; ++t) query.required.push_back(random() % 3 == 0 ? 1u << (random() % 2) : 0u);
        for (std::uint32_t bits : query.required) query.all_required |= bits;
      }
      auto trees = every_tree(space, query);
      if (trees.size() > 4000) continue;
      for (std::size_t c : order)
        if (random() % 3 == 0 && !trees.empty())
          query.bounds.emplace_back(c, trees[random() % trees.size()].values[c] + (random() % 2 ? 0.0 : 1e-3));
      std::erase_if(trees, [&](const Tree& tree) {
        for (const auto& [c, bound] : query.bounds)
          if (tree.values[c] > bound + 1e-9) return true;
        return (tree.used & query.all_required) != query.all_required;
      });
      const auto rank = [&](const std::vector<double>& values) {
        std::vector<double> out;
        for (std::size_t c : query.rank) out.push_back(std::round(values[c] * 1e8));
        return out;
      };
      std::vector<std::vector<double>> expected;
      for (const Tree& tree : trees) expected.push_back(rank(tree.values));
      std::sort(expected.begin(), expected.end());
      GraphOptions o = naive::some_options(static_cast<unsigned>(round) / 3, depth, min_leaf);
      o.n_threads = 1 + round % 2;
      Control control;
      const Graph graph(d.core(), o, control);
      const auto got = pareto_trees(graph, query, control);
      CHECK(got.size() == std::min(query.k, expected.size()));
      (got.empty() ? empty : answered) += 1;
      std::set<Key> seen;
      for (std::size_t x = 0; x < std::min(got.size(), expected.size()); ++x) {
        CHECK(rank(got[x].values) == expected[x]);
        CHECK(seen.insert(got[x].key).second);
        const auto it =
            std::find_if(trees.begin(), trees.end(), [&](const Tree& tree) { return tree.key == got[x].key; });
        CHECK(it != trees.end());
        if (it != trees.end())
          for (std::size_t c = 0; c < query.width(); ++c) CHECK(close(it->values[c], got[x].values[c]));
      }
      // The front: every tree is matched by one at least as good in all ranked criteria, and none is superfluous.
      if (query.k == 1) {
        query.front = true;
        const auto front = pareto_trees(graph, query, control);
        const auto as_good = [&](const std::vector<double>& a, const std::vector<double>& b) {
          for (std::size_t c : query.rank)
            if (a[c] > b[c] && !close(a[c], b[c])) return false;
          return true;
        };
        for (const Tree& tree : trees)
          CHECK(std::any_of(front.begin(), front.end(),
                            [&](const Judged& point) { return as_good(point.values, tree.values); }));
        for (std::size_t x = 0; x < front.size(); ++x)
          for (std::size_t y = 0; y < front.size(); ++y)
            if (x != y && query.bounds.empty() && query.required.empty())
              CHECK(!as_good(front[x].values, front[y].values));
      }
    }
  }
  use_kernels("");
  CHECK(answered > 1000);
  CHECK(empty > 100);
}

TEST(lists_count_as_memory_and_bad_queries_are_refused) {
  std::mt19937 random(2);
  const naive::Table d = naive::random_table(random, 40, 6, 2, 1);
  Control control;
  GraphOptions o;
  o.max_depth = 4;
  const Graph graph(d.core(), o, control);
  const LeafCost error(CostKind::error, 2), three(CostKind::error, 3);
  ParetoQuery query;
  query.costs = {&error};
  query.rank = {0, 2, 1};
  query.k = 50;
  Control small;
  small.memory_limit = graph.bytes() + 1000;
  const auto refused = [](auto&& f) {
    try {
      f();
    } catch (const std::exception&) {
      return true;
    }
    return false;
  };
  CHECK(refused([&] { pareto_trees(graph, query, small); }));
  CHECK(pareto_trees(graph, query, control).size() == 50);
  ParetoQuery bad = query;
  bad.rank = {9};
  CHECK(refused([&] { pareto_trees(graph, bad, control); }));
  bad = query;
  bad.bounds = {{9, 1.0}};
  CHECK(refused([&] { pareto_trees(graph, bad, control); }));
  bad = query;
  bad.costs = {&three};
  CHECK(refused([&] { pareto_trees(graph, bad, control); }));
  bad = query;
  bad.required = {1};
  CHECK(refused([&] { pareto_trees(graph, bad, control); }));
  bad = query;
  bad.k = 0;
  CHECK(refused([&] { pareto_trees(graph, bad, control); }));
}

int main() { return check::run(); }
