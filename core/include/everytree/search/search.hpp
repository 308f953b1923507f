// Branch and bound over the states of a table: one tree of least cost, without folding the whole graph.
//
//     least(s) = min(leaf(s), min_i least(s ∧ i) + least(s ∧ ¬i))
//
// Every state met keeps a proven lower bound and the cost of a known tree. A split is left as soon as the lower bounds
// of its sides add up to what is known already; the second side is asked only for what the first one leaves. States
// with two levels of tests left are closed by the frontier, exactly; at every other state the frontier gives the best
// tree of two levels: a first known tree, and the order in which splits are tried.
//
// When a limit ends the search, what is known so far is the answer: a tree, a lower bound, and the reason.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "everytree/control.hpp"
#include "everytree/fold/best.hpp"
#include "everytree/search/bounds.hpp"
#include "everytree/search/store.hpp"
#include "everytree/weights/leaf.hpp"

namespace everytree {

struct SearchOptions {
  std::int64_t min_leaf = 1;
  bool merge = true;  // false: equal covers are searched again (for tests)
  BoundSwitches bounds;
  std::size_t n_threads = 1;
  // Where three levels are left, both sides of a split are folded together (SideFold), if the cover has at least so
  // many chunks of 32 rows. In smaller covers counting is a small part of the work, and many tests of the cover are
  // alike or infeasible on a side.
  std::size_t sides_from = 32;
};

struct Found {
  double cost = 0, lower = 0;  // of the tree; and no tree costs less than `lower`
  bool proved = false;         // the tree has the least cost, and (if asked) the fewest leaves among those
  std::string stopped;         // why the search ended early: "time", "memory", "stopped", or ""
  Key key;
  std::size_t n_states = 0, n_folds = 0, n_bytes = 0;
};

// A state of this search: its place is the number of tests that may still follow on a path.
struct Known : Placed {
  static constexpr std::uint32_t kTwoLevels = 0xffffffffu;

  // lower ≤ least cost ≤ upper. Other threads may read them while one thread works on the state.
  std::atomic<double> lower{0}, upper{0};
  // No tree that costs at most `cap` has less than `fewest` leaves. Once the least cost is proved, `leaves` is that of
  // the known tree. One thread looks at leaves.
  double cap = -kNoCost;
  std::uint32_t fewest = 1, leaves = 0xffffffffu;
  // The known tree: the test class of its first split and the states of its sides (null where the side is a leaf or
  // has one split), or kTwoLevels: the best tree of two levels.
  std::uint32_t split = kTwoLevels;
  Known* side[2] = {nullptr, nullptr};
  std::atomic<bool> busy{false};
  bool folded = false;  // else the known tree is what the parent's frontier told: a leaf or one split

  std::int32_t left() const { return place; }
  bool proved() const { return lower.load(std::memory_order_relaxed) >= upper.load(std::memory_order_relaxed); }
};

class Search {
 public:
  Search(std::shared_ptr<const CountTable> table, const LeafCost& cost, const SearchOptions& options);
  ~Search();
  // A tree of at most max_depth tests on a path (−1: no limit); the smallest of those of least cost, if asked. What
  // earlier runs proved is kept: a run goes on where a limit ended another, and one of another depth uses its states.
  Found run(int max_depth, bool smallest, Control& control);

 private:
  class Worker;
  struct Shared;
  void solve_root(Known& root, Control& control);
  std::unique_ptr<Shared> shared_;
};

}  // namespace everytree
