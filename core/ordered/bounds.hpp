// What neighbouring cuts of a column say of each other.
//
// For cuts i < t < j of a column, L(t) the least cost of the rows up to t, R(t) of those after it, and W(i, t) the most
// that the rows between i and t can cost (each the dearest answer):
//
//     L(t) ≥ L(j) − W(t, j)      the tree of L(t) serves the rows up to j, where its leaves only grow
//     L(t) ≥ L(i)                the rows up to t include those up to i (larger covers do not cost less)
//
// and R(t) ≥ R(i) − W(i, t), R(t) ≥ R(j). The second law fails where leaves have a least size: with fewer rows a leaf
// of the tree may be too small. It holds for costs of one set of rows and sizes of another. Let L(i; b) be the least
// cost of the rows up to i by trees whose leaves have min_leaf examples of the rows up to b, the rows between being
// ghosts:
//
//     L(t) ≥ L(i; b)             for i ≤ t ≤ b: the tree of L(t) has leaves that are large enough among the rows up to
//     b L(t; b) ≥ L(j) − W(t, j)   for t ≤ b ≤ j: the same tree serves the rows up to j
//
// When t is solved between i and j, all cuts that it will ever bound lie in what is left of that interval, a … b. So
// every solved cut keeps L(t) and L(t; b), R(t) and R(t; a): the narrower the interval, the nearer they are. (Leaves of
// any size instead of L(i; b) are a bound too, and the one that was here: raisin with min_leaf = 5 took 15 times as
// many cuts as with 1.) Problems with ghosts are solved as any other, their own cuts with further ghosts.
//
// The bounds hold for all trees of a side, and for those whose first test is on a given column: kept by column they
// tell which columns need not be tried again at t. The ends of a column are solved cuts too: nothing on one side, the
// cover on the other.
//
// Leaves of any size have no ghosts, but a first test that splits nothing: it may leave all rows of a small cover on
// one side and still split a larger one. There L′ of a column counts that test too, and takes the place of L(i; b).
// (Bounds by block of a column's ranks, sixteen to a column, were tried: on eight sets they left out no more than 4 %
// of the cuts.)
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "ordered/problem.hpp"

namespace everytree::ordered {

// A first test, in preorder with the trees of its sides after it: first that of the rows above the rank, then that of
// those up to it. Column −1: a leaf, −2: the best of a leaf and one test.
struct Step {
  std::int32_t column = -1;
  std::uint32_t rank = 0;
};
using Steps = std::vector<Step>;

// Lower bounds of the least cost: L(t) and L(t; b), or L(t) and L′(t).
struct Bound {
  Value cost = 0, relaxed = 0;
};
inline Bound lower(const Bound& a, const Bound& b) {
  return {std::min(a.cost, b.cost), std::min(a.relaxed, b.relaxed)};
}
inline Bound higher(const Bound& a, const Bound& b) {
  return {std::max(a.cost, b.cost), std::max(a.relaxed, b.relaxed)};
}
// Where no tree is feasible there is none with fewer rows.
inline Value less(Value cost, Value by) { return cost >= kNever / 2 ? kNever : cost - by; }
// Of a cover between a smaller one and a larger one, whose further rows can cost `more`; `tied` whether leaves may be
// of any size.
inline Bound between(const Bound& smaller, const Bound& larger, Value more, bool tied) {
  const Value cost = std::max(smaller.relaxed, less(larger.cost, more));
  return {cost, tied ? std::max(smaller.relaxed, larger.relaxed - more) : cost};
}

// With leaves of any size allowed the two are bounds of the same: a test that splits nothing is never a gain. Of the
// trees that begin with a given column, that test leaves the whole to one level less: `idle`.
inline void tie(Bound& all) { all.cost = all.relaxed = std::max(all.cost, all.relaxed); }
inline void tie(Bound& first, Value idle) {
  first.cost = std::max(first.cost, first.relaxed);
  first.relaxed = std::max(first.relaxed, std::min(first.cost, idle));
}

// What the search of a column says of the trees that begin with it. Its second bound is one of its own cuts and their
// ghosts: who asked has other ones.
inline void raise(Bound& known, const Bound& column, bool tied, Value idle) {
  known.cost = std::max(known.cost, column.cost);
  if (!tied) return;
  known.relaxed = std::max(known.relaxed, column.relaxed);
  tie(known, idle);
}

// A cut with what is known of its sides: 1, the rows up to it, and 0, the others.
struct Node {
  std::ptrdiff_t cut = 0;
  Value reach = 0;  // the most that the rows up to the cut can cost
  Bound side[2];
  std::vector<Bound> first[2];  // by the column of the first test
};

// Nodes that are kept from use to use.
class NodeStack {
 public:
  Node& push(std::size_t n_first) {
    if (used_ == nodes_.size()) nodes_.push_back(std::make_unique<Node>());
    Node& node = *nodes_[used_++];
    for (auto& first : node.first) first.resize(n_first);
    return node;
  }
  void pop() { --used_; }
  void clear() { used_ = 0; }
  std::size_t bytes(std::size_t n_first) const { return nodes_.size() * (sizeof(Node) + 2 * n_first * sizeof(Bound)); }

 private:
  std::vector<std::unique_ptr<Node>> nodes_;
  std::size_t used_ = 0;
};

// The ends of a column: `whole` is a bound of the whole cover with one level less, `firsts` by its first test.
inline void set_ends(Node& low, Node& high, const Bound& whole, const std::vector<Bound>& firsts, Value price,
                     Value reach) {
  low.cut = -1;
  low.reach = 0;
  high.reach = reach;
  const Bound one{price, price}, two{2 * price, 2 * price};
  low.side[1] = high.side[0] = one;
  low.side[0] = high.side[1] = whole;
  low.first[1].assign(firsts.size(), two);
  high.first[0].assign(firsts.size(), two);
  low.first[0] = high.first[1] = firsts;
}

// The sides of t by its neighbours; `leaf` is what each costs as a leaf, `tied` whether leaves may be of any size.
inline void set_between(Node& t, const Node& i, const Node& j, const Value leaf[2], bool tied) {
  const Value after = t.reach - i.reach, before = j.reach - t.reach;
  Bound least[2] = {{leaf[0], leaf[0]}, {leaf[1], leaf[1]}};
  for (std::size_t g = 0; g < t.first[0].size(); ++g) {
    t.first[1][g] = between(i.first[1][g], j.first[1][g], before, tied);
    t.first[0][g] = between(j.first[0][g], i.first[0][g], after, tied);
    least[1] = lower(least[1], t.first[1][g]);
    least[0] = lower(least[0], t.first[0][g]);
  }
  t.side[1] = higher(between(i.side[1], j.side[1], before, tied), least[1]);
  t.side[0] = higher(between(j.side[0], i.side[0], after, tied), least[0]);
  if (tied)
    for (Bound& side : t.side) tie(side);
}

// The first place of a … b, or b + 1, where `is` no longer holds.
template <class Is>
std::ptrdiff_t first_not(std::ptrdiff_t a, std::ptrdiff_t b, Is is) {
  std::ptrdiff_t n = b - a + 1;
  while (n > 0) {
    const std::ptrdiff_t half = n / 2;
    if (is(a + half)) {
      a += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return a;
}

// Leaves out those of the cuts a … b between i and j that cannot cost less than the best; false if none is left.
// cuts.reach(k): the most that the rows up to cut k can cost.
// `column` gets bounds of what is left out; `known` are those of the column that were there before.
template <class Cuts>
bool narrow(const Cuts& cuts, Value best, const Bound& known, Bound& column, const Node& i, const Node& j,
            std::ptrdiff_t& a, std::ptrdiff_t& b) {
  if (a > b) return false;
  if (known.cost >= best) {
    column = lower(column, known);
    return false;
  }
  const Value apart = j.reach - i.reach;
  const Value inner = i.side[1].relaxed + j.side[0].relaxed;
  const Value loose = std::max(inner, j.side[1].relaxed + i.side[0].relaxed - apart);
  const Value all = std::max(inner, less(j.side[1].cost, apart) + i.side[0].cost);
  if (all >= best) {
    column = lower(column, {all, loose});
    return false;
  }
  // L′(i) + R(i) − W(i, t) and L(j) − W(t, j) + R′(j).
  const Value left = i.side[1].relaxed + i.side[0].cost + i.reach;
  const Value right = j.side[1].cost + j.side[0].relaxed - j.reach;
  if (left - cuts.reach(a) >= best) {
    const std::ptrdiff_t first = first_not(a + 1, b, [&](std::ptrdiff_t k) { return left - cuts.reach(k) >= best; });
    column = lower(column, {left - cuts.reach(first - 1), loose});
    a = first;
    if (a > b) return false;
  }
  if (right + cuts.reach(b) >= best) {
    const std::ptrdiff_t last = first_not(a, b - 1, [&](std::ptrdiff_t k) { return right + cuts.reach(k) < best; });
    column = lower(column, {right + cuts.reach(last), loose});
    b = last - 1;
  }
  return a <= b;
}

// The cut in the middle of a … b by what its rows can cost.
template <class Cuts>
std::ptrdiff_t middle(const Cuts& cuts, std::ptrdiff_t a, std::ptrdiff_t b) {
  const Value half = (cuts.reach(a) + cuts.reach(b)) / 2;
  return std::min(b, first_not(a, b, [&](std::ptrdiff_t k) { return cuts.reach(k) < half; }));
}

// A bound of the cost of all cuts between i and j.
inline Value least_between(const Node& i, const Node& j) {
  return std::max(i.side[1].relaxed + j.side[0].relaxed, less(j.side[1].cost, j.reach - i.reach) + i.side[0].cost);
}

inline Bound cost_of(const Node& t) { return {t.side[0].cost + t.side[1].cost, t.side[0].relaxed + t.side[1].relaxed}; }

// The cuts a … b between i and j, the middle first: evaluate(i, j, t, a, b) solves it as far as it likes.
template <class Cuts, class Evaluate>
void search_between(const Cuts& cuts, const Value& best, const Bound& known, Bound& column, NodeStack& nodes,
                    const Node& i, const Node& j, std::ptrdiff_t a, std::ptrdiff_t b, const Evaluate& evaluate) {
  if (!narrow(cuts, best, known, column, i, j, a, b)) return;
  Node& t = nodes.push(i.first[0].size());
  t.cut = middle(cuts, a, b);
  t.reach = cuts.reach(t.cut);
  evaluate(i, j, t, a, b);
  column = lower(column, cost_of(t));
  search_between(cuts, best, known, column, nodes, i, t, a, t.cut - 1, evaluate);
  search_between(cuts, best, known, column, nodes, t, j, t.cut + 1, b, evaluate);
  nodes.pop();
}

// The cuts of a column that leave min_leaf examples on either side. cuts.weight(k): the examples up to cut k. With
// leaves of any size the others count as well, and are bounded by the ends; so does a test that splits nothing, which
// costs what the whole costs, and a leaf.
template <class Cuts>
Bound begin_column(const Cuts& cuts, Value price, std::int64_t min_leaf, std::int64_t weight, const Node& low,
                   const Node& high, std::ptrdiff_t& a, std::ptrdiff_t& b) {
  const std::ptrdiff_t n = cuts.size();
  a = first_not(0, n - 1, [&](std::ptrdiff_t k) { return cuts.weight(k) < min_leaf; });
  b = first_not(0, n - 1, [&](std::ptrdiff_t k) { return weight - cuts.weight(k) >= min_leaf; }) - 1;
  Bound column{kNever, low.side[0].relaxed + price};
  const Value ends = low.side[1].relaxed + high.side[0].relaxed;
  const auto outside = [&](Value end) { column.relaxed = std::min(column.relaxed, std::max(ends, end)); };
  if (a > 0) outside(low.side[1].relaxed + low.side[0].relaxed - cuts.reach(a - 1));
  if (b < n - 1) outside(high.side[0].relaxed + high.side[1].relaxed - (high.reach - cuts.reach(b + 1)));
  return column;
}

}  // namespace everytree::ordered
