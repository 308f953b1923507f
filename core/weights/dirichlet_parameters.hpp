// Dirichlet parameters of leaves, by depth and class; the last row goes on for deeper leaves. There is at least one
// row, rows are equally long, and every parameter is positive and finite: whoever has them need not look again.
//
// With a power η, 0 ≤ η ≤ 1, a leaf weighs M(n)^η in the posterior; what it says of the next example stays the same.
//
// `per_example` counts make one example: tables count in whole numbers of 1 / per_example examples where weights have
// fractions. The parameters are in examples, and n counts weigh Γ(a + n / per_example) / Γ(a).
//
// With κ > 0 a leaf also weighs its share of all N examples to that power, (n/N)^κ. That is a prior which prefers
// balanced tests: as every n but the root's stands once above and, if the node is split, once below,
//     Π_leaves n/N = Π_splits n_1 · n_0 / (n · N)
// so that the tests of a node weigh (n_1 · n_0)^κ beside each other. It stands here and not with the priors because all
// tables of leaves are made here: no fold knows of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace everytree {

class DirichletParameters {
 public:
  using Row = std::vector<double>;
  static constexpr double kMostKappa = 10;

  // NOLINTNEXTLINE: rows that were checked are parameters
  DirichletParameters(std::vector<Row> rows, double power = 1, std::int64_t per_example = 1, double kappa = 0);
  DirichletParameters(std::initializer_list<Row> rows) : DirichletParameters(std::vector<Row>(rows)) {}

  std::size_t n_classes() const { return rows_[0].size(); }
  std::size_t size() const { return rows_.size(); }
  const Row& operator[](std::size_t row) const { return rows_[row]; }
  const Row& at_depth(std::size_t depth) const { return rows_[depth < rows_.size() ? depth : rows_.size() - 1]; }
  double power() const { return power_; }
  std::int64_t per_example() const { return per_example_; }
  double kappa() const { return kappa_; }
  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }

  // Throws unless there is one parameter per class.
  void check_classes(std::size_t n_classes) const;

 private:
  std::vector<Row> rows_;
  double power_ = 1;
  std::int64_t per_example_ = 1;
  double kappa_ = 0;
};

}  // namespace everytree
