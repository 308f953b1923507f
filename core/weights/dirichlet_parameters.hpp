// Dirichlet parameters of leaves, by depth and class; the last row goes on for deeper leaves. There is at least one
// row, rows are equally long, and every parameter is positive and finite: whoever has them need not look again.
//
// With a power η, 0 < η ≤ 1, a leaf weighs M(n)^η in the posterior; what it says of the next example stays the same.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <vector>

namespace everytree {

class DirichletParameters {
 public:
  using Row = std::vector<double>;

  DirichletParameters(std::vector<Row> rows, double power = 1);  // NOLINT: rows that were checked are parameters
  DirichletParameters(std::initializer_list<Row> rows) : DirichletParameters(std::vector<Row>(rows)) {}

  std::size_t n_classes() const { return rows_[0].size(); }
  std::size_t size() const { return rows_.size(); }
  const Row& operator[](std::size_t row) const { return rows_[row]; }
  const Row& at_depth(std::size_t depth) const { return rows_[depth < rows_.size() ? depth : rows_.size() - 1]; }
  double power() const { return power_; }
  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }

  // Throws unless there is one parameter per class.
  void check_classes(std::size_t n_classes) const;

 private:
  std::vector<Row> rows_;
  double power_ = 1;
};

}  // namespace everytree
