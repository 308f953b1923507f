// A good tree to begin with: the cut that leaves the purest sides, trees of its sides in the same way, two levels at
// the end solved exactly; then, as long as it helps, the best cut for the trees as they are, and new trees for its
// sides.
#include <algorithm>

#include "ordered/solver.hpp"

namespace everytree::ordered {

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
    control_.check(true, kStage, 0, 0);
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

Value Solver::dive_below(const Cover& cover, int depth, std::size_t column, std::ptrdiff_t cut, Steps& tree) {
  control_.check(true, kStage, 0, 0);
  control_.check_memory(p_.bytes() + bytes());
  CutList cuts;
  cuts.find(p_, cover, column);
  tree.assign(1, Step{static_cast<std::int32_t>(column), cuts.rank(cut)});
  Value cost = 0;
  for (const int side : {0, 1}) {
    std::vector<std::uint32_t> rows;
    Cover part;
    Found below;
    cuts.side(p_, cover, cut, side, rows, part);
    dive(part, depth - 1, below);
    cost += below.cost;
    tree.insert(tree.end(), below.tree.begin(), below.tree.end());
  }
  return cost;
}

void Solver::dive(const Cover& cover, int depth, Found& found) {
  if (depth <= 2) {
    std::vector<Bound> known(p_.n_columns);
    Steps open;
    found.cost = solve(cover, depth, kNever, known, open).cost;
    found.tree.clear();
    std::size_t at = 0;
    complete(cover, open, at, found.tree);
    return;
  }
  found = {cover.leaf, Steps(1)};
  if (found.cost <= 2 * p_.price) return;
  constexpr int kRounds = 8;
  // Where all of the search is short, one column is enough: with more of them bank at depth 4 took 14 ms, not 3.
  constexpr std::size_t kColumns = 10, kFewCells = 100000;
  constexpr int kDeep = 5;
  const bool few = p_.n_rows * p_.n_columns < kFewCells && depth_ < kDeep;
  std::size_t left = depth == depth_ && !few ? kColumns : 1;
  Steps here, other;
  for (const First& first : first_cuts(cover, Measure::gini, control_.time_limit)) {
    if (left-- == 0) break;
    std::size_t column = first.column;
    std::ptrdiff_t cut = first.cut;
    Value least = kNever;
    for (int round = 0; round < kRounds; ++round) {
      const Value cost = dive_below(cover, depth, column, cut, other);
      if (cost >= least) break;
      least = cost;
      here = other;
      if (least < found.cost) found = {least, here};  // at once, because a limit may end the dive
      if (least <= p_.price) break;
      const std::size_t last_column = column;
      const std::ptrdiff_t last_cut = cut;
      better_cut(cover, here, column, cut);
      if (column == last_column && cut == last_cut) break;
    }
    if (found.cost <= 2 * p_.price) break;
  }
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
    offer(finished(tree), answer);
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
