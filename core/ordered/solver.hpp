// The best tree over every cut-point, level by level.
//
// The two lowest levels are closed at once (two_levels.hpp, walked.hpp). Above them each cut that neighbours do not
// rule out (bounds.hpp) asks for the least costs of its sides, no further than is of use: the second side is asked for
// what the first leaves. A side is asked for more than the best tree leaves it: what is proved of a cut beyond the best
// rules out as many rows around it. Half of what would rule out the rest of the interval is asked (all of it took 1 to
// 11 % more cuts on ten sets of eleven, a quarter up to 20 % less or 40 % more). The interval with the least bound
// comes first, of all columns: good trees are found early, and that bound is one of all trees.
//
// Threads: several intervals, the more the longer the queue, are taken from it at once and solved beside each other,
// each with the best tree that was known before, and what they find is taken in their order. How many does not depend
// on the number of threads, and no interval sees what another finds: so the tree and its certificate are the same for
// any number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/control.hpp"
#include "ordered/bounds.hpp"
#include "ordered/cuts.hpp"
#include "ordered/frame.hpp"
#include "ordered/problem.hpp"
#include "ordered/two_levels.hpp"
#include "ordered/walked.hpp"

namespace everytree::ordered {

struct Answer {
  Value cost = kNever, lower = 0;  // of the tree; and no tree costs less than `lower`
  bool proved = false;
  std::string stopped;  // why the search ended early: "time", "memory", "stopped", or ""
  Steps tree;           // complete: tests and leaves
  std::size_t n_solved = 0, n_cuts = 0, n_scans = 0, n_bytes = 0;
};

class Solver {
 public:
  Solver(const Problem& problem, int max_depth, Control& control, std::size_t n_threads = 1);
  ~Solver();
  Answer run();

 private:
  Solver(const Problem& problem, int max_depth, Control& control, std::size_t n_threads, std::int64_t min_leaf,
         bool calling);
  struct Level;
  struct Interval;
  struct Task;
  void run_tasks(const Cover& cover, int depth, std::vector<Task>& tasks);
  // The least cost of the cover with at most `depth` tests on a path if it is below `limit`, and then `tree`; otherwise
  // a bound that is not below it. `known` has bounds by first column to begin with, and gets better ones.
  Bound solve(const Cover& cover, int depth, Value limit, std::vector<Bound>& known, Steps& tree);
  Bound more_levels(const Cover& cover, int depth, Value limit, std::vector<Bound>& known, Steps& tree);
  // Cut t of an interval of cuts: how far a side is asked, see `slack`, and where its neighbours may lie.
  struct Within {
    std::ptrdiff_t a, b;
    Value slack;
  };
  void solve_sides(const Cover& cover, int depth, Level& level, const CutList& cuts, Value& best, Node& t,
                   const Value leaf[2], const Within& within, Steps& tree);
  Bound solve_side(const Cover& cover, int depth, Level& level, const CutList& cuts, std::ptrdiff_t t,
                   std::ptrdiff_t wide, int side, Value limit, std::vector<Bound>& known, Steps& tree);
  bool solved_widely(const Cover& cover, int depth, Level& level, const CutList& cuts, Node& t, std::ptrdiff_t wide,
                     int side, Value limit);
  void polish(const Cover& cover, int depth, Level& level, Value& best, Steps& tree);
  // Writes a tree with its lowest tests, which the search leaves open; returns its cost, kNever if a leaf is too small.
  Value complete(const Cover& cover, const Steps& tree, std::size_t& at, Steps& out);
  // A complete tree, and what it costs.
  struct Found {
    Value cost = kNever;
    Steps tree;
  };
  Found finished(const Steps& open);
  static void offer(Found&& found, Answer& answer);
  // Greedy trees, grown until the given second: greedy.cpp.
  enum class Measure { gini, entropy, cost };
  Value greedy(const Cover& cover, int depth, Measure measure, double until, Steps& tree) const;
  void grow(Measure measure, double until, Answer& answer) const;
  // A good tree to begin with: dive.cpp.
  void dive(const Cover& cover, int depth, Found& found);
  void refine(const Cover& cover, int depth, Answer& answer);
  struct First {
    double purity;
    std::size_t column;
    std::ptrdiff_t cut;
  };
  std::vector<First> first_cuts(const Cover& cover, Measure measure, double until) const;
  Value better_cut(const Cover& cover, const Steps& tree, std::size_t& column, std::ptrdiff_t& cut) const;
  Value dive_below(const Cover& cover, int depth, std::size_t column, std::ptrdiff_t cut, Steps& tree);
  void count(Answer& answer) const;
  std::size_t bytes() const;

  const Problem& p_;
  Control& control_;
  int depth_;
  std::int64_t min_leaf_;
  std::size_t n_threads_;
  bool calling_, in_task_ = false;
  std::optional<LimitReached::Reason> ended_;  // by which limit
  std::vector<std::unique_ptr<Solver>> crew_;  // what the other threads work with
  const Cover* opened_ = nullptr;              // the cover of the tasks, if it is laid out here
  std::unique_ptr<Solver> loose_;              // the same with leaves of any size, where they may not be
  Cover all_;
  TwoLevels two_;
  WalkedLevels walked_;
  std::vector<std::unique_ptr<Level>> levels_;
  Value root_lower_ = 0;  // no tree costs less: what is known while the root is searched
};

}  // namespace everytree::ordered
