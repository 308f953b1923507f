#include "search/probable.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "common/errors.hpp"
#include "common/infinity.hpp"
#include "fold/joint.hpp"
#include "search/greedy.hpp"

namespace everytree {

namespace {
// Less than a split costs: 2 % more states, and half the time on primary-tumor and lymph, where many splits are close.
constexpr double kStep = 1.0;
// Dives from the root try so many splits at each level: a few dozen dives find what one would miss.
constexpr std::size_t kWidth[] = {8, 4, 2};
}  // namespace

template <PrunedByProduct A>
BestFirst<A>::BestFirst(std::shared_ptr<const CountTable> table, const Prior& prior,
                        std::shared_ptr<const Dirichlet> leaf, const ProbableOptions& options)
    : table_(std::move(table)),
      prior_(prior),
      leaf_(std::move(leaf)),
      options_(options),
      store_(*table_, options.merge, false),
      frontier_(*table_, options.min_leaf),
      offers_(*table_, options.min_leaf),
      counts_(4 * table_->n_classes()) {
  if (options.min_leaf < 1) throw InvalidInput("min_leaf must be at least 1");
  if (table_->total() < options.min_leaf)
    throw InvalidInput("the data hold " + std::to_string(table_->total()) + " examples, fewer than min_leaf=" +
                       std::to_string(options.min_leaf) + ": no tree exists; lower min_leaf");
  if (!Hope::sound(prior))
    throw InvalidInput("the search needs a prior whose factors are at most 1 (logarithms at most 0)");
  if (table_->local()) last_ = std::make_unique<LastLevels>(*table_, options.min_leaf, prior, leaf_);
}

template <PrunedByProduct A>
std::int64_t BestFirst<A>::levels(const Node& node) const {
  const std::int64_t by_total = node.total / options_.min_leaf - 1;
  return options_.max_depth < 0 ? by_total : std::min<std::int64_t>(by_total, options_.max_depth - node.place);
}

template <PrunedByProduct A>
typename BestFirst<A>::Frame& BestFirst<A>::frame(std::size_t depth) {
  while (frames_.size() <= depth) {
    Frame made;  // whole or not at all: memory may run out between its two covers
    for (auto& cover : made.cover) cover.resize(table_->n_words());
    frames_.push_back(std::move(made));
  }
  return frames_[depth];
}

template <PrunedByProduct A>
void BestFirst<A>::check() {
  if (++since_check_ < 16) return;
  since_check_ = 0;
  control_->check_memory(bytes());
  if (root_ != nullptr && root_->upper < kNoCost && (n_opened_ & 255) == 0)
    std::snprintf(stage_, sizeof stage_, "searching (log joint %.6g, at most %.6g)", -root_->upper, -root_->lower);
  control_->check(true, stage_, n_opened_, store_.size());
}

// --- looking ahead ---

template <PrunedByProduct A>
void BestFirst<A>::look(const Node& node) {
  check();
  frontier_.load(node.cover);
  const std::size_t n = frontier_.n_groups(), stride = frontier_.stride(), d = depth(node);
  for (int a = 0; a < 2; ++a) {
    level_.plain[a].assign(stride, kNoCost);
    level_.hope[a].assign(stride, kNoCost);
    level_.tests[a].assign(stride, 0);
  }
  if (levels(node) < 2 || n < 2 || table_->local()) return;  // sides that choose their tests offer others
  const Hope::Tables* tables = nullptr;
  if (options_.tables && table_->n_classes() == 2 && frontier_.totals()[0] <= hope_->most(0) &&
      frontier_.totals()[1] <= hope_->most(1))
    tables = hope_->tables(d + 2, bytes(), *control_);
  if (tables != nullptr)
    look_by_table(*tables);
  else
    look_by_counts(d);
}

template <PrunedByProduct A>
void BestFirst<A>::look_by_table(const Hope::Tables& tables) {
  const std::size_t n = frontier_.n_groups();
  frontier_.set_index(hope_->shift());
  const PairTable plain{tables.plain.data(), frontier_.index(), frontier_.multiplicities(), frontier_.total_index()};
  const PairTable hope{tables.hope.data(), frontier_.index(), frontier_.multiplicities(), frontier_.total_index()};
  std::int32_t* const tests[2] = {level_.tests[0].data(), level_.tests[1].data()};
  double* const plain_out[2] = {level_.plain[0].data(), level_.plain[1].data()};
  double* const hope_out[2] = {level_.hope[0].data(), level_.hope[1].data()};
  for (std::size_t i = 0; i + 1 < n; ++i) {
    const std::int32_t* pairs = frontier_.next_pair_index(i, tests, pairs_);
    frontier_.kernel().fold_min(plain, pairs, i, n, plain_out);
    frontier_.kernel().fold_min(hope, pairs, i, n, hope_out);
    check();
  }
}

template <PrunedByProduct A>
void BestFirst<A>::look_by_counts(std::size_t depth) {
  const std::size_t n = frontier_.n_groups(), stride = frontier_.stride(), n_classes = table_->n_classes();
  const auto min_leaf = static_cast<std::int32_t>(options_.min_leaf);
  for (std::size_t i = 0; i + 1 < n; ++i) {
    const std::int32_t* pairs = frontier_.next_pair_counts(i, pairs_);
    for (std::size_t j = i + 1; j < n; ++j) {
      if ((j & 255) == 0) check();
      std::int32_t total[4] = {0, 0, 0, 0};  // 2 · (i = a) + (j = b)
      for (std::size_t c = 0; c < n_classes; ++c) {
        const std::int32_t both = pairs[c * stride + j], of_i = frontier_.count(c, i), of_j = frontier_.count(c, j);
        const std::int32_t q[4] = {frontier_.totals()[c] - of_i - of_j + both, of_j - both, of_i - both, both};
        for (std::size_t x = 0; x < 4; ++x) {
          counts_[x * n_classes + c] = q[x];
          total[x] += q[x];
        }
      }
      double plain[4], hope[4];
      for (std::size_t x = 0; x < 4; ++x) {
        plain[x] = hope[x] = kNoCost;
        if (total[x] < min_leaf) continue;
        plain[x] = hope_->plain(counts_.data() + x * n_classes, depth + 2);
        hope[x] = hope_->hope(counts_.data() + x * n_classes, depth + 2);
      }
      // Side a of i is parted by j into the quadrants (a, 0) and (a, 1); side b of j by i into (0, b) and (1, b).
      for (int side = 0; side < 2; ++side) {
        const int of_i[2] = {2 * side, 2 * side + 1}, of_j[2] = {side, side + 2};
        for (int first = 0; first < 2; ++first) {
          const int* q = first == 0 ? of_i : of_j;
          const std::size_t k = first == 0 ? i : j, other = first == 0 ? j : i;
          if (total[q[0]] < min_leaf || total[q[1]] < min_leaf) continue;
          level_.tests[side][k] += static_cast<std::int32_t>(frontier_.multiplicity(other));
          level_.plain[side][k] = std::min(level_.plain[side][k], plain[q[0]] + plain[q[1]]);
          level_.hope[side][k] = std::min(level_.hope[side][k], hope[q[0]] + hope[q[1]]);
        }
      }
    }
    check();
  }
}

// --- one state ---

template <PrunedByProduct A>
void BestFirst<A>::close(Node& node) {
  check();
  const LastLevels::Best best = last_->best(node.cover, depth(node));
  ++n_opened_;
  node.opened = node.closed = true;
  node.leaf = best.leaf;
  node.leaves = best.leaves;
  node.lower = node.upper = best.cost;
}

template <PrunedByProduct A>
void BestFirst<A>::open(Node& node) {
  if (table_->local() && options_.max_depth >= 0 && levels(node) == 2 && options_.max_depth - node.place == 2) {
    close(node);
    return;
  }
  look(node);  // a limit may end it: then the state is as before
  const std::size_t n = frontier_.n_groups(), d = depth(node), n_classes = table_->n_classes();
  const bool can_split = levels(node) >= 1 && n > 0;
  node.leaf = std::min(hope_->leaf(frontier_.totals(), d, can_split), kNoCost);
  // Exact now; before, a bound that did not know whether a test could follow.
  node.upper = node.leaf;
  node.split = Node::kLeaf;
  if (!can_split) {
    ++n_opened_;
    node.opened = true;
    node.lower = node.upper;
    return;
  }
  const auto& classes = table_->test_classes();
  if (prior_.fair) {
    shares_.begin(prior_);
    for (std::size_t i = 0; i < n; ++i)
      for (const std::uint32_t* p = frontier_.parts_begin(i); p != frontier_.parts_end(i); ++p)
        for (const std::uint32_t member : classes[*p >> 1].members) shares_.add(member >> 1);
  }
  const double all_alike = hope_->split(d, static_cast<std::int32_t>(frontier_.n_tests()));
  std::vector<Choice> found;
  double least_known = node.leaf;
  std::size_t best = n;
  Cover side(outvoted_ ? table_->n_words() : 0);
  for (std::size_t i = 0; i < n; ++i) {
    Choice choice{};
    choice.weight = all_alike;
    choice.test = classes[*frontier_.parts_begin(i) >> 1].test;
    bool flipped = false;
    if (prior_.fair) {  // tests that split alike may have different shares: the best of them
      double share = 0;
      for (const std::uint32_t* p = frontier_.parts_begin(i); p != frontier_.parts_end(i); ++p)
        for (const std::uint32_t member : classes[*p >> 1].members)
          if (shares_.share(member >> 1) > share) {
            share = shares_.share(member >> 1);
            choice.test = member >> 1;
            flipped = (*p ^ member) & 1;
          }
      choice.weight -= std::log(share);
    }
    for (int a = 0; a < 2; ++a) {
      std::int32_t* counts = counts_.data();
      for (std::size_t c = 0; c < n_classes; ++c)
        counts[c] = a == 1 ? frontier_.count(c, i) : frontier_.totals()[c] - frontier_.count(c, i);
      if (table_->local()) {
        choice.upper[a] = hope_->plain(counts, d + 1);
        choice.lower[a] = std::min(hope_->hope(counts, d + 1), choice.upper[a]);
        continue;
      }
      const std::int32_t tests = level_.tests[a][i];
      const double leaf = hope_->leaf(counts, d + 1, tests > 0);
      choice.upper[a] = choice.lower[a] = std::min(leaf, kNoCost);
      if (tests == 0) continue;
      // Of attribute-fair tests the frontier knows the number, not the shares: at best 1.
      const double split = hope_->split(d + 1, tests);
      if (!prior_.fair) choice.upper[a] = std::min(choice.upper[a], split + level_.plain[a][i]);
      double if_split = hope_->at_least(counts, d + 1, tests);
      if (options_.look_ahead) if_split = std::max(if_split, split + level_.hope[a][i]);
      choice.lower[a] = std::min(choice.lower[a], if_split);
    }
    if (flipped) {
      std::swap(choice.lower[0], choice.lower[1]);
      std::swap(choice.upper[0], choice.upper[1]);
    }
    if (choice.known() < below(least_known)) {
      least_known = choice.known();
      best = found.size();
    }
    if (choice.least() < above(least_known)) found.push_back(choice);
  }
  if (best < found.size() && least_known < node.upper) {
    node.upper = least_known;
    node.split = found[best].test;
    node.side[0] = node.side[1] = nullptr;
  }
  std::erase_if(found, [&](const Choice& c) { return c.least() >= above(node.upper); });
  if (outvoted_)
    for (Choice& choice : found) {
      const std::uint64_t* column = table_->column(choice.test);
      for (int a = 0; a < 2; ++a) {
        if (choice.lower[a] >= choice.upper[a]) continue;
        for (std::size_t w = 0; w < side.size(); ++w) side[w] = node.cover[w] & (a == 1 ? column[w] : ~column[w]);
        const std::int64_t k = table_->count_both(side.data(), table_->outvoted().data());
        if (k == 0) continue;
        table_->class_counts(side.data(), counts_.data());
        // One test at least: the frontier's number is not at hand any more. The known tree is no worse than the leaf,
        // unless it is not known whether a test could follow the leaf.
        const double leaf = table_->local() ? hope_->least_as_leaf(counts_.data(), d + 1) : choice.upper[a];
        choice.lower[a] = std::max(
            choice.lower[a], std::min({choice.upper[a], leaf, hope_->at_least_outvoted(counts_.data(), d + 1, 1, k)}));
      }
    }
  ++n_opened_;
  node.opened = true;  // only now: memory may run out above, and then the state is opened again
  node.choices = std::move(found);
  node.choices.shrink_to_fit();
  choice_bytes_ += node.choices.capacity() * sizeof(Choice);
  settle(node);
}

// The bound of a state, from those of its splits.
template <PrunedByProduct A>
void BestFirst<A>::settle(Node& node) {
  double least = node.leaf;
  for (const Choice& c : node.choices) least = std::min(least, c.least());
  if (least >= below(node.upper))
    node.lower = node.upper;
  else
    node.lower = std::max(node.lower, least);
  if (node.proved()) drop_hopeless(node);
}

template <PrunedByProduct A>
void BestFirst<A>::drop_hopeless(Node& node) {
  std::erase_if(node.choices, [&](const Choice& c) { return c.least() >= above(node.upper); });
  if (node.choices.capacity() > 2 * node.choices.size()) {
    choice_bytes_ -= node.choices.capacity() * sizeof(Choice);
    node.choices.shrink_to_fit();
    choice_bytes_ += node.choices.capacity() * sizeof(Choice);
  }
}

template <PrunedByProduct A>
typename BestFirst<A>::Node& BestFirst<A>::side_of(Node& node, Choice& choice, int a, std::size_t depth) {
  if (choice.side[a] == nullptr) {
    std::uint64_t* cover = frame(depth).cover[a].data();
    const std::uint64_t* column = table_->column(choice.test);
    for (std::size_t w = 0; w < table_->n_words(); ++w) cover[w] = node.cover[w] & (a == 1 ? column[w] : ~column[w]);
    choice.side[a] = store_.find_or_add(cover, options_.by_depth ? node.place + 1 : 0,
                                        static_cast<std::int32_t>(table_->count(cover)), choice.lower[a],
                                        choice.upper[a], *control_, bytes() - store_.bytes());
  }
  return *choice.side[a];
}

// What is known of the sides by now; a better tree if they give one.
template <PrunedByProduct A>
void BestFirst<A>::refresh(Node& node, Choice& choice) {
  for (int a = 0; a < 2; ++a) {
    const Node* side = choice.side[a];
    if (side == nullptr) continue;
    choice.lower[a] = std::max(choice.lower[a], side->lower);
    choice.upper[a] = std::min(choice.upper[a], side->upper);
  }
  if (choice.known() < below(node.upper)) {
    node.upper = choice.known();
    node.split = choice.test;
    for (int a = 0; a < 2; ++a)
      node.side[a] = choice.side[a] != nullptr && choice.side[a]->opened && choice.side[a]->upper <= choice.upper[a]
                         ? choice.side[a]
                         : nullptr;
  }
}

// --- the search ---

template <PrunedByProduct A>
void BestFirst<A>::dive(Node& node, std::size_t depth, std::size_t width) {
  if (!node.opened) open(node);
  if (node.proved()) return;
  std::vector<std::size_t> order(node.choices.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  const std::size_t n = std::min(width, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n), order.end(),
                    [&](std::size_t x, std::size_t y) {
                      return std::make_tuple(node.choices[x].known(), x) < std::make_tuple(node.choices[y].known(), y);
                    });
  const std::size_t next = depth + 1 < std::size(kWidth) ? kWidth[depth + 1] : 1;
  for (std::size_t k = 0; k < n; ++k) {
    Choice& choice = node.choices[order[k]];
    for (int a = 0; a < 2; ++a)
      if (choice.lower[a] < choice.upper[a]) dive(side_of(node, choice, a, depth), depth + 1, std::min(width, next));
    refresh(node, choice);
  }
  settle(node);
}

// Afterwards the state is proved, or its lower bound is at least `bound`.
template <PrunedByProduct A>
void BestFirst<A>::solve(Node& node, double bound, std::size_t depth) {
  if (node.proved() || node.lower >= bound) return;
  if (!node.opened) open(node);
  while (!node.proved() && node.lower < bound) {
    // The split with the least bound, and the least of the others.
    std::size_t best = node.choices.size();
    double least = kInf, second = node.leaf;
    for (std::size_t k = 0; k < node.choices.size(); ++k) {
      const double x = node.choices[k].least();
      if (x < least) {
        second = std::min(second, least);
        least = x;
        best = k;
      } else {
        second = std::min(second, x);
      }
    }
    if (least >= below(node.upper) || node.leaf <= least) {
      settle(node);  // proved, by its known tree
      return;
    }
    node.lower = std::max(node.lower, least);
    if (node.lower >= bound) return;
    // Follow it until it is no longer the least, and a little further, so that near ties do not take turns.
    follow(node, best, std::min({bound, below(node.upper), std::max(second, least + kStep)}), depth);
  }
}

template <PrunedByProduct A>
void BestFirst<A>::follow(Node& node, std::size_t k, double bound, std::size_t depth) {
  check();
  Choice& choice = node.choices[k];
  const double before = choice.least();
  refresh(node, choice);  // another path may have been here
  if (choice.least() > before) return;
  // The side of which least is known; the other one keeps its bound.
  const int a = choice.upper[1] - choice.lower[1] >= choice.upper[0] - choice.lower[0] ? 1 : 0;
  Node& side = side_of(node, choice, a, depth);
  try {
    solve(side, std::max(bound - choice.weight - choice.lower[1 - a], above(choice.lower[a])), depth + 1);
  } catch (const LimitReached&) {
    refresh(node, choice);
    settle(node);
    throw;
  }
  refresh(node, choice);
}

// The leaves of the smallest tree of least cost, which becomes the known tree. The state must be proved.
template <PrunedByProduct A>
std::uint32_t BestFirst<A>::smallest(Node& node, std::size_t depth) {
  if (node.leaves > 0) return node.leaves;
  if (!node.opened) open(node);
  const double cap = above(node.upper);
  if (node.leaf < cap) {
    node.split = Node::kLeaf;
    return node.leaves = 1;
  }
  std::uint32_t fewest = 0xffffffffu;
  const Choice* chosen = nullptr;
  for (Choice& choice : node.choices) {
    // Whatever may cost no more must be known exactly.
    for (int a : {1, 0}) {
      refresh(node, choice);
      if (choice.least() < cap && choice.lower[a] < choice.upper[a]) {
        Node& side = side_of(node, choice, a, depth);
        solve(side, cap - choice.weight - choice.lower[1 - a], depth + 1);
      }
    }
    refresh(node, choice);
    if (choice.known() >= cap || choice.least() >= cap) continue;
    std::uint32_t leaves = 0;
    for (int a = 0; a < 2; ++a) {
      Node& side = side_of(node, choice, a, depth);
      if (!side.opened) open(side);
      if (!side.proved()) solve(side, kNoCost, depth + 1);
      leaves += smallest(side, depth + 1);
    }
    if (leaves < fewest || (leaves == fewest && choice.test < chosen->test)) {
      fewest = leaves;
      chosen = &choice;
    }
  }
  if (chosen == nullptr) {  // rounding: keep the known tree
    return node.leaves = 2;
  }
  node.split = chosen->test;
  for (int a = 0; a < 2; ++a) node.side[a] = chosen->side[a];
  return node.leaves = fewest;
}

template <PrunedByProduct A>
MostProbable BestFirst<A>::run(Control& control) {
  control_ = &control;
  if (last_) last_->watch(control);
  MostProbable out;
  GreedyTree first;
  // Without a limit of depth a first tree must not take long either: no clock ends it.
  constexpr int kFirstDepth = 4;
  const int first_depth = options_.max_depth < 0 ? kFirstDepth : options_.max_depth;
  const auto grow = [&] {
    first = greedy_tree(*table_, prior_, *leaf_, first_depth, options_.max_depth, options_.min_leaf, control);
  };
  const bool early = looking_takes_long(*table_);
  try {
    if (early) grow();
    if (hope_ == nullptr) {
      Spread spread;
      try {
        if (options_.spread && options_.min_leaf == 1) spread = Spread(*table_, control);
      } catch (const LimitReached& limit) {
        if (limit.reason != LimitReached::Reason::memory) throw;  // without it: the bounds are weaker
      }
      hope_ = std::make_unique<Hope>(*table_, prior_, leaf_, options_.max_depth, options_.min_leaf, std::move(spread),
                                     bytes(), control);
    }
    outvoted_ = options_.outvoted && hope_->knows_outvoted() &&
                std::any_of(table_->outvoted().begin(), table_->outvoted().end(), [](auto w) { return w != 0; });
    if (root_ == nullptr)
      root_ = store_.find_or_add(table_->all().data(), 0, static_cast<std::int32_t>(table_->total()), -kNoCost, kNoCost,
                                 control);
    dive(*root_, 0, kWidth[0]);
    solve(*root_, kNoCost, 0);
    smallest(*root_, 0);
    out.proved = true;
  } catch (const LimitReached& limit) {
    out.stopped = limit.reason == LimitReached::Reason::time     ? "time"
                  : limit.reason == LimitReached::Reason::memory ? "memory"
                                                                 : "stopped";
  }
  if (root_ != nullptr && root_->opened)
    write(*root_, out.key);
  else
    out.key = {-1};
  const auto joint = [&](const Key& key) {
    return log_joint(*table_, options_.max_depth, options_.min_leaf, prior_, *leaf_, key);
  };
  out.log_joint = joint(out.key);
  try {
    if (!out.proved && !early) grow();
  } catch (const LimitReached&) {
    out.stopped = "stopped";  // no clock ends it
  }
  if (!out.proved && !first.key.empty())
    if (const double greedy = joint(first.key); greedy > out.log_joint) {
      out.log_joint = greedy;
      out.key = std::move(first.key);
    }
  out.upper = out.proved ? out.log_joint : std::max(out.log_joint, root_ == nullptr ? kInf : -root_->lower);
  out.n_states = store_.size();
  out.n_bytes = bytes();
  return out;
}

// --- writing the tree ---

template <PrunedByProduct A>
void BestFirst<A>::write(const Node& node, Key& key) {
  if (!node.opened) {
    write_plain(node.cover, depth(node), key);
    return;
  }
  if (node.closed) {
    last_->write(node.cover, depth(node), key);
    return;
  }
  if (node.split == Node::kLeaf) {
    key.push_back(-1);
    return;
  }
  key.push_back(static_cast<std::int32_t>(node.split));
  Cover side(table_->n_words());
  for (int a = 0; a < 2; ++a) {
    if (node.side[a] != nullptr) {
      write(*node.side[a], key);
      continue;
    }
    const std::uint64_t* column = table_->column(node.split);
    for (std::size_t w = 0; w < side.size(); ++w) side[w] = node.cover[w] & (a == 1 ? column[w] : ~column[w]);
    write_plain(side.data(), depth(node) + 1, key);
  }
}

// A leaf or a single split, whichever is better. (A side with one level left has a parent that was closed, so this one
// offers its own tests.)
template <PrunedByProduct A>
void BestFirst<A>::write_plain(const std::uint64_t* cover, std::size_t depth, Key& key) {
  const std::size_t n_classes = table_->n_classes();
  std::vector<std::int32_t> counts(n_classes), one(n_classes), zero(n_classes);
  table_->class_counts(cover, counts.data());
  const std::int64_t total = table_->count(cover);
  const bool limit = options_.max_depth >= 0 && depth >= static_cast<std::size_t>(options_.max_depth);
  Cover side(table_->n_words());
  double best = kNoCost;
  std::int32_t chosen = -1;
  std::int32_t n_tests = 0;
  if (!limit)
    for (const std::uint32_t k : offers_.of(cover)) {
      const TestClass& c = table_->test_classes()[k];
      for (std::size_t w = 0; w < side.size(); ++w) side[w] = cover[w] & table_->column(c.test)[w];
      const std::int64_t ones = table_->count(side.data());
      if (ones < options_.min_leaf || total - ones < options_.min_leaf) continue;
      n_tests += static_cast<std::int32_t>(c.members.size());
      table_->class_counts(side.data(), one.data());
      for (std::size_t x = 0; x < n_classes; ++x) zero[x] = counts[x] - one[x];
      const double cost = hope_->plain(one.data(), depth + 1) + hope_->plain(zero.data(), depth + 1);
      if (cost < below(best)) {
        best = cost;
        chosen = static_cast<std::int32_t>(c.test);
      }
    }
  key.push_back(-1);
  if (chosen < 0 || prior_.fair) return;
  if (hope_->split(depth, n_tests) + best >= hope_->leaf(counts.data(), depth, true)) return;
  key.back() = chosen;
  key.insert(key.end(), {-1, -1});
}

template class BestFirst<MaxProduct>;

}  // namespace everytree
