#include "sets/pareto.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <string>

#include "common/parallel.hpp"
#include "fold/order.hpp"
#include "sets/pareto_list.hpp"
#include "weights/cost_table.hpp"

namespace everytree {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// One of the tests that split a node alike: those that differ in the required items they belong to, and for the k best
// up to k of each kind.
struct Variant {
  std::int32_t test;
  bool flipped;
  std::uint32_t item;
};

class ParetoFold {
 public:
  ParetoFold(const Graph& graph, const ParetoQuery& query, Control& control)
      : graph_(graph), query_(query), control_(control), replaces_(query), width_(query.width()) {
    bound_.assign(width_, kInf);
    // A cost that may be negative can shrink on the way up: its bound is looked at only in the end.
    for (const auto& [criterion, bound] : query.bounds)
      if (criterion >= query.costs.size() || query.costs[criterion]->non_negative())
        bound_[criterion] = std::min(bound_[criterion], bound);
  }

  std::vector<Judged> run() {
    lists_.resize(graph_.size());
    const Order order(graph_);
    const std::size_t n_threads = std::max<std::size_t>(1, graph_.options().n_threads);
    std::vector<std::unique_ptr<Worker>> workers;
    for (std::size_t k = 0; k < n_threads; ++k) {
      workers.push_back(std::make_unique<Worker>(graph_, query_));
      workers.back()->fold.watch(control_, k == 0);
      workers.back()->calling_thread = k == 0;
    }
    for_each_parallel(order.closed.size(), n_threads, control_, "folding the frontier",
                      [&](std::size_t k, std::size_t worker) { fold_closed(order.closed[k], *workers[worker]); });
    std::size_t done = 0;
    for (std::uint32_t id : order.inner) {
      control_.check(true, "folding the inner states", done++, order.inner.size());
      fold_inner(id, *workers[0]);
    }
    return answers();
  }

 private:
  struct Worker {
    Worker(const Graph& graph, const ParetoQuery& query)
        : fold(graph), tables(query.costs.size()), table(query.costs.size()), value(query.width()) {}
    OneLevelFold fold;
    std::vector<CostTable> tables;
    std::vector<const double*> table;  // of each cost, or nullptr
    std::vector<double> value;
    std::vector<std::int32_t> counts;
    std::vector<std::vector<Variant>> variants;  // per group of a closed state
    ParetoList side[2];
    std::size_t work = 0;  // since the last look at the limits
    bool calling_thread = false;
  };

  bool within(const double* value, std::int32_t depth) const {
    for (std::size_t c = 0; c < query_.costs.size(); ++c)
      if (value[c] > bound_[c] && !tied(value[c], bound_[c])) return false;
    // A node at depth d has d others beside its path, with a leaf below each; and is d tests down.
    const double above = graph_.options().by_depth ? depth : 0;
    return value[query_.leaves()] + above <= bound_[query_.leaves()] &&
           value[query_.depth()] + above <= bound_[query_.depth()];
  }

  void add_variant(std::vector<Variant>& out, std::uint32_t test, bool flipped) const {
    const std::uint32_t item = query_.required.empty() ? 0 : query_.required[test];
    // Two kinds of one split are few; the k of a kind are the first ones.
    std::size_t same = 0;
    for (const Variant& v : out) same += v.item == item;
    if (same < query_.k) out.push_back({static_cast<std::int32_t>(test), flipped, item});
  }
  void find_variants(std::vector<Variant>& out, std::span<const std::uint32_t> parts) const {
    std::vector<std::pair<std::uint32_t, bool>> tests;
    graph_.table().for_each_test(parts, [&](std::uint32_t test, bool flipped) { tests.emplace_back(test, flipped); });
    std::sort(tests.begin(), tests.end());
    out.clear();
    for (const auto& [test, flipped] : tests) add_variant(out, test, flipped);
  }

  // Values of a leaf, or false if it is not allowed.
  bool leaf(const std::int32_t* counts, double* value) const {
    for (std::size_t c = 0; c < query_.costs.size(); ++c) {
      value[c] = (*query_.costs[c])(counts);
      if (no_cost(value[c])) return false;
    }
    value[query_.leaves()] = 1;
    value[query_.depth()] = 0;
    return true;
  }

  void count_bytes(const ParetoList& list) {
    const std::size_t all = bytes_.fetch_add(list.bytes(), std::memory_order_relaxed) + list.bytes();
    control_.check_memory(all + graph_.bytes());
  }

  void join(const double* a, const double* b, double* out) const {
    for (std::size_t c = 0; c <= query_.leaves(); ++c) out[c] = a[c] + b[c];
    out[query_.depth()] = 1 + std::max(a[query_.depth()], b[query_.depth()]);
  }

  // Every pair of a tree on side 1 and a tree on side 0, below every variant of the split.
  template <class Make>
  void offer_pairs(ParetoList& list, const ParetoList& one, const ParetoList& zero,
                   const std::vector<Variant>& variants, std::int32_t depth, Worker& w, const Make& make) {
    double* value = w.value.data();
    for (std::size_t x = 0; x < one.size(); ++x)
      for (std::size_t y = 0; y < zero.size(); ++y) {
        // An offer looks at the whole list: check the limits every millisecond or so of that.
        if ((w.work += 8 + list.size()) > (1u << 17)) {
          w.work = 0;
          control_.check(w.calling_thread, "joining trees", 0, 0);
          control_.check_memory(bytes_.load(std::memory_order_relaxed) + list.bytes() + graph_.bytes());
        }
        join(one.values(x, width_), zero.values(y, width_), value);
        if (!within(value, depth)) continue;
        for (const Variant& v : variants)
          list.offer(replaces_, query_.k, value, width_, one.used(x) | zero.used(y) | v.item, make(v, x, y));
      }
  }

  void fold_inner(std::uint32_t id, Worker& w) {
    const State& s = graph_.state(id);
    ParetoList& list = lists_[id];
    w.counts.resize(graph_.table().n_classes());
    graph_.table().class_counts(graph_.cover(id), w.counts.data());
    if (leaf(w.counts.data(), w.value.data()) && within(w.value.data(), s.depth))
      list.offer(replaces_, query_.k, w.value.data(), width_, 0, {});
    std::vector<Variant> variants;
    std::uint32_t number = s.splits_begin;
    for (const Split& split : graph_.splits(s)) {
      find_variants(variants, graph_.parts(split));
      offer_pairs(list, lists_[split.child[1]], lists_[split.child[0]], variants, s.depth, w,
                  [number](const Variant& v, std::size_t x, std::size_t y) {
                    return Made{v.test, number, static_cast<std::int32_t>(x), static_cast<std::int32_t>(y), v.flipped};
                  });
      ++number;
    }
    list.finish();
    count_bytes(list);
  }

  void fold_closed(std::uint32_t id, Worker& w) {
    const State& s = graph_.state(id);
    ParetoList& list = lists_[id];
    const std::size_t n_classes = graph_.table().n_classes();
    w.counts.resize(n_classes);
    graph_.table().class_counts(graph_.cover(id), w.counts.data());
    if (leaf(w.counts.data(), w.value.data()) && within(w.value.data(), s.depth))
      list.offer(replaces_, query_.k, w.value.data(), width_, 0, {});
    if (s.levels > 0) {
      w.fold.load_state(id);
      const Frontier& f = w.fold.frontier();
      for (std::size_t c = 0; c < query_.costs.size(); ++c)
        w.table[c] =
            n_classes == 2 ? w.tables[c].cover(*query_.costs[c], f.min_leaf(), f.totals()[0], f.totals()[1]) : nullptr;
      if (w.variants.size() < f.n_groups()) w.variants.resize(f.n_groups());
      for (std::size_t g = 0; g < f.n_groups(); ++g) find_variants(w.variants[g], f.parts(g));
      for (std::size_t i = 0; i < f.n_groups(); ++i) {
        if (s.levels == 2) w.fold.load_pairs(i);
        for (int a = 0; a < 2; ++a) fold_side(i, a, s, w);
        offer_pairs(list, w.side[1], w.side[0], w.variants[i], s.depth, w,
                    [&w](const Variant& v, std::size_t x, std::size_t y) {
                      return Made{v.test, 0, w.side[1].made(x).test, w.side[0].made(y).test, v.flipped};
                    });
      }
    }
    list.finish();
    count_bytes(list);
  }

  // The trees of side a of split i: the leaf, or one more test.
  void fold_side(std::size_t i, int a, const State& s, Worker& w) {
    const Frontier& f = w.fold.frontier();
    const std::size_t n_classes = graph_.table().n_classes();
    ParetoList& list = w.side[a];
    list.clear();
    double* value = w.value.data();
    for (std::size_t c = 0; c < n_classes; ++c) w.counts[c] = a == 1 ? f.count(c, i) : f.totals()[c] - f.count(c, i);
    if (leaf(w.counts.data(), value) && within(value, s.depth + 1))
      list.offer(replaces_, query_.k, value, width_, 0, {});
    if (s.levels < 2) return;
    const bool tables = n_classes == 2 && std::find(w.table.begin(), w.table.end(), nullptr) == w.table.end();
    for (std::size_t j = 0; j < f.n_groups(); ++j) {
      if (j == i || !w.fold.feasible(j, a)) continue;
      if (!(tables ? cherry_from_tables(j, a, w, value) : cherry(j, a, w, value))) continue;
      if (!within(value, s.depth + 1)) continue;
      for (const Variant& v : w.variants[j])
        list.offer(replaces_, query_.k, value, width_, v.item, Made{v.test, 0, -1, -1, false});
    }
  }

  bool cherry(std::size_t j, int a, Worker& w, double* value) const {
    std::fill(value, value + query_.costs.size(), 0.0);
    for (int b = 1; b >= 0; --b) {
      w.fold.quadrant(j, a, b, w.counts.data());
      for (std::size_t c = 0; c < query_.costs.size(); ++c) {
        const double x = (*query_.costs[c])(w.counts.data());
        if (no_cost(x)) return false;
        value[c] += x;
      }
    }
    value[query_.leaves()] = 2;
    value[query_.depth()] = 1;
    return true;
  }
  bool cherry_from_tables(std::size_t j, int a, Worker& w, double* value) const {
    std::size_t at[2][2];
    for (int b = 0; b < 2; ++b) {
      w.fold.quadrant(j, a, b, w.counts.data());
      for (std::size_t c = 0; c < 2; ++c) at[b][c] = static_cast<std::size_t>(w.counts[c]);
    }
    for (std::size_t c = 0; c < query_.costs.size(); ++c) {
      const double* table = w.table[c];
      const int shift = w.tables[c].shift();
      value[c] = table[(at[1][0] << shift) + at[1][1]] + table[(at[0][0] << shift) + at[0][1]];
      if (no_cost(value[c])) return false;
    }
    value[query_.leaves()] = 2;
    value[query_.depth()] = 1;
    return true;
  }

  // --- answers ---

  std::vector<Judged> answers() {
    const ParetoList& root = lists_[0];
    std::vector<std::size_t> order;
    for (std::size_t x = 0; x < root.size(); ++x) {
      bool good = (root.used(x) & query_.all_required) == query_.all_required;
      for (const auto& [criterion, bound] : query_.bounds) {
        const double value = root.values(x, width_)[criterion];
        good = good && (value <= bound || tied(value, bound));
      }
      if (good) order.push_back(x);
    }
    const auto before = [&](std::size_t x, std::size_t y) {
      for (std::size_t c : query_.rank) {
        const double a = root.values(x, width_)[c], b = root.values(y, width_)[c];
        if (a != b && !tied(a, b)) return a < b;
      }
      return x < y;
    };
    // By selection: "tied" is no equivalence, and std::sort may not be given such an order.
    const std::size_t wanted = query_.front ? order.size() : std::min(query_.k, order.size());
    std::vector<Judged> out;
    for (std::size_t n = 0; n < wanted; ++n) {
      std::size_t best = n;
      for (std::size_t x = n + 1; x < order.size(); ++x)
        if (before(order[x], order[best])) best = x;
      std::rotate(order.begin() + static_cast<std::ptrdiff_t>(n), order.begin() + static_cast<std::ptrdiff_t>(best),
                  order.begin() + static_cast<std::ptrdiff_t>(best) + 1);
      control_.check(true, "writing trees", n, wanted);
      Judged tree;
      tree.values.assign(root.values(order[n], width_), root.values(order[n], width_) + width_);
      write(0, order[n], tree.key);
      out.push_back(std::move(tree));
    }
    return out;
  }

  void write(std::uint32_t id, std::size_t place, Key& key) const {
    const Made& made = lists_[id].made(place);
    key.push_back(made.test);
    if (made.test < 0) return;
    const State& s = graph_.state(id);
    for (int outcome : {0, 1}) {
      const int side = made.flipped ? 1 - outcome : outcome;
      const std::int32_t next = side == 1 ? made.yes : made.no;
      if (s.inner()) {
        const Split& split = graph_.splits(s)[made.split - s.splits_begin];
        write(split.child[side], static_cast<std::size_t>(next), key);
      } else {
        key.push_back(next);
        if (next >= 0) key.insert(key.end(), 2, -1);
      }
    }
  }

  const Graph& graph_;
  const ParetoQuery& query_;
  Control& control_;
  const Replaces replaces_;
  const std::size_t width_;
  std::vector<double> bound_;
  std::vector<ParetoList> lists_;
  std::atomic<std::size_t> bytes_{0};
};

void check(const Graph& graph, const ParetoQuery& query) {
  for (const LeafCost* cost : query.costs)
    if (cost->n_classes() != graph.table().n_classes())
      throw InvalidInput("a cost is for " + std::to_string(cost->n_classes()) + " classes; the table has " +
                         std::to_string(graph.table().n_classes()));
  for (std::size_t c : query.rank)
    if (c >= query.width()) throw InvalidInput("the ranking names criterion " + std::to_string(c));
  for (const auto& [c, bound] : query.bounds)
    if (c >= query.width()) throw InvalidInput("a bound names criterion " + std::to_string(c));
  if (query.k < 1) throw InvalidInput("k must be at least 1");
  if (!query.required.empty() && query.required.size() != graph.table().n_tests())
    throw InvalidInput("required items need one entry per test");
}

}  // namespace

std::vector<Judged> pareto_trees(const Graph& graph, const ParetoQuery& query, Control& control) {
  check(graph, query);
  return ParetoFold(graph, query, control).run();
}

}  // namespace everytree
