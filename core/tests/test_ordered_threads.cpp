// The ordered search on several threads: the same tree, certificate and steps as on one, and what ends one of them ends
// all.
#include <atomic>
#include <random>
#include <thread>

#include "check.hpp"
#include "ordered/solver.hpp"

using namespace everytree;
using namespace everytree::ordered;

namespace {

// Columns of different numbers, classes by two of them with much noise: many intervals wait for long.
Problem noisy(unsigned seed, std::size_t n, std::size_t n_columns, std::size_t n_classes, bool weighted,
              std::int64_t min_leaf) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> ranks;
  for (std::size_t f = 0; f < n_columns; ++f) {
    std::vector<std::uint32_t> column(n);
    for (std::size_t r = 0; r < n; ++r) column[r] = static_cast<std::uint32_t>(r);
    std::shuffle(column.begin(), column.end(), random);
    ranks.insert(ranks.end(), column.begin(), column.end());
  }
  std::vector<std::uint16_t> classes;
  std::vector<std::int32_t> weights;
  for (std::size_t r = 0; r < n; ++r) {
    const std::size_t rule = (ranks[r] * 3 / n + ranks[n + r] * 2 / n) % n_classes;
    classes.push_back(static_cast<std::uint16_t>(random() % 3 == 0 ? random() % n_classes : rule));
    weights.push_back(weighted ? 1 + static_cast<std::int32_t>(random() % 3) : 1);
  }
  std::vector<Value> costs(n_classes * n_classes, 1);
  for (std::size_t c = 0; c < n_classes; ++c) costs[c * n_classes + c] = 0;
  return Problem(n, n_columns, ranks, classes, weights, n_classes, costs, seed % 2, min_leaf);
}

bool same(const Steps& a, const Steps& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t s = 0; s < a.size(); ++s)
    if (a[s].column != b[s].column || a[s].rank != b[s].rank) return false;
  return true;
}

}  // namespace

TEST(threads_change_nothing) {
  for (unsigned k = 0; k < 12; ++k) {
    const int depth = k % 3 == 2 ? 4 : 3;
    const Problem problem = noisy(k,
                                  depth == 4   ? 40
                                  : k % 4 == 1 ? 50
                                               : 120,
                                  3, k % 2 == 0 ? 2 : 3, k % 4 == 1, k % 5 < 2 ? 1 : 5);
    Control control;
    const Answer one = Solver(problem, depth, control).run();
    CHECK(one.proved && one.stopped.empty());
    for (const std::size_t n_threads : {2u, 3u, 7u}) {
      const Answer more = Solver(problem, depth, control, n_threads).run();
      CHECK(more.proved && more.cost == one.cost && more.lower == one.lower);
      CHECK(same(more.tree, one.tree));
      CHECK(more.n_solved == one.n_solved && more.n_cuts == one.n_cuts && more.n_scans == one.n_scans);
    }
  }
}

// A Ctrl-C is heard once, perhaps while the first greedy tree is half grown: what is offered is a whole tree.
TEST(a_tree_that_is_half_grown_is_no_answer) {
  const Problem problem = noisy(3, 600, 6, 2, false, 5);
  for (const int at : {2, 9, 12, 15}) {
    int heard = 0;
    Control control;
    control.poll = [&](const Progress&) {
      if (heard == at) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(31));  // so that the next look polls again
      if (++heard == at) throw LimitReached(LimitReached::Reason::stopped, "interrupted");
    };
    const Answer answer = Solver(problem, 5, control, 1).run();
    std::size_t leaves = 0;
    for (const Step& step : answer.tree) leaves += step.column < 0 ? 1 : 0;
    CHECK(heard >= at && answer.stopped == "stopped" && answer.tree.size() == 2 * leaves - 1);
  }
}

// A limit of time, a stop from outside, and what the calling thread hears in its poll: all end soon.
TEST(what_ends_one_thread_ends_all) {
  const Problem problem = noisy(3, 600, 6, 2, false, 5);
  for (int how = 0; how < 4; ++how) {
    bool told = false;
    Control control;
    std::thread other;
    if (how == 0) control.time_limit = 0.1;
    if (how == 1)
      other = std::thread([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        control.stop();
      });
    if (how == 2)
      control.poll = [](const Progress& p) {
        if (p.seconds > 0.1) throw LimitReached(LimitReached::Reason::stopped, "interrupted");
      };
    if (how == 3)  // once, as a Ctrl-C
      control.poll = [&](const Progress&) {
        if (told) return;
        told = true;
        throw LimitReached(LimitReached::Reason::stopped, "interrupted");
      };
    try {
      const Answer answer = Solver(problem, 5, control, 3).run();
      CHECK(!answer.proved && answer.stopped == (how == 0 ? "time" : "stopped"));
      CHECK(answer.lower <= answer.cost && !answer.tree.empty());
    } catch (const LimitReached& limit) {  // a stop ends the greedy trees too that are grown at the end
      CHECK(how > 0 && limit.reason == LimitReached::Reason::stopped);
    }
    CHECK(control.seconds() < 20);  // all of it takes hours
    if (other.joinable()) other.join();
  }
}

int main() { return check::run(); }
