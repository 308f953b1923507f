// Which nodes may be leaves, by their class counts n_c (n = Σ n_c) inside data of T_c examples (N = ΣT_c):
//
//     support   n ≥ min_support
//     margin    the largest class leads every other one by min_margin examples
//     chi2      χ² = Σ_c (N·n_c − n·T_c)² / (n·(N − n)·T_c) ≥ threshold,  and 0 where n = N
//
// χ² is Pearson's statistic of leaf-versus-rest against the class. Near the threshold it is compared in whole numbers:
// a leaf is allowed if and only if χ², rounded to the nearest double, reaches the threshold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace everytree {

class LeafRule {
 public:
  LeafRule() = default;
  // totals: examples per class of all the data; only χ² looks at them.
  LeafRule(std::int64_t min_support, std::int64_t min_margin, double min_chi2, std::vector<std::int64_t> totals);

  bool none() const { return min_support_ <= 1 && min_margin_ <= 0 && !(min_chi2_ > 0); }
  bool allows(const std::int32_t* counts, std::size_t n_classes, std::size_t stride = 1) const;
  // No leaf with fewer examples is allowed: what the rule says about coverage alone.
  std::int64_t least_support() const;
  bool operator==(const LeafRule&) const = default;

 private:
  bool enough_chi2(const std::int32_t* counts, std::size_t n_classes, std::size_t stride, std::int64_t n) const;
  bool exactly_enough(const std::vector<std::uint64_t>& distance, std::int64_t n) const;

  std::int64_t min_support_ = 0, min_margin_ = 0, total_ = 0;
  double min_chi2_ = 0;
  std::vector<std::int64_t> totals_;
};

}  // namespace everytree
