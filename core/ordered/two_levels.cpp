#include "ordered/two_levels.hpp"

#include "kernels/kernels.hpp"

#include <numeric>

namespace everytree::ordered {

// The cuts of a column for a part: those of the frame, and how many rows of the part come before each.
class TwoLevels::View {
 public:
  View(TwoLevels& own, Part& part, std::size_t f) : cuts_(part.frame().cuts(f)), unit_(own.p_.unit), f_(f) {
    Frame& frame = part.frame();
    const LaneShape shape = frame.shape();
    own.runs_.resize(std::max(own.runs_.size(), shape.places()));
    own.before_.resize(std::max<std::size_t>(own.before_.size(), shape.segments * 64));
    const std::uint64_t* rows = part.rows(f);
    frame.kernel().count_runs(rows, rows, 0, shape, own.runs_.data());
    std::uint32_t sum = 0;
    for (std::size_t g = 0; g < shape.segments; ++g) {
      const std::uint8_t* last = own.runs_.data() + ((g + 1) * shape.length - 1) * 64;
      for (std::size_t lane = 0; lane < 64; ++lane) {
        own.before_[g * 64 + lane] = sum;
        sum += last[lane];
      }
    }
    runs_ = own.runs_.data();
    before_ = own.before_.data();
  }
  std::ptrdiff_t size() const { return static_cast<std::ptrdiff_t>(cuts_.rank.size()); }
  std::int64_t weight(std::ptrdiff_t k) const {
    const auto at = static_cast<std::size_t>(k);
    return before_[cuts_.lane[at]] + runs_[cuts_.place[at]];
  }
  Value reach(std::ptrdiff_t k) const { return unit_ * weight(k); }
  std::uint32_t rank(std::ptrdiff_t k) const { return cuts_.rank[static_cast<std::size_t>(k)]; }
  std::size_t column() const { return f_; }

 private:
  const Frame::Cuts& cuts_;
  Value unit_;
  std::size_t f_;
  const std::uint8_t* runs_ = nullptr;
  const std::uint32_t* before_ = nullptr;
};

// The cuts that leave min_leaf rows of the side below and above.
void TwoLevels::side_cuts(const std::uint64_t* rows, int side, const std::uint64_t* may, Frame& frame,
                          std::uint64_t* cuts) {
  const LaneShape shape = frame.shape();
  const std::size_t length = shape.length;
  const std::uint64_t flip = side == 1 ? 0 : ~std::uint64_t{0};
  const std::int64_t least = min_leaf_, total = n_[side];
  side_runs_.resize(std::max(side_runs_.size(), shape.places()));
  frame.kernel().count_runs(rows, sides_.data(), flip, shape, side_runs_.data());
  std::int64_t before = 0;
  for (std::size_t g = 0; g < shape.segments; ++g) {
    const std::size_t first = g * length, stop = first + length;
    const std::uint8_t* last = side_runs_.data() + (stop - 1) * 64;
    std::uint64_t inside = 0;  // lanes whose every place is allowed; others are walked
    std::fill(cuts + first, cuts + stop, 0);
    for (std::size_t lane = 0; lane < 64; ++lane) {
      const std::int64_t after = before + last[lane];
      if (before >= least && total - after >= least) {
        inside |= std::uint64_t{1} << lane;
      } else if (after >= least && total - before >= least) {
        for (std::size_t s = first; s < stop; ++s) {
          const std::int64_t count = before + side_runs_[s * 64 + lane];
          if (count >= least && total - count >= least) cuts[s] |= std::uint64_t{1} << lane;
        }
      }
      before = after;
    }
    for (std::size_t s = first; s < stop; ++s) cuts[s] = (cuts[s] | inside) & may[s];
  }
}

// More than two classes: the most rows of the side that two leaves get right, or `enough`; −1 if there is no cut.
std::int64_t TwoLevels::most_right(Frame& frame, std::size_t g, const std::uint64_t* rows, int side,
                                   const std::uint64_t* cuts, std::int64_t enough) {
  const std::int64_t* counts = counts_[side].data();
  const std::uint64_t flip = side == 1 ? 0 : ~std::uint64_t{0};
  labels_.clear();
  for (std::size_t c = 0; c < p_.n_classes; ++c)
    if (counts[c] > 0) labels_.push_back(static_cast<std::uint32_t>(c));
  std::sort(labels_.begin(), labels_.end(),
            [&](auto a, auto b) { return counts[a] != counts[b] ? counts[a] > counts[b] : a < b; });
  for (std::size_t i = 0; i < labels_.size(); ++i)
    for (std::size_t j = i + 1; j < labels_.size(); ++j) {
      const std::size_t a = labels_[i], b = labels_[j];
      if (counts[a] + counts[b] <= enough) break;  // no cut is right more often than on all rows of both
      Extremes e;
      frame.kernel().extremes_of_pair(frame.members(g, a), frame.members(g, b), rows, sides_.data(), flip, cuts,
                                      frame.shape(), &e);
      ++n_scans;
      if (e.low > e.high) return -1;
      enough = std::max({enough, counts[b] + e.high, counts[a] - e.low});
    }
  return enough;
}

// Two classes: the best cut by the extremes of a side.
Bound TwoLevels::cost_of(const Extremes& e, int side) const {
  if (e.low > e.high) return {kNever, kNever};
  const Value cost = p_.unit * std::min(counts_[side][1] + e.low, counts_[side][0] - e.high) + 2 * p_.price;
  return {cost, cost};
}

// The best cut of column g for both sides (`sides_`, `counts_`, `n_`); if whole, side 1 is all there is.
void TwoLevels::splits(Part& part, std::size_t g, const std::uint64_t* rows, const Value known[2], bool whole,
                       Split& out) {
  Frame& frame = part.frame();
  const std::uint64_t* may = frame.may(g);
  const Value unit = p_.unit, leaves = 2 * p_.price;
  const bool limited = min_leaf_ > 1;
  for (int relaxed = limited ? 1 : 0; relaxed >= 0; --relaxed) {
    const std::uint64_t* cuts[2] = {may, may};
    if (limited && !relaxed)
      for (int side = whole ? 1 : 0; side < 2; ++side) {
        allowed_[side].resize(std::max(allowed_[side].size(), frame.steps()));
        side_cuts(rows, side, may, frame, allowed_[side].data());
        cuts[side] = allowed_[side].data();
      }
    const auto put = [&](int side, Value cost) { (relaxed ? out.side[side].relaxed : out.side[side].cost) = cost; };
    if (p_.n_classes == 2) {
      Extremes e[2];
      frame.kernel().extremes_of_sides(frame.signs(g), rows, sides_.data(), cuts[1], cuts[0], frame.shape(), e);
      ++n_scans;
      for (int side = whole ? 1 : 0; side < 2; ++side) put(side, cost_of(e[side], side).cost);
    } else {
      for (int side = whole ? 1 : 0; side < 2; ++side) {
        const Value left = known[side] - leaves;  // fewer errors than left / unit are wanted
        const std::int64_t n = n_[side];
        const std::int64_t enough = left <= 0 ? n : std::max<std::int64_t>(0, n - (left + unit - 1) / unit);
        const std::int64_t right = most_right(frame, g, rows, side, cuts[side], enough);
        put(side, right < 0 ? kNever : unit * (n - right) + leaves);
      }
    }
  }
  if (!limited)
    for (Bound& side : out.side) side.relaxed = side.cost;
}

Bound TwoLevels::one_level(Part& part, std::vector<Bound>& known) {
  const std::size_t steps = part.frame().steps();
  if (sides_.size() < steps) sides_.resize(steps);
  counts_[1] = part.counts();
  n_[1] = part.n();
  Bound best{part.leaf(), part.leaf()};
  for (std::size_t g = 0; g < p_.n_columns; ++g) {
    const std::uint64_t* rows = part.rows(g);
    std::copy_n(rows, steps, sides_.begin());
    const Value least[2] = {kNever, best.cost};
    Split split;
    splits(part, g, rows, least, true, split);
    known[g] = split.side[1];
    known[g].relaxed = std::min(known[g].relaxed, part.leaf() + p_.price);
    best = lower(best, known[g]);
  }
  return best;
}

Bound TwoLevels::solve(Part& part, Value limit, std::vector<Bound>& known, Steps& tree) {
  ++n_solved;
  const Value leaf = part.leaf();
  tree.assign(1, Step{});
  // A leaf without errors, or no dearer than two: no test helps.
  if (leaf <= 2 * p_.price || part.n() < 2) return {leaf, leaf};
  whole_.resize(p_.n_columns);
  Value best = std::min(limit, leaf);
  const Bound whole = one_level(part, whole_);
  if (whole.cost < best) {
    best = whole.cost;
    tree.assign(1, Step{-2, 0});
  }
  set_ends(low_, high_, whole, whole_, p_.price, p_.unit * part.n());
  order_.resize(p_.n_columns);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    return whole_[a].cost != whole_[b].cost ? whole_[a].cost < whole_[b].cost : a < b;
  });
  for (const std::size_t f : order_) {
    if (known[f].cost >= best) continue;
    View view(*this, part, f);
    std::ptrdiff_t a, b;
    Bound column = begin_column(view, p_.price, min_leaf_, part.n(), low_, high_, a, b);
    high_.cut = view.size();
    search_between(view, best, column, nodes_, low_, high_, a, b,
                   [&](const Node& i, const Node& j, Node& t, std::ptrdiff_t first, std::ptrdiff_t last) {
                     // Class counts of the sides: the rows up to the cut in the order of its own column.
                     Frame& frame = part.frame();
                     const std::uint64_t* rows = part.rows(f);
                     const std::size_t steps = frame.steps();
                     frame.sides(f, view.rank(t.cut), f, rows, sides_.data());
                     n_[1] = view.weight(t.cut);
                     n_[0] = part.n() - n_[1];
                     for (auto& counts : counts_) counts.resize(p_.n_classes);
                     const std::size_t counted = p_.n_classes == 2 ? 1 : p_.n_classes;
                     for (std::size_t c = 0; c < counted; ++c) {
                       counts_[1][c] =
                           static_cast<std::int64_t>(kernels().count_and(sides_.data(), frame.members(f, c), steps));
                     }
                     if (counted == 1) counts_[1][1] = n_[1] - counts_[1][0];
                     for (std::size_t c = 0; c < p_.n_classes; ++c) counts_[0][c] = part.counts()[c] - counts_[1][c];
                     const Value leaves[2] = {p_.leaf(counts_[0].data()), p_.leaf(counts_[1].data())};
                     set_between(t, i, j, leaves, min_leaf_ == 1);
                     t.side[0].cost = leaves[0];  // to begin with
                     t.side[1].cost = leaves[1];
                     const Value wanted = best + std::max(view.reach(last) - t.reach, t.reach - view.reach(first));
                     evaluate(part, view, best, wanted, t, tree);
                   });
    known[f] = higher(known[f], column);
    if (min_leaf_ == 1) tie(known[f], whole.relaxed + p_.price);
  }
  Bound found{std::min(leaf, whole.cost), std::min(leaf, whole.relaxed)};
  for (const Bound& b : known) found = lower(found, b);
  return found;
}

// Columns are scanned, on both sides at once, as long as one that was not scanned may be the best of a side and the cut
// may cost less than `wanted`; t.side[·].cost has the leaves.
void TwoLevels::evaluate(Part& part, View& view, Value& least, Value wanted, Node& t, Steps& tree) {
  ++n_cuts;
  if ((++ticks_ & 63) == 0) control_.check(true, "searching every cut-point", 0, 0);
  Frame& frame = part.frame();
  const std::size_t d = p_.n_columns;
  const std::uint32_t rank = view.rank(t.cut);
  const Value leaves[2] = {t.side[0].cost, t.side[1].cost};
  Value best[2] = {leaves[0], leaves[1]};
  bool exact = false;
  Value lowest[2];
  for (;;) {
    // The best of each side by what is known; of equals one that was scanned.
    std::size_t at[2] = {d, d};
    for (int side = 0; side < 2; ++side) {
      const Bound* first = t.first[side].data();
      lowest[side] = best[side];
      for (std::size_t g = 0; g < d; ++g)
        if (first[g].cost < lowest[side]) {
          lowest[side] = first[g].cost;
          at[side] = g;
        }
    }
    if (lowest[0] + lowest[1] >= wanted && (at[0] != d || at[1] != d)) break;
    if (at[0] == d && at[1] == d) {
      exact = true;
      break;
    }
    // What was best at the last cut first: a good tree leaves fewer pairs of classes to look at.
    std::size_t g = at[1] != d ? at[1] : at[0];
    for (int side = 0; side < 2; ++side)
      if (t.first[side][winner_[side]].cost < best[side]) g = winner_[side];
    const std::uint64_t* rows = part.rows(g);
    Split split;
    if (p_.n_classes == 2 && min_leaf_ == 1 && !p_.wide()) {
      Extremes e[2];
      frame.kernel().extremes_at16(frame.codes(view.column(), g), static_cast<std::uint16_t>(rank), frame.signs(g),
                                   rows, frame.may(g), frame.shape(), e);
      ++n_scans;
      for (int side = 0; side < 2; ++side) split.side[side] = cost_of(e[side], side);
    } else {
      frame.sides(view.column(), rank, g, rows, sides_.data());
      splits(part, g, rows, best, false, split);
    }
    for (int side = 0; side < 2; ++side) {
      split.side[side].relaxed = std::min(split.side[side].relaxed, leaves[side] + p_.price);
      t.first[side][g] = higher(t.first[side][g], split.side[side]);
      if (split.side[side].cost < best[side]) {
        best[side] = split.side[side].cost;
        winner_[side] = g;
      }
    }
  }
  for (int side = 0; side < 2; ++side) {
    Value relaxed = leaves[side];
    for (const Bound& b : t.first[side]) relaxed = std::min(relaxed, b.relaxed);
    t.side[side] = {lowest[side], std::max(relaxed, t.side[side].relaxed)};
    if (min_leaf_ == 1) tie(t.side[side]);
  }
  const Value cost = lowest[0] + lowest[1];
  if (!exact || cost >= least) return;
  least = cost;
  tree.assign(1, Step{static_cast<std::int32_t>(view.column()), rank});
  tree.push_back(Step{-2, 0});
  tree.push_back(Step{-2, 0});
}

}  // namespace everytree::ordered
