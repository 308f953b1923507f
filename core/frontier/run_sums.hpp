// Second tests by column: what attribute-fair shares make of the terms of single pairs.
//
// A column has the share 1 / (columns with a feasible test), and a test of it 1 / (feasible tests of the column). So at
// side a of test i
//     split_a(i) = 1 / columns · Σ_columns 1 / tests(column) · Σ_{j in the column} term_a(i, j)
// with the sums over feasible tests, or with maxima in their place. Groups of the frontier are single tests here, and
// those of a column stand together: a *run*. A pair is counted once for both of its tests, as Apart says: the terms of
// i are summed run by run at once; those of the later tests gather until the run of i ends.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "algebra/product.hpp"
#include "frontier/frontier.hpp"
#include "kernels/kernels.hpp"
#include "weights/prior.hpp"

namespace everytree {

class RunSums {
 public:
  // The runs of the groups of the frontier.
  void load(const Frontier& frontier, const Prior& prior) {
    begin_.clear();
    run_of_.clear();
    std::int32_t last = -1;
    for (std::size_t g = 0; g < frontier.n_groups(); ++g) {
      if (const std::int32_t a = prior.attribute[*frontier.parts_begin(g) >> 1]; a != last) {
        begin_.push_back(g);
        last = a;
      }
      run_of_.push_back(begin_.size() - 1);
    }
    begin_.push_back(frontier.n_groups());
  }
  std::size_t n_runs() const { return begin_.size() - 1; }
  std::size_t begin(std::size_t run) const { return begin_[run]; }
  std::size_t run_of(std::size_t g) const { return run_of_[g]; }
  // After fold and set_shares: 1 / (feasible tests of the run at side a of each test), 0 if there is none; and the runs
  // that have any.
  void set_shares() {
    for (int a = 0; a < 2; ++a) {
      share_[a].resize(feasible_[a].size());
      for (std::size_t k = 0; k < share_[a].size(); ++k)
        share_[a][k] = feasible_[a][k] == 0 ? 0.0 : 1 / static_cast<double>(feasible_[a][k]);
    }
  }
  const double* share(int a, std::size_t run) const { return share_[a].data() + run * stride_; }
  double n_columns(int a, std::size_t i) const { return n_columns_[a][i]; }

  // pairs(i, apart) gives the terms of test i, with kLog in the form of the kernels for logarithms. Then split[a][i] is
  // as above (for the maximum of logarithms its logarithm; A's zero without a feasible test), and tests[a][i] the
  // number of feasible tests.
  template <PlainProduct A, bool kLog, class Pairs>
  void fold(std::size_t stride, std::vector<double> (&split)[2], std::vector<double> (&tests)[2], Pairs&& pairs) {
    constexpr bool kMaxLog = kLog && Idempotent<A>;
    constexpr double kNone = kMaxLog ? -std::numeric_limits<double>::infinity() : 0.0;
    const std::size_t n = begin_.back();
    stride_ = stride;
    while (log_.size() <= n) log_.push_back(log_.empty() ? 0.0 : std::log(static_cast<double>(log_.size())));
    for (int a = 0; a < 2; ++a) {
      own_[a].resize(stride);
      run_split_[a].resize(stride);
      run_tests_[a].resize(stride);
      n_columns_[a].assign(n, 0);
      feasible_[a].assign(n_runs() * stride, 0);
      std::fill_n(split[a].begin(), n, kNone);
      std::fill_n(tests[a].begin(), n, 0.0);
    }
    const Apart apart{{own_[0].data(), own_[1].data()},
                      {run_split_[0].data(), run_split_[1].data()},
                      {run_tests_[0].data(), run_tests_[1].data()}};
    const auto add = [](double& sum, double x) {
      if constexpr (Idempotent<A>)
        sum = std::max(sum, x);
      else
        sum += x;
    };
    // What columns add up to at one side of one test: in registers, which took 2 to 14 % off the evidence of states
    // that choose their cuts.
    struct Columns {
      double split, tests;
      std::uint32_t n;
    };
    const auto column = [&](Columns& to, double sum, std::uint32_t m) {
      if (m == 0) return;
      if constexpr (kMaxLog)
        add(to.split, sum - log_[m]);
      else
        add(to.split, sum / static_cast<double>(m));
      to.tests += m;
      ++to.n;
    };
    for (std::size_t r = 0; r < n_runs(); ++r) {
      const std::size_t first = begin_[r] & ~std::size_t{3};  // kernels work on whole vectors
      for (int a = 0; a < 2; ++a) {
        std::fill(run_split_[a].begin() + static_cast<std::ptrdiff_t>(first), run_split_[a].end(), kNone);
        std::fill(run_tests_[a].begin() + static_cast<std::ptrdiff_t>(first), run_tests_[a].end(), 0.0);
      }
      for (std::size_t i = begin_[r]; i < begin_[r + 1] && i + 1 < n; ++i) {
        pairs(i, apart);
        for (int a = 0; a < 2; ++a) {
          const double* own = own_[a].data();
          const auto sum_of = [own, add](std::size_t from, std::size_t to, double& sum) {
            std::uint32_t m = 0;
            for (std::size_t j = from; j < to; ++j) {
              const bool feasible = kLog ? own[j] > (kMaxLog ? kNone : -0.5) : own[j] > 0;
              add(sum, feasible ? own[j] : kNone);
              m += feasible ? 1 : 0;
            }
            return m;
          };
          run_tests_[a][i] += sum_of(i + 1, begin_[r + 1], run_split_[a][i]);  // the rest of its own column
          Columns columns{split[a][i], tests[a][i], n_columns_[a][i]};
          std::uint32_t* feasible = feasible_[a].data() + i;
          for (std::size_t q = r + 1; q < n_runs(); ++q) {
            double sum = kNone;
            column(columns, sum, feasible[q * stride] = sum_of(begin_[q], begin_[q + 1], sum));
          }
          split[a][i] = columns.split;
          tests[a][i] = columns.tests;
          n_columns_[a][i] = columns.n;
        }
      }
      for (int a = 0; a < 2; ++a)
        for (std::size_t j = begin_[r]; j < n; ++j) {
          Columns columns{split[a][j], tests[a][j], n_columns_[a][j]};
          column(columns, run_split_[a][j],
                 feasible_[a][r * stride + j] = static_cast<std::uint32_t>(run_tests_[a][j]));
          split[a][j] = columns.split;
          tests[a][j] = columns.tests;
          n_columns_[a][j] = columns.n;
        }
    }
    for (int a = 0; a < 2; ++a)
      for (std::size_t i = 0; i < n; ++i) {
        if (n_columns_[a][i] == 0) continue;
        if constexpr (kMaxLog)
          split[a][i] -= log_[n_columns_[a][i]];
        else
          split[a][i] /= static_cast<double>(n_columns_[a][i]);
      }
  }

 private:
  std::vector<std::size_t> begin_, run_of_;
  std::size_t stride_ = 0;
  std::vector<double> own_[2], run_split_[2], run_tests_[2], share_[2], log_;
  std::vector<std::uint32_t> n_columns_[2], feasible_[2];  // feasible tests by run and test
};

}  // namespace everytree
