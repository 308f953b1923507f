#include "frontier/side_fold.hpp"

#include <algorithm>

#include "frontier/one_level.hpp"

namespace everytree {

std::size_t WholePairs::most_bytes(const CountTable& table) {
  const std::size_t planes = table.n_classes() == 2 && table.total() < 32768 ? 1 : table.n_classes();
  return 4 * size((table.test_classes().size() + 1 + kBand - 1) / kBand * kBand, planes);
}

void WholePairs::begin(const Frontier& frontier) {
  const std::size_t n_classes = frontier.table().n_classes();
  stride_ = frontier.stride();
  planes_ = pack(frontier) ? 0 : n_classes;
  tests_.clear();
  for (std::size_t g = 0; g < frontier.n_groups(); ++g)
    tests_.push_back(frontier.table().test_classes()[*frontier.parts_begin(g) >> 1].test);
  counts_.assign(frontier.counts(0), frontier.counts(0) + n_classes * stride_);
  totals_.assign(frontier.totals(), frontier.totals() + n_classes);
  pairs_.resize(size(stride_, planes()));
}

void SideFold::fold(const WholePairs& whole, const std::uint64_t* cover, const LeafCost& cost, Ticker& ticker,
                    OneLevel* out) {
  part_.load_tests(cover, whole.tests());
  const std::size_t n_classes = part_.table().n_classes();
  n_ = whole.n();
  stride_ = whole.stride();
  for (int which = 0; which < 2; ++which) {
    counts_[which].assign(n_classes * stride_, 0);
    total_of_[which].assign(stride_, 0);
    totals_[which].assign(n_classes, 0);
    total_[which] = 0;
    for (std::size_t c = 0; c < n_classes; ++c) {
      for (std::size_t g = 0; g < n_; ++g) {
        const std::int32_t here = part_.count(c, g), x = which == 0 ? here : whole.count(c, g) - here;
        counts_[which][c * stride_ + g] = x;
        total_of_[which][g] += x;
      }
      totals_[which][c] = which == 0 ? part_.totals()[c] : whole.total(c) - part_.totals()[c];
      total_[which] += totals_[which][c];
    }
    for (auto& error : error_[which]) error.assign(stride_, kInfeasible);
    out[which].resize(n_, stride_, kNoCost);
    out[which].log_scale = 0;
    leaves(cost, which, out[which]);
  }
  if (n_ < 2) return;
  if (whole.packed())
    two_class_errors(whole, ticker);
  else
    any_errors(whole, ticker);
  const std::int32_t none = whole.packed() ? kInfeasibleError : kInfeasible;
  for (int which = 0; which < 2; ++which)
    for (int a = 0; a < 2; ++a)
      for (std::size_t i = 0; i < n_; ++i)
        if (error_[which][a][i] < none) out[which].split[a][i] = error_[which][a][i] + 2 * cost.per_leaf();
}

// A test of the cover may be infeasible on a side: then neither part of the side is a leaf.
void SideFold::leaves(const LeafCost& cost, int which, OneLevel& out) {
  const std::size_t n_classes = part_.table().n_classes();
  out.state_leaf = cost(totals_[which].data());
  leaf_counts_.resize(n_classes);
  for (std::size_t i = 0; i < n_; ++i) {
    const std::int32_t ones = total_of_[which][i];
    const bool feasible = ones >= part_.min_leaf() && total_[which] - ones >= part_.min_leaf();
    for (int a = 0; a < 2; ++a) {
      out.leaf[a][i] = kNoCost;
      if (!feasible) continue;
      for (std::size_t c = 0; c < n_classes; ++c) {
        const std::int32_t yes = counts_[which][c * stride_ + i];
        leaf_counts_[c] = a == 1 ? yes : totals_[which][c] - yes;
      }
      out.leaf[a][i] = cost(leaf_counts_.data());
    }
  }
}

void SideFold::two_class_errors(const WholePairs& whole, Ticker& ticker) {
  part_.set_index(16);
  SideErrors errors;
  for (int which = 0; which < 2; ++which) {
    index_[which].resize(stride_);
    for (std::size_t j = 0; j < stride_; ++j)
      index_[which][j] = (counts_[which][j] << 16) + counts_[which][stride_ + j];
    PairErrors& side = which == 0 ? errors.counted : errors.rest;
    side = {index_[which].data(),
            (totals_[which][0] << 16) + totals_[which][1],
            static_cast<std::int32_t>(part_.min_leaf()),
            0,
            {error_[which][0].data(), error_[which][1].data()},
            {nullptr, nullptr}};
  }
  for (std::size_t i = 0; i + 1 < n_; i += kPairRows) {
    errors.whole = whole.rows(i);
    errors.whole_stride = whole.width(i);
    part_.side_errors(i, errors);
    ticker.tick(part_, kPairRows);
  }
}

void SideFold::any_errors(const WholePairs& whole, Ticker& ticker) {
  const std::size_t n_classes = part_.table().n_classes();
  rest_.resize(n_classes * stride_);
  const auto counts = [&](int which) {
    return PairCounts{n_classes,
                      counts_[which].data(),
                      totals_[which].data(),
                      total_of_[which].data(),
                      total_[which],
                      static_cast<std::int32_t>(part_.min_leaf()),
                      stride_};
  };
  const PairCounts here = counts(0), there = counts(1);
  std::int32_t* const best[2][2] = {{error_[0][0].data(), error_[0][1].data()},
                                    {error_[1][0].data(), error_[1][1].data()}};
  const auto fold = part_.kernel().fold_errors;
  for (std::size_t i = 0; i + 1 < n_; ++i) {
    const std::int32_t* pairs = part_.next_pair_counts(i, pairs_);
    fold(here, pairs, i, n_, best[0]);
    const std::size_t first = i / kPairRows * kPairRows, width = whole.width(i), band = i / 16 * 16;
    const std::int32_t* row = whole.rows(first) + (i - first) * n_classes * width;
    for (std::size_t c = 0; c < n_classes; ++c)
      for (std::size_t j = std::max(band, (i + 1) / 16 * 16); j < stride_; ++j)
        rest_[c * stride_ + j] = row[c * width + j] - pairs[c * stride_ + j];
    fold(there, rest_.data(), i, n_, best[1]);
    ticker.tick(part_, 2);
  }
}

}  // namespace everytree
