// Quadratic forms at rows whose outcomes rise along runs of tests.
//
// The cuts of a column are ordered: a row for which one holds has all later ones hold, too. Where that is so for every
// row that is asked, a row is known by its place p in the run, the first test that holds, and
//     Σ_{i ≥ p} Σ_{j ≥ q} A_ij = G_pq,    G by suffix sums in both directions, one run against another.
// So a row costs a look-up for each pair of runs instead of a sum over pairs of tests. Runs are found from the rows
// themselves: nothing is assumed of the tests, and any form can be asked this way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "down/patterns.hpp"

namespace everytree {

class TestRuns {
 public:
  // Test e + 1 is in the run of test e if it holds for every row for which e holds. False, and nothing is known, where
  // rows take less time by patterns.
  bool find(const Patterns& patterns, std::size_t n_tests);
  // The same rows in a form where test i has two variables, "does not hold" and "holds", each of them 0 or 1. The
  // variables of a run stand together: first those of the one kind, the last test first, then those of the other.
  void find_doubled(const TestRuns& single);
  // Where find_doubled puts the variable of test i that is 1 if the test has this outcome.
  std::size_t doubled(std::size_t i, bool holds) const { return holds ? holds_[i] : fails_[i]; }

  std::size_t n_tests() const { return begin_.empty() ? 0 : begin_.back(); }
  std::size_t n_runs() const { return begin_.empty() ? 0 : begin_.size() - 1; }
  std::size_t n_rows() const { return n_rows_; }
  std::size_t begin(std::size_t run) const { return begin_[run]; }
  std::size_t end(std::size_t run) const { return begin_[run + 1]; }
  // The first test of the run that holds for a row, or end(run).
  std::uint32_t place(std::size_t run, std::size_t row) const { return place_[run * n_rows_ + row]; }

 private:
  void join(const Patterns& patterns, std::size_t n_tests, std::size_t n_rows);
  bool pay() const;  // whether rows take less time than by patterns, what has to be summed first included

  std::size_t n_rows_ = 0;
  std::vector<std::uint32_t> begin_, place_, holds_, fails_;
  std::vector<std::uint8_t> joined_;
};

// out[r] = Σ_i y_i (linear[i] + Σ_{j > i} a[i * stride + j] y_j). `a` and `linear` are overwritten.
void grid_sums(const TestRuns& runs, double* a, std::size_t stride, double* linear, double* out);

}  // namespace everytree
