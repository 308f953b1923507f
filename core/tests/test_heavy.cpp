// Weights in the millions: more examples than any table of leaf weights holds. Answers against plain recursions with
// lgamma in long doubles, and limits that hold while tables are made.
#include <limits>

#include "check.hpp"
#include "common/room.hpp"
#include "down/bracket.hpp"
#include "down/posterior.hpp"
#include "naive.hpp"
#include "search/probable.hpp"
#include "sets/likeliest.hpp"

using namespace everytree;

namespace {

using naive::Real;

bool close(double got, Real expected, double tolerance) {
  return std::abs(static_cast<Real>(got) - expected) <= tolerance * std::max<Real>(1, std::abs(expected));
}

Real log_rising_real(Real a, std::int64_t n) { return std::lgamma(a + static_cast<Real>(n)) - std::lgamma(a); }

struct Heavy {
  naive::Table d;
  int max_depth;
  std::int64_t min_leaf;
  Prior prior;
  std::vector<std::vector<double>> a;

  // A leaf of n examples is the difference of sums near n log n, each of them rounded to a double.
  bool close(double got, Real expected) const {
    const auto n = static_cast<Real>(d.total(d.all()));
    return std::abs(static_cast<Real>(got) - expected) <= 1e-15 * std::max<Real>(1e3, n * std::log(n));
  }

  Real log_marginal(const naive::Rows& rows, std::size_t depth) const {
    const auto& row = a[std::min(depth, a.size() - 1)];
    const naive::Counts counts = d.class_counts(rows);
    Real sum = 0, all = 0;
    std::int64_t n = 0;
    for (std::size_t c = 0; c < d.c; ++c) {
      sum += log_rising_real(row[c], counts[c]);
      all += row[c];
      n += counts[c];
    }
    return sum - log_rising_real(all, n);
  }

  // Logarithms of the sum over all trees below these rows, and of the best of them.
  std::pair<Real, Real> fold(const naive::Rows& rows, std::size_t depth) const {
    std::vector<std::size_t> tests;
    if (max_depth < 0 || depth < static_cast<std::size_t>(max_depth))
      for (std::size_t t = 0; t < d.t; ++t)
        if (d.total(d.side(rows, t, true)) >= min_leaf && d.total(d.side(rows, t, false)) >= min_leaf)
          tests.push_back(t);
    const Real leaf = prior.log_leaf(depth, !tests.empty()) + log_marginal(rows, depth);
    std::vector<Real> terms{leaf};
    Real best = leaf;
    for (std::size_t t : tests) {
      const auto [sum1, best1] = fold(d.side(rows, t, true), depth + 1);
      const auto [sum0, best0] = fold(d.side(rows, t, false), depth + 1);
      const Real split = prior.log_split_base(depth) + prior.log_share(static_cast<double>(tests.size()));
      terms.push_back(split + sum1 + sum0);
      best = std::max(best, split + best1 + best0);
    }
    const Real top = *std::max_element(terms.begin(), terms.end());
    Real sum = 0;
    for (Real x : terms) sum += std::exp(x - top);
    return {top + std::log(sum), best};
  }
};

template <class F>
void for_heavy_tables(F&& f) {
  std::mt19937 random(7);
  unsigned k = 0;
  for (std::size_t classes = 1; classes <= 3; ++classes)
    for (int depth : {2, -1})
      for (unsigned prior = 0; prior < naive::kPriors; ++prior, ++k) {
        Heavy h{naive::random_table(random, {4, 9}, {1, 4}, classes, 3), depth, 1 + k % 2, {}, {}};
        h.prior = naive::some_prior(prior, h.d.t);
        if (h.prior.fair) continue;
        // Some rows of a few examples, some of hundreds of thousands.
        for (std::int64_t& n : h.d.counts)
          n *= random() % 4 == 0 ? 1 : 150'000 + static_cast<std::int64_t>(random() % 900'000);
        h.a.assign(k % 3 == 0 ? 2 : 1, std::vector<double>(classes, 1.0));
        for (std::size_t row = 0; row < h.a.size(); ++row)
          for (std::size_t c = 0; c < classes; ++c)
            h.a[row][c] = 0.4 + 0.5 * static_cast<double>(c) + 0.7 * static_cast<double>(row * (k % 2));
        if (h.d.total(h.d.all()) >= h.min_leaf) f(h);
      }
}

}  // namespace

TEST(rising_factorials_go_on_beyond_their_table) {
  constexpr std::int32_t most = 3'000'000;
  const std::vector<double> a{0.25, 1.0, 33.0, 1e5};
  const Dirichlet leaf({a}, {most, most, most, most});
  CHECK(!leaf.tabulated(Dirichlet::kTable + 1));
  CHECK(leaf.tabulated(Dirichlet::kTable));
  // Four classes and their sum, each with a table and anchors beyond it.
  const std::size_t anchors = FarRising::kAnchors * sizeof(LongLog);
  CHECK(leaf.bytes() <= 5 * ((Dirichlet::kTable + 1) * sizeof(double) + anchors + sizeof(LongLog)));
  for (std::size_t c = 0; c < a.size(); ++c)
    for (std::int64_t n : {std::int64_t{0}, Dirichlet::kTable - 1, Dirichlet::kTable, Dirichlet::kTable + 1,
                           Dirichlet::kTable + 2, std::int64_t{2'000'000}, std::int64_t{most}})
      CHECK(close(leaf.log_rising(0, c, n), log_rising_real(a[c], n), 1e-15));
  const std::int32_t counts[4] = {most, 5, 0, 2'000'000};
  Real expected = -log_rising_real(a[0] + a[1] + a[2] + a[3], most + 2'000'005);
  for (std::size_t c = 0; c < 4; ++c) expected += log_rising_real(a[c], counts[c]);
  CHECK(close(leaf.log_marginal(0, counts), expected, 1e-13));
}

// Bounds ask for examples of classes that the table lacks.
TEST(counts_that_no_leaf_has_are_answered_too) {
  const Dirichlet leaf({{0.5, 2.0}}, {7, 0});
  CHECK(close(leaf.log_rising(0, 1, 1), std::log(Real{2}), 1e-15));
  CHECK(close(leaf.log_rising(0, 0, 9), log_rising_real(0.5, 9), 1e-14));
  CHECK(close(leaf.log_rising_sum(0, 9), log_rising_real(2.5, 9), 1e-14));
}

TEST(folds_and_searches_of_heavy_weights) {
  for_heavy_tables([](const Heavy& h) {
    Control control;
    GraphOptions o;
    o.max_depth = h.max_depth;
    o.min_leaf = h.min_leaf;
    const auto graph = std::make_shared<const Graph>(h.d.core(), o, control);
    const auto leaf = std::make_shared<const Dirichlet>(h.a, h.d.class_counts(h.d.all()), &control);
    const auto [sum, best] = h.fold(h.d.all(), 0);
    for (bool linear : {true, false}) {
      const Posterior posterior(graph, h.prior, leaf, linear, 1, control);
      CHECK(h.close(posterior.log_evidence(), sum));
      CHECK(h.close(posterior.log_map(control), best));
      CHECK(h.close(posterior.log_joint(map_tree(posterior, control)), best));
      if (h.a.size() == 1 && linear) {
        const Bracket bracket = evidence_bracket(posterior, 1, control);
        CHECK(bracket.lower <= bracket.upper);
        if (h.max_depth < 0) CHECK(h.close(bracket.lower, sum));
      }
    }
    if (!Hope::sound(h.prior)) return;
    for (bool tables : {true, false}) {
      ProbableOptions options{h.max_depth, h.min_leaf};
      options.tables = tables;
      ProbableSearch search(h.d.core(), h.prior, leaf, options);
      const MostProbable found = search.run(control);
      CHECK(found.proved);
      CHECK(h.close(found.log_joint, best));
    }
  });
}

TEST(tables_obey_the_limits_while_they_are_made) {
  const std::vector<std::int32_t> totals{250'000'000, 250'000'000};
  const auto reason = [&](double seconds, std::size_t bytes) {
    Control control;
    control.time_limit = seconds;
    control.memory_limit = bytes;
    try {
      const Dirichlet leaf({{1.0, 1.0}}, totals, &control);
      return -1;
    } catch (const LimitReached& limit) {
      return static_cast<int>(limit.reason);
    }
  };
  const std::size_t anchors =
      FarRising::n_anchors(Dirichlet::kTable, 250'000'000) + FarRising::n_anchors(Dirichlet::kTable, 500'000'000);
  const std::size_t needed = 2 * (Dirichlet::kTable + 1) * sizeof(double) + anchors * sizeof(LongLog);
  CHECK(reason(1e9, needed) == -1);
  CHECK(reason(1e9, needed - 1) == static_cast<int>(LimitReached::Reason::memory));
  CHECK(reason(1e-9, needed) == static_cast<int>(LimitReached::Reason::time));
}

TEST(a_vector_asks_before_it_grows) {
  std::vector<std::int32_t> v;
  std::size_t asked = 0;
  for (int k = 0; k < 1000; ++k) {
    make_room(v, 1, [&](std::size_t more) { asked += more; });
    const std::size_t before = v.capacity();
    v.push_back(k);
    CHECK(v.capacity() == before);
    CHECK(asked == v.capacity() * sizeof(v[0]));
  }
}

TEST(everything_stops_where_the_process_ends) {
  Control control;
  CHECK(!control.stopped());
  Control::stop_all(true);
  bool stopped = false;
  try {
    control.check(false, "", 0, 0);
  } catch (const LimitReached& limit) {
    stopped = limit.reason == LimitReached::Reason::stopped;
  }
  Control::stop_all(false);
  CHECK(stopped);
  CHECK(!control.stopped());
}

int main() { return check::run(); }
