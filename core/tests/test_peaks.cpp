// A limit of memory is one of bytes: while a question runs under it, all that it has allocated stays within it.
//
// Every question, on tables that are large along one axis each, under limits from little to enough: the answer may be
// LimitReached, but the peak of what was held is at most the limit and a tenth. Each has a fifth of a second, so that
// whatever grows for long is seen only as far as it comes by then.
#include <random>
#include <string>

#include "check.hpp"
#include "common/errors.hpp"
#include "counting_new.hpp"
#include "down/bracket.hpp"
#include "down/leave_one_out.hpp"
#include "down/posterior.hpp"
#include "mcmc/collapsed.hpp"
#include "mcmc/tree_chains.hpp"
#include "mine/itemsets.hpp"
#include "mine/strategies.hpp"
#include "naive.hpp"
#include "search/probable.hpp"
#include "search/search.hpp"
#include "sets/likeliest.hpp"
#include "sets/near_best.hpp"
#include "sets/pareto.hpp"
#include "sets/query.hpp"

using namespace everytree;

namespace {

constexpr double kSeconds = 0.2;
constexpr std::size_t kBeside = 512 << 10;  // what does not grow with anything: names, threads, buffers of one cover

struct Shape {
  const char* name;
  std::size_t rows, tests, classes;
  int depth;
};
constexpr Shape kShapes[] = {
    {"rows", 20'000, 14, 2, 3}, {"tests", 200, 400, 2, 3},  {"classes", 1'200, 24, 60, 3},
    {"depth", 120, 20, 2, 8},   {"between", 600, 60, 3, 4},
};

naive::Table noise(const Shape& shape) {
  std::mt19937 random(7);
  naive::Table d(shape.rows, shape.tests, shape.classes);
  for (auto& x : d.rows) x = random() & 1;
  for (std::size_t r = 0; r < d.n; ++r) d.counts[r * shape.classes + random() % shape.classes] = 1;
  return d;
}

// The limits under which the question was answered, of those that were tried.
using Ask = std::function<void(Control&)>;
void within_limits(const Shape& shape, const char* name, const Ask& ask) {
  for (const std::size_t limit : {1 << 20, 3 << 20, 10 << 20, 30 << 20}) {
    Control control;
    control.time_limit = kSeconds;
    control.memory_limit = limit;
    const long before = counting::bytes;
    counting::peak = before;
    const char* ended = "answered";
    try {
      ask(control);
    } catch (const LimitReached& reached) {
      ended = reached.what();
    }
    const auto most = static_cast<std::size_t>(counting::peak - before);
    if (most > limit + limit / 10 + kBeside) {
      std::printf("     %s of %s: %.1f MB under a limit of %.1f MB (%s)\n", name, shape.name,
                  static_cast<double>(most) / 1e6, static_cast<double>(limit) / 1e6, ended);
      CHECK(false);
    }
    CHECK(counting::bytes == before);
  }
}

std::shared_ptr<const Dirichlet> ones(const naive::Table& d) {
  const std::vector<std::vector<double>> a{std::vector<double>(d.class_counts(d.all()).size(), 1.0)};
  return std::make_shared<const Dirichlet>(a, d.class_counts(d.all()));
}

GraphOptions options_of(const Shape& shape) {
  GraphOptions o;
  o.max_depth = shape.depth;
  o.min_leaf = 2;
  return o;
}

// One question in a space that is made under the same limit.
template <class F>
Ask in_graph(const Shape& shape, std::shared_ptr<const CountTable> table, F question) {
  return [=](Control& control) {
    const auto graph = std::make_shared<const Graph>(table, options_of(shape), control);
    question(graph, control);
  };
}

}  // namespace

TEST(sets_of_trees) {
  if (!counting::kTellsBytes) return;
  for (const Shape& shape : kShapes) {
    const naive::Table d = noise(shape);
    const auto table = d.core();
    const LeafCost error(CostKind::error, shape.classes);
    const auto check = [&](const char* name, auto question) {
      within_limits(shape, name, in_graph(shape, table, question));
    };
    check("number of trees", [](const auto& graph, Control& c) { count_trees(*graph, c); });
    check("best tree", [&](const auto& graph, Control& c) { best_trees(*graph, error, 1, c); });
    check("best trees", [&](const auto& graph, Control& c) { best_trees(*graph, error, 1000, c); });
    check("front", [&](const auto& graph, Control& c) { cost_front(*graph, error, c); });
    check("general front", [&](const auto& graph, Control& c) {
      ParetoQuery query;
      query.costs = {&error};
      query.rank = {query.depth(), 0, query.leaves()};
      query.front = true;
      pareto_trees(*graph, query, c);
    });
    check("near-best trees", [&](const auto& graph, Control& c) {
      NearBest near(graph, 8, 1, c);
      std::vector<std::int32_t> limits = near.least();
      for (std::int32_t& limit : limits)
        if (limit >= 0) limit += 3;
      near.keep(limits, c);
    });
  }
}

TEST(averages) {
  if (!counting::kTellsBytes) return;
  for (const Shape& shape : kShapes) {
    const naive::Table d = noise(shape);
    const auto table = d.core();
    const auto leaf = ones(d);
    const Prior prior = naive::some_prior(static_cast<std::size_t>(shape.depth), d.t);
    const auto check = [&](const char* name, auto question) {
      within_limits(shape, name, [&, question](Control& control) {
        const auto graph = std::make_shared<const Graph>(table, options_of(shape), control);
        const Posterior p(graph, prior, leaf, true, 1, control);
        question(p, control);
      });
    };
    check("evidence", [](const Posterior&, Control&) {});
    check("inclusion", [](const Posterior& p, Control& c) { p.inclusion(c); });
    check("most probable trees", [](const Posterior& p, Control& c) { top_trees(p, 2000, c); });
    check("drawn trees", [](const Posterior& p, Control& c) { p.sample(0, 1000, 3, c); });
    check("left-out examples", [&](const Posterior& p, Control& c) { leave_one_out(p, d.counts.data(), d.n, 1, c); });
    std::vector<double> said(d.n * shape.classes);  // the caller's, who counts it
    check("predictions", [&](const Posterior& p, Control& c) { p.predict(d.rows.data(), d.n, said.data(), c); });
  }
}

TEST(searches) {
  if (!counting::kTellsBytes) return;
  for (const Shape& shape : kShapes) {
    const naive::Table d = noise(shape);
    const auto table = d.core();
    const auto leaf = ones(d);
    const LeafCost error(CostKind::error, shape.classes);
    const Prior prior = naive::some_prior(static_cast<std::size_t>(shape.depth), d.t);
    within_limits(shape, "branch and bound", [&](Control& control) {
      SearchOptions options;
      options.min_leaf = 2;
      Search search(table, error, options);
      search.run(shape.depth, true, control);
    });
    within_limits(shape, "most probable tree", [&](Control& control) {
      ProbableOptions options;
      options.max_depth = shape.depth;
      options.min_leaf = 2;
      options.by_depth = true;
      ProbableSearch search(table, prior, leaf, options);
      search.run(control);
    });
    within_limits(shape, "itemsets", [&](Control& control) {
      ParetoQuery query;
      query.costs = {&error};
      query.rank = {0, query.leaves()};
      mine::Meter meter(control);
      mine::relevant_itemsets(mine::Lattice(*table, query, shape.depth, 2, {}), meter);
    });
  }
}

TEST(chains) {
  if (!counting::kTellsBytes) return;
  for (const Shape& shape : kShapes) {
    const naive::Table d = noise(shape);
    const auto table = d.core();
    const auto leaf = ones(d);
    const Prior prior = naive::some_prior(static_cast<std::size_t>(shape.depth), d.t);
    within_limits(shape, "chains over trees", [&](Control& control) {
      ChainSettings settings;
      settings.n_chains = 2;
      TreeChains made(table, shape.depth, 2, TreeTarget::posterior(prior, leaf), settings, control);
      made.run({20'000, 0, 1, {}}, control);
    });
    within_limits(shape, "chains over tops", [&](Control& control) {
      Collapsed collapsed(table, shape.depth, 2, prior, leaf, true, 1, &control);
      CollapsedPlan plan;
      plan.n_chains = 2;
      plan.n_draws = 2'000;
      plan.burn_in = 0;
      collapsed.run(plan, control);
    });
  }
}

int main() { return check::run(); }
