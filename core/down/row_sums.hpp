// Sums over the leaves that each row of a batch may reach.
//
// For weights w of leaves (or of mixtures of leaves) with mean m, variance v between them and variance u within them,
//     W = Σ w,   S = Σ w m,   within = Σ w u
//     between = Σ w v + Σ w (m − S/W)²,  by  between += w v + (m − S/W)² · W w / (W + w)   (West 1979)
// so that no variance is a difference of two sums: it is never below zero, and small ones keep their digits.
#pragma once

#include <cstddef>
#include <vector>

namespace everytree {

class RowSums {
 public:
  RowSums(std::size_t n_rows, std::size_t n_classes, bool moments)
      : n_classes_(n_classes), moments_(moments), mean_(n_rows * n_classes, 0.0) {
    if (!moments) return;
    weight_.assign(n_rows, 0.0);
    between_ = within_ = mean_;
  }

  // One leaf, or one mixture of leaves, for one row: m[c] given; v[c] and u[c] only where moments are wanted. `mass`
  // holds w · m[c] as the caller wants it summed.
  void add(std::size_t row, double w, const double* mass, const double* m, const double* v, const double* u) {
    const std::size_t at = row * n_classes_;
    if (moments_) {
      const double before = weight_[row];
      const double pull = before > 0 ? before * w / (before + w) : 0.0;
      for (std::size_t c = 0; c < n_classes_; ++c) {
        const double off = pull > 0 ? m[c] - mean_[at + c] / before : 0.0;
        between_[at + c] += w * v[c] + off * off * pull;
        within_[at + c] += w * u[c];
      }
      weight_[row] = before + w;
    }
    for (std::size_t c = 0; c < n_classes_; ++c) mean_[at + c] += mass[c];
  }

  // The same of two classes without moments.
  void add_two(std::size_t row, double first, double second) {
    mean_[2 * row] += first;
    mean_[2 * row + 1] += second;
  }

  bool empty() const { return mean_.empty(); }
  // The sums of two disjoint sets of leaves.
  void add(const RowSums& other) {
    for (std::size_t row = 0; row < weight_.size(); ++row) {
      const double a = weight_[row], b = other.weight_[row];
      if (!(b > 0)) continue;
      for (std::size_t k = row * n_classes_; k < (row + 1) * n_classes_; ++k) {
        const double off = a > 0 ? other.mean_[k] / b - mean_[k] / a : 0.0;
        between_[k] += other.between_[k] + off * off * (a * b / (a + b));
        within_[k] += other.within_[k];
      }
      weight_[row] = a + b;
    }
    for (std::size_t k = 0; k < mean_.size(); ++k) mean_[k] += other.mean_[k];
  }

  double mean(std::size_t row, std::size_t c) const { return mean_[row * n_classes_ + c]; }
  double between(std::size_t row, std::size_t c) const { return between_[row * n_classes_ + c]; }
  double within(std::size_t row, std::size_t c) const { return within_[row * n_classes_ + c]; }

 private:
  std::size_t n_classes_;
  bool moments_;
  std::vector<double> weight_, mean_, between_, within_;
};

}  // namespace everytree
