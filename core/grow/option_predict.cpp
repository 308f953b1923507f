// Rows flow down the option graph in blocks, level by level: an entry is (node, row, weight). Entries of a level are
// grouped by node; a node adds up what a row brings on several ways, keeps what stops there, and hands on the rest.
// Nodes of a level are taken in the order of their numbers, so that no sum depends on the other rows of the block.

#include <algorithm>
#include <cmath>

#include "common/errors.hpp"
#include "grow/option_fold.hpp"

namespace everytree::grow {

namespace {

constexpr std::size_t kMany = std::size_t{1} << 20;  // entries of a level, or cells of the answer: blocks get smaller

struct Entry {
  std::uint32_t node, row;
  double weight;
};

class Flow {
 public:
  Flow(const OptionGraph& graph, const Folded& folded, const DirichletParameters& a, const Columns& data, double* out,
       Control& control)
      : graph_(graph),
        folded_(folded),
        a_(a),
        data_(data),
        out_(out),
        control_(control),
        slot_(graph.n_nodes(), kNoChild) {
    for (const auto& row : a) {
      double sum = 0;
      for (const double x : row) sum += x;
      sum_a_.push_back(sum * static_cast<double>(a.per_example()));
    }
    for (std::size_t node = 0; node < graph.n_nodes(); ++node) total_.push_back(static_cast<double>(graph.total(node)));
  }

  void run() {
    std::size_t block = std::clamp<std::size_t>(kMany / graph_.n_classes(), 1, 64);
    for (std::size_t first = 0; first < data_.n_rows();) {
      const std::size_t n = std::min(block, data_.n_rows() - first);
      most_ = 0;
      flow(first, n);
      work_ += n * graph_.n_classes();
      first += n;
      if (most_ < kMany / 4 && block < 4096 && 2 * block * graph_.n_classes() <= kMany) block *= 2;
      if (most_ > kMany && block > 1) block /= 2;
    }
  }

 private:
  void flow(std::size_t first, std::size_t n) {
    const std::size_t n_classes = graph_.n_classes();
    std::fill(out_ + first * n_classes, out_ + (first + n) * n_classes, 0.0);
    weight_.assign(n, 0.0);
    base_.assign(n, 0.0);
    seen_.assign(n, 0);
    now_.clear();
    for (std::uint32_t row = 0; row < n; ++row) now_.push_back({0, row, 1.0});
    for (std::size_t depth = 0; !now_.empty(); ++depth) {
      group();
      next_.clear();
      for (std::size_t k = 0; k < nodes_.size(); ++k) pass(first, k, depth);
      // The parameters of a depth, or, where all deeper nodes share them, once for all of these.
      if (next_.empty() || depth + 1 < a_.size()) {
        const std::vector<double>& a = a_.at_depth(depth);
        const auto counts = static_cast<double>(a_.per_example());
        for (std::size_t row = 0; row < n; ++row) {
          if (base_[row] == 0) continue;
          double* to = out_ + (first + row) * n_classes;
          for (std::size_t c = 0; c < n_classes; ++c) to[c] += base_[row] * (a[c] * counts);
          base_[row] = 0;
        }
      }
      most_ = std::max(most_, next_.size());
      now_.swap(next_);
    }
  }

  // now_ by node: entries begin_[k] … begin_[k + 1] − 1 of sorted_ are at nodes_[k], in their old order.
  void group() {
    nodes_.clear();
    for (const Entry& e : now_)
      if (slot_[e.node] == kNoChild) {
        slot_[e.node] = 0;
        nodes_.push_back(e.node);
      }
    std::sort(nodes_.begin(), nodes_.end());
    for (std::size_t k = 0; k < nodes_.size(); ++k) slot_[nodes_[k]] = static_cast<std::uint32_t>(k);
    begin_.assign(nodes_.size() + 1, 0);
    for (const Entry& e : now_) ++begin_[slot_[e.node] + 1];
    for (std::size_t k = 0; k < nodes_.size(); ++k) begin_[k + 1] += begin_[k];
    fill_.assign(begin_.begin(), begin_.end() - 1);
    sorted_.resize(now_.size());
    for (const Entry& e : now_) sorted_[fill_[slot_[e.node]]++] = e;
    for (const std::uint32_t node : nodes_) slot_[node] = kNoChild;
  }

  void pass(std::size_t first, std::size_t k, std::size_t depth) {
    const std::size_t node = nodes_[k], n_classes = graph_.n_classes();
    rows_.clear();
    for (std::size_t e = begin_[k]; e < begin_[k + 1]; ++e) {
      const Entry& entry = sorted_[e];
      if (!seen_[entry.row]) {
        seen_[entry.row] = 1;
        rows_.push_back(entry.row);
      }
      weight_[entry.row] += entry.weight;
    }
    stops_.clear();
    for (const std::uint32_t row : rows_) stops_.push_back(weight_[row] * folded_.p_leaf[node]);
    for (std::size_t o = graph_.option_begin(node); o < graph_.option_end(node); ++o) {
      const double p = folded_.p_option[o];
      if (p == 0) continue;
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        const double w = weight_[rows_[i]] * p;
        if (w == 0) continue;
        const std::uint32_t child = graph_.child_of(o, data_, first + rows_[i]);
        if (child == kNoChild)
          stops_[i] += w;
        else
          next_.push_back({child, rows_[i], w});
      }
    }
    const double scale = 1 / (total_[node] + sum_a_[std::min(depth, sum_a_.size() - 1)]);
    const std::size_t begin = graph_.count_begin(node), end = graph_.count_begin(node + 1);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const double share = stops_[i] * scale;
      if (share != 0) {
        double* to = out_ + (first + rows_[i]) * n_classes;
        for (std::size_t e = begin; e < end; ++e)
          to[graph_.count_class(e)] += share * static_cast<double>(graph_.count(e));
        base_[rows_[i]] += share;
      }
      weight_[rows_[i]] = 0;
      seen_[rows_[i]] = 0;
    }
    work_ += (begin_[k + 1] - begin_[k]) * (1 + graph_.option_end(node) - graph_.option_begin(node));
    if (work_ < (std::size_t{1} << 16)) return;
    work_ = 0;
    control_.check(true, "predicting", first, data_.n_rows());
    control_.check_memory(graph_.bytes() + data_.bytes() + 12 * slot_.size() + data_.n_rows() * n_classes * 8 +
                          (now_.capacity() + next_.capacity() + sorted_.capacity()) * sizeof(Entry));
  }

  const OptionGraph& graph_;
  const Folded& folded_;
  const DirichletParameters& a_;
  const Columns& data_;
  double* out_;
  Control& control_;
  std::vector<double> sum_a_, total_;
  std::vector<std::uint32_t> slot_;  // of a node in nodes_, while entries are grouped
  std::vector<Entry> now_, next_, sorted_;
  std::vector<std::uint32_t> nodes_, rows_;
  std::vector<std::size_t> begin_, fill_;
  std::vector<double> weight_, base_,
      stops_;  // by row of the block: its weight here, Σ share of a; by rows_: what stops
  std::vector<char> seen_;
  std::size_t most_ = 0, work_ = 0;
};

}  // namespace

void predict(const OptionGraph& graph, const Folded& folded, const DirichletParameters& dirichlet, const Columns& data,
             double* out, Control& control) {
  if (folded.p_leaf.size() != graph.n_nodes() || folded.p_option.size() != graph.n_options())
    throw InvalidInput("the fold is not one of this option graph");
  dirichlet.check_classes(graph.n_classes());
  graph.check(data);
  control.check(true, "predicting", 0, data.n_rows());
  control.check_memory(graph.bytes() + data.bytes() + 12 * graph.n_nodes() + data.n_rows() * graph.n_classes() * 8);
  Flow(graph, folded, dirichlet, data, out, control).run();
}

}  // namespace everytree::grow
