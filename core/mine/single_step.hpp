// DL8 in one step: the recursion walks from cover to cover and counts as it goes; results are looked up by a key of
// the path, so that no key is solved twice. The key is a policy:
//     KeyOf::itemset  the path itself                          (simple)
//     KeyOf::closure  every item that all rows of it satisfy   (closed; with a depth limit, and the depth)
// A stack of our own instead of recursion: without a depth limit a path may have as many tests as there are examples.
// (Study of DL8's strategies: see mine/strategies.hpp.)
#pragma once

#include <deque>

#include "mine/item_index.hpp"
#include "mine/keep.hpp"

namespace everytree::mine {

enum class KeyOf { itemset, closure };

// Closed itemsets that were mined before, and their class counts.
struct Mined {
  Mined(std::size_t n_classes, Meter& meter) : index(meter), counts(meter), n_classes(n_classes) {}
  const std::int32_t* find(const Item* items, std::size_t n) const {
    const std::uint32_t id = index.find(items, n);
    return id == kNone ? nullptr : counts.data() + id * n_classes;
  }
  ItemIndex index;
  Store<std::int32_t> counts;
  std::size_t n_classes;
};

template <class Keep>
class SingleStep {
 public:
  // With `mined` class counts are read from there instead of counted, as far as they are known.
  SingleStep(const Lattice& lattice, KeyOf key, Meter& meter, const Mined* mined = nullptr);
  Found run();

 private:
  using Entry = typename Keep::Entry;
  struct Candidate {
    std::uint32_t test;
    std::int32_t ones;    // examples where the test holds
    bool allowed = true;  // by the rule for paths, on both sides
  };
  // One state on the way down.
  struct Level {
    explicit Level(Meter& meter) : cover(meter), tests(meter), key(meter) {}
    Store<std::uint64_t> cover;
    Store<Candidate> tests;  // by test; those that are feasible, and for closures all that are not constant
    Store<Item> key;
    std::int64_t total = 0;
    std::uint32_t result = 0;
    std::uint32_t child[2] = {0, 0};  // results of the children by the candidate at hand
    std::size_t next = 0;             // that candidate
    int side = 0;                     // the child to be looked at next
    std::size_t place = 0;            // the tree to be written, of those that are kept here
    Entry entry;
  };

  bool feasible(const Level& level, const Candidate& c) const {
    return c.allowed && c.ones >= lattice_->min_leaf() && level.total - c.ones >= lattice_->min_leaf();
  }
  void enter_root();
  void enter(std::uint32_t test, std::int32_t ones, int side);  // the child of the state on top: a new top
  void locate();
  void close();
  bool leave_if_solved();
  void step();
  void survey();
  bool allowed(const Level& level, const Candidate& c);
  Key write(std::size_t place);

  const Lattice* lattice_;
  const CountTable* table_;
  KeyOf key_of_;
  Meter* meter_;
  const Mined* mined_;
  Keep keep_;
  ItemIndex index_;
  Store<Entry> results_;  // by number
  // levels_[0] is no state: it lends the root its candidates, which are all tests. The top is levels_[top_].
  std::deque<Level> levels_;
  std::size_t top_ = 0;
  std::size_t counted_ = 0;
  std::vector<Item> constant_;
  std::vector<std::int32_t> counts_, other_;
  std::vector<std::uint64_t> part_;  // rows of one side
};

}  // namespace everytree::mine
