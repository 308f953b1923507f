// Rows at a node of C4.5, each with the share of its weight that is there; and the tests scored on them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "grow/c45.hpp"

namespace everytree::grow::c45 {

// C4.5 and J48 call numbers equal that differ by less; so do we, or near ties would be decided by rounding.
constexpr double kSmall = 1e-6;

struct Part {
  std::vector<std::uint32_t> rows;  // every row at most once
  std::vector<double> weights;
  std::size_t bytes() const { return rows.capacity() * 4 + weights.capacity() * 8; }
  void add(std::uint32_t row, double weight) {
    rows.push_back(row);
    weights.push_back(weight);
  }
};

// Class counts of a part, written to counts.
void count_classes(const Columns& data, const Part& part, double* counts);
double errors(const double* counts, std::size_t n_classes);  // all but the most frequent class
double sum(const double* counts, std::size_t n_classes);

// The rows of a node by branch; a row without a value goes to every branch that has known rows.
std::vector<Part> divide(const MultiwayTree& tree, std::size_t node, const Columns& data, const Part& part);

struct Test {
  std::int32_t attribute = -1;  // −1: no test
  double threshold = std::numeric_limits<double>::quiet_NaN();
  std::size_t n_branches = 0;
};

// Finds the test of a node. Buffers are reused from node to node.
class Chooser {
 public:
  Chooser(const Columns& data, const C45Options& options, Control& control);
  Test choose(const Part& part, const double* counts);

 private:
  struct Score {
    double gain = 0, ratio = 0, threshold = std::numeric_limits<double>::quiet_NaN();
    bool useful = false;
  };
  double n_log_n(double x) const {  // x log2 x; tabulated for whole x, which is all there is without missing values
    if (x < kSmall) return 0;
    if (x < static_cast<double>(table_.size())) {
      const auto k = static_cast<std::size_t>(x);
      if (static_cast<double>(k) == x) return table_[k];
    }
    return x * std::log2(x);
  }
  double sum_n_log_n(const double* counts) const;
  double gain(double old_entropy, double new_entropy, double known) const;
  double ratio(double gain, double branches_n_log_n, double known) const;
  Score nominal(const Column& column, const Part& part);
  Score binary(const Column& column, const std::vector<double>& known_counts, double known);
  Score numeric(const Column& column, const Part& part);
  void sorted_positions(const Column& column, const Part& part);

  const Columns& data_;
  const C45Options& options_;
  Control& control_;
  std::size_t n_classes_;
  double total_ = 0;  // of the node
  std::vector<double> table_;
  std::vector<double> bags_, bag_totals_;  // nominal: counts by value and class; zero between uses
  std::vector<std::int32_t> touched_;
  std::vector<double> left_, right_;
  std::vector<std::uint32_t> slot_;  // row → position in the part + 1, or 0
  std::vector<std::uint32_t> positions_;
  std::vector<std::uint64_t> keys_;
  std::vector<Score> scores_;
};

// What is undone after growing, in this order.
void collapse(MultiwayTree& tree);
void prune(MultiwayTree& tree, const Columns& data, const Part& all, const C45Options& options, Control& control);

}  // namespace everytree::grow::c45
