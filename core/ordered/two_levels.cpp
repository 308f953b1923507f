#include "ordered/two_levels.hpp"

#include "kernels/kernels.hpp"

#include <numeric>

namespace everytree::ordered {

namespace {
constexpr std::size_t kSteps = 1 << 17;  // steps of scans between two looks at the clock: 6 ms with portable kernels
}  // namespace

// The cuts of a column for a part: those of the frame, and how many rows of the part come before each.
class TwoLevels::View {
 public:
  View(TwoLevels& own, Part& part, std::size_t f)
      : cuts_(part.frame().cuts(f)), unit_(own.p_.unit), f_(f), rows_(own.runs_[0]), real_(own.runs_[part.ghosts()]) {
    count(part.frame(), part.rows(f), own.runs_[0]);
    if (part.ghosts()) count(part.frame(), part.real(f), own.runs_[1]);
  }
  std::ptrdiff_t size() const { return static_cast<std::ptrdiff_t>(cuts_.rank.size()); }
  std::int64_t weight(std::ptrdiff_t k) const { return up_to(k, rows_); }
  std::int64_t real(std::ptrdiff_t k) const { return up_to(k, real_); }
  Value reach(std::ptrdiff_t k) const { return unit_ * real(k); }
  std::uint32_t rank(std::ptrdiff_t k) const { return cuts_.rank[static_cast<std::size_t>(k)]; }
  std::size_t column() const { return f_; }

 private:
  static void count(const Frame& frame, const std::uint64_t* rows, Runs& runs) {
    const LaneShape shape = frame.shape();
    runs.in_lane.resize(std::max(runs.in_lane.size(), shape.places()));
    runs.before.resize(std::max<std::size_t>(runs.before.size(), shape.segments * 64));
    frame.kernel().count_runs(rows, rows, 0, shape, runs.in_lane.data());
    std::uint32_t sum = 0;
    for (std::size_t g = 0; g < shape.segments; ++g) {
      const std::uint8_t* last = runs.in_lane.data() + ((g + 1) * shape.length - 1) * 64;
      for (std::size_t lane = 0; lane < 64; ++lane) {
        runs.before[g * 64 + lane] = sum;
        sum += last[lane];
      }
    }
  }
  std::int64_t up_to(std::ptrdiff_t k, const Runs& runs) const {
    const auto at = static_cast<std::size_t>(k);
    return runs.before[cuts_.lane[at]] + runs.in_lane[cuts_.place[at]];
  }
  const Frame::Cuts& cuts_;
  Value unit_;
  std::size_t f_;
  const Runs &rows_, &real_;
};

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
      scanned(frame);
      if (e.low > e.high) return -1;
      enough = std::max({enough, counts[b] + e.high, counts[a] - e.low});
    }
  return enough;
}

// Of hundreds of classes one cut is scanned for thousands of pairs, so that the clock is looked at in between.
void TwoLevels::scanned(const Frame& frame) {
  ++n_scans;
  work_ += frame.steps();
  if (work_ < kSteps) return;
  work_ = 0;
  control_.check(calling_, kStage, 0, 0);
}

// Two classes: the best cut by the extremes of a side.
Value TwoLevels::cost_of(const Extremes& e, int side) const {
  if (e.low > e.high) return kNever;
  return p_.unit * std::min(counts_[side][1] + e.low, counts_[side][0] - e.high) + 2 * p_.price;
}

// The best cut of column g for both sides: of the rows `real` those in `sides_`, and the others (`counts_`, `n_`); if
// whole, side 1 is all there is. `sized` says by which rows the leaves of a side must be large enough.
void TwoLevels::splits(Part& part, std::size_t g, const std::uint64_t* real, const Sized& sized, const Value known[2],
                       bool whole, Value out[2]) {
  Frame& frame = part.frame();
  const std::uint64_t* may = frame.may(g);
  const Value unit = p_.unit, leaves = 2 * p_.price;
  const std::uint64_t* cuts[2] = {may, may};
  if (min_leaf_ > 1)
    for (int side = whole ? 1 : 0; side < 2; ++side) {
      allowed_[side].resize(std::max(allowed_[side].size(), frame.steps()));
      frame.kernel().sized_cuts(part.rows(g), sized.sides[side], side == 1 ? 0 : ~std::uint64_t{0}, may, min_leaf_,
                                sized.n[side], frame.shape(), allowed_[side].data());
      cuts[side] = allowed_[side].data();
    }
  if (p_.n_classes == 2) {
    Extremes e[2];
    frame.kernel().extremes_of_sides(frame.signs(g), real, sides_.data(), cuts[1], cuts[0], frame.shape(), e);
    scanned(frame);
    for (int side = whole ? 1 : 0; side < 2; ++side) out[side] = cost_of(e[side], side);
  } else {
    for (int side = whole ? 1 : 0; side < 2; ++side) {
      const Value left = known[side] - leaves;  // fewer errors than left / unit are wanted
      const std::int64_t n = n_[side];
      const std::int64_t enough = left <= 0 ? n : std::max<std::int64_t>(0, n - (left + unit - 1) / unit);
      const std::int64_t right = most_right(frame, g, real, side, cuts[side], enough);
      out[side] = right < 0 ? kNever : unit * (n - right) + leaves;
    }
  }
}

Bound TwoLevels::one_level(Part& part, std::vector<Bound>& known) {
  const std::size_t steps = part.frame().steps();
  if (sides_.size() < steps) sides_.resize(steps);
  counts_[1] = part.counts();
  n_[1] = part.n_real();
  Bound best{part.leaf(), part.leaf()};
  for (std::size_t g = 0; g < p_.n_columns; ++g) {
    const std::uint64_t* real = part.real(g);
    std::copy_n(real, steps, sides_.begin());
    const Value least[2] = {kNever, best.cost};
    Value split[2];
    splits(part, g, real, {{nullptr, part.rows(g)}, {0, part.n()}}, least, true, split);
    known[g] = {split[1], std::min(split[1], part.leaf() + p_.price)};
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
  set_ends(low_, high_, whole, whole_, p_.price, p_.unit * part.n_real());
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
    search_between(view, best, known[f], column, nodes_, low_, high_, a, b,
                   [&](const Node& i, const Node& j, Node& t, std::ptrdiff_t first, std::ptrdiff_t last) {
                     // Class counts of the sides: the rows up to the cut in the order of its own column.
                     Frame& frame = part.frame();
                     const std::size_t steps = frame.steps();
                     frame.sides(f, view.rank(t.cut), f, part.real(f), sides_.data());
                     n_[1] = view.real(t.cut);
                     n_[0] = part.n_real() - n_[1];
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
                     evaluate(part, view, best, wanted, t, first, last, tree);
                   });
    raise(known[f], column, min_leaf_ == 1, whole.relaxed + p_.price);
  }
  Bound found{std::min(leaf, whole.cost), std::min(leaf, whole.relaxed)};
  for (const Bound& b : known) found = lower(found, b);
  return found;
}

// Column g on both sides of cut t: `sizes` has the cut by which the leaves of each side must be large enough, nullptr
// where they may be of any size.
void TwoLevels::scan(Part& part, const View& view, std::size_t g, const Node& t, const std::ptrdiff_t sizes[2],
                     const Value known[2], Value out[2]) {
  Frame& frame = part.frame();
  const std::size_t f = view.column();
  const std::uint64_t *rows = part.rows(g), *real = part.real(g);
  if (quick() && (min_leaf_ == 1 || sizes == nullptr)) {
    Extremes e[2];
    frame.kernel().extremes_at16(frame.codes(f, g), static_cast<std::uint16_t>(view.rank(t.cut)), frame.signs(g), real,
                                 frame.may(g), frame.shape(), e);
    scanned(frame);
    for (int side = 0; side < 2; ++side) out[side] = cost_of(e[side], side);
    return;
  }
  frame.sides(f, view.rank(t.cut), g, real, sides_.data());
  Sized sized{{sides_.data(), sides_.data()}, {part.n() - view.weight(sizes[0]), view.weight(sizes[1])}};
  if (min_leaf_ > 1)
    for (int side = 0; side < 2; ++side) {
      if (sizes[side] == t.cut && !part.ghosts()) continue;  // those of sides_
      if (side == 1 && sizes[1] == sizes[0]) {
        sized.sides[1] = sized.sides[0];
        continue;
      }
      sized_[side].resize(std::max(sized_[side].size(), frame.steps()));
      frame.sides(f, view.rank(sizes[side]), g, rows, sized_[side].data());
      sized.sides[side] = sized_[side].data();
    }
  splits(part, g, real, sized, known, false, out);
}

// Columns are scanned, on both sides at once, as long as one that was not scanned may be the best of a side and the cut
// may cost less than `wanted`; t.side[·].cost has the leaves. With min_leaf a column is first scanned with leaves of
// any size, which is quick, then with leaves that are large enough at the ends of the interval, first … last, which is
// what neighbours will ask for: either may rule it out.
void TwoLevels::evaluate(Part& part, View& view, Value& least, Value wanted, Node& t, std::ptrdiff_t first_cut,
                         std::ptrdiff_t last_cut, Steps& tree) {
  ++n_cuts;
  if ((++ticks_ & 63) == 0) control_.check(calling_, kStage, 0, 0);
  const std::size_t d = p_.n_columns;
  const std::uint32_t rank = view.rank(t.cut);
  const bool tied = min_leaf_ == 1;
  const std::ptrdiff_t here[2] = {t.cut, t.cut}, ends[2] = {first_cut, last_cut};
  asked_.assign(d, tied || first_cut == last_cut ? kHere : quick() ? kAny : kEnds);
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
    const Sizes asked = static_cast<Sizes>(asked_[g]);
    const bool exactly = asked == kHere;
    Value split[2];
    scan(part, view, g, t, asked == kAny ? nullptr : exactly ? here : ends, best, split);
    asked_[g] = asked == kAny ? kEnds : kHere;
    for (int side = 0; side < 2; ++side) {
      Bound& first = t.first[side][g];
      first.cost = std::max(first.cost, split[side]);
      if (tied) first.relaxed = std::max(first.relaxed, std::min(split[side], leaves[side] + p_.price));
      if (!exactly) first.relaxed = std::max(first.relaxed, split[side]);
      if (exactly && split[side] < best[side]) {
        best[side] = split[side];
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
