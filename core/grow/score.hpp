// Scores of class counts that add up exactly:
//
//   score(n) = Σ_c up_c(n_c) − total(Σ n)
//     Dirichlet   up_c(n) = log a_c(a_c+1)…(a_c+n−1), total the same with Σa:  score = logM(n)
//                 or log Γ(a_c+n/f)/Γ(a_c), where f counts make one example
//     entropy     up_c(n) = total(n) = n log n:                                score = −n · H(n), in nats
//
// Every entry is a whole multiple of one unit, a power of two as fine as doubles are at the size of the largest sum.
// Sums of whole numbers do not depend on the order of the rows, so neither do qualities nor ties between tests.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/control.hpp"
#include "weights/dirichlet_parameters.hpp"

namespace everytree::grow {

// One function of a count, as a table. Beyond the table it is computed: only weights in the millions ask for that.
class Climb {
 public:
  // log a(a+1)…(a+n−1) times scale, of n / per_example examples
  Climb(double a, double scale, std::int64_t upto, Control* control = nullptr, double per_example = 1);
  static Climb entropy(double scale, std::int64_t upto, Control* control = nullptr);
  std::int64_t operator()(std::int64_t n) const {
    return static_cast<std::size_t>(n) < table_.size() ? table_[static_cast<std::size_t>(n)] : far(n);
  }
  std::size_t bytes() const { return table_.size() * sizeof(std::int64_t); }

 private:
  Climb() = default;
  std::int64_t far(std::int64_t n) const;
  double a_ = 0, scale_ = 1, per_example_ = 1;
  bool entropy_ = false;
  std::vector<std::int64_t> table_;
};

class Score {
 public:
  // The unit that suits these parameters (of all depths) and so many examples.
  static double unit_for(const DirichletParameters& a, std::int64_t n_examples);
  // Tables of millions take a while: with `control` there is a look at the limits before each and on the way; `held`
  // bytes are there already.
  static Score dirichlet(const std::vector<double>& a, const std::vector<std::int64_t>& class_totals, double unit,
                         Control* control = nullptr, std::size_t held = 0, std::int64_t per_example = 1);
  static Score entropy(const std::vector<std::int64_t>& class_totals, Control* control = nullptr, std::size_t held = 0);

  std::size_t n_classes() const { return up_.size(); }
  const Climb& up(std::size_t c) const { return *up_[c]; }
  const Climb& total() const { return *total_; }
  double unit() const { return unit_; }
  double in_nats(std::int64_t score) const { return static_cast<double>(score) * unit_; }
  std::int64_t operator()(const std::int64_t* counts) const {
    std::int64_t sum = 0, n = 0;
    for (std::size_t c = 0; c < up_.size(); ++c)
      if (counts[c] != 0) {
        sum += up(c)(counts[c]);
        n += counts[c];
      }
    return sum - total()(n);
  }
  // Scores so far apart differ by more than the rounding of their entries.
  std::int64_t tie() const { return 8 * static_cast<std::int64_t>(up_.size() + 2); }
  std::size_t bytes() const;

 private:
  double unit_ = 1;
  std::vector<std::shared_ptr<const Climb>> up_;  // classes with equal a share one
  std::shared_ptr<const Climb> total_;
};

}  // namespace everytree::grow
