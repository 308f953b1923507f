#include "everytree/search/search.hpp"

#include <limits>

#include "everytree/errors.hpp"
#include "everytree/parallel.hpp"
#include "search/worker.hpp"

namespace everytree {

Search::Shared::Shared(std::shared_ptr<const CountTable> t, const LeafCost& c, const SearchOptions& o)
    : table(std::move(t)),
      cost(c),
      options(o),
      bounds(*table, cost, o.min_leaf, o.bounds),
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

Found Search::run(Control& control) {
  Shared& s = *shared_;
  const CountTable& table = *s.table;
  const std::int64_t left = s.options.max_depth < 0 ? std::numeric_limits<std::int32_t>::max() : s.options.max_depth;
  const auto total = static_cast<std::int32_t>(table.total());
  const std::int32_t levels = s.levels(left, total);
  Worker worker(s, control, true);
  Found found;
  try {
    if (s.root == nullptr) {
      std::vector<std::int32_t> counts(table.n_classes());
      table.class_counts(table.all().data(), counts.data());
      const double leaf = s.cost(counts.data());
      const double lower = levels == 0 ? leaf : std::min(leaf, s.bounds.split(table.all().data(), counts.data()));
      s.root = s.store.find_or_add(table.all().data(), levels, total, lower, leaf, control);
      worker.dive(*s.root, 0);
    }
    worker.solve(*s.root, kAnyCost, 0);
    if (s.options.smallest && s.root->upper < kAnyCost && levels > 0) worker.shrink(*s.root, 0xffffffffu, 0);
    found.proved = true;
  } catch (const LimitReached& limit) {
    if (s.root == nullptr) throw;  // not even room for the root
    found.stopped = limit.reason == LimitReached::Reason::time     ? "time"
                    : limit.reason == LimitReached::Reason::memory ? "memory"
                                                                   : "stopped";
  }
  found.lower = s.root->lower;
  found.n_states = s.store.size();
  found.n_folds = s.n_folds;
  found.n_bytes = s.store.bytes();
  if (s.root->upper >= kAnyCost) {
    found.cost = std::numeric_limits<double>::infinity();
    return found;
  }
  Control free;  // a known tree is written whatever the limits
  Worker writer(s, free, true);
  found.cost = writer.write(*s.root, found.key);
  return found;
}

}  // namespace everytree
