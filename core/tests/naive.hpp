// The definitions once more, as slow and plain as possible: rows are looped over, nothing is merged, packed or cached,
// and sums of products are long doubles. The tests and the fuzz targets compare the core with this file.
//
//     fold(rows, depth) = leaf(rows) ⊕ ⊕_{feasible t} join(t, fold(rows where t), fold(rows where not t))
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "naive_settings.hpp"
#include "sets/best.hpp"
#include "table/count_table.hpp"
#include "weights/dirichlet.hpp"
#include "weights/leaf_cost.hpp"
#include "weights/prior.hpp"

namespace naive {

using everytree::Key;
using everytree::Prior;
using Real = long double;
using Rows = std::vector<std::uint32_t>;
using Counts = std::vector<std::int32_t>;
using Tests = std::vector<std::uint32_t>;

// Where the cut of an ordered column lies for new rows, whose codes stand at whole numbers: midway between two codes,
// or, in half of the columns, at a place that rises and falls with the higher one.
inline double cut(const everytree::Column& column, std::uint32_t lower, std::uint32_t next) {
  if ((column.begin + column.end) % 2 == 0) return (lower + next) / 2.0;
  return lower + (5 * lower + 3 * next) % 4 / 4.0;
}

// The position of each cut among those above the same lower code.
inline everytree::Uppers uppers(const std::vector<everytree::Column>& columns) {
  everytree::Uppers out;
  for (const everytree::Column& c : columns) {
    const std::uint32_t n = c.n_codes();
    out.emplace_back();
    if (c.kind != everytree::Column::Kind::ordered || (c.begin + c.end) % 2 == 0) continue;
    out.back().assign(std::size_t{n} * n, 0);
    for (std::uint32_t lower = 0; lower < n; ++lower)
      for (std::uint32_t next = lower + 1; next < n; ++next) {
        std::set<double> less;
        for (std::uint32_t other = lower + 1; other < n; ++other)
          if (cut(c, lower, other) < cut(c, lower, next)) less.insert(cut(c, lower, other));
        out.back()[lower * n + next] = static_cast<std::uint16_t>(lower + 1 + less.size());
      }
  }
  return out;
}

struct Table {
  std::size_t n, t, c;
  std::vector<std::uint8_t> rows;          // n × t
  std::vector<std::int64_t> counts;        // n × c
  std::vector<everytree::Column> columns;  // if states choose their tests

  Table(std::size_t n, std::size_t t, std::size_t c) : n(n), t(t), c(c), rows(n * t, 0), counts(n * c, 0) {}
  std::shared_ptr<const everytree::CountTable> core() const {
    return std::make_shared<const everytree::CountTable>(rows.data(), counts.data(), n, t, c, nullptr,
                                                         everytree::Columns(columns, t, uppers(columns)));
  }
  Rows all() const {
    Rows out(n);
    for (std::uint32_t r = 0; r < n; ++r) out[r] = r;
    return out;
  }
  bool holds(std::uint32_t row, std::size_t test) const { return rows[row * t + test] != 0; }
  Counts class_counts(const Rows& cover) const {
    Counts out(c, 0);
    for (std::uint32_t r : cover)
      for (std::size_t k = 0; k < c; ++k) out[k] += static_cast<std::int32_t>(counts[r * c + k]);
    return out;
  }
  std::int64_t total(std::uint32_t row) const {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < c; ++k) sum += counts[row * c + k];
    return sum;
  }
  std::int64_t total(const Rows& cover) const {
    std::int64_t sum = 0;
    for (std::uint32_t r : cover) sum += total(r);
    return sum;
  }
  // The code of a column in a row; a missing value is the one after the last code.
  std::uint32_t code(std::uint32_t row, const everytree::Column& column) const {
    if (column.missing != everytree::Column::kNone && holds(row, column.missing)) return column.n_codes();
    for (std::uint32_t t = column.begin; t < column.end; ++t)
      if (holds(row, t)) return t - column.begin;  // the first cut that holds; the value whose test does
    return column.end - column.begin;
  }
  Rows side(const Rows& cover, std::size_t test, bool value) const {
    Rows out;
    for (std::uint32_t r : cover)
      if (holds(r, test) == value) out.push_back(r);
    return out;
  }
};

// A fixed number, or one to be drawn: random() is any source of whole numbers from 0 to 255 at least. Arguments that
// draw by themselves would differ between compilers.
struct Range {
  Range(std::size_t x) : low(x), high(x) {}
  Range(std::size_t low, std::size_t high) : low(low), high(high) {}
  template <class Random>
  std::size_t draw(Random& random) const {
    return low == high ? low : low + random() % (high - low + 1);
  }
  std::size_t low, high;
};

// Random rows with every oddity a table may have: constant, equal and complementary columns, rare outcomes, rows that
// count nothing, several times, or for several classes.
template <class Random>
Table random_table(Random& random, Range n_rows, Range n_tests, Range n_classes, Range most_count) {
  const std::size_t n = n_rows.draw(random), t = n_tests.draw(random), c = n_classes.draw(random),
                    most = most_count.draw(random);
  Table out(n, t, c);
  for (std::size_t j = 0; j < t; ++j) {
    const unsigned kind = random() % 10;
    const std::size_t from = j == 0 ? 0 : random() % j;
    for (std::size_t r = 0; r < n; ++r) {
      std::uint8_t& x = out.rows[r * t + j];
      if (kind == 0 && j > 0)
        x = out.rows[r * t + from];
      else if (kind == 1 && j > 0)
        x = !out.rows[r * t + from];
      else if (kind == 2)
        x = random() % 5 == 0;
      else
        x = random() & 1;
    }
    if (random() % 20 == 0)
      for (std::size_t r = 0; r < n; ++r) out.rows[r * t + j] = j & 1;
  }
  const auto weight = [&] { return static_cast<std::int64_t>(random() % most) + 1; };
  for (std::size_t r = 0; r < n; ++r) {
    if (n > 1 && random() % 12 == 0) continue;
    out.counts[r * c + random() % c] += weight();
    if (random() % 6 == 0) out.counts[r * c + random() % c] += weight();
  }
  if (out.total(out.all()) == 0) out.counts[0] = weight();
  return out;
}

// Random columns of every kind: ordered ones cut into at most `bins`, 0/1 ones, nominal ones, with and without missing
// values. Their tests as rows of 0/1, and class counts as above.
template <class Random>
Table random_columns(Random& random, Range n_rows, Range n_columns, std::size_t n_classes, std::uint32_t bins,
                     Range most_count) {
  using everytree::Column;
  const std::size_t n = n_rows.draw(random), m = n_columns.draw(random), most = most_count.draw(random);
  std::vector<Column> columns;
  std::uint32_t t = 0;
  for (std::size_t k = 0; k < m; ++k) {
    Column c;
    const unsigned kind = random() % 4;
    c.kind = kind == 0 ? Column::Kind::nominal : Column::Kind::ordered;
    c.begin = t;
    c.end = t += kind == 0 ? 2 + random() % 3 : kind == 1 ? 1 : 1 + random() % 5;
    if (random() % 3 == 0) c.missing = t++;
    c.bins = bins;
    columns.push_back(c);
  }
  Table out(n, t, n_classes);
  for (std::size_t r = 0; r < n; ++r)
    for (const Column& c : columns) {
      const std::uint32_t codes = c.n_codes() + (c.missing != Column::kNone), code = random() % codes;
      if (code == c.n_codes()) {
        out.rows[r * t + c.missing] = 1;
        continue;
      }
      for (std::uint32_t test = c.begin; test < c.end; ++test)
        out.rows[r * t + test] = c.kind == Column::Kind::nominal ? code == test - c.begin : code <= test - c.begin;
    }
  for (std::size_t r = 0; r < n; ++r)
    if (n == 1 || random() % 12 != 0)
      out.counts[r * n_classes + random() % n_classes] += static_cast<std::int64_t>(random() % most) + 1;
  if (out.total(out.all()) == 0) out.counts[0] = 1;
  out.columns = std::move(columns);
  return out;
}

// Breaks of the equal-frequency rule, after the j-th value: bins are filled from the left, each with the first break
// where it holds its share of the rest, or one break earlier if that is strictly closer.
inline std::vector<std::size_t> breaks(const std::vector<std::int64_t>& counts, std::size_t bins) {
  std::vector<std::size_t> out;
  if (counts.size() < 2) return out;
  if (bins == 0) {
    for (std::size_t j = 0; j + 1 < counts.size(); ++j) out.push_back(j);
    return out;
  }
  std::int64_t rest = 0;
  for (std::int64_t n : counts) rest += n;
  std::size_t from = 0, seen = 0;  // the first value of this bin; the first break that was not looked at
  while (out.size() + 1 < bins) {
    const auto k = static_cast<std::int64_t>(bins - out.size());
    std::int64_t held = 0, before = 0;
    std::size_t j = from;
    for (;; ++j) {
      before = held;
      held += counts[j];
      if (j + 1 == counts.size() || (held * k >= rest && j >= seen)) break;
    }
    if (j + 1 == counts.size()) break;
    seen = j + 1;
    // |before − rest / k| < |held − rest / k|
    if (j > from && rest - before * k < held * k - rest) {
      --j;
      held = before;
    }
    out.push_back(j);
    from = j + 1;
    rest -= held;
  }
  if (out.size() + 1 < bins && from + 1 < counts.size()) out.push_back(counts.size() - 2);
  return out;
}

struct Space {
  const Table* table;
  int max_depth;
  std::int64_t min_leaf;
  std::function<bool(const Counts&)> rule{};  // that the class counts of every node must satisfy

  bool allowed(const Rows& cover) const { return !rule || rule(table->class_counts(cover)); }

  // The tests of a node; `above`: the cover of its parent, none at the root.
  Tests feasible(const Rows& cover, std::size_t depth, const Rows* above = nullptr) const {
    Tests out;
    if (max_depth >= 0 && depth >= static_cast<std::size_t>(max_depth)) return out;
    const std::int64_t all = table->total(cover);
    if (all < 2 * min_leaf) return out;
    Tests offered;
    if (table->columns.empty())
      for (std::uint32_t test = 0; test < table->t; ++test) offered.push_back(test);
    else  // two levels below a depth limit share the choice of the upper one
      offered = offers(above != nullptr && static_cast<int>(depth) + 1 == max_depth ? *above : cover);
    for (std::uint32_t test : offered) {
      std::int64_t ones = 0;
      for (std::uint32_t r : cover)
        if (table->holds(r, test)) ones += table->total(r);
      if (ones >= min_leaf && all - ones >= min_leaf && allowed(table->side(cover, test, false)) &&
          allowed(table->side(cover, test, true)))
        out.push_back(test);
    }
    return out;
  }

  // The tests that a cover offers, feasible or not.
  Tests offers(const Rows& cover) const {
    Tests out;
    for (const everytree::Column& column : table->columns) {
      const std::uint32_t missing = column.n_codes();
      std::vector<std::int64_t> held(missing + 1, 0);
      for (std::uint32_t r : cover) held[table->code(r, column)] += table->total(r);
      std::vector<std::uint32_t> codes;
      std::vector<std::int64_t> counts;
      for (std::uint32_t code = 0; code < missing; ++code)
        if (held[code] > 0) {
          codes.push_back(code);
          counts.push_back(held[code]);
        }
      if (column.kind == everytree::Column::Kind::ordered) {
        for (std::size_t j : breaks(counts, column.bins)) out.push_back(column.begin + codes[j]);
        if (held[missing] > 0) out.push_back(column.missing);
      } else if (codes.size() + (held[missing] > 0) == 2) {
        out.push_back(column.begin + codes.back());
      } else if (codes.size() + (held[missing] > 0) > 2) {
        for (std::uint32_t code : codes) out.push_back(column.begin + code);
        if (held[missing] > 0) out.push_back(column.missing);
      }
    }
    return out;
  }
};

// leaf(cover, depth, open), join(cover, depth, feasible tests, test, value where it holds, value where not), add(x, y).
template <class Value, class Leaf, class Join, class Add>
Value fold(const Space& space, const Rows& cover, std::size_t depth, const Leaf& leaf, const Join& join, const Add& add,
           const Rows* above = nullptr) {
  const Tests tests = space.feasible(cover, depth, above);
  Value value = leaf(cover, depth, !tests.empty());
  for (std::uint32_t test : tests) {
    const Value yes = fold<Value>(space, space.table->side(cover, test, true), depth + 1, leaf, join, add, &cover);
    const Value no = fold<Value>(space, space.table->side(cover, test, false), depth + 1, leaf, join, add, &cover);
    add(value, join(cover, depth, tests, test, yes, no));
  }
  return value;
}

// Marginal likelihood times tree prior.
struct Weights {
  Prior prior;
  std::vector<std::vector<double>> a;  // a[depth][class]; the last row goes on
  Real log_scale = 0;                  // added per example, so that the weights of many examples stay in range

  const std::vector<double>& a_at(std::size_t depth) const { return a[std::min(depth, a.size() - 1)]; }
  Real log_leaf(const Counts& counts, std::size_t depth, bool open) const {
    const std::vector<double>& at = a_at(depth);
    Real sum_a = 0, n = 0, out = 0;
    for (std::size_t c = 0; c < counts.size(); ++c) {
      sum_a += at[c];
      n += counts[c];
      out += std::lgamma(static_cast<Real>(at[c]) + counts[c]) - std::lgamma(static_cast<Real>(at[c]));
    }
    const std::vector<double>& table = open ? prior.log_leaf_open : prior.log_leaf_closed;
    return out + std::lgamma(sum_a) - std::lgamma(sum_a + n) + log_scale * n + table[std::min(depth, table.size() - 1)];
  }
  Real log_split(const Tests& feasible, std::uint32_t test, std::size_t depth) const {
    const Real base = prior.log_split[std::min(depth, prior.log_split.size() - 1)];
    if (prior.fair) {
      std::vector<std::int32_t> attributes;
      Real same = 0;
      for (std::uint32_t t : feasible) {
        attributes.push_back(prior.attribute[t]);
        same += prior.attribute[t] == prior.attribute[test];
      }
      std::sort(attributes.begin(), attributes.end());
      const auto distinct = std::unique(attributes.begin(), attributes.end()) - attributes.begin();
      return base - std::log(static_cast<Real>(distinct)) - std::log(same);
    }
    return prior.per_test ? base - std::log(static_cast<Real>(feasible.size())) : base;
  }
  Real theta(const Counts& counts, std::size_t depth, std::size_t c) const {
    Real sum = 0;
    for (std::size_t k = 0; k < counts.size(); ++k) sum += counts[k] + static_cast<Real>(a_at(depth)[k]);
    return (counts[c] + static_cast<Real>(a_at(depth)[c])) / sum;
  }
};

__extension__ typedef unsigned __int128 Big;

// Everything that one upward pass can say about a space.
struct Answers {
  Big count = 0;
  double least = 0;                       // cost
  std::vector<double> least_by_leaves;    // index leaves − 1
  Real u = 0, best = 0;                   // evidence, largest joint
  std::vector<Real> by_leaves, by_depth;  // parts of u: index leaves − 1, and exact depth
};

inline Answers answers(const Space& space, const Weights& weights, const everytree::LeafCost& cost) {
  const Table& table = *space.table;
  constexpr double inf = std::numeric_limits<double>::infinity();
  const auto leaf = [&](const Rows& cover, std::size_t depth, bool open) {
    const Counts counts = table.class_counts(cover);
    const Real w = std::exp(weights.log_leaf(counts, depth, open));
    const double price = cost(counts.data());
    return Answers{1, price, {price}, w, w, {w}, {w}};
  };
  const auto join = [&](const Rows&, std::size_t depth, const Tests& tests, std::uint32_t test, const Answers& x,
                        const Answers& y) {
    const Real w = std::exp(weights.log_split(tests, test, depth));
    Answers out;
    out.count = x.count * y.count;
    out.least = x.least + y.least;
    out.u = w * x.u * y.u;
    out.best = w * x.best * y.best;
    const std::size_t nx = x.by_leaves.size(), ny = y.by_leaves.size();
    out.by_leaves.assign(nx + ny, 0);
    out.least_by_leaves.assign(nx + ny, inf);
    for (std::size_t i = 0; i < nx; ++i)
      for (std::size_t j = 0; j < ny; ++j) {
        out.by_leaves[i + j + 1] += w * x.by_leaves[i] * y.by_leaves[j];
        out.least_by_leaves[i + j + 1] =
            std::min(out.least_by_leaves[i + j + 1], x.least_by_leaves[i] + y.least_by_leaves[j]);
      }
    out.by_depth.assign(std::max(x.by_depth.size(), y.by_depth.size()) + 1, 0);
    for (std::size_t i = 0; i < x.by_depth.size(); ++i)
      for (std::size_t j = 0; j < y.by_depth.size(); ++j)
        out.by_depth[std::max(i, j) + 1] += w * x.by_depth[i] * y.by_depth[j];
    return out;
  };
  const auto add = [&](Answers& x, const Answers& y) {
    x.count += y.count;
    x.least = std::min(x.least, y.least);
    x.u += y.u;
    x.best = std::max(x.best, y.best);
    x.by_leaves.resize(std::max(x.by_leaves.size(), y.by_leaves.size()), 0);
    x.least_by_leaves.resize(x.by_leaves.size(), inf);
    x.by_depth.resize(std::max(x.by_depth.size(), y.by_depth.size()), 0);
    for (std::size_t k = 0; k < y.by_leaves.size(); ++k) {
      x.by_leaves[k] += y.by_leaves[k];
      x.least_by_leaves[k] = std::min(x.least_by_leaves[k], y.least_by_leaves[k]);
    }
    for (std::size_t k = 0; k < y.by_depth.size(); ++k) x.by_depth[k] += y.by_depth[k];
  };
  return fold<Answers>(space, table.all(), 0, leaf, join, add);
}

// u of the trees below one node.
inline Real evidence(const Space& space, const Weights& weights, const Rows& cover, std::size_t depth) {
  return fold<Real>(
      space, cover, depth,
      [&](const Rows& rows, std::size_t d, bool open) {
        return std::exp(weights.log_leaf(space.table->class_counts(rows), d, open));
      },
      [&](const Rows&, std::size_t d, const Tests& tests, std::uint32_t test, Real x, Real y) {
        return std::exp(weights.log_split(tests, test, d)) * x * y;
      },
      [](Real& x, Real y) { x += y; });
}

// u of the trees without test t, for every t; the last entry is u itself. P(t in the tree) = 1 − out[t] / out.back().
inline std::vector<Real> evidence_without(const Space& space, const Weights& weights) {
  using Value = std::vector<Real>;
  const std::size_t n = space.table->t;
  return fold<Value>(
      space, space.table->all(), 0,
      [&](const Rows& cover, std::size_t depth, bool open) {
        return Value(n + 1, std::exp(weights.log_leaf(space.table->class_counts(cover), depth, open)));
      },
      [&](const Rows&, std::size_t depth, const Tests& tests, std::uint32_t test, const Value& x, const Value& y) {
        const Real w = std::exp(weights.log_split(tests, test, depth));
        Value out(n + 1);
        for (std::size_t t = 0; t <= n; ++t) out[t] = t == test ? 0 : w * x[t] * y[t];
        return out;
      },
      [](Value& x, const Value& y) {
        for (std::size_t t = 0; t < x.size(); ++t) x[t] += y[t];
      });
}

// Σ over all trees of the prior alone.
inline Real prior_total(const Space& space, const Weights& weights) {
  return fold<Real>(
      space, space.table->all(), 0,
      [&](const Rows&, std::size_t depth, bool open) {
        return std::exp(static_cast<Real>(weights.prior.log_leaf(depth, open)));
      },
      [&](const Rows&, std::size_t depth, const Tests& tests, std::uint32_t test, Real x, Real y) {
        return std::exp(weights.log_split(tests, test, depth)) * x * y;
      },
      [](Real& x, Real y) { x += y; });
}

// What leaf(counts, depth) holds, averaged over every tree: g follows x, u the side that x does not take.
template <class Leaf>
std::vector<Real> average(const Space& space, const Weights& weights, const std::uint8_t* x, Leaf&& leaf) {
  struct Value {
    Real u;
    std::vector<Real> g;
  };
  Value root = fold<Value>(
      space, space.table->all(), 0,
      [&](const Rows& cover, std::size_t depth, bool open) {
        const Counts counts = space.table->class_counts(cover);
        Value out{std::exp(weights.log_leaf(counts, depth, open)), leaf(counts, depth)};
        for (Real& y : out.g) y *= out.u;
        return out;
      },
      [&](const Rows&, std::size_t depth, const Tests& tests, std::uint32_t test, const Value& yes, const Value& no) {
        const Real w = std::exp(weights.log_split(tests, test, depth));
        const Value& taken = x[test] ? yes : no;
        Value out{w * yes.u * no.u, taken.g};
        for (Real& y : out.g) y *= w * (x[test] ? no.u : yes.u);
        return out;
      },
      [](Value& a, const Value& b) {
        a.u += b.u;
        for (std::size_t c = 0; c < a.g.size(); ++c) a.g[c] += b.g[c];
      });
  for (Real& y : root.g) y /= root.u;
  return root.g;
}

// P(class | x).
inline std::vector<Real> predict(const Space& space, const Weights& weights, const std::uint8_t* x) {
  return average(space, weights, x, [&](const Counts& counts, std::size_t depth) {
    std::vector<Real> out;
    for (std::size_t c = 0; c < space.table->c; ++c) out.push_back(weights.theta(counts, depth, c));
    return out;
  });
}

// E θ_c, the variance between trees of its mean, and the mean variance within leaves: 3 × classes.
inline std::vector<Real> moments(const Space& space, const Weights& weights, const std::uint8_t* x) {
  const std::size_t n = space.table->c;
  std::vector<Real> g = average(space, weights, x, [&](const Counts& counts, std::size_t depth) {
    std::vector<Real> out(3 * n);
    Real total = 0;
    for (std::size_t c = 0; c < n; ++c) total += counts[c] + weights.a[std::min(depth, weights.a.size() - 1)][c];
    for (std::size_t c = 0; c < n; ++c) {
      const Real m = out[c] = weights.theta(counts, depth, c);
      out[n + c] = m * m;
      out[2 * n + c] = m * (1 - m) / (total + 1);
    }
    return out;
  });
  for (std::size_t c = 0; c < n; ++c) g[n + c] -= g[c] * g[c];
  return g;
}

}  // namespace naive
