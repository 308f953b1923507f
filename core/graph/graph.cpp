#include "graph/graph.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "common/errors.hpp"
#include "common/room.hpp"

namespace everytree {

Graph::Graph(std::shared_ptr<const CountTable> table, const GraphOptions& options, Control& control)
    : table_(std::move(table)), options_(options), offers_(*table_, options.min_leaf) {
  if (options.min_leaf < 1) throw InvalidInput("min_leaf must be at least 1");
  if (table_->total() < options.min_leaf)
    throw InvalidInput("the data hold " + std::to_string(table_->total()) + " examples, fewer than min_leaf=" +
                       std::to_string(options.min_leaf) + ": no tree exists; lower min_leaf");
  if (options.max_depth >= 0) options_.by_depth = true;
  scratch_.resize(2 * table_->n_words());
  while (chunk_bits_ < 14 && (table_->n_words() << (chunk_bits_ + 1)) <= 32768) ++chunk_bits_;  // about 256 kB
  chunk_mask_ = (std::size_t{1} << chunk_bits_) - 1;
  add_state(table_->all().data(), 0, static_cast<std::int32_t>(table_->total()));
  std::int32_t level = 0;
  for (std::uint32_t id = 0; id < states_.size(); ++id) {
    if ((id & 63) == 0) control.check(true, "building the graph", id, states_.size());
    if (options_.by_depth && states_[id].depth > level) {
      // The children of one level only meet each other: forget the level above.
      level = states_[id].depth;
      index_.clear();
    }
    if (states_[id].inner()) expand(id, control);
  }
  index_ = CoverIndex(1);
  candidates_ = {};
  scratch_ = {};
  control.check_memory(bytes() + states_.size() * (options_.by_depth ? 4 : 8));  // sorting takes as much again
  order_.resize(states_.size());
  std::iota(order_.begin(), order_.end(), 0);
  if (options_.by_depth) {
    std::reverse(order_.begin(), order_.end());
  } else {  // a child has fewer examples than its parent
    std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) { return states_[a].total < states_[b].total; });
  }
  control.check_memory(bytes());
}

std::size_t Graph::bytes() const {
  return pool_.size() * (chunk_mask_ + 1) * table_->n_words() * 8 + states_.capacity() * sizeof(State) +
         splits_.capacity() * sizeof(Split) + (parts_.capacity() + uppers_.capacity() + order_.capacity()) * 4 +
         index_.bytes();
}

std::uint32_t Graph::add_state(const std::uint64_t* cover, std::int32_t depth, std::int32_t total) {
  const std::size_t id = states_.size();
  if (id >= 0xfffffff0u) throw LimitReached(LimitReached::Reason::memory, "more than 4·10^9 states");
  const std::size_t words = table_->n_words();
  if ((id & chunk_mask_) == 0)
    pool_.push_back(std::make_unique_for_overwrite<std::uint64_t[]>((chunk_mask_ + 1) * words));
  std::memcpy(pool_[id >> chunk_bits_].get() + (id & chunk_mask_) * words, cover, words * 8);
  State s;
  s.depth = depth;
  s.total = total;
  s.levels = levels_of(table_->local(), options_.max_depth, options_.min_leaf, depth, total);
  // The two lowest levels of a state that chooses its tests are no states of their own: these would choose others.
  if (!options_.frontier && s.levels > 0 && !table_->local()) s.levels = State::kInner;
  if (s.inner()) ++n_inner_;
  deepest_ = std::max(deepest_, depth + (s.inner() ? 0 : s.levels));
  states_.push_back(s);
  return static_cast<std::uint32_t>(id);
}

std::uint32_t Graph::find_or_add(const std::uint64_t* words, std::int32_t depth, std::int32_t total) {
  if (!options_.merge) return add_state(words, depth, total);
  const std::size_t n = table_->n_words();
  const std::uint64_t hash = hash_words(words, n, 0);
  const std::uint32_t known =
      index_.find(hash, [&](std::uint32_t id) { return std::memcmp(cover(id), words, n * 8) == 0; });
  if (known != CoverIndex::kNone) return known;
  const std::uint32_t id = add_state(words, depth, total);
  index_.add(hash, id);
  return id;
}

void Graph::expand(std::uint32_t id, Control& control) {
  const std::size_t n = table_->n_words();
  const std::int32_t total = states_[id].total;
  const std::int32_t depth = options_.by_depth ? states_[id].depth + 1 : 0;
  const std::uint64_t* here = cover(id);
  std::uint64_t* child1 = scratch_.data();
  std::uint64_t* child0 = child1 + n;
  const auto& classes = table_->test_classes();
  const std::span<const std::uint32_t> offered = offers_.of(here);
  const std::size_t most = offered.size();
  // At most so much is added here: asked before the memory is taken.
  const std::size_t index = options_.merge ? index_.taking(2 * most) : 0;
  if (const std::size_t more = growth(states_, 2 * most) + growth(splits_, most) + 2 * growth(parts_, most) + index;
      more > 0)
    control.check_memory(bytes() + more);
  candidates_.clear();
  std::uint32_t n_tests = 0;
  for (std::size_t x = 0; x < offered.size(); ++x) {
    const std::uint32_t k = offered[x];
    const auto ones = static_cast<std::int32_t>(table_->count(here, classes[k].test));
    if (ones < options_.min_leaf || total - ones < options_.min_leaf) continue;
    n_tests += static_cast<std::uint32_t>(classes[k].members.size());
    // Covers may be large: look at the limits every megabyte or so.
    if ((work_ += 4 * n) > (std::size_t{1} << 17)) {
      work_ = 0;
      control.check(true, "building the graph", id, states_.size());
      control.check_memory(bytes());
    }
    const std::uint64_t* column = table_->column(classes[k].test);
    for (std::size_t w = 0; w < n; ++w) {
      child1[w] = here[w] & column[w];
      child0[w] = here[w] & ~column[w];
    }
    const std::uint32_t id1 = find_or_add(child1, depth, ones);
    const std::uint32_t id0 = find_or_add(child0, depth, total - ones);
    candidates_.push_back({std::min(id0, id1), std::max(id0, id1), k << 1, id1, offers_.upper()[x]});
  }
  if (!options_.by_depth) deepest_ = std::max(deepest_, 1);
  // Tests with the same two children are one split. Without merging the children never coincide.
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return a.low != b.low ? a.low < b.low : a.high != b.high ? a.high < b.high : a.part < b.part;
  });
  State& s = states_[id];
  s.n_tests = n_tests;
  s.splits_begin = static_cast<std::uint32_t>(splits_.size());
  for (std::size_t k = 0; k < candidates_.size();) {
    const Candidate& first = candidates_[k];
    Split split;
    split.child[1] = first.child1;
    split.child[0] = first.child1 == first.low ? first.high : first.low;
    split.parts_begin = static_cast<std::uint32_t>(parts_.size());
    for (; k < candidates_.size() && candidates_[k].low == first.low && candidates_[k].high == first.high; ++k) {
      parts_.push_back(candidates_[k].part | static_cast<std::uint32_t>(candidates_[k].child1 != first.child1));
      uppers_.push_back(candidates_[k].upper);
    }
    split.parts_end = static_cast<std::uint32_t>(parts_.size());
    splits_.push_back(split);
  }
  s.splits_end = static_cast<std::uint32_t>(splits_.size());
  // Splits in the order of their first test: sums do not depend on how states were numbered.
  std::sort(splits_.begin() + s.splits_begin, splits_.end(),
            [this](const Split& a, const Split& b) { return parts_[a.parts_begin] < parts_[b.parts_begin]; });
  if (splits_.size() > 0xfffffff0u || parts_.size() > 0xfffffff0u)
    throw LimitReached(LimitReached::Reason::memory, "more than 4·10^9 splits");
}

}  // namespace everytree
