// A tiny space against the naive recursion: number of trees, least cost, evidence, prediction, a draw, and what is said
// of examples left out; over fixed tests, and where states choose their cuts.
#include <array>

#include "bytes.hpp"
#include "down/leave_one_out.hpp"
#include "down/posterior.hpp"
#include "local_cases.hpp"
#include "naive_trees.hpp"
#include "sets/likeliest.hpp"
#include "sets/query.hpp"

using namespace everytree;
using fuzz::require;
using local_cases::Case;

namespace {

bool close(double x, double y) { return fuzz::close(x, y, 1e-10); }
bool relatively_close(double x, double y) { return std::abs(x - y) <= 1e-10 * std::max(std::abs(x), std::abs(y)); }

void check_cost(const LeafCost& cost, const Graph& graph, double least) {
  Control control;
  const auto best = best_trees(graph, cost, 1, control);
  if (no_cost(least)) return require(best.empty(), "a tree where its rule allows none");
  require(close(least_cost(graph, cost, control), least), "least cost");
  require(best.size() == 1 && close(best[0].score, least), "cost of the best tree");
}

// P(class | a new row): by recursion where tests are fixed, else by every tree, if these are few.
void check_prediction(fuzz::Bytes& in, const Case& c, const Posterior& p) {
  Control control;
  std::vector<double> got(c.d.c), want(c.d.c, 0);
  if (c.d.columns.empty()) {
    std::vector<std::uint8_t> row(c.d.t + 1);
    for (auto& x : row) x = in.flag();
    p.predict(row.data(), 1, got.data(), control);
    const auto average = naive::predict(c.space(), c.weights, row.data());
    want.assign(average.begin(), average.end());
  } else {
    const auto trees = c.trees(300, LeafCost(CostKind::error, c.d.c));
    if (trees.empty()) return;
    const local_cases::NewRow row(c.d, in);
    p.predict({nullptr, row.reach.data(), 1, c.d.t}, got.data(), control);
    for (const naive::Tree& tree : trees) {
      const auto [rows, depth] = row.leaf(c, tree.key);
      const double w = std::exp(static_cast<double>(tree.log_joint) - p.log_evidence());
      for (std::size_t k = 0; k < c.d.c; ++k)
        want[k] += w * static_cast<double>(c.weights.theta(c.d.class_counts(rows), depth, k));
    }
  }
  for (std::size_t k = 0; k < c.d.c; ++k) require(std::abs(got[k] - want[k]) < 1e-9, "prediction");
}

// Examples left out, and leaves whose marginals and shares have powers: a few of them by a recursion of their own.
void check_left_out(fuzz::Bytes& in, const Case& c, const std::shared_ptr<const Graph>& graph) {
  const double power = std::array{1.0, 0.5, 0.1, 0.0}[in.number(0, 3)],
               kappa = std::array{0.0, 1.0, 0.5}[in.number(0, 2)];
  const auto leaf =
      std::make_shared<const Dirichlet>(DirichletParameters(c.weights.a, power, 1, kappa), c.d.class_counts(c.d.all()));
  Control control;
  const Posterior p(graph, c.weights.prior, leaf, c.linear, c.options.n_threads, control);
  const auto all = naive::left_out(c.space(), c.weights, power, kappa, 0, 0, false).u;
  if (!(all > 0) || !std::isfinite(all)) return;
  require(close(p.log_evidence(), static_cast<double>(std::log(all))), "evidence with powers");
  const auto got = leave_one_out(p, c.d.counts.data(), c.d.n, c.options.n_threads, control);
  std::size_t at = 0;
  for (std::uint32_t r = 0; r < c.d.n; ++r)
    for (std::size_t y = 0; y < c.d.c; ++y) {
      if (c.d.counts[r * c.d.c + y] == 0) continue;
      if (in.number(0, 7) == 0) {
        const auto want = naive::left_out(c.space(), c.weights, power, kappa, r, y, true);
        for (std::size_t x = 0; x < c.d.c; ++x)
          require(relatively_close(got[at + x], static_cast<double>(want.g[x] / all)), "an example left out");
      }
      at += c.d.c;
    }
  require(at == got.size(), "a line for each example");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes in(data, size);
  Case c{fuzz::table_or_columns(in, 12, 5, 2, 4, in.flag() ? 3 : 400), {}, {}, in.flag(), 0};
  const naive::Table& d = c.d;
  GraphOptions& o = c.options;
  o.min_leaf = in.number(1, 4);
  if (d.total(d.all()) < o.min_leaf) return 0;
  o.max_depth = static_cast<int>(in.number(0, d.columns.empty() ? 5 : 4)) - 1;
  o.merge = in.number(0, 3) != 0;
  o.frontier = in.number(0, 3) != 0;
  o.n_threads = in.number(0, 15) == 0 ? 2 : 1;
  c.weights = fuzz::weights(in, d);
  o.by_depth = o.max_depth >= 0 || c.weights.a.size() > 1 || naive::depends_on_depth(c.weights.prior) || in.flag();
  const LeafCost cost = naive::some_cost(in.byte(), d.c, naive::some_rule(in.byte(), d.class_counts(d.all())));
  const auto all = available_kernels();
  use_kernels(all[in.byte() % all.size()]->name);

  const naive::Answers expected = naive::answers(c.space(), c.weights, cost);
  Control control;
  const auto graph = std::make_shared<const Graph>(d.core(), o, control);
  Natural count(static_cast<std::uint64_t>(expected.count >> 64));
  count = count * (Natural(std::uint64_t{1} << 63) * Natural(2));
  count += Natural(static_cast<std::uint64_t>(expected.count));
  require(count_trees(*graph, control) == count, "number of trees");
  check_cost(cost, *graph, expected.least);
  if (expected.u > 0 && std::isfinite(expected.u)) {  // not beyond the range of the naive twin
    const Posterior p(graph, c.weights.prior, c.leaf(), c.linear, o.n_threads, control);
    const auto best = static_cast<double>(std::log(expected.best));
    require(close(p.log_evidence(), static_cast<double>(std::log(expected.u))), "evidence");
    require(close(p.log_map(control), best), "joint of the most probable tree");
    require(close(p.log_joint(map_tree(p, control)), best), "the most probable tree");
    check_prediction(in, c, p);
    const Key drawn = p.sample(in.byte(), 1, in.byte(), control)[0];
    require(close(p.log_joint(drawn), naive::log_joint(c.space(), c.weights, drawn)), "a draw");
    if (in.number(0, 3) == 0) check_left_out(in, c, graph);
  }
  use_kernels("");
  return 0;
}
