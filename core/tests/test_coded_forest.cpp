// Deep trees on codes: what must hold of any forest. tests/bayes/test_deep_trees.py compares them with the checker's
// own trees, with all prunings listed and with refitting.
#include <cmath>
#include <random>

#include "check.hpp"
#include "common/errors.hpp"
#include "grow/coded_forest.hpp"

using namespace everytree;

namespace {

struct Example {
  Columns columns;
  std::vector<std::uint16_t> codes;
  std::vector<std::int64_t> counts;
  std::size_t n, classes, entries = 0;
  std::int64_t per_example;

  // Columns of 9 and 2 ordered codes, and of 3 values; the first and the last may be missing.
  Example(unsigned seed, std::size_t rows, std::size_t n_classes, std::int64_t parts)
      : columns({{Column::Kind::ordered, 0, 8, 8, 0},
                 {Column::Kind::ordered, 9, 10, Column::kNone, 0},
                 {Column::Kind::nominal, 10, 13, 13, 0}},
                14),
        n(rows),
        classes(n_classes),
        per_example(parts) {
    std::mt19937 random(seed);
    for (std::uint32_t most : {10u, 2u, 4u})
      for (std::size_t r = 0; r < n; ++r) codes.push_back(static_cast<std::uint16_t>(random() % most));
    for (std::size_t k = 0; k < n * classes; ++k) {
      counts.push_back(random() % 3 == 0 ? 1 + random() % 4 : 0);
      entries += counts.back() > 0;
    }
  }
  coded::CodedExamples view() const { return {&columns, codes, counts, n, classes, per_example}; }
};

coded::ForestSettings settings(const Example& e, bool random_cuts, double power) {
  coded::ForestSettings s;
  s.columns_at_node = 2;
  s.random_cuts = random_cuts;
  s.power = power;
  s.a.assign(e.classes, 0.2);
  s.seed = 7;
  return s;
}

bool same(const Forest& a, const Forest& b) {
  if (a.nodes.size() != b.nodes.size() || a.theta != b.theta) return false;
  for (std::size_t k = 0; k < a.nodes.size(); ++k)
    if (a.nodes[k].test != b.nodes[k].test || a.nodes[k].next[0] != b.nodes[k].next[0]) return false;
  return true;
}

}  // namespace

TEST(probabilities_sum_to_one_and_threads_change_nothing) {
  for (unsigned seed = 0; seed < 12; ++seed)
    for (std::size_t classes : {1, 2, 4})
      for (bool random_cuts : {false, true}) {
        const Example e(seed, 5 + 12 * seed, classes, 1 + seed % 3);
        const auto s = settings(e, random_cuts, seed % 2 == 0 ? 1.0 : 0.5);
        Control control;
        std::vector<double> one(e.entries * classes, 0.0), two = one, parts = one;
        const Forest forest = coded::grow_rounds(e.view(), s, 0, 3, one.data(), 1, control);
        CHECK(forest.trees.size() == 3 * s.n_parts);
        ForestView{forest.nodes, forest.trees, forest.theta.data(), classes}.check(14);
        for (std::size_t at = 0; at < forest.nodes.size(); ++at) {
          double sum = 0;
          for (std::size_t c = 0; c < classes; ++c) sum += forest.theta[at * classes + c];
          CHECK(std::abs(sum - (forest.nodes[at].next[0] == at ? 1.0 : 0.0)) < 1e-12);
        }
        for (std::size_t k = 0; k < e.entries; ++k) {
          double sum = 0;
          for (std::size_t c = 0; c < classes; ++c) sum += one[k * classes + c];
          CHECK(std::abs(sum - 3) < 1e-12);
        }
        CHECK(same(forest, coded::grow_rounds(e.view(), s, 0, 3, two.data(), 3, control)));
        CHECK(one == two);
        // Rounds do not depend on those before them.
        coded::grow_rounds(e.view(), s, 0, 1, parts.data(), 1, control);
        coded::grow_rounds(e.view(), s, 1, 2, parts.data(), 1, control);
        CHECK(parts == one);
      }
}

TEST(what_does_not_fit_together_is_refused) {
  const auto refused = [](auto&& change) {
    Example e(3, 20, 2, 1);
    auto s = settings(e, false, 1.0);
    change(e, s);
    std::vector<double> left(e.n * e.classes * e.classes, 0.0);
    Control control;
    try {
      coded::grow_rounds(e.view(), s, 0, 1, left.data(), 1, control);
    } catch (const InvalidInput&) {
      return true;
    }
    return false;
  };
  CHECK(!refused([](Example&, auto&) {}));
  CHECK(refused([](Example& e, auto&) { e.codes.pop_back(); }));
  CHECK(refused([](Example& e, auto&) { e.codes[0] = 12; }));
  CHECK(refused([](Example& e, auto&) { e.codes[e.n] = 2; }));  // missing, in a column without missing values
  CHECK(refused([](Example& e, auto&) { e.counts[0] = -1; }));
  CHECK(refused([](Example& e, auto&) { e.counts[0] = coded::kMostCounts + 1; }));
  CHECK(refused([](Example&, auto& s) { s.a[0] = 0; }));
  CHECK(refused([](Example&, auto& s) { s.a.push_back(1); }));
  CHECK(refused([](Example&, auto& s) { s.n_parts = 1; }));
  CHECK(refused([](Example&, auto& s) { s.columns_at_node = 0; }));
  CHECK(refused([](Example&, auto& s) { s.power = 1.5; }));
}

TEST(what_does_not_fit_the_memory_ends) {
  const Example e(5, 400, 3, 1);
  auto asked = settings(e, false, 1.0);
  const auto fits = [&](std::size_t limit, std::size_t n_rounds, std::size_t n_threads) {
    std::vector<double> left(e.entries * e.classes, 0.0);
    Control control;
    control.memory_limit = limit;
    try {
      coded::grow_rounds(e.view(), asked, 0, n_rounds, left.data(), n_threads, control);
    } catch (const LimitReached& limit_reached) {
      CHECK(limit_reached.reason == LimitReached::Reason::memory);
      return false;
    }
    return true;
  };
  const auto least = [&](std::size_t n_rounds, std::size_t n_threads) {
    std::size_t low = 0, high = std::size_t{1} << 30;
    while (low + 1000 < high) (fits((low + high) / 2, n_rounds, n_threads) ? high : low) = (low + high) / 2;
    return high;
  };
  std::vector<double> left(e.entries * e.classes, 0.0);
  Control control;
  const auto bytes = [&](std::size_t n_rounds) {
    const Forest forest = coded::grow_rounds(e.view(), asked, 0, n_rounds, left.data(), 1, control);
    return forest.nodes.size() * sizeof(ForestNode) + forest.theta.size() * sizeof(double);
  };
  // The trees, a round beside them, and the arrays before they grew; further threads only add to it.
  const std::size_t one = bytes(1), ten = bytes(10), needed = least(10, 1), alone = least(1, 1);
  CHECK(alone > 2 * one);
  CHECK(needed > ten + (ten - one) && needed < 2 * ten + one + 500'000);
  CHECK(!fits(needed - ten / 2, 10, 3));
  // More trees of one round: each is held as it was grown and as it is kept, beside the same buffers.
  asked.n_parts = 20;
  const std::size_t more = bytes(1) - one;
  CHECK(more > one && least(1, 1) - alone > more + more / 2);
}

TEST(a_stopped_question_ends) {
  const Example e(5, 400, 3, 1);
  std::vector<double> left(e.entries * e.classes, 0.0);
  Control control;
  control.stop();
  bool ended = false;
  try {
    coded::grow_rounds(e.view(), settings(e, false, 1.0), 0, 1, left.data(), 2, control);
  } catch (const LimitReached&) {
    ended = true;
  }
  CHECK(ended);
}

int main() { return check::run(); }
