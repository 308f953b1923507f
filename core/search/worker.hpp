// One thread of a search: its buffers, and the recursion.
#pragma once

#include <deque>
#include <vector>

#include "frontier/one_level.hpp"
#include "frontier/side_fold.hpp"
#include "search/search.hpp"
#include "search/space.hpp"

namespace everytree {

constexpr double kAnyCost = 1e300;  // real costs are less

struct Search::Shared {
  Shared(std::shared_ptr<const CountTable> table, const LeafCost& cost, const SearchOptions& options);

  // A tree with n leaves is at most n − 1 tests deep: covers that differ only in levels they cannot use are one state.
  // Where children choose their tests, a state that two levels are left to is not like one that can use no more than
  // two: below the latter the second test is the child's. From n levels on there is no difference.
  std::int32_t levels(std::int64_t left, std::int64_t total) const {
    const std::int64_t most = total / options.min_leaf - 1;
    return static_cast<std::int32_t>(std::min(left, choose && most > 1 ? most + 1 : most));
  }

  std::shared_ptr<const CountTable> table;
  LeafCost cost;
  SearchOptions options;
  bool choose;  // children choose their tests: a state knows of its sides what they cost as leaves, and no more
  Bounds bounds;
  StateStore<Known> store;
  char stage[96] = "searching";  // for people; written and read by the calling thread only
};

class Search::Worker {
 public:
  Worker(Shared& shared, Control& control, bool calling_thread);

  // One split of a state, with what the frontier tells of its sides: their cost as leaves and split once more, and a
  // lower bound if they are split at all. Where children choose their tests, `two_levels` (by the tests of the state)
  // is a guess that gives the order, and nothing is known of sides that are split.
  struct Option {
    double two_levels, leaf[2], split[2], lower[2];
    std::uint32_t test_class;
  };
  // A side of a split, and what is known of it.
  struct Side {
    const std::uint64_t* cover;
    Known* known;
    std::int32_t total, left;
    double lower, upper;
    bool proved() const { return lower >= upper; }
  };
  struct Frame {
    std::vector<Option> options;
    std::vector<std::uint64_t> cover[2];
    std::vector<const Known*> solved;
    std::shared_ptr<WholePairs> pairs;  // of the cover, if its sides are to be folded together
    Side side[2];
  };

  // A first tree for the state, always taking the split that is best two levels ahead.
  void dive(Known& state, std::size_t depth);
  // Afterwards the state is proved, or its lower bound is at least `bound`.
  void solve(Known& state, double bound, std::size_t depth);
  // The fewest leaves of a tree of least cost, or a proof that there are at least `bound`. The state must be proved.
  void shrink(Known& state, std::uint32_t bound, std::size_t depth);
  // Append the known tree of a cover to the key; returns its cost.
  double write(const Known& state, Key& key);

  // For the splits of the root, which threads share:
  bool open(Known& state, Frame& frame);  // false if the frontier alone proves the state
  Frame& frame(std::size_t depth);
  // Bounds of one split: {lower, upper}. Worked on until proved or lower ≥ cut.
  void try_split(const Known& state, Frame& frame, const Option& option, double cut, std::size_t depth);
  // What is known of the sides; not all of it where the first bounds reach `cut` already.
  void look_at_sides(const Known& state, Frame& frame, const Option& option, double cut);
  // The known tree of the state is now this split with the known trees of its sides.
  static void keep(Known& state, const Frame& frame, const Option& option);
  // Open the state whether it is proved or not; false if it is closed.
  bool survey(Known& state, Frame& frame);
  // Take over bounds of splits of the state from elsewhere.
  void teach(const Known& state, Frame& frame, const std::vector<Branch>& known);
  static const Option& option_of(const CountTable& table, const Frame& frame, std::int32_t test);
  // At least so many leaves has each side at its least cost, and exactly so many where `leaves` says the same; looked
  // at only while the sum is less than `bound`. The sides must be proved.
  void leaves_of_sides(const Option& option, const Side* sides, std::uint32_t bound, std::size_t depth,
                       std::uint32_t* fewest, std::uint32_t* leaves);
  // Tell how far the splits of the root are, with the cost of the best tree and the bound.
  void say(const Known& root, std::size_t done, std::size_t total);

 private:
  struct TwoLevels {
    double cost;
    std::uint32_t leaves;
    std::size_t split;  // n: a leaf
  };
  void fold(const std::uint64_t* cover, int levels, bool bounds = false, WholePairs* pairs = nullptr);
  // Where children choose their tests: whether the leaf costs of all sides prove the state, or that it costs at least
  // `bound`. Mostly they do, and then nothing else need be looked at.
  bool ruled_out(Known& state, double bound);
  // Fold a state over the levels that its own tests have: two, or one where more are left and children choose.
  void fold_state(const Known& state, Frame& frame);
  static TwoLevels best_of(const OneLevel& level);
  static void close(Known& state, const TwoLevels& two);
  // Where to keep the pairs of this state, or null.
  WholePairs* pairs_for(const Known& state, Frame& frame);
  void list_options(Frame& frame) const;
  // Close both sides at once, if that is cheaper than one after the other. Each is wanted below its bound only.
  void fold_sides(Frame& frame, const double bound[2]);
  void similar(const Frame& frame, Side& side, double enough) const;
  void solve_side(Frame& frame, Side& side, double bound, std::size_t depth);
  double write_two_levels(const std::uint64_t* cover, int levels, Key& key);
  double write_leaf(const std::uint64_t* cover, Key& key);
  // The best split of the cover by one of these test classes.
  double write_split(const std::uint64_t* cover, const std::vector<std::uint32_t>& tests, Key& key);
  void try_splits(Known& state, Frame& frame, double bound, std::size_t depth);
  void shrink_splits(Known& state, Frame& frame, std::uint32_t bound, std::size_t depth);
  std::uint32_t fewest_of_sides(const Option& option, const Frame& frame, double cap) const;
  void check();

  Shared& shared_;
  Control& control_;
  bool calling_thread_, look_ahead_;
  const CountTable& table_;
  Frontier frontier_;
  CostFold cost_fold_;
  SideFold side_fold_;
  Ticker ticker_;
  OneLevel level_, side_level_[2];
  std::deque<Frame> frames_;
  std::vector<std::int32_t> counts_;
  const std::uint64_t* loaded_ = nullptr;  // a cover that the frontier holds for the next fold
  std::vector<double> ahead_;              // of the splits of level_, where children choose: Option::two_levels
  std::size_t since_check_ = 0;
  std::size_t done_ = 0, total_ = 0;
};

}  // namespace everytree
