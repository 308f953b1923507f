#include "frontier/one_level.hpp"

#include <algorithm>
#include <cmath>

namespace everytree {

void OneLevel::resize(std::size_t splits, std::size_t padded, double no_split) {
  n = splits;
  weight.assign(padded, 0.0);
  for (int a = 0; a < 2; ++a) {
    leaf[a].assign(padded, 0.0);
    split[a].assign(padded, no_split);
    tests[a].assign(padded, 0.0);
  }
}

OneLevelFold::OneLevelFold(const Graph& graph) : graph_(&graph), frontier_(graph.table(), graph.options().min_leaf) {}

bool OneLevelFold::load(const ClosedState& state, bool apart, OneLevel& out) {
  depth_ = state.depth;
  levels_ = state.levels;
  if (levels_ == 0) {
    out.resize(0, 0, 0.0);
    return false;
  }
  frontier_.keep_apart(apart);
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
void OneLevelFold::fold_state(const ClosedState& state, const ProductWeights& weights, const double* kept,
                              OneLevel& out) {
  if (!load(state, weights.apart(), out)) {
    const CountTable& table = frontier_.table();
    std::vector<std::int32_t>& counts = pairs_;
    counts.resize(std::max(counts.size(), table.n_classes()));
    table.class_counts(state.cover, counts.data());
    out.state_leaf = 1;
    const LongLog log = weights.leaf().all_tabulated() ? LongLog(weights.log_leaf(counts.data(), depth_, false))
                                                       : weights.long_leaf(counts.data(), depth_, false);
    out.log_scale = log.high();
    out.log_scale_low = log.low();
    return;
  }
  const Prior& prior = weights.prior();
  const std::size_t n = frontier_.n_groups();
  const LinearTables* tables = tables_for(weights);
  out.resize(n, frontier_.stride(), 0.0);
  // Shares of the splits of the state itself.
  if (weights.apart()) {
    runs_.load(frontier_, prior);
    for (std::size_t r = 0; r < runs_.n_runs(); ++r) {
      const std::size_t from = runs_.begin(r), to = runs_.begin(r + 1);
      const double each =
          prior.fair_sum(frontier_.n_tests()) / (static_cast<double>(runs_.n_runs()) * static_cast<double>(to - from));
      std::fill(out.weight.begin() + static_cast<std::ptrdiff_t>(from),
                out.weight.begin() + static_cast<std::ptrdiff_t>(to), each);
    }
  } else if (prior.fair) {
    shares_.begin(prior);
    for (std::size_t g = 0; g < n; ++g) shares_.add(frontier_.table(), frontier_.parts(g));
    for (std::size_t g = 0; g < n; ++g) out.weight[g] = group_share<A>(g);
  } else {
    const double each = n == 0 ? 0 : 1.0 / prior.share_divisor(frontier_.n_tests());
    for (std::size_t g = 0; g < n; ++g) out.weight[g] = Idempotent<A> ? each : each * frontier_.multiplicity(g);
  }
  if (tables != nullptr)
    product_linear<A>(weights, *tables, kept, out);
  else
    product_log<A>(weights, out);
}

template <PlainProduct A>
void OneLevelFold::product_linear(const ProductWeights& weights, const LinearTables& tables, const double* kept,
                                  OneLevel& out) {
  const Prior& prior = weights.prior();
  const std::size_t n = frontier_.n_groups();
  frontier_.set_index(tables.shift());
  if (kept != nullptr) {
    for (int a = 0; a < 2; ++a) std::copy_n(kept + static_cast<std::size_t>(2 + a) * n, n, out.tests[a].begin());
  } else if (levels_ == 2 && n > 1) {
    const PairTable table{tables.at_depth(weights.leaf(), depth_ + 2), frontier_.index(), frontier_.multiplicities(),
                          frontier_.total_index()};
    double* const split[2] = {out.split[0].data(), out.split[1].data()};
    std::int32_t* const tests[2] = {begin_tests(0), begin_tests(1)};
    if (weights.apart()) {
      const auto fold = Idempotent<A> ? frontier_.kernel().apart_max : frontier_.kernel().apart_sum;
      runs_.fold<A, false>(frontier_.stride(), out.split, out.tests, [&](std::size_t i, const Apart& apart) {
        fold(table, frontier_.next_pair_index(i, tests, pairs_), i, n, apart);
        ticker_.tick(frontier_);
      });
    } else {
      const auto fold = Idempotent<A> ? frontier_.kernel().fold_max : frontier_.kernel().fold_sum;
      for (std::size_t i = 0; i + 1 < n; ++i) {
        fold(table, frontier_.next_pair_index(i, tests, pairs_), i, n, split);
        ticker_.tick(frontier_);
      }
      end_tests(out);
    }
  }
  const double* leaf1 = tables.at_depth(weights.leaf(), depth_ + 1);
  const double open = std::exp(prior.log_leaf(depth_ + 1, true)), closed = std::exp(prior.log_leaf(depth_ + 1, false));
  const double split = std::exp(prior.log_split_base(depth_ + 1) + 2 * prior.log_leaf(depth_ + 2, false));
  for (std::size_t i = 0; i < n; ++i) {
    const std::int32_t index[2] = {frontier_.total_index() - frontier_.index()[i], frontier_.index()[i]};
    for (int a = 0; a < 2; ++a) {
      const double tests = out.tests[a][i];
      out.leaf[a][i] = leaf1[index[a]] * (tests > 0 ? open : closed);
      if (tests > 0)
        out.split[a][i] *= weights.apart() ? split * prior.fair_sum(tests) : split / prior.share_divisor(tests);
    }
  }
  for (int a = 0; a < 2 && kept != nullptr; ++a)
    std::copy_n(kept + static_cast<std::size_t>(a) * n, n, out.split[a].begin());
  const double base = std::exp(prior.log_split_base(depth_));
  for (std::size_t i = 0; i < n; ++i) out.weight[i] *= base;
  out.log_scale = -tables.log_scale() * frontier_.total();
  out.log_scale_low = 0;
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
          1 / value.per_example,
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
    const double divisor = prior.share_divisor(std::max(n_tests, 1.0));
    for (std::size_t j = 0; j < n; ++j) share[j] /= divisor;
    return;
  }
  if (frontier_.apart()) {
    double n_columns = 0;
    for (std::size_t r = 0; r < runs_.n_runs(); ++r) {
      double m = 0;
      for (std::size_t j = runs_.begin(r); j < runs_.begin(r + 1); ++j) {
        share[j] = j != pair_of_ && feasible(j, a) ? 1.0 : 0.0;
        m += share[j];
      }
      if (!(m > 0)) continue;
      n_columns += 1;
      n_tests += m;
      for (std::size_t j = runs_.begin(r); j < runs_.begin(r + 1); ++j) share[j] /= m;
    }
    for (std::size_t j = 0; j < n && n_columns > 0; ++j) share[j] *= prior.fair_sum(n_tests) / n_columns;
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
  if (tables == nullptr && weights.relative() && weights.leaf().tabulated(frontier_.total())) {
    relative_terms(weights, i, log_split, term);
    return;
  }
  if (tables == nullptr) {
    const bool far = !weights.leaf().tabulated(frontier_.total());
    if (far)
      far_terms(weights, i);
    else
      log_terms(weights, i);
    for (int a = 0; a < 2; ++a) {
      double n_tests;
      child_shares<SumProduct>(prior, a, share_.data(), n_tests);
      for (std::size_t j = 0; j < n; ++j) {
        if (!(share_[j] > 0))
          term[a][j] = 0;
        else if (far)
          term[a][j] = share_[j] * std::exp((far_term_[a][j] - far_reference_[a][i]) + log_split);
        else
          term[a][j] = share_[j] * std::exp(log_term_[a][j] + log_split - reference_[a][i]);
      }
    }
    return;
  }
  load_pairs(i);
  const double split = std::exp(log_split);
  double each[2];
  for (int a = 0; a < 2; ++a) {
    each[a] = 0;
    if (level.tests[a][i] > 0) each[a] = weights.apart() ? split : split / prior.share_divisor(level.tests[a][i]);
  }
  const PairTable table{tables->at_depth(weights.leaf(), depth_ + 2), frontier_.index(), frontier_.multiplicities(),
                        frontier_.total_index()};
  frontier_.kernel().pair_terms(table, tables->shift(), pairs_.data(), pairs_.data() + frontier_.stride(), i, n, each,
                                term);
  for (int a = 0; a < 2 && weights.apart(); ++a) {
    // A term is positive where its test is feasible: the shares follow without a look at the counts.
    share_by_column(prior, term[a], [&](std::size_t j) { return term[a][j] > 0; });
  }
}

void OneLevelFold::tests(std::size_t state, OneLevel& out) {
  if (!load(closed(state), false, out)) return;
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
  if (load(closed(state), false, out)) {
    cost_fold_.fold(frontier_, levels_, cost, ticker_, out);
    return;
  }
  std::vector<std::int32_t> counts(graph_->table().n_classes());
  graph_->table().class_counts(graph_->cover(state), counts.data());
  out.log_scale = 0;
  out.state_leaf = cost(counts.data());
}

// The plain product algebras; others go through PlainOf.
template void OneLevelFold::fold_state<SumProduct>(const ClosedState&, const ProductWeights&, const double*, OneLevel&);
template void OneLevelFold::fold_state<MaxProduct>(const ClosedState&, const ProductWeights&, const double*, OneLevel&);
template void OneLevelFold::child_shares<SumProduct>(const Prior&, int, double*, double&);
template void OneLevelFold::child_shares<MaxProduct>(const Prior&, int, double*, double&);

}  // namespace everytree
