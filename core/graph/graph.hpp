// The AND/OR graph of all trees over the tests of a table.
//
// A state is (cover, depth), or the cover alone where depth plays no part. An *inner* state lists its splits; a
// *closed* state has at most two levels of tests below it, which the frontier folds from pair counts without
// storing them. Closed are the states
//     with `levels` = 0: no test may follow (depth limit, or fewer than 2·min_leaf examples)
//                     1: one test may follow (or fewer than 3·min_leaf examples: at most two leaves)
//                     2: two levels may follow (or fewer than 4·min_leaf examples: at most three leaves).
// Where states choose their tests (table/offers.hpp), both levels of a closed state use its own, by the law of such
// spaces only at the depth limit: so a state is not closed with 2 for its few examples.
// Equal covers are found by hash and *proved* equal word by word.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/control.hpp"
#include "table/count_table.hpp"
#include "table/cover_index.hpp"
#include "table/offers.hpp"

namespace everytree {

struct GraphOptions {
  int max_depth = -1;  // -1: no limit
  std::int64_t min_leaf = 1;
  bool by_depth = true;  // false: states are covers alone (only without a depth limit)
  bool merge = true;     // false: every path has its own state (for tests)
  bool frontier = true;  // false: every level is stored (for tests)
  std::size_t n_threads = 1;
};

// All tests that split a state alike. `parts` are test classes, class << 1 | flipped; flipped means that the
// class's column is 0 where the split's child 1 is.
struct Split {
  std::uint32_t child[2];
  std::uint32_t parts_begin, parts_end;
};

struct State {
  static constexpr std::int8_t kInner = -1;
  std::uint32_t splits_begin = 0, splits_end = 0;
  std::int32_t depth = 0;
  std::int32_t total = 0;
  std::uint32_t n_tests = 0;  // feasible original tests, of an inner state
  std::int8_t levels = kInner;
  bool inner() const { return levels == kInner; }
};

// The levels of a closed state, or State::kInner: of this many examples at this depth. max_depth −1: no limit; local:
// states choose their tests.
inline std::int8_t levels_of(bool local, int max_depth, std::int64_t min_leaf, std::int32_t depth, std::int64_t total) {
  const int left = max_depth < 0 ? 3 : max_depth - depth;
  const std::int64_t most_leaves = total / min_leaf;
  if (left <= 0 || most_leaves < 2) return 0;
  if (left == 1 || most_leaves < 3) return 1;
  if (left == 2 || (most_leaves < 4 && !local)) return 2;
  return State::kInner;
}

class Graph {
 public:
  Graph(std::shared_ptr<const CountTable> table, const GraphOptions& options, Control& control);
  // Closed states alone, without a root or splits: to try a fold on some of the states that a graph would have.
  // fill(add) calls add(cover, depth, total) for each.
  template <class Fill>
  Graph(std::shared_ptr<const CountTable> table, const GraphOptions& options, Fill&& fill)
      : table_(std::move(table)), options_(options), offers_(*table_, options.min_leaf) {
    fill(
        [this](const std::uint64_t* cover, std::int32_t depth, std::int32_t total) { add_state(cover, depth, total); });
  }
  Graph(const Graph&) = delete;

  const CountTable& table() const { return *table_; }
  const GraphOptions& options() const { return options_; }
  std::size_t size() const { return states_.size(); }
  std::size_t n_inner() const { return n_inner_; }
  std::size_t n_splits() const { return splits_.size(); }
  std::int32_t deepest() const { return deepest_; }  // depth of the deepest possible leaf below any state
  const State& state(std::size_t id) const { return states_[id]; }
  const std::uint64_t* cover(std::size_t id) const {
    return pool_[id >> chunk_bits_].get() + (id & chunk_mask_) * table_->n_words();
  }
  std::span<const Split> splits(const State& s) const {
    return {splits_.data() + s.splits_begin, splits_.data() + s.splits_end};
  }
  std::span<const std::uint32_t> parts(const Split& s) const {
    return {parts_.data() + s.parts_begin, parts_.data() + s.parts_end};
  }
  // The uppers of the same: see table/offers.hpp.
  std::span<const std::uint32_t> uppers(const Split& s) const {
    return {uppers_.data() + s.parts_begin, uppers_.data() + s.parts_end};
  }
  // Every state after all of its children.
  const std::vector<std::uint32_t>& children_first() const { return order_; }
  std::size_t bytes() const;
  // Whether a deeper limit would admit more trees: some leaf at the depth limit could still be split.
  bool limited(Control& control) const;

 private:
  std::uint32_t add_state(const std::uint64_t* cover, std::int32_t depth, std::int32_t total);
  std::uint32_t find_or_add(const std::uint64_t* cover, std::int32_t depth, std::int32_t total);
  void expand(std::uint32_t id, Control& control);

  std::shared_ptr<const CountTable> table_;
  GraphOptions options_;
  Offers offers_;
  std::vector<State> states_;
  std::vector<std::unique_ptr<std::uint64_t[]>> pool_;  // covers, 2^chunk_bits_ to a chunk: never moved
  int chunk_bits_ = 0;
  std::size_t chunk_mask_ = 0;
  std::vector<Split> splits_;
  std::vector<std::uint32_t> parts_, uppers_;
  std::vector<std::uint32_t> order_;
  std::size_t n_inner_ = 0;
  std::int32_t deepest_ = 0;

  CoverIndex index_{1024};
  std::size_t work_ = 0;  // words touched since the last look at the limits
  std::vector<std::uint64_t> scratch_;
  struct Candidate {
    std::uint32_t low, high, part;  // children in order, and the part with its orientation
    std::uint32_t child1, upper;
  };
  std::vector<Candidate> candidates_;
};

}  // namespace everytree
