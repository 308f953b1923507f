// logM of class counts of any size, with Dirichlet parameters a by depth and class:
//     logM(n) = Σ_c log a_c(a_c+1)…(a_c+n_c−1) − log Σa(Σa+1)…(Σa+n−1)
// of examples: n counts are n / per_example of them. Only classes with examples matter, so counts come as (class,
// count) pairs. Tables grow with their use.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "weights/dirichlet_parameters.hpp"
#include "weights/rising.hpp"

namespace everytree {

class Marginals {
 public:
  explicit Marginals(const DirichletParameters& a) {
    for (const auto& row : a) {
      Variant v;
      v.a = row;
      for (const double x : row) {
        std::size_t k = 0;
        while (k < v.rising.size() && k < kShared && v.rising[k].a() != x) ++k;
        if (k == v.rising.size() || v.rising[k].a() != x) {
          k = v.rising.size();
          v.rising.emplace_back(x, a.per_example());
        }
        v.table_of.push_back(k);
      }
      v.sum_a = std::accumulate(row.begin(), row.end(), 0.0);
      v.rising_sum.emplace_back(v.sum_a, a.per_example());
      variants_.push_back(std::move(v));
    }
  }

  std::size_t n_variants() const { return variants_.size(); }
  std::size_t variant(std::size_t depth) const { return depth < variants_.size() ? depth : variants_.size() - 1; }
  double a(std::size_t depth, std::size_t c) const { return variants_[variant(depth)].a[c]; }
  double sum_a(std::size_t depth) const { return variants_[variant(depth)].sum_a; }

  double log_marginal(std::size_t depth, const std::uint32_t* classes, const std::int64_t* counts, std::size_t size) {
    Variant& v = variants_[variant(depth)];
    double sum = 0;
    std::int64_t n = 0;
    for (std::size_t k = 0; k < size; ++k) {
      sum += look_up(v.rising[v.table_of[classes[k]]], counts[k], v.asked);
      n += counts[k];
    }
    return sum - look_up(v.rising_sum[0], n, v.asked);
  }

 private:
  static constexpr std::size_t kShared = 16;  // so many different parameters are looked through for an equal one

  struct Variant {
    std::vector<double> a;
    double sum_a = 0;
    std::vector<std::size_t> table_of;  // classes with equal a share a table
    std::vector<Rising> rising;
    std::vector<Rising> rising_sum;  // one
    std::int64_t asked = 0;
  };
  // A table is filled no further than it was asked: then its entries cost no more than the questions.
  static double look_up(Rising& table, std::int64_t n, std::int64_t& asked) {
    ++asked;
    if (n <= 64 || n <= asked) table.reach(n);
    return table(n);
  }
  std::vector<Variant> variants_;
};

}  // namespace everytree
