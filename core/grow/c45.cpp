// Growing and predicting.
#include "grow/c45.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "c45_parts.hpp"
#include "common/errors.hpp"

namespace everytree::grow {

namespace c45 {

void count_classes(const Columns& data, const Part& part, double* counts) {
  std::fill_n(counts, data.n_classes(), 0.0);
  for (std::size_t i = 0; i < part.rows.size(); ++i)
    counts[static_cast<std::size_t>(data.classes()[part.rows[i]])] += part.weights[i];
}

double sum(const double* counts, std::size_t n_classes) { return std::accumulate(counts, counts + n_classes, 0.0); }

double errors(const double* counts, std::size_t n_classes) {
  return sum(counts, n_classes) - *std::max_element(counts, counts + n_classes);
}

std::vector<Part> divide(const MultiwayTree& tree, std::size_t node, const Columns& data, const Part& part) {
  const std::size_t n = tree.n_children[node];
  std::vector<Part> parts(n);
  std::vector<double> share(n, 0.0);
  std::vector<std::size_t> unknown;
  double known = 0;
  for (std::size_t i = 0; i < part.rows.size(); ++i) {
    const std::int32_t k = tree.branch(node, data, part.rows[i]);
    if (k < 0) {
      unknown.push_back(i);
      continue;
    }
    parts[static_cast<std::size_t>(k)].add(part.rows[i], part.weights[i]);
    share[static_cast<std::size_t>(k)] += part.weights[i];
    known += part.weights[i];
  }
  if (unknown.empty()) return parts;
  for (std::size_t k = 0; k < n; ++k) {
    const double s = known < kSmall ? 1.0 / static_cast<double>(n) : share[k] / known;
    if (s <= kSmall) continue;
    for (std::size_t i : unknown) parts[k].add(part.rows[i], s * part.weights[i]);
  }
  return parts;
}

}  // namespace c45

MultiwayTree grow_c45(Columns& data, const C45Options& options, Control& control) {
  using c45::Part;
  if (data.n_classes() == 0 || data.n_rows() == 0) throw InvalidInput("growing a tree needs rows with classes");
  data.sort(&control);
  c45::Chooser chooser(data, options, control);
  MultiwayTree tree(data.n_classes());
  tree.add_root();
  Part all;
  for (std::uint32_t row = 0; row < data.n_rows(); ++row) all.add(row, data.examples(row));

  struct Open {
    std::size_t node, depth;
    Part part;
  };
  std::vector<Open> open;
  open.push_back({0, 0, all});
  std::size_t held = all.bytes(), grown = 0;
  control.check_memory(held + data.bytes());
  while (!open.empty()) {
    Open here = std::move(open.back());
    open.pop_back();
    control.check(true, "growing", ++grown, 0);
    c45::count_classes(data, here.part, tree.counts(here.node));
    if (here.depth < kDeepest) {
      const c45::Test test = chooser.choose(here.part, tree.counts(here.node));
      if (test.attribute >= 0) {
        const std::size_t first = tree.split(here.node, test.attribute, test.threshold, test.n_branches);
        std::vector<Part> parts = c45::divide(tree, here.node, data, here.part);
        for (std::size_t k = 0; k < parts.size(); ++k) {
          held += parts[k].bytes();
          if (!parts[k].rows.empty()) open.push_back({first + k, here.depth + 1, std::move(parts[k])});
        }
        control.check_memory(held + tree.bytes() + data.bytes());
      }
    }
    held -= here.part.bytes();
  }
  if (options.collapse) c45::collapse(tree);
  if (options.prune) c45::prune(tree, data, all, options, control);
  tree.compact();
  return tree;
}

void predict_c45(const MultiwayTree& tree, const Columns& data, bool laplace, double* out, Control& control) {
  tree.check(data);
  const std::size_t n_classes = tree.n_classes();
  std::vector<double> totals(tree.n_nodes());
  for (std::size_t node = 0; node < totals.size(); ++node) totals[node] = tree.total(node);
  std::vector<std::pair<std::size_t, double>> open;  // nodes that a share of the row reached
  std::fill_n(out, data.n_rows() * n_classes, 0.0);
  for (std::size_t row = 0; row < data.n_rows(); ++row) {
    if (row % 1024 == 0) control.check(true, "predicting", row, data.n_rows());
    double* proba = out + row * n_classes;
    open.assign(1, {0, 1.0});
    while (!open.empty()) {
      auto [node, weight] = open.back();
      open.pop_back();
      bool shared = false;
      while (!tree.is_leaf(node)) {
        const std::int32_t k = tree.branch(node, data, row);
        const std::size_t first = tree.first_child[node];
        if (k == kMissing) {
          double known = 0;
          for (std::size_t i = 0; i < tree.n_children[node]; ++i) known += totals[first + i];
          for (std::size_t i = 0; i < tree.n_children[node]; ++i)
            if (totals[first + i] > 0) open.emplace_back(first + i, weight * totals[first + i] / known);
          shared = known > 0;
          break;
        }
        if (k < 0 || totals[first + static_cast<std::size_t>(k)] <= 0) break;
        node = first + static_cast<std::size_t>(k);
      }
      if (shared) continue;
      const double* counts = tree.counts(node);
      const double one = laplace ? 1.0 : 0.0, total = totals[node] + one * static_cast<double>(n_classes);
      for (std::size_t c = 0; c < n_classes; ++c) proba[c] += weight * (counts[c] + one) / total;
    }
  }
}

}  // namespace everytree::grow
