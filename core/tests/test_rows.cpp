// Rows by patterns: sums of quadratic forms, outcomes, and what goes down the edges, against plain loops.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "check.hpp"
#include "down/closed_form.hpp"
#include "down/grid.hpp"
#include "kernels/kernels.hpp"

using namespace everytree;

TEST(sums_by_patterns_equal_naive_loops) {
  std::mt19937 r(21);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (const Kernels* k : available_kernels())
    // From one test to more runs of four than are kept at a time; fewer than eight rows go another way.
    for (std::size_t n : {1, 3, 4, 5, 8, 9, 16, 31, 96, 97, 230})
      for (std::size_t n_rows : {1, 7, 8, 9, 40}) {
        const std::size_t stride = (n + 7) / 8 * 8;
        std::vector<double> a(n * stride, 0.0), linear(stride, 0.0), out(n_rows, -1.0);
        for (std::size_t i = 0; i < n; ++i) {
          linear[i] = uniform(r);
          for (std::size_t j = i + 1; j < n; ++j) a[i * stride + j] = uniform(r);
        }
        Patterns patterns;
        patterns.begin(n, n_rows);
        std::vector<std::vector<bool>> y(n_rows, std::vector<bool>(n));
        for (std::size_t row = 0; row < n_rows; ++row)
          for (std::size_t i = 0; i < n; i += 4) {
            std::uint32_t bits = 0;
            for (std::size_t b = 0; b < 4 && i + b < n; ++b)
              if ((y[row][i + b] = r() % 2 == 0)) bits |= Patterns::bit(i + b);
            patterns.run_of(i)[row] = static_cast<std::uint16_t>(bits);
          }
        std::vector<double> scratch(16 * patterns.pitch + n + 16);
        double* aligned = scratch.data();
        while (reinterpret_cast<std::uintptr_t>(aligned) % 64 != 0) ++aligned;
        k->pattern_sums(a.data(), stride, n, linear.data(), patterns.bits.data(), patterns.pitch, n_rows, aligned,
                        out.data());
        for (std::size_t row = 0; row < n_rows; ++row) {
          double expected = 0;
          for (std::size_t i = 0; i < n; ++i) {
            if (!y[row][i]) continue;
            expected += linear[i];
            for (std::size_t j = i + 1; j < n; ++j)
              if (y[row][j]) expected += a[i * stride + j];
          }
          CHECK(std::abs(out[row] - expected) < 1e-10);
        }
      }
}

TEST(four_outcomes_and_what_is_passed_on_equal_naive_loops) {
  std::mt19937 r(22);
  for (const Kernels* k : available_kernels())
    for (std::size_t n : {1, 31, 32, 33, 100}) {
      std::vector<std::vector<std::uint16_t>> reach(4, std::vector<std::uint16_t>(n));
      for (auto& column : reach)
        for (auto& x : column) x = static_cast<std::uint16_t>(r() % 4 == 0 ? 65535 : r() % 300);
      FourTests tests{};
      for (std::size_t b = 0; b < 4; ++b) {
        tests.reach[b] = reach[b].data();
        tests.upper[b] = static_cast<std::uint16_t>(r() % 300);
        (r() % 2 == 0 ? tests.yes : tests.no)[b] = static_cast<std::uint16_t>(Patterns::bit(b));
      }
      std::vector<std::uint16_t> patterns(n, 7);
      k->four_outcomes(tests, n, patterns.data());
      std::vector<double> from(n), to(n, 0.5);
      for (double& x : from) x = static_cast<double>(r() % 1000) / 1000;
      k->pass_on(from.data(), reach[0].data(), tests.upper[0], 0.75, 0.125, n, to.data());
      for (std::size_t row = 0; row < n; ++row) {
        std::uint32_t expected = 0;
        for (std::size_t b = 0; b < 4; ++b) expected |= reach[b][row] <= tests.upper[b] ? tests.yes[b] : tests.no[b];
        CHECK(patterns[row] == expected);
        const double share = reach[0][row] <= tests.upper[0] ? 0.75 : 0.125;
        CHECK(std::abs(to[row] - (0.5 + from[row] * share)) < 1e-15);
      }
    }
}

int main() { return check::run(); }

TEST(sums_by_runs_equal_naive_loops) {
  std::mt19937 r(23);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::size_t found = 0;
  for (std::size_t n_runs : {1, 2, 3, 5})
    for (std::size_t longest : {1, 7, 40, 90})
      for (std::size_t n_rows : {8, 30, 200, 700}) {
        // Runs of cuts, some of them of one test; every row has a place in each.
        std::vector<std::size_t> begin{0};
        for (std::size_t run = 0; run < n_runs; ++run) begin.push_back(begin.back() + 1 + r() % longest);
        const std::size_t n = begin.back(), stride = (n + 7) / 8 * 8;
        Patterns patterns;
        patterns.begin(n, n_rows);
        std::fill(patterns.bits.begin(), patterns.bits.end(), 0);
        std::vector<std::vector<bool>> y(n_rows, std::vector<bool>(n));
        for (std::size_t row = 0; row < n_rows; ++row)
          for (std::size_t run = 0; run < n_runs; ++run) {
            const std::size_t from = begin[run] + r() % (begin[run + 1] - begin[run] + 1);
            for (std::size_t e = from; e < begin[run + 1]; ++e) {
              y[row][e] = true;
              patterns.run_of(e)[row] |= static_cast<std::uint16_t>(Patterns::bit(e));
            }
          }
        TestRuns runs, doubled;
        if (!runs.find(patterns, n)) continue;
        ++found;
        // By chance neighbouring runs may rise as one on few rows: that is a run, too.
        CHECK(runs.n_runs() <= n_runs && runs.n_tests() == n);
        std::vector<double> a(n * stride, 0.0), linear(stride, 0.0), out(n_rows, -1.0), expected(n_rows, 0.0);
        for (std::size_t i = 0; i < n; ++i) {
          linear[i] = uniform(r);
          for (std::size_t j = i + 1; j < n; ++j) a[i * stride + j] = uniform(r);
        }
        for (std::size_t row = 0; row < n_rows; ++row)
          for (std::size_t i = 0; i < n; ++i) {
            if (!y[row][i]) continue;
            expected[row] += linear[i];
            for (std::size_t j = i + 1; j < n; ++j) expected[row] += y[row][j] ? a[i * stride + j] : 0.0;
          }
        grid_sums(runs, a.data(), stride, linear.data(), out.data());
        for (std::size_t row = 0; row < n_rows; ++row) CHECK(std::abs(out[row] - expected[row]) < 1e-9);

        // Two variables for each test: every row has exactly one of them.
        doubled.find_doubled(runs);
        CHECK(doubled.n_tests() == 2 * n && doubled.n_runs() == 2 * runs.n_runs());
        const std::size_t wide = (2 * n + 7) / 8 * 8;
        std::vector<double> b(2 * n * wide, 0.0), each(wide, 0.0);
        std::fill(expected.begin(), expected.end(), 0.0);
        for (std::size_t i = 0; i < n; ++i)
          for (int u = 0; u < 2; ++u) {
            each[doubled.doubled(i, u == 1)] = uniform(r);
            for (std::size_t j = i + 1; j < n; ++j)
              for (int v = 0; v < 2; ++v) {
                const auto at = std::minmax({doubled.doubled(i, u == 1), doubled.doubled(j, v == 1)});
                b[at.first * wide + at.second] = uniform(r);
              }
          }
        for (std::size_t row = 0; row < n_rows; ++row)
          for (std::size_t i = 0; i < n; ++i) {
            const std::size_t own = doubled.doubled(i, y[row][i]);
            expected[row] += each[own];
            for (std::size_t j = i + 1; j < n; ++j) {
              const auto at = std::minmax({own, doubled.doubled(j, y[row][j])});
              expected[row] += b[at.first * wide + at.second];
            }
          }
        grid_sums(doubled, b.data(), wide, each.data(), out.data());
        for (std::size_t row = 0; row < n_rows; ++row) CHECK(std::abs(out[row] - expected[row]) < 1e-8);
      }
  CHECK(found >= 8);
}
