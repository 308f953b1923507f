// What the trees of a near-best set say of rows: W from the root down, along the nodes that the row may pass.
#include <algorithm>
#include <limits>

#include "common/parallel.hpp"
#include "common/wide.hpp"
#include "sets/near_best.hpp"
#include "sets/near_count.hpp"

namespace everytree {

namespace {

// The few operations on W, for doubles and for numbers beyond their range.
double scaled(double x, double by) { return x * by; }
Wide scaled(const Wide& x, double by) { return x * Wide(by); }
bool positive(double x) { return x > 0; }
bool positive(const Wide& x) { return !x.is_zero(); }
double ratio(double x, double y) { return x / y; }
double ratio(const Wide& x, const Wide& y) { return (x / y).scaled(0); }

template <class Real>
struct Walk {
  std::vector<Real> w, buffer, decided;  // by cell; of one node; per class
  std::vector<std::uint8_t> visited;
  std::vector<double> sent;  // tests of each set that send the row to child 1
  CellBuffer cells;
};

struct Leaves {
  std::vector<double> theta;        // leaf × class
  std::vector<std::uint32_t> vote;  // the class that each leaf says
};

// Add the leaves that decide one row, each with its number of trees.
template <class Real, class Decide>
void walk_row(const NearSet& set, const std::vector<Real>& n, const NewRows& rows, std::size_t row, Walk<Real>& walk,
              Control& control, bool calling_thread, const Decide& decide) {
  for (std::uint32_t id = 0; id < set.n_test_sets(); ++id) {
    std::uint32_t ones = 0;
    const auto tests = set.test_set(id), uppers = set.uppers(id);
    for (std::size_t k = 0; k < tests.size(); ++k)
      ones += rows.holds(row, tests[k] >> 1, uppers.empty() ? 0 : uppers[k]) != static_cast<bool>(tests[k] & 1);
    walk.sent[id] = ones;
  }
  const auto visit = [&](std::uint32_t v) {
    if (walk.visited[v]) return;
    walk.visited[v] = 1;
    const NearSet::Node& node = set.node(v);
    std::fill(walk.w.begin() + static_cast<std::ptrdiff_t>(set.first_cell(node, 1)),
              walk.w.begin() + static_cast<std::ptrdiff_t>(set.first_cell(node, node.most + 1)), Real());
  };
  const std::int32_t* errors = set.cell_errors();
  std::fill(walk.visited.begin(), walk.visited.end(), 0);
  visit(0);
  for (std::size_t k = set.first_cell(set.node(0), 1), end = set.first_cell(set.node(0), set.node(0).most + 1); k < end;
       ++k)
    walk.w[k] = Real(1.0);
  std::size_t work = 0;
  for (std::size_t v = 0; v < set.size(); ++v) {
    if (!walk.visited[v]) continue;
    const NearSet::Node& node = set.node(v);
    walk.cells.load(set, node);
    walk.buffer.assign(walk.cells.size(), Real());
    walk.cells.for_cells([&](std::size_t k, std::size_t at) { walk.buffer[at] = walk.w[k]; });
    if (node.leaf_errors >= 0) decide(node.leaf, walk.buffer[walk.cells.at(1, node.leaf_errors)]);
    for (const auto& c : set.cherries(node)) {
      const Real& w = walk.buffer[walk.cells.at(2, c.errors)];
      const double ones = walk.sent[c.tests], zeros = static_cast<double>(set.test_set(c.tests).size()) - ones;
      if (ones > 0) decide(c.leaf[1], scaled(w, ones));
      if (zeros > 0) decide(c.leaf[0], scaled(w, zeros));
    }
    for (const auto& split : set.splits(node)) {
      const double ones = walk.sent[split.tests], zeros = static_cast<double>(set.test_set(split.tests).size()) - ones;
      if (ones > 0) visit(split.child[1]);
      if (zeros > 0) visit(split.child[0]);
      set.for_pairs(node, split, [&](std::size_t k1, std::size_t from, std::size_t to, std::size_t l, std::int32_t e1) {
        if (ones > 0) {
          Real sum{};
          for (std::size_t k0 = from; k0 < to; ++k0) sum += n[k0] * walk.buffer[walk.cells.at(l, e1 + errors[k0])];
          walk.w[k1] += scaled(sum, ones);
        }
        if (zeros > 0) {
          const Real x = scaled(n[k1], zeros);
          for (std::size_t k0 = from; k0 < to; ++k0) walk.w[k0] += x * walk.buffer[walk.cells.at(l, e1 + errors[k0])];
        }
        work += to - from;
      });
      if (work > (std::size_t{1} << 18)) {
        work = 0;
        control.check(calling_thread, "asking the near-best trees", 0, 0);
      }
    }
  }
}

template <class Real>
void ask_rows(const NearSet& set, const std::vector<Real>& n, const Leaves& leaves, std::size_t n_classes,
              const NewRows& rows, std::size_t n_threads, NearBest::Rows& out, Control& control) {
  const std::size_t n_rows = rows.n_rows;
  Real total{};
  const NearSet::Node& root = set.node(0);
  for (std::size_t k = set.first_cell(root, 1); k < set.first_cell(root, root.most + 1); ++k) total += n[k];
  std::vector<Walk<Real>> walks(std::max<std::size_t>(1, n_threads));
  for (Walk<Real>& walk : walks) {
    walk.w.resize(set.n_cells());
    walk.visited.resize(set.size());
    walk.sent.resize(set.n_test_sets());
  }
  for_each_parallel(n_rows, n_threads, control, "asking the near-best trees", [&](std::size_t r, std::size_t worker) {
    Walk<Real>& walk = walks[worker];
    walk.decided.assign(2 * n_classes, Real());
    double *mean = out.mean.data() + r * n_classes, *votes = out.votes.data() + r * n_classes,
           *least = out.least.data() + r * n_classes, *greatest = out.greatest.data() + r * n_classes;
    walk_row(set, n, rows, r, walk, control, worker == 0, [&](std::uint32_t leaf, const Real& trees) {
      if (!positive(trees)) return;
      const double* theta = leaves.theta.data() + leaf * n_classes;
      for (std::size_t c = 0; c < n_classes; ++c) {
        walk.decided[c] += scaled(trees, theta[c]);
        least[c] = std::min(least[c], theta[c]);
        greatest[c] = std::max(greatest[c], theta[c]);
      }
      walk.decided[n_classes + leaves.vote[leaf]] += trees;
    });
    for (std::size_t c = 0; c < n_classes; ++c) {
      // A mean lies between its extremes, whatever the rounding.
      mean[c] = std::clamp(ratio(walk.decided[c], total), least[c], greatest[c]);
      votes[c] = std::min(1.0, ratio(walk.decided[n_classes + c], total));
    }
  });
}

}  // namespace

NearBest::Rows NearBest::ask(const NewRows& rows, const std::vector<double>& a, Control& control) const {
  const NearSet& set = this->set();
  const std::size_t n_classes = graph_->table().n_classes(), n_rows = rows.n_rows;
  if ((rows.reach != nullptr) != graph_->table().local())
    throw InvalidInput("rows are given by their outcomes, or by their reach where states choose their tests");
  if (a.size() != n_classes) throw InvalidInput("one Dirichlet parameter for each class is needed");
  const bool fits =
      std::holds_alternative<std::vector<std::uint64_t>>(exact_) || std::holds_alternative<std::vector<Limb2>>(exact_);
  // W and N of every cell, what is decided by leaves, and the answers.
  control.check_memory(graph_->bytes() + bytes() + set.n_cells() * (fits ? 8 : 32) * n_threads_ +
                       set.leaves().size() * (8 * n_classes + 4) + 32 * n_rows * n_classes);
  Leaves leaves;
  leaves.theta.resize(set.leaves().size() * n_classes);
  leaves.vote.resize(set.leaves().size());
  for (std::size_t leaf = 0; leaf < set.leaves().size(); ++leaf) {
    const std::int32_t* counts = set.leaves().counts(leaf);
    double* theta = leaves.theta.data() + leaf * n_classes;
    double sum = 0;
    for (std::size_t c = 0; c < n_classes; ++c) sum += theta[c] = counts[c] + a[c];
    for (std::size_t c = 0; c < n_classes; ++c) theta[c] /= sum;
    // The errors that rank the trees are those outside the largest class, so that is what a leaf says.
    std::uint32_t said = 0;
    for (std::uint32_t c = 1; c < n_classes; ++c)
      if (counts[c] > counts[said] || (counts[c] == counts[said] && theta[c] > theta[said])) said = c;
    leaves.vote[leaf] = said;
  }
  Rows out;
  out.mean.assign(n_rows * n_classes, 0.0);
  out.votes.assign(n_rows * n_classes, 0.0);
  out.least.assign(n_rows * n_classes, std::numeric_limits<double>::infinity());
  out.greatest.assign(n_rows * n_classes, -std::numeric_limits<double>::infinity());
  // W and N are at most the number of trees, so one test tells whether doubles will do.
  if (fits)
    ask_rows(set, approximate_, leaves, n_classes, rows, n_threads_, out, control);
  else
    ask_rows(set, count_cells<Wide>(set, control), leaves, n_classes, rows, n_threads_, out, control);
  return out;
}

}  // namespace everytree
