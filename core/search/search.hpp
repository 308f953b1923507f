// Branch and bound over the states of a table: one tree of least cost, without folding the whole graph.
//
//     least(s) = min(leaf(s), min_i least(s ∧ i) + least(s ∧ ¬i))
//
// Every state met keeps a proven lower bound and the cost of a known tree. A split is left as soon as the lower bounds
// of its sides add up to what is known already; the second side is asked only for what the first one leaves. States
// with two levels of tests left are closed by the frontier, exactly; at every other state the frontier gives the best
// tree of two levels: a first known tree, and the order in which splits are tried. Where children choose their tests
// (search/space.hpp) that order is all, and the first known tree has one level.
//
// When a limit ends the search, what is known so far is the answer: a tree, a lower bound, and the reason. A greedy
// tree is grown whatever the limits, and no answer is worse (greedy.hpp).
//
// The splits of a state can also be worked on elsewhere (look, work): what comes back are bounds of their sides. A
// search that has learned them goes past all splits that they rule out, and finds the tree that it would have found
// alone: bounds never decide which of several best trees is the answer.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "algebra/lexicographic.hpp"
#include "algebra/min_plus.hpp"
#include "algebra/prune.hpp"
#include "common/control.hpp"
#include "common/key.hpp"
#include "search/bounds.hpp"
#include "search/store.hpp"
#include "weights/leaf_cost.hpp"

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
  std::size_t n_states = 0, n_bytes = 0;
};

// Steps from the root to a state: a test and its outcome each.
using Steps = std::vector<std::pair<std::int32_t, int>>;

// What is known of a split: lower ≤ least cost ≤ upper of each side, and that no tree of a side that costs at most
// `cap` has less than `fewest` leaves.
struct Branch {
  std::int32_t test = 0;
  double lower[2] = {0, 0}, upper[2] = {0, 0}, cap[2] = {-kNoCost, -kNoCost};
  std::uint32_t fewest[2] = {1, 1};
};

// What is known of a state: a tree, and its splits.
struct Part {
  double upper = 0;  // cost of the tree; infinite if there is none yet
  Key key;
  std::vector<Branch> branches;
  std::string stopped;  // as in Found
  std::size_t n_states = 0, n_bytes = 0;
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
  bool folded = false;  // if not, the known tree comes from the parent's frontier: a leaf or one split

  std::int32_t left() const { return place; }
  bool proved() const { return lower.load(std::memory_order_relaxed) >= upper.load(std::memory_order_relaxed); }
};

// The algebra belongs to a run and not to the search: what is proved of costs holds for every algebra of these costs,
// so that runs for one tree of least cost (MinPlus) and for the smallest of those (Lexicographic) share their states.
class Search : Prunes<MinPlus> {
 public:
  Search(std::shared_ptr<const CountTable> table, const LeafCost& cost, const SearchOptions& options);
  ~Search();
  // The best tree of an algebra with at most max_depth tests on a path (−1: no limit). What earlier runs proved is
  // kept: a run goes on where a limit ended another, and one of another depth or algebra uses its states.
  // A tree that costs `at_most` and one of those with `most_leaves` leaves may be known to exist: then only what may be
  // as good is looked at.
  template <PrunedByCost A>
  Found run(int max_depth, Control& control, double at_most = kNoCost, std::uint32_t most_leaves = 0xfffffffeu);
  Found run(int max_depth, bool smallest, Control& control, double at_most = kNoCost,
            std::uint32_t most_leaves = 0xfffffffeu) {
    return smallest ? run<Lexicographic>(max_depth, control, at_most, most_leaves)
                    : run<MinPlus>(max_depth, control, at_most, most_leaves);
  }
  // The greedy tree that no answer of `run` is worse than; nothing is proved of it.
  Found greedy(int max_depth, Control& control) const;

  // The splits of the state at the end of `steps`, in the order in which a run tries them; none if the state is closed
  // or proved. `dive` looks for a good tree at once.
  Part look(const Steps& steps, int max_depth, bool dive, Control& control);
  // Work on these splits of the state until each is proved or costs at least `cut`, which is lowered to the cost of
  // what is found; where it does cost less, and `leaves` > 0, until it is known how few leaves it needs, or that these
  // are not less than `leaves`. `known` is what others have found about splits of this state.
  Part work(const Steps& steps, int max_depth, const std::vector<Branch>& known, const std::vector<std::int32_t>& tests,
            double cut, std::uint32_t leaves, Control& control);
  // Believe what others have found about splits of the state.
  void learn(const Steps& steps, int max_depth, const std::vector<Branch>& known, Control& control);

 private:
  class Worker;
  struct Shared;
  void solve_root(Known& root, Control& control);
  void write_known(const Known* root, int max_depth, Found& found);
  // The known tree of a state at this depth; returns its cost.
  double write_tree(const Known& state, int max_depth, std::size_t depth, Key& key);
  Known& state_at(const Steps& steps, int max_depth, Control& control);
  std::unique_ptr<Shared> shared_;
};

}  // namespace everytree
