#include "mine/single_step.hpp"

#include <algorithm>
#include <utility>

namespace everytree::mine {

template <class Keep>
SingleStep<Keep>::SingleStep(const Lattice& lattice, KeyOf key, Meter& meter, const Mined* mined)
    : lattice_(&lattice),
      table_(&lattice.table()),
      key_of_(key),
      meter_(&meter),
      mined_(mined),
      keep_(lattice, key == KeyOf::itemset || lattice.depth_matters(), meter),
      index_(meter),
      results_(meter),
      counts_(lattice.n_classes()),
      other_(lattice.n_classes()),
      part_(lattice.table().n_words()) {}

template <class Keep>
Found SingleStep<Keep>::run() {
  const double start = meter_->seconds();
  levels_.emplace_back(*meter_);
  for (std::uint32_t t = 0; t < table_->n_tests(); ++t) levels_[0].tests.push_back({t, 0});
  enter_root();
  const std::uint32_t root = levels_[top_].result;
  if (!leave_if_solved())
    while (top_ > 0) step();
  Found found;
  found.report.itemsets = index_.n_itemsets();
  found.report.counted = counted_;
  found.report.states = index_.n_results();
  for (std::size_t place : keep_.answers(results_[root]))
    found.trees.push_back({keep_.values(results_[root], place), write(place)});
  found.report.bytes = meter_->peak();
  found.report.seconds_total = meter_->seconds() - start;
  return found;
}

// --- entering a state ---

template <class Keep>
void SingleStep<Keep>::enter_root() {
  if (levels_.size() == 1) levels_.emplace_back(*meter_);
  top_ = 1;
  Level& root = levels_[1];
  root.cover.resize(0);
  root.cover.append(table_->all().data(), table_->n_words());
  root.total = table_->total();
  root.key.resize(0);
  locate();
}

template <class Keep>
void SingleStep<Keep>::enter(std::uint32_t test, std::int32_t ones, int side) {
  if (levels_.size() == ++top_) levels_.emplace_back(*meter_);
  const Level& from = levels_[top_ - 1];
  Level& to = levels_[top_];
  const std::size_t n_words = table_->n_words();
  to.cover.resize(n_words);
  const std::uint64_t *rows = from.cover.data(), *column = table_->column(test);
  for (std::size_t w = 0; w < n_words; ++w) to.cover[w] = rows[w] & (side ? column[w] : ~column[w]);
  to.total = side ? ones : from.total - ones;
  meter_->work(4 * n_words + 4 * from.key.size(), "building the tree", index_.n_results());
  if (key_of_ == KeyOf::itemset) {
    const Item item = item_of(test, side);
    const Item* end = from.key.data() + from.key.size();
    const Item* place = std::lower_bound(from.key.data(), end, item);
    to.key.resize(0);
    to.key.append(from.key.data(), static_cast<std::size_t>(place - from.key.data()));
    to.key.push_back(item);
    to.key.append(place, static_cast<std::size_t>(end - place));
  }
  locate();
}

template <class Keep>
void SingleStep<Keep>::locate() {
  Level& top = levels_[top_];
  std::uint32_t last = kNone;
  if (key_of_ == KeyOf::closure) {
    close();
    if (lattice_->depth_matters()) last = item_of(table_->n_tests(), 0) + static_cast<std::uint32_t>(top_ - 1);
  }
  top.result = index_.locate(top.key.data(), top.key.size(), last);
  if (top.result == results_.size()) results_.push_back({});
}

// The closure: what is constant above, and which of the other tests are constant here. Most tests show both outcomes
// within a word or two, so this is much cheaper than counting, and counting is left to states that are new.
template <class Keep>
void SingleStep<Keep>::close() {
  const Level& above = levels_[top_ - 1];
  Level& here = levels_[top_];
  const std::uint64_t* rows = here.cover.data();
  const std::size_t n_words = table_->n_words();
  here.tests.resize(0);
  constant_.clear();
  for (std::size_t k = 0; k < above.tests.size(); ++k) {
    const std::uint32_t test = above.tests[k].test;
    const std::uint64_t* column = table_->column(test);
    std::uint64_t ones = 0, zeros = 0;
    std::size_t w = 0;
    for (; w < n_words && (ones == 0 || zeros == 0); ++w) {
      ones |= rows[w] & column[w];
      zeros |= rows[w] & ~column[w];
    }
    meter_->work(w + 1, "building the tree", index_.n_results());
    if (ones != 0 && zeros != 0)
      here.tests.push_back({test, 0});
    else
      constant_.push_back(item_of(test, ones != 0));
  }
  here.key.resize(above.key.size() + constant_.size());
  std::merge(above.key.data(), above.key.data() + above.key.size(), constant_.begin(), constant_.end(),
             here.key.data());
}

// Count the tests. What is infeasible above is infeasible here, but a closure has to know it.
template <class Keep>
void SingleStep<Keep>::survey() {
  Level& here = levels_[top_];
  const Store<Candidate>& tests = key_of_ == KeyOf::closure ? here.tests : levels_[top_ - 1].tests;
  const std::size_t n = tests.size();
  if (key_of_ == KeyOf::itemset) here.tests.resize(0);
  for (std::size_t k = 0; k < n; ++k) {
    const std::uint32_t test = tests[k].test;
    Candidate c{test, static_cast<std::int32_t>(table_->count(here.cover.data(), test))};
    meter_->work(2 * table_->n_words(), "building the tree", index_.n_results());
    if (lattice_->ruled() && feasible(here, c)) c.allowed = allowed(here, c);
    if (key_of_ == KeyOf::closure)
      here.tests[k] = c;
    else if (feasible(here, c))
      here.tests.push_back(c);
  }
}

// Whether the rule for paths holds on both sides; counts_ are those of the state.
template <class Keep>
bool SingleStep<Keep>::allowed(const Level& level, const Candidate& c) {
  const std::uint64_t *rows = level.cover.data(), *column = table_->column(c.test);
  for (std::size_t w = 0; w < part_.size(); ++w) part_[w] = rows[w] & column[w];
  table_->class_counts(part_.data(), other_.data());
  meter_->work(4 * part_.size(), "building the tree", index_.n_results());
  if (!lattice_->frequent(other_.data())) return false;
  for (std::size_t k = 0; k < other_.size(); ++k) other_[k] = counts_[k] - other_[k];
  return lattice_->frequent(other_.data());
}

// --- solving ---

template <class Keep>
bool SingleStep<Keep>::leave_if_solved() {
  Level& top = levels_[top_];
  if (keep_.known(results_[top.result])) {
    --top_;
    return true;
  }
  const std::int32_t* known = mined_ == nullptr ? nullptr : mined_->find(top.key.data(), top.key.size());
  if (known != nullptr) {
    std::copy_n(known, counts_.size(), counts_.data());
  } else {
    table_->class_counts(top.cover.data(), counts_.data());
    ++counted_;
  }
  keep_.leaf(top.entry, counts_.data(), top_ - 1);
  if (lattice_->final(counts_.data()) || lattice_->deep_enough(top_ - 1) || top.total < 2 * lattice_->min_leaf()) {
    keep_.finish(top.entry);
    results_[top.result] = std::move(top.entry);
    --top_;
    return true;
  }
  survey();
  top.next = 0;
  top.side = 0;
  return false;
}

// One move of the state on top: to a child that is not solved yet, to its next candidate, or back to its parent.
template <class Keep>
void SingleStep<Keep>::step() {
  Level& top = levels_[top_];
  while (top.next < top.tests.size()) {
    const Candidate c = top.tests[top.next];
    if (top.side == 0 && !feasible(top, c)) {
      ++top.next;
      continue;
    }
    while (top.side < 2) {
      const int side = top.side++;
      enter(c.test, c.ones, side);
      top.child[side] = levels_[top_].result;
      if (!leave_if_solved()) return;
    }
    keep_.offer(top.entry, c.test, results_[top.child[0]], results_[top.child[1]], top_ - 1);
    top.side = 0;
    ++top.next;
  }
  keep_.finish(top.entry);
  results_[top.result] = std::move(top.entry);
  --top_;
}

// --- the tree ---

template <class Keep>
Key SingleStep<Keep>::write(std::size_t place) {
  Key key;
  enter_root();
  levels_[top_].place = place;
  levels_[top_].side = 0;
  key.push_back(keep_.made(results_[levels_[top_].result], place).test);
  while (top_ > 0) {
    Level& top = levels_[top_];
    const Made made = keep_.made(results_[top.result], top.place);
    if (made.test < 0 || top.side == 2) {
      --top_;
      continue;
    }
    const int side = top.side++;
    const auto test = static_cast<std::uint32_t>(made.test);
    enter(test, static_cast<std::int32_t>(table_->count(top.cover.data(), test)), side);
    Level& below = levels_[top_];
    below.place = static_cast<std::size_t>(side ? made.yes : made.no);
    below.side = 0;
    key.push_back(keep_.made(results_[below.result], below.place).test);
  }
  return key;
}

template class SingleStep<OneTree>;
template class SingleStep<ManyTrees>;

}  // namespace everytree::mine
