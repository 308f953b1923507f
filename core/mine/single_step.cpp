#include "mine/single_step.hpp"

#include <algorithm>
#include <cmath>

namespace everytree::mine {

SingleStep::SingleStep(const Lattice& lattice, KeyOf key, Meter& meter)
    : lattice_(&lattice),
      table_(&lattice.table()),
      key_of_(key),
      meter_(&meter),
      index_(meter),
      counts_(lattice.n_classes()) {}

Found SingleStep::run() {
  const double start = meter_->seconds();
  levels_.emplace_back(*meter_);
  for (std::uint32_t t = 0; t < table_->n_tests(); ++t) levels_[0].tests.push_back({t, 0});
  enter_root();
  const std::uint32_t root = levels_[top_].result;
  if (!leave_if_solved())
    while (top_ > 0) step();
  Found found;
  found.cost = index_.tip(root).cost;
  found.report.itemsets = index_.n_itemsets();
  found.report.counted = counted_;
  found.report.states = index_.n_results();
  if (std::isfinite(found.cost)) found.key = write();
  found.report.bytes = meter_->peak();
  found.report.seconds_total = meter_->seconds() - start;
  return found;
}

// --- entering a state ---

void SingleStep::enter_root() {
  if (levels_.size() == 1) levels_.emplace_back(*meter_);
  top_ = 1;
  Level& root = levels_[1];
  root.cover.resize(0);
  root.cover.append(table_->all().data(), table_->n_words());
  root.total = table_->total();
  root.key.resize(0);
  locate();
}

void SingleStep::enter(std::uint32_t test, std::int32_t ones, int side) {
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

void SingleStep::locate() {
  Level& top = levels_[top_];
  std::uint32_t last = kNone;
  if (key_of_ == KeyOf::closure) {
    close();
    if (lattice_->depth_matters()) last = item_of(table_->n_tests(), 0) + static_cast<std::uint32_t>(top_ - 1);
  }
  top.result = index_.locate(top.key.data(), top.key.size(), last);
}

// The closure: what is constant above, and which of the other tests are constant here. Most tests show both outcomes
// within a word or two, so this is much cheaper than counting, and counting is left to states that are new.
void SingleStep::close() {
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
void SingleStep::survey() {
  Level& here = levels_[top_];
  const Store<Candidate>& tests = key_of_ == KeyOf::closure ? here.tests : levels_[top_ - 1].tests;
  const std::size_t n = tests.size();
  if (key_of_ == KeyOf::itemset) here.tests.resize(0);
  for (std::size_t k = 0; k < n; ++k) {
    const std::uint32_t test = tests[k].test;
    const Candidate c{test, static_cast<std::int32_t>(table_->count(here.cover.data(), test))};
    meter_->work(2 * table_->n_words(), "building the tree", index_.n_results());
    if (key_of_ == KeyOf::closure)
      here.tests[k] = c;
    else if (feasible(here, c))
      here.tests.push_back(c);
  }
}

// --- solving ---

bool SingleStep::leave_if_solved() {
  Level& top = levels_[top_];
  Tip& known = index_.tip(top.result);
  if (known.known()) {
    --top_;
    return true;
  }
  table_->class_counts(top.cover.data(), counts_.data());
  ++counted_;
  top.tip = lattice_->leaf(counts_.data());
  if (lattice_->final(counts_.data()) || lattice_->deep_enough(top_ - 1) || top.total < 2 * lattice_->min_leaf()) {
    known = top.tip;
    --top_;
    return true;
  }
  survey();
  top.next = 0;
  top.side = 0;
  return false;
}

// One move of the state on top: to a child that is not solved yet, to its next candidate, or back to its parent.
void SingleStep::step() {
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
    const Tip &t0 = index_.tip(top.child[0]), &t1 = index_.tip(top.child[1]);
    top.tip.offer(t0.cost + t1.cost, t0.leaves + t1.leaves, static_cast<std::int32_t>(c.test));
    top.side = 0;
    ++top.next;
  }
  index_.tip(top.result) = top.tip;
  --top_;
}

// --- the tree ---

Key SingleStep::write() {
  Key key;
  enter_root();
  key.push_back(index_.tip(levels_[top_].result).test);
  levels_[top_].side = 0;
  while (top_ > 0) {
    Level& top = levels_[top_];
    const std::int32_t test = index_.tip(top.result).test;
    if (test < 0 || top.side == 2) {
      --top_;
      continue;
    }
    const int side = top.side++;
    const auto ones = static_cast<std::int32_t>(table_->count(top.cover.data(), static_cast<std::size_t>(test)));
    enter(static_cast<std::uint32_t>(test), ones, side);
    levels_[top_].side = 0;
    key.push_back(index_.tip(levels_[top_].result).test);
  }
  return key;
}

}  // namespace everytree::mine
