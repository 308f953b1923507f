// Leaf models: the laws of every model, and a model without kernels through the upward fold, against every tree.
#include "weights/leaf_model.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <random>

#include "check.hpp"
#include "fold/weigh_model.hpp"
#include "naive_trees.hpp"

using namespace everytree;

namespace {

// A number for each example: normal with a known variance around a mean that is itself normal. Statistic: n, Σx, Σx².
struct KnownVariance {
  using Entry = double;
  double variance = 0.5, prior_mean = 0.2, prior_variance = 2.0;

  std::size_t width() const { return 3; }
  std::size_t outputs() const { return 2; }  // mean and variance of the next one
  double precision(double n) const { return 1 / prior_variance + n / variance; }
  double mean(const double* s) const { return (prior_mean / prior_variance + s[1] / variance) / precision(s[0]); }
  double log_marginal(std::size_t, const double* s) const {
    const double at_mean = precision(s[0]) * mean(s) * mean(s);
    const double squares = s[2] / variance + prior_mean * prior_mean / prior_variance - at_mean;
    return -0.5 *
           (s[0] * std::log(2 * std::numbers::pi * variance) + std::log1p(s[0] * prior_variance / variance) + squares);
  }
  void predict(std::size_t, const double* s, double* out) const {
    out[0] = mean(s);
    out[1] = variance + 1 / precision(s[0]);
  }
};
static_assert(LeafModel<KnownVariance> && !LeafCosts<KnownVariance>);
static_assert(LeafModel<Dirichlet> && !LeafCosts<Dirichlet>);
static_assert(LeafCosts<LeafCost> && !LeafModel<LeafCost>);

std::vector<double> statistic_of(double x) { return {1, x, x * x}; }

// prior × marginal of every tree, one by one, with its leaves.
struct Weighed {
  naive::Real weight;
  double leaves;
};
template <class LogMarginal>
std::vector<Weighed> every_tree(const naive::Space& space, const Prior& prior, const LogMarginal& log_marginal) {
  using All = std::vector<Weighed>;
  return naive::fold<All>(
      space, space.table->all(), 0,
      [&](const naive::Rows& cover, std::size_t depth, bool open) {
        return All{{std::exp(naive::Real(prior.log_leaf(depth, open) + log_marginal(depth, cover))), 1}};
      },
      [&](const naive::Rows&, std::size_t depth, const naive::Tests& tests, std::uint32_t, const All& yes,
          const All& no) {
        const naive::Real split =
            std::exp(naive::Real(prior.log_split_base(depth) + prior.log_share(static_cast<double>(tests.size()))));
        All out;
        for (const Weighed& a : yes)
          for (const Weighed& b : no) out.push_back({split * a.weight * b.weight, a.leaves + b.leaves});
        return out;
      },
      [](All& x, const All& y) { x.insert(x.end(), y.begin(), y.end()); });
}

Prior prior_of(unsigned k) {
  Prior prior;
  if (k % 2 == 1) {
    prior.log_split = {-0.2, -0.9, -1.5};
    prior.log_leaf_open = {-1.7, -0.5, -0.2};
    prior.per_test = true;
  }
  return prior;
}

// One class and every row once: slot k of the table is row k.
naive::Table one_class(std::mt19937& random, std::size_t rows, std::size_t tests) {
  naive::Table table(rows, tests, 1);
  for (std::uint8_t& x : table.rows) x = random() & 1;
  std::fill(table.counts.begin(), table.counts.end(), 1);
  return table;
}

}  // namespace

TEST(the_marginal_is_the_product_of_the_predictions) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-2, 2);
  const KnownVariance normal;
  std::vector<double> s(3, 0.0), out(2);
  CHECK(normal.log_marginal(0, s.data()) == 0);
  for (int k = 0; k < 30; ++k) {
    const double x = uniform(random), before = normal.log_marginal(0, s.data());
    normal.predict(0, s.data(), out.data());
    const double log_density = -0.5 * (std::log(2 * std::numbers::pi * out[1]) + (x - out[0]) * (x - out[0]) / out[1]);
    const auto one = statistic_of(x);
    for (std::size_t i = 0; i < 3; ++i) s[i] += one[i];
    CHECK(check::near(normal.log_marginal(0, s.data()) - before, log_density, 1e-11));
  }
  const Dirichlet counts({{0.3, 1.0, 2.5}, {0.5, 0.5, 0.5}}, {40, 40, 40});
  for (std::size_t depth = 0; depth < 3; ++depth) {
    std::vector<std::int32_t> n(counts.width(), 0);
    std::vector<double> p(counts.outputs());
    CHECK(counts.log_marginal(depth, n.data()) == 0);
    for (int k = 0; k < 30; ++k) {
      const std::size_t c = random() % 3;
      const double before = counts.log_marginal(depth, n.data());
      counts.predict(depth, n.data(), p.data());
      ++n[c];
      CHECK(check::near(counts.log_marginal(depth, n.data()) - before, std::log(p[c]), 1e-11));
    }
  }
}

TEST(a_model_without_kernels_folds_like_every_tree_one_by_one) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> uniform(-2, 2);
  const KnownVariance model;
  std::size_t inner = 0;
  for (unsigned round = 0; round < 24; ++round) {
    const naive::Table table = one_class(random, 6 + random() % 12, 2 + random() % 3);
    std::vector<double> x(table.n);
    for (double& value : x) value = uniform(random);
    const naive::Space space{&table, static_cast<int>(1 + round % 3), static_cast<std::int64_t>(1 + random() % 2)};
    const Prior prior = prior_of(round);
    const auto trees = every_tree(space, prior, [&](std::size_t depth, const naive::Rows& cover) {
      std::vector<double> s(3, 0.0);
      for (std::uint32_t r : cover)
        for (std::size_t i = 0; i < 3; ++i) s[i] += statistic_of(x[r])[i];
      return model.log_marginal(depth, s.data());
    });
    naive::Real sum = 0, most = 0, leaves = 0;
    for (const Weighed& tree : trees) {
      sum += tree.weight;
      most = std::max(most, tree.weight);
      leaves += tree.weight * tree.leaves;
    }

    Control control;
    GraphOptions options;
    options.max_depth = space.max_depth;
    options.min_leaf = space.min_leaf;
    const Graph graph(table.core(), options, control);
    inner += graph.n_inner();
    std::vector<double> slots(64 * graph.table().n_words() * 3, 0.0);
    for (std::size_t r = 0; r < table.n; ++r)
      for (std::size_t i = 0; i < 3; ++i) slots[3 * r + i] = statistic_of(x[r])[i];
    using Sum = WeighModel<SumProduct, KnownVariance>;
    using Max = WeighModel<MaxProduct, KnownVariance>;
    using Sizes = WeighModel<ByLeaves<SumProduct>, KnownVariance>;
    const Wide evidence = fold_up<SumProduct>(graph, Sum(graph, prior, model, slots), control, 1)[0];
    const auto best = fold_up<MaxProduct>(graph, Max(graph, prior, model, slots), control, 1)[0];
    const auto sizes = fold_up<ByLeaves<SumProduct>>(graph, Sizes(graph, prior, model, slots), control, 1)[0];
    CHECK(check::near(evidence.log(), static_cast<double>(std::log(sum)), 1e-11));
    CHECK(check::near(best.weight.log(), static_cast<double>(std::log(most)), 1e-11));
    double expected = 0;
    for (std::size_t k = 0; k < sizes.size(); ++k)
      expected += static_cast<double>(k + 1) * (sizes[k] / evidence).scaled(0);
    CHECK(check::near(expected, static_cast<double>(leaves / sum), 1e-11));
  }
  CHECK(inner > 0);
}

TEST(class_counts_fold_alike_with_and_without_kernels) {
  std::mt19937 random(3);
  for (unsigned round = 0; round < 12; ++round) {
    const naive::Table table = naive::random_table(random, {8, 30}, {2, 5}, {2, 3}, {1, 3});
    Control control;
    GraphOptions options;
    options.max_depth = static_cast<int>(2 + round % 2);
    options.min_leaf = 1 + random() % 2;
    const Graph graph(table.core(), options, control);
    const Prior prior = prior_of(round);
    const auto leaf = std::make_shared<const Dirichlet>(
        std::vector<std::vector<double>>{std::vector<double>(table.c, 0.7)}, table.class_counts(table.all()));
    const ProductWeights weights(graph, prior, leaf);
    // A slot stands for 2^b examples of the class of its section.
    std::vector<std::int32_t> slots(64 * graph.table().n_words() * table.c, 0);
    for (const Section& section : graph.table().sections())
      for (std::size_t slot = 64 * section.begin; slot < 64 * section.end; ++slot)
        slots[slot * table.c + section.cls] = section.multiplicity();
    const auto fast = fold_up<SumProduct>(graph, WeighProduct<SumProduct>(graph, weights), control, 1)[0];
    const auto slow =
        fold_up<SumProduct>(graph, WeighModel<SumProduct, Dirichlet>(graph, prior, *leaf, slots), control, 1)[0];
    CHECK(check::near(fast.log(), slow.log(), 1e-11));
    const auto best = fold_up<MaxProduct>(graph, WeighProduct<MaxProduct>(graph, weights), control, 1)[0];
    const auto same =
        fold_up<MaxProduct>(graph, WeighModel<MaxProduct, Dirichlet>(graph, prior, *leaf, slots), control, 1)[0];
    CHECK(check::near(best.weight.log(), same.weight.log(), 1e-11) && best.leaves == same.leaves);
  }
}

TEST(parts_of_examples_weigh_as_the_examples_that_they_add_up_to) {
  const std::vector<DirichletParameters::Row> rows = {{0.3, 1.0, 2.5}, {40, 0.5, 1e-3}};
  for (const double power : {1.0, 0.3})
    for (const std::int64_t parts : {2, 7, 1024})
      for (const std::int64_t longest : {std::int64_t{0}, std::int64_t{50}, Dirichlet::kTable}) {
        const auto most = static_cast<std::int32_t>(40 * parts);
        const Dirichlet whole(DirichletParameters(rows, power), {40, 40, 40}, nullptr, longest);
        const Dirichlet in_parts(DirichletParameters(rows, power, parts), {most, most, most}, nullptr, longest);
        for (std::size_t depth = 0; depth < 2; ++depth)
          for (const auto& n :
               {std::array{0, 0, 0}, std::array{1, 0, 0}, std::array{3, 17, 2}, std::array{40, 40, 40}}) {
            std::int32_t counts[3];
            for (std::size_t c = 0; c < 3; ++c) counts[c] = n[c] * static_cast<std::int32_t>(parts);
            CHECK(check::near(in_parts.log_marginal(depth, counts), whole.log_marginal(depth, n.data()), 1e-11));
            double mine[3], theirs[3];
            in_parts.predict(depth, counts, mine);
            whole.predict(depth, n.data(), theirs);
            for (std::size_t c = 0; c < 3; ++c) CHECK(check::near(mine[c], theirs[c], 1e-14));
          }
        // Between them Γ goes on: half an example of the only class seen so far.
        const std::int32_t one[3] = {1, 0, 0};
        const double n = 1.0 / static_cast<double>(parts), sum = 3.8;
        const double wanted = std::lgamma(0.3 + n) - std::lgamma(0.3) - std::lgamma(sum + n) + std::lgamma(sum);
        CHECK(check::near(in_parts.log_marginal(0, one), power * wanted, 1e-12));
      }
}

int main() { return check::run(); }
