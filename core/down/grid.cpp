#include "down/grid.hpp"

#include <algorithm>

namespace everytree {

void TestRuns::join(const Patterns& patterns, std::size_t n_tests, std::size_t n_rows) {
  // joined_[e]: no row has test e hold and test e + 1 not. Three of four neighbours stand in one number.
  joined_.assign(n_tests, 0);
  for (std::size_t e = 0; e < n_tests; e += 4) {
    const std::uint16_t* own = patterns.run_of(e);
    const std::uint16_t* next = e + 4 < n_tests ? patterns.run_of(e + 4) : nullptr;
    std::uint16_t falls = 0, last = 0;
    for (std::size_t r = 0; r < n_rows; ++r) falls |= static_cast<std::uint16_t>(own[r] & ~(own[r] >> 1));
    for (std::size_t r = 0; r < n_rows && next != nullptr; ++r)
      last |= static_cast<std::uint16_t>(own[r] >> 3 & ~next[r] & Patterns::bit(0));
    for (std::size_t b = 0; b < 3 && e + b + 1 < n_tests; ++b) joined_[e + b] = (falls & Patterns::bit(b)) == 0;
    if (next != nullptr) joined_[e + 3] = last == 0;
  }
  begin_.assign(1, 0);
  for (std::uint32_t e = 0; e < n_tests; ++e)
    if (joined_[e] == 0) begin_.push_back(e + 1);
}

bool TestRuns::find(const Patterns& patterns, std::size_t n_tests) {
  constexpr std::size_t kSome = 64;  // More rows never have fewer runs: where some rows have too many, few are read.
  const std::size_t n = n_rows_ = patterns.n_rows;
  for (const std::size_t read : {std::min(kSome, n), n}) {
    join(patterns, n_tests, read);
    if (!pay()) return false;
  }
  place_.resize(n_runs() * n);
  for (std::size_t run = 0; run < n_runs(); ++run) {
    std::uint32_t* at = place_.data() + run * n;
    std::fill_n(at, n, begin_[run + 1]);
    for (std::size_t e = begin_[run]; e < begin_[run + 1]; ++e) {
      const std::uint16_t* own = patterns.run_of(e);
      const std::size_t shift = 3 + e % 4;
      for (std::size_t r = 0; r < n; ++r) at[r] -= own[r] >> shift & 1u;
    }
  }
  return true;
}

void TestRuns::find_doubled(const TestRuns& single) {
  n_rows_ = single.n_rows_;
  begin_.assign(1, 0);
  holds_.resize(single.n_tests());
  fails_.resize(single.n_tests());
  place_.resize(2 * single.place_.size());
  for (std::size_t run = 0; run < single.n_runs(); ++run) {
    const std::uint32_t from = single.begin_[run], n = single.begin_[run + 1] - from, at = begin_.back();
    for (std::uint32_t i = 0; i < n; ++i) {
      fails_[from + i] = at + n - 1 - i;
      holds_[from + i] = at + n + i;
    }
    for (std::size_t r = 0; r < n_rows_; ++r) {
      const std::uint32_t failing = single.place_[run * n_rows_ + r] - from;
      place_[2 * run * n_rows_ + r] = at + n - failing;
      place_[(2 * run + 1) * n_rows_ + r] = at + n + failing;
    }
    begin_.push_back(at + n);
    begin_.push_back(at + 2 * n);
  }
}

bool TestRuns::pay() const {
  // In units of one addition, as measured: patterns take 1/160 of the pairs of tests for a row; here the sums take 1/2
  // of them in all, and a row 1/6 of the pairs of runs and 1/10 of the tests.
  const double n = static_cast<double>(n_tests()), runs = static_cast<double>(n_runs());
  const double rows = static_cast<double>(n_rows_);
  return rows >= 8 && n >= 16 && rows * (n * n / 160 - runs * runs / 6 - n / 10) > n * n / 2;
}

namespace {

// Suffix sums along the runs from one on, of some lines of the form: several at a time, as each waits for itself.
template <std::size_t kLines>
void along(const TestRuns& runs, std::size_t from_run, double* a, std::size_t stride) {
  for (std::size_t run = from_run; run < runs.n_runs(); ++run) {
    double sum[kLines] = {};
    for (std::size_t j = runs.end(run); j-- > runs.begin(run);)
      for (std::size_t k = 0; k < kLines; ++k) a[k * stride + j] = sum[k] += a[k * stride + j];
  }
}

}  // namespace

void grid_sums(const TestRuns& runs, double* a, std::size_t stride, double* linear, double* out) {
  const std::size_t n_rows = runs.n_rows(), n = runs.n_tests();
  // Pairs within a run are a part of what its place gives.
  for (std::size_t run = 0; run < runs.n_runs(); ++run) {
    double own = 0;
    for (std::size_t i = runs.end(run); i-- > runs.begin(run);) {
      for (std::size_t j = i + 1; j < runs.end(run); ++j) own += a[i * stride + j];
      linear[i] = own += linear[i];
    }
  }
  for (std::size_t run = 0; run < runs.n_runs(); ++run) {
    const std::size_t after = runs.end(run);
    for (std::size_t i = after - 1; i-- > runs.begin(run);) {
      double* line = a + i * stride;
      const double* below = line + stride;
      for (std::size_t j = after; j < n; ++j) line[j] += below[j];
    }
    std::size_t i = runs.begin(run);
    for (; i + 8 <= after; i += 8) along<8>(runs, run + 1, a + i * stride, stride);
    for (; i < after; ++i) along<1>(runs, run + 1, a + i * stride, stride);
  }
  std::vector<std::uint32_t> held;  // the places of a row, of runs with a test that holds
  held.reserve(runs.n_runs());
  for (std::size_t r = 0; r < n_rows; ++r) {
    held.clear();
    for (std::size_t run = 0; run < runs.n_runs(); ++run)
      if (const std::uint32_t p = runs.place(run, r); p < runs.end(run)) held.push_back(p);
    double total = 0;
    for (std::size_t k = 0; k < held.size(); ++k) {
      const double* line = a + held[k] * stride;
      double sum[4] = {linear[held[k]], 0, 0, 0};  // Four sums: one alone waits for each addition.
      std::size_t l = k + 1;
      for (; l + 4 <= held.size(); l += 4)
        for (std::size_t x = 0; x < 4; ++x) sum[x] += line[held[l + x]];
      for (; l < held.size(); ++l) sum[0] += line[held[l]];
      total += (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
    out[r] = total;
  }
}

}  // namespace everytree
