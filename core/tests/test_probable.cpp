// The search for the most probable tree against the fold: every bound on and off, and what is known when it is stopped.
#include <array>
#include <limits>

#include "check.hpp"
#include "down/posterior.hpp"
#include "fold/joint.hpp"
#include "naive.hpp"
#include "search/probable.hpp"
#include "sets/likeliest.hpp"

using namespace everytree;

namespace {

bool close(double x, double y) { return std::abs(x - y) <= 1e-9 * std::max({1.0, std::abs(x), std::abs(y)}); }

struct Case {
  naive::Table d;
  ProbableOptions options;
  Prior prior;
  std::shared_ptr<const Dirichlet> leaf;
};

template <class F>
void for_every_setting(unsigned seed, F&& f) {
  std::mt19937 random(seed);
  unsigned k = 0;
  for (std::size_t classes = 1; classes <= 4; ++classes)
    for (std::int64_t min_leaf = 1; min_leaf <= 3; ++min_leaf)
      for (int depth : {-1, 0, 1, 2, 3, 5})
        for (unsigned prior = 0; prior < naive::kPriors; ++prior, ++k) {
          const bool large = k % 4 == 0;
          Case c{naive::random_table(random, large ? naive::Range{20, 60} : naive::Range{1, 12}, {0, large ? 9u : 6u},
                                     classes, {1, 3}),
                 {},
                 naive::some_prior(prior, 0),
                 {}};
          if (c.d.total(c.d.all()) < min_leaf) continue;
          c.prior = naive::some_prior(prior, c.d.t);
          std::vector<std::vector<double>> a(k % 7 == 0 ? 2 : 1, std::vector<double>(classes, 1.0));
          if (k % 2)
            for (std::size_t row = 0; row < a.size(); ++row)
              for (std::size_t x = 0; x < classes; ++x)
                a[row][x] = 0.4 + 0.7 * static_cast<double>(x) + (k % 3 ? 0.2 : -0.2) * static_cast<double>(row);
          c.leaf = std::make_shared<const Dirichlet>(a, c.d.class_counts(c.d.all()));
          c.options.max_depth = depth;
          c.options.min_leaf = min_leaf;
          c.options.by_depth = depth >= 0 || a.size() > 1 || naive::depends_on_depth(c.prior) || k % 2;
          c.options.merge = k % 5 != 0;
          c.options.look_ahead = k % 6 != 0;
          c.options.spread = k % 8 < 6;
          c.options.outvoted = k % 9 < 7;
          c.options.tables = k % 10 < 7;
          f(c);
        }
}

MostProbable by_fold(const Case& c) {
  Control control;
  GraphOptions o;
  o.max_depth = c.options.max_depth;
  o.min_leaf = c.options.min_leaf;
  o.by_depth = c.options.by_depth;
  const auto graph = std::make_shared<const Graph>(c.d.core(), o, control);
  const Posterior posterior(graph, c.prior, c.leaf, true, 1, control);
  MostProbable out;
  out.key = map_tree(posterior, control);
  out.log_joint = posterior.log_joint(out.key);
  return out;
}

}  // namespace

TEST(the_search_finds_the_tree_of_the_fold) {
  for (unsigned seed : {1u, 2u, 3u})
    for_every_setting(seed, [](const Case& c) {
      const MostProbable expected = by_fold(c);
      Control control;
      ProbableSearch search(c.d.core(), c.prior, c.leaf, c.options);
      const MostProbable found = search.run(control);
      CHECK(found.proved);
      CHECK(found.stopped.empty());
      CHECK(close(found.log_joint, expected.log_joint));
      CHECK(found.key == expected.key);
      CHECK(found.upper == found.log_joint);
      CHECK(search.run(control).key == found.key);  // nothing is left to do
    });
}

TEST(a_stopped_search_knows_a_tree_and_a_bound_and_goes_on) {
  for_every_setting(4, [](const Case& c) {
    const MostProbable expected = by_fold(c);
    ProbableSearch search(c.d.core(), c.prior, c.leaf, c.options);
    for (int tries = 0; tries < 6; ++tries) {
      Control control;
      control.time_limit = 1e-9;
      const MostProbable found = search.run(control);
      CHECK(close(log_joint(*c.d.core(), c.options.max_depth, c.options.min_leaf, c.prior, *c.leaf, found.key),
                  found.log_joint));
      CHECK(found.log_joint <= expected.log_joint + 1e-9);
      CHECK(found.upper >= expected.log_joint - 1e-9);
    }
    Control control;
    control.memory_limit = 1;
    CHECK(search.run(control).stopped != "time");
    Control free;
    CHECK(search.run(free).key == expected.key);
  });
}

// Few tests and many equal rows with both classes, and classes that are not alike before the data.
TEST(outvoted_examples_bound_any_prior_of_leaves) {
  std::mt19937 random(8);
  for (unsigned k = 0; k < 600; ++k) {
    Case c{naive::random_table(random, {4, 14}, {2, 4}, 2, {1, 4}), {}, {}, {}};
    c.options.max_depth = 2 + static_cast<int>(k % 3);
    c.options.min_leaf = 1 + k / 3 % 4;
    if (c.d.total(c.d.all()) < c.options.min_leaf) continue;
    c.prior = naive::some_prior(k / 12, c.d.t);
    constexpr std::array<double, 4> small{0.05, 0.2, 0.4, 1.0};
    const double a = small[k % 4], b = small[k / 4 % 4] * 3;
    c.leaf = std::make_shared<const Dirichlet>(std::vector<std::vector<double>>{{a, b}}, c.d.class_counts(c.d.all()));
    const MostProbable expected = by_fold(c);
    Control control;
    const MostProbable found = ProbableSearch(c.d.core(), c.prior, c.leaf, c.options).run(control);
    CHECK(found.proved);
    CHECK(close(found.log_joint, expected.log_joint));
    CHECK(found.key == expected.key);
  }
}

TEST(tests_that_must_vary_do_vary) {
  std::mt19937 random(5);
  for (int k = 0; k < 60; ++k) {
    const std::size_t classes = 1 + static_cast<std::size_t>(k) % 3;
    const naive::Table d = naive::random_table(random, {2, 14}, {1, 8}, classes, {1, 2});
    Control control;
    const Spread spread(*d.core(), control);
    for (unsigned subset = 1; subset < (1u << std::min<std::size_t>(d.n, 10)); subset += 1 + subset % 3) {
      naive::Rows rows;
      for (std::uint32_t r = 0; r < d.n; ++r)
        if (subset >> r & 1) rows.push_back(r);
      std::int32_t vary = 0;
      for (std::size_t t = 0; t < d.t; ++t)
        vary += std::any_of(rows.begin(), rows.end(), [&](auto r) { return d.holds(r, t) != d.holds(rows[0], t); });
      CHECK(spread.least(d.class_counts(rows).data(), classes) <= vary);
      for (std::size_t c = 0; c < classes; ++c) {
        naive::Counts counts = d.class_counts(rows);
        if (std::count(counts.begin(), counts.end(), 0) + 1 == static_cast<std::ptrdiff_t>(classes) && counts[c] > 0)
          CHECK(spread.least(c, counts[c]) <= vary);
      }
      if (d.total(rows) > spread.most_alike()) CHECK(vary > 0);
    }
  }
}

TEST(a_prior_with_factors_above_one_is_refused) {
  const naive::Table d = [] {
    naive::Table t(2, 1, 2);
    t.rows = {0, 1};
    t.counts = {1, 0, 0, 1};
    return t;
  }();
  Prior prior;
  prior.log_leaf_open = {0.1};
  const auto leaf = std::make_shared<const Dirichlet>(std::vector<std::vector<double>>{{1.0, 1.0}}, std::vector{1, 1});
  bool thrown = false;
  try {
    ProbableSearch(d.core(), prior, leaf, {});
  } catch (const InvalidInput&) {
    thrown = true;
  }
  CHECK(thrown);
}

int main() { return check::run(); }
