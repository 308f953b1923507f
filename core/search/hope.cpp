#include "search/hope.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "common/infinity.hpp"
#include "weights/leaf_cost.hpp"

namespace everytree {

namespace {
constexpr std::int64_t kMaxTable = std::int64_t{1} << 20;

std::vector<double> least_from_here(const std::vector<double>& log_table) {
  std::vector<double> out(log_table.size());
  double least = kInf;
  for (std::size_t d = log_table.size(); d-- > 0;) out[d] = least = std::min(least, -log_table[d]);
  return out;
}
double at(const std::vector<double>& table, std::size_t depth) { return table[std::min(depth, table.size() - 1)]; }
}  // namespace

bool Hope::sound(const Prior& prior) {
  if (prior.fair && !prior.per_test) return false;  // the test of a column that has few may weigh more than 1
  for (const auto* table : {&prior.log_split, &prior.log_leaf_open, &prior.log_leaf_closed})
    if (std::any_of(table->begin(), table->end(), [](double x) { return !(x <= 0); })) return false;
  return true;
}

Hope::Hope(const CountTable& table, Prior prior, std::shared_ptr<const Dirichlet> leaf, int max_depth,
           std::int64_t min_leaf, Spread spread, std::size_t held, Control& control)
    : prior_(std::move(prior)),
      leaf_(std::move(leaf)),
      max_depth_(max_depth),
      min_leaf_(min_leaf),
      spread_(std::move(spread)),
      local_(table.local()),
      single_(leaf_->n_variants() == 1),
      alike_(leaf_->n_classes() == 2 && leaf_->per_example() == 1 &&
             leaf_->log_rising(0, 0, 1) == leaf_->log_rising(0, 1, 1)) {
  any_split_ = least_from_here(prior_.log_split);
  const auto open = least_from_here(prior_.log_leaf_open), closed = least_from_here(prior_.log_leaf_closed);
  for (std::size_t d = 0; d < std::max(open.size(), closed.size()); ++d)
    any_leaf_.push_back(std::min(at(open, d), at(closed, d)));

  const std::size_t n_classes = table.n_classes();
  std::vector<std::int32_t> totals(n_classes), counts(n_classes, 0);
  table.class_counts(table.all().data(), totals.data());
  log_tests_.assign(table.n_tests() + 1, 0.0);
  if (prior_.per_test && !prior_.fair)
    for (std::size_t n = 1; n < log_tests_.size(); ++n) log_tests_[n] = -prior_.log_share(static_cast<double>(n));
  const std::size_t variants = leaf_->n_variants();
  const auto entries = [](std::int32_t n) { return static_cast<std::size_t>(std::min(n, kCounts)) + 1; };
  const std::int32_t largest = *std::max_element(totals.begin(), totals.end());
  std::size_t size = single_ ? entries(largest) : 0;
  for (std::int32_t n : totals) size += variants * entries(n);
  control.check_memory(held + size * sizeof(double));
  std::size_t filled = 0;
  const auto tick = [&] {
    if ((++filled & 0xffff) == 0) control.check(true, "starting", 0, 0);
  };
  if (single_) {
    log_mixed_.reserve(entries(largest));
    for (std::int32_t n = 0; n < static_cast<std::int32_t>(entries(largest)); ++n) {
      log_mixed_.push_back(far_mixed(n));
      tick();
    }
  }
  // Per depth, then from the deepest up the least. If one set of parameters is the least for every n, parting a class
  // costs something whatever the depths of its leaves; else no more is used than that one example of it is there.
  //
  // Between two sets of parameters (a, A) and (b, B), m(n + 1) − m(n) = log((A + n) / (a + n)) differs by the sign of
  // (A + n)(b + n) − (B + n)(a + n), which is linear in n: the difference of the two m rises and then falls, or falls
  // and then rises. So one is the least for every n up to the total if it is for n = 1 and for the total itself, and
  // the counts between a table and the total need no look.
  pure_.resize(variants);
  for (std::size_t v = variants; v-- > 0;) {
    pure_[v].resize(n_classes);
    for (std::size_t c = 0; c < n_classes; ++c) {
      Pure& here = pure_[v][c];
      here.variant = v;
      here.table.resize(entries(totals[c]));
      for (std::size_t n = 0; n < here.table.size(); ++n) {
        here.table[n] = far_pure(v, c, static_cast<std::int32_t>(n));
        tick();
      }
      if (v + 1 == variants) continue;
      const Pure& deeper = pure_[v + 1][c];
      const double last = pure(v, c, totals[c]), last_deeper = pure(v + 1, c, totals[c]);
      const auto all = [&](auto compare) {
        return std::equal(here.table.begin(), here.table.end(), deeper.table.begin(), compare) &&
               compare(last, last_deeper);
      };
      const bool looked_at = leaf_->per_example() == 1 || entries(totals[c]) > static_cast<std::size_t>(totals[c]);
      const bool less = looked_at && all(std::less_equal<>()), more = looked_at && all(std::greater_equal<>());
      if (more) {
        here = deeper;
      } else if (!less) {
        here.flat = true;
        const double least = std::min(here.table[1], deeper.table[1]);
        std::fill(here.table.begin() + 1, here.table.end(), least);
      }
    }
  }
  if (n_classes == 2) {
    for (int c = 0; c < 2; ++c) most_[c] = totals[static_cast<std::size_t>(c)];
    const auto size = [&] {
      return static_cast<std::int64_t>(most_[0] + 1) * std::bit_ceil(static_cast<std::uint32_t>(most_[1] + 1));
    };
    while (size() > kMaxTable) {
      std::int32_t& larger = most_[0] > most_[1] ? most_[0] : most_[1];
      larger = static_cast<std::int32_t>(std::bit_ceil(static_cast<std::uint32_t>(larger + 1)) / 2 - 1);
    }
    shift_ = std::bit_width(static_cast<std::uint32_t>(most_[1]));
  }
}

double Hope::pure(std::size_t depth, std::size_t c, std::int32_t n) const {
  const Pure& known = pure_[std::min(depth, pure_.size() - 1)][c];
  if (static_cast<std::size_t>(n) < known.table.size()) return known.table[static_cast<std::size_t>(n)];
  return known.flat ? known.table.back() : far_pure(known.variant, c, n);
}

// m_c(n) with the parameters of this depth.
double Hope::far_pure(std::size_t variant, std::size_t c, std::int32_t n) const {
  const double held = n > 0 ? leaf_->log_held(n) : 0;
  return -(leaf_->log_rising(variant, c, n) - leaf_->log_rising_sum(variant, n) - held);
}

double Hope::held_by_two(const std::int32_t* counts) const {
  if (leaf_->kappa() == 0) return 0;
  std::int64_t n = 0;
  for (std::size_t c = 0; c < leaf_->n_classes(); ++c) n += counts[c];
  return n > 1 ? 2 * (leaf_->kappa() * std::log(2.0) - leaf_->log_held(n)) : 0;
}

double Hope::far_mixed(std::int32_t n) const {
  if (leaf_->per_example() == 1) return leaf_->power() * std::log1p(n / leaf_->sum_a(0));
  const auto rising = [this](std::int64_t k) {
    return leaf_->log_rising_sum(0, k) + (k > 0 ? leaf_->log_held(k) : 0.0);
  };
  return std::max(0.0, rising(std::int64_t{n} + 1) - rising(n) - rising(1));
}

double Hope::log_mixed(std::int32_t n) const {
  if (static_cast<std::size_t>(n) < log_mixed_.size()) return log_mixed_[static_cast<std::size_t>(n)];
  return far_mixed(n);
}

// l_c(1), or infinite where there is nothing to part.
double Hope::part(std::size_t depth, std::size_t c, std::int32_t n) const {
  if (n < 2) return kInf;
  return single_ ? pure(depth, c, 1) + pure(depth, c, n - 1) - pure(depth, c, n) : 0.0;
}

double Hope::least_leaf(std::size_t depth, std::int64_t n) const {
  if (closed(depth, n)) return -prior_.log_leaf(depth, false);
  if (open(depth, n)) return -prior_.log_leaf(depth, true);
  return -std::max(prior_.log_leaf(depth, true), prior_.log_leaf(depth, false));
}

// Any tree on n examples of class c alone.
double Hope::pure_cover(std::size_t depth, std::size_t c, std::int32_t n) const {
  double prior = least_leaf(depth, n);
  if (!closed(depth, n)) {
    const std::int32_t tests = std::max(1, min_leaf_ == 1 ? spread_.least(c, n) : 1);
    prior = std::min(prior, split(depth, tests) + 2 * at(any_leaf_, depth + 1) + part(depth, c, n));
  }
  return pure(depth, c, n) + prior;
}

double Hope::below_split(const std::int32_t* counts, std::size_t depth) const {
  const std::size_t d = depth + 1, n_classes = leaf_->n_classes();
  double sum = 0;
  std::size_t present[2] = {0, 0}, k = 0;
  for (std::size_t c = 0; c < n_classes; ++c) {
    if (counts[c] == 0) continue;
    sum += pure(d, c, counts[c]);
    if (k < 2) present[k] = c;
    ++k;
  }
  const double leaf = at(any_leaf_, d), another = at(any_split_, d);
  if (k < 2) return sum + 2 * leaf + (k == 1 ? std::max(0.0, part(d, present[0], counts[present[0]])) : 0.0);
  if (k > 2) {
    const double pure_leaves = static_cast<double>(k - 2) * another + static_cast<double>(k) * leaf;
    const double mixed = (single_ ? log_mixed_[1] : 0.0) + 2 * leaf;
    return sum + std::min(pure_leaves, mixed);
  }
  const std::size_t x = present[0], y = present[1];
  const std::int32_t n0 = counts[x], n1 = counts[y];
  const double perfect = pure_cover(d, x, n0) + pure_cover(d, y, n1) - sum;
  const double l0 = part(d, x, n0), l1 = part(d, y, n1);
  const double more_leaves = another + std::min(l0, l1) + 3 * leaf;
  double mixed = std::min(l0, l1);
  if (single_) mixed = std::min({log_mixed_[1] + l0 + l1, log_mixed(n0) + l1, log_mixed(n1) + l0});
  return sum + std::min({perfect, more_leaves, mixed + 2 * leaf});
}

double Hope::at_least_outvoted(const std::int32_t* counts, std::size_t depth, std::int32_t n_tests,
                               std::int64_t outvoted) const {
  const std::size_t d = depth + 1;
  const auto k = static_cast<std::int32_t>(std::min<std::int64_t>(outvoted, std::min(counts[0], counts[1])));
  const std::int32_t both[2] = {k, k};
  const double mixed = leaf_->log_marginal(d, both) - (k > 0 ? leaf_->log_held(2 * std::int64_t{k}) : 0);
  if (!alike_) {
    const double one_leaf = -mixed - pure(d, 0, k) - pure(d, 1, k);
    return split(depth, n_tests) + 2 * at(any_leaf_, d) + pure(d, 0, counts[0]) + pure(d, 1, counts[1]) +
           std::min(k * log_mixed_[1], one_leaf) + held_by_two(counts);
  }
  return split(depth, n_tests) + 2 * at(any_leaf_, d) - mixed + pure(d, 0, counts[0] - k) + pure(d, 1, counts[1] - k) +
         held_by_two(counts);
}

double Hope::plain(const std::int32_t* counts, std::size_t depth) const {
  std::int64_t n = 0;
  for (std::size_t c = 0; c < leaf_->n_classes(); ++c) n += counts[c];
  if (n < min_leaf_) return kNoCost;
  const double prior = closed(depth, n) ? prior_.log_leaf(depth, false)
                       : open(depth, n) ? prior_.log_leaf(depth, true)
                                        : std::min(prior_.log_leaf(depth, true), prior_.log_leaf(depth, false));
  return std::min(-prior - leaf_->log_marginal(depth, counts), kNoCost);
}

double Hope::least_as_leaf(const std::int32_t* counts, std::size_t depth) const {
  std::int64_t n = 0;
  for (std::size_t c = 0; c < leaf_->n_classes(); ++c) n += counts[c];
  return least_leaf(depth, n) - leaf_->log_marginal(depth, counts);
}

double Hope::hope(const std::int32_t* counts, std::size_t depth) const {
  std::int64_t n = 0;
  for (std::size_t c = 0; c < leaf_->n_classes(); ++c) n += counts[c];
  if (n < min_leaf_) return kNoCost;
  double cost = least_leaf(depth, n) - leaf_->log_marginal(depth, counts);
  if (!closed(depth, n)) {
    const std::int32_t tests = std::max(1, min_leaf_ == 1 ? spread_.least(counts, leaf_->n_classes()) : 1);
    cost = std::min(cost, at_least(counts, depth, tests));
  }
  return std::min(cost, kNoCost);
}

const Hope::Tables* Hope::tables(std::size_t depth, std::size_t held, Control& control) {
  // Beyond the tables of the prior, and short of a depth limit, all depths are alike.
  std::size_t last = std::max({prior_.log_split.size(), prior_.log_leaf_open.size(), prior_.log_leaf_closed.size(),
                               leaf_->n_variants(), std::size_t{1}});
  if (max_depth_ >= 0) last = std::max(last, static_cast<std::size_t>(max_depth_) + 1);
  depth = std::min(depth, last);
  if (tables_.size() <= depth) tables_.resize(depth + 1);
  if (tables_[depth] == nullptr) {
    const std::size_t size = static_cast<std::size_t>(most_[0] + 1) << shift_;
    if (held + 2 * size * sizeof(double) > control.memory_limit / 2) return nullptr;
    auto made = std::make_unique<Tables>();
    made->plain.assign(size, kNoCost);
    made->hope.assign(size, kNoCost);
    std::size_t filled = 0;
    for (std::int32_t n0 = 0; n0 <= most_[0]; ++n0)
      for (std::int32_t n1 = 0; n1 <= most_[1]; ++n1) {
        const std::int32_t counts[2] = {n0, n1};
        const std::size_t k = (static_cast<std::size_t>(n0) << shift_) + static_cast<std::size_t>(n1);
        made->plain[k] = plain(counts, depth);
        made->hope[k] = hope(counts, depth);
        if ((++filled & 0x3fff) == 0) control.check(true, "starting", 0, 0);
      }
    tables_[depth] = std::move(made);
  }
  return tables_[depth].get();
}

std::size_t Hope::bytes() const {
  std::size_t sum = log_mixed_.capacity() * 8;
  for (const auto& row : pure_)
    for (const Pure& p : row) sum += p.table.capacity() * 8;
  for (const auto& t : tables_)
    if (t != nullptr) sum += 16 * t->plain.size();
  return sum;
}

}  // namespace everytree
