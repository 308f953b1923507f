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
#include "kernels/row_kernels.hpp"

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

namespace {

// Each kernel with those for rows that belong to it.
template <class F>
void with_each_kernel(F&& f) {
  for (const Kernels* k : available_kernels()) {
    use_kernels(k->name);
    f(*k, row_kernels());
  }
  use_kernels("");
}

}  // namespace

TEST(sums_of_means_equal_factors_and_leaf_sums) {
  std::mt19937 r(31);
  with_each_kernel([&](const Kernels& kernels, const RowKernels& of_rows) {
    for (std::size_t n : {1, 2, 7, 8, 9, 17, 40})
      for (std::size_t n_classes : {2, 3, 6, 10}) {
        const std::size_t stride = (n + 15) / 16 * 16;
        const auto numbers = [&](std::size_t size) { return std::vector<std::int32_t>(size, 0); };
        std::vector<std::int32_t> counts = numbers(n_classes * stride), pair = counts,
                                  class_totals = numbers(n_classes);
        std::vector<std::int32_t> total_of = numbers(stride), pair_total = total_of;
        std::vector<double> multiplicity(stride, 0.0), masses[4];
        std::int32_t total = 0;
        for (std::size_t c = 0; c < n_classes; ++c) total += class_totals[c] = 60;
        for (std::size_t j = 0; j < n; ++j) {
          multiplicity[j] = 1 + r() % 3;
          for (std::size_t c = 0; c < n_classes; ++c) {
            total_of[j] += counts[c * stride + j] = 20 + static_cast<std::int32_t>(r() % 10);
            pair_total[j] += pair[c * stride + j] = static_cast<std::int32_t>(r() % 20);
          }
        }
        const std::size_t i = r() % n;
        for (auto& mass : masses) {
          mass.assign(stride, 0.0);
          for (std::size_t j = i + 1; j < n; ++j) mass[j] = static_cast<double>(r() % 1000) / 999;
        }
        const double* const mass[4] = {masses[0].data(), masses[1].data(), masses[2].data(), masses[3].data()};
        const PairCounts t{n_classes, counts.data(), class_totals.data(), total_of.data(), total, 1, stride};
        for (double sum_a : {1e-30, 0.5, 7.0, 1e30}) {
          std::vector<double> factors[4];
          for (auto& factor : factors) factor.resize(stride);
          double* const factor[4] = {factors[0].data(), factors[1].data(), factors[2].data(), factors[3].data()};
          kernels.mass_factors(t, pair.data(), pair_total.data(), i, n, {sum_a, 0, nullptr, nullptr}, mass, factor);
          struct Sums {
            std::vector<double> row, linear;
            double constant = 1, size = 0;
          };
          std::vector<Sums> wanted(n_classes), found(n_classes);
          std::vector<MeanTerm> terms;
          for (std::size_t c = 0; c < n_classes; ++c) {
            for (Sums* sums : {&wanted[c], &found[c]}) {
              sums->row.assign(stride, 0.0);
              sums->linear.assign(stride, 2.0);
            }
            const double a = sum_a / static_cast<double>(n_classes);
            const auto out = [&](Sums& sums) {
              return PairSums{multiplicity[i], sums.row.data(), sums.linear.data(), &sums.constant, &sums.size};
            };
            kernels.leaf_sums(t, pair.data(), pair_total.data(), i, n, {0, c, a, sum_a, 0.0, 1.0}, factor,
                              multiplicity.data(), out(wanted[c]));
            terms.push_back({c, a, out(found[c])});
          }
          of_rows.mean_sums(t, pair.data(), pair_total.data(), i, n, sum_a, mass, multiplicity.data(), terms.data(),
                            terms.size());
          const auto close = [](double x, double y) { return std::abs(x - y) <= 1e-12 * std::max(1.0, std::abs(y)); };
          for (std::size_t c = 0; c < n_classes; ++c) {
            CHECK(close(found[c].constant, wanted[c].constant));
            for (std::size_t j = 0; j < n; ++j) {
              CHECK(close(found[c].linear[j], wanted[c].linear[j]));
              if (j > i) CHECK(close(found[c].row[j], wanted[c].row[j]));
            }
          }
        }
      }
  });
}

TEST(passing_rows_are_those_above_the_least) {
  std::mt19937 r(32);
  with_each_kernel([&](const Kernels&, const RowKernels& of_rows) {
    for (std::size_t n : {0, 1, 15, 16, 17, 100, 333})
      for (unsigned one_of : {1u, 2u, 20u}) {
        std::vector<double> here(n);
        for (double& x : here) x = r() % one_of == 0 ? 0.5 : r() % 2 == 0 ? 0.25 : 0.0;
        std::vector<std::uint32_t> out(n + 16, 0), wanted;
        for (std::uint32_t k = 0; k < n; ++k)
          if (here[k] > 0.25) wanted.push_back(k);
        out.resize(of_rows.passing(here.data(), n, 0.25, out.data()));
        CHECK(out == wanted);
      }
  });
}

TEST(cells_hold_the_forms_of_their_tests) {
  std::mt19937 r(33);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  with_each_kernel([&](const Kernels&, const RowKernels& of_rows) {
    for (std::size_t n = 0; n <= 8; ++n)
      for (std::size_t width : {8, 16}) {
        std::vector<double> form(width * (1 + n * (n + 1) / 2)), table(width << n);
        for (double& x : form) x = uniform(r);
        of_rows.cell_table(form.data(), n, width, table.data());
        for (std::size_t cell = 0; cell < std::size_t{1} << n; ++cell)
          for (std::size_t v = 0; v < width; ++v) {
            double wanted = form[v];
            std::size_t at = 1;
            for (std::size_t i = 0; i < n; ++i) {
              if (cell >> i & 1) wanted += form[at * width + v];
              ++at;
              for (std::size_t j = i + 1; j < n; ++j, ++at)
                if ((cell >> i & 1) && (cell >> j & 1)) wanted += form[at * width + v];
            }
            CHECK(std::abs(table[cell * width + v] - wanted) < 1e-13);
          }
        std::vector<std::uint8_t> cells(50);
        for (auto& cell : cells) cell = static_cast<std::uint8_t>(r() % (1u << n));
        std::vector<std::uint32_t> rows;
        for (std::uint32_t k = 0; k < 50; ++k) rows.push_back(2 * k + 1);
        std::vector<double> weight(101), sums(101 * width, 0.125), wanted = sums;
        for (double& w : weight) w = uniform(r);
        of_rows.add_cells(table.data(), width, cells.data(), rows.data(), weight.data(), 50, sums.data());
        for (std::size_t k = 0; k < 50; ++k)
          for (std::size_t v = 0; v < width; ++v)
            wanted[rows[k] * width + v] += weight[rows[k]] * table[cells[k] * width + v];
        for (std::size_t k = 0; k < sums.size(); ++k) CHECK(std::abs(sums[k] - wanted[k]) < 1e-13);
      }
  });
}
