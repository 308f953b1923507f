// A tiny space against the naive recursion: number of trees, least cost, evidence, prediction, and a draw.
#include <array>

#include "bytes.hpp"
#include "down/posterior.hpp"
#include "sets/likeliest.hpp"
#include "sets/query.hpp"

using namespace everytree;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes in(data, size);
  const naive::Table d = fuzz::table(in, 12, 5, 4, in.flag() ? 3 : 400);
  GraphOptions o;
  o.min_leaf = in.number(1, 4);
  if (d.total(d.all()) < o.min_leaf) return 0;
  o.max_depth = static_cast<int>(in.number(0, 5)) - 1;
  o.merge = in.number(0, 3) != 0;
  o.frontier = in.number(0, 3) != 0;
  o.n_threads = in.number(0, 15) == 0 ? 2 : 1;
  naive::Weights weights{naive::some_prior(in.byte(), d.t), {}};
  weights.a.resize(in.number(0, 3) == 0 ? 2 : 1);
  for (auto& row : weights.a)
    for (std::size_t c = 0; c < d.c; ++c) row.push_back(0.01 * in.number(1, 250));
  o.by_depth = o.max_depth >= 0 || weights.a.size() > 1 || naive::depends_on_depth(weights.prior) || in.flag();
  const bool linear = in.flag();
  const auto kind =
      std::array{CostKind::error, CostKind::expected_error, CostKind::gini, CostKind::entropy}[in.number(0, 3)];
  const LeafCost cost(kind, d.c, {}, 0.25, in.flag() ? 0.5 : 0.0);
  const auto all = available_kernels();
  use_kernels(all[in.byte() % all.size()]->name);

  const naive::Space space{&d, o.max_depth, o.min_leaf};
  const naive::Answers expected = naive::answers(space, weights, cost);
  Control control;
  const auto graph = std::make_shared<const Graph>(d.core(), o, control);
  const auto leaf = std::make_shared<const Dirichlet>(weights.a, d.class_counts(d.all()));
  const Posterior p(graph, weights.prior, leaf, linear, o.n_threads, control);

  Natural count(static_cast<std::uint64_t>(expected.count >> 64));
  count = count * (Natural(std::uint64_t{1} << 63) * Natural(2));
  count += Natural(static_cast<std::uint64_t>(expected.count));
  fuzz::require(count_trees(*graph, control) == count, "number of trees");
  const auto close = [](double x, double y) { return x == y || std::abs(x - y) < 1e-10 * std::max(1.0, std::abs(y)); };
  fuzz::require(close(least_cost(*graph, cost, control), expected.least), "least cost");
  const auto best = best_trees(*graph, cost, 1, control);
  fuzz::require(best.size() == 1 && close(best[0].score, expected.least), "cost of the best tree");
  if (expected.u > 0 && std::isfinite(expected.u)) {  // not beyond the range of the naive twin
    fuzz::require(close(p.log_evidence(), static_cast<double>(std::log(expected.u))), "evidence");
    fuzz::require(close(p.log_map(control), static_cast<double>(std::log(expected.best))),
                  "joint of the most probable tree");
    fuzz::require(close(p.log_joint(map_tree(p, control)), static_cast<double>(std::log(expected.best))),
                  "the most probable tree");
    std::vector<std::uint8_t> row(d.t + 1);
    for (auto& x : row) x = in.flag();
    std::vector<double> got(d.c);
    p.predict(row.data(), 1, got.data(), control);
    const auto average = naive::predict(space, weights, row.data());
    for (std::size_t c = 0; c < d.c; ++c)
      fuzz::require(std::abs(got[c] - static_cast<double>(average[c])) < 1e-9, "prediction");
    const double joint = p.log_joint(p.sample(in.byte(), 1, in.byte(), control)[0]);
    fuzz::require(joint > -1e300 && joint <= static_cast<double>(std::log(expected.best)) + 1e-6, "a draw");
  }
  use_kernels("");
  return 0;
}
