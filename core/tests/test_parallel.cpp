// Threads and limits: every item once, exceptions arrive, answers do not depend on the number of threads, and work
// stops when it is told to.
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>

#include "check.hpp"
#include "common/control.hpp"
#include "common/errors.hpp"
#include "common/parallel.hpp"
#include "down/posterior.hpp"
#include "naive.hpp"
#include "sets/likeliest.hpp"
#include "sets/near_best.hpp"
#include "sets/pareto.hpp"
#include "sets/query.hpp"

using namespace everytree;

namespace {

// A space of some thousand states: long enough to be stopped, short enough for a test.
naive::Table medium_table(unsigned seed, std::size_t classes) {
  std::mt19937 random(seed);
  naive::Table d(150, 14, classes);
  for (auto& x : d.rows) x = random() & 1;
  for (std::size_t r = 0; r < d.n; ++r) d.counts[r * classes + random() % classes] = 1 + random() % 2;
  return d;
}

GraphOptions medium_options(int max_depth = 4, std::size_t n_threads = 1) {
  GraphOptions o;
  o.max_depth = max_depth;
  o.min_leaf = 2;
  o.n_threads = n_threads;
  return o;
}

// Why f was stopped: 't'ime, 'm'emory, 's'topped, or '-' if it came to its end.
template <class F>
char ended(F&& f) {
  try {
    f();
  } catch (const LimitReached& e) {
    return e.reason == LimitReached::Reason::time ? 't' : e.reason == LimitReached::Reason::memory ? 'm' : 's';
  }
  return '-';
}

}  // namespace

TEST(every_item_is_done_once) {
  for (std::size_t n : {0, 1, 2, 63, 64, 65, 1000, 40000})
    for (std::size_t threads : {0, 1, 2, 3, 4}) {
      std::vector<std::atomic<int>> done(n);
      std::atomic<bool> workers_in_range{true};
      Control control;
      for_each_parallel(n, threads, control, "testing", [&](std::size_t item, std::size_t worker) {
        ++done[item];
        if (worker >= std::max<std::size_t>(1, threads)) workers_in_range = false;
      });
      bool once = true;
      for (const auto& x : done) once = once && x == 1;
      CHECK(once);
      CHECK(workers_in_range);
    }
}

TEST(an_exception_of_any_worker_arrives) {
  for (std::size_t threads : {1, 2, 3, 4})
    for (std::size_t bad : {0, 1, 499, 998, 999}) {
      std::vector<std::atomic<int>> done(1000);
      Control control;
      std::string message;
      try {
        for_each_parallel(1000, threads, control, "testing", [&](std::size_t item, std::size_t) {
          if (item == bad) throw std::runtime_error("item " + std::to_string(item));
          ++done[item];
        });
      } catch (const std::runtime_error& e) {
        message = e.what();
      }
      CHECK(message == "item " + std::to_string(bad));
      bool at_most_once = true;
      for (const auto& x : done) at_most_once = at_most_once && x <= 1;
      CHECK(at_most_once);
    }
}

TEST(an_exception_stops_the_others) {
  for (std::size_t threads : {1, 2, 4}) {
    Control control;
    std::atomic<std::size_t> done{0};
    bool thrown = false;
    try {
      for_each_parallel(100000, threads, control, "testing", [&](std::size_t item, std::size_t) {
        if (item == 0) throw std::runtime_error("first");
        ++done;
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      });
    } catch (const std::runtime_error&) {
      thrown = true;
    }
    CHECK(thrown);
    CHECK(done < 50000);
  }
}

TEST(when_all_workers_throw_one_exception_arrives) {
  Control control;
  std::atomic<int> thrown{0};
  int caught = 0;
  try {
    for_each_parallel(64, 4, control, "testing", [&](std::size_t, std::size_t) {
      ++thrown;
      throw InvalidInput("bad");
    });
  } catch (const InvalidInput&) {
    ++caught;
  }
  CHECK(caught == 1);
  CHECK(thrown >= 1 && thrown <= 4);
}

TEST(answers_do_not_depend_on_the_number_of_threads) {
  for (std::size_t classes : {2, 3})
    for (unsigned prior : {4u, 7u}) {
      const naive::Table d = medium_table(1, classes);
      const auto table = d.core();
      const auto leaf = std::make_shared<const Dirichlet>(
          std::vector<std::vector<double>>{std::vector<double>(classes, 1.0)}, d.class_counts(d.all()));
      const LeafCost gini(CostKind::gini, classes);
      std::vector<Wide> values;
      std::vector<double> leaves, depth, inclusion, predicted;
      std::vector<Key> draws;
      Key best;
      Natural count;
      for (std::size_t threads = 1; threads <= 4; ++threads) {
        Control control;
        const auto g = std::make_shared<const Graph>(table, medium_options(3, threads), control);
        const Posterior p(g, naive::some_prior(prior, d.t), leaf, true, threads, control);
        std::vector<double> rows_out(d.n * classes);
        p.predict(d.rows.data(), d.n, rows_out.data(), control);
        if (threads == 1) {
          values = p.values();
          leaves = p.leaves_distribution(control);
          depth = p.depth_distribution(control);
          inclusion = p.inclusion(control);
          draws = p.sample(0, 50, 3, control);
          best = best_trees(*g, gini, 1, control)[0].key;
          count = count_trees(*g, control);
          predicted = rows_out;
          continue;
        }
        // Bit by bit.
        CHECK(values == p.values());
        CHECK(leaves == p.leaves_distribution(control));
        CHECK(depth == p.depth_distribution(control));
        CHECK(inclusion == p.inclusion(control));
        CHECK(draws == p.sample(0, 50, 3, control));
        CHECK(best == best_trees(*g, gini, 1, control)[0].key);
        CHECK(count == count_trees(*g, control));
        CHECK(predicted == rows_out);
      }
    }
}

TEST(near_best_trees_and_queries_do_not_depend_on_the_number_of_threads) {
  const naive::Table d = medium_table(5, 3);
  const auto table = d.core();
  const LeafCost error(CostKind::error, 3);
  ParetoQuery query;
  query.costs = {&error};
  query.rank = {query.depth(), 0, query.leaves()};
  query.front = true;
  std::vector<Natural> use;
  NearBest::Rows rows;
  std::vector<Key> front;
  for (std::size_t threads = 1; threads <= 4; ++threads) {
    Control control;
    const auto g = std::make_shared<const Graph>(table, medium_options(3, threads), control);
    NearBest near(g, 8, threads, control);
    std::vector<std::int32_t> limits = near.least();
    for (std::int32_t& limit : limits)
      if (limit >= 0) limit += 3;
    near.keep(limits, control);
    std::vector<Key> keys;
    for (const Judged& tree : pareto_trees(*g, query, control)) keys.push_back(tree.key);
    const NearBest::Rows said = near.ask({d.rows.data(), nullptr, d.n, d.t}, {1, 1, 1}, control);
    if (threads == 1) {
      use = near.test_use(control);
      rows = said;
      front = keys;
      CHECK(front.size() > 1);
      continue;
    }
    CHECK(use == near.test_use(control));
    CHECK(rows.mean == said.mean && rows.votes == said.votes);
    CHECK(rows.least == said.least && rows.greatest == said.greatest);
    CHECK(front == keys);
  }
}

TEST(a_time_limit_ends_the_work) {
  for (std::size_t threads : {1, 3}) {
    Control control;
    control.time_limit = 0.02;
    CHECK(ended([&] {
            for_each_parallel(1000000, threads, control, "waiting", [](std::size_t, std::size_t) {
              std::this_thread::sleep_for(std::chrono::microseconds(100));
            });
          }) == 't');
    CHECK(control.seconds() >= 0.02);
    CHECK(control.seconds() < 5);  // 100 seconds of work
  }
  const naive::Table d = medium_table(2, 2);
  Control control;
  control.time_limit = 0;
  CHECK(ended([&] { Graph(d.core(), medium_options(), control); }) == 't');
  control.time_limit = 1000;
  CHECK(ended([&] { Graph(d.core(), medium_options(), control); }) == '-');
}

TEST(every_long_computation_asks_for_the_limits) {
  const naive::Table d = medium_table(3, 2);
  Control free;
  const auto g = std::make_shared<const Graph>(d.core(), medium_options(), free);
  const auto leaf =
      std::make_shared<const Dirichlet>(std::vector<std::vector<double>>{{1.0, 1.0}}, d.class_counts(d.all()));
  const Prior prior = naive::some_prior(4, d.t);
  const Posterior p(g, prior, leaf, true, 1, free);
  const LeafCost error(CostKind::error, 2);
  std::vector<double> out(d.n * 2);
  Control control;
  control.stop();
  CHECK(ended([&] { Graph(d.core(), medium_options(), control); }) == 's');
  CHECK(ended([&] { Posterior(g, prior, leaf, true, 2, control); }) == 's');
  CHECK(ended([&] { count_trees(*g, control); }) == 's');
  CHECK(ended([&] { least_cost(*g, error, control); }) == 's');
  CHECK(ended([&] { best_trees(*g, error, 5, control); }) == 's');
  CHECK(ended([&] { cost_front(*g, error, control); }) == 's');
  CHECK(ended([&] { p.inclusion(control); }) == 's');
  CHECK(ended([&] { p.leaves_distribution(control); }) == 's');
  CHECK(ended([&] { p.depth_distribution(control); }) == 's');
  CHECK(ended([&] { p.expected_leaves(control); }) == 's');
  CHECK(ended([&] { map_tree(p, control); }) == 's');
  CHECK(ended([&] { top_trees(p, 5, control); }) == 's');
  CHECK(ended([&] { p.sample(0, 5, 1, control); }) == 's');
  CHECK(ended([&] { p.predict(d.rows.data(), d.n, out.data(), control); }) == 's');
  Control fresh;  // a new question has its own control
  CHECK(ended([&] { p.inclusion(fresh); }) == '-');
}

TEST(another_thread_can_stop_the_work) {
  for (std::size_t threads : {1, 4}) {
    Control control;
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      control.stop();
    });
    CHECK(ended([&] {
            for_each_parallel(1000000, threads, control, "waiting", [](std::size_t, std::size_t) {
              std::this_thread::sleep_for(std::chrono::microseconds(100));
            });
          }) == 's');
    other.join();
    CHECK(control.seconds() < 5);
  }
}

TEST(the_callback_runs_in_the_calling_thread_and_may_throw) {
  for (std::size_t threads : {1, 3}) {
    Control control;
    const auto caller = std::this_thread::get_id();
    std::atomic<int> calls{0}, elsewhere{0}, odd{0};
    control.poll = [&](const Progress& p) {
      ++calls;
      if (std::this_thread::get_id() != caller) ++elsewhere;
      if (p.stage != std::string("waiting") || p.done > p.total || p.total != 3000 || p.seconds < 0.03) ++odd;
      if (calls == 2) throw InvalidInput("interrupted");
    };
    bool interrupted = false;
    try {
      for_each_parallel(3000, threads, control, "waiting",
                        [](std::size_t, std::size_t) { std::this_thread::sleep_for(std::chrono::microseconds(200)); });
    } catch (const InvalidInput& e) {
      interrupted = e.what() == std::string("interrupted");
    }
    CHECK(interrupted);
    CHECK(calls == 2 && elsewhere == 0 && odd == 0);
  }
}

// Only the calling thread polls: the others must not work to the end of an item that may take for ever.
TEST(what_ends_one_thread_ends_the_items_beside_it) {
  Control control;
  std::atomic<int> waiting{0};
  const auto endless = [&](bool calling_thread) {
    ++waiting;
    for (;;) {
      control.check(calling_thread, "waiting", 0, 1);
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  };
  control.poll = [&](const Progress&) {
    if (waiting == 3) throw InvalidInput("interrupted");
  };
  bool interrupted = false;
  try {
    for_each_parallel(3, 3, control, "waiting", [&](std::size_t, std::size_t worker) { endless(worker == 0); });
  } catch (const InvalidInput&) {  // the reason of the first, not that of those that it ended
    interrupted = true;
  }
  CHECK(interrupted);
  CHECK(waiting == 3);
  // The question may go on with what it knows: nobody is abandoned any more.
  control.poll = nullptr;
  std::atomic<int> done{0};
  for_each_parallel(100, 3, control, "again", [&](std::size_t, std::size_t) { ++done; });
  CHECK(done == 100);
}

TEST(a_memory_limit_ends_the_graph) {
  const naive::Table d = medium_table(4, 2);
  Control control;
  control.memory_limit = 1000;
  CHECK(ended([&] { Graph(d.core(), medium_options(), control); }) == 'm');
  Control free;
  const Graph g(d.core(), medium_options(), free);
  control.memory_limit = g.bytes() * 2;
  CHECK(ended([&] { Graph(d.core(), medium_options(), control); }) == '-');
}

int main() { return check::run(); }
