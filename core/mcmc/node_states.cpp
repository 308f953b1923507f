#include "mcmc/node_states.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace everytree {

namespace {

constexpr std::uint32_t kNested = 6;                 // shorter ranges are counted test by test
constexpr std::size_t kWork = std::size_t{1} << 22;  // words between two looks at the clock

std::size_t slot_of(std::uint64_t hash, std::size_t size) { return hash & (size - 1); }

std::uint64_t mixed(std::uint64_t key) {
  key *= 0x9e3779b97f4a7c15ULL;
  return key ^ (key >> 29);
}

}  // namespace

std::vector<TestRange> nested_tests(const CountTable& table, Control& control) {
  std::size_t work = 0;
  const auto within = [&](std::size_t a, std::size_t b) {
    if ((work += table.n_words()) > kWork) {
      work = 0;
      control.check(true, "starting", 0, 0);
    }
    const std::uint64_t *x = table.column(a), *y = table.column(b);
    for (std::size_t w = 0; w < table.n_words(); ++w)
      if (x[w] & ~y[w]) return false;
    return true;
  };
  std::vector<TestRange> out;
  if (table.local()) return out;
  const auto n = static_cast<std::uint32_t>(table.n_tests());
  for (std::uint32_t t = 0; t < n;) {
    TestRange range{t, t + 1, true};
    while (range.end < n && within(range.end - 1, range.end)) ++range.end;
    if (range.end == t + 1) {
      range.rising = false;
      while (range.end < n && within(range.end, range.end - 1)) ++range.end;
    }
    if (range.end - t < kNested) range.end = t + 1;
    out.push_back(range);
    t = range.end;
  }
  return out;
}

NodeStates::NodeStates(const ChainSpace& space, std::size_t max_bytes)
    : space_(space),
      words_(space.table->n_words()),
      test_words_((space.table->n_tests() + 63) / 64),
      max_bytes_(max_bytes),
      kernels_(&kernels()),
      offers_(*space.table, space.max_depth, space.min_leaf),
      like_(space.table->n_tests(), kNone),
      counts_(space.table->n_classes()) {
  for (const Section& s : space.table->sections()) {
    // Tables without repeated rows are one run: a count is then one call.
    if (!runs_.empty() && runs_.back().shift == s.shift && runs_.back().end == s.begin)
      runs_.back().end = s.end;
    else
      runs_.push_back({s.begin, s.end, s.shift});
  }
  for (const TestClass& tests : space.table->test_classes())
    for (std::uint32_t member : tests.members) like_[member >> 1] = tests.test;
  const Prior& prior = space.target->prior();
  if (prior.fair) {
    std::vector<std::int32_t> names(prior.attribute);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    tests_of_.resize(names.size());
    seen_.assign(names.size(), 0);
    for (std::uint32_t t = 0; t < prior.attribute.size(); ++t) {
      const auto at = std::lower_bound(names.begin(), names.end(), prior.attribute[t]) - names.begin();
      attribute_.push_back(static_cast<std::uint32_t>(at));
      tests_of_[static_cast<std::size_t>(at)].push_back(t);
    }
  }
  if (space.frontier != nullptr) fold_ = std::make_unique<OneLevelFold>(*space.table, space.min_leaf);
  for (auto& counts : part_) counts.resize(space.table->n_classes());
  side_[0].resize(words_);
  side_[1].resize(words_);
  clear();
}

void NodeStates::watch(Control* control, bool calling_thread) {
  control_ = control;
  calling_thread_ = calling_thread;
  if (fold_ && control != nullptr) fold_->watch(*control, calling_thread);
}

void NodeStates::clear() {
  states_.clear();
  covers_.clear();
  tests_.clear();
  looks_.clear();
  by_cover_.assign(1024, 0);
  edges_.assign(1024, {});
  n_edges_ = 0;
}

std::int64_t NodeStates::examples(const std::uint64_t* cover, std::uint32_t test) {
  const std::uint64_t* column = space_.table->column(test);
  std::int64_t sum = 0;
  for (const Run& run : runs_)
    sum += static_cast<std::int64_t>(kernels_->count_and(cover + run.begin, column + run.begin, run.end - run.begin)
                                     << run.shift);
  tick(words_ + 8);
  return sum;
}

void NodeStates::tick(std::size_t words) {
  if ((work_ += words) <= kWork) return;
  work_ = 0;
  if (control_ != nullptr) control_->check(calling_thread_, "sampling trees", 0, 0);
}

// How many tests of the range, from the side where they hold for few, hold for fewer than `least` of the cover.
std::uint32_t NodeStates::bisect(const TestRange& range, const std::uint64_t* cover, std::int64_t least) {
  std::uint32_t low = 0, high = range.end - range.begin;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    const std::uint32_t test = range.rising ? range.begin + middle : range.end - 1 - middle;
    if (examples(cover, test) < least)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// Whether some test is feasible: mostly one of the first ones tried is.
bool NodeStates::some_test(const std::uint64_t* cover, std::int32_t total, std::uint32_t from) {
  if (total < 2 * space_.min_leaf) return false;
  const bool known = from != kNone && states_[from].n_tests >= 0;
  for (const TestRange& range : *space_.ranges) {
    std::uint32_t t = range.begin;
    if (range.end > t + 1) {
      const std::uint32_t first = bisect(range, cover, space_.min_leaf);
      if (first == range.end - range.begin) continue;
      t = range.rising ? t + first : range.end - 1 - first;
    } else if (like_[t] != t || (known && !feasible(from, t))) {
      continue;
    }
    const std::int64_t ones = examples(cover, t);
    if (ones >= space_.min_leaf && total - ones >= space_.min_leaf) return true;
  }
  return false;
}

std::uint32_t NodeStates::get(const std::uint64_t* cover, std::int32_t depth, std::uint32_t from) {
  const auto d = static_cast<std::size_t>(depth);
  const bool by_above = from != kNone && offers_.from_above(d);
  const std::uint64_t seed = by_above ? mixed(states_[from].hash + d) : d;
  const std::uint64_t hash = hash_words(cover, words_, seed);
  std::size_t slot = slot_of(hash, by_cover_.size());
  for (; by_cover_[slot] != 0; slot = slot_of(slot + 1, by_cover_.size())) {
    const std::uint32_t at = by_cover_[slot] - 1;
    const NodeState& s = states_[at];
    if (s.hash == hash && s.depth == depth && (!by_above || s.from == from) &&
        std::equal(cover, cover + words_, this->cover(at)))
      return at;
  }
  NodeState s;
  s.hash = hash;
  s.depth = depth;
  s.from = from;
  space_.table->class_counts(cover, counts_.data());
  for (std::int32_t n : counts_) s.total += n;
  const bool local = space_.table->local();
  if (local) tick(static_cast<std::size_t>(s.total) * space_.table->by_column().size());
  if (!local) s.open = (space_.max_depth < 0 || depth < space_.max_depth) && some_test(cover, s.total, from);
  if (!s.open) s.n_tests = 0;
  s.log_prior_leaf = space_.target->log_prior_leaf(d, s.open, s.total);
  s.log_data_leaf = space_.target->log_data(d, counts_.data(), s.total);
  const auto at = static_cast<std::uint32_t>(states_.size());
  states_.push_back(s);
  covers_.insert(covers_.end(), cover, cover + words_);
  tests_.resize(tests_.size() + test_words_, 0);
  if (local) take_offers(at);
  by_cover_[slot] = at + 1;
  if (2 * states_.size() > by_cover_.size()) {
    by_cover_.assign(2 * by_cover_.size(), 0);
    for (std::uint32_t k = 0; k < states_.size(); ++k) {
      std::size_t to = slot_of(states_[k].hash, by_cover_.size());
      while (by_cover_[to] != 0) to = slot_of(to + 1, by_cover_.size());
      by_cover_[to] = k + 1;
    }
  }
  return at;
}

// Where states choose their tests, whether there is one and which ones there are is found at once.
void NodeStates::take_offers(std::uint32_t state) {
  const NodeState& s = states_[state];
  const std::uint64_t* above = s.from == kNone ? nullptr : cover(s.from);
  std::uint64_t* out = tests_.data() + state * test_words_;
  std::int32_t n = 0, attributes = 0;
  if (!attribute_.empty()) ++count_;
  for (const std::uint32_t k : offers_.of(cover(state), static_cast<std::size_t>(s.depth), above)) {
    const std::uint32_t t = space_.table->test_classes()[k].test;  // a class of its own
    out[t / 64] |= std::uint64_t{1} << (t % 64);
    ++n;
    if (!attribute_.empty() && seen_[attribute_[t]] != count_) {
      seen_[attribute_[t]] = count_;
      ++attributes;
    }
  }
  states_[state].open = n > 0;
  states_[state].log_prior_leaf = space_.target->log_prior_leaf(static_cast<std::size_t>(s.depth), n > 0, s.total);
  if (n > 0)
    counted(state, n, attributes);
  else
    states_[state].n_tests = 0;
}

NodeStates::Edge& NodeStates::edge(std::uint64_t key) {
  std::size_t slot = slot_of(mixed(key), edges_.size());
  while (edges_[slot].key != 0 && edges_[slot].key != key) slot = slot_of(slot + 1, edges_.size());
  return edges_[slot];
}

void NodeStates::remember(std::uint64_t key, Children children) {
  edge(key) = {key, children};
  if (2 * ++n_edges_ <= edges_.size()) return;
  std::vector<Edge> old(2 * edges_.size());
  old.swap(edges_);
  for (const Edge& e : old)
    if (e.key != 0) edge(e.key) = e;
}

NodeStates::Children NodeStates::split(std::uint32_t state, std::uint32_t test) {
  constexpr Children none{kNone, kNone};
  const NodeState& s = states_[state];
  if (!s.open || (s.n_tests >= 0 && !feasible(state, test))) return none;
  const std::uint64_t key = std::uint64_t{state} << 32 | (test + 1);
  if (const Edge& known = edge(key); known.key != 0) return known.children;
  if (s.n_tests < 0) {
    const std::int64_t ones = examples(cover(state), test);
    if (ones < space_.min_leaf || s.total - ones < space_.min_leaf) return none;
  }
  const std::int32_t depth = s.depth + 1;
  const std::uint64_t *whole = cover(state), *column = space_.table->column(test);
  for (std::size_t w = 0; w < words_; ++w) {
    side_[1][w] = whole[w] & column[w];
    side_[0][w] = whole[w] & ~column[w];
  }
  const std::uint32_t zero = get(side_[0].data(), depth, state), one = get(side_[1].data(), depth, state);
  remember(key, {zero, one});
  return {zero, one};
}

std::int32_t NodeStates::count_tests(std::uint32_t state) {
  if (states_[state].n_tests >= 0) return states_[state].n_tests;
  const std::uint32_t from = states_[state].from;
  const bool known = from != kNone && states_[from].n_tests >= 0;
  const std::int64_t total = states_[state].total;
  std::uint64_t* out = tests_.data() + state * test_words_;
  std::fill(out, out + test_words_, 0);  // an interrupted count may have left something
  std::int32_t n = 0, attributes = 0;
  if (!attribute_.empty()) ++count_;
  const auto take = [&](std::uint32_t t) {
    out[t / 64] |= std::uint64_t{1} << (t % 64);
    ++n;
    if (!attribute_.empty() && seen_[attribute_[t]] != count_) {
      seen_[attribute_[t]] = count_;
      ++attributes;
    }
  };
  for (const TestRange& range : *space_.ranges) {
    if (range.end > range.begin + 1) {
      const std::uint32_t low = bisect(range, cover(state), space_.min_leaf),
                          high = bisect(range, cover(state), total - space_.min_leaf + 1);
      for (std::uint32_t k = low; k < high; ++k) take(range.rising ? range.begin + k : range.end - 1 - k);
      continue;
    }
    const std::uint32_t t = range.begin, like = like_[t];
    if (like == kNone || (known && !feasible(from, t))) continue;
    if (like == t) {
      const std::int64_t ones = examples(cover(state), t);
      if (ones < space_.min_leaf || total - ones < space_.min_leaf) continue;
    } else if (!feasible(state, like)) {
      continue;
    }
    take(t);
  }
  counted(state, n, attributes);
  return n;
}

void NodeStates::counted(std::uint32_t state, std::int32_t n, std::int32_t attributes) {
  const Prior& prior = space_.target->prior();
  NodeState& s = states_[state];
  s.n_attributes = attributes;
  s.log_split = prior.log_split_base(static_cast<std::size_t>(s.depth)) +
                (prior.fair ? std::log(prior.fair_sum(std::max(n, 1))) : prior.log_share(n));
  s.n_tests = n;
}

double NodeStates::log_split(std::uint32_t state, std::uint32_t test) {
  count_tests(state);
  const NodeState& s = states_[state];
  if (attribute_.empty()) return s.log_split;
  double same = 0;
  for (std::uint32_t t : tests_of_[attribute_[test]]) same += feasible(state, t);
  return s.log_split - std::log(s.n_attributes * same);
}

// How many feasible tests come before this one.
std::size_t NodeStates::rank(std::uint32_t state, std::uint32_t test) const {
  const std::uint64_t* bits = tests(state);
  std::size_t n = 0;
  for (std::size_t w = 0; w < test / 64; ++w) n += static_cast<std::size_t>(std::popcount(bits[w]));
  return n + static_cast<std::size_t>(std::popcount(bits[test / 64] & ((std::uint64_t{1} << (test % 64)) - 1)));
}

// The feasible test before which k others come.
std::uint32_t NodeStates::select(std::uint32_t state, std::size_t k) const {
  const std::uint64_t* bits = tests(state);
  std::size_t w = 0;
  for (;; ++w) {
    const auto here = static_cast<std::size_t>(std::popcount(bits[w]));
    if (k < here) break;
    k -= here;
  }
  std::uint64_t word = bits[w];
  for (; k > 0; --k) word &= word - 1;
  return static_cast<std::uint32_t>(64 * w) + static_cast<std::uint32_t>(std::countr_zero(word));
}

}  // namespace everytree
