// The itemset lattice of DL8, and the query that its strategies answer on it.
//
// An item is a test with its outcome, an itemset is the path to a node of a tree.
//     p1(I): at least min_leaf examples, |I| ≤ max_depth, and the caller's own rule for class counts
//     p2(I): I may be split further; false where every example is of one class and a leaf there cannot be beaten
//            (where the query asks for the k best trees or requires tests, it can)
//     rel(∅) = p1(∅) ∧ p2(∅),    rel(I) iff some i in I has rel(I−i) ∧ p2(I−i) ∧ p1(I) ∧ p1((I−i) ∪ ¬i)
// The relevant itemsets are the paths that a tree may contain; relevancy is anti-monotone, so miners may prune by it.
// (Study of DL8's strategies: see mine/strategies.hpp.)
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "algebra/tie.hpp"
#include "common/key.hpp"
#include "mine/meter.hpp"
#include "sets/pareto.hpp"
#include "table/count_table.hpp"
#include "weights/leaf_cost.hpp"

namespace everytree::mine {

using Item = std::uint32_t;  // test << 1 | outcome
inline Item item_of(std::size_t test, int outcome) { return static_cast<Item>(test << 1 | static_cast<Item>(outcome)); }
constexpr std::uint32_t kNone = 0xffffffffu;

// Whether a leaf of one class is at least as good as any tree over its examples, so that p2 loses no optimum. A rule
// that forbids leaves changes nothing: on covers of one class every rule forbids the smaller before the larger, so
// where the leaf is forbidden there is no tree at all.
bool pure_is_final(const LeafCost& cost);

// The best tree below a node: its value, and the test at its root (kLeaf: none).
struct Tip {
  static constexpr std::int32_t kLeaf = -1, kOpen = -2;  // kOpen: not evaluated yet
  double cost = 0;
  std::int32_t leaves = 0, test = kOpen;

  bool known() const { return test != kOpen; }
  // Tests are offered in ascending order: ties go to fewer leaves, then to the leaf, then to the lowest test.
  void offer(double other_cost, std::int32_t other_leaves, std::int32_t other_test) {
    if (tied(other_cost, cost)) {
      if (other_leaves < leaves) *this = {std::min(cost, other_cost), other_leaves, other_test};
    } else if (other_cost < cost) {
      *this = {other_cost, other_leaves, other_test};
    }
  }
};

// A rule for the class counts of every path; whoever gives it promises that it is anti-monotone.
using PathRule = std::function<bool(const std::int32_t* counts)>;

class Lattice {
 public:
  // The plain query: the least (cost, leaves).
  Lattice(const CountTable& table, const LeafCost& cost, int max_depth, std::int64_t min_leaf);
  Lattice(const CountTable& table, ParetoQuery query, int max_depth, std::int64_t min_leaf, PathRule rule = {});
  // For itemsets that were mined before.
  Lattice(std::size_t n_tests, std::size_t n_classes, ParetoQuery query, int max_depth, std::int64_t min_leaf);

  const CountTable& table() const { return *table_; }
  const ParetoQuery& query() const { return query_; }
  // Whether the query is plain, so that one tree for each itemset is enough.
  bool one_tree() const;
  bool depth_first() const { return !query_.rank.empty() && query_.rank[0] == query_.depth(); }
  std::size_t n_tests() const { return n_tests_; }
  std::size_t n_classes() const { return n_classes_; }
  std::int64_t min_leaf() const { return min_leaf_; }
  bool deep_enough(std::size_t depth) const {  // no test may follow
    return max_depth_ >= 0 && depth >= static_cast<std::size_t>(max_depth_);
  }
  bool depth_matters() const { return max_depth_ >= 0; }
  bool ruled() const { return static_cast<bool>(rule_); }
  bool frequent(const std::int32_t* counts) const { return total(counts) >= min_leaf_ && (!rule_ || rule_(counts)); }
  bool final(const std::int32_t* counts) const;  // ¬p2
  std::int64_t total(const std::int32_t* counts) const;
  Tip leaf(const std::int32_t* counts) const;

 private:
  const CountTable* table_ = nullptr;
  ParetoQuery query_;
  std::size_t n_tests_, n_classes_;
  int max_depth_;
  std::int64_t min_leaf_;
  PathRule rule_;
  bool pure_is_final_;
};

// What a strategy did. Times in seconds; a strategy of one step mines while it builds, and reports no mining.
struct Report {
  std::size_t itemsets = 0;  // stored
  std::size_t counted = 0;   // itemsets whose examples were counted
  std::size_t states = 0;    // given a best tree
  std::size_t bytes = 0;     // most that was stored at once
  double seconds_mining = 0, seconds_total = 0;
};

struct Found {
  std::vector<Judged> trees;  // best first; none: no tree satisfies the query. A plain query tells only the cost.
  Report report;
};

}  // namespace everytree::mine
