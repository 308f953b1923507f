// A good tree to begin with: the cut that leaves the purest sides, trees of its sides in the same way, two levels at
// the end solved exactly; then, as long as it helps, the best cut for the trees as they are, and new trees for its
// sides.
#include <algorithm>
#include <cmath>

#include "ordered/solver.hpp"

namespace everytree::ordered {

namespace {
constexpr double kNoPurity = -1e300;
}

// The best of each column by a measure of purity, of all cuts that leave min_leaf examples on either side; the best
// first.
std::vector<Solver::First> Solver::first_cuts(const Cover& cover, Measure measure) const {
  const auto each = [&](double n) { return measure == Measure::gini ? n * n : n > 0 ? n * std::log(n) : 0.0; };
  const auto purity = [&](const std::vector<std::int64_t>& counts) {
    if (measure == Measure::cost) return -static_cast<double>(p_.leaf(counts.data()));
    double pure = 0, all = 0;
    for (std::size_t c = 0; c < p_.n_classes; ++c) {
      const auto n = static_cast<double>(counts[c] * p_.most[c]);
      pure += each(n);
      all += n;
    }
    return measure == Measure::entropy ? pure - each(all) : all > 0 ? pure / all : 0.0;
  };
  std::vector<First> firsts;
  CutList cuts;
  std::vector<std::int64_t> counts[2];
  for (std::size_t f = 0; f < p_.n_columns; ++f) {
    control_.check_stop(true, "growing a greedy tree");  // no clock: a tree is grown after the limit too
    cuts.find(p_, cover, f);
    First first{kNoPurity, f, 0};
    for (std::ptrdiff_t k = 0; k < cuts.size(); ++k) {
      const std::int64_t one = cuts.weight(k), zero = cover.weight - one;
      if (one < min_leaf_ || zero < min_leaf_) continue;
      cuts.counts(k, cover, counts);
      const double pure = purity(counts[1]) + purity(counts[0]);
      if (pure > first.purity) first = {pure, f, k};
    }
    if (first.purity > kNoPurity) firsts.push_back(first);
  }
  std::stable_sort(firsts.begin(), firsts.end(), [](const First& x, const First& y) { return x.purity > y.purity; });
  return firsts;
}

namespace {
// The leaf that a row comes to; `at` is where the tree begins.
std::size_t leaf_of(const Problem& p, const Steps& tree, const std::vector<std::size_t>& second, std::size_t at,
                    std::uint32_t row) {
  while (tree[at].column >= 0)
    at = p.column(static_cast<std::size_t>(tree[at].column))[row] <= tree[at].rank ? second[at] : at + 1;
  return at;
}

// Where the second side of each test begins.
std::size_t find_seconds(const Steps& tree, std::size_t at, std::vector<std::size_t>& second) {
  if (tree[at].column < 0) return at + 1;
  second[at] = find_seconds(tree, at + 1, second);
  return find_seconds(tree, second[at], second);
}
}  // namespace

// The cut that costs least if its sides keep the trees that they have: leaves, with the answers that they give now, for
// all rows. Leaves that become too small are met when the trees are made anew.
Value Solver::better_cut(const Cover& cover, const Steps& tree, std::size_t& column, std::ptrdiff_t& cut) const {
  std::vector<std::size_t> second(tree.size(), 0);
  find_seconds(tree, 0, second);
  const std::uint32_t* rows = cover.order(0);
  std::vector<std::vector<std::int64_t>> counts(tree.size());
  for (std::size_t r = 0; r < cover.n; ++r) {
    auto& count = counts[leaf_of(p_, tree, second, 0, rows[r])];
    count.resize(p_.n_classes);
    count[p_.classes[rows[r]]] += p_.weights[rows[r]];
  }
  std::vector<std::size_t> says(tree.size(), 0);
  for (std::size_t at = 0; at < tree.size(); ++at) {
    if (counts[at].empty()) continue;
    Value least = kNever;
    for (std::size_t k = 0; k < p_.n_classes; ++k) {
      Value sum = 0;
      for (std::size_t c = 0; c < p_.n_classes; ++c) sum += counts[at][c] * p_.costs[c * p_.n_classes + k];
      if (sum < least) {
        least = sum;
        says[at] = k;
      }
    }
  }
  // gain[row]: what it costs on side 1 more than on side 0.
  std::vector<Value> gain(p_.n_rows, 0);
  Value zero = 0;
  for (std::size_t r = 0; r < cover.n; ++r) {
    const std::uint32_t row = rows[r];
    const Value* cost = p_.costs.data() + p_.classes[row] * p_.n_classes;
    const Value at0 = p_.weights[row] * cost[says[leaf_of(p_, tree, second, 1, row)]];
    const Value at1 = p_.weights[row] * cost[says[leaf_of(p_, tree, second, second[0], row)]];
    gain[row] = at1 - at0;
    zero += at0;
  }
  Value best = kNever;
  CutList cuts;
  for (std::size_t f = 0; f < p_.n_columns; ++f) {
    const std::uint32_t* order = cover.order(f);
    cuts.find(p_, cover, f);
    Value sum = zero;
    std::size_t p = 0;
    for (std::ptrdiff_t k = 0; k < cuts.size(); ++k) {
      for (; p < cuts.rows(k); ++p) sum += gain[order[p]];
      if (sum < best && cuts.weight(k) >= min_leaf_ && cover.weight - cuts.weight(k) >= min_leaf_) {
        best = sum;
        column = f;
        cut = k;
      }
    }
  }
  return best;
}

// The purest cut at every node, the best one at the lowest tests, pruned where a leaf costs no more: quick, and no
// limit ends it.
Value Solver::greedy(const Cover& cover, int depth, Measure measure, Steps& tree) const {
  const std::vector<First> firsts = depth == 0 || cover.leaf <= 2 * p_.price
                                        ? std::vector<First>{}
                                        : first_cuts(cover, depth == 1 ? Measure::cost : measure);
  const std::size_t begin = tree.size();
  tree.push_back(Step{});
  if (firsts.empty()) return cover.leaf;
  CutList cuts;
  cuts.find(p_, cover, firsts[0].column);
  tree[begin] = {static_cast<std::int32_t>(firsts[0].column), cuts.rank(firsts[0].cut)};
  Value cost = 0;
  for (const int side : {0, 1}) {
    std::vector<std::uint32_t> rows;
    Cover part;
    cuts.side(p_, cover, firsts[0].cut, side, rows, part);
    cost += greedy(part, depth - 1, measure, tree);
  }
  if (cost < cover.leaf) return cost;
  tree.resize(begin);
  tree.push_back(Step{});
  return cover.leaf;
}

Value Solver::dive_below(const Cover& cover, int depth, std::size_t column, std::ptrdiff_t cut, Steps& tree) {
  CutList cuts;
  cuts.find(p_, cover, column);
  tree.assign(1, Step{static_cast<std::int32_t>(column), cuts.rank(cut)});
  Value cost = 0;
  for (const int side : {0, 1}) {
    std::vector<std::uint32_t> rows;
    Cover part;
    Steps below;
    cuts.side(p_, cover, cut, side, rows, part);
    cost += dive(part, depth - 1, below);
    tree.insert(tree.end(), below.begin(), below.end());
  }
  return cost;
}

Value Solver::dive(const Cover& cover, int depth, Steps& tree) {
  if (depth == depth_) {
    Steps grown;  // whole or not at all: Ctrl-C may end it half-way
    greedy(cover, depth, Measure::gini, grown);
    tree = std::move(grown);  // if a limit ends the dive, this is the answer
  }
  if (depth <= 2) {
    std::vector<Bound> known(p_.n_columns);
    Steps open;
    const Value cost = solve(cover, depth, kNever, known, open).cost;
    tree.clear();
    std::size_t at = 0;
    complete(cover, open, at, tree);
    return cost;
  }
  if (depth != depth_) tree.assign(1, Step{});
  Value best = cover.leaf;
  if (best <= 2 * p_.price) return best;
  constexpr int kRounds = 8;
  // Where all of the search is short, one column is enough: with more of them bank at depth 4 took 14 ms, not 3.
  constexpr std::size_t kColumns = 10, kFewCells = 100000;
  constexpr int kDeep = 5;
  const bool few = p_.n_rows * p_.n_columns < kFewCells && depth_ < kDeep;
  std::size_t left = depth == depth_ && !few ? kColumns : 1;
  Steps here, other;
  for (const First& first : first_cuts(cover, Measure::gini)) {
    if (left-- == 0) break;
    std::size_t column = first.column;
    std::ptrdiff_t cut = first.cut;
    Value least = kNever;
    for (int round = 0; round < kRounds; ++round) {
      const Value cost = dive_below(cover, depth, column, cut, other);
      if (cost >= least) break;
      least = cost;
      here = other;
      if (least <= p_.price) break;
      const std::size_t last_column = column;
      const std::ptrdiff_t last_cut = cut;
      better_cut(cover, here, column, cut);
      if (column == last_column && cut == last_cut) break;
    }
    if (least < best) {
      best = least;
      tree = here;
    }
    if (best <= 2 * p_.price) break;
  }
  return best;
}

// The same from a tree on, with exact trees of the sides.
void Solver::refine(const Cover& cover, int depth, Answer& answer) {
  Step root = answer.tree[0];
  while (root.column >= 0 && answer.cost > 2 * p_.price) {
    CutList cuts;
    cuts.find(p_, cover, static_cast<std::size_t>(root.column));
    std::ptrdiff_t cut = first_not(0, cuts.size() - 1, [&](std::ptrdiff_t k) { return cuts.rank(k) < root.rank; });
    Steps tree(1, root);
    Value cost = 0;
    for (const int side : {0, 1}) {
      std::vector<std::uint32_t> rows;
      Cover part;
      Steps below;
      std::vector<Bound> known(p_.n_columns);
      cuts.side(p_, cover, cut, side, rows, part);
      cost += solve(part, depth - 1, answer.cost - cost, known, below).cost;
      tree.insert(tree.end(), below.begin(), below.end());
    }
    if (cost >= answer.cost) return;
    offer(tree, answer);
    std::size_t column = p_.n_columns;
    better_cut(cover, answer.tree, column, cut);
    if (column == p_.n_columns) return;
    cuts.find(p_, cover, column);
    const Step next{static_cast<std::int32_t>(column), cuts.rank(cut)};
    if (next.column == root.column && next.rank == root.rank) return;
    root = next;
  }
}

}  // namespace everytree::ordered
