#include "down/bracket.hpp"

#include <algorithm>
#include <span>

#include "common/parallel.hpp"
#include "fold/weigh.hpp"

namespace everytree {

namespace {

struct Pair {
  Wide lower, upper;
  Pair& operator+=(const Pair& b) {
    lower += b.lower;
    upper += b.upper;
    return *this;
  }
  friend Pair operator*(const Pair& a, const Pair& b) { return {a.lower * b.lower, a.upper * b.upper}; }
  friend Pair operator*(Wide w, const Pair& b) { return {w * b.lower, w * b.upper}; }
};

// The bounds of u at the depth limit, by class counts. No logarithm per leaf: products of tabulated factors; those of
// larger counts are computed.
class AtLimit {
 public:
  // `held`: bytes that are there already.
  AtLimit(const ProductWeights& weights, const CountTable& table, std::size_t depth, std::size_t held, Control& control)
      : n_classes_(table.n_classes()), depth_(depth), leaf_(weights.leaf()) {
    const Prior& prior = weights.prior();
    open_ = Wide::from_log(prior.log_leaf(depth, true));
    closed_ = Wide::from_log(prior.log_leaf(depth, false));
    split_ = Wide::from_log(prior.log_split_base(depth));
    std::vector<std::int32_t> totals(n_classes_);
    table.class_counts(table.all().data(), totals.data());
    const auto entries = [](std::int64_t n) { return std::min<std::int64_t>(n, kLongest) + 1; };
    std::size_t factors = static_cast<std::size_t>(entries(table.total()));
    for (std::int32_t n : totals) factors += 2 * static_cast<std::size_t>(entries(n));
    const double pairs = (totals[0] + 1.0) * (n_classes_ == 2 ? totals[1] + 1.0 : 0.0);
    const bool finished = n_classes_ == 2 && pairs <= kMaxTable;
    control.check_memory(held + factors * sizeof(Wide) +
                         (finished ? static_cast<std::size_t>(pairs) * sizeof(Entry) : std::size_t{0}));
    // fill(table, n, f): f(0) … f(n − 1)
    const auto fill = [&](std::vector<Wide>& to, std::int64_t n, const auto& f) {
      to.reserve(static_cast<std::size_t>(n));
      for (std::int64_t k = 0; k < n; ++k) {
        to.push_back(f(k));
        if ((k & 0xffff) == 0xffff) control.check(true, "starting", 0, 0);
      }
    };
    rising_.resize(n_classes_);
    pure_.resize(n_classes_);
    for (std::size_t c = 0; c < n_classes_; ++c) {
      std::vector<Wide> rising, pure;
      fill(rising, entries(totals[c]), [&](std::int64_t n) { return this->rising(c, n); });
      fill(pure, entries(totals[c]), [&](std::int64_t n) { return this->pure(c, n); });
      rising_[c] = std::move(rising);
      pure_[c] = std::move(pure);
    }
    std::vector<Wide> inverse;
    fill(inverse, entries(table.total()), [&](std::int64_t n) { return this->inverse(n); });
    inverse_ = std::move(inverse);
    // Two classes: a table of finished bounds, if it stays near the cache.
    if (!finished) return;
    table_.reserve(static_cast<std::size_t>(pairs));
    stride_ = static_cast<std::size_t>(totals[1]) + 1;
    std::int32_t counts[2];
    for (counts[0] = 0; counts[0] <= totals[0]; ++counts[0])
      for (counts[1] = 0; counts[1] <= totals[1]; ++counts[1]) {
        const Wide m = marginal(counts);
        table_.push_back({closed_ * m, between(counts, m)});
      }
  }

  Pair operator()(const std::int32_t* counts, bool open) const {
    if (!table_.empty()) {
      const Entry& e = table_[static_cast<std::size_t>(counts[0]) * stride_ + static_cast<std::size_t>(counts[1])];
      return open ? e.open : Pair{e.closed, e.closed};
    }
    const Wide m = marginal(counts);
    if (open) return between(counts, m);
    return {closed_ * m, closed_ * m};
  }

 private:
  static constexpr double kMaxTable = 500'000;
  static constexpr std::int64_t kLongest = std::int64_t{1} << 18;  // the largest count in a table: 4 MiB each
  struct Entry {
    Wide closed;
    Pair open;
  };
  // a(a+1)… of class c, the marginal of a pure leaf, and 1 / A(A+1)…
  Wide rising(std::size_t c, std::int64_t n) const {
    if (static_cast<std::size_t>(n) < rising_[c].size()) return rising_[c][static_cast<std::size_t>(n)];
    return Wide::from_log(leaf_.log_rising(depth_, c, n));
  }
  Wide pure(std::size_t c, std::int64_t n) const {
    if (static_cast<std::size_t>(n) < pure_[c].size()) return pure_[c][static_cast<std::size_t>(n)];
    return Wide::from_log(leaf_.log_rising(depth_, c, n) - leaf_.log_rising_sum(depth_, n));
  }
  Wide inverse(std::int64_t n) const {
    if (static_cast<std::size_t>(n) < inverse_.size()) return inverse_[static_cast<std::size_t>(n)];
    return Wide::from_log(-leaf_.log_rising_sum(depth_, n));
  }
  Wide marginal(const std::int32_t* counts) const {
    Wide m(1.0);
    std::int64_t n = 0;
    for (std::size_t c = 0; c < n_classes_; ++c) {
      m = m * rising(c, counts[c]);
      n += counts[c];
    }
    return m * inverse(n);
  }
  Pair between(const std::int32_t* counts, Wide m) const {
    Wide pure = split_;
    for (std::size_t c = 0; c < n_classes_; ++c) pure = pure * this->pure(c, counts[c]);
    return {open_ * m, open_ * m + pure};
  }

  std::size_t n_classes_, depth_, stride_ = 0;
  const Dirichlet& leaf_;
  Wide open_, closed_, split_;
  std::vector<std::vector<Wide>> rising_, pure_;  // by class and count
  std::vector<Wide> inverse_;
  std::vector<Entry> table_;
};

// The bounds of one closed state. Owns buffers: one object per thread.
class Closed {
 public:
  Closed(const Posterior& posterior, const AtLimit& limit)
      : graph_(posterior.graph()), weights_(posterior.weights()), limit_(limit), fold_(graph_) {
    counts_.resize(graph_.table().n_classes());
    other_.resize(counts_.size());
  }
  void watch(Control& control, bool calling_thread) { fold_.watch(control, calling_thread); }

  // `left`: levels above the depth limit. The state has enough examples for the limit to matter below it.
  Pair operator()(std::size_t id, int left) {
    const State& s = graph_.state(id);
    const auto depth = static_cast<std::size_t>(s.depth);
    graph_.table().class_counts(graph_.cover(id), counts_.data());
    if (left == 0) return limit_(counts_.data(), splittable(graph_.cover(id), s.total));
    fold_.load_state(id);
    const Frontier& f = fold_.frontier();
    const std::size_t n = f.n_groups();
    const Prior& prior = weights_.prior();
    const Wide leaf = weights_.wide_leaf(counts_.data(), depth, n > 0);
    Pair sum{leaf, leaf};
    if (n == 0) return sum;
    load_shares(prior);
    open_.assign(left == 2 ? n * n : 0, 0);
    hint_ = 0;
    Pair splits{};
    for (std::size_t i = 0; i < n; ++i) {
      const Pair both = left == 1 ? child(i, 1) * child(i, 0) : children(i, depth + 1);
      splits += Wide(share_[i]) * both;
    }
    sum += Wide::from_log(prior.log_split_base(depth)) * splits;
    return sum;
  }

 private:
  // Whether some test is feasible at a cover.
  bool splittable(const std::uint64_t* cover, std::int64_t total) const {
    const std::int64_t least = graph_.options().min_leaf;
    for (const TestClass& c : graph_.table().test_classes()) {
      const std::int64_t ones = graph_.table().count(cover, c.test);
      if (ones >= least && total - ones >= least) return true;
    }
    return false;
  }

  // Shares of the splits of the loaded state.
  void load_shares(const Prior& prior) {
    const Frontier& f = fold_.frontier();
    const auto& classes = graph_.table().test_classes();
    const auto each_test = [&](std::size_t g, auto&& use) {
      for (const std::uint32_t* p = f.parts_begin(g); p != f.parts_end(g); ++p)
        for (const std::uint32_t member : classes[*p >> 1].members) use(member >> 1);
    };
    shares_.begin(prior);
    for (std::size_t g = 0; g < f.n_groups(); ++g) each_test(g, [&](std::uint32_t t) { shares_.add(t); });
    share_.assign(f.n_groups(), 0.0);
    for (std::size_t g = 0; g < f.n_groups(); ++g)
      each_test(g, [&](std::uint32_t t) { share_[g] += shares_.share(t); });
  }

  // Side a of split i, at the depth limit.
  Pair child(std::size_t i, int a) {
    const Frontier& f = fold_.frontier();
    for (std::size_t c = 0; c < counts_.size(); ++c)
      counts_[c] = a == 1 ? f.count(c, i) : f.totals()[c] - f.count(c, i);
    const std::int32_t total = a == 1 ? f.total(i) : f.total() - f.total(i);
    return limit_(counts_.data(), f.splittable(i, a, i, a, total, hint_, mask_));
  }

  // Both sides of split i, each a leaf at `depth` or split once more into leaves at the depth limit.
  Pair children(std::size_t i, std::size_t depth) {
    const Frontier& f = fold_.frontier();
    const std::size_t n = f.n_groups();
    const Prior& prior = weights_.prior();
    fold_.load_pairs(i);
    child_share_.resize(f.stride());
    Pair product{Wide(1.0), Wide(1.0)};
    for (int a = 0; a < 2; ++a) {
      double n_tests = 0;
      fold_.child_shares<SumProduct>(prior, a, child_share_.data(), n_tests);
      Pair splits{};
      for (std::size_t j = 0; j < n; ++j) {
        if (!(child_share_[j] > 0)) continue;
        fold_.quadrant(j, a, 1, counts_.data());
        fold_.quadrant(j, a, 0, other_.data());
        splits += Wide(child_share_[j]) *
                  (limit_(counts_.data(), open(i, a, j, 1)) * limit_(other_.data(), open(i, a, j, 0)));
      }
      for (std::size_t c = 0; c < counts_.size(); ++c)
        counts_[c] = a == 1 ? f.count(c, i) : f.totals()[c] - f.count(c, i);
      const Wide leaf = weights_.wide_leaf(counts_.data(), depth, n_tests > 0);
      splits = Wide::from_log(prior.log_split_base(depth)) * splits;
      product = product * Pair{leaf + splits.lower, leaf + splits.upper};
    }
    return product;
  }

  // Whether quadrant (i = a, j = b) can be split; both orders of i and j ask, so the answers are kept.
  // Four bits say which are known, four what they are.
  bool open(std::size_t i, int a, std::size_t j, int b) {
    const std::size_t n = fold_.frontier().n_groups();
    std::uint8_t& kept = i < j ? open_[i * n + j] : open_[j * n + i];
    const int bit = i < j ? 2 * a + b : 2 * b + a;
    if (!(kept >> (4 + bit) & 1)) {
      const bool found = fold_.frontier().splittable(i, a, j, b, fold_.quadrant_total(j, a, b), hint_, mask_);
      kept |= static_cast<std::uint8_t>((16 | static_cast<int>(found)) << bit);
    }
    return kept >> bit & 1;
  }

  const Graph& graph_;
  const ProductWeights& weights_;
  const AtLimit& limit_;
  OneLevelFold fold_;
  Shares shares_;
  std::size_t hint_ = 0;  // the group that split the last quadrant: mostly it splits the next one too
  std::vector<std::int32_t> counts_, other_;
  std::vector<double> share_, child_share_;
  std::vector<std::uint8_t> open_;
  std::vector<std::uint32_t> mask_;
};

// The same below a closed state where states choose their tests: each state on the way chooses from its own rows. Owns
// buffers: one object per thread.
class ChosenBelow {
 public:
  ChosenBelow(const Posterior& posterior, const AtLimit& limit)
      : table_(posterior.graph().table()),
        weights_(posterior.weights()),
        limit_(limit),
        min_leaf_(posterior.graph().options().min_leaf),
        counts_(table_.n_classes()),
        frontier_(table_, min_leaf_),
        offers_(table_, min_leaf_),
        last_offers_(table_, min_leaf_),
        below_(table_.n_words()),
        leaf_(table_.n_words()) {}
  void watch(Control& control, bool calling_thread) {
    control_ = &control;
    calling_thread_ = calling_thread;
  }

  // `left`: levels above the depth limit, at most two.
  Pair operator()(const std::uint64_t* cover, std::int64_t total, std::size_t depth, std::size_t left) {
    if (left == 1) return last_level(cover, depth);
    if (left == 0) {
      const bool open = total >= 2 * min_leaf_ && last_offers_.any(cover);
      table_.class_counts(cover, counts_.data());
      return limit_(counts_.data(), open);
    }
    const std::span<const std::uint32_t> tests = offers_.of(cover);
    table_.class_counts(cover, counts_.data());
    const Wide leaf = Wide::from_log(weights_.log_leaf(counts_.data(), depth, !tests.empty()));
    Pair sum{leaf, leaf};
    if (tests.empty()) return sum;
    const Prior& prior = weights_.prior();
    upper_shares_.begin(prior);
    for (const std::uint32_t test : tests) upper_shares_.add(test);
    Pair splits{};
    for (const std::uint32_t test : tests) {
      Pair both{Wide(upper_shares_.share(test)), Wide(upper_shares_.share(test))};
      for (int side = 0; side < 2; ++side) {
        cut(cover, test, side, below_);
        both = both * last_level(below_.data(), depth + 1);
      }
      splits += both;
    }
    sum += Wide::from_log(prior.log_split_base(depth)) * splits;
    return sum;
  }

 private:
  // A state that chooses its tests, with leaves at the depth limit below them.
  Pair last_level(const std::uint64_t* cover, std::size_t depth) {
    frontier_.load(cover);
    const Frontier& f = frontier_;
    const Wide leaf = Wide::from_log(weights_.log_leaf(f.totals(), depth, f.n_groups() > 0));
    Pair sum{leaf, leaf};
    work(f.n_groups());
    if (f.n_groups() == 0) return sum;
    const Prior& prior = weights_.prior();
    shares_.begin(prior);
    for (std::size_t g = 0; g < f.n_groups(); ++g) shares_.add(table_, f.parts(g));
    Pair splits{};
    for (std::size_t g = 0; g < f.n_groups(); ++g) {
      const double share = shares_.share<SumProduct>(table_, f.parts(g));
      splits += Wide(share) * (at_limit(cover, g, 1) * at_limit(cover, g, 0));
    }
    sum += Wide::from_log(prior.log_split_base(depth)) * splits;
    return sum;
  }

  // Side a of a split of the loaded state.
  Pair at_limit(const std::uint64_t* cover, std::size_t g, int a) {
    const Frontier& f = frontier_;
    for (std::size_t c = 0; c < counts_.size(); ++c)
      counts_[c] = a == 1 ? f.count(c, g) : f.totals()[c] - f.count(c, g);
    const std::int32_t total = a == 1 ? f.total(g) : f.total() - f.total(g);
    bool open = false;
    if (total >= 2 * min_leaf_) {
      const std::uint32_t part = f.parts(g)[0];
      cut(cover, part >> 1, (part & 1) != 0 ? 1 - a : a, leaf_);
      open = last_offers_.any(leaf_.data());
    }
    return limit_(counts_.data(), open);
  }

  void cut(const std::uint64_t* cover, std::uint32_t test, int side, Cover& out) const {
    const std::uint64_t* column = table_.column(test);
    for (std::size_t w = 0; w < table_.n_words(); ++w) out[w] = cover[w] & (side == 1 ? column[w] : ~column[w]);
  }
  // Covers may be large: look at the limits now and then.
  void work(std::size_t n_tests) {
    work_ += (n_tests + 1) * (table_.n_words() + 64);
    if (work_ < (std::size_t{1} << 18)) return;
    work_ = 0;
    if (control_ != nullptr) control_->check(calling_thread_, "bracketing the frontier", 0, 0);
  }

  const CountTable& table_;
  const ProductWeights& weights_;
  const AtLimit& limit_;
  std::int64_t min_leaf_;
  std::vector<std::int32_t> counts_;
  Frontier frontier_;
  Offers offers_, last_offers_;
  Cover below_, leaf_;  // a child of the closed state, and one of that
  Shares upper_shares_, shares_;
  std::size_t work_ = 0;
  Control* control_ = nullptr;
  bool calling_thread_ = false;
};

}  // namespace

Bracket evidence_bracket(const Posterior& posterior, std::size_t n_threads, Control& control) {
  const Graph& graph = posterior.graph();
  const int max_depth = graph.options().max_depth;
  if (max_depth < 0) return {posterior.log_evidence(), posterior.log_evidence()};
  if (posterior.weights().leaf().n_variants() > 1)
    throw InvalidInput("a bracket needs the same Dirichlet parameters at every depth");
  const std::size_t held = graph.bytes() + graph.size() * sizeof(Pair);
  control.check_memory(held);
  const AtLimit limit(posterior.weights(), graph.table(), static_cast<std::size_t>(max_depth), held, control);
  std::vector<Pair> value(graph.size());
  std::vector<std::uint32_t> closed, inner;
  for (std::uint32_t id : graph.children_first()) (graph.state(id).inner() ? inner : closed).push_back(id);
  const auto known = [&](std::uint32_t id) { return Pair{posterior.values()[id], posterior.values()[id]}; };
  // value[id] = below(bounds of this thread, id, levels left) for all closed states.
  const auto bound_closed = [&]<class Bounds>(std::vector<Bounds> bounds, const auto& below) {
    bounds.reserve(std::max<std::size_t>(1, n_threads));
    for (std::size_t k = 0; k < std::max<std::size_t>(1, n_threads); ++k)
      bounds.emplace_back(posterior, limit).watch(control, k == 0);
    for_each_parallel(closed.size(), n_threads, control, "bracketing the frontier",
                      [&](std::size_t k, std::size_t worker) {
                        const int left = max_depth - graph.state(closed[k]).depth;
                        value[closed[k]] = below(bounds[worker], closed[k], left);
                      });
  };
  if (graph.table().local())
    bound_closed(std::vector<ChosenBelow>{}, [&](ChosenBelow& bounds, std::uint32_t id, int left) {
      const State& s = graph.state(id);
      // Fewer levels than the limit leaves: too few examples for it to matter, and no two levels that share tests.
      if (s.levels < left) return known(id);
      return bounds(graph.cover(id), s.total, static_cast<std::size_t>(s.depth), static_cast<std::size_t>(left));
    });
  else
    bound_closed(std::vector<Closed>{}, [&](Closed& bounds, std::uint32_t id, int left) {
      // Too few examples for a leaf at the limit that could be split: the value is known.
      if (left > 2 || graph.state(id).total < (left + 2) * graph.options().min_leaf) return known(id);
      return bounds(id, left);
    });
  const WeighProduct<SumProduct> weigh(graph, posterior.weights());
  WeighProduct<SumProduct>::Inner node;
  std::size_t done = 0;
  for (std::uint32_t id : inner) {
    if ((++done & 255) == 0) control.check(true, "bracketing the inner states", done, inner.size());
    weigh.inner(id, node);
    Pair sum{node.leaf, node.leaf};
    const auto splits = graph.splits(graph.state(id));
    for (std::size_t k = 0; k < splits.size(); ++k)
      sum += node.split[k] * (value[splits[k].child[1]] * value[splits[k].child[0]]);
    value[id] = sum;
  }
  return {value[0].lower.log(), value[0].upper.log()};
}

}  // namespace everytree
