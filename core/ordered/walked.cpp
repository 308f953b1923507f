#include "ordered/walked.hpp"

#include <numeric>

namespace everytree::ordered {

void WalkedLevels::splits(const Cover& cover, std::size_t g, const Sides& sides, Bound out[2], Best* best) {
  const std::uint32_t *order = cover.order(g), *rank = p_.column(g), *above = p_.column(sides.f);
  const std::size_t n_classes = p_.n_classes;
  const int from = sides.whole ? 1 : 0;
  out[0] = out[1] = Bound{kNever, kNever};
  for (std::size_t a = 0; a < n_classes; ++a)
    for (std::size_t b = a + 1; b < n_classes; ++b) {
      ++n_scans;
      Value sum[2] = {0, 0}, all_a[2] = {0, 0}, all_b[2] = {0, 0};
      std::int64_t weight[2] = {0, 0}, wide[2] = {0, 0};
      for (int side = from; side < 2; ++side)
        for (std::size_t c = 0; c < n_classes; ++c) {
          all_a[side] += sides.counts[side][c] * p_.costs[c * n_classes + a];
          all_b[side] += sides.counts[side][c] * p_.costs[c * n_classes + b];
        }
      for (std::size_t p = 0; p + 1 < cover.n; ++p) {
        const std::uint32_t row = order[p];
        const int in = sides.whole || above[row] <= sides.rank ? 1 : 0;
        const Value* cost = p_.costs.data() + p_.classes[row] * n_classes;
        if (!cover.ghost(row)) sum[in] += p_.weights[row] * (cost[a] - cost[b]);
        weight[in] += p_.weights[row];
        if (above[row] > sides.wide[0]) wide[0] += p_.weights[row];
        if (above[row] <= sides.wide[1]) wide[1] += p_.weights[row];
        if (rank[order[p + 1]] == rank[row]) continue;
        for (int side = from; side < 2; ++side) {
          const Value here = std::min(all_b[side] + sum[side], all_a[side] - sum[side]) + 2 * p_.price;
          if (min_leaf_ == 1 || (wide[side] >= min_leaf_ && sides.wide_weight[side] - wide[side] >= min_leaf_))
            out[side].relaxed = std::min(out[side].relaxed, here);
          if (here < out[side].cost && weight[side] >= min_leaf_ && sides.weight[side] - weight[side] >= min_leaf_) {
            out[side].cost = here;
            if (best != nullptr && side == 1) *best = {here, rank[row]};
          }
        }
      }
    }
}

// Where an error costs the same everywhere the larger class of each part is its label: one walk up for the parts below
// each cut, one down for those above.
WalkedLevels::Best WalkedLevels::best_plain_cut(const Cover& cover, std::size_t g) const {
  const std::uint32_t *order = cover.order(g), *rank = p_.column(g);
  std::vector<std::int64_t> counts(p_.n_classes, 0);
  std::vector<std::int32_t> above(cover.n + 1, 0);
  std::int64_t real = 0;
  for (std::size_t p = cover.n; p-- > 0;) {
    above[p] = above[p + 1];
    if (cover.ghost(order[p])) continue;
    above[p] = std::max(above[p], static_cast<std::int32_t>(++counts[p_.classes[order[p]]]));
    ++real;
  }
  std::fill(counts.begin(), counts.end(), 0);
  Best best;
  std::int64_t below = 0;
  for (std::size_t p = 0; p + 1 < cover.n; ++p) {
    if (!cover.ghost(order[p])) below = std::max(below, ++counts[p_.classes[order[p]]]);
    if (rank[order[p + 1]] == rank[order[p]]) continue;
    const auto n = static_cast<std::int64_t>(p + 1), all = static_cast<std::int64_t>(cover.n);
    if (n < min_leaf_ || all - n < min_leaf_) continue;
    const Value cost = p_.unit * (real - below - above[p + 1]) + 2 * p_.price;
    if (cost < best.cost) best = {cost, rank[order[p]]};
  }
  return best;
}

WalkedLevels::Best WalkedLevels::best_cut(const Cover& cover, std::size_t g) {
  if (p_.plain()) return best_plain_cut(cover, g);
  Sides all;
  all.counts[1] = cover.counts;
  all.weight[1] = cover.weight;
  Bound out[2];
  Best best;
  splits(cover, g, all, out, &best);
  return best;
}

Bound WalkedLevels::one_level(const Cover& cover, std::vector<Bound>& known) {
  sides_.whole = true;
  sides_.counts[1] = cover.counts;
  sides_.weight[1] = cover.weight;
  Bound best{cover.leaf, cover.leaf};
  for (std::size_t g = 0; g < p_.n_columns; ++g) {
    Bound out[2];
    splits(cover, g, sides_, out);
    out[1].relaxed = std::min(out[1].cost, cover.leaf + p_.price);
    known[g] = out[1];
    best = lower(best, out[1]);
  }
  return best;
}

Bound WalkedLevels::solve(const Cover& cover, Value limit, std::vector<Bound>& known, Steps& tree) {
  ++n_solved;
  tree.assign(1, Step{});
  if (cover.leaf <= 2 * p_.price || cover.n < 2) return {cover.leaf, cover.leaf};
  whole_.resize(p_.n_columns);
  Value best = std::min(limit, cover.leaf);
  const Bound whole = one_level(cover, whole_);
  if (whole.cost < best) {
    best = whole.cost;
    tree.assign(1, Step{-2, 0});
  }
  set_ends(low_, high_, whole, whole_, p_.price, reach_of(p_, cover));
  order_.resize(p_.n_columns);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    return whole_[a].cost != whole_[b].cost ? whole_[a].cost < whole_[b].cost : a < b;
  });
  for (const std::size_t f : order_) {
    if (known[f].cost >= best) continue;
    cuts_.find(p_, cover, f);
    std::ptrdiff_t a, b;
    Bound column = begin_column(cuts_, p_.price, min_leaf_, cover.weight, low_, high_, a, b);
    high_.cut = cuts_.size();
    search_between(cuts_, best, known[f], column, nodes_, low_, high_, a, b,
                   [&](const Node& i, const Node& j, Node& t, std::ptrdiff_t first, std::ptrdiff_t last) {
                     ++n_cuts;
                     if ((++ticks_ & 7) == 0) control_.check(calling_, kStage, 0, 0);
                     sides_.whole = false;
                     sides_.f = f;
                     sides_.rank = cuts_.rank(t.cut);
                     cuts_.counts(t.cut, cover, sides_.counts);
                     sides_.weight[1] = cuts_.weight(t.cut);
                     sides_.weight[0] = cover.weight - sides_.weight[1];
                     sides_.wide[0] = cuts_.rank(first);
                     sides_.wide[1] = cuts_.rank(last);
                     sides_.wide_weight[0] = cover.weight - cuts_.weight(first);
                     sides_.wide_weight[1] = cuts_.weight(last);
                     const Value leaf[2] = {p_.leaf(sides_.counts[0].data()), p_.leaf(sides_.counts[1].data())};
                     set_between(t, i, j, leaf, min_leaf_ == 1);
                     Bound least[2] = {{leaf[0], leaf[0]}, {leaf[1], leaf[1]}};
                     for (std::size_t g = 0; g < p_.n_columns; ++g) {
                       if (t.first[0][g].cost < least[0].cost || t.first[1][g].cost < least[1].cost) {
                         Bound out[2];
                         splits(cover, g, sides_, out);
                         for (int side = 0; side < 2; ++side) {
                           if (min_leaf_ == 1) out[side].relaxed = std::min(out[side].relaxed, leaf[side] + p_.price);
                           t.first[side][g] = out[side];
                           least[side].cost = std::min(least[side].cost, out[side].cost);
                         }
                       }
                       for (int side = 0; side < 2; ++side)
                         least[side].relaxed = std::min(least[side].relaxed, t.first[side][g].relaxed);
                     }
                     t.side[0] = {least[0].cost, std::max(least[0].relaxed, t.side[0].relaxed)};
                     t.side[1] = {least[1].cost, std::max(least[1].relaxed, t.side[1].relaxed)};
                     if (min_leaf_ == 1)
                       for (Bound& side : t.side) tie(side);
                     const Value cost = least[0].cost + least[1].cost;
                     if (cost >= best) return;
                     best = cost;
                     tree.assign(1, Step{static_cast<std::int32_t>(f), sides_.rank});
                     tree.push_back(Step{-2, 0});
                     tree.push_back(Step{-2, 0});
                   });
    raise(known[f], column, min_leaf_ == 1, whole.relaxed + p_.price);
  }
  Bound found{std::min(cover.leaf, whole.cost), std::min(cover.leaf, whole.relaxed)};
  for (const Bound& b : known) found = lower(found, b);
  return found;
}

}  // namespace everytree::ordered
