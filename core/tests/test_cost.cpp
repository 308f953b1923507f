// Costs of leaves under rules, and the frontier that folds them: every kernel against the plain loop.
#include <cmath>
#include <limits>

#include "check.hpp"
#include "frontier/cost_fold.hpp"
#include "frontier/one_level.hpp"
#include "naive.hpp"
#include "weights/cost_table.hpp"

using namespace everytree;

namespace {

// χ² from its definition, in long doubles.
naive::Real chi2(const std::vector<std::int32_t>& leaf, const std::vector<std::int64_t>& totals) {
  using Real = naive::Real;
  Real n = 0, all = 0, sum = 0;
  for (std::size_t c = 0; c < leaf.size(); ++c) {
    n += leaf[c];
    all += totals[c];
  }
  for (int side : {0, 1})
    for (std::size_t c = 0; c < leaf.size(); ++c) {
      const Real on_side = side ? n : all - n, expected = on_side * totals[c] / all;
      const Real observed = side ? leaf[c] : totals[c] - leaf[c];
      if (expected > 0) sum += (observed - expected) * (observed - expected) / expected;
    }
  return sum;
}

}  // namespace

TEST(kernels_give_what_the_plain_loop_gives) {
  std::mt19937 random(1);
  unsigned k = 0;
  for (const Kernels* kernel : available_kernels()) {
    use_kernels(kernel->name);
    for (std::size_t classes = 1; classes <= 5; ++classes)
      for (std::int64_t min_leaf : {1, 2, 7})
        for (int round = 0; round < 40; ++round, ++k) {
          // One in eight tables has counts that 16 bits do not hold, and that no table of costs covers.
          const std::size_t most = round % 8 == 0 ? 4000 : 3;
          const naive::Table d = naive::random_table(random, {1, 60}, {0, 40}, classes, {1, most});
          const auto core = d.core();
          Frontier f(*core, min_leaf);
          Cover cover = core->all();
          for (auto& w : cover) w &= round % 3 == 0 ? ~0ULL : (static_cast<std::uint64_t>(random()) << 32) | random();
          if (core->count(cover.data()) == 0) cover = core->all();  // no state is empty
          f.load(cover.data());
          const LeafCost cost =
              naive::some_cost(random(), classes, naive::some_rule(random(), d.class_counts(d.all())));
          const int levels = 1 + round % 4 % 2;
          Ticker ticker;
          CostFold fast, plain;
          plain.use_kernels(false);
          OneLevel x, y;
          fast.fold(f, levels, cost, ticker, x);
          plain.fold(f, levels, cost, ticker, y);
          CHECK(x.n == y.n);
          CHECK(x.state_leaf == y.state_leaf);
          for (int a = 0; a < 2; ++a)
            for (std::size_t i = 0; i < x.n; ++i) {
              CHECK(x.leaf[a][i] == y.leaf[a][i]);
              CHECK(x.split[a][i] == y.split[a][i] || check::near(x.split[a][i], y.split[a][i], 1e-15));
              CHECK(no_cost(x.split[a][i]) == (x.split[a][i] == kNoCost));
            }
          // The same object again, for a cover and a cost that it has not seen: its table must follow.
          const LeafCost other =
              naive::some_cost(random(), classes, naive::some_rule(random(), d.class_counts(d.all())));
          f.load(core->all().data());
          fast.fold(f, 2, other, ticker, x);
          plain.fold(f, 2, other, ticker, y);
          for (int a = 0; a < 2; ++a)
            for (std::size_t i = 0; i < x.n; ++i) {
              CHECK(x.leaf[a][i] == y.leaf[a][i]);
              CHECK(x.split[a][i] == y.split[a][i] || check::near(x.split[a][i], y.split[a][i], 1e-15));
            }
        }
  }
  use_kernels("");
}

TEST(a_table_of_costs_grows_and_gives_up) {
  const LeafCost gini(CostKind::gini, 2, {}, 0.25, 0.0, LeafRule(0, 2, 0, {}));
  CostTable table;
  for (const auto& [n0, n1] :
       {std::pair{3, 5}, std::pair{9, 0}, std::pair{0, 0}, std::pair{100, 70}, std::pair{2, 300}}) {
    const double* entry = table.cover(gini, 3, n0, n1);
    CHECK(entry != nullptr);
    for (std::int32_t x = 0; x <= n0; ++x)
      for (std::int32_t y = 0; y <= n1; ++y) {
        const std::int32_t counts[2] = {x, y};
        const double got = entry[(static_cast<std::size_t>(x) << table.shift()) + static_cast<std::size_t>(y)];
        if (x + y < 3 || std::abs(x - y) < 2)
          CHECK(std::isinf(got));
        else
          CHECK(got == gini(counts));
      }
  }
  CHECK(table.cover(gini, 3, 2000, 2000) == nullptr);
  CHECK(table.cover(gini, 3, 100, 100) != nullptr);
  CHECK(std::isinf(table.cover(LeafCost(CostKind::gini, 2), 5, 1, 1)[0]));
}

TEST(rules_follow_their_definitions) {
  std::mt19937 random(3);
  for (int round = 0; round < 20000; ++round) {
    const std::size_t classes = 1 + random() % 4;
    std::vector<std::int64_t> totals(classes);
    std::vector<std::int32_t> leaf(classes);
    std::int64_t n = 0, all = 0;
    const int most = round % 5 == 0 ? 3000000 : 30;
    for (std::size_t c = 0; c < classes; ++c) {
      totals[c] = random() % 6 == 0 ? 0 : 1 + static_cast<std::int64_t>(random() % most);
      leaf[c] = static_cast<std::int32_t>(random() % (totals[c] + 1));
      n += leaf[c];
      all += totals[c];
    }
    std::vector<std::int32_t> sorted = leaf;
    std::sort(sorted.rbegin(), sorted.rend());
    const std::int64_t margin = sorted[0] - (classes > 1 ? sorted[1] : 0);
    CHECK(LeafRule(n, 0, 0, {}).allows(leaf.data(), classes));
    CHECK(!LeafRule(n + 1, 0, 0, {}).allows(leaf.data(), classes));
    CHECK(LeafRule(0, margin, 0, {}).allows(leaf.data(), classes));
    CHECK(!LeafRule(0, margin + 1, 0, {}).allows(leaf.data(), classes));
    if (all == 0) continue;
    const naive::Real x = chi2(leaf, totals);
    if (x > 0) {
      CHECK(LeafRule(0, 0, static_cast<double>(x * (1 - 1e-9L)), totals).allows(leaf.data(), classes));
      CHECK(!LeafRule(0, 0, static_cast<double>(x * (1 + 1e-9L)), totals).allows(leaf.data(), classes));
    }
    CHECK(!LeafRule(0, 0, static_cast<double>(x) + 0.5, totals).allows(leaf.data(), classes));
    CHECK(!LeafRule(0, 0, std::numeric_limits<double>::infinity(), totals).allows(leaf.data(), classes));
    // The bound on the support never excludes a leaf that is allowed.
    const double threshold = 0.1 + random() % 400 / 50.0;
    const LeafRule rule(random() % 4, random() % 4, threshold, totals);
    if (rule.allows(leaf.data(), classes)) CHECK(n >= rule.least_support());
  }
}

TEST(a_pure_leaf_has_no_impurity_whatever_its_size) {
  std::mt19937 random(5);
  for (const CostKind kind : {CostKind::gini, CostKind::entropy})
    for (int round = 0; round < 2000; ++round) {
      const auto n = static_cast<std::int32_t>(1 + random() % 500'000'000);
      CHECK(LeafCost(kind, 1)(&n) == 0);
      const std::int32_t pure[] = {0, n, 0}, nearly[] = {1, n, 0};
      CHECK(LeafCost(kind, 3)(pure) == 0);
      if (kind != CostKind::gini) continue;
      const naive::Real wanted = naive::Real{2} * n / (naive::Real{1} + n);  // where differences keep no digit
      CHECK(std::abs(LeafCost(kind, 3)(nearly) - wanted) < 1e-14L);
    }
}

TEST(chi2_at_the_threshold_is_decided_in_whole_numbers) {
  // Leaf (1, 0) of (1, 2): χ² = 3 exactly. Leaf (2, 1) of (3, 4): d = 7·2 − 3·3 = 5, χ² = 25/12·(1/3 + 1/4) = 175/144.
  const std::int32_t pure[2] = {1, 0}, mixed[2] = {2, 1};
  CHECK(LeafRule(0, 0, 3.0, {1, 2}).allows(pure, 2));
  CHECK(!LeafRule(0, 0, std::nextafter(3.0, 4.0), {1, 2}).allows(pure, 2));
  const double t = 175.0 / 144.0;
  CHECK(LeafRule(0, 0, t, {3, 4}).allows(mixed, 2));
  CHECK(!LeafRule(0, 0, std::nextafter(t, 9.0), {3, 4}).allows(mixed, 2));
  CHECK(LeafRule(0, 0, std::nextafter(t, 0.0), {3, 4}).allows(mixed, 2));
  // Every small leaf: the nearest double of its χ² is allowed, the next one above is not.
  for (std::int32_t t0 = 1; t0 < 9; ++t0)
    for (std::int32_t t1 = 1; t1 < 9; ++t1)
      for (std::int32_t a = 0; a <= t0; ++a)
        for (std::int32_t b = 0; b <= t1; ++b) {
          const std::int32_t leaf[2] = {a, b};
          const std::int64_t n = a + b, all = t0 + t1, d = all * a - n * t0;
          if (d == 0 || n == all) continue;
          // One quotient of whole numbers below 2^53 is rounded correctly.
          const double x = static_cast<double>(d * d * all) / static_cast<double>(n * (all - n) * t0 * t1);
          CHECK(LeafRule(0, 0, x, {t0, t1}).allows(leaf, 2));
          CHECK(!LeafRule(0, 0, std::nextafter(x, 1e9), {t0, t1}).allows(leaf, 2));
        }
}

int main() { return check::run(); }
