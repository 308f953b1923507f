// The average as a sum of parities: numbers of sets, rules within their bound on every row, and rules that are refused.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "check.hpp"
#include "down/expansion.hpp"
#include "down/local_expansion.hpp"
#include "down/rule_sum.hpp"
#include "local_cases.hpp"
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

// The questions of the tests that states offer: cuts of a column by where they lie, then its other tests.
struct Asked {
  std::vector<std::uint32_t> of;
  std::vector<Question> questions;
  std::vector<OfferedTest> first;  // a test that asks each question

  Asked(const naive::Table& d, const std::vector<OfferedTest>& offered) {
    std::vector<std::tuple<std::uint32_t, bool, double>> keys;
    for (const OfferedTest& x : offered)
      for (std::uint32_t k = 0; k < d.columns.size(); ++k) {
        const Column& c = d.columns[k];
        if (x.test != c.missing && (x.test < c.begin || x.test >= c.end)) continue;
        const bool cut = x.test != c.missing && c.kind == Column::Kind::ordered;
        std::vector<double> cuts;
        for (std::uint32_t hi = x.test - c.begin + 1; cut && hi < c.n_codes(); ++hi)
          cuts.push_back(naive::cut(c, x.test - c.begin, hi));
        std::sort(cuts.begin(), cuts.end());
        cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
        keys.emplace_back(k, !cut, cut ? cuts[x.upper - (x.test - c.begin) - 1] : x.test);
      }
    auto order = keys;
    std::sort(order.begin(), order.end());
    order.erase(std::unique(order.begin(), order.end()), order.end());
    first.resize(order.size());
    for (const auto& [column, other, place] : order) questions.push_back({column, !other});
    for (std::size_t k = 0; k < keys.size(); ++k) {
      of.push_back(static_cast<std::uint32_t>(std::lower_bound(order.begin(), order.end(), keys[k]) - order.begin()));
      first[of[k]] = offered[k];
    }
  }
};

}  // namespace

TEST(rules_of_states_that_choose_their_tests_stay_within_their_bound) {
  std::mt19937 random(11);
  std::size_t n_rules = 0;
  local_cases::for_every_case(21, {2, 9}, {1, 3}, [&](const local_cases::Case& c) {
    Control control;
    const auto graph = std::make_shared<const Graph>(c.d.core(), c.options, control);
    const Posterior posterior(graph, c.weights.prior, c.leaf(), c.linear, 1, control);
    if (!graph->table().local()) return;
    const Asked asked(c.d, offered_tests(*graph, control));
    LocalExpansion expansion(posterior, asked.of, asked.questions, control);
    std::vector<std::uint16_t> reach;
    std::vector<std::uint8_t> outcomes;
    const std::size_t n_rows = 8, n_classes = graph->table().n_classes();
    for (std::size_t r = 0; r < n_rows; ++r) {
      const local_cases::NewRow row(c.d, random);
      reach.insert(reach.end(), row.reach.begin(), row.reach.end());
      for (const OfferedTest& x : asked.first) outcomes.push_back(row.reach[x.test] <= x.upper);
    }
    std::vector<double> exact(n_rows * n_classes), said(exact.size());
    posterior.predict({nullptr, reach.data(), n_rows, c.d.t}, exact.data(), control);
    for (const double epsilon : {0.0, 0.01, 0.1}) {
      const Rules rules = expansion.rules(epsilon, control);
      CHECK(rules.bound <= epsilon);
      CHECK(expansion.point(epsilon).n_rules + 1 == rules.begin.size());
      n_rules += rules.begin.size() - 1;
      const RuleSum sum(rules, asked.questions.size(), std::vector<double>(n_classes, 0.0));
      sum.predict(outcomes.data(), n_rows, said.data(), control);
      for (std::size_t k = 0; k < said.size(); ++k)
        CHECK(std::abs(said[k] - exact[k]) <= (n_classes < 4 ? 1 : 2) * rules.bound + 1e-12);
    }
  });
  CHECK(n_rules > 1000);
}

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

TEST(questions_of_a_column_that_are_out_of_order_are_refused) {
  std::mt19937 random(4);
  local_cases::for_every_case(22, {6, 9}, {2, 3}, [&](const local_cases::Case& c) {
    if (c.number % 97 != 5) return;
    Control control, tight;
    const auto graph = std::make_shared<const Graph>(c.d.core(), c.options, control);
    const Posterior posterior(graph, c.weights.prior, c.leaf(), c.linear, 1, control);
    Asked asked(c.d, offered_tests(*graph, control));
    if (asked.questions.size() < 2 || asked.questions.front().column == asked.questions.back().column) return;
    tight.memory_limit = 100;
    bool ended = false;
    try {
      LocalExpansion(posterior, asked.of, asked.questions, tight);
    } catch (const LimitReached&) {
      ended = true;
    }
    CHECK(ended);
    std::swap(asked.questions.front(), asked.questions.back());
    CHECK(refused([&] { LocalExpansion(posterior, asked.of, asked.questions, control); }));
    asked.of.pop_back();
    CHECK(refused([&] { LocalExpansion(posterior, asked.of, asked.questions, control); }));
  });
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
