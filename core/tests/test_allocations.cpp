// Memory that runs out at any moment: the k-th allocation of a question fails, for k = 1, 2, …
//
// What must hold each time: std::bad_alloc or a limit arrives (nothing aborts, no thread is left), everything that was
// allocated is freed, and the same objects give the same answer when they are asked again.
#include <algorithm>
#include <functional>
#include <numeric>
#include <string>

#include "check.hpp"
#include "common/errors.hpp"
#include "common/stream.hpp"
#include "counting_new.hpp"
#include "down/leave_one_out.hpp"
#include "down/posterior.hpp"
#include "grow/c45.hpp"
#include "grow/grow_options.hpp"
#include "grow/path_average.hpp"
#include "mcmc/collapsed.hpp"
#include "mcmc/tree_chains.hpp"
#include "naive.hpp"
#include "ordered/solver.hpp"
#include "search/probable.hpp"
#include "search/search.hpp"
#include "sets/likeliest.hpp"
#include "sets/near_best.hpp"
#include "sets/pareto.hpp"
#include "sets/query.hpp"

using namespace everytree;

namespace {

using counting::asked, counting::fails_at, counting::held;
using Answer = std::vector<double>;
using Question = std::function<Answer()>;

void add(Answer& answer, const Key& key) { answer.insert(answer.end(), key.begin(), key.end()); }

constexpr long kAll = 400, kSome = 60;  // the first so many allocations, then so many more of the rest

// Ask with the k-th allocation failing, then again; `make` gives a fresh question, with the objects that it keeps.
void try_all(const char* name, const std::function<Question()>& make) {
  asked = fails_at = 0;
  Answer right;
  long n = 0;
  {
    const Question question = make();
    asked = 0;
    right = question();
    n = asked;
  }
  CHECK(!right.empty());
  std::vector<long> moments;
  for (long k = 1; k <= std::min(n, kAll); ++k) moments.push_back(k);
  for (long i = 1; i <= kSome && n > kAll; ++i) moments.push_back(kAll + (n - kAll) * i / kSome);
  long failed = 0, limits = 0, answered = 0;
  for (const long k : moments) {
    const long before = held;
    {
      const Question question = make();
      asked = 0;
      fails_at = k;
      try {
        const Answer answer = question();
        ++answered;  // a helper thread or a cache that could be done without
        fails_at = 0;
        CHECK(answer == right);
      } catch (const std::bad_alloc&) {
        ++failed;
      } catch (const LimitReached&) {
        ++limits;
      }
      fails_at = 0;
      CHECK(question() == right);
    }
    CHECK(held == before);
  }
  std::printf("     %-24s %6ld allocations; %ld tried: %ld bad_alloc, %ld limits, %ld answered all the same\n", name, n,
              static_cast<long>(moments.size()), failed, limits, answered);
  CHECK(failed + limits > 0);
}

naive::Table some_table(unsigned seed, std::size_t rows, std::size_t tests, std::size_t classes) {
  std::mt19937 random(seed);
  naive::Table d(rows, tests, classes);
  for (auto& x : d.rows) x = random() & 1;
  // Classes that two tests tell, with some noise: the best and the most probable trees are no single leaves.
  for (std::size_t r = 0; r < d.n; ++r) {
    const std::size_t told = d.rows[r * d.t] ^ d.rows[r * d.t + 1];
    d.counts[r * classes + (random() % 6 == 0 ? random() % classes : told)] = 1 + random() % 2;
  }
  return d;
}

std::shared_ptr<const Dirichlet> ones(const naive::Table& d) {
  const std::vector<std::vector<double>> a{std::vector<double>(d.class_counts(d.all()).size(), 1.0)};
  return std::make_shared<const Dirichlet>(a, d.class_counts(d.all()));
}

GraphOptions depth_of(int depth, std::size_t threads) {
  GraphOptions o;
  o.max_depth = depth;
  o.min_leaf = 2;
  o.n_threads = threads;
  return o;
}

}  // namespace

TEST(the_graph_and_the_posterior) {
  const naive::Table d = some_table(1, 60, 8, 3);
  const auto table = d.core();
  const auto leaf = ones(d);
  for (const std::size_t threads : {1, 3}) {
    try_all("graph and posterior", [&]() -> Question {
      return [&, threads] {
        Control control;
        const auto graph = std::make_shared<const Graph>(table, depth_of(4, threads), control);
        const Posterior p(graph, naive::some_prior(4, d.t), leaf, true, threads, control);
        Answer out = p.inclusion(control);
        std::vector<double> said(d.n * 3);
        p.predict(d.rows.data(), d.n, said.data(), control);
        out.insert(out.end(), said.begin(), said.end());
        for (const Key& key : p.sample(0, 20, 3, control)) add(out, key);
        add(out, map_tree(p, control));
        return out;
      };
    });
    Control control;
    const auto graph = std::make_shared<const Graph>(table, depth_of(4, threads), control);
    const Posterior kept(graph, naive::some_prior(4, d.t), leaf, true, threads, control);
    try_all("left-out examples", [&]() -> Question {
      return [&, threads] {
        Control free;
        return leave_one_out(kept, d.counts.data(), d.n, threads, free);
      };
    });
  }
}

TEST(sets_of_trees) {
  const naive::Table d = some_table(2, 50, 7, 2);
  const LeafCost error(CostKind::error, 2), gini(CostKind::gini, 2);
  Control control;
  const auto graph = std::make_shared<const Graph>(d.core(), depth_of(3, 2), control);
  try_all("best trees and fronts", [&]() -> Question {
    return [&] {
      Control free;
      Answer out;
      for (const Ranked& tree : best_trees(*graph, gini, 8, free)) add(out, tree.key);
      for (const FrontPoint& point : cost_front(*graph, error, free)) add(out, point.key);
      ParetoQuery query;
      query.costs = {&error};
      query.rank = {query.depth(), 0, query.leaves()};
      query.front = true;
      for (const Judged& tree : pareto_trees(*graph, query, free)) add(out, tree.key);
      return out;
    };
  });
  try_all("near-best trees", [&]() -> Question {
    return [&] {
      Control free;
      NearBest near(graph, 6, 2, free);
      std::vector<std::int32_t> limits = near.least();
      for (std::int32_t& limit : limits)
        if (limit >= 0) limit += 2;
      near.keep(limits, free);
      Answer out(limits.begin(), limits.end());
      return out;
    };
  });
}

TEST(searches_that_are_asked_again) {
  const naive::Table d = some_table(3, 80, 9, 2);
  const LeafCost error(CostKind::error, 2);
  for (const std::size_t threads : {1, 3}) {
    try_all("branch and bound", [&]() -> Question {
      SearchOptions options;
      options.min_leaf = 2;
      options.n_threads = threads;
      const auto search = std::make_shared<Search>(d.core(), error, options);
      return [search] {
        Control control;
        const Found found = search->run(4, true, control);
        return Answer{found.cost, static_cast<double>(found.proved),
                      static_cast<double>(std::count(found.key.begin(), found.key.end(), -1))};
      };
    });
  }
  const auto leaf = ones(d);
  try_all("most probable tree", [&]() -> Question {
    ProbableOptions options;
    options.max_depth = 4;
    options.min_leaf = 2;
    options.by_depth = true;
    const auto search = std::make_shared<ProbableSearch>(d.core(), naive::some_prior(4, d.t), leaf, options);
    return [search] {
      Control control;
      const MostProbable found = search->run(control);
      CHECK(found.key.size() > 3);
      Answer out{static_cast<double>(found.proved)};
      add(out, found.key);
      return out;
    };
  });
}

TEST(every_cut_point) {
  std::mt19937 random(4);
  const std::size_t n = 60, d = 3;
  std::vector<std::uint32_t> ranks(n * d);
  std::vector<std::uint16_t> classes(n);
  for (auto& r : ranks) r = random() % 20;
  for (auto& c : classes) c = static_cast<std::uint16_t>(random() % 2);
  const ordered::Problem problem(n, d, ranks, classes, std::vector<std::int32_t>(n, 1), 2, {0, 1, 1, 0}, 0, 2);
  try_all("every cut-point", [&]() -> Question {
    return [&] {
      Control control;
      return Answer{static_cast<double>(ordered::Solver(problem, 3, control).run().cost)};
    };
  });
}

TEST(chains) {
  const naive::Table d = some_table(5, 50, 7, 2);
  const auto leaf = ones(d);
  const auto table = d.core();
  try_all("chains over trees", [&]() -> Question {
    return [&] {
      Control control;
      ChainSettings settings;
      settings.n_chains = 2;
      TreeChains made(table, 4, 2, TreeTarget::posterior(naive::some_prior(4, d.t), leaf), settings, control);
      Answer out;
      for (const TreeDraws& chain : made.run({30, 0, 5, {}}, control).chains) add(out, chain.keys);
      return out;
    };
  });
  try_all("chains over tops", [&]() -> Question {
    const auto collapsed = std::make_shared<Collapsed>(table, 4, 2, naive::some_prior(4, d.t), leaf, true, 2);
    return [collapsed] {
      Control control;
      CollapsedPlan plan;
      plan.n_chains = 2;
      plan.n_draws = 20;
      plan.burn_in = 0;
      Answer out;
      for (const ChainDraws& chain : collapsed->run(plan, control).chains)
        out.insert(out.end(), chain.log_joint.begin(), chain.log_joint.end());
      return out;
    };
  });
}

TEST(growers) {
  Stream stream(6, 0);
  const std::size_t n = 60;
  std::vector<double> numeric(n);
  std::vector<std::int32_t> nominal(n), classes(n);
  for (std::size_t k = 0; k < n; ++k) {
    numeric[k] = static_cast<double>(stream.below(12)) / 4;
    nominal[k] = static_cast<std::int32_t>(stream.below(3));
    classes[k] = stream.below(5) == 0 ? 0 : numeric[k] > 1;
  }
  const auto columns = [&](bool with_numbers) {
    grow::Columns out(n);
    if (with_numbers) out.add_numeric(numeric);
    out.add_nominal(nominal, 3);
    out.set_classes(classes, 2, std::vector<std::int64_t>(n, 1));
    return out;
  };
  try_all("C4.5", [&]() -> Question {
    return [&] {
      Control control;
      grow::Columns data = columns(true);
      const grow::MultiwayTree tree = grow::grow_c45(data, grow::C45Options{}, control);
      std::vector<double> said(n * 2);
      grow::predict_c45(tree, data, true, said.data(), control);
      return said;
    };
  });
  try_all("option trees", [&]() -> Question {
    return [&] {
      Control control;
      grow::Columns data = columns(true);
      grow::GrowSettings settings;
      settings.lookahead = 2;
      settings.max_depth = 3;
      settings.option_factor = 0.1;
      const grow::Grown grown = grow::grow_options(data, settings, Prior{}, {{0.5, 0.5}}, control);
      Answer out;
      for (std::size_t k = 0; k < grown.graph.n_options(); ++k) out.push_back(grown.graph.log_split(k));
      out.push_back(static_cast<double>(grown.graph.n_nodes()));
      return out;
    };
  });
  try_all("path averages", [&]() -> Question {
    return [&] {
      Control control;
      const grow::Columns data = columns(false);
      const auto tree = grow::grow_path_average(data, 2.0, grow::Spread{}, control);
      return tree.log_leaf;
    };
  });
}

int main() { return check::run(); }
