// The average as a sum of parities: numbers of sets, rules within their bound on every row, and rules that are refused.
#include "check.hpp"
#include "down/expansion.hpp"
#include "down/rule_sum.hpp"
#include "naive.hpp"

using namespace everytree;

namespace {

template <class F>
bool refused(F&& f) {
  try {
    f();
  } catch (const InvalidInput&) {
    return true;
  }
  return false;
}

std::vector<std::uint8_t> every_row(std::size_t n_tests) {
  std::vector<std::uint8_t> rows;
  for (std::size_t r = 0; r < std::size_t{1} << n_tests; ++r)
    for (std::size_t t = 0; t < n_tests; ++t) rows.push_back(r >> t & 1);
  return rows;
}

}  // namespace

TEST(sets_are_numbered_without_gaps) {
  for (std::size_t n = 0; n <= 7; ++n)
    for (std::size_t most = 0; most <= 8; ++most) {
      const Subsets sets(n, most);
      std::vector<std::uint32_t> elements(sets.most() + 1);
      std::uint64_t number = 0;
      for (std::size_t k = 0; k <= sets.most(); ++k) {
        CHECK(sets.offset(k) == number);
        std::vector<std::uint32_t> walk(k + 1);
        for (std::uint32_t i = 0; i < k; ++i) walk[i] = i;
        for (; number < sets.offset(k + 1); ++number, Subsets::next(walk.data(), k)) {
          CHECK(sets.elements(number, elements.data()) == k);
          CHECK(std::equal(walk.begin(), walk.begin() + static_cast<std::ptrdiff_t>(k), elements.begin()));
          CHECK(sets.number(elements.data(), k) == number);
        }
      }
      CHECK(sets.size() == number);
      if (most >= n) CHECK(number == std::uint64_t{1} << n);
    }
  CHECK(Subsets(2000, 40).size() == Subsets::kTooMany);
}

TEST(no_row_is_further_off_than_the_bound) {
  std::mt19937 random(7);
  unsigned k = 0;
  for (std::size_t classes = 1; classes <= 4; ++classes)
    for (int depth : {-1, 0, 1, 2, 3, 4})
      for (unsigned prior = 0; prior < naive::kPriors; ++prior, ++k) {
        const naive::Table d = naive::random_table(random, {1, 12}, {0, 6}, classes, {1, 4});
        Control control;
        GraphOptions options;
        options.max_depth = depth;
        options.merge = k % 5 != 0;
        options.frontier = k % 4 != 0;
        const auto graph = std::make_shared<const Graph>(d.core(), options, control);
        const std::vector<std::vector<double>> a(1, std::vector<double>(classes, 0.7));
        const auto leaf = std::make_shared<const Dirichlet>(a, d.class_counts(d.all()));
        const Posterior posterior(graph, naive::some_prior(prior, d.t), leaf, k % 3 != 0, 1, control);
        const Expansion expansion(posterior, control);
        const std::vector<std::uint8_t> rows = every_row(d.t);
        const std::size_t n = std::size_t{1} << d.t;
        std::vector<double> exact(n * classes), got(n * classes);
        posterior.predict(rows.data(), n, exact.data(), control);
        for (double epsilon : {0.0, 0.001, 0.03, 0.3}) {
          const Rules rules = expansion.rules(epsilon, control);
          CHECK(rules.bound <= epsilon);
          CHECK(rules.begin.size() == expansion.point(epsilon).n_rules + 1);
          CHECK(rules.bound == expansion.point(epsilon).bound);
          const RuleSum sum(rules, d.t, std::vector<double>(classes, 0.0));
          sum.predict(rows.data(), n, got.data(), control);
          double off = 0;
          for (std::size_t x = 0; x < got.size(); ++x) off = std::max(off, std::abs(got[x] - exact[x]));
          CHECK(off <= (classes > 3 ? 2 : 1) * rules.bound + 1e-12);
        }
      }
}

TEST(rules_that_make_no_sense_are_refused) {
  Rules good;
  good.base = {0.5, 0.5};
  good.items = {1, 3, 3};
  good.begin = {0, 2, 3};
  good.moves = {0.1, -0.1, 0.2, -0.2};
  const std::vector<double> floor{0.0, 0.0};
  const RuleSum sum(good, 2, floor);
  const std::vector<std::uint8_t> rows{0, 0, 1, 0, 0, 1, 1, 1};
  double p[8];
  Control control;
  sum.predict(rows.data(), 4, p, control);
  CHECK(check::near(p[0], 0.5));
  CHECK(check::near(p[2], 0.5));
  CHECK(check::near(p[4], 0.7));
  CHECK(check::near(p[6], 0.8));
  const auto bad = [&](auto&& change) {
    Rules rules = good;
    change(rules);
    CHECK(refused([&] { RuleSum(rules, 2, floor); }));
  };
  bad([](Rules& r) { r.items[0] = 4; });
  bad([](Rules& r) { r.items[1] = 0; });
  bad([](Rules& r) { r.begin = {0, 0, 3}; });
  bad([](Rules& r) { r.begin = {0, 2, 2}; });
  bad([](Rules& r) { r.moves.pop_back(); });
  bad([](Rules& r) { r.moves[0] = std::nan(""); });
  bad([](Rules& r) { r.base.clear(); });
  bad([](Rules& r) {
    r.items = {1, 1};
    r.begin = {0, 1, 2};
  });
  CHECK(refused([&] { RuleSum(good, 2, {0.6, 0.6}); }));
  CHECK(refused([&] { RuleSum(good, 2, {0.6}); }));
}

TEST(limits_are_obeyed) {
  std::mt19937 random(3);
  const naive::Table d = naive::random_table(random, {12, 12}, {6, 6}, 2, {1, 4});
  Control control, tight, stopped;
  const auto graph = std::make_shared<const Graph>(d.core(), GraphOptions{}, control);
  const auto leaf =
      std::make_shared<const Dirichlet>(std::vector<std::vector<double>>(1, {1.0, 1.0}), d.class_counts(d.all()));
  const Posterior posterior(graph, naive::some_prior(0, d.t), leaf, true, 1, control);
  tight.memory_limit = 100;
  stopped.stop();
  for (Control* limit : {&tight, &stopped}) {
    bool ended = false;
    try {
      Expansion(posterior, *limit);
    } catch (const LimitReached&) {
      ended = true;
    }
    CHECK(ended);
  }
}

int main() { return check::run(); }
