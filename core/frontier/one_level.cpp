#include "frontier/one_level.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace everytree {

namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
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

void OneLevel::resize(std::size_t splits, std::size_t padded, double no_split) {
  n = splits;
  weight.assign(padded, 0.0);
  for (int a = 0; a < 2; ++a) {
    leaf[a].assign(padded, 0.0);
    split[a].assign(padded, no_split);
    tests[a].assign(padded, 0.0);
  }
}

template <class Bounds>
void ProductWeights::tabulate(std::size_t n_classes, std::int64_t min_leaf, Bounds&& bounds) {
  if (!fast_ || prior_.fair || n_classes != 2) return;
  // Extreme priors (a factor beyond e^±50 per node) belong in the log domain.
  for (const auto* table : {&prior_.log_split, &prior_.log_leaf_open, &prior_.log_leaf_closed})
    for (double x : *table)
      if (!(x > -50 && x < 50)) return;
  std::int32_t most[2];
  // Covers beyond about 1,800 examples never fit the range of a double with a = 1, so do not let them size the table.
  for (std::int32_t bound : TableSizes::kBounds) {
    bounds(bound, most);
    if (static_cast<std::int64_t>(most[0] + 1) * std::bit_ceil(static_cast<std::uint32_t>(most[1] + 1)) *
            static_cast<std::int64_t>(leaf_->n_variants()) >
        kMaxTable)
      continue;
    linear_.emplace(*leaf_, most[0], most[1], min_leaf);
    // The table was sized by covers up to `bound` only: no larger one may use it.
    linear_bound_ = std::min(bound, linear_->safe_total());
    return;
  }
}

ProductWeights::ProductWeights(const Graph& graph, Prior prior, std::shared_ptr<const Dirichlet> leaf, bool linear)
    : prior_(std::move(prior)), leaf_(std::move(leaf)), fast_(linear) {
  tabulate(graph.table().n_classes(), graph.options().min_leaf,
           [&](std::int32_t bound, std::int32_t* most) { largest_counts(graph, bound, most); });
}

TableSizes TableSizes::of(const Graph& graph) {
  TableSizes sizes;
  if (graph.table().n_classes() == 2)
    for (std::size_t k = 0; k < std::size(kBounds); ++k) largest_counts(graph, kBounds[k], sizes.most[k]);
  return sizes;
}

ProductWeights::ProductWeights(const TableSizes& sizes, std::size_t n_classes, std::int64_t min_leaf, Prior prior,
                               std::shared_ptr<const Dirichlet> leaf, bool linear)
    : prior_(std::move(prior)), leaf_(std::move(leaf)), fast_(linear) {
  tabulate(n_classes, min_leaf, [&](std::int32_t bound, std::int32_t* most) {
    for (std::size_t k = 0; k < std::size(TableSizes::kBounds); ++k)
      if (TableSizes::kBounds[k] == bound) std::copy_n(sizes.most[k], 2, most);
  });
}

ProductWeights::ProductWeights(const CountTable& table, std::int64_t min_leaf, Prior prior,
                               std::shared_ptr<const Dirichlet> leaf, bool linear)
    : prior_(std::move(prior)), leaf_(std::move(leaf)), fast_(linear) {
  std::vector<std::int32_t> totals(table.n_classes());
  table.class_counts(table.all().data(), totals.data());
  tabulate(table.n_classes(), min_leaf, [&](std::int32_t bound, std::int32_t* most) {
    for (int c = 0; c < 2; ++c) most[c] = std::min(bound, totals[static_cast<std::size_t>(c)]);
  });
}

void Shares::begin(const Prior& prior) {
  prior_ = &prior;
  n_tests_ = n_attributes_ = 0;
  if (!prior.fair) return;
  for (std::int32_t a : touched_) per_attribute_[static_cast<std::size_t>(a)] = 0;
  touched_.clear();
}

void Shares::add(std::uint32_t test) {
  n_tests_ += 1;
  if (!prior_->fair) return;
  const std::int32_t a = prior_->attribute[test];
  if (per_attribute_.size() <= static_cast<std::size_t>(a)) per_attribute_.resize(static_cast<std::size_t>(a) + 1, 0);
  if (per_attribute_[static_cast<std::size_t>(a)]++ == 0) {
    touched_.push_back(a);
    n_attributes_ += 1;
  }
}

double Shares::share(std::uint32_t test) const {
  if (prior_->fair) return 1.0 / (n_attributes_ * per_attribute_[static_cast<std::size_t>(prior_->attribute[test])]);
  return prior_->per_test ? 1.0 / n_tests_ : 1.0;
}

OneLevelFold::OneLevelFold(const Graph& graph) : graph_(&graph), frontier_(graph.table(), graph.options().min_leaf) {}

bool OneLevelFold::load(const ClosedState& state, OneLevel& out) {
  depth_ = state.depth;
  levels_ = state.levels;
  if (levels_ == 0) {
    out.resize(0, 0, 0.0);
    return false;
  }
  frontier_.load(state.cover);
  pair_of_ = static_cast<std::size_t>(-1);
  return true;
}

const LinearTables* OneLevelFold::tables_for(const ProductWeights& weights) const {
  return weights.linear(frontier_.total());
}

template <PlainProduct A>
double OneLevelFold::group_share(std::size_t g) const {
  return shares_.share<A>(frontier_.table(), frontier_.parts(g));
}

template <PlainProduct A>
void OneLevelFold::product(const ClosedState& state, const ProductWeights& weights, OneLevel& out) {
  if (!load(state, out)) {
    const CountTable& table = frontier_.table();
    std::vector<std::int32_t>& counts = pairs_;
    counts.resize(std::max(counts.size(), table.n_classes()));
    table.class_counts(state.cover, counts.data());
    out.state_leaf = 1;
    out.log_scale = weights.log_leaf(counts.data(), depth_, false);
    return;
  }
  const Prior& prior = weights.prior();
  const std::size_t n = frontier_.n_groups();
  const LinearTables* tables = tables_for(weights);
  out.resize(n, frontier_.stride(), 0.0);
  // Shares of the splits of the state itself.
  if (prior.fair) {
    shares_.begin(prior);
    for (std::size_t g = 0; g < n; ++g) shares_.add(frontier_.table(), frontier_.parts(g));
    for (std::size_t g = 0; g < n; ++g) out.weight[g] = group_share<A>(g);
  } else {
    const double each = n == 0 ? 0 : prior.per_test ? 1.0 / frontier_.n_tests() : 1.0;
    for (std::size_t g = 0; g < n; ++g) out.weight[g] = Idempotent<A> ? each : each * frontier_.multiplicity(g);
  }
  if (tables != nullptr)
    product_linear<A>(weights, *tables, out);
  else
    product_log<A>(weights, out);
}

template <PlainProduct A>
void OneLevelFold::product_linear(const ProductWeights& weights, const LinearTables& tables, OneLevel& out) {
  const Prior& prior = weights.prior();
  const std::size_t n = frontier_.n_groups();
  frontier_.set_index(tables.shift());
  if (levels_ == 2 && n > 1) {
    const PairTable table{tables.at_depth(weights.leaf(), depth_ + 2), frontier_.index(), frontier_.multiplicities(),
                          frontier_.total_index()};
    double* const split[2] = {out.split[0].data(), out.split[1].data()};
    const auto fold = Idempotent<A> ? frontier_.kernel().fold_max : frontier_.kernel().fold_sum;
    std::int32_t* const tests[2] = {begin_tests(0), begin_tests(1)};
    for (std::size_t i = 0; i + 1 < n; ++i) {
      fold(table, frontier_.next_pair_index(i, tests, pairs_), i, n, split);
      ticker_.tick(frontier_);
    }
    end_tests(out);
  }
  const double* leaf1 = tables.at_depth(weights.leaf(), depth_ + 1);
  const double open = std::exp(prior.log_leaf(depth_ + 1, true)), closed = std::exp(prior.log_leaf(depth_ + 1, false));
  const double split = std::exp(prior.log_split_base(depth_ + 1) + 2 * prior.log_leaf(depth_ + 2, false));
  for (std::size_t i = 0; i < n; ++i) {
    const std::int32_t index[2] = {frontier_.total_index() - frontier_.index()[i], frontier_.index()[i]};
    for (int a = 0; a < 2; ++a) {
      const double tests = out.tests[a][i];
      out.leaf[a][i] = leaf1[index[a]] * (tests > 0 ? open : closed);
      if (tests > 0) out.split[a][i] *= prior.per_test ? split / tests : split;
    }
  }
  const double base = std::exp(prior.log_split_base(depth_));
  for (std::size_t i = 0; i < n; ++i) out.weight[i] *= base;
  out.log_scale = -tables.log_scale() * frontier_.total();
  out.state_leaf =
      std::exp(prior.log_leaf(depth_, n > 0)) * tables.at_depth(weights.leaf(), depth_)[frontier_.total_index()];
}

void OneLevelFold::load_pairs(std::size_t i) {
  if (pair_of_ == i) return;
  ticker_.tick(frontier_);
  pair_of_ = i;
  const std::size_t stride = frontier_.stride(), n_classes = frontier_.table().n_classes();
  pairs_.resize(std::max(pairs_.size(), n_classes * stride));
  pair_total_.assign(stride, 0);
  frontier_.pair_counts(i, 0, pairs_.data());
  for (std::size_t c = 0; c < n_classes; ++c)
    for (std::size_t j = 0; j < frontier_.n_groups(); ++j) pair_total_[j] += pairs_[c * stride + j];
}

std::int32_t OneLevelFold::quadrant_total(std::size_t j, int a, int b) const {
  const std::int32_t both = pair_total_[j], i = frontier_.total(pair_of_), jj = frontier_.total(j);
  if (a == 1) return b == 1 ? both : i - both;
  return b == 1 ? jj - both : frontier_.total() - i - jj + both;
}

void OneLevelFold::quadrant(std::size_t j, int a, int b, std::int32_t* counts) const {
  const std::size_t stride = frontier_.stride();
  for (std::size_t c = 0; c < frontier_.table().n_classes(); ++c) {
    const std::int32_t both = pairs_[c * stride + j], i = frontier_.count(c, pair_of_), jj = frontier_.count(c, j);
    counts[c] = a == 1 ? (b == 1 ? both : i - both) : (b == 1 ? jj - both : frontier_.totals()[c] - i - jj + both);
  }
}

PairValues OneLevelFold::pair_values(const LeafValue& value, double a, double sum_a) const {
  const std::size_t c = value.cls;
  const std::int32_t of_i = frontier_.count(c, pair_of_), total_i = frontier_.total(pair_of_);
  return {static_cast<std::int32_t>(value.kind),
          a,
          sum_a,
          value.centre,
          pairs_.data() + c * frontier_.stride(),
          pair_total_.data(),
          frontier_.counts(c),
          frontier_.group_totals(),
          of_i,
          total_i,
          frontier_.totals()[c] - of_i,
          frontier_.total() - total_i};
}

template <PlainProduct A>
void OneLevelFold::child_shares(const Prior& prior, int a, double* share, double& n_tests) {
  const std::size_t n = frontier_.n_groups();
  n_tests = 0;
  if (!prior.fair) {
    for (std::size_t j = 0; j < n; ++j) {
      share[j] = j != pair_of_ && feasible(j, a) ? (Idempotent<A> ? 1.0 : frontier_.multiplicity(j)) : 0.0;
      if (share[j] > 0) n_tests += frontier_.multiplicity(j);
    }
    if (prior.per_test)
      for (std::size_t j = 0; j < n; ++j) share[j] /= std::max(n_tests, 1.0);
    return;
  }
  shares_.begin(prior);
  for (std::size_t j = 0; j < n; ++j) {
    share[j] = 0;
    if (j == pair_of_ || !feasible(j, a)) continue;
    share[j] = 1;
    n_tests += frontier_.multiplicity(j);
    shares_.add(frontier_.table(), frontier_.parts(j));
  }
  for (std::size_t j = 0; j < n; ++j)
    if (share[j] > 0) share[j] = group_share<A>(j);
}

// log_term_[a][j] = log M(i=a, j=1) + log M(i=a, j=0), for feasible and infeasible j alike.
void OneLevelFold::log_terms(const ProductWeights& weights, std::size_t i) {
  load_pairs(i);
  const std::size_t n = frontier_.n_groups(), stride = frontier_.stride(), n_classes = frontier_.table().n_classes();
  for (int a = 0; a < 2; ++a) log_term_[a].assign(stride, 0.0);
  double* t1 = log_term_[1].data();
  double* t0 = log_term_[0].data();
  // r: log a(a+1)…(a+n−1) of class c by n; s: the same for Σa.
  const auto add_class = [&](std::size_t c, const auto& r) {
    const std::int32_t* both = pairs_.data() + c * stride;
    const std::int32_t of_i = frontier_.count(c, i), rest = frontier_.totals()[c] - of_i;
    for (std::size_t j = 0; j < n; ++j) {
      const std::int32_t b = both[j], jj = frontier_.count(c, j);
      t1[j] += r(b) + r(of_i - b);
      t0[j] += r(jj - b) + r(rest - jj + b);
    }
  };
  const auto take_sum = [&](const auto& s) {
    const std::int32_t of_i = frontier_.total(i), rest = frontier_.total() - of_i;
    for (std::size_t j = 0; j < n; ++j) {
      const std::int32_t b = pair_total_[j], jj = frontier_.total(j);
      t1[j] -= s(b) + s(of_i - b);
      t0[j] -= s(jj - b) + s(rest - jj + b);
    }
  };
  const Dirichlet& leaf = weights.leaf();
  const std::size_t d = depth_ + 2;
  const bool tabulated = leaf.tabulated(frontier_.total());
  for (std::size_t c = 0; c < n_classes; ++c) {
    if (frontier_.totals()[c] == 0) continue;
    if (tabulated)
      add_class(c, [table = leaf.rising(d, c)](std::int32_t k) { return table[k]; });
    else
      add_class(c, [&](std::int32_t k) { return leaf.log_rising(d, c, k); });
  }
  if (tabulated)
    take_sum([table = leaf.rising_sum(d)](std::int32_t k) { return table[k]; });
  else
    take_sum([&](std::int32_t k) { return leaf.log_rising_sum(d, k); });
}

// Terms relative to the child's leaf weight, folded by the kernel: true unless one of them leaves the range of a
// double.
template <PlainProduct A>
bool OneLevelFold::fold_relative(const ProductWeights& weights, OneLevel& out) {
  const std::size_t n = frontier_.n_groups(), stride = frontier_.stride(), n_classes = frontier_.table().n_classes();
  const Dirichlet& leaf = weights.leaf();
  std::vector<std::int32_t> counts(n_classes);
  rising_.clear();
  for (std::size_t c = 0; c < n_classes; ++c) rising_.push_back(leaf.rising(depth_ + 2, c));
  for (int a = 0; a < 2; ++a) {
    log_term_[a].assign(stride, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t c = 0; c < n_classes; ++c)
        counts[c] = a == 1 ? frontier_.count(c, i) : frontier_.totals()[c] - frontier_.count(c, i);
      log_term_[a][i] = leaf.log_marginal(depth_ + 2, counts.data());
    }
    std::fill(out.split[a].begin(), out.split[a].end(), Idempotent<A> ? -kInf : 0.0);
  }
  const PairLogs logs{n_classes,
                      rising_.data(),
                      leaf.rising_sum(depth_ + 2),
                      frontier_.counts(0),
                      frontier_.totals(),
                      frontier_.group_totals(),
                      frontier_.total(),
                      static_cast<std::int32_t>(frontier_.min_leaf()),
                      stride,
                      frontier_.multiplicities(),
                      {log_term_[0].data(), log_term_[1].data()}};
  double* const split[2] = {out.split[0].data(), out.split[1].data()};
  double* const tests[2] = {out.tests[0].data(), out.tests[1].data()};
  const auto fold = Idempotent<A> ? frontier_.kernel().fold_log_max : frontier_.kernel().fold_log_sum;
  for (std::size_t i = 0; i + 1 < n; ++i) {
    fold(logs, frontier_.next_pair_counts(i, pairs_), i, n, split, tests);
    ticker_.tick(frontier_);
  }
  // To log split weights, without the prior.
  const Prior& prior = weights.prior();
  for (int a = 0; a < 2; ++a)
    for (std::size_t i = 0; i < n; ++i) {
      if (!(out.tests[a][i] > 0)) {
        out.split[a][i] = -kInf;
        continue;
      }
      const double log_sum = Idempotent<A> ? out.split[a][i] : std::log(out.split[a][i]);
      if (!std::isfinite(log_sum)) return false;
      out.split[a][i] = log_sum + log_term_[a][i] + prior.log_share(out.tests[a][i]);
    }
  return true;
}

// The same in two passes per child, with the shares of attribute-fair priors: never leaves the range.
template <PlainProduct A>
void OneLevelFold::fold_two_pass(const ProductWeights& weights, OneLevel& out) {
  const std::size_t n = frontier_.n_groups();
  share_.resize(frontier_.stride());
  for (std::size_t i = 0; i < n; ++i) {
    ticker_.tick(frontier_);
    log_terms(weights, i);
    for (int a = 0; a < 2; ++a) {
      double largest = -kInf, sum = 0;
      child_shares<A>(weights.prior(), a, share_.data(), out.tests[a][i]);
      const double* t = log_term_[a].data();
      for (std::size_t j = 0; j < n; ++j)
        if (share_[j] > 0) largest = std::max(largest, t[j]);
      for (std::size_t j = 0; j < n; ++j) {
        if (!(share_[j] > 0)) continue;
        const double x = share_[j] * std::exp(t[j] - largest);
        sum = plus<A>(sum, x);
      }
      out.split[a][i] = sum > 0 ? largest + std::log(sum) : -kInf;
    }
  }
}

template <PlainProduct A>
void OneLevelFold::product_log(const ProductWeights& weights, OneLevel& out) {
  const Prior& prior = weights.prior();
  const std::size_t n = frontier_.n_groups(), n_classes = frontier_.table().n_classes();
  std::vector<std::int32_t> counts(n_classes);
  // First log split weights in out.split, then everything relative to a reference.
  for (int a = 0; a < 2; ++a) std::fill(out.split[a].begin(), out.split[a].end(), -kInf);
  if (levels_ == 2 && n > 1) {
    if (prior.fair || !weights.relative() || !weights.leaf().tabulated(frontier_.total()) ||
        !fold_relative<A>(weights, out)) {
      for (int a = 0; a < 2; ++a) std::fill(out.tests[a].begin(), out.tests[a].end(), 0.0);
      fold_two_pass<A>(weights, out);
    }
  }
  for (int a = 0; a < 2; ++a) reference_[a].assign(n, 0.0);
  const double log_split = prior.log_split_base(depth_ + 1) + 2 * prior.log_leaf(depth_ + 2, false);
  const double base = prior.log_split_base(depth_);
  double reference = weights.log_leaf(frontier_.totals(), depth_, n > 0);
  const double log_state_leaf = reference;
  for (std::size_t i = 0; i < n; ++i) {
    for (int a = 0; a < 2; ++a) {
      for (std::size_t c = 0; c < n_classes; ++c)
        counts[c] = a == 1 ? frontier_.count(c, i) : frontier_.totals()[c] - frontier_.count(c, i);
      const double as_leaf = weights.log_leaf(counts.data(), depth_ + 1, out.tests[a][i] > 0);
      const double as_split = out.split[a][i] + log_split;
      // Leaf and split of a child share a reference, so that neither leaves the range of a double.
      const double r = std::max(as_leaf, as_split);
      reference_[a][i] = r;
      out.leaf[a][i] = std::exp(as_leaf - r);
      out.split[a][i] = std::exp(as_split - r);
    }
    reference = std::max(reference, base + reference_[0][i] + reference_[1][i]);
  }
  for (std::size_t i = 0; i < n; ++i) out.weight[i] *= std::exp(base + reference_[0][i] + reference_[1][i] - reference);
  out.state_leaf = std::exp(log_state_leaf - reference);
  out.log_scale = reference;
  pair_of_ = static_cast<std::size_t>(-1);  // pairs_ was overwritten
}

std::int32_t* OneLevelFold::begin_tests(int a) {
  tests_[a].assign(frontier_.stride(), 0);
  return tests_[a].data();
}

void OneLevelFold::end_tests(OneLevel& out) const {
  for (int a = 0; a < 2; ++a)
    for (std::size_t i = 0; i < out.n; ++i) out.tests[a][i] = tests_[a][i];
}

void OneLevelFold::terms(const ProductWeights& weights, const OneLevel& level, std::size_t i, double* const term[2]) {
  const std::size_t n = frontier_.n_groups();
  if (levels_ < 2) {
    for (int a = 0; a < 2; ++a) std::fill(term[a], term[a] + n, 0.0);
    return;
  }
  const Prior& prior = weights.prior();
  share_.resize(frontier_.stride());
  const double log_split = prior.log_split_base(depth_ + 1) + 2 * prior.log_leaf(depth_ + 2, false);
  const LinearTables* tables = tables_for(weights);
  if (tables == nullptr) {
    log_terms(weights, i);
    for (int a = 0; a < 2; ++a) {
      double n_tests;
      child_shares<SumProduct>(prior, a, share_.data(), n_tests);
      for (std::size_t j = 0; j < n; ++j)
        term[a][j] = share_[j] > 0 ? share_[j] * std::exp(log_term_[a][j] + log_split - reference_[a][i]) : 0.0;
    }
    return;
  }
  load_pairs(i);
  const double split = std::exp(log_split);
  double each[2];
  for (int a = 0; a < 2; ++a)
    each[a] = level.tests[a][i] > 0 ? (prior.per_test ? split / level.tests[a][i] : split) : 0.0;
  const PairTable table{tables->at_depth(weights.leaf(), depth_ + 2), frontier_.index(), frontier_.multiplicities(),
                        frontier_.total_index()};
  frontier_.kernel().pair_terms(table, tables->shift(), pairs_.data(), pairs_.data() + frontier_.stride(), i, n, each,
                                term);
}

void OneLevelFold::tests(std::size_t state, OneLevel& out) {
  if (!load(closed(state), out)) return;
  const std::size_t n = frontier_.n_groups();
  out.resize(n, frontier_.stride(), 0.0);
  for (std::size_t g = 0; g < n; ++g) out.weight[g] = frontier_.multiplicity(g);
  if (levels_ < 2) return;
  frontier_.set_index(0);
  std::int32_t* const tests[2] = {begin_tests(0), begin_tests(1)};
  for (std::size_t i = 0; i + 1 < n; ++i) {
    frontier_.next_pair_index(i, tests, pairs_);
    ticker_.tick(frontier_);
  }
  end_tests(out);
}

void OneLevelFold::cost(std::size_t state, const LeafCost& cost, OneLevel& out) {
  if (load(closed(state), out)) {
    cost_fold_.fold(frontier_, levels_, cost, ticker_, out);
    return;
  }
  std::vector<std::int32_t> counts(graph_->table().n_classes());
  graph_->table().class_counts(graph_->cover(state), counts.data());
  out.log_scale = 0;
  out.state_leaf = cost(counts.data());
}

// The plain product algebras; others go through PlainOf.
template void OneLevelFold::product<SumProduct>(const ClosedState&, const ProductWeights&, OneLevel&);
template void OneLevelFold::product<MaxProduct>(const ClosedState&, const ProductWeights&, OneLevel&);
template void OneLevelFold::child_shares<SumProduct>(const Prior&, int, double*, double&);
template void OneLevelFold::child_shares<MaxProduct>(const Prior&, int, double*, double&);

}  // namespace everytree
