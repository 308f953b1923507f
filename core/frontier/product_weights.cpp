#include "frontier/product_weights.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace everytree {

namespace {

// Entries of a two-class table: 1.5 million doubles stay near the cache and are built in a few milliseconds.
constexpr std::int64_t kMaxTable = 1'500'000;

// Largest class counts of any closed state that still has a second level.
void largest_counts(const Graph& graph, std::int32_t safe_total, std::int32_t out[2]) {
  std::int32_t counts[2];
  out[0] = out[1] = 0;
  for (std::size_t id = 0; id < graph.size(); ++id) {
    const State& s = graph.state(id);
    if (s.inner() || s.levels < 1 || s.total > safe_total) continue;
    if (s.total <= out[0] && s.total <= out[1]) continue;
    graph.table().class_counts(graph.cover(id), counts);
    out[0] = std::max(out[0], counts[0]);
    out[1] = std::max(out[1], counts[1]);
  }
}

}  // namespace

template <class Bounds>
void ProductWeights::tabulate(std::size_t n_classes, std::int64_t min_leaf, Bounds&& bounds, const Control* control,
                              std::size_t held) {
  if (!fast_ || (prior_.fair && !apart_) || n_classes != 2) return;
  // Extreme priors (a factor beyond e^±50 per node) belong in the log domain.
  for (const auto* table : {&prior_.log_split, &prior_.log_leaf_open, &prior_.log_leaf_closed})
    for (double x : *table)
      if (!(x > -50 && x < 50)) return;
  std::int32_t most[2];
  // Covers beyond about 1,800 examples never fit the range of a double with a = 1, so do not let them size the table.
  for (std::int32_t bound : TableSizes::kBounds) {
    bounds(bound, most);
    const std::int64_t entries = static_cast<std::int64_t>(most[0] + 1) *
                                 std::bit_ceil(static_cast<std::uint32_t>(most[1] + 1)) *
                                 static_cast<std::int64_t>(leaf_->n_variants());
    if (entries > kMaxTable) continue;
    if (control != nullptr)
      control->check_memory(held + leaf_->bytes() + static_cast<std::size_t>(entries) * sizeof(double));
    linear_.emplace(*leaf_, most[0], most[1], min_leaf);
    // The table was sized by covers up to `bound` only: no larger one may use it.
    linear_bound_ = std::min(bound, linear_->safe_total());
    return;
  }
}

ProductWeights::ProductWeights(const Graph& graph, Prior prior, std::shared_ptr<const Dirichlet> leaf, bool linear,
                               const Control* control)
    : prior_(std::move(prior)),
      leaf_(std::move(leaf)),
      fast_(linear),
      apart_(linear && prior_.in_runs && graph.table().single_tests()) {
  tabulate(
      graph.table().n_classes(), graph.options().min_leaf,
      [&](std::int32_t bound, std::int32_t* most) { largest_counts(graph, bound, most); }, control, graph.bytes());
}

TableSizes TableSizes::of(const Graph& graph) {
  TableSizes sizes;
  sizes.single = graph.table().single_tests();
  if (graph.table().n_classes() == 2)
    for (std::size_t k = 0; k < std::size(kBounds); ++k) largest_counts(graph, kBounds[k], sizes.most[k]);
  return sizes;
}

ProductWeights::ProductWeights(const TableSizes& sizes, std::size_t n_classes, std::int64_t min_leaf, Prior prior,
                               std::shared_ptr<const Dirichlet> leaf, bool linear)
    : prior_(std::move(prior)),
      leaf_(std::move(leaf)),
      fast_(linear),
      apart_(linear && prior_.in_runs && sizes.single) {
  tabulate(n_classes, min_leaf, [&](std::int32_t bound, std::int32_t* most) {
    for (std::size_t k = 0; k < std::size(TableSizes::kBounds); ++k)
      if (TableSizes::kBounds[k] == bound) std::copy_n(sizes.most[k], 2, most);
  });
}

ProductWeights::ProductWeights(const CountTable& table, std::int64_t min_leaf, Prior prior,
                               std::shared_ptr<const Dirichlet> leaf, bool linear, const Control* control)
    : prior_(std::move(prior)),
      leaf_(std::move(leaf)),
      fast_(linear),
      apart_(linear && prior_.in_runs && table.single_tests()) {
  std::vector<std::int32_t> totals(table.n_classes());
  table.class_counts(table.all().data(), totals.data());
  tabulate(
      table.n_classes(), min_leaf,
      [&](std::int32_t bound, std::int32_t* most) {
        for (int c = 0; c < 2; ++c) most[c] = std::min(bound, totals[static_cast<std::size_t>(c)]);
      },
      control);
}

}  // namespace everytree
