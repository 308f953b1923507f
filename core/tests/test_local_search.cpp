// Searches where states choose their tests, against every tree of the space, the fold of the whole graph, and what is
// known when they are stopped.
#include <array>
#include <limits>

#include "check.hpp"
#include "down/posterior.hpp"
#include "fold/joint.hpp"
#include "naive_trees.hpp"
#include "search/probable.hpp"
#include "search/search.hpp"
#include "search/space.hpp"
#include "sets/likeliest.hpp"
#include "sets/query.hpp"

using namespace everytree;

namespace {

bool close(double x, double y) { return std::abs(x - y) <= 1e-9 * std::max({1.0, std::abs(x), std::abs(y)}); }

void check_tree(const naive::Space& space, const LeafCost& cost, const Key& key, double claimed) {
  CHECK(close(naive::cost_of(space, cost, key), claimed));
}

// Columns of all kinds with these bins; sometimes columns differ in them.
naive::Table some_columns(std::mt19937& random, unsigned k, naive::Range rows, naive::Range columns,
                          std::size_t classes) {
  constexpr std::array<std::uint32_t, 4> bins{2, 3, 4, 0};
  naive::Table d = naive::random_columns(random, rows, columns, classes, bins[k % 4], {1, 3});
  if (k % 5 == 0)
    for (Column& c : d.columns) c.bins = bins[random() % 4];
  return d;
}

// f(round, table, depth, min_leaf) over all depths, supports and bins.
template <class F>
void for_every_space(unsigned seed, int rounds, bool large, F&& f) {
  std::mt19937 random(seed);
  unsigned k = 0;
  for (std::size_t classes : {2, 3, 1})
    for (std::int64_t min_leaf : {1, 2, 3, 4})
      for (int depth : {-1, 0, 1, 2, 3, 4, 5})
        for (int round = 0; round < rounds; ++round, ++k) {
          const bool deep = depth < 0 || depth > 3;
          const naive::Range rows = large ? naive::Range{10, deep ? 24u : 50u} : naive::Range{2, deep ? 8u : 12u};
          const naive::Table d = some_columns(random, k, rows, {1, large ? 5u : 3u}, classes);
          if (d.total(d.all()) >= min_leaf) f(k, d, depth, min_leaf);
        }
}

SearchOptions some_switches(unsigned k, std::int64_t min_leaf) {
  SearchOptions o;
  o.min_leaf = min_leaf;
  o.merge = k % 7 != 1;
  o.bounds.identical_rows = k % 7 != 2;
  o.bounds.support = k % 7 != 3;
  o.bounds.siblings = k % 7 != 4;
  o.n_threads = 1 + k % 2;
  if (k % 3 == 0) o.sides_from = 0;
  return o;
}

void check_search(const naive::Space& space, const LeafCost& cost, unsigned k, const naive::Least& expected) {
  Control control;
  const auto table = space.table->core();
  for (unsigned x = 0; x < 2; ++x) {
    const bool smallest = x == 0;
    const Found found =
        Search(table, cost, some_switches(k + x, space.min_leaf)).run(space.max_depth, smallest, control);
    CHECK(found.proved);
    CHECK(close(found.cost, expected.cost));
    CHECK(close(found.lower, expected.cost));
    if (smallest) CHECK(naive::leaves_of(found.key) == expected.leaves);
    check_tree(space, cost, found.key, found.cost);
  }
}

}  // namespace

TEST(the_search_finds_the_best_of_all_trees) {
  for_every_space(1, 60, false, [](unsigned k, const naive::Table& d, int depth, std::int64_t min_leaf) {
    const naive::Space space{&d, depth, min_leaf};
    const LeafCost cost = naive::search_cost(k, d.c);
    check_search(space, cost, k, naive::least_of_all(space, cost));
  });
}

TEST(the_search_finds_what_the_fold_finds) {
  for_every_space(2, 20, true, [](unsigned k, const naive::Table& d, int depth, std::int64_t min_leaf) {
    const LeafCost cost = naive::search_cost(k, d.c);
    Control control;
    GraphOptions g;
    g.max_depth = depth;
    g.min_leaf = min_leaf;
    const Ranked expected = best_trees(Graph(d.core(), g, control), cost, 1, control)[0];
    check_search({&d, depth, min_leaf}, cost, k, {expected.score, naive::leaves_of(expected.key)});
    SearchOptions one, three;  // as many threads as there are, the tree is the same
    one.min_leaf = three.min_leaf = min_leaf;
    three.n_threads = 3;
    CHECK(Search(d.core(), cost, one).run(depth, true, control).key ==
          Search(d.core(), cost, three).run(depth, true, control).key);
  });
}

TEST(greedy_trees_and_those_of_a_stopped_search_lie_in_the_space) {
  for_every_space(3, 5, true, [](unsigned k, const naive::Table& d, int depth, std::int64_t min_leaf) {
    const naive::Space space{&d, depth, min_leaf};
    const LeafCost cost = naive::search_cost(k, d.c);
    Search search(d.core(), cost, some_switches(k, min_leaf));
    Control control, little;
    const Found greedy = search.greedy(depth, control);
    check_tree(space, cost, greedy.key, greedy.cost);
    little.memory_limit = 200'000 + 10'000 * (k % 30);
    const Found part = search.run(depth, true, little);
    check_tree(space, cost, part.key, part.cost);
    CHECK(part.cost <= greedy.cost + 1e-9);
    const Found rest = search.run(depth, true, control);
    CHECK(rest.proved);
    CHECK(part.lower <= rest.cost + 1e-9);
    for (int other : {3, 5, 1, 4, -1, 0, 2}) {  // what was proved is kept for other depths
      const Found again = search.run(other, true, control);
      const Found fresh = Search(d.core(), cost, some_switches(k + 1, min_leaf)).run(other, true, control);
      CHECK(close(again.cost, fresh.cost));
      CHECK(naive::leaves_of(again.key) == naive::leaves_of(fresh.key));
      check_tree({&d, other, min_leaf}, cost, again.key, again.cost);
    }
  });
}

TEST(bounds_from_elsewhere_do_not_change_the_tree) {
  for_every_space(4, 10, true, [](unsigned k, const naive::Table& d, int depth, std::int64_t min_leaf) {
    const naive::Space space{&d, depth, min_leaf};
    const LeafCost cost = naive::search_cost(k, d.c);
    SearchOptions o;
    o.min_leaf = min_leaf;
    const bool smallest = k % 2;
    Control control;
    const Found alone = Search(d.core(), cost, o).run(depth, smallest, control);
    Search elsewhere(d.core(), cost, o), told(d.core(), cost, o);
    const Part first = elsewhere.look({}, depth, true, control);
    check_tree(space, cost, first.key, first.upper);
    std::vector<std::int32_t> tests;
    for (const Branch& branch : first.branches) tests.push_back(branch.test);
    if (tests.empty()) return;
    const Part part = elsewhere.work({}, depth, first.branches, tests, 1e300, smallest ? 1000 : 0, control);
    CHECK(std::min(part.upper, first.upper) <= alone.cost + 1e-9);
    check_tree(space, cost, part.key, part.upper);
    for (const Branch& branch : part.branches) {
      CHECK(branch.lower[0] + branch.lower[1] >= alone.cost - 1e-9);
      for (int a = 0; a < 2; ++a) CHECK(branch.lower[a] <= branch.upper[a] + 1e-9);
    }
    told.learn({}, depth, part.branches, control);
    const Found found =
        told.run(depth, smallest, control, alone.cost, static_cast<std::uint32_t>(naive::leaves_of(alone.key)));
    CHECK(found.proved);
    CHECK(found.key == alone.key);
  });
}

TEST(a_state_with_one_level_left_is_its_parents) {
  std::mt19937 random(5);
  const naive::Table d = naive::random_columns(random, 30, 3, 2, 2, {1, 1});
  const LeafCost cost(CostKind::error, 2);
  Search search(d.core(), cost, {});
  Control control;
  const std::int32_t test = search.look({}, 3, false, control).branches.at(0).test;
  bool thrown = false;
  try {
    search.look({{test, 0}}, 2, false, control);
  } catch (const InvalidInput&) {
    thrown = true;
  }
  CHECK(thrown);
}

namespace {

struct Case {
  Prior prior;
  std::vector<std::vector<double>> a;
  std::shared_ptr<const Dirichlet> leaf;
  ProbableOptions options;
};

Case some_case(unsigned k, const naive::Table& d, int depth, std::int64_t min_leaf) {
  Case c;
  c.prior = naive::some_prior(k / 3, d.t);
  if (c.prior.fair && k % 3)  // by columns, as is natural
    for (std::size_t x = 0; x < d.columns.size(); ++x)
      for (std::uint32_t t = 0; t < d.t; ++t)
        if (t >= d.columns[x].begin) c.prior.attribute[t] = static_cast<std::int32_t>(x);
  c.a.assign(k % 7 == 0 ? 2 : 1, std::vector<double>(d.c, 1.0));
  if (k % 2)
    for (std::size_t row = 0; row < c.a.size(); ++row)
      for (std::size_t x = 0; x < d.c; ++x)
        c.a[row][x] = 0.4 + 0.7 * static_cast<double>(x) + (k % 3 ? 0.2 : -0.2) * static_cast<double>(row);
  c.leaf = std::make_shared<const Dirichlet>(c.a, d.class_counts(d.all()));
  c.options.max_depth = depth;
  c.options.min_leaf = min_leaf;
  c.options.by_depth = depth >= 0 || c.a.size() > 1 || naive::depends_on_depth(c.prior) || k % 2;
  c.options.merge = k % 5 != 0;
  c.options.look_ahead = k % 6 != 0;
  c.options.spread = k % 8 < 6;
  c.options.outvoted = k % 9 < 7;
  c.options.tables = k % 10 < 7;
  return c;
}

}  // namespace

TEST(the_most_probable_of_all_trees_is_found) {
  for_every_space(6, 60, false, [](unsigned k, const naive::Table& d, int depth, std::int64_t min_leaf) {
    const naive::Space space{&d, depth, min_leaf};
    const Case c = some_case(k, d, depth, min_leaf);
    const naive::Weights weights{c.prior, c.a};
    const auto best = naive::fold<naive::Real>(
        space, d.all(), 0,
        [&](const naive::Rows& rows, std::size_t at, bool open) {
          return weights.log_leaf(d.class_counts(rows), at, open);
        },
        [&](const naive::Rows&, std::size_t at, const naive::Tests& tests, std::uint32_t test, naive::Real x,
            naive::Real y) { return weights.log_split(tests, test, at) + x + y; },
        [](naive::Real& x, naive::Real y) { x = std::max(x, y); });
    Control control;
    ProbableSearch search(d.core(), c.prior, c.leaf, c.options);
    const MostProbable found = search.run(control);
    CHECK(found.proved);
    CHECK(close(found.log_joint, static_cast<double>(best)));
    CHECK(!std::isnan(naive::log_joint(space, weights, found.key)));
    CHECK(close(log_joint(*d.core(), depth, min_leaf, c.prior, *c.leaf, found.key), found.log_joint));
    CHECK(search.run(control).key == found.key);
  });
}

TEST(the_most_probable_tree_is_that_of_the_fold) {
  for_every_space(7, 20, true, [](unsigned k, const naive::Table& d, int depth, std::int64_t min_leaf) {
    const Case c = some_case(k, d, depth, min_leaf);
    Control control;
    GraphOptions o;
    o.max_depth = depth;
    o.min_leaf = min_leaf;
    o.by_depth = c.options.by_depth;
    const auto graph = std::make_shared<const Graph>(d.core(), o, control);
    const Posterior posterior(graph, c.prior, c.leaf, true, 1, control);
    const Key expected = map_tree(posterior, control);
    const double joint = posterior.log_joint(expected);
    ProbableSearch search(d.core(), c.prior, c.leaf, c.options);
    for (int tries = 0; tries < 3; ++tries) {
      Control short_of;
      short_of.time_limit = 1e-9;
      const MostProbable part = search.run(short_of);
      CHECK(close(log_joint(*d.core(), depth, min_leaf, c.prior, *c.leaf, part.key), part.log_joint));
      CHECK(part.log_joint <= joint + 1e-9);
      CHECK(part.upper >= joint - 1e-9);
    }
    const MostProbable found = search.run(control);
    CHECK(found.proved);
    CHECK(close(found.log_joint, joint));
    CHECK(found.key == expected);
  });
}

int main() { return check::run(); }
