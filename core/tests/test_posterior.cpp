// The posterior against a list of every tree and the naive recursions: joint, draws, inclusion, root, prediction.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "check.hpp"
#include "common/errors.hpp"
#include "down/leave_one_out.hpp"
#include "down/posterior.hpp"
#include "naive_trees.hpp"
#include "sets/likeliest.hpp"

using namespace everytree;

namespace {

struct Case {
  naive::Table d;
  GraphOptions options;
  naive::Weights weights;
  bool linear;
  naive::Space space() const { return {&d, options.max_depth, options.min_leaf}; }
};

struct Built {
  std::shared_ptr<const Graph> graph;
  std::unique_ptr<Posterior> posterior;
};

Built build(const Case& c) {
  Control control;
  Built out;
  out.graph = std::make_shared<const Graph>(c.d.core(), c.options, control);
  const auto leaf = std::make_shared<const Dirichlet>(c.weights.a, c.d.class_counts(c.d.all()));
  out.posterior = std::make_unique<Posterior>(out.graph, c.weights.prior, leaf, c.linear, c.options.n_threads, control);
  return out;
}

// f(case, posterior) over classes × min_leaf × depth × prior, the other switches in turn; with every kernel set or,
// where the kernels play little part, with the fastest alone.
enum class With { every_kernel, fastest };
template <class F>
void for_every_setting(With with, unsigned seed, std::size_t most_tests, F&& f) {
  std::mt19937 random(seed);
  unsigned k = 0;
  for (const Kernels* kernel : available_kernels()) {
    if (with == With::fastest && kernel != available_kernels().back()) continue;
    use_kernels(kernel->name);
    for (std::size_t classes = 1; classes <= 4; ++classes)
      for (std::int64_t min_leaf = 1; min_leaf <= 3; ++min_leaf)
        for (int depth : {-1, 0, 1, 2, 3, 4})
          for (unsigned prior = 0; prior < naive::kPriors; ++prior, ++k) {
            Case c{naive::random_table(random, {1, 12}, {0, most_tests}, classes, {1, 4}), {}, {}, k % 3 != 0};
            if (c.d.total(c.d.all()) < min_leaf) continue;
            c.options.max_depth = depth;
            c.options.min_leaf = min_leaf;
            c.options.merge = k % 5 != 0;
            c.options.frontier = k % 4 != 0;
            c.options.n_threads = 1 + k % 13 / 12;
            c.weights.prior = naive::some_prior(prior, c.d.t);
            c.weights.a.assign(k % 7 == 0 ? 2 : 1, std::vector<double>(classes, 1.0));
            if (k % 2)
              for (auto& row : c.weights.a)
                for (std::size_t x = 0; x < classes; ++x)
                  row[x] = 0.4 + 0.3 * static_cast<double>(x + row.size()) +
                           0.1 * static_cast<double>(&row - c.weights.a.data());
            c.options.by_depth =
                depth >= 0 || c.weights.a.size() > 1 || naive::depends_on_depth(c.weights.prior) || k % 2;
            const Built b = build(c);
            f(c, *b.posterior);
          }
  }
  use_kernels("");
}

std::vector<naive::Tree> trees_of(const Case& c, std::size_t most) {
  const LeafCost cost(CostKind::error, c.d.c);
  if (naive::answers(c.space(), c.weights, cost).count > most) return {};
  return naive::every_tree(c.space(), c.weights, cost);
}

std::string refusal(const Posterior& p, const Key& key) {
  try {
    p.log_joint(key);
  } catch (const InvalidInput& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST(the_joint_of_every_tree) {
  for_every_setting(With::fastest, 1, 4, [](const Case& c, const Posterior& p) {
    naive::Real sum = 0;
    const auto trees = trees_of(c, 500);
    for (const auto& tree : trees) {
      const double got = p.log_joint(tree.key);
      CHECK(std::abs(got - static_cast<double>(tree.log_joint)) < 1e-11 * std::max(1.0, std::abs(got)));
      sum += std::exp(tree.log_joint);
    }
    if (!trees.empty())
      CHECK(std::abs(p.log_evidence() - static_cast<double>(std::log(sum))) <
            1e-11 * std::max(1.0, std::abs(p.log_evidence())));
  });
}

TEST(trees_outside_the_space_weigh_nothing) {
  std::mt19937 random(2);
  for_every_setting(With::fastest, 2, 4, [&](const Case& c, const Posterior& p) {
    const auto trees = trees_of(c, 500);
    if (trees.empty() || c.d.t == 0) return;
    std::set<Key> inside;
    for (const auto& tree : trees) inside.insert(tree.key);
    for (int round = 0; round < 10; ++round) {
      // A random key with up to four levels.
      Key key;
      const auto grow = [&](const auto& self, int depth) -> void {
        if (depth == 4 || random() % 3 == 0) {
          key.push_back(-1);
          return;
        }
        key.push_back(static_cast<std::int32_t>(random() % c.d.t));
        self(self, depth + 1);
        self(self, depth + 1);
      };
      grow(grow, 0);
      CHECK((p.log_joint(key) > -std::numeric_limits<double>::infinity()) == (inside.count(key) == 1));
    }
  });
}

TEST(malformed_keys_are_refused_with_their_reason) {
  Case c{naive::Table(4, 2, 2), {}, {naive::some_prior(0, 2), {{1.0, 1.0}}}, true};
  c.d.rows = {0, 0, 0, 1, 1, 0, 1, 1};
  c.d.counts = {1, 0, 0, 1, 0, 1, 1, 0};
  c.options.max_depth = 2;
  const Built b = build(c);
  CHECK(refusal(*b.posterior, {}).find("ends before") != std::string::npos);
  CHECK(refusal(*b.posterior, {0, -1}).find("ends before") != std::string::npos);
  CHECK(refusal(*b.posterior, {-1, -1}).find("goes on") != std::string::npos);
  CHECK(refusal(*b.posterior, {2, -1, -1}).find("has 2 tests") != std::string::npos);
  CHECK(refusal(*b.posterior, {-2}).find("test -2") != std::string::npos);
  CHECK(refusal(*b.posterior, {0, 1, -1, -1, -1}).empty());
  Case none{naive::Table(1, 0, 2), {}, {naive::some_prior(0, 0), {{1.0, 1.0}}}, true};
  none.d.counts = {2, 1};
  CHECK(refusal(*build(none).posterior, {0, -1, -1}).find("18446744073709551615") == std::string::npos);
  CHECK(!refusal(*build(none).posterior, {0, -1, -1}).empty());
}

TEST(the_most_probable_trees_in_order) {
  for_every_setting(With::every_kernel, 3, 4, [](const Case& c, const Posterior& p) {
    auto trees = trees_of(c, 500);
    if (trees.empty()) return;
    std::sort(trees.begin(), trees.end(), [](const auto& x, const auto& y) { return x.log_joint > y.log_joint; });
    const auto close = [](double x, naive::Real y) {
      return std::abs(x - static_cast<double>(y)) < 1e-9 * std::max(1.0, std::abs(x));
    };
    Control control;
    const auto top = top_trees(p, trees.size() + 3, control);
    CHECK(top.size() == trees.size());
    std::set<Key> seen;
    for (std::size_t k = 0; k < std::min(top.size(), trees.size()); ++k) {
      CHECK(seen.insert(top[k].key).second);
      CHECK(close(top[k].score, trees[k].log_joint));
      CHECK(close(p.log_joint(top[k].key), top[k].score));
    }
    // Of equally probable trees the smallest, and of those the first.
    const naive::Tree* best = &trees[0];
    for (const auto& tree : trees)
      if (close(static_cast<double>(tree.log_joint), trees[0].log_joint) &&
          (tree.leaves < best->leaves || (tree.leaves == best->leaves && tree.key < best->key)))
        best = &tree;
    CHECK(map_tree(p, control) == best->key);
    CHECK(close(p.log_map(control), best->log_joint));
  });
}

TEST(inclusion_and_root) {
  for_every_setting(With::every_kernel, 4, 5, [](const Case& c, const Posterior& p) {
    Control control;
    const auto without = naive::evidence_without(c.space(), c.weights);
    const auto got = p.inclusion(control);
    CHECK(got.size() == c.d.t);
    for (std::size_t t = 0; t < c.d.t; ++t)
      CHECK(std::abs(got[t] - static_cast<double>(1 - without[t] / without.back())) < 1e-10);
    // The root by the same recursion, one test at a time.
    const auto root = p.root_distribution();
    CHECK(root.size() == c.d.t);
    const naive::Tests tests = c.space().feasible(c.d.all(), 0);
    double leaf = 1;
    for (double x : root) leaf -= x;
    const naive::Real as_leaf = std::exp(c.weights.log_leaf(c.d.class_counts(c.d.all()), 0, !tests.empty()));
    CHECK(std::abs(leaf - static_cast<double>(as_leaf / without.back())) < 1e-10);
    const auto trees = trees_of(c, 500);
    if (trees.empty()) return;
    std::vector<naive::Real> at_root(c.d.t, 0);
    for (const auto& tree : trees)
      if (tree.key[0] >= 0) at_root[static_cast<std::size_t>(tree.key[0])] += std::exp(tree.log_joint);
    for (std::size_t t = 0; t < c.d.t; ++t)
      CHECK(std::abs(root[t] - static_cast<double>(at_root[t] / without.back())) < 1e-10);
  });
}

TEST(the_node_at_the_end_of_a_path) {
  std::mt19937 random(9);
  for_every_setting(With::fastest, 9, 5, [&](const Case& c, const Posterior& p) {
    const naive::Space space = c.space();
    for (int round = 0; round < 3; ++round) {
      std::vector<std::pair<std::int32_t, int>> steps;
      naive::Rows cover = c.d.all();
      bool exists = true;
      for (unsigned length = random() % 5; c.d.t > 0 && steps.size() < length;) {
        const auto test = static_cast<std::uint32_t>(random() % c.d.t);
        const naive::Tests tests = space.feasible(cover, steps.size());
        if (random() % 8 != 0 && std::count(tests.begin(), tests.end(), test) == 0) {  // mostly feasible steps
          if (tests.empty()) break;
          continue;
        }
        exists = exists && std::count(tests.begin(), tests.end(), test) != 0;
        steps.emplace_back(static_cast<std::int32_t>(test), random() & 1);
        cover = c.d.side(cover, test, steps.back().second);
      }
      const auto got = p.path_node(steps);
      CHECK(got.exists == exists);
      if (!exists || !got.exists) continue;
      const std::size_t depth = steps.size();
      const naive::Tests tests = space.feasible(cover, depth);
      const naive::Real u = naive::evidence(space, c.weights, cover, depth);
      CHECK(got.counts == c.d.class_counts(cover));
      CHECK(std::abs(got.leaf -
                     static_cast<double>(std::exp(c.weights.log_leaf(got.counts, depth, !tests.empty())) / u)) < 1e-10);
      for (std::uint32_t t = 0; t < c.d.t; ++t) {
        naive::Real expected = 0;
        if (std::count(tests.begin(), tests.end(), t) != 0)
          expected = std::exp(c.weights.log_split(tests, t, depth)) *
                     naive::evidence(space, c.weights, c.d.side(cover, t, true), depth + 1) *
                     naive::evidence(space, c.weights, c.d.side(cover, t, false), depth + 1) / u;
        CHECK(std::abs(got.split[t] - static_cast<double>(expected)) < 1e-10);
      }
    }
  });
}

TEST(prediction_averages_every_tree) {
  std::mt19937 random(5);
  for_every_setting(With::every_kernel, 5, 5, [&](const Case& c, const Posterior& p) {
    const std::size_t n = 4;
    std::vector<std::uint8_t> rows(n * c.d.t);  // not only rows of the table
    for (auto& x : rows) x = random() & 1;
    std::vector<double> got(n * c.d.c, -1.0);
    Control control;
    p.predict(rows.data(), n, got.data(), control);
    for (std::size_t r = 0; r < n; ++r) {
      const auto expected = naive::predict(c.space(), c.weights, rows.data() + r * c.d.t);
      double sum = 0;
      for (std::size_t k = 0; k < c.d.c; ++k) {
        CHECK(std::abs(got[r * c.d.c + k] - static_cast<double>(expected[k])) < 1e-10);
        sum += got[r * c.d.c + k];
      }
      CHECK(std::abs(sum - 1) < 1e-10);
    }
    p.predict(nullptr, 0, nullptr, control);  // no rows: nothing to do
  });
}

TEST(moments_average_every_tree) {
  std::mt19937 random(15);
  for_every_setting(With::every_kernel, 15, 5, [&](const Case& c, const Posterior& p) {
    const std::size_t n = 3, width = 3 * c.d.c;
    std::vector<std::uint8_t> rows(n * c.d.t);
    for (auto& x : rows) x = random() & 1;
    std::vector<double> got(n * width, -1.0), mean(n * c.d.c);
    Control control;
    p.moments(rows.data(), n, got.data(), control);
    p.predict(rows.data(), n, mean.data(), control);
    for (std::size_t r = 0; r < n; ++r) {
      const auto expected = naive::moments(c.space(), c.weights, rows.data() + r * c.d.t);
      for (std::size_t k = 0; k < width; ++k) {
        CHECK(std::abs(got[r * width + k] - static_cast<double>(expected[k])) < 1e-12);
        if (k < c.d.c)  // Means alone may come from cells, which add the same numbers up in another order.
          CHECK(std::abs(got[r * width + k] - mean[r * c.d.c + k]) < 1e-13);
        else
          CHECK(got[r * width + k] >= 0);
      }
    }
    p.moments(nullptr, 0, nullptr, control);
  });
}

// Each left-out example has its own sum over every tree: its class counts less one, nothing else changed. The values
// of leave_one_out are relative to the sum over all examples.
TEST(left_out_examples_have_sums_of_their_own) {
  unsigned k = 0;
  for_every_setting(With::every_kernel, 25, 4, [&](const Case& c, const Posterior&) {
    const double kappa = std::array{0.0, 1.0, 0.5}[k % 3], power = std::array{1.0, 0.5, 0.25, 0.1}[k++ % 4];
    Control control;
    const auto graph = std::make_shared<const Graph>(c.d.core(), c.options, control);
    const auto leaf = std::make_shared<const Dirichlet>(DirichletParameters(c.weights.a, power, 1, kappa),
                                                        c.d.class_counts(c.d.all()));
    const Posterior p(graph, c.weights.prior, leaf, c.linear, c.options.n_threads, control);
    const std::vector<double> got = leave_one_out(p, c.d.counts.data(), c.d.n, c.options.n_threads, control);
    const naive::Space space = c.space();
    const auto sums = [&](std::uint32_t row, std::size_t y, bool remove) {
      return naive::left_out(space, c.weights, power, kappa, row, y, remove);
    };
    std::size_t at = 0;
    const naive::Real all = sums(0, 0, false).u;
    CHECK(check::near(p.log_evidence(), static_cast<double>(std::log(all)), 1e-10) || std::abs(std::log(all)) < 1e-10);
    for (std::uint32_t r = 0; r < c.d.n; ++r)
      for (std::size_t y = 0; y < c.d.c; ++y) {
        if (c.d.counts[r * c.d.c + y] == 0) continue;
        const naive::LeftOut expected = sums(r, y, true);
        for (std::size_t x = 0; x < c.d.c; ++x, ++at)
          CHECK(check::near(got[at], static_cast<double>(expected.g[x] / all), 1e-10));
      }
    CHECK(at == got.size());
  });
}

TEST(shares_of_examples_go_on_beyond_the_tables) {
  const std::vector<std::int32_t> totals{700, 400};
  for (const double kappa : {0.0, 0.5, 3.0})
    for (const double power : {1.0, 0.25, 0.0}) {
      const DirichletParameters a({{0.5, 2.0}, {1.0, 1.0}}, power, 1, kappa), plain({{0.5, 2.0}, {1.0, 1.0}}, power);
      const Dirichlet whole(a, totals), unweighted(plain, totals);
      for (const std::int64_t longest : {0, 1, 7, 500}) {
        const Dirichlet part(a, totals, nullptr, longest);
        for (const auto& counts : {std::array{1, 0}, std::array{0, 7}, std::array{5, 3}, std::array{700, 400}})
          for (std::size_t depth : {0u, 1u, 5u}) {
            const double n = counts[0] + counts[1], held = kappa * std::log(n / 1100);
            CHECK(std::abs(whole.log_marginal(depth, counts.data()) - unweighted.log_marginal(depth, counts.data()) -
                           held) < 1e-9);
            CHECK(std::abs(part.log_marginal(depth, counts.data()) - whole.log_marginal(depth, counts.data())) < 1e-9);
            CHECK(std::abs(part.log_held(counts[0] + counts[1]) - held) < 1e-12);
          }
      }
    }
}

TEST(counts_of_another_table_are_refused) {
  naive::Table d(2, 1, 2);
  d.rows = {0, 1};
  d.counts = {2, 0, 0, 2};
  const Built b = build({d, {}, {Prior(), {{1.0, 1.0}}}, true});
  const std::vector<std::int64_t> other{1, 1, 0, 2};
  Control control;
  try {
    leave_one_out(*b.posterior, other.data(), 2, 1, control);
    CHECK(false);
  } catch (const InvalidInput& e) {
    CHECK(std::string(e.what()).find("examples of class 0") != std::string::npos);
  }
}

TEST(sets_of_tests_and_the_prior_alone) {
  std::mt19937 random(16);
  for_every_setting(With::fastest, 16, 5, [&](const Case& c, const Posterior& p) {
    Control control;
    const auto trees = trees_of(c, 500);
    if (trees.empty()) return;
    std::vector<std::int32_t> owner(c.d.t);
    for (auto& set : owner) set = static_cast<std::int32_t>(random() % 3) - 1;  // −1: in no set
    std::vector<naive::Real> used(2, 0);
    naive::Real total = 0;
    for (const auto& tree : trees) {
      const naive::Real joint = std::exp(tree.log_joint);
      total += joint;
      bool has[2] = {false, false};
      for (std::int32_t test : tree.key)
        if (test >= 0 && owner[static_cast<std::size_t>(test)] >= 0) has[owner[static_cast<std::size_t>(test)]] = true;
      for (std::size_t k = 0; k < 2; ++k) used[k] += has[k] ? joint : 0;
    }
    const auto got = p.inclusion_of(owner, 2, control);
    CHECK(got.size() == 2);
    for (std::size_t k = 0; k < 2; ++k) CHECK(std::abs(got[k] - static_cast<double>(used[k] / total)) < 1e-10);
    CHECK(std::abs(p.log_prior_total(control) -
                   static_cast<double>(std::log(naive::prior_total(c.space(), c.weights)))) < 1e-10);
    CHECK(std::abs(p.log_single_leaf() - static_cast<double>(c.weights.log_leaf(c.d.class_counts(c.d.all()), 0, false) -
                                                             c.weights.prior.log_leaf(0, false))) < 1e-10);
  });
}

TEST(sets_of_tests_are_checked) {
  Case c{naive::Table(4, 2, 2), {}, {naive::some_prior(0, 2), {{1.0, 1.0}}}, true};
  c.d.rows = {0, 0, 0, 1, 1, 0, 1, 1};
  c.d.counts = {1, 0, 0, 1, 0, 1, 1, 0};
  const Built b = build(c);
  const auto says = [&](const std::vector<std::int32_t>& owner) -> std::string {
    Control control;
    try {
      b.posterior->inclusion_of(owner, 1, control);
    } catch (const InvalidInput& e) {
      return e.what();
    }
    return "";
  };
  CHECK(says({0}).find("one owner per test") != std::string::npos);
  CHECK(says({0, 1}).find("is 1; expected -1 to 0") != std::string::npos);
  CHECK(says({0, -2}).find("is -2") != std::string::npos);
  CHECK(says({0, -1}).empty());
}

TEST(prediction_of_many_tests_and_rows) {
  std::mt19937 random(6);
  for (const Kernels* kernel : available_kernels()) {
    use_kernels(kernel->name);
    for (std::size_t tests : {15, 16, 17, 40})
      for (std::size_t classes : {2, 3})
        for (unsigned prior : {0u, 4u, 7u}) {
          Case c{naive::random_table(random, 60, tests, classes, 2),
                 {},
                 {naive::some_prior(prior, tests), {std::vector<double>(classes, 0.5)}},
                 true};
          c.options.max_depth = tests == 15 ? 3 : 2;
          c.options.min_leaf = tests == 15 ? 8 : 2;
          const Built b = build(c);
          const std::size_t n = 9;  // two groups of four and one left over
          std::vector<std::uint8_t> rows(n * tests);
          for (auto& x : rows) x = random() & 1;
          std::vector<double> got(n * classes);
          Control control;
          b.posterior->predict(rows.data(), n, got.data(), control);
          for (std::size_t r = 0; r < n; r += tests == 15 ? 4 : 1) {
            const auto expected = naive::predict(c.space(), c.weights, rows.data() + r * tests);
            for (std::size_t k = 0; k < classes; ++k)
              CHECK(std::abs(got[r * classes + k] - static_cast<double>(expected[k])) < 1e-10);
          }
        }
  }
  use_kernels("");
}

// Many rows are asked by one polynomial, few at each state: tests that are equal in the table and not in the rows,
// tests that split nothing, states by several paths, classes, priors, threads and limits of memory.
TEST(many_rows_at_once_say_what_few_say) {
  std::mt19937 random(29);
  unsigned k = 0;
  double worst = 0;
  for (const Kernels* kernel : available_kernels()) {
    use_kernels(kernel->name);
    for (std::size_t classes = 1; classes <= 3; ++classes)
      for (int depth : {3, 4, 5})
        for (unsigned prior = 0; prior < naive::kPriors; ++prior, ++k) {
          const std::size_t tests = 5 + k % 9, n = (std::size_t{80} << (depth - 2)) + k % 7;
          Case c{naive::random_table(random, {4, 30}, {tests, tests}, classes, {1, 3}), {}, {}, k % 3 != 0};
          c.options.max_depth = depth;
          c.options.min_leaf = 1 + k % 3;
          c.options.merge = k % 5 != 0;
          c.options.n_threads = 1;
          if (c.d.total(c.d.all()) < c.options.min_leaf) continue;
          c.weights.prior = naive::some_prior(prior, c.d.t);
          c.weights.a.assign(k % 4 == 0 ? 2 : 1, std::vector<double>(classes, k % 2 ? 1.0 : 0.3));
          const Built b = build(c);
          // Numbered, so that no two rows are the same as far as the tests go.
          std::vector<std::uint8_t> rows(n * tests);
          for (std::size_t r = 0; r < n; ++r)
            for (std::size_t t = 0; t < tests; ++t)
              rows[r * tests + t] = static_cast<std::uint8_t>(t < 20 ? (r * 2654435761u >> (t + 3)) & 1 : random() & 1);
          std::vector<double> many(n * classes), few(n * classes), threads(n * classes), limited(n * classes);
          Control control;
          b.posterior->predict(rows.data(), n, many.data(), control);
          for (std::size_t r = 0; r < n; r += 30)
            b.posterior->predict(rows.data() + r * tests, std::min<std::size_t>(30, n - r), few.data() + r * classes,
                                 control);
          for (std::size_t x = 0; x < many.size(); ++x) worst = std::max(worst, std::abs(many[x] - few[x]));
          c.options.n_threads = 3;
          build(c).posterior->predict(rows.data(), n, threads.data(), control);
          CHECK(threads == many);
          Control tight;
          tight.memory_limit = 8 << 20;
          b.posterior->predict(rows.data(), n, limited.data(), tight);
          for (std::size_t x = 0; x < many.size(); ++x) worst = std::max(worst, std::abs(limited[x] - few[x]));
        }
  }
  CHECK(worst < 1e-13);
  use_kernels("");
}

TEST(draws_have_the_frequencies_of_the_posterior) {
  std::mt19937 random(7);
  unsigned tested = 0;
  for (unsigned k = 0; k < 400 && tested < 60; ++k) {
    Case c{naive::random_table(random, {4, 11}, {1, 4}, 1 + k % 4, 2), {}, {}, k % 3 != 0};
    c.options.max_depth = std::array{-1, 1, 2, 3, 4}[k % 5];
    c.options.min_leaf = 1 + k % 3;
    c.options.frontier = k % 4 != 0;
    c.options.merge = k % 7 != 0;
    c.weights.prior = naive::some_prior(k / 5, c.d.t);
    c.weights.a = {std::vector<double>(c.d.c, 0.8)};
    if (c.d.total(c.d.all()) < c.options.min_leaf) continue;
    const auto trees = trees_of(c, 400);
    if (trees.size() < 3) continue;
    ++tested;
    const Built b = build(c);
    Control control;
    constexpr std::size_t kDraws = 3000;
    const auto draws = b.posterior->sample(0, kDraws, 11 + k, control);
    CHECK(draws.size() == kDraws);
    std::map<Key, double> seen;
    for (const Key& key : draws) seen[key] += 1;
    // Pearson's statistic; trees expected fewer than five times are taken together.
    double chi2 = 0, rare_expected = 0, rare_seen = 0, degrees = -1;
    std::size_t known = 0;
    for (const auto& tree : trees) {
      const double expected = kDraws * std::exp(static_cast<double>(tree.log_joint) - b.posterior->log_evidence());
      const auto it = seen.find(tree.key);
      const double n = it == seen.end() ? 0 : it->second;
      known += it != seen.end();
      if (expected < 5) {
        rare_expected += expected;
        rare_seen += n;
        continue;
      }
      chi2 += (n - expected) * (n - expected) / expected;
      degrees += 1;
    }
    CHECK(known == seen.size());  // nothing outside the space is drawn
    if (rare_expected >= 5) {
      chi2 += (rare_seen - rare_expected) * (rare_seen - rare_expected) / rare_expected;
      degrees += 1;
    }
    CHECK(chi2 < degrees + 5 * std::sqrt(2 * degrees + 1) + 3);
  }
  CHECK(tested == 60);
}

TEST(draw_k_depends_only_on_the_seed_and_k) {
  std::mt19937 random(8);
  Case c{naive::random_table(random, 30, 8, 2, 1), {}, {naive::some_prior(4, 8), {{1.0, 1.0}}}, true};
  c.options.max_depth = 4;
  const Built b = build(c);
  Control control;
  const auto many = b.posterior->sample(0, 200, 5, control), few = b.posterior->sample(0, 20, 5, control),
             other = b.posterior->sample(0, 20, 6, control);
  CHECK(std::equal(few.begin(), few.end(), many.begin()));
  CHECK(few != other);
  const auto later = b.posterior->sample(180, 20, 5, control);  // draws 180 to 199
  CHECK(std::equal(later.begin(), later.end(), many.begin() + 180));
  CHECK(b.posterior->sample(0, 0, 5, control).empty());
}

int main() { return check::run(); }
