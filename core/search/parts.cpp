// The splits of one state, worked on for a search that runs elsewhere.
#include <cmath>
#include <limits>
#include <string>

#include "common/errors.hpp"
#include "search/search.hpp"
#include "search/worker.hpp"

namespace everytree {

Known& Search::state_at(const Steps& steps, int max_depth, Control& control) {
  Shared& s = *shared_;
  const CountTable& table = *s.table;
  Cover cover = table.all();
  for (const auto& [test, outcome] : steps) {
    if (test < 0 || static_cast<std::size_t>(test) >= table.n_tests() || (outcome != 0 && outcome != 1))
      throw InvalidInput("a step by test " + std::to_string(test) + " to outcome " + std::to_string(outcome) +
                         "; expected one of " + std::to_string(table.n_tests()) + " tests, and 0 or 1");
    const std::uint64_t* column = table.column(static_cast<std::uint32_t>(test));
    for (std::size_t w = 0; w < cover.size(); ++w) cover[w] &= outcome == 1 ? column[w] : ~column[w];
  }
  const auto total = static_cast<std::int32_t>(table.count(cover.data()));
  const std::int64_t left =
      max_depth < 0 ? std::numeric_limits<std::int32_t>::max() : max_depth - static_cast<std::int64_t>(steps.size());
  if (table.local() && left == 1 && !steps.empty())
    throw InvalidInput("a state with one level left uses the tests of its parent: ask for that one");
  if (total < s.options.min_leaf || left < 0)
    throw InvalidInput(std::to_string(steps.size()) + " steps lead to " + std::to_string(total) +
                       " examples; expected a node of a tree in the space");
  const std::int32_t levels = s.levels(left, total);
  std::vector<std::int32_t> counts(table.n_classes());
  table.class_counts(cover.data(), counts.data());
  const double leaf = s.cost(counts.data());
  const double lower = levels == 0 ? leaf : std::min(leaf, s.bounds.split(cover.data(), counts.data()));
  return *s.store.find_or_add(cover.data(), levels, total, lower, leaf, control);
}

bool Search::Worker::survey(Known& state, Frame& frame) {
  if (!open(state, frame)) {
    frame.options.clear();
    if (state.left() <= 2) return false;
    list_options(frame);
  }
  return true;
}

const Search::Worker::Option& Search::Worker::option_of(const CountTable& table, const Frame& frame,
                                                        std::int32_t test) {
  for (const Option& option : frame.options)
    if (static_cast<std::int32_t>(table.test_classes()[option.test_class].test) == test) return option;
  throw InvalidInput("test " + std::to_string(test) + " is not the first of those that split the state alike");
}

void Search::Worker::teach(const Known& state, Frame& frame, const std::vector<Branch>& known) {
  for (const Branch& branch : known) {
    check();
    look_at_sides(state, frame, option_of(table_, frame, branch.test), kAnyCost);
    for (int a = 0; a < 2; ++a) {
      Side& side = frame.side[a];
      if (side.proved()) continue;
      if (side.known == nullptr)
        side.known = shared_.store.find_or_add(side.cover, side.left, side.total, side.lower, side.upper, control_);
      Known& at = *side.known;
      if (branch.lower[a] > at.lower) at.lower = branch.lower[a] >= below(at.upper) ? at.upper.load() : branch.lower[a];
      if (branch.fewest[a] > 1 && branch.cap[a] >= at.cap) {
        at.fewest = branch.cap[a] == at.cap ? std::max(at.fewest, branch.fewest[a]) : branch.fewest[a];
        at.cap = branch.cap[a];
      }
      if (shared_.bounds.similar()) frame.solved.push_back(&at);
    }
  }
}

namespace {
constexpr std::uint32_t kUnknown = 0xfffffff0u;

template <class Side>
Branch branch_of(std::int32_t test, const Side* sides) {
  Branch branch;
  branch.test = test;
  for (int a = 0; a < 2; ++a) {
    branch.lower[a] = sides[a].lower;
    branch.upper[a] = sides[a].upper;
  }
  return branch;
}
}  // namespace

Part Search::look(const Steps& steps, int max_depth, bool dive, Control& control) {
  Known& state = state_at(steps, max_depth, control);
  Worker worker(*shared_, control, true);
  if (dive) worker.dive(state, 0);
  Worker::Frame& frame = worker.frame(0);
  Part part;
  if (worker.survey(state, frame))
    for (const Worker::Option& option : frame.options) {
      worker.look_at_sides(state, frame, option, kAnyCost);
      const std::uint32_t test = shared_->table->test_classes()[option.test_class].test;
      part.branches.push_back(branch_of(static_cast<std::int32_t>(test), frame.side));
    }
  part.upper = std::numeric_limits<double>::infinity();
  if (state.upper < kAnyCost) part.upper = write_tree(state, max_depth, steps.size(), part.key);
  part.n_states = shared_->store.size();
  part.n_bytes = shared_->store.bytes();
  return part;
}

void Search::learn(const Steps& steps, int max_depth, const std::vector<Branch>& known, Control& control) {
  Known& state = state_at(steps, max_depth, control);
  Worker worker(*shared_, control, true);
  Worker::Frame& frame = worker.frame(0);
  if (worker.survey(state, frame)) worker.teach(state, frame, known);
}

Part Search::work(const Steps& steps, int max_depth, const std::vector<Branch>& known,
                  const std::vector<std::int32_t>& tests, double cut, std::uint32_t leaves, Control& control) {
  Known& state = state_at(steps, max_depth, control);
  Worker worker(*shared_, control, true);
  Worker::Frame& frame = worker.frame(0);
  Part part;
  if (!worker.survey(state, frame)) throw InvalidInput("the state is closed: it has no splits to work on");
  worker.teach(state, frame, known);
  std::vector<Worker::Option> options;
  for (std::int32_t test : tests) options.push_back(Worker::option_of(*shared_->table, frame, test));
  // The best tree of these splits: the state itself is left as it is, others may use it.
  Known found;
  found.cover = state.cover;
  found.place = state.place;
  found.total = state.total;
  double best = kAnyCost, level = cut;  // `leaves` counts for trees that cost about `level`
  std::uint32_t best_leaves = kUnknown;
  std::size_t k = 0;
  const auto take = [&](const Worker::Side* sides, std::uint32_t n_leaves) {
    const double sum = sides[0].upper + sides[1].upper;
    if (sum >= below(best) && !(sum < above(best) && n_leaves < best_leaves)) return;
    best = sum;
    best_leaves = n_leaves;
    for (int a = 0; a < 2; ++a) frame.side[a] = sides[a];
    Worker::keep(found, frame, options[k]);
  };
  try {
    for (; k < tests.size(); ++k) {
      worker.try_split(state, frame, options[k], cut, 0);
      const Worker::Side sides[2] = {frame.side[0], frame.side[1]};
      Branch branch = branch_of(tests[k], sides);
      std::uint32_t n_leaves = kUnknown;
      const double sum = sides[0].upper + sides[1].upper;
      if (sides[0].proved() && sides[1].proved() && sum < cut) {
        if (leaves > 0) {
          if (sum < below(below(below(level)))) leaves = kUnknown;
          std::uint32_t fewest[2], exact[2];
          worker.leaves_of_sides(options[k], sides, leaves, 0, fewest, exact);
          if (fewest[0] >= exact[0] && fewest[1] >= exact[1]) n_leaves = exact[0] + exact[1];
          for (int a = 0; a < 2; ++a) {
            branch.fewest[a] = fewest[a];
            branch.cap[a] = above(sides[a].upper);
          }
          if (n_leaves < leaves) leaves = n_leaves + 1;
        }
        level = sum;
        cut = std::min(cut, leaves > 0 ? above(sum) : below(sum));  // where leaves count, as good is good enough
      }
      part.branches.push_back(branch);
      take(sides, n_leaves);
    }
  } catch (const LimitReached& limit) {
    part.stopped = name_of(limit.reason);
    for (; k < tests.size(); ++k) {
      worker.look_at_sides(state, frame, options[k], kAnyCost);
      const Worker::Side sides[2] = {frame.side[0], frame.side[1]};
      part.branches.push_back(branch_of(tests[k], sides));
      take(sides, kUnknown);
    }
  }
  part.upper = std::numeric_limits<double>::infinity();
  if (best < kAnyCost) part.upper = write_tree(found, max_depth, steps.size(), part.key);
  part.n_states = shared_->store.size();
  part.n_bytes = shared_->store.bytes();
  return part;
}

}  // namespace everytree
