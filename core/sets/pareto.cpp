#include "sets/pareto.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "fold/up.hpp"
#include "sets/pareto_algebra.hpp"
#include "weights/cost_table.hpp"

namespace everytree {

namespace {

using Rule = ParetoTrees::Rule;
using Variant = ParetoTrees::Variant;

// What leaves and splits are to the query. The two lowest levels are made of their pairs, one by one: the frontier's
// least costs are of one criterion.
class WeighPareto {
 public:
  using Value = ParetoTrees::Value;
  using Weight = ParetoTrees::Weight;
  using Tests = std::vector<std::pair<std::uint32_t, bool>>;
  struct Inner {
    Weight leaf;
    std::vector<Weight> split;
    ParetoTrees::Desk desk;
    std::vector<double> values;
    std::vector<std::int32_t> counts;
    std::vector<Variant> variants;  // of all splits
    std::vector<std::size_t> ends;
    Tests tests;
  };
  struct Buffers {
    std::vector<CostTable> tables;
    std::vector<const double*> table;  // of each cost, or nullptr
    ParetoTrees::Desk desk;
    std::vector<std::int32_t> counts;
    std::vector<Variant> variants;  // of all groups of a closed state
    std::vector<std::size_t> ends;
    Tests tests;
    ParetoList side[2];
  };

  WeighPareto(const Graph& graph, const Rule& rule) : graph_(graph), query_(rule.query), rule_(rule) {}

  Buffers buffers(std::size_t thread) const {
    Buffers out;
    out.tables.resize(query_.costs.size());
    out.table.resize(query_.costs.size());
    out.desk.value.resize(rule_.width);
    out.desk.calling_thread = thread == 0;
    return out;
  }

  void keep(Value& value) const {
    value.trees.finish();
    const std::size_t bytes = value.trees.bytes();
    rule_.control.check_memory(rule_.bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes + rule_.held);
  }

  void inner(std::size_t id, Inner& out) const {
    const State& s = graph_.state(id);
    out.desk.value.resize(rule_.width);
    out.values.resize(rule_.width);
    out.leaf = leaf_weight(id, out.desk, out.counts, out.values.data());
    out.variants.clear();
    out.ends.clear();
    for (const Split& split : graph_.splits(s)) {
      add_variants(out.variants, graph_.parts(split), out.tests);
      out.ends.push_back(out.variants.size());
    }
    out.split.resize(out.ends.size());
    for (std::size_t k = 0; k < out.ends.size(); ++k)
      out.split[k] = {&rule_,
                      &out.desk,
                      s.depth,
                      nullptr,
                      variants_of(out.variants, out.ends, k),
                      s.splits_begin + static_cast<std::uint32_t>(k)};
  }

  Value closed(std::size_t id, OneLevelFold& fold, Buffers& w) const {
    const State& s = graph_.state(id);
    const std::size_t n_classes = graph_.table().n_classes();
    Value out = ParetoTrees::leaf(leaf_weight(id, w.desk, w.counts, w.desk.value.data()));
    if (s.levels == 0) return out;
    fold.load_state(id);
    const Frontier& f = fold.frontier();
    for (std::size_t c = 0; c < query_.costs.size(); ++c)
      w.table[c] =
          n_classes == 2 ? w.tables[c].cover(*query_.costs[c], f.min_leaf(), f.totals()[0], f.totals()[1]) : nullptr;
    w.variants.clear();
    w.ends.clear();
    for (std::size_t g = 0; g < f.n_groups(); ++g) {
      add_variants(w.variants, f.parts(g), w.tests);
      w.ends.push_back(w.variants.size());
    }
    Weight weight{&rule_, &w.desk, s.depth, nullptr, {}, 0};
    for (std::size_t i = 0; i < f.n_groups(); ++i) {
      if (s.levels == 2) fold.load_pairs(i);
      for (int a = 0; a < 2; ++a) fold_side(i, a, s, fold, w);
      weight.variants = variants_of(w.variants, w.ends, i);
      ParetoTrees::add_pairs(out.trees, weight, w.side[1], w.side[0],
                             [&w](const Variant& v, std::size_t x, std::size_t y) {
                               return Made{v.test, 0, w.side[1].made(x).test, w.side[0].made(y).test, v.flipped};
                             });
    }
    return out;
  }

 private:
  static std::span<const Variant> variants_of(const std::vector<Variant>& all, const std::vector<std::size_t>& ends,
                                              std::size_t k) {
    const std::size_t begin = k == 0 ? 0 : ends[k - 1];
    return {all.data() + begin, ends[k] - begin};
  }

  // The variants of one split, after those that are there.
  void add_variants(std::vector<Variant>& out, std::span<const std::uint32_t> parts, Tests& tests) const {
    tests.clear();
    graph_.table().for_each_test(parts, [&](std::uint32_t test, bool flipped) { tests.emplace_back(test, flipped); });
    std::sort(tests.begin(), tests.end());
    const std::size_t begin = out.size();
    for (const auto& [test, flipped] : tests) {
      const std::uint32_t item = query_.required.empty() ? 0 : query_.required[test];
      // Two kinds of one split are few; the k of a kind are the first ones.
      std::size_t same = 0;
      for (std::size_t k = begin; k < out.size(); ++k) same += out[k].item == item;
      if (same < query_.k) out.push_back({static_cast<std::int32_t>(test), flipped, item});
    }
  }

  Weight leaf_weight(std::size_t id, ParetoTrees::Desk& desk, std::vector<std::int32_t>& counts, double* values) const {
    counts.resize(graph_.table().n_classes());
    graph_.table().class_counts(graph_.cover(id), counts.data());
    return {&rule_, &desk, graph_.state(id).depth, leaf(counts.data(), values) ? values : nullptr, {}, 0};
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

  // The trees of side a of split i: the leaf, or one more test. Not inlined: the loop over pairs is the hot one, and
  // among the registers of `closed` the whole fold took 4 % longer.
  [[gnu::noinline]] void fold_side(std::size_t i, int a, const State& s, const OneLevelFold& fold, Buffers& w) const {
    const Frontier& f = fold.frontier();
    const Rule& rule = rule_;
    const std::size_t n_classes = graph_.table().n_classes(), width = rule.width, k = rule.k;
    const std::size_t n_groups = f.n_groups();
    const int depth = s.depth + 1;
    ParetoList& list = w.side[a];
    list.clear();
    double* value = w.desk.value.data();
    for (std::size_t c = 0; c < n_classes; ++c) w.counts[c] = a == 1 ? f.count(c, i) : f.totals()[c] - f.count(c, i);
    if (leaf(w.counts.data(), value) && rule.within(value, depth)) list.offer(rule.replaces, k, value, width, 0, {});
    if (s.levels < 2) return;
    const bool tables = n_classes == 2 && std::find(w.table.begin(), w.table.end(), nullptr) == w.table.end();
    for (std::size_t j = 0; j < n_groups; ++j) {
      if (j == i || !fold.feasible(j, a)) continue;
      if (!(tables ? cherry_from_tables(j, a, fold, w, value) : cherry(j, a, fold, w, value))) continue;
      if (!rule.within(value, depth)) continue;
      for (const Variant& v : variants_of(w.variants, w.ends, j))
        list.offer(rule.replaces, k, value, width, v.item, Made{v.test, 0, -1, -1, false});
    }
  }

  bool cherry(std::size_t j, int a, const OneLevelFold& fold, Buffers& w, double* value) const {
    std::fill(value, value + query_.costs.size(), 0.0);
    for (int b = 1; b >= 0; --b) {
      fold.quadrant(j, a, b, w.counts.data());
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
  bool cherry_from_tables(std::size_t j, int a, const OneLevelFold& fold, Buffers& w, double* value) const {
    std::size_t at[2][2];
    for (int b = 0; b < 2; ++b) {
      fold.quadrant(j, a, b, w.counts.data());
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

  const Graph& graph_;
  const ParetoQuery& query_;
  const Rule& rule_;
};

// From the lists of all states to the answer.
class Answers {
 public:
  Answers(const Graph& graph, const Rule& rule, std::vector<ParetoTrees::Value> values)
      : graph_(graph), query_(rule.query), control_(rule.control), width_(rule.width), values_(std::move(values)) {}

  std::vector<Judged> write() const {
    const ParetoList& root = values_[0].trees;
    const std::vector<std::size_t> order = answers_of(root, query_);
    std::vector<Judged> out;
    for (std::size_t n = 0; n < order.size(); ++n) {
      control_.check(true, "writing trees", n, order.size());
      Judged tree;
      tree.values.assign(root.values(order[n], width_), root.values(order[n], width_) + width_);
      write(0, order[n], tree.key);
      out.push_back(std::move(tree));
    }
    return out;
  }

 private:
  void write(std::uint32_t id, std::size_t place, Key& key) const {
    const Made& made = values_[id].trees.made(place);
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
  const std::size_t width_;
  const std::vector<ParetoTrees::Value> values_;
};

}  // namespace

void check_query(const ParetoQuery& query, std::size_t n_tests, std::size_t n_classes) {
  for (const LeafCost* cost : query.costs)
    if (cost->n_classes() != n_classes)
      throw InvalidInput("the cost is for " + std::to_string(cost->n_classes()) + " classes; the table has " +
                         std::to_string(n_classes));
  for (std::size_t c : query.rank)
    if (c >= query.width()) throw InvalidInput("the ranking names criterion " + std::to_string(c));
  for (const auto& [c, bound] : query.bounds)
    if (c >= query.width()) throw InvalidInput("a bound names criterion " + std::to_string(c));
  if (query.k < 1) throw InvalidInput("k must be at least 1");
  if (!query.required.empty() && query.required.size() != n_tests)
    throw InvalidInput("required items need one entry per test");
}

std::vector<Judged> pareto_trees(const Graph& graph, const ParetoQuery& query, Control& control) {
  check_query(query, graph.table().n_tests(), graph.table().n_classes());
  Rule rule(query, graph.options().by_depth, control);
  rule.held = graph.bytes();
  const std::size_t n_threads = std::max<std::size_t>(1, graph.options().n_threads);
  auto values = fold_up<ParetoTrees>(graph, WeighPareto(graph, rule), control, n_threads);
  return Answers(graph, rule, std::move(values)).write();
}

}  // namespace everytree
