// The strategies of DL8 against the definitions: the same optimum, the itemsets they promise to store, and their
// limits.
#include <limits>
#include <numeric>
#include <set>
#include <string>

#include "check.hpp"
#include "mine/item_index.hpp"
#include "mine/strategies.hpp"
#include "naive.hpp"

using namespace everytree;
using mine::Found;
using mine::Lattice;
using mine::Meter;

namespace {

bool close(double x, double y) { return std::abs(x - y) <= 1e-9 * std::max({1.0, std::abs(x), std::abs(y)}); }

struct Least {
  double cost, leaves;
};

Least least(const naive::Space& space, const LeafCost& cost) {
  return naive::fold<Least>(
      space, space.table->all(), 0,
      [&](const naive::Rows& rows, std::size_t, bool) {
        return Least{cost(space.table->class_counts(rows).data()), 1};
      },
      [](const naive::Rows&, std::size_t, const naive::Tests&, std::uint32_t, const Least& x, const Least& y) {
        return Least{x.cost + y.cost, x.leaves + y.leaves};
      },
      [](Least& x, const Least& y) {
        if (close(x.cost, y.cost) ? y.leaves < x.leaves : y.cost < x.cost) x = y;
      });
}

// Cost of a key on the rows; checks that every test of it is feasible.
double price(const naive::Space& space, const LeafCost& cost, const Key& key, std::size_t& at, const naive::Rows& rows,
             std::size_t depth) {
  const std::int32_t test = key[at++];
  if (test < 0) return cost(space.table->class_counts(rows).data());
  const auto t = static_cast<std::uint32_t>(test);
  const naive::Tests tests = space.feasible(rows, depth);
  CHECK(std::find(tests.begin(), tests.end(), t) != tests.end());
  const double zero = price(space, cost, key, at, space.table->side(rows, t, false), depth + 1);
  return zero + price(space, cost, key, at, space.table->side(rows, t, true), depth + 1);
}

// Itemsets as sets of items, straight from the recursion of DL8: all orders of all paths.
void walk(const naive::Space& space, const naive::Rows& rows, const std::set<std::uint32_t>& path,
          std::set<std::set<std::uint32_t>>& relevant, std::set<std::pair<naive::Rows, std::size_t>>& states) {
  relevant.insert(path);
  naive::Rows counted;  // rows that count nothing are not part of a cover
  for (std::uint32_t r : rows)
    if (space.table->total(r) > 0) counted.push_back(r);
  states.emplace(counted, space.max_depth < 0 ? 0 : path.size());
  const naive::Counts counts = space.table->class_counts(rows);
  if (std::count_if(counts.begin(), counts.end(), [](std::int32_t n) { return n > 0; }) < 2) return;
  for (std::uint32_t test : space.feasible(rows, path.size()))
    for (int side = 0; side < 2; ++side) {
      auto longer = path;
      longer.insert(mine::item_of(test, side));
      walk(space, space.table->side(rows, test, side), longer, relevant, states);
    }
}

template <class F>
void for_small_spaces(unsigned seed, F&& f) {
  std::mt19937 random(seed);
  unsigned k = 0;
  for (std::size_t classes = 1; classes <= 5; ++classes)
    for (std::int64_t min_leaf = 1; min_leaf <= 4; ++min_leaf)
      for (int depth : {-1, 0, 1, 2, 3, 4})
        for (int round = 0; round < 10; ++round, ++k) {
          const naive::Table d = naive::random_table(random, {1, 16}, {0, 4}, classes, {1, 3});
          if (d.total(d.all()) < min_leaf) continue;
          f(naive::Space{&d, depth, min_leaf}, naive::some_cost(k, classes));
        }
}

template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST(every_strategy_finds_the_optimum) {
  for_small_spaces(1, [](const naive::Space& space, const LeafCost& cost) {
    const Least expected = least(space, cost);
    const auto table = space.table->core();
    for (const mine::Strategy& strategy : mine::strategies()) {
      Control control;
      Meter meter(control);
      const Found found = strategy.run(Lattice(*table, cost, space.max_depth, space.min_leaf), meter);
      CHECK(close(found.trees.at(0).values[0], expected.cost));
      const Key& key = found.trees[0].key;
      CHECK(std::count(key.begin(), key.end(), -1) == static_cast<std::ptrdiff_t>(expected.leaves));
      std::size_t at = 0;
      CHECK(close(price(space, cost, key, at, space.table->all(), 0), expected.cost));
      CHECK(at == key.size());
      CHECK(found.report.bytes > 0 && found.report.seconds_total >= found.report.seconds_mining);
    }
  });
}

TEST(each_stores_the_itemsets_it_promises) {
  for_small_spaces(2, [](const naive::Space& space, const LeafCost& cost) {
    std::set<std::set<std::uint32_t>> relevant;
    std::set<std::pair<naive::Rows, std::size_t>> states;
    walk(space, space.table->all(), {}, relevant, states);
    const auto table = space.table->core();
    for (const mine::Strategy& strategy : mine::strategies()) {
      Control control;
      Meter meter(control);
      const auto report = strategy.run(Lattice(*table, cost, space.max_depth, space.min_leaf), meter).report;
      const std::string name = strategy.name;
      if (name == "closed_frequent") {
        CHECK(report.states == states.size());
      } else if (name == "closed") {
        CHECK(report.states == states.size());
        CHECK(report.itemsets <= report.states);
      } else {
        CHECK(report.states == relevant.size());
        CHECK(name.find("frequent") != name.npos ? report.itemsets >= relevant.size()
                                                 : report.itemsets == relevant.size());
      }
      CHECK(report.counted >= report.itemsets);
    }
  });
}

TEST(a_rule_for_paths_holds_at_every_node) {
  // At least so many of the first class, or of all together: both stay true where counts grow.
  std::size_t k = 0, ruled = 0;
  for_small_spaces(5, [&](const naive::Space& plain, const LeafCost& cost) {
    const auto classes = static_cast<std::size_t>(plain.table->class_counts(plain.table->all()).size());
    const std::int32_t first = 1 + static_cast<std::int32_t>(k % 3), all = 4 + static_cast<std::int32_t>(k % 5);
    ++k;
    naive::Space space = plain;
    space.rule = [=](const naive::Counts& counts) {
      return counts[0] >= first || std::accumulate(counts.begin(), counts.end(), 0) >= all;
    };
    if (!space.allowed(space.table->all())) return;
    const Least expected = least(space, cost);
    ruled += expected.leaves != least(plain, cost).leaves;
    const auto table = space.table->core();
    ParetoQuery query;
    query.costs = {&cost};
    query.rank = {0, query.leaves()};
    const mine::PathRule rule = [&](const std::int32_t* counts) {
      return space.rule(naive::Counts(counts, counts + classes));
    };
    for (const mine::Strategy& strategy : mine::strategies()) {
      Control control;
      Meter meter(control);
      const Found found = strategy.run(Lattice(*table, query, space.max_depth, space.min_leaf, rule), meter);
      CHECK(close(found.trees.at(0).values[0], expected.cost));
      const Key& key = found.trees[0].key;
      CHECK(std::count(key.begin(), key.end(), -1) == static_cast<std::ptrdiff_t>(expected.leaves));
      std::size_t at = 0;  // price() checks that every test is feasible, which here includes the rule
      CHECK(close(price(space, cost, key, at, space.table->all(), 0), expected.cost));
    }
  });
  CHECK(ruled > 20);
}

TEST(purity_ends_a_path_only_where_a_leaf_cannot_be_beaten) {
  for (CostKind kind : {CostKind::error, CostKind::expected_error, CostKind::gini, CostKind::entropy})
    CHECK(mine::pure_is_final(LeafCost(kind, 2)));
  CHECK(!mine::pure_is_final(LeafCost(CostKind::error, 2, {}, 0.25, -1.0)));
  // With a reward per leaf the best tree splits pure nodes too.
  std::mt19937 random(3);
  const LeafCost reward(CostKind::error, 2, {}, 0.25, -2.0);
  for (int round = 0; round < 40; ++round) {
    const naive::Table d = naive::random_table(random, 8, 3, 2, 1);
    const naive::Space space{&d, 3, 1};
    const Least expected = least(space, reward);
    for (const mine::Strategy& strategy : mine::strategies()) {
      Control control;
      Meter meter(control);
      CHECK(close(strategy.run(Lattice(*d.core(), reward, 3, 1), meter).trees.at(0).values[0], expected.cost));
    }
  }
}

TEST(limits_end_every_strategy) {
  std::mt19937 random(4);
  naive::Table d = naive::random_table(random, 300, 40, 2, 1);
  const auto table = d.core();
  const LeafCost cost(CostKind::error, 2);
  for (const mine::Strategy& strategy : mine::strategies()) {
    Control hurried, narrow, halted;
    hurried.time_limit = 0.05;
    narrow.memory_limit = 200000;
    halted.stop();
    for (Control* control : {&hurried, &narrow, &halted}) {
      Meter meter(*control);
      const std::string what = refusal([&] { strategy.run(Lattice(*table, cost, -1, 1), meter); });
      CHECK(what == (control == &hurried  ? "time limit reached"
                     : control == &narrow ? "memory limit reached"
                                          : "stopped"));
      CHECK(meter.peak() <= control->memory_limit);
      CHECK(control->seconds() < 2);
    }
  }
}

TEST(long_paths_do_not_exhaust_the_stack) {
  // Row k has the first k tests: a tree may be a chain through all of them.
  const std::size_t n = 2000;
  naive::Table d(n, n, 2);
  for (std::size_t r = 0; r < n; ++r) {
    d.counts[r * 2 + r % 2] = 1;
    for (std::size_t t = 0; t < r; ++t) d.rows[r * n + t] = 1;
  }
  const auto table = d.core();
  const LeafCost cost(CostKind::error, 2);
  for (const mine::Strategy& strategy : mine::strategies()) {
    Control control;
    control.time_limit = 0.3;
    control.memory_limit = std::size_t{1} << 28;
    Meter meter(control);
    const std::string what = refusal([&] { strategy.run(Lattice(*table, cost, -1, 1), meter); });
    CHECK(what.find("limit reached") != std::string::npos);
  }
}

TEST(the_index_tells_itemsets_apart) {
  Control control;
  Meter meter(control);
  mine::ItemIndex index(meter);
  std::mt19937 random(5);
  std::vector<std::pair<std::vector<mine::Item>, std::uint32_t>> known;
  std::set<std::vector<mine::Item>> sets;
  for (int round = 0; round < 3000; ++round) {
    std::vector<mine::Item> items;
    for (mine::Item i = 0; i < 12; ++i)
      if (random() % 3 == 0) items.push_back(i);
    const std::uint32_t result = index.locate(items.data(), items.size());
    const bool fresh = sets.insert(items).second;
    for (const auto& [other, number] : known) CHECK((other == items) == (number == result));
    if (fresh) known.emplace_back(items, result);
    CHECK(index.n_itemsets() == sets.size() && index.n_results() == sets.size());
  }
}

TEST(what_cannot_be_answered_is_refused) {
  std::mt19937 random(6);
  const naive::Table d = naive::random_table(random, 12, 3, 2, 1);
  const auto table = d.core();
  CHECK(refusal([&] {
          mine::find_strategy("best");
        }).find("simple, frequent, apriori, eclat, closed, eclat_frequent") != std::string::npos);
  CHECK(refusal([&] { Lattice(*table, LeafCost(CostKind::error, 3), 2, 1); }).find("for 3 classes; the table has 2") !=
        std::string::npos);
  const LeafCost cost(CostKind::error, 2);
  CHECK(refusal([&] { Lattice(*table, cost, 2, 0); }).find("min_leaf is 0") != std::string::npos);
  CHECK(refusal([&] { Lattice(*table, cost, 2, 1000); }).find("fewer than min_leaf 1000") != std::string::npos);
}

int main() { return check::run(); }
