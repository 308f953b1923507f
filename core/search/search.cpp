#include "search/search.hpp"

#include <limits>
#include <mutex>
#include <optional>

#include "common/errors.hpp"
#include "common/parallel.hpp"
#include "search/greedy.hpp"
#include "search/worker.hpp"

namespace everytree {

Search::Shared::Shared(std::shared_ptr<const CountTable> t, const LeafCost& c, const SearchOptions& o)
    : table(std::move(t)),
      cost(c),
      options(o),
      choose(children_choose(*table)),
      bounds(*table, cost, o.min_leaf, o.bounds, choose),
      store(*table, o.merge, o.n_threads > 1) {}

Search::Search(std::shared_ptr<const CountTable> table, const LeafCost& cost, const SearchOptions& options) {
  if (options.min_leaf < 1) throw InvalidInput("min_leaf must be at least 1");
  if (table->total() < options.min_leaf)
    throw InvalidInput("the data hold " + std::to_string(table->total()) + " examples, fewer than min_leaf=" +
                       std::to_string(options.min_leaf) + ": no tree exists; lower min_leaf");
  if (cost.n_classes() != table->n_classes())
    throw InvalidInput("the cost is for " + std::to_string(cost.n_classes()) + " classes; the table has " +
                       std::to_string(table->n_classes()));
  shared_ = std::make_unique<Shared>(std::move(table), cost, options);
}

Search::~Search() = default;

// The splits of the root, shared by the threads. A split that comes earlier in the order wins a tie, whichever thread
// is quicker: it is tried against `above` what a later one has reached.
void Search::solve_root(Known& root, Control& control) {
  Shared& s = *shared_;
  std::vector<std::unique_ptr<Worker>> workers;
  for (std::size_t k = 0; k < s.options.n_threads; ++k) workers.push_back(std::make_unique<Worker>(s, control, k == 0));
  Worker& first = *workers[0];
  if (root.proved() || !first.open(root, first.frame(0))) return;
  const std::vector<Worker::Option> options = first.frame(0).options;
  for (const auto& worker : workers) worker->frame(0).pairs = first.frame(0).pairs;
  std::vector<std::optional<double>> lower(options.size());  // as far as known
  std::ptrdiff_t best = -1;
  std::mutex guard;
  const auto settle = [&](double least) {
    if (least >= below(root.upper))
      root.lower = root.upper.load();
    else if (least > root.lower)
      root.lower = least;
  };
  try {
    for_each_parallel(options.size(), workers.size(), control, s.stage, [&](std::size_t i, std::size_t k) {
      Worker& worker = *workers[k];
      Worker::Frame& frame = worker.frame(0);
      double cut;
      {
        const std::lock_guard lock(guard);
        if (root.lower >= below(root.upper) && best < static_cast<std::ptrdiff_t>(i)) return;  // nothing can be better
        worker.say(root, i, options.size());
        cut = best < static_cast<std::ptrdiff_t>(i) ? below(root.upper) : above(root.upper);
      }
      worker.try_split(root, frame, options[i], cut, 0);
      const Worker::Side &one = frame.side[1], &zero = frame.side[0];
      const double sum = one.upper + zero.upper;
      const std::lock_guard lock(guard);
      lower[i] = one.lower + zero.lower;
      if (!one.proved() || !zero.proved()) return;
      if (sum < below(root.upper) || (sum < above(root.upper) && static_cast<std::ptrdiff_t>(i) < best)) {
        root.upper = sum;
        best = static_cast<std::ptrdiff_t>(i);
        Worker::keep(root, frame, options[i]);
      }
    });
  } catch (const LimitReached&) {
    double least = kAnyCost;
    for (std::size_t i = 0; i < options.size(); ++i) {
      if (!lower[i]) {
        Worker::Frame& frame = first.frame(0);
        first.look_at_sides(root, frame, options[i], kAnyCost);
        lower[i] = frame.side[0].lower + frame.side[1].lower;
        const double sum = frame.side[0].upper + frame.side[1].upper;
        if (sum < below(root.upper)) {
          root.upper = sum;
          Worker::keep(root, frame, options[i]);
        }
      }
      least = std::min(least, *lower[i]);
    }
    settle(least);
    throw;
  }
  settle(kAnyCost);
}

template <PrunedByCost A>
Found Search::run(int max_depth, Control& control, double at_most, std::uint32_t most_leaves) {
  constexpr bool smallest = GivesTree<A>;  // its values know the number of leaves
  Shared& s = *shared_;
  Found found;
  GreedyTree first;
  const auto grow = [&] { first = greedy_tree(*s.table, s.cost, max_depth, s.options.min_leaf, control); };
  const bool early = looking_takes_long(*s.table);
  Known* at = nullptr;
  try {
    if (early) grow();
    at = &state_at({}, max_depth, control);
    Known& root = *at;
    Worker worker(s, control, true);
    worker.dive(root, 0);
    if (s.options.n_threads > 1)
      solve_root(root, control);
    else
      worker.solve(root, std::min(kAnyCost, above(at_most)), 0);
    if (!root.proved()) worker.solve(root, kAnyCost, 0);  // `at_most` was wrong
    if (smallest && root.upper < kAnyCost) {
      worker.shrink(root, most_leaves + 1, 0);
      if (root.fewest < root.leaves) worker.shrink(root, 0xffffffffu, 0);  // `most_leaves` was wrong
    }
    found.proved = true;
  } catch (const LimitReached& limit) {
    found.stopped = name_of(limit.reason);
  }
  found.n_states = s.store.size();
  found.n_bytes = s.store.bytes();
  write_known(at, max_depth, found);
  if (found.proved) return found;  // whatever the greedy tree: of trees that tie, the search has its own order
  try {
    if (!early) grow();
  } catch (const LimitReached&) {
    found.stopped = name_of(LimitReached::Reason::stopped);  // no clock ends it
  }
  if (first.cost < below(std::min(found.cost, kAnyCost))) {
    found.cost = first.cost;
    found.key = std::move(first.key);
  }
  return found;
}

template Found Search::run<MinPlus>(int, Control&, double, std::uint32_t);
template Found Search::run<Lexicographic>(int, Control&, double, std::uint32_t);

double Search::write_tree(const Known& state, int max_depth, std::size_t depth, Key& key) {
  const Shared& s = *shared_;
  Control free;  // a known tree is written whatever the limits
  const double cost = Worker(*shared_, free, true).write(state, key);
  // States with equal sides are one to the search, however many levels are left: here it is known whose tests they use.
  if (s.table->local() && !s.choose)
    key = offered_key(*s.table, max_depth, s.options.min_leaf, Cover(state.cover, state.cover + s.table->n_words()),
                      depth, key);
  return cost;
}

// The bound and the tree that the states give; no root: a limit was over before it was stored.
void Search::write_known(const Known* root, int max_depth, Found& found) {
  Shared& s = *shared_;
  const CountTable& table = *s.table;
  if (root != nullptr && root->folded && root->upper < kAnyCost) {
    found.lower = root->lower;
    found.cost = write_tree(*root, max_depth, 0, found.key);
    return;
  }
  // A fold of everything may take long, and the limit is over: the leaf alone.
  std::vector<std::int32_t> counts(table.n_classes());
  table.class_counts(table.all().data(), counts.data());
  found.cost = s.cost(counts.data());
  found.lower =
      root != nullptr ? root->lower.load() : std::min(found.cost, s.bounds.split(table.all().data(), counts.data()));
  if (found.cost < kAnyCost)
    found.key = {-1};
  else
    found.cost = std::numeric_limits<double>::infinity();
}

Found Search::greedy(int max_depth, Control& control) const {
  GreedyTree tree = greedy_tree(*shared_->table, shared_->cost, max_depth, shared_->options.min_leaf, control);
  Found found;
  found.lower = -kNoCost;
  found.cost = tree.cost < kAnyCost ? tree.cost : std::numeric_limits<double>::infinity();
  if (tree.cost < kAnyCost) found.key = std::move(tree.key);
  return found;
}

}  // namespace everytree
