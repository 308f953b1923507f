// Whole columns and the growers on them by definition: rows divided one by one, every test of a node listed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "grow/columns.hpp"
#include "grow/grow_options.hpp"
#include "grow/option_fold.hpp"
#include "grow/option_graph.hpp"

namespace grow_twin {

using everytree::DirichletParameters;
using everytree::Prior;
using namespace everytree::grow;
using Real = long double;
using Rows = std::vector<std::uint32_t>;
using Counts = std::vector<std::int64_t>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr Real kNever = -std::numeric_limits<Real>::infinity();

struct Data {
  std::vector<std::vector<double>> numeric;
  std::vector<std::vector<std::int32_t>> nominal;
  std::vector<std::int32_t> n_values;
  std::vector<std::int32_t> classes;
  std::int32_t n_classes = 2;
  std::vector<std::int64_t> weights;

  Columns columns() const {
    Columns out(classes.size());
    for (const auto& values : numeric) out.add_numeric(values);
    for (std::size_t j = 0; j < nominal.size(); ++j) out.add_nominal(nominal[j], n_values[j]);
    out.set_classes(classes, n_classes, weights);
    return out;
  }
};

inline Rows all_rows(const Columns& data) {
  Rows rows(data.n_rows());
  std::iota(rows.begin(), rows.end(), 0u);
  return rows;
}
inline Counts class_counts(const Columns& data, const Rows& rows) {
  Counts out(data.n_classes(), 0);
  for (const std::uint32_t row : rows) out[static_cast<std::size_t>(data.classes()[row])] += data.weights()[row];
  return out;
}
inline std::int64_t total(const Columns& data, const Rows& rows) {
  std::int64_t sum = 0;
  for (const std::uint32_t row : rows) sum += data.weights()[row];
  return sum;
}

// The rows of every branch of a test, and last those without a value. NaN of a nominal column: a branch for each value.
inline std::vector<Rows> parts(const Columns& data, std::size_t j, double at, const Rows& rows) {
  const bool every = !data[j].numeric && std::isnan(at);
  std::vector<Rows> out(every ? static_cast<std::size_t>(data[j].n_values) + 1 : 3);
  for (const std::uint32_t row : rows) {
    std::size_t k = data[j].numeric ? (data[j].values[row] <= at ? 0 : 1) : data[j].codes[row] == at ? 0 : 1;
    if (every && !data[j].missing(row)) k = static_cast<std::size_t>(data[j].codes[row]);
    out[data[j].missing(row) ? out.size() - 1 : k].push_back(row);
  }
  return out;
}

// The prior and the parameters that a tree is grown with, and what the settings say of tests.
struct Law {
  const Columns& data;
  const GrowSettings& settings;
  const Prior& prior;
  const DirichletParameters& a;

  bool deep(std::size_t depth) const {
    return settings.max_depth >= 0 && depth >= static_cast<std::size_t>(settings.max_depth);
  }
  bool feasible(const std::vector<Rows>& branches) const {
    return std::count_if(branches.begin(), branches.end(), [&](const Rows& rows) {
             return !rows.empty() && total(data, rows) >= settings.min_leaf;
           }) >= 2;
  }
  // The thresholds of the feasible tests of a column.
  std::vector<double> tests(std::size_t j, const Rows& rows) const {
    std::vector<double> known, out;
    bool missing = false;
    for (const std::uint32_t row : rows) {
      if (data[j].missing(row))
        missing = true;
      else
        known.push_back(data[j].numeric ? data[j].values[row] : data[j].codes[row]);
    }
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    if (data[j].numeric) {
      for (std::size_t k = 0; k + 1 < known.size(); ++k) out.push_back(std::midpoint(known[k], known[k + 1]));
      if (missing) out.push_back(std::numeric_limits<double>::infinity());
    } else if (settings.binary_nominal && data[j].n_values > 2) {
      out = known;
    } else {
      out.push_back(kNaN);
    }
    std::erase_if(out, [&](double at) { return !feasible(parts(data, j, at, rows)); });
    return out;
  }
  bool open(const Rows& rows, std::size_t depth) const {
    for (std::size_t j = 0; j < data.n_columns() && !deep(depth); ++j)
      if (!tests(j, rows).empty()) return true;
    return false;
  }
  Real log_marginal(const Rows& rows, std::size_t depth) const {
    Real sum_a = 0, n = 0, sum = 0;
    const Counts counts = class_counts(data, rows);
    for (std::size_t c = 0; c < counts.size(); ++c) {
      const Real here = a.at_depth(depth)[c];
      sum_a += here;
      n += static_cast<Real>(counts[c]);
      sum += std::lgamma(here + static_cast<Real>(counts[c])) - std::lgamma(here);
    }
    return sum + std::lgamma(sum_a) - std::lgamma(sum_a + n);
  }
  Real log_leaf(const Rows& rows, std::size_t depth) const {
    return prior.log_leaf(depth, open(rows, depth)) + log_marginal(rows, depth);
  }
  // Σ_branches (log Pr(leaf) + logM) of a test at a node of this depth.
  Real branches(std::size_t j, double at, const Rows& rows, std::size_t depth) const {
    Real sum = 0;
    for (const Rows& part : parts(data, j, at, rows))
      if (!part.empty()) sum += log_leaf(part, depth + 1);
    return sum;
  }

  // What one ply knows of a column: Q_j, the best of its tests, and the prior of one test.
  struct Judged {
    Real quality = kNever, best = kNever, log_test = 0;
    std::size_t n_tests = 0;
  };
  std::vector<Judged> judge(const Rows& rows, std::size_t depth) const {
    std::vector<Judged> out(data.n_columns());
    double n_columns = 0;
    for (std::size_t j = 0; j < out.size(); ++j) {
      std::vector<Real> all;
      for (const double at : tests(j, rows)) all.push_back(branches(j, at, rows, depth));
      if (all.empty()) continue;
      ++n_columns;
      out[j].n_tests = all.size();
      out[j].best = *std::max_element(all.begin(), all.end());
      Real sum = 0;
      for (const Real x : all) sum += std::exp(x - out[j].best);
      out[j].quality = out[j].best + std::log(sum / static_cast<Real>(all.size()));
    }
    for (Judged& column : out) {
      if (column.n_tests == 0) continue;
      const Real base = prior.log_split_base(depth) + prior.log_share(n_columns);
      column.quality += base;
      column.log_test = base - std::log(static_cast<Real>(column.n_tests));
    }
    return out;
  }
};

// log s of a node, by recursion.
inline Real log_s(const OptionGraph& graph, const Prior& prior, const DirichletParameters& a, bool largest,
                  bool only_at_ends, std::size_t node) {
  Counts counts(graph.n_classes());
  graph.counts(node, counts.data());
  const std::size_t depth = graph.depth(node);
  Real sum_a = 0, n = 0, leaf = prior.log_leaf(depth, graph.open(node));
  for (std::size_t c = 0; c < counts.size(); ++c) {
    const Real here = a.at_depth(depth)[c];
    sum_a += here;
    n += static_cast<Real>(counts[c]);
    leaf += std::lgamma(here + static_cast<Real>(counts[c])) - std::lgamma(here);
  }
  leaf += std::lgamma(sum_a) - std::lgamma(sum_a + n);
  const std::size_t begin = graph.option_begin(node), end = graph.option_end(node);
  Real out = only_at_ends && begin < end ? kNever : leaf;
  for (std::size_t o = begin; o < end; ++o) {
    Real split = graph.log_split(o);
    for (std::size_t k = 0; k < graph.n_children(o); ++k)
      if (graph.children(o)[k] != kNoChild)
        split += log_s(graph, prior, a, largest, only_at_ends, graph.children(o)[k]);
    const Real most = std::max(out, split);
    out = largest || most == kNever ? most : most + std::log(std::exp(out - most) + std::exp(split - most));
  }
  return out;
}

// g(n, x) by recursion, one row at a time.
inline void predict(const OptionGraph& graph, const Folded& folded, const DirichletParameters& a, const Columns& data,
                    std::size_t row, std::size_t node, double weight, double* out) {
  const auto& here = a.at_depth(graph.depth(node));
  double stops = folded.p_leaf[node] * weight;
  for (std::size_t o = graph.option_begin(node); o < graph.option_end(node); ++o) {
    const std::uint32_t child = graph.child_of(o, data, row);
    if (child == kNoChild)
      stops += weight * folded.p_option[o];
    else
      predict(graph, folded, a, data, row, child, weight * folded.p_option[o], out);
  }
  Counts counts(graph.n_classes());
  graph.counts(node, counts.data());
  double sum = 0;
  for (std::size_t c = 0; c < here.size(); ++c) sum += here[c] + static_cast<double>(counts[c]);
  for (std::size_t c = 0; c < here.size(); ++c) out[c] += stops * (static_cast<double>(counts[c]) + here[c]) / sum;
}

}  // namespace grow_twin
