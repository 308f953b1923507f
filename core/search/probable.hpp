// Best first search for the most probable tree, at any depth.
//
//     cost(s) = min( leaf(s), min_i split(s) + cost(s ∧ i) + cost(s ∧ ¬i) ),      cost = −log(prior · likelihood)
//
// Every state keeps a lower bound of its cost and the cost of a known tree. When a state is opened, the frontier looks
// two levels ahead: for each split and side the cost as a leaf, the cost if split once more, and a lower bound if split
// at all, from what quadrants can weigh at best (Hope). Then always the split with the least bound is followed, down to
// a state that is not open yet, and left as soon as another split has a smaller bound: so only states are opened whose
// bound is below the cost of the best tree, apart from the first dives that find a good tree. Where states choose their
// tests, the frontier of a state says nothing of tests below its sides: then a side is bounded by its counts alone, and
// states that two levels are left to are closed at once (last_levels.hpp).
//
// When a limit ends the search, what is known so far is the answer: a tree, a bound, and the reason. A greedy tree is
// grown whatever the limits, and no answer is less probable (greedy.hpp).
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "algebra/max_product.hpp"
#include "algebra/prune.hpp"
#include "common/control.hpp"
#include "common/key.hpp"
#include "frontier/one_level.hpp"
#include "search/hope.hpp"
#include "search/last_levels.hpp"
#include "search/space.hpp"
#include "search/store.hpp"

namespace everytree {

struct ProbableOptions {
  int max_depth = -1;
  std::int64_t min_leaf = 1;
  bool by_depth = true;  // false: weights do not depend on depth and there is no depth limit, so states are covers
  // Turned off one by one by tests.
  bool merge = true, look_ahead = true, spread = true, outvoted = true, tables = true;
};

struct MostProbable {
  double log_joint = 0, upper = 0;  // of the tree; and no tree has a larger one than `upper`
  bool proved = false;
  std::string stopped;  // why the search ended early: "time", "memory", "stopped", or ""
  Key key;
  std::size_t n_states = 0, n_bytes = 0;
};

template <PrunedByProduct A>
class BestFirst : Prunes<A> {
 public:
  BestFirst(std::shared_ptr<const CountTable> table, const Prior& prior, std::shared_ptr<const Dirichlet> leaf,
            const ProbableOptions& options);
  // What earlier runs learned is kept: a run goes on where a limit ended another. Of trees that tie, the smallest,
  // then the one with the lowest tests from the root down.
  MostProbable run(Control& control);

 private:
  using Prunes<A>::below, Prunes<A>::above;
  struct Node;
  // One split of a state, and what is known of its sides.
  struct Choice {
    double weight, lower[2], upper[2];
    Node* side[2];
    std::uint32_t test;
    double least() const { return weight + lower[0] + lower[1]; }
    double known() const { return weight + upper[0] + upper[1]; }
  };
  struct Node : Placed {
    double lower = 0, upper = 0, leaf = 0;
    std::vector<Choice> choices;
    // The known tree: a leaf, or this split with the known trees of its sides (null: a leaf or a single split).
    static constexpr std::uint32_t kLeaf = 0xffffffffu;
    std::uint32_t split = kLeaf;
    std::uint32_t leaves = 0;  // of the smallest tree of least cost, once looked for
    Node* side[2] = {nullptr, nullptr};
    bool opened = false, closed = false;  // closed: by its last two levels
    bool proved() const { return lower >= upper; }
  };
  struct Frame {
    std::vector<std::uint64_t> cover[2];
  };

  std::int64_t levels(const Node& node) const;
  std::size_t depth(const Node& node) const { return options_.by_depth ? static_cast<std::size_t>(node.place) : 0; }
  Frame& frame(std::size_t depth);
  void look(const Node& node);  // fill level_ from the frontier
  void look_by_table(const Hope::Tables& tables);
  void look_by_counts(std::size_t depth);
  void open(Node& node);
  void close(Node& node);
  void settle(Node& node);
  void drop_hopeless(Node& node);
  Node& side_of(Node& node, Choice& choice, int a, std::size_t depth);
  void refresh(Node& node, Choice& choice);
  void dive(Node& node, std::size_t depth, std::size_t width);
  void solve(Node& node, double bound, std::size_t depth);
  void follow(Node& node, std::size_t k, double bound, std::size_t depth);
  std::uint32_t smallest(Node& node, std::size_t depth);
  void write(const Node& node, Key& key);
  void write_plain(const std::uint64_t* cover, std::size_t depth, Key& key);
  std::size_t bytes() const { return leaf_->bytes() + store_.bytes() + choice_bytes_ + (hope_ ? hope_->bytes() : 0); }
  void check();

  std::shared_ptr<const CountTable> table_;
  Prior prior_;
  std::shared_ptr<const Dirichlet> leaf_;
  ProbableOptions options_;
  std::unique_ptr<Hope> hope_;
  bool outvoted_ = false;
  StateStore<Node> store_;
  Frontier frontier_;
  Offers offers_;
  std::unique_ptr<LastLevels> last_;  // where states choose their tests
  Shares shares_;
  Node* root_ = nullptr;
  Control* control_ = nullptr;
  std::size_t choice_bytes_ = 0, n_opened_ = 0, since_check_ = 0;
  std::deque<Frame> frames_;
  // Of the state looked at: by split and side.
  struct Level {
    std::vector<double> plain[2], hope[2];  // split once more: with plain leaves, and at best
    std::vector<std::int32_t> tests[2];
  } level_;
  std::vector<std::int32_t> pairs_, counts_;
  char stage_[96] = "searching";
};

// Compiled in probable.cpp. An algebra of sums has no best tree, and one of costs no product weights: neither is a
// BestFirst.
extern template class BestFirst<MaxProduct>;
using ProbableSearch = BestFirst<MaxProduct>;

}  // namespace everytree
