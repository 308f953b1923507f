#include "fold/estimate.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <random>

#include "algebra/sum_product.hpp"
#include "fold/weigh.hpp"
#include "table/offers.hpp"

namespace everytree {

namespace {

constexpr std::size_t kMeasured = 48;  // covers kept for the measurement
constexpr double kAllSets = 2000;      // sets of items that are looked at one by one
constexpr std::size_t kSampledSets = 300;
constexpr double kFixedBytes = 200e3;     // the first chunk of covers, and the index
constexpr double kFixedSeconds = 0.5e-3;  // tables of leaf weights, and the like

constexpr std::size_t kOrders = 24;  // orders of a path that are looked at, where states choose their tests

// An item: the rows for which a test has one outcome.
struct Item {
  std::uint32_t test;
  const std::uint64_t* column;
  std::uint64_t flip;
  bool operator==(const Item&) const = default;
};

class Descents {
 public:
  Descents(const CountTable& table, const GraphOptions& options, std::uint64_t seed)
      : table_(table), options_(options), random_(seed), scratch_(table.n_words()), offers_(table, options.min_leaf) {
    if (table.local()) return;
    // Tests that do not split the whole table split nothing.
    for (const TestClass& c : table.test_classes()) {
      const std::int64_t ones = table.count(table.all().data(), c.test);
      if (ones >= options.min_leaf && table.total() - ones >= options.min_leaf) tests_.push_back(c.test);
    }
  }

  // Sets of `size` items, without their order, whose cover this is: at least the one that led here.
  // `path`: those.
  double paths(const Cover& cover, std::int64_t total, const std::vector<Item>& path) {
    const std::size_t size = path.size();
    if (size < 2) return 1;
    std::vector<Item>& items = items_;
    items.clear();
    for (std::uint32_t test : tests_) {
      const std::int64_t ones = table_.count(cover.data(), test);
      if (ones == total) items.push_back({test, table_.column(test), 0});
      if (ones == 0) items.push_back({test, table_.column(test), ~std::uint64_t{0}});
    }
    double sets = 1;
    for (std::size_t k = 0; k < size; ++k) sets *= static_cast<double>(items.size() - k) / static_cast<double>(k + 1);
    pick_.resize(size);
    if (sets <= kAllSets) {
      double found = 0;
      for (std::size_t k = 0; k < size; ++k) pick_[k] = k;
      for (;;) {
        found += makes(total);
        std::size_t k = size;
        while (k > 0 && pick_[k - 1] == items.size() - size + k - 1) --k;
        if (k == 0) return std::max(1.0, found);
        ++pick_[k - 1];
        for (; k < size; ++k) pick_[k] = pick_[k - 1] + 1;
      }
    }
    std::size_t found = 0;
    for (std::size_t n = 0; n < kSampledSets; ++n) {
      for (std::size_t k = 0; k < size; ++k) {
        do pick_[k] = random_() % items.size();
        while (std::find(pick_.begin(), pick_.begin() + static_cast<std::ptrdiff_t>(k), pick_[k]) !=
               pick_.begin() + static_cast<std::ptrdiff_t>(k));
      }
      found += makes(total);
    }
    return std::max(nearby(total, path), sets * static_cast<double>(found) / kSampledSets);
  }

  // The path itself and those that differ from it in one item: where random sets hardly ever make the cover (two
  // thresholds out of fifty), these are most of the sets that do.
  double nearby(std::int64_t total, const std::vector<Item>& path) {
    double found = 1;
    items_.insert(items_.end(), path.begin(), path.end());
    const std::size_t n = items_.size() - path.size();
    for (std::size_t out = 0; out < path.size(); ++out) {
      for (std::size_t k = 0; k < path.size(); ++k) pick_[k] = n + k;
      for (std::size_t in = 0; in < n; ++in) {
        if (std::find(path.begin(), path.end(), items_[in]) != path.end()) continue;
        pick_[out] = in;
        found += makes(total);
      }
    }
    return found;
  }

  // Paths that end in this cover, in their order, where states choose their tests: each state on a path must offer the
  // next test. The orders of the path at hand are looked at, each with whatever test of its last state ends in this
  // cover: few others do.
  double ordered_paths(const Cover& cover, std::int64_t total, const std::vector<Item>& path) {
    const std::size_t size = path.size();
    if (size < 2) return 1;
    double all = 1;
    for (std::size_t k = 2; k <= size; ++k) all *= static_cast<double>(k);
    const bool every = all <= static_cast<double>(kOrders);
    pick_.resize(size);
    for (std::size_t k = 0; k < size; ++k) pick_[k] = k;
    double found = 0;
    std::size_t n = 0;
    do {
      if (!every)
        for (std::size_t k = size; k > 1; --k) std::swap(pick_[k - 1], pick_[random_() % k]);
      found += endings(cover, total, path);
      ++n;
    } while (every ? std::next_permutation(pick_.begin(), pick_.end()) : n < kOrders);
    return std::max(1.0, found * all / static_cast<double>(n));
  }

  // The tests that end in this cover after all but the last of the picked items; none if one of those is not offered.
  double endings(const Cover& cover, std::int64_t total, const std::vector<Item>& path) {
    scratch_ = table_.all();
    for (std::size_t k = 0; k + 1 < pick_.size(); ++k) {
      const Item& item = path[pick_[k]];
      const auto offered = offers_.of(scratch_.data());
      if (std::find(offered.begin(), offered.end(), item.test) == offered.end()) return 0;
      for (std::size_t w = 0; w < scratch_.size(); ++w) scratch_[w] &= item.column[w] ^ item.flip;
    }
    const std::int64_t here = table_.count(scratch_.data());
    double found = 0;
    for (const std::uint32_t test : offers_.of(scratch_.data())) {
      const std::int64_t ones = table_.count(scratch_.data(), test), of_cover = table_.count(cover.data(), test);
      found += (ones == total && of_cover == total) || (here - ones == total && of_cover == 0);
    }
    return found;
  }

  // Tests that a cover offers and that are feasible.
  const std::vector<std::uint32_t>& feasible(const Cover& cover, std::int64_t total) {
    feasible_.clear();
    if (table_.local()) {  // a test is a class of its own
      const auto offered = offers_.of(cover.data());
      feasible_.assign(offered.begin(), offered.end());
      return feasible_;
    }
    for (std::uint32_t test : tests_) {
      const std::int64_t ones = table_.count(cover.data(), test);
      if (ones >= options_.min_leaf && total - ones >= options_.min_leaf) feasible_.push_back(test);
    }
    return feasible_;
  }

  std::uint64_t draw() { return random_(); }
  // What one state costs about, in words of covers that are looked at.
  double work() const {
    const auto words = static_cast<double>(table_.n_words());
    if (!table_.local()) return words * static_cast<double>(tests_.size() + 1) * 6;
    return words * 64 * static_cast<double>(table_.by_column().size()) * kOrders;
  }

 private:
  // Whether the picked items hold together on `total` examples only; they hold on the cover in any case.
  bool makes(std::int64_t total) {
    scratch_ = table_.all();
    for (std::size_t p : pick_)
      for (std::size_t w = 0; w < scratch_.size(); ++w) scratch_[w] &= items_[p].column[w] ^ items_[p].flip;
    return table_.count(scratch_.data()) == total;
  }

  const CountTable& table_;
  const GraphOptions& options_;
  std::mt19937_64 random_;
  Cover scratch_;
  Offers offers_;
  std::vector<std::uint32_t> tests_, feasible_;
  std::vector<Item> items_;
  std::vector<std::size_t> pick_;
};

struct Ending {
  Cover cover;
  std::int32_t depth, total;
  double states;  // that this one stands for
};

double seconds_of(auto&& work) {
  const auto start = Control::Clock::now();
  work();
  return std::chrono::duration<double>(Control::Clock::now() - start).count();
}

// Mean time to fold one of the closed states where descents ended.
double fold_time(std::shared_ptr<const CountTable> table, const GraphOptions& options,
                 const std::vector<Ending>& endings, double budget, Control& control) {
  const Graph graph(table, options, [&](const auto& add) {
    for (const Ending& e : endings) add(e.cover.data(), e.depth, e.total);
  });
  std::vector<std::int32_t> totals(table->n_classes());
  table->class_counts(table->all().data(), totals.data());
  const auto leaf = std::make_shared<Dirichlet>(
      std::vector<std::vector<double>>{std::vector<double>(totals.size(), 1.0)}, totals, &control);
  Prior prior;
  prior.per_test = true;
  const ProductWeights weights(graph, prior, leaf);
  const WeighProduct<SumProduct> weigh(graph, weights);
  OneLevelFold fold(graph);
  fold.watch(control, true);
  OneLevel level;
  double time = 0, sum = 0, measured = 0;
  for (std::size_t k = 0; k < endings.size() && (k == 0 || time < budget); ++k) {
    control.check(true, "estimating", k, endings.size());
    // The least of three: the first fills caches, and a busy machine puts a thread to sleep for a thousand times what
    // one state takes.
    double t = 1e300;
    for (int n = 0; n < 3 && (n == 0 || time < budget); ++n) {
      const double once = seconds_of([&] { weigh.closed(k, fold, level); });
      time += once;
      t = std::min(t, once);
    }
    sum += t * endings[k].states;
    measured += endings[k].states;
  }
  return sum / measured;
}

}  // namespace

GraphEstimate estimate_graph(std::shared_ptr<const CountTable> table, const GraphOptions& options, double budget,
                             Control& control, std::uint64_t seed) {
  if (options.min_leaf < 1) throw InvalidInput("min_leaf must be at least 1");
  Descents descents(*table, options, seed);
  const std::size_t words = table->n_words();
  // About a tenth of a second at most, by work and not by the clock: the same number every time.
  const auto n = static_cast<std::size_t>(std::clamp(1e8 / descents.work(), 32.0, 256.0));
  GraphEstimate out;
  std::vector<Ending> endings;
  std::vector<Item> path;
  double closed = 0, expanding = 1e9;
  for (std::size_t d = 0; d < n; ++d) {
    Cover cover = table->all();
    std::int64_t total = table->total();
    path.clear();
    double ordered = 1.0 / static_cast<double>(n);  // this descent's share of the ordered paths
    for (std::size_t depth = 0;; ++depth) {
      control.check(true, "estimating", d, n);
      const bool local = table->local();
      double states =
          ordered / (local ? descents.ordered_paths(cover, total, path) : descents.paths(cover, total, path));
      for (std::size_t k = 2; k <= depth && !local; ++k) states /= static_cast<double>(k);
      out.states += states;
      const auto at = static_cast<std::int32_t>(depth);
      if (levels_of(local, options.max_depth, options.min_leaf, at, total) != State::kInner) {
        closed += states;
        if (endings.size() < kMeasured) endings.push_back({cover, at, static_cast<std::int32_t>(total), states});
        break;
      }
      out.inner += states;
      std::size_t e = 0;
      std::uint32_t test = 0;
      const double t = seconds_of([&] {
        const auto& feasible = descents.feasible(cover, total);
        e = feasible.size();
        if (e > 0) test = feasible[descents.draw() % e];
      });
      expanding = std::min(expanding, t);  // the same work at every state
      out.splits += states * static_cast<double>(e);
      if (e == 0) break;
      const bool yes = descents.draw() & 1;
      const std::uint64_t* column = table->column(test);
      path.push_back({test, column, yes ? 0 : ~std::uint64_t{0}});
      for (std::size_t w = 0; w < words; ++w) cover[w] &= yes ? column[w] : ~column[w];
      total = table->count(cover.data());
      ordered *= 2.0 * static_cast<double>(e);
    }
  }
  // Covers, states (vectors grow by doubling: half as much again), their place in the index and the order, and a value.
  out.bytes = kFixedBytes + out.states * (8.0 * static_cast<double>(words) + 1.5 * sizeof(State) + 24 + 4 + 16) +
              out.splits * 1.5 * (sizeof(Split) + 4.0);
  if (budget > 0 && !endings.empty()) {
    // A split also writes and looks up two covers, each a miss of the cache.
    const double look_up = 120e-9 + static_cast<double>(words) * 1e-9;
    out.seconds = kFixedSeconds + closed * fold_time(table, options, endings, budget, control) +
                  (out.inner > 0 ? out.inner * expanding : 0.0) + out.splits * 2 * look_up;
  }
  return out;
}

}  // namespace everytree
