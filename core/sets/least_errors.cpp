#include "sets/least_errors.hpp"

#include <algorithm>
#include <array>

#include "common/parallel.hpp"
#include "common/room.hpp"
#include "fold/order.hpp"

namespace everytree {

LeastErrors::LeastErrors(const Graph& graph, std::size_t most_leaves, std::size_t n_threads, Control& control) {
  const std::size_t n_classes = graph.table().n_classes();
  // What stays, the order of the states, and below the least errors of the closed ones.
  const std::size_t scratch = graph.size() * 4 + (graph.size() - graph.n_inner()) * sizeof(std::array<std::int32_t, 4>);
  control.check_memory(graph.bytes() + graph.size() * 12 + scratch);
  begin_.assign(graph.size(), 0);
  size_.assign(graph.size(), 0);
  const LeafCost error(CostKind::error, n_classes);
  const Order order(graph);
  const std::vector<std::uint32_t>&closed = order.closed, &inner = order.inner;
  std::vector<OneLevelFold> folds = one_fold_per_thread(graph, n_threads, control);
  std::vector<OneLevel> levels(folds.size());
  std::vector<std::array<std::int32_t, 4>> least(closed.size());
  for_each_parallel(closed.size(), n_threads, control, "folding the frontier", [&](std::size_t k, std::size_t worker) {
    OneLevel& level = levels[worker];
    folds[worker].cost(closed[k], error, level);
    auto& best = least[k];
    best = {static_cast<std::int32_t>(level.state_leaf), kNever, kNever, kNever};
    const auto whole = [](double x) { return x < kNever ? static_cast<std::int32_t>(x) : kNever; };
    for (std::size_t i = 0; i < level.n; ++i) {
      const std::int32_t l1 = whole(level.leaf[1][i]), l0 = whole(level.leaf[0][i]), s1 = whole(level.split[1][i]),
                         s0 = whole(level.split[0][i]);
      best[1] = std::min(best[1], l1 + l0);
      best[2] = std::min({best[2], l1 + s0, s1 + l0});
      best[3] = std::min(best[3], s1 + s0);
    }
  });
  const auto store = [&](std::uint32_t id, const std::int32_t* values, std::size_t n) {
    n = std::min(n, most_leaves);
    while (n > 1 && values[n - 1] >= kNever) --n;
    begin_[id] = errors_.size();
    size_[id] = static_cast<std::uint32_t>(n);
    make_room(errors_, n, [&](std::size_t more) { control.check_memory(graph.bytes() + scratch + bytes() + more); });
    for (std::size_t k = 0; k < n; ++k) errors_.push_back(std::min(values[k], kNever));
  };
  for (std::size_t k = 0; k < closed.size(); ++k) store(closed[k], least[k].data(), 4);
  std::vector<std::int32_t> counts(n_classes), best;
  std::size_t done = 0, work = 0;
  for (std::uint32_t id : inner) {
    const auto splits = graph.splits(graph.state(id));
    std::size_t n = 1;
    for (const auto& split : splits) n = std::max<std::size_t>(n, size_[split.child[1]] + size_[split.child[0]]);
    n = std::min(n, most_leaves);
    best.assign(n, kNever);
    graph.table().class_counts(graph.cover(id), counts.data());
    best[0] = errors_of(counts.data(), n_classes);
    ++done;
    for (const auto& split : splits) {
      const auto one = of(split.child[1]), zero = of(split.child[0]);
      for (std::size_t x = 0; x < one.size() && x + 1 < n; ++x) {
        const std::size_t end = std::min(zero.size(), n - 1 - x);
        for (std::size_t y = 0; y < end; ++y) best[x + y + 1] = std::min(best[x + y + 1], one[x] + zero[y]);
      }
      if ((work += 8 + one.size() * zero.size()) > (std::size_t{1} << 20)) {
        work = 0;
        control.check(true, "folding the inner states", done, inner.size());
        control.check_memory(graph.bytes() + bytes());
      }
    }
    store(id, best.data(), n);
  }
  control.check_memory(graph.bytes() + bytes());
}

}  // namespace everytree
