// Branch and bound against the fold of the whole graph: every bound on and off, and what is known when it is stopped.
#include <array>
#include <limits>

#include "check.hpp"
#include "naive_trees.hpp"
#include "search/search.hpp"
#include "sets/query.hpp"

using namespace everytree;

namespace {

bool close(double x, double y) { return std::abs(x - y) <= 1e-9 * std::max({1.0, std::abs(x), std::abs(y)}); }

void check_found(const naive::Table& d, const LeafCost& cost, std::int64_t min_leaf, int max_depth,
                 const Found& found) {
  CHECK(close(naive::cost_of({&d, max_depth, min_leaf}, cost, found.key), found.cost));
}

}  // namespace

TEST(the_search_finds_what_the_fold_finds) {
  std::mt19937 random(11);
  unsigned k = 0;
  for (const Kernels* kernel : available_kernels()) {
    use_kernels(kernel->name);
    for (std::size_t classes = 1; classes <= 5; ++classes)
      for (std::int64_t min_leaf : {1, 2, 3, 5})
        for (int depth : {-1, 0, 1, 2, 3, 4, 5})
          for (int round = 0; round < 6; ++round, ++k) {
            const naive::Table d =
                naive::random_table(random, {1, depth < 0 ? 14u : 40u}, {0, depth < 0 ? 5u : 7u}, classes, {1, 3});
            if (d.total(d.all()) < min_leaf) continue;
            const LeafCost cost = naive::search_cost(k, classes);
            Control control;
            GraphOptions g;
            g.max_depth = depth;
            g.min_leaf = min_leaf;
            g.by_depth = false;
            const auto table = d.core();
            const Ranked expected = best_trees(Graph(table, g, control), cost, 1, control)[0];
            for (unsigned off = 0; off < 10; ++off) {
              SearchOptions o;
              o.min_leaf = min_leaf;
              const bool smallest = off % 2 == 0;
              o.merge = off != 1;
              o.bounds.identical_rows = off != 2;
              o.bounds.support = off != 3;
              o.bounds.similarity = off != 4;
              o.bounds.siblings = off != 5;
              o.n_threads = off == 6 || off == 7 || off == 9 ? 3 : 1;
              if (off >= 8) o.sides_from = 0;
              const Found found = Search(table, cost, o).run(depth, smallest, control);
              CHECK(found.proved);
              CHECK(found.stopped.empty());
              CHECK(close(found.cost, expected.score));
              CHECK(close(found.lower, expected.score));
              if (smallest) CHECK(naive::leaves_of(found.key) == naive::leaves_of(expected.key));
              check_found(d, cost, min_leaf, depth, found);
            }
          }
  }
  use_kernels("auto");
}

// Two classes by a tree of three levels, and a few examples of rarer ones, which no leaf may hold alone: there the
// support bound is what must be paid, and no more. Small tables with a price: there two leaves are best more often than
// three.
TEST(rare_classes_cost_what_they_must) {
  for (unsigned seed = 0; seed < 6000; ++seed) {
    std::mt19937 random(seed);
    const bool priced = seed % 2 == 0;
    const std::size_t tests = 3 + random() % (priced ? 2 : 4), n = 12 + random() % (priced ? 3 : 24);
    const std::size_t classes = 3 + random() % 2;
    const auto min_leaf = static_cast<std::int64_t>(priced ? 4 : 2 + random() % 4);
    const int depth = priced ? 3 : 3 + static_cast<int>(random() % 2);
    naive::Table d(n, tests, classes);
    for (auto& x : d.rows) x = random() & 1;
    std::array<std::size_t, 7> asked;
    for (auto& test : asked) test = random() % tests;
    const unsigned said = random();
    for (std::size_t r = 0; r < n; ++r) {
      std::size_t at = 0;
      while (at < asked.size()) at = 2 * at + 1 + (d.rows[r * tests + asked[at]] ? 1 : 0);
      d.counts[r * classes + (said >> at & 1)] = 1;
    }
    for (std::size_t c = 2; c < classes; ++c)
      for (std::size_t rare = 1 + random() % 2; rare > 0; --rare) {
        const std::size_t r = random() % n;
        std::fill_n(d.counts.begin() + static_cast<std::ptrdiff_t>(r * classes), classes, 0);
        d.counts[r * classes + c] = 1;
      }
    const LeafCost cost(CostKind::error, classes, {}, 0.25, priced ? 0.6 : 0.0);
    Control control;
    GraphOptions g;
    g.max_depth = depth;
    g.min_leaf = min_leaf;
    g.by_depth = false;
    const auto table = d.core();
    const Ranked expected = best_trees(Graph(table, g, control), cost, 1, control)[0];
    SearchOptions o;
    o.min_leaf = min_leaf;
    const Found found = Search(table, cost, o).run(depth, false, control);
    CHECK(close(found.cost, expected.score));
    CHECK(close(found.lower, expected.score));
  }
}

// Widths and heights around whole words, tiles of tests and bands of pairs; also tests that are cuts of one number.
TEST(sides_folded_together_are_those_folded_one_by_one) {
  std::mt19937 random(17);
  unsigned k = 0;
  for (const Kernels* kernel : available_kernels()) {
    use_kernels(kernel->name);
    for (std::size_t tests : {15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129})
      for (std::size_t rows : {63, 64, 65, 129}) {
        ++k;
        const std::size_t classes = 2 + k % 3;
        naive::Table d = naive::random_table(random, rows, tests, classes, {1, 3});
        if (k % 2)
          for (std::size_t r = 0; r < rows; ++r) {
            const auto x = random() % (tests + 1);
            for (std::size_t j = 0; j < tests; ++j) d.rows[r * tests + j] = j < x;
          }
        const LeafCost cost(CostKind::error, classes, {}, 0.25, k % 3 == 0 ? 1.5 : 0.0);
        Control control;
        SearchOptions apart, together;
        apart.min_leaf = together.min_leaf = 1 + k % 4 * 2;
        apart.sides_from = 1 << 30;
        together.sides_from = 0;
        for (int depth : {3, 4}) {
          if (depth == 4 && tests > 33) continue;
          const Found expected = Search(d.core(), cost, apart).run(depth, true, control);
          const Found found = Search(d.core(), cost, together).run(depth, true, control);
          CHECK(found.proved);
          CHECK(found.cost == expected.cost);
          CHECK(found.lower == expected.lower);
          CHECK(naive::leaves_of(found.key) == naive::leaves_of(expected.key));
          check_found(d, cost, apart.min_leaf, depth, found);
          GraphOptions g;
          g.max_depth = depth;
          g.min_leaf = apart.min_leaf;
          g.by_depth = false;
          CHECK(close(found.cost, best_trees(Graph(d.core(), g, control), cost, 1, control)[0].score));
        }
      }
  }
  use_kernels("auto");
}

// More than 2^15 examples: counts no longer fit two to a lane.
TEST(sides_of_large_covers_are_folded_together) {
  std::mt19937 random(18);
  for (std::int64_t weight : {1, 3000}) {
    naive::Table d = naive::random_table(random, 40, 20, 2, {1, 3});
    for (auto& n : d.counts) n *= weight;
    const LeafCost cost(CostKind::error, 2);
    Control control;
    SearchOptions apart, together;
    apart.sides_from = 1 << 30;
    together.sides_from = 0;
    const Found expected = Search(d.core(), cost, apart).run(3, true, control),
                found = Search(d.core(), cost, together).run(3, true, control);
    CHECK(found.proved);
    CHECK(found.cost == expected.cost);
    CHECK(naive::leaves_of(found.key) == naive::leaves_of(expected.key));
  }
}

TEST(a_memory_limit_leaves_the_pairs_out_and_the_answer_as_it_is) {
  std::mt19937 random(19);
  const naive::Table d = naive::random_table(random, 100, 65, 2, {1, 1});
  const LeafCost cost(CostKind::error, 2);
  SearchOptions o;
  o.sides_from = 0;
  Control free, tight;
  const Found whole = Search(d.core(), cost, o).run(3, false, free);
  tight.memory_limit = whole.n_bytes;
  const Found found = Search(d.core(), cost, o).run(3, false, tight);
  CHECK(found.proved);
  CHECK(found.cost == whole.cost);
}

TEST(threads_do_not_change_the_tree) {
  std::mt19937 random(12);
  for (int round = 0; round < 60; ++round) {
    const naive::Table d = naive::random_table(random, {30, 80}, {6, 14}, {2, 3}, {1, 2});
    const LeafCost cost = naive::search_cost(static_cast<unsigned>(round), d.c);
    SearchOptions o;
    o.min_leaf = 1 + round % 4;
    if (round % 3 == 0) o.sides_from = 0;
    const bool smallest = round % 2;
    if (d.total(d.all()) < o.min_leaf) continue;
    Control control;
    const Found one = Search(d.core(), cost, o).run(4, smallest, control);
    for (std::size_t threads : {2, 3, 4}) {
      o.n_threads = threads;
      const Found found = Search(d.core(), cost, o).run(4, smallest, control);
      CHECK(found.key == one.key);
      CHECK(found.cost == one.cost);
    }
  }
}

TEST(a_stopped_search_tells_what_it_knows_and_goes_on) {
  std::mt19937 random(13);
  const naive::Table d = naive::random_table(random, {300, 300}, {24, 24}, {2, 2}, {1, 2});
  const LeafCost cost(CostKind::error, 2);
  for (std::size_t threads : {1, 2}) {
    SearchOptions o;
    o.n_threads = threads;
    Control free;
    const Found whole = Search(d.core(), cost, o).run(5, true, free);
    CHECK(whole.proved);
    // Memory for a part of the states only, then for all of them.
    Search search(d.core(), cost, o);
    Control little;
    little.memory_limit = whole.n_bytes / 3;
    const Found part = search.run(5, true, little);
    CHECK(!part.proved);
    CHECK(part.stopped == "memory");
    CHECK(part.n_bytes <= little.memory_limit);
    CHECK(part.lower <= whole.cost);
    CHECK(part.cost >= whole.cost);
    check_found(d, cost, 1, 5, part);
    const Found rest = search.run(5, true, free);
    CHECK(rest.proved);
    CHECK(rest.cost == whole.cost);
    // Stopped before the first step.
    Control stopped;
    stopped.stop();
    const Found none = Search(d.core(), cost, o).run(5, true, stopped);
    CHECK(none.stopped == "stopped");
    CHECK(none.lower <= whole.cost);
    check_found(d, cost, 1, 5, none);
  }
}

// Stopped at many moments: whatever is said then is true, and the next run goes on from there.
TEST(what_is_said_at_any_moment_is_true) {
  std::mt19937 random(29);
  int n_stopped = 0;
  for (unsigned round = 0; round < 12; ++round) {
    const naive::Table d = naive::random_table(random, {120, 160}, {14, 18}, {2, 3}, {1, 2});
    const LeafCost cost = naive::search_cost(7 * round, d.c);
    SearchOptions o;
    o.min_leaf = 1 + round % 3;
    Control free;
    const Found whole = Search(d.core(), cost, o).run(4, true, free);
    Search search(d.core(), cost, o);
    for (double seconds = 2e-6; seconds < 10; seconds *= 1.3) {
      Control little;
      little.time_limit = seconds;
      const Found part = search.run(4, true, little);
      CHECK(part.lower <= whole.cost + 1e-9 * std::max(1.0, std::abs(whole.cost)));
      CHECK(part.cost >= whole.cost - 1e-9 * std::max(1.0, std::abs(whole.cost)));
      check_found(d, cost, o.min_leaf, 4, part);
      if (part.proved) {
        CHECK(close(part.cost, whole.cost));
        break;
      }
      ++n_stopped;
    }
  }
  CHECK(n_stopped > 12);
}

TEST(a_price_makes_any_depth_feasible) {
  std::mt19937 random(14);
  const naive::Table d = naive::random_table(random, {200, 200}, {12, 12}, {2, 2}, {1, 1});
  const LeafCost cost(CostKind::error, 2, {}, 0.25, 6.0);
  SearchOptions o;
  Control control;
  const Found found = Search(d.core(), cost, o).run(-1, true, control);
  CHECK(found.proved);
  check_found(d, cost, 1, -1, found);
  GraphOptions g;
  g.max_depth = 4;
  CHECK(found.cost <= least_cost(Graph(d.core(), g, control), cost, control) + 1e-9);
}

TEST(one_search_answers_every_depth_in_any_order) {
  std::mt19937 random(15);
  for (int round = 0; round < 30; ++round) {
    const naive::Table d = naive::random_table(random, {20, 60}, {4, 9}, {2, 3}, {1, 2});
    const LeafCost cost = naive::search_cost(static_cast<unsigned>(round), d.c);
    SearchOptions o;
    o.min_leaf = 1 + round % 3;
    if (d.total(d.all()) < o.min_leaf) continue;
    Control control;
    Search search(d.core(), cost, o);
    for (int depth : {3, 5, 1, 4, -1, 0, 2}) {
      const Found again = search.run(depth, round % 2, control),
                  fresh = Search(d.core(), cost, o).run(depth, true, control);
      CHECK(again.proved);
      CHECK(close(again.cost, fresh.cost));
      check_found(d, cost, o.min_leaf, depth, again);
      if (round % 2) CHECK(naive::leaves_of(again.key) == naive::leaves_of(fresh.key));
    }
  }
}

TEST(bounds_from_elsewhere_do_not_change_the_tree) {
  std::mt19937 random(16);
  for (int round = 0; round < 60; ++round) {
    const naive::Table d = naive::random_table(random, {20, 80}, {4, 9}, {2, 3}, {1, 2});
    const LeafCost cost = naive::search_cost(static_cast<unsigned>(round), d.c);
    SearchOptions o;
    o.min_leaf = 1 + round % 3;
    if (d.total(d.all()) < o.min_leaf) continue;
    const int depth = 3 + round % 3;
    const bool smallest = round % 2;
    Control control;
    const Found alone = Search(d.core(), cost, o).run(depth, smallest, control);
    Search elsewhere(d.core(), cost, o), told(d.core(), cost, o);
    const Part first = elsewhere.look({}, depth, true, control);
    CHECK(first.upper >= alone.cost - 1e-9);
    std::vector<std::int32_t> tests;
    for (const Branch& branch : first.branches) tests.push_back(branch.test);
    if (tests.empty()) continue;
    const Part part = elsewhere.work({}, depth, first.branches, tests, 1e300, smallest ? 1000 : 0, control);
    CHECK(part.stopped.empty());
    CHECK(part.branches.size() == tests.size());
    CHECK(std::min(part.upper, first.upper) <= alone.cost + 1e-9);
    for (const Branch& branch : part.branches) {
      CHECK(branch.lower[0] + branch.lower[1] >= alone.cost - 1e-9);
      for (int a = 0; a < 2; ++a) CHECK(branch.lower[a] <= branch.upper[a] + 1e-9);
    }
    told.learn({}, depth, part.branches, control);
    const Found found =
        told.run(depth, smallest, control, alone.cost, static_cast<std::uint32_t>(naive::leaves_of(alone.key)));
    CHECK(found.proved);
    CHECK(found.key == alone.key);
  }
}

int main() { return check::run(); }
