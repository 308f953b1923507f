// Deep trees on codes by definition: all prunings of a given tree averaged by recursion, with all examples and without
// one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "grow/coded_forest.hpp"

namespace forest_twin {

using everytree::Column;
using everytree::Columns;
using everytree::Forest;
using everytree::ForestNode;
using everytree::coded::CodedExamples;
using everytree::coded::ForestSettings;
using Real = long double;
using Rows = std::vector<std::uint32_t>;

// Whether a test holds in a row of codes.
inline bool holds(const CodedExamples& d, std::uint32_t test, std::uint32_t row) {
  const std::size_t k = d.columns->column_of(test);
  const Column& column = (*d.columns)[k];
  const std::uint32_t code = d.codes[k * d.n_rows + row];
  if (test == column.missing) return code == column.n_codes();
  if (code == column.n_codes()) return false;
  return column.kind == Column::Kind::ordered ? code <= test - column.begin : code == test - column.begin;
}

// Class counts in examples, `gone` of class y of a row less.
struct Left {
  std::uint32_t row = ~0u;
  std::size_t y = 0;
  Real gone = 0;
};

struct Average {
  const CodedExamples& d;
  const ForestSettings& settings;
  const Forest& forest;
  Left left{};

  std::vector<Real> counts(const Rows& rows) const {
    std::vector<Real> out(d.n_classes, 0);
    for (const std::uint32_t row : rows)
      for (std::size_t c = 0; c < d.n_classes; ++c)
        out[c] += static_cast<Real>(d.counts[row * d.n_classes + c]) / static_cast<Real>(d.per_example) -
                  (row == left.row && c == left.y ? left.gone : 0);
    return out;
  }
  std::pair<Rows, Rows> sides(const ForestNode& node, const Rows& rows) const {
    std::pair<Rows, Rows> out;
    for (const std::uint32_t row : rows) (holds(d, node.test, row) ? out.second : out.first).push_back(row);
    return out;
  }
  // log s(n), and with the rows of a path to follow what the prunings say of its row, times s.
  struct Value {
    Real log_s;
    std::vector<Real> says;  // of the row, normalised; empty if the row is not here
  };
  Value below(std::uint32_t at, const Rows& rows, std::uint32_t row) const {
    const std::vector<Real> n = counts(rows);
    Real total = 0, sum_a = 0, log_m = 0;
    for (std::size_t c = 0; c < d.n_classes; ++c) {
      const Real a = settings.a[c];
      total += n[c];
      sum_a += a;
      log_m += std::lgamma(a + n[c]) - std::lgamma(a);
    }
    log_m = static_cast<Real>(settings.power) * (log_m + std::lgamma(sum_a) - std::lgamma(sum_a + total));
    Value leaf{log_m, {}};
    if (std::find(rows.begin(), rows.end(), row) != rows.end())
      for (std::size_t c = 0; c < d.n_classes; ++c) leaf.says.push_back((n[c] + settings.a[c]) / (total + sum_a));
    const ForestNode& node = forest.nodes[at];
    if (node.next[0] == at) return leaf;
    const auto [no, yes] = sides(node, rows);
    const Value zero = below(node.next[0], no, row), one = below(node.next[1], yes, row);
    const Real half = std::log(Real{0.5}), stop = half + log_m, split = half + zero.log_s + one.log_s;
    const Real most = std::max(stop, split), sum = std::exp(stop - most) + std::exp(split - most);
    Value out{most + std::log(sum), leaf.says};
    const std::vector<Real>& follows = zero.says.empty() ? one.says : zero.says;
    for (std::size_t c = 0; c < out.says.size(); ++c)
      out.says[c] = (std::exp(stop - most) * leaf.says[c] + std::exp(split - most) * follows[c]) / sum;
    return out;
  }
};

}  // namespace forest_twin
