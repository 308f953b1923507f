// The ordered search against a recursion over every cut: depths, smallest leaves, prices, classes, weights, costs,
// ties, and every kernel.
#include <random>

#include "check.hpp"
#include "kernels/kernels.hpp"
#include "ordered_twin.hpp"

using namespace everytree;
using namespace everytree::ordered;
using ordered_twin::Case;

namespace {

Case random_case(std::mt19937& random, std::size_t most_rows, unsigned kind) {
  return ordered_twin::some_case(most_rows, kind, [&](std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(random);
  });
}

void check_answer(const Case& c, int depth, const Answer& answer) {
  CHECK(ordered_twin::cost_of(c, answer.tree, depth) == answer.cost);
}

}  // namespace

TEST(the_ordered_search_finds_what_recursion_finds) {
  std::mt19937 random(5);
  for (const Kernels* kernel : available_kernels()) {
    use_kernels(kernel->name);
    for (unsigned k = 0; k < 3000; ++k) {
      const int depth = std::vector<int>{2, 3, 1, 3, 4, 2, 3, 0}[k % 8];
      const Case c = random_case(random, depth > 3 ? 14 : 26, k);
      const Problem problem = c.problem();
      const Value expected = ordered_twin::least(c, depth);
      Control control;
      const Answer answer = Solver(problem, depth, control).run();
      CHECK(answer.cost == expected);
      CHECK(answer.proved && answer.lower == expected && answer.stopped.empty());
      check_answer(c, depth, answer);
    }
  }
  use_kernels("auto");
}

// Least sizes of leaves at depth 3, where neighbours are bounded through ghosts: a bound that does not hold shows in
// one of some thousand tables only.
TEST(least_sizes_of_leaves_are_kept) {
  std::mt19937 random(8);
  for (unsigned k = 0; k < 1500; ++k) {
    Case c = random_case(random, 26, k);
    std::int64_t total = 0;
    for (const auto w : c.weights) total += w;
    c.min_leaf = std::min<std::int64_t>(total, 2 + static_cast<std::int64_t>(random() % 5));
    const Problem problem = c.problem();
    Control control;
    const Answer answer = Solver(problem, 3, control).run();
    CHECK(answer.proved && answer.cost == ordered_twin::least(c, 3));
    check_answer(c, 3, answer);
  }
}

// More rows than a lane, and than a segment, takes: against the plain walk of the same problem with a weight of its
// own.
TEST(lanes_and_walks_agree) {
  std::mt19937 random(6);
  for (const Kernels* kernel : available_kernels()) {
    use_kernels(kernel->name);
    for (const std::size_t n : {63u, 64u, 65u, 700u, 8128u, 8129u, 20000u})
      for (const std::size_t n_classes : {2u, 4u}) {
        Case c;
        c.n = n;
        c.d = 3;
        c.n_classes = n_classes;
        std::uniform_int_distribution<std::uint32_t> value(0, static_cast<std::uint32_t>(n < 1000 ? n : 200));
        for (std::size_t f = 0; f < c.d; ++f) {
          std::vector<std::uint32_t> column(n);
          for (auto& x : column) x = value(random);
          auto values = column;
          std::sort(values.begin(), values.end());
          values.erase(std::unique(values.begin(), values.end()), values.end());
          for (const auto x : column)
            c.ranks.push_back(
                static_cast<std::uint32_t>(std::lower_bound(values.begin(), values.end(), x) - values.begin()));
        }
        for (std::size_t r = 0; r < n; ++r) {
          const std::uint32_t at = c.ranks[r] + c.ranks[n + r] / 2;
          c.classes.push_back(static_cast<std::uint16_t>((random() % 4 == 0 ? random() : at / 40) % n_classes));
        }
        c.weights.assign(n, 1);
        c.costs.assign(n_classes * n_classes, 1);
        for (std::size_t k = 0; k < n_classes; ++k) c.costs[k * n_classes + k] = 0;
        for (const std::int64_t min_leaf : {std::int64_t{1}, static_cast<std::int64_t>(n / 9)}) {
          c.min_leaf = min_leaf;
          Case heavy = c;
          heavy.weights.assign(n, 2);  // not plain, so that columns are walked
          heavy.min_leaf = 2 * min_leaf;
          if (n > 9000 && min_leaf > 1) continue;  // walks take long
          const Problem problem = c.problem(), other = heavy.problem();
          CHECK(problem.plain() && !other.plain());
          Control control;
          const Answer answer = Solver(problem, 2, control).run(), walked = Solver(other, 2, control).run();
          CHECK(2 * answer.cost == walked.cost);
          check_answer(c, 2, answer);
        }
      }
  }
  use_kernels("auto");
}

TEST(a_limit_leaves_a_tree_and_a_bound) {
  std::mt19937 random(7);
  for (unsigned k = 0; k < 60; ++k) {
    const Case c = random_case(random, 24, k);
    const int depth = 2 + static_cast<int>(k % 2);
    const Problem problem = c.problem();
    const Value expected = ordered_twin::least(c, depth);
    Control control;
    control.time_limit = -1;
    const Answer answer = Solver(problem, depth, control).run();
    CHECK(answer.lower <= expected && expected <= answer.cost);
    CHECK(answer.stopped == "time" || answer.proved);
    check_answer(c, depth, answer);
  }
}

TEST(a_stop_leaves_a_tree_and_a_bound) {
  std::mt19937 random(9);
  for (unsigned k = 0; k < 60; ++k) {
    const Case c = random_case(random, 24, k);
    const int depth = 1 + static_cast<int>(k % 3);
    const Problem problem = c.problem();
    const Value expected = ordered_twin::least(c, depth);
    Control control;
    control.stop();
    const Answer answer = Solver(problem, depth, control).run();
    CHECK(answer.lower <= expected && expected <= answer.cost);
    CHECK(answer.stopped == "stopped");
    check_answer(c, depth, answer);
  }
}

TEST(problems_that_make_no_sense_are_refused) {
  const auto refused = [](const Case& c) {
    try {
      c.problem();
    } catch (const InvalidInput&) {
      return true;
    }
    return false;
  };
  Case good{2, 1, 2, {0, 1}, {0, 1}, {1, 1}, {0, 1, 1, 0}, 0, 1};
  CHECK(!refused(good));
  for (int what = 0; what < 7; ++what) {
    Case c = good;
    if (what == 0) c.ranks = {0};
    if (what == 1) c.ranks = {0, 7000000};
    if (what == 2) c.classes = {0, 2};
    if (what == 3) c.weights = {1, 0};
    if (what == 4) c.costs = {1, 1, 1, 0};
    if (what == 5) c.min_leaf = 3;
    if (what == 6) c.price = -1;
    CHECK(refused(c));
  }
}

// Counts are kept at some rows only, and counted from there on.
TEST(the_cuts_of_a_column_know_their_counts) {
  std::mt19937 rng(3);
  for (const std::size_t n_classes : {std::size_t{2}, std::size_t{90}}) {
    const std::size_t n = 400;
    std::vector<std::uint32_t> ranks(n);
    std::vector<std::uint16_t> classes(n);
    std::vector<std::int32_t> weights(n);
    std::vector<Value> costs(n_classes * n_classes, 1);
    std::vector<std::uint8_t> ghosts(n);
    Cover cover;
    cover.counts.assign(n_classes, 0);
    for (std::size_t r = 0; r < n; ++r) {
      ranks[r] = static_cast<std::uint32_t>(rng() % 300);
      classes[r] = static_cast<std::uint16_t>(rng() % n_classes);
      weights[r] = static_cast<std::int32_t>(1 + rng() % 3);
      ghosts[r] = rng() % 4 == 0 ? 1 : 0;
      if (ghosts[r] == 0) cover.counts[classes[r]] += weights[r];
      cover.weight += weights[r];
    }
    for (std::size_t c = 0; c < n_classes; ++c) costs[c * n_classes + c] = 0;
    const Problem problem(n, 1, ranks, classes, weights, n_classes, costs, 0, 1);
    cover.n = n;
    cover.rows = problem.order.data();
    cover.ghosts = ghosts.data();
    CutList cuts;
    cuts.find(problem, cover, 0);
    CHECK(cuts.size() > 128);
    for (std::ptrdiff_t k = 0; k < cuts.size(); ++k) {
      std::vector<std::int64_t> expected(n_classes, 0), counts[2];
      Value reach = 0;
      std::int64_t weight = 0;
      for (std::size_t r = 0; r < n; ++r) {
        if (ranks[r] > cuts.rank(k)) continue;
        weight += weights[r];
        if (ghosts[r] != 0) continue;
        expected[classes[r]] += weights[r];
        reach += weights[r];
      }
      cuts.counts(k, cover, counts);
      CHECK(counts[1] == expected && cuts.reach(k) == reach && cuts.weight(k) == weight);
      for (std::size_t c = 0; c < n_classes; ++c) CHECK(counts[0][c] == cover.counts[c] - expected[c]);
    }
    CHECK(cuts.bytes() < 100 * n);  // counts at every row were 360 bytes of each
  }
}

// Greedy trees look at the clock, but of small tables: these are grown at once.
TEST(a_greedy_tree_of_a_large_table_is_grown_in_time) {
  std::mt19937 rng(4);
  for (const std::size_t n : {std::size_t{3000}, std::size_t{400000}}) {
    std::vector<std::uint32_t> ranks(n);
    std::vector<std::uint16_t> classes(n);
    for (std::size_t r = 0; r < n; ++r) {
      ranks[r] = static_cast<std::uint32_t>(r);
      classes[r] = static_cast<std::uint16_t>(r * 4 / n % 2 ^ (rng() % 8 == 0 ? 1 : 0));
    }
    const Problem problem(n, 1, ranks, classes, std::vector<std::int32_t>(n, 1), 2, {0, 1, 1, 0}, 0, 1);
    for (const double seconds : {-1.0, 60.0}) {
      Control control;
      control.time_limit = seconds;
      if (seconds > 0) control.memory_limit = 1;
      const Answer answer = Solver(problem, 3, control).run();
      CHECK(answer.stopped == (seconds > 0 ? "memory" : "time"));
      CHECK(answer.lower <= answer.cost);
      const bool grown = n == 3000 || seconds > 0;
      CHECK(grown == (answer.tree.size() > 1));
      CHECK(grown == (answer.cost < static_cast<Value>(n / 3)));
    }
  }
}

int main() { return check::run(); }
