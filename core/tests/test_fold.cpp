// Folds of every algebra against the naive recursion, over classes × min_leaf × depth × prior × kernels × switches.
#include <array>
#include <limits>

#include "algebra/by_depth.hpp"
#include "algebra/lexicographic.hpp"
#include "check.hpp"
#include "common/infinity.hpp"
#include "down/posterior.hpp"
#include "fold/weigh.hpp"
#include "naive.hpp"
#include "sets/query.hpp"

using namespace everytree;

namespace {

bool close(double log_value, naive::Real expected, naive::Real log_scale = 0) {
  const auto e = static_cast<double>(std::log(expected) - log_scale);
  return log_value == e || std::abs(log_value - e) < 1e-11 * std::max(1.0, std::abs(e));
}
bool equal(const Natural& got, naive::Big expected) {
  Natural e(static_cast<std::uint64_t>(expected >> 64));
  e = e * (Natural(std::uint64_t{1} << 63) * Natural(2));
  e += Natural(static_cast<std::uint64_t>(expected));
  return got == e;
}

struct Setting {
  GraphOptions graph;
  bool linear = true;
  naive::Weights weights;
};

// The switches of round k; every combination comes up.
Setting setting(unsigned k, const naive::Table& d, int depth, std::int64_t min_leaf, unsigned prior) {
  Setting s;
  s.graph.max_depth = depth;
  s.graph.min_leaf = min_leaf;
  s.graph.merge = k % 5 != 0;
  s.graph.frontier = k % 3 != 0;
  s.linear = k % 2 == 0;
  s.graph.n_threads = 1 + k % 11 / 9;
  s.weights.prior = naive::some_prior(prior, d.t);
  // Equal, different and depth-dependent parameters.
  s.weights.a.assign(k % 7 == 0 ? 3 : 1, std::vector<double>(d.c, 1.0));
  for (std::size_t v = 0; v < s.weights.a.size(); ++v)
    for (std::size_t c = 0; c < d.c; ++c)
      s.weights.a[v][c] = (k % 4 == 0 ? 1.0 : 0.3 + 0.4 * static_cast<double>(c)) / static_cast<double>(v + 1);
  s.graph.by_depth = depth >= 0 || naive::depends_on_depth(s.weights.prior) || s.weights.a.size() > 1 || k % 2 == 0;
  return s;
}

void check_folds(const naive::Table& d, const Setting& s, const LeafCost& cost) {
  Control control;
  const std::size_t threads = s.graph.n_threads;
  const auto g = std::make_shared<const Graph>(d.core(), s.graph, control);
  const naive::Answers expected = naive::answers({&d, s.graph.max_depth, s.graph.min_leaf}, s.weights, cost);
  const auto leaf = std::make_shared<const Dirichlet>(s.weights.a, d.class_counts(d.all()));
  const naive::Real scale = s.weights.log_scale * static_cast<naive::Real>(d.total(d.all()));
  const ProductWeights weights(*g, s.weights.prior, leaf, s.linear);

  CHECK(equal(count_trees(*g, control), expected.count));
  CHECK(check::near(least_cost(*g, cost, control), expected.least));
  const auto lexicographic = fold_up<Lexicographic>(*g, WeighCost<Lexicographic>(*g, cost), control, threads)[0];
  CHECK(check::near(lexicographic.cost, expected.least));

  const auto by_leaves = fold_up<ByLeaves<MinPlus>>(*g, WeighCost<ByLeaves<MinPlus>>(*g, cost), control, threads)[0];
  for (std::size_t k = 0; k < std::max(by_leaves.size(), expected.least_by_leaves.size()); ++k)
    CHECK(check::near(k < by_leaves.size() ? by_leaves[k] : kInf,
                      k < expected.least_by_leaves.size() ? expected.least_by_leaves[k] : kInf));
  const auto by_depth = fold_up<ByDepth<MinPlus>>(*g, WeighCost<ByDepth<MinPlus>>(*g, cost), control, threads)[0];
  CHECK(check::near(by_depth.back(), expected.least));

  CHECK(close(fold_up<SumProduct>(*g, WeighProduct<SumProduct>(*g, weights), control, threads)[0].log(), expected.u,
              scale));
  const auto best = fold_up<MaxProduct>(*g, WeighProduct<MaxProduct>(*g, weights), control, threads)[0];
  CHECK(close(best.weight.log(), expected.best, scale));

  const Posterior p(g, s.weights.prior, leaf, s.linear, threads, control);
  CHECK(close(p.log_evidence(), expected.u, scale));
  CHECK(close(p.log_map(control), expected.best, scale));
  const auto check_parts = [&](const std::vector<double>& got, const std::vector<naive::Real>& parts) {
    double sum = 0;
    for (std::size_t k = 0; k < std::max(got.size(), parts.size()); ++k) {
      const double x = k < got.size() ? got[k] : 0.0,
                   e = k < parts.size() ? static_cast<double>(parts[k] / expected.u) : 0.0;
      CHECK(std::abs(x - e) < 1e-11);
      sum += x;
    }
    CHECK(std::abs(sum - 1) < 1e-11);
  };
  check_parts(p.leaves_distribution(control), expected.by_leaves);
  check_parts(p.depth_distribution(control), expected.by_depth);
  naive::Real mean = 0;
  for (std::size_t k = 0; k < expected.by_leaves.size(); ++k)
    mean += static_cast<naive::Real>(k + 1) * expected.by_leaves[k] / expected.u;
  CHECK(std::abs(p.expected_leaves(control) - static_cast<double>(mean)) < 1e-11 * static_cast<double>(mean));
}

}  // namespace

TEST(small_tables_with_every_setting) {
  std::mt19937 random(1);
  unsigned k = 0;
  for (const Kernels* kernel : available_kernels()) {
    use_kernels(kernel->name);
    for (std::size_t classes = 1; classes <= 4; ++classes)
      for (std::int64_t min_leaf = 1; min_leaf <= 3; ++min_leaf)
        for (int depth : {-1, 0, 1, 2, 3, 4})
          for (unsigned prior = 0; prior < naive::kPriors; ++prior, ++k) {
            const naive::Table d = naive::random_table(random, {1, 13}, {0, 5}, classes, {1, 4});
            if (d.total(d.all()) < min_leaf) continue;
            check_folds(d, setting(k, d, depth, min_leaf, prior), naive::some_cost(k / 8, classes));
          }
  }
  use_kernels("");
}

TEST(more_tests_than_one_vector_holds) {
  std::mt19937 random(2);
  unsigned k = 0;
  for (const Kernels* kernel : available_kernels()) {
    use_kernels(kernel->name);
    for (std::size_t tests : {15, 16, 17, 31, 33, 70})
      for (std::size_t classes : {2, 3})
        for (int depth : {1, 2, 3}) {
          if (depth == 3 && tests > 17) continue;
          const naive::Table d = naive::random_table(random, depth == 3 ? 30 : 150, tests, classes, 2);
          ++k;
          check_folds(d, setting(k, d, depth, depth == 3 ? 6 : 2, k), naive::some_cost(k, classes));
        }
  }
  use_kernels("");
}

TEST(counts_beyond_two_machine_words) {
  std::mt19937 random(3);
  naive::Table d(64, 6, 2);
  for (std::size_t r = 0; r < 64; ++r) {
    for (std::size_t t = 0; t < 6; ++t) d.rows[r * 6 + t] = r >> t & 1;
    d.counts[r * 2 + (random() & 1)] = 1 + random() % 3;
  }
  Setting s = setting(2, d, -1, 1, 0);  // 6 · (5 · …)² trees: about 2^78
  for (bool frontier : {true, false}) {
    s.graph.frontier = frontier;
    check_folds(d, s, naive::some_cost(5, 2));
  }
}

TEST(large_counts_leave_the_linear_tables) {
  if (std::numeric_limits<naive::Real>::max_exponent < 16000) {
    std::printf("skipped: long double has the range of a double here, and the naive twin needs more\n");
    return;
  }
  // Up to 60,000 examples behind 40 rows: beyond the range of a double, and of the packed errors.
  std::mt19937 random(4);
  unsigned k = 0;
  for (const Kernels* kernel : available_kernels()) {
    use_kernels(kernel->name);
    for (std::size_t most : {20, 60, 200, 1000, 2500})
      for (int depth : {2, 3})
        for (std::int64_t min_leaf : {1, 40}) {
          const naive::Table d = naive::random_table(random, 40, 7, 2, most);
          ++k;
          Setting s = setting(k, d, depth, min_leaf, k % 5);
          s.linear = s.graph.frontier = s.graph.merge = true;
          s.weights.log_scale = -0.65L * s.weights.log_leaf(d.class_counts(d.all()), 0, false) /
                                static_cast<naive::Real>(d.total(d.all()));
          check_folds(d, s, naive::some_cost(k % 4 == 0 ? 2 : 5, 2));
        }
  }
  use_kernels("");
}

TEST(the_linear_tables_hold_every_cover_they_serve) {
  // Covers just above and just below the sizes that the tables are made for, with very different class counts.
  std::vector<std::array<std::int64_t, 6>> cases{
      {100, 5, 900, 798, 1800, 0}, {1100, 0, 300, 100, 0, 1100}, {1799, 1, 1, 3, 1, 1798}};
  std::mt19937 random(8);
  const auto some = [&](unsigned most) {
    return static_cast<std::int64_t>(random() % (random() % 2 ? most : most / 20));
  };
  for (int k = 0; k < 200; ++k)
    cases.push_back({some(2000), some(2000), some(2000), some(2000), some(2000), some(2000)});
  for (const auto& counts : cases) {
    naive::Table d(3, 2, 2);
    d.rows = {1, 1, 1, 0, 0, 0};
    d.counts.assign(counts.begin(), counts.end());
    if (d.total(d.all()) == 0) continue;
    for (int depth : {2, 3}) {
      Setting s = setting(2, d, depth, 1, 4);
      s.weights.a = {{1.0, 1.0}};
      check_folds(d, s, naive::some_cost(5, 2));
    }
  }
}

TEST(extreme_dirichlet_parameters) {
  std::mt19937 random(5);
  for (double a0 : {1e-200, 1e-10, 1e-3, 1e4, 1e10})
    for (double a1 : {1e-10, 1.0, 1e6})
      for (int depth : {1, 2, 3}) {
        const naive::Table d = naive::random_table(random, 20, 5, 2, 6);
        Setting s = setting(2, d, depth, 1, 4);
        s.weights.a = {{a0, a1}};
        s.linear = true;
        Control control;
        const auto g = std::make_shared<const Graph>(d.core(), s.graph, control);
        const auto leaf = std::make_shared<const Dirichlet>(s.weights.a, d.class_counts(d.all()));
        const double linear = Posterior(g, s.weights.prior, leaf, true, 1, control).log_evidence();
        const double log = Posterior(g, s.weights.prior, leaf, false, 1, control).log_evidence();
        CHECK(std::isfinite(log));
        CHECK(std::abs(linear - log) < 1e-10 * std::max(1.0, std::abs(log)));
        // lgamma(a + n) − lgamma(a) cancels for huge a; the naive twin is only a judge below that.
        if (a0 < 1e5 && a1 < 1e5)
          CHECK(close(log, naive::answers({&d, depth, 1}, s.weights, naive::some_cost(5, 2)).u));
      }
}

TEST(the_size_prior_is_a_distribution) {
  // With one class every marginal likelihood is 1, so the evidence is the sum of the prior.
  std::mt19937 random(6);
  for (unsigned prior : {4u, 7u})
    for (int depth : {-1, 0, 1, 2, 3, 4})
      for (std::int64_t min_leaf : {1, 3}) {
        const naive::Table d = naive::random_table(random, 12, 6, 1, 2);
        Setting s = setting(2, d, depth, min_leaf, prior);
        Control control;
        const auto g = std::make_shared<const Graph>(d.core(), s.graph, control);
        const auto leaf = std::make_shared<const Dirichlet>(s.weights.a, d.class_counts(d.all()));
        CHECK(std::abs(Posterior(g, s.weights.prior, leaf, true, 1, control).log_evidence()) < 1e-12);
      }
}

template <class F>
bool refused(F f) {
  try {
    f();
  } catch (const InvalidInput&) {
    return true;
  }
  return false;
}

TEST(parts_of_the_frontier_make_the_same_posterior) {
  std::mt19937 random(9);
  for (int depth : {0, 1, 2, 3, 4})
    for (std::size_t n_parts : {1, 2, 3, 50}) {
      const naive::Table d = naive::random_table(random, 40, 6, 2, 3);
      Setting s = setting(2, d, depth, 1, 4);
      Control control;
      const auto table = d.core();
      const auto g = std::make_shared<const Graph>(table, s.graph, control);
      const auto leaf = std::make_shared<const Dirichlet>(s.weights.a, d.class_counts(d.all()));
      std::vector<std::vector<Wide>> parts;
      for (std::size_t part = 0; part < n_parts; ++part) {
        const Posterior::Sent sent = Posterior::send_part(*g, part, n_parts);
        parts.push_back(Posterior::fold_sent(table, s.graph, sent, s.weights.prior, leaf, true, 1, control));
      }
      const Posterior whole(g, s.weights.prior, leaf, true, 1, control);
      const Posterior again(g, s.weights.prior, leaf, true, parts, 1, control);
      CHECK(whole.values() == again.values());
      parts[0].emplace_back(1.0);
      CHECK(refused([&] { Posterior(g, s.weights.prior, leaf, true, parts, 1, control); }));
      CHECK(refused([&] { Posterior::send_part(*g, n_parts, n_parts); }));
    }
}

int main() { return check::run(); }
