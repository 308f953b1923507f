// Weights of leaves of two classes as plain doubles, for the kernels of the frontier.
#pragma once

#include <cstdint>
#include <vector>

#include "weights/dirichlet.hpp"

namespace everytree {

// logM for two classes in the linear domain, scaled:  exp(logM(n_0, n_1) + s·(n_0 + n_1)), and 0 below min_leaf.
// A product over the parts of a cover then carries the factor exp(s · examples of the cover), whatever the parts,
// so sums over trees are sums of plain doubles. One table per Dirichlet variant (depth), all with the same s.
class LinearTables {
 public:
  // Bounds: no cover asked about has more than max0, max1 examples of the two classes.
  LinearTables(const Dirichlet& leaf, std::int32_t max0, std::int32_t max1, std::int64_t min_leaf);
  const double* at_depth(const Dirichlet& leaf, std::size_t depth) const { return tables_[leaf.variant(depth)].data(); }
  int shift() const { return shift_; }             // entry n_0 << shift | n_1
  double log_scale() const { return log_scale_; }  // s
  // Covers with more examples than this could leave the range of a double.
  std::int32_t safe_total() const { return safe_total_; }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& table : tables_) sum += table.size() * sizeof(double);
    return sum;
  }

 private:
  std::vector<std::vector<double>> tables_;
  int shift_ = 0;
  double log_scale_ = 0;
  std::int32_t safe_total_ = 0;
};

}  // namespace everytree
