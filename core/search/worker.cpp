#include "search/worker.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <thread>

namespace everytree {

namespace {
constexpr std::size_t kMostPairs = std::size_t{1} << 28;  // bytes of the pairs of a cover; more are not kept

// One thread at a time works on a state. Waiting cannot lock up: whoever holds a state waits only for smaller covers.
class Turn {
 public:
  Turn(Known& state, Control& control, bool calling_thread) : state_(state) {
    while (state_.busy.exchange(true, std::memory_order_acquire)) {
      control.check(calling_thread, "searching", 0, 0);
      std::this_thread::yield();
    }
  }
  ~Turn() { state_.busy.store(false, std::memory_order_release); }
  Turn(const Turn&) = delete;

 private:
  Known& state_;
};
}  // namespace

Search::Worker::Worker(Shared& shared, Control& control, bool calling_thread)
    : shared_(shared),
      control_(control),
      calling_thread_(calling_thread),
      table_(*shared.table),
      frontier_(*shared.table, shared.options.min_leaf),
      side_fold_(*shared.table, shared.options.min_leaf),
      counts_(shared.table->n_classes()) {
  ticker_.watch(control, calling_thread);
  // Without a support to miss or a price to pay, two more levels of leaves prove nothing; and nothing is proved by
  // tests that a side need not offer.
  look_ahead_ =
      shared.options.bounds.support && (shared.options.min_leaf > 1 || shared.cost.per_leaf() >= 1) && !shared.choose;
}

void Search::Worker::say(const Known& root, std::size_t done, std::size_t total) {
  if (!calling_thread_) return;
  done_ = done;
  total_ = total;
  if (root.upper < kAnyCost)
    std::snprintf(shared_.stage, sizeof shared_.stage, "searching (best %.6g, at least %.6g)", root.upper.load(),
                  root.lower.load());
}

void Search::Worker::check() {
  if (++since_check_ < 16) return;  // about every 100 µs
  since_check_ = 0;
  control_.check(calling_thread_, shared_.stage, done_, total_);
}

Search::Worker::Frame& Search::Worker::frame(std::size_t depth) {
  while (frames_.size() <= depth) {
    frames_.emplace_back();
    for (auto& cover : frames_.back().cover) cover.resize(table_.n_words());
  }
  return frames_[depth];
}

void Search::Worker::fold(const std::uint64_t* cover, int levels, bool bounds, WholePairs* pairs) {
  check();
  if (loaded_ != cover) frontier_.load(cover);
  loaded_ = nullptr;
  cost_fold_.want_bounds(bounds && look_ahead_);
  cost_fold_.keep_pairs(pairs);
  cost_fold_.fold(frontier_, levels, shared_.cost, ticker_, level_);
}

void Search::Worker::fold_state(const Known& state, Frame& frame) {
  const bool closed = state.left() <= 2;
  fold(state.cover, std::min(state.left(), 2), !closed, pairs_for(state, frame));
  if (closed || !shared_.choose) return;
  ahead_.resize(level_.n);
  for (std::size_t i = 0; i < level_.n; ++i)
    ahead_[i] = std::min(level_.leaf[0][i], level_.split[0][i]) + std::min(level_.leaf[1][i], level_.split[1][i]);
  for (auto& split : level_.split) std::fill(split.begin(), split.end(), kNoCost);  // the sides offer other tests
}

bool Search::Worker::ruled_out(Known& state, double bound) {
  fold(state.cover, 1);
  loaded_ = state.cover;
  const TwoLevels one = best_of(level_);
  state.folded = true;
  if (one.cost < state.upper) {
    state.upper = one.cost;
    state.split = Known::kTwoLevels;
  }
  double least = kAnyCost;
  for (std::size_t i = 0; i < level_.n; ++i) {
    double sum = 0;
    for (int a = 0; a < 2; ++a) {
      std::int64_t total = 0;
      for (std::size_t c = 0; c < counts_.size(); ++c)
        total += counts_[c] = a == 1 ? frontier_.count(c, i) : frontier_.totals()[c] - frontier_.count(c, i);
      const bool leaf = total / 2 < shared_.options.min_leaf;
      sum += leaf ? level_.leaf[a][i] : std::min(level_.leaf[a][i], shared_.bounds.split(counts_.data()));
    }
    least = std::min(least, sum);
  }
  if (least >= below(state.upper))
    state.lower = state.upper.load();
  else if (least > state.lower)
    state.lower = least;
  return state.proved() || state.lower >= bound;
}

// The least cost over two levels, the fewest leaves at that cost, and the lowest split with both.
Search::Worker::TwoLevels Search::Worker::best_of(const OneLevel& level) {
  TwoLevels best{level.state_leaf, 1, level.n};
  double improves = below(best.cost), as_good = above(best.cost);
  for (std::size_t i = 0; i < level.n; ++i) {
    const double sum = std::min(level.leaf[1][i], level.split[1][i]) + std::min(level.leaf[0][i], level.split[0][i]);
    if (sum >= as_good) continue;
    std::uint32_t leaves = 2;
    for (int a = 0; a < 2; ++a) leaves += level.split[a][i] < below(level.leaf[a][i]) ? 1 : 0;
    if (sum < improves || leaves < best.leaves) {
      best = {sum, leaves, i};
      improves = below(sum);
      as_good = above(sum);
    }
  }
  return best;
}

// Fold the state. Closed states are proved by that; others get their options, in the order in which to try them.
bool Search::Worker::open(Known& state, Frame& frame) {
  const bool closed = state.left() <= 2;
  fold_state(state, frame);
  state.folded = true;
  const TwoLevels two = best_of(level_);
  if (two.cost < state.upper) {
    state.upper = two.cost;
    state.split = Known::kTwoLevels;
  }
  if (closed) {
    close(state, two);
    return false;
  }
  if (state.lower >= below(state.upper)) {
    state.lower = state.upper.load();
    return false;
  }
  list_options(frame);
  return true;
}

void Search::Worker::close(Known& state, const TwoLevels& two) {
  state.folded = true;
  state.split = Known::kTwoLevels;
  state.upper = two.cost;
  state.lower = two.cost;
  state.cap = above(two.cost);
  state.fewest = state.leaves = two.leaves;
}

WholePairs* Search::Worker::pairs_for(const Known& state, Frame& frame) {
  if (shared_.choose) return nullptr;  // the pairs of a cover are not those of tests that its sides choose
  // Where nearly every class has one word of the cover, to count the larger side takes no longer than to subtract:
  // 10,000 rows of 400 classes took twice as long with pairs as without, and of 100 classes as long.
  if (table_.n_words() < 2 * table_.n_classes()) return nullptr;
  const auto& options = shared_.options;
  std::size_t rows = 0;
  if (state.left() == 3 && WholePairs::possible(shared_.cost))
    for (std::size_t w = 0; w < table_.n_words(); ++w) rows += static_cast<std::size_t>(std::popcount(state.cover[w]));
  const std::size_t bytes = WholePairs::most_bytes(table_);
  if (rows < 32 * std::max<std::size_t>(options.sides_from, 1) || bytes > kMostPairs ||
      shared_.store.bytes() + options.n_threads * bytes > control_.memory_limit) {
    frame.pairs.reset();
    return nullptr;
  }
  if (frame.pairs == nullptr || frame.pairs.use_count() > 1) frame.pairs = std::make_shared<WholePairs>();
  return frame.pairs.get();
}

void Search::Worker::fold_sides(Frame& frame, const double bound[2]) {
  const int small = frame.side[1].total <= frame.side[0].total ? 1 : 0, large = 1 - small;
  const auto wanted = [&](int a) { return !frame.side[a].proved() && frame.side[a].lower < bound[a]; };
  if (!wanted(large)) return;  // the smaller side alone has fewer tests
  check();
  side_fold_.fold(*frame.pairs, frame.side[small].cover, shared_.cost, ticker_, side_level_);
  for (int a = 0; a < 2; ++a) {
    Side& side = frame.side[a];
    if (side.proved()) continue;
    if (side.known == nullptr)
      side.known = shared_.store.find_or_add(side.cover, side.left, side.total, side.lower, side.upper, control_);
    const Turn turn(*side.known, control_, calling_thread_);
    if (!side.known->proved()) close(*side.known, best_of(side_level_[a == small ? 0 : 1]));
  }
}

void Search::Worker::list_options(Frame& frame) const {
  frame.options.clear();
  frame.solved.clear();
  for (std::size_t i = 0; i < level_.n; ++i) {
    Option option;
    for (int a = 0; a < 2; ++a) {
      option.leaf[a] = level_.leaf[a][i];
      option.split[a] = level_.split[a][i];
      option.lower[a] = look_ahead_ ? level_.lower[a][i] : -kNoCost;
    }
    option.two_levels = shared_.choose
                            ? ahead_[i]
                            : std::min(option.leaf[0], option.split[0]) + std::min(option.leaf[1], option.split[1]);
    option.test_class = *frontier_.parts_begin(i) >> 1;
    frame.options.push_back(option);
  }
  std::stable_sort(frame.options.begin(), frame.options.end(),
                   [](const Option& x, const Option& y) { return x.two_levels < y.two_levels; });
}

void Search::Worker::keep(Known& state, const Frame& frame, const Option& option) {
  state.split = option.test_class;
  for (int a = 0; a < 2; ++a) {
    const Side& side = frame.side[a];
    const double plain = side.left >= 1 ? std::min(option.leaf[a], option.split[a]) : option.leaf[a];
    state.side[a] = side.upper < plain ? side.known : nullptr;
  }
}

void Search::Worker::look_at_sides(const Known& state, Frame& frame, const Option& option, double cut) {
  const std::size_t words = table_.n_words();
  const std::uint64_t* column = table_.column(table_.test_classes()[option.test_class].test);
  std::uint64_t *one = frame.cover[1].data(), *zero = frame.cover[0].data();
  for (std::size_t w = 0; w < words; ++w) {
    one[w] = state.cover[w] & column[w];
    zero[w] = state.cover[w] & ~column[w];
  }
  const auto ones = static_cast<std::int32_t>(table_.count(one));
  for (int a = 0; a < 2; ++a) {
    Side& side = frame.side[a];
    side.cover = frame.cover[a].data();
    side.total = a == 1 ? ones : state.total - ones;
    side.left = shared_.levels(state.left() - 1, side.total);
    side.known = nullptr;
    side.upper = side.left >= 1 ? std::min(option.leaf[a], option.split[a]) : option.leaf[a];
    side.lower = side.upper;
    if (side.left >= (shared_.choose ? 1 : 2)) {
      table_.class_counts(side.cover, counts_.data());
      side.lower = std::min(side.upper, std::max(shared_.bounds.split(side.cover, counts_.data()),
                                                 std::min(option.leaf[a], option.lower[a])));
    }
  }
  if (frame.side[0].lower + frame.side[1].lower >= cut) return;  // before a look-up, which costs more than the rest
  for (Side& side : frame.side) {
    if (side.proved()) continue;
    side.known = shared_.store.find(side.cover, side.left);
    if (side.known == nullptr) continue;
    side.lower = std::max(side.lower, side.known->lower.load(std::memory_order_relaxed));
    side.upper = std::min(side.upper, side.known->upper.load(std::memory_order_relaxed));
  }
}

// Raise the bound of a side by what is known of other covers at this state, until it is enough.
void Search::Worker::similar(const Frame& frame, Side& side, double enough) const {
  for (const Known* other : frame.solved) {
    const double known = other->lower.load(std::memory_order_relaxed);
    if (known - std::max(0, other->total - side.total) <= side.lower) continue;
    side.lower =
        std::max(side.lower, shared_.bounds.similar(side.cover, side.total, other->cover, other->total, known));
    if (side.lower >= enough) break;
  }
  side.lower = std::min(side.lower, side.upper);
}

void Search::Worker::solve_side(Frame& frame, Side& side, double bound, std::size_t depth) {
  if (side.proved() || side.lower >= bound) return;
  if (side.known == nullptr)
    side.known = shared_.store.find_or_add(side.cover, side.left, side.total, side.lower, side.upper, control_);
  Known& known = *side.known;
  solve(known, bound, depth + 1);
  side.lower = std::max(side.lower, known.lower.load(std::memory_order_relaxed));
  side.upper = std::min(side.upper, known.upper.load(std::memory_order_relaxed));
  if (shared_.bounds.similar()) frame.solved.push_back(&known);
}

void Search::Worker::try_split(const Known& state, Frame& frame, const Option& option, double cut, std::size_t depth) {
  look_at_sides(state, frame, option, cut);
  Side &one = frame.side[1], &zero = frame.side[0];
  if (one.lower + zero.lower >= cut) return;
  if (shared_.bounds.similar())
    for (Side* side : {&one, &zero}) {
      const Side& other = side == &one ? zero : one;
      if (!side->proved()) similar(frame, *side, cut - other.lower);
      if (one.lower + zero.lower >= cut) return;
    }
  if (!shared_.options.bounds.siblings) cut = kAnyCost;
  // First the side that may still add most to the bound.
  if (frame.pairs != nullptr) {
    const double bound[2] = {cut - one.lower, cut - zero.lower};
    fold_sides(frame, bound);
  }
  Side& first = one.upper - one.lower >= zero.upper - zero.lower ? one : zero;
  Side& second = &first == &one ? zero : one;
  solve_side(frame, first, cut - second.lower, depth);
  if (!first.proved() || first.lower + second.lower >= cut) return;
  solve_side(frame, second, cut - first.lower, depth);
}

void Search::Worker::solve(Known& state, double bound, std::size_t depth) {
  const Turn turn(state, control_, calling_thread_);
  if (state.proved() || state.lower >= bound) return;
  if (shared_.choose && state.left() > 2 && ruled_out(state, bound)) return;
  Frame& f = frame(depth);
  if (open(state, f)) try_splits(state, f, bound, depth);
}

void Search::Worker::try_splits(Known& state, Frame& frame, double bound, std::size_t depth) {
  double least = kAnyCost;  // of the lower bounds of the splits so far
  std::size_t i = 0;
  const auto settle = [&] {
    const double upper = state.upper;
    if (least >= below(upper))
      state.lower = upper;
    else if (least > state.lower)
      state.lower = least;
  };
  try {
    for (; i < frame.options.size(); ++i) {
      if (depth == 0) say(state, i, frame.options.size());
      const double cut = std::min(bound, below(state.upper));  // `bound` has its margin already
      try_split(state, frame, frame.options[i], cut, depth);
      const Side &one = frame.side[1], &zero = frame.side[0];
      least = std::min(least, one.lower + zero.lower);
      const double sum = one.upper + zero.upper;
      // Only proved sums count: then the tree is that of the first best split in order, however the bounds came about,
      // and so the same for any number of threads.
      if (one.proved() && zero.proved() && sum < cut) {
        state.upper = sum;
        keep(state, frame, frame.options[i]);
        if (state.lower >= below(sum)) break;  // nothing can be better
      }
    }
    if (i < frame.options.size()) least = state.lower;
    settle();
  } catch (const LimitReached&) {
    // Keep what was learned: the bounds of all splits, and a better tree if the last one gave it.
    for (; i < frame.options.size(); ++i) {
      look_at_sides(state, frame, frame.options[i], kAnyCost);
      const Side &one = frame.side[1], &zero = frame.side[0];
      least = std::min(least, one.lower + zero.lower);
      if (one.upper + zero.upper < below(state.upper)) {
        state.upper = one.upper + zero.upper;
        keep(state, frame, frame.options[i]);
      }
    }
    settle();
    throw;
  }
}

void Search::Worker::dive(Known& state, std::size_t depth) {
  if (state.proved()) return;
  Frame& f = frame(depth);
  if (!open(state, f) || f.options.empty()) return;
  f.pairs.reset();  // one split only
  const Option& option = f.options.front();
  look_at_sides(state, f, option, kAnyCost);
  for (Side& side : f.side) {
    if (side.proved()) continue;
    side.known = shared_.store.find_or_add(side.cover, side.left, side.total, side.lower, side.upper, control_);
    dive(*side.known, depth + 1);
    side.upper = std::min<double>(side.upper, side.known->upper);
  }
  const double sum = f.side[0].upper + f.side[1].upper;
  if (sum < below(state.upper)) {
    state.upper = sum;
    keep(state, f, option);
  }
}

// At least so many leaves, if the sides are to cost less than `cap` together. Of sides split once nothing is known
// where they choose their tests: then a side that is no leaf has two at least, not three.
std::uint32_t Search::Worker::fewest_of_sides(const Option& option, const Frame& frame, double cap) const {
  const std::uint32_t more = shared_.choose ? 2 : 3;
  std::uint32_t sum = 0;
  for (int a = 0; a < 2; ++a) {
    const Known* known = frame.side[a].known;
    const double left = cap - frame.side[1 - a].lower;
    if (option.leaf[a] < left)
      sum += 1;
    else if (option.split[a] < left)
      sum += 2;
    else
      // `left` has the margin of the whole tree, `cap` that of the side.
      sum += known != nullptr && known->cap >= left - 2e-12 * std::abs(cap) ? std::max(more, known->fewest) : more;
  }
  return sum;
}

void Search::Worker::shrink(Known& state, std::uint32_t bound, std::size_t depth) {
  const double cap = above(state.upper);
  if (state.cap >= cap && (state.fewest >= state.leaves || state.fewest >= bound)) return;
  Frame& f = frame(depth);
  fold_state(state, f);
  const TwoLevels two = best_of(level_);
  // Every tree of up to three leaves is among them, or up to two where children choose their tests.
  if (state.left() == 0 || two.cost < cap) {
    state.cap = cap;
    state.fewest = state.leaves = two.leaves;
    state.split = Known::kTwoLevels;
    return;
  }
  if (state.cap < cap) {
    state.cap = cap;
    state.fewest = shared_.choose ? 3 : 4;
  }
  if (state.fewest >= bound) return;
  list_options(f);
  shrink_splits(state, f, bound, depth);
}

void Search::Worker::leaves_of_sides(const Option& option, const Side* sides, std::uint32_t bound, std::size_t depth,
                                     std::uint32_t* fewest, std::uint32_t* leaves) {
  for (int a = 0; a < 2; ++a) {
    const double worse = above(sides[a].upper);
    const bool leaf = option.leaf[a] < worse, split = sides[a].left >= 1 && option.split[a] < worse;
    fewest[a] = leaf ? 1 : split || shared_.choose ? 2 : 3;
    leaves[a] = leaf || split ? fewest[a] : 0xffffffu;
  }
  for (int a = 0; a < 2 && fewest[0] + fewest[1] < bound; ++a) {
    if (fewest[a] >= leaves[a]) continue;
    shrink(*sides[a].known, bound - fewest[1 - a], depth + 1);
    fewest[a] = std::max(fewest[a], sides[a].known->fewest);
    leaves[a] = sides[a].known->leaves;
  }
}

void Search::Worker::shrink_splits(Known& state, Frame& frame, std::uint32_t bound, std::size_t depth) {
  const double cap = above(state.upper);
  std::uint32_t least = 0xffffffffu;
  for (const Option& option : frame.options) {
    look_at_sides(state, frame, option, cap);
    const std::uint32_t best = std::min(bound, state.leaves), needed = fewest_of_sides(option, frame, cap);
    if (needed >= best) {
      least = std::min(least, needed);
      continue;
    }
    // Few enough leaves may do: now the cost must be known.
    try_split(state, frame, option, cap, depth);
    Side sides[2] = {frame.side[0], frame.side[1]};
    if (sides[0].upper + sides[1].upper >= cap || !sides[0].proved() || !sides[1].proved()) continue;
    std::uint32_t fewest[2], leaves[2];
    leaves_of_sides(option, sides, best, depth, fewest, leaves);
    least = std::min(least, fewest[0] + fewest[1]);
    // Less than `bound` too: the tree of a state is that of its first best split, whatever was asked before.
    if (fewest[0] >= leaves[0] && fewest[1] >= leaves[1] && leaves[0] + leaves[1] < best) {
      state.leaves = leaves[0] + leaves[1];
      for (int a = 0; a < 2; ++a) frame.side[a] = sides[a];
      keep(state, frame, option);
      if (state.leaves <= state.fewest) break;
    }
  }
  if (state.leaves <= state.fewest || least >= state.leaves)
    state.fewest = state.leaves;
  else
    state.fewest = std::max(state.fewest, least);
}

double Search::Worker::write_two_levels(const std::uint64_t* cover, int levels, Key& key) {
  if (levels == 0) return write_leaf(cover, key);
  fold(cover, levels);
  const TwoLevels best = best_of(level_);
  if (best.split == level_.n) {
    key.push_back(-1);
    return best.cost;
  }
  const bool split[2] = {level_.split[0][best.split] < below(level_.leaf[0][best.split]),
                         level_.split[1][best.split] < below(level_.leaf[1][best.split])};
  const std::uint32_t test = table_.test_classes()[*frontier_.parts_begin(best.split) >> 1].test;
  std::vector<std::uint32_t> tests;  // both levels use those of the cover
  for (std::size_t g = 0; g < level_.n; ++g) tests.push_back(*frontier_.parts_begin(g) >> 1);
  key.push_back(static_cast<std::int32_t>(test));
  double sum = 0;
  Cover side(table_.n_words());
  for (int a = 0; a < 2; ++a) {
    const std::uint64_t* column = table_.column(test);
    for (std::size_t w = 0; w < side.size(); ++w) side[w] = cover[w] & (a == 1 ? column[w] : ~column[w]);
    sum += split[a] ? write_split(side.data(), tests, key) : write_leaf(side.data(), key);
  }
  return sum;
}

double Search::Worker::write_leaf(const std::uint64_t* cover, Key& key) {
  table_.class_counts(cover, counts_.data());
  key.push_back(-1);
  return shared_.cost(counts_.data());
}

double Search::Worker::write_split(const std::uint64_t* cover, const std::vector<std::uint32_t>& tests, Key& key) {
  const std::int64_t total = table_.count(cover), min_leaf = shared_.options.min_leaf;
  std::vector<std::int32_t> one(table_.n_classes());
  Cover side(table_.n_words());
  table_.class_counts(cover, counts_.data());
  double best = shared_.cost(counts_.data());
  std::int32_t chosen = -1;
  for (const std::uint32_t k : tests) {
    const std::uint32_t test = table_.test_classes()[k].test;
    const std::uint64_t* column = table_.column(test);
    for (std::size_t w = 0; w < side.size(); ++w) side[w] = cover[w] & column[w];
    const std::int64_t ones = table_.count(side.data());
    if (ones < min_leaf || total - ones < min_leaf) continue;
    table_.class_counts(side.data(), one.data());
    double sum = shared_.cost(one.data());
    for (std::size_t c = 0; c < one.size(); ++c) one[c] = counts_[c] - one[c];
    sum += shared_.cost(one.data());
    if (sum >= below(best)) continue;
    best = sum;
    chosen = static_cast<std::int32_t>(test);
  }
  key.push_back(chosen);
  if (chosen >= 0) key.insert(key.end(), {-1, -1});
  return best;
}

double Search::Worker::write(const Known& state, Key& key) {
  // Where children choose their tests, a parent knows its sides as leaves, and a state knows one level, or the last
  // two.
  const int of_parent = shared_.choose ? 0 : 1, own = shared_.choose && state.left() > 2 ? 1 : 2;
  if (state.split == Known::kTwoLevels)
    return write_two_levels(state.cover, std::min(state.left(), state.folded ? own : of_parent), key);
  const std::uint32_t test = table_.test_classes()[state.split].test;
  key.push_back(static_cast<std::int32_t>(test));
  double sum = 0;
  for (int a = 0; a < 2; ++a) {
    if (state.side[a] != nullptr) {
      sum += write(*state.side[a], key);
      continue;
    }
    const std::uint64_t* column = table_.column(test);
    Cover side(table_.n_words());
    for (std::size_t w = 0; w < side.size(); ++w) side[w] = state.cover[w] & (a == 1 ? column[w] : ~column[w]);
    sum += write_two_levels(side.data(),
                            std::min(shared_.levels(state.left() - 1, table_.count(side.data())), of_parent), key);
  }
  return sum;
}

}  // namespace everytree
