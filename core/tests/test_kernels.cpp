// Every kernel set this CPU can run against naive loops.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "check.hpp"
#include "kernels/cpu_x86.hpp"
#include "kernels/kernels.hpp"
#include "kernels/lanes.hpp"
#include "random_block.hpp"

using namespace everytree;

TEST(pair_counts_equal_naive_popcounts) {
  std::mt19937 r(1);
  for (const Kernels* k : available_kernels())
    for (std::size_t tests : {1, 7, 16, 17, 48, 65})
      for (std::size_t rows : {1, 31, 32, 33, 64, 65, 130, 1100, 2500}) {
        // Two classes packed into one index, or three classes whose index is the number of examples.
        const int shift = rows % 2 == 0 ? 15 : 0;
        const std::size_t n_classes = shift > 0 ? 2 : 3;
        const std::vector<std::size_t> size =
            shift > 0 ? std::vector<std::size_t>{rows, rows / 2 + 1} : std::vector<std::size_t>{rows, rows / 2 + 1, 3};
        RandomBlock b(r, tests, size, n_classes, shift);
        std::vector<std::int32_t> index(kPairRows * b.stride), counts(3 * b.stride), rows4(kPairRows * 3 * b.stride),
            total_of(b.stride, 0), mult(b.stride, 0), yes(b.stride, 0), no(b.stride, 0);
        std::int32_t total = 0;
        for (const Section& s : b.sections) total += s.multiplicity() * static_cast<std::int32_t>(size[s.cls]);
        for (std::size_t j = 0; j < tests; ++j) {
          total_of[j] = b.pair(j, j, -2);
          mult[j] = 1 + static_cast<std::int32_t>(j % 3);
        }
        const std::int32_t min_leaf = 1 + static_cast<std::int32_t>(rows / 5);
        const TestCounter counter{total_of.data(), mult.data(), total, min_leaf, shift, {no.data(), yes.data()}};
        for (std::size_t i = 0; i < tests; ++i) {
          const std::size_t row = i % kPairRows;
          if (row == 0) {
            k->pair_index(b.block(), i, tests, counter, b.stride, index.data());
            k->pair_rows(b.block(), n_classes, i, tests, b.stride, rows4.data());
          }
          k->pair_counts(b.block(), n_classes, i, 0, tests, b.stride, counts.data());
          for (std::size_t j = 0; j < tests; ++j) {
            if (j > i) CHECK(index[row * b.stride + j] == b.pair(i, j, -1));
            for (std::size_t c = 0; c < n_classes; ++c) {
              const std::int32_t expected = b.pair(i, j, static_cast<int>(c));
              CHECK(counts[c * b.stride + j] == expected);
              if (j > i) CHECK(rows4[(row * n_classes + c) * b.stride + j] == expected);
            }
          }
        }
        for (std::size_t i = 0; i < tests; ++i) {
          std::int32_t feasible[2] = {0, 0};
          for (std::size_t j = 0; j < tests; ++j) {
            if (i == j) continue;
            const std::int32_t both = b.pair(i, j, -2);
            if (both >= min_leaf && total_of[i] - both >= min_leaf) feasible[1] += mult[j];
            if (total_of[j] - both >= min_leaf && total - total_of[i] - total_of[j] + both >= min_leaf)
              feasible[0] += mult[j];
          }
          CHECK(yes[i] == feasible[1]);
          CHECK(no[i] == feasible[0]);
        }
      }
}

TEST(pack_moves_the_rows_of_a_cover_together) {
  std::mt19937_64 r(2);
  for (const Kernels* k : available_kernels())
    for (int round = 0; round < 200; ++round) {
      const std::size_t words = 1 + r() % 6, columns = 1 + r() % 20, stride = 32;
      std::vector<std::uint64_t> column(words * columns), cover(words);
      for (auto& w : column) w = r();
      for (auto& w : cover)
        w = round % 4 == 0 ? ~0ULL : round % 4 == 1 ? r() : round % 4 == 2 ? r() & r() & r() : r() | r();
      std::vector<PackStep> steps;
      std::vector<bool> ends(words);
      for (std::size_t w = 0; w < words; ++w) ends[w] = w + 1 == words || r() % 2;
      // A step that ends a section must be the last non-empty word of it.
      std::vector<std::vector<std::size_t>> section(1);
      for (std::size_t w = 0; w < words; ++w) {
        if (cover[w] != 0) section.back().push_back(w);
        if (ends[w] && w + 1 < words) section.emplace_back();
      }
      std::size_t chunks = 0;
      for (const auto& s : section) {
        std::size_t rows = 0;
        for (std::size_t w : s) {
          const auto n = static_cast<std::uint32_t>(std::popcount(cover[w]));
          steps.push_back({static_cast<std::uint32_t>(w), n, cover[w], w == s.back()});
          rows += n;
        }
        chunks += (rows + 31) / 32;
      }
      std::vector<std::uint32_t> which(columns), got(chunks * stride + 1, 0);
      for (std::size_t j = 0; j < columns; ++j) which[j] = static_cast<std::uint32_t>(columns - 1 - j);
      k->pack(column.data(), words, which.data(), columns, steps.data(), steps.size(), got.data(), chunks);
      for (std::size_t j = 0; j < columns; ++j) {
        std::size_t chunk = 0;
        for (const auto& s : section) {
          std::vector<bool> bits;
          for (std::size_t w : s)
            for (int b = 0; b < 64; ++b)
              if (cover[w] >> b & 1) bits.push_back(column[which[j] * words + w] >> b & 1);
          for (std::size_t begin = 0; begin < bits.size(); begin += 32, ++chunk) {
            std::uint32_t expected = 0;
            for (std::size_t b = begin; b < std::min(bits.size(), begin + 32); ++b)
              expected |= std::uint32_t{bits[b]} << (b - begin);
            CHECK(got[RowBlock::word(chunks, chunk, j)] == expected);
          }
        }
      }
    }
}

TEST(folds_equal_naive_loops) {
  std::mt19937 r(3);
  for (const Kernels* k : available_kernels())
    for (std::size_t n : {1, 2, 7, 8, 9, 16, 17, 40}) {
      const std::size_t stride = (n + 16) / 16 * 16;
      std::vector<double> leaf(500), mult(stride, 0.0);
      for (auto& x : leaf) x = r() % 4 == 0 ? 0.0 : 1.0 + r() % 1000 / 7.0;
      leaf[0] = 0;
      std::vector<std::int32_t> index(stride, 0), pair(stride * stride, 0);
      const std::int32_t total = 399;  // no index of a quadrant is negative
      for (std::size_t j = 0; j < n; ++j) {
        index[j] = 100 + static_cast<std::int32_t>(r() % 100);
        mult[j] = 1 + r() % 3;
      }
      for (std::size_t i = 0; i < n; ++i) {
        pair[i * stride + i] = index[i];
        for (std::size_t j = 0; j < n; ++j)
          if (j != i) pair[i * stride + j] = 1 + static_cast<std::int32_t>(r() % 90);
      }
      for (bool sum : {true, false}) {
        std::vector<double> s1(stride, 0.0), s0(stride, 0.0);
        const PairTable t{leaf.data(), index.data(), mult.data(), total};
        double* const split[2] = {s0.data(), s1.data()};
        for (std::size_t i = 0; i + 1 < n; ++i)
          (sum ? k->fold_sum : k->fold_max)(t, pair.data() + i * stride, i, n, split);
        for (std::size_t i = 0; i < n; ++i)
          for (int a = 0; a < 2; ++a) {
            double expected = 0;
            for (std::size_t j = 0; j < n; ++j) {
              if (i == j) continue;
              const std::int32_t p = i < j ? pair[i * stride + j] : pair[j * stride + i];
              const double x = leaf[static_cast<std::size_t>(a ? p : index[j] - p)];
              const double y = leaf[static_cast<std::size_t>(a ? index[i] - p : total - index[i] - index[j] + p)];
              expected = sum ? expected + mult[j] * x * y : std::max(expected, x * y);
            }
            CHECK(check::near((a ? s1 : s0)[i], expected));
          }
      }
    }
}

TEST(least_sums_equal_naive_loops) {
  // Costs of any sign, infinite where a leaf is not allowed: entry 0 (no example) always is.
  constexpr double inf = std::numeric_limits<double>::infinity();
  std::mt19937 r(9);
  for (const Kernels* k : available_kernels())
    for (std::size_t n : {1, 2, 3, 4, 5, 8, 15, 16, 17, 33, 40})
      for (unsigned forbidden : {0u, 2u, 9u}) {
        const std::size_t stride = (n + 16) / 16 * 16;
        std::vector<double> leaf(500), mult(stride, 0.0);
        for (auto& x : leaf) x = r() % 10 < forbidden ? inf : static_cast<double>(r() % 1000) / 7.0 - 20;
        leaf[0] = inf;
        std::vector<std::int32_t> index(stride, 0), pair(stride * stride, 0);
        const std::int32_t total = 399;
        for (std::size_t j = 0; j < n; ++j) index[j] = 100 + static_cast<std::int32_t>(r() % 100);
        for (std::size_t i = 0; i < n; ++i) {
          pair[i * stride + i] = index[i];
          for (std::size_t j = 0; j < n; ++j)
            if (j != i) pair[i * stride + j] = 1 + static_cast<std::int32_t>(r() % 90);
        }
        std::vector<double> s1(stride, inf), s0(stride, inf);
        const PairTable t{leaf.data(), index.data(), mult.data(), total};
        double* const split[2] = {s0.data(), s1.data()};
        for (std::size_t i = 0; i + 1 < n; ++i) k->fold_min(t, pair.data() + i * stride, i, n, split);
        for (std::size_t i = 0; i < n; ++i)
          for (int a = 0; a < 2; ++a) {
            double expected = inf;
            for (std::size_t j = 0; j < n; ++j) {
              if (i == j) continue;
              const std::int32_t p = i < j ? pair[i * stride + j] : pair[j * stride + i];
              expected = std::min(
                  expected, leaf[static_cast<std::size_t>(a ? p : index[j] - p)] +
                                leaf[static_cast<std::size_t>(a ? index[i] - p : total - index[i] - index[j] + p)]);
            }
            CHECK((a ? s1 : s0)[i] == expected);
          }
      }
}

TEST(errors_of_any_number_of_classes_equal_naive_loops) {
  std::mt19937 r(10);
  for (const Kernels* k : available_kernels())
    for (std::size_t n : {1, 2, 7, 15, 16, 17, 31, 50})
      for (std::size_t n_classes : {1, 2, 3, 5})
        for (std::int32_t min_leaf : {1, 3, 40}) {
          std::vector<std::size_t> rows;
          for (std::size_t c = 0; c < n_classes; ++c) rows.push_back(1 + r() % 90);
          RandomBlock b(r, n, rows, n_classes);
          if (min_leaf == 3)  // counts beyond what 16 bits hold
            for (Section& s : b.sections) s.shift = 12;
          const std::size_t stride = b.stride;
          std::vector<std::int32_t> totals(n_classes, 0), counts(n_classes * stride, 7), total_of(stride, 0);
          std::int32_t total = 0;
          for (std::size_t c = 0; c < n_classes; ++c) {
            totals[c] = b.sections[c].multiplicity() * static_cast<std::int32_t>(rows[c]);
            total += totals[c];
            for (std::size_t j = 0; j < n; ++j) {
              counts[c * stride + j] = b.pair(j, j, static_cast<int>(c));
              total_of[j] += counts[c * stride + j];
            }
          }
          std::vector<std::int32_t> pair(n_classes * stride, 0), best[2];
          for (auto& x : best) x.assign(stride, kInfeasible);
          std::int32_t* const out[2] = {best[0].data(), best[1].data()};
          const PairCounts t{n_classes, counts.data(), totals.data(), total_of.data(), total, min_leaf, stride};
          for (std::size_t i = 0; i + 1 < n; ++i) {
            k->pair_counts(b.block(), n_classes, i, i + 1, n, stride, pair.data());
            k->fold_errors(t, pair.data(), i, n, out);
          }
          for (std::size_t i = 0; i < n; ++i)
            for (int a = 0; a < 2; ++a) {
              std::int32_t expected = kInfeasible;
              for (std::size_t j = 0; j < n; ++j) {
                if (j == i) continue;
                std::int32_t sum = 0;
                for (int side : {1, 0}) {
                  std::int32_t examples = 0, most = 0;
                  for (std::size_t c = 0; c < n_classes; ++c) {
                    const std::int32_t both = b.pair(i, j, static_cast<int>(c)), in_i = counts[c * stride + i],
                                       in_j = counts[c * stride + j];
                    const std::int32_t x =
                        a ? (side ? both : in_i - both) : (side ? in_j - both : totals[c] - in_i - in_j + both);
                    examples += x;
                    most = std::max(most, x);
                  }
                  sum += examples < min_leaf ? kInfeasible : examples - most;
                }
                expected = std::min(expected, sum);
              }
              CHECK(best[a][i] == expected);
            }
        }
}

TEST(log_folds_equal_naive_loops) {
  std::mt19937 r(6);
  for (const Kernels* k : available_kernels())
    for (std::size_t n : {2, 5, 16, 21})
      for (std::size_t rows : {20, 300}) {
        RandomBlock b(r, n, {rows, rows / 2, rows / 3 + 1}, 3);
        const std::size_t stride = b.stride;
        std::vector<std::vector<double>> rising(3);
        std::vector<double> rising_sum(1, 0.0), mult(stride, 0.0);
        std::vector<const double*> tables;
        std::vector<std::int32_t> totals(3, 0), counts(3 * stride, 0), total_of(stride, 0), pair(3 * stride);
        std::int32_t total = 0;
        const std::size_t size[] = {rows, rows / 2, rows / 3 + 1};
        for (std::size_t s = 0; s < 3; ++s)
          totals[s] = b.sections[s].multiplicity() * static_cast<std::int32_t>(size[s]);
        for (std::size_t c = 0; c < 3; ++c) {
          total += totals[c];
          rising[c].assign(1, 0.0);
          for (std::int32_t m = 0; m < totals[c]; ++m)
            rising[c].push_back(rising[c].back() + std::log(0.5 + static_cast<double>(c) + m));
          tables.push_back(rising[c].data());
        }
        for (std::int32_t m = 0; m < total; ++m) rising_sum.push_back(rising_sum.back() + std::log(4.5 + m));
        for (std::size_t j = 0; j < n; ++j) {
          mult[j] = 1 + j % 2;
          for (std::size_t c = 0; c < 3; ++c) {
            counts[c * stride + j] = b.pair(j, j, static_cast<int>(c));
            total_of[j] += counts[c * stride + j];
          }
        }
        const auto log_m = [&](const std::vector<std::int32_t>& x) {
          return rising[0][static_cast<std::size_t>(x[0])] + rising[1][static_cast<std::size_t>(x[1])] +
                 rising[2][static_cast<std::size_t>(x[2])] - rising_sum[static_cast<std::size_t>(x[0] + x[1] + x[2])];
        };
        const auto quadrant = [&](std::size_t i, int a, std::size_t j, int bb) {
          std::vector<std::int32_t> x(3);
          for (std::size_t c = 0; c < 3; ++c) {
            const std::int32_t both = b.pair(i, j, static_cast<int>(c)), ci = counts[c * stride + i],
                               cj = counts[c * stride + j];
            x[c] = a ? (bb ? both : ci - both) : (bb ? cj - both : totals[c] - ci - cj + both);
          }
          return x;
        };
        std::vector<double> reference[2];
        for (int a = 0; a < 2; ++a) {
          reference[a].assign(stride, 0.0);
          for (std::size_t i = 0; i < n; ++i) reference[a][i] = log_m(quadrant(i, a, i, a));
        }
        const std::int32_t min_leaf = 4;
        for (bool sum : {true, false}) {
          const PairLogs logs{3,
                              tables.data(),
                              rising_sum.data(),
                              counts.data(),
                              totals.data(),
                              total_of.data(),
                              total,
                              min_leaf,
                              stride,
                              mult.data(),
                              {reference[0].data(), reference[1].data()}};
          const double zero = sum ? 0.0 : -std::numeric_limits<double>::infinity();
          std::vector<double> s1(stride, zero), s0(stride, zero), e1(stride, 0.0), e0(stride, 0.0);
          double* const split[2] = {s0.data(), s1.data()};
          double* const tests[2] = {e0.data(), e1.data()};
          for (std::size_t i = 0; i + 1 < n; ++i) {
            k->pair_counts(b.block(), 3, i, i + 1, n, stride, pair.data());
            (sum ? k->fold_log_sum : k->fold_log_max)(logs, pair.data(), i, n, split, tests);
          }
          for (std::size_t i = 0; i < n; ++i)
            for (int a = 0; a < 2; ++a) {
              double expected = zero, feasible = 0;
              for (std::size_t j = 0; j < n; ++j) {
                if (i == j) continue;
                const auto x = quadrant(i, a, j, 1), y = quadrant(i, a, j, 0);
                if (x[0] + x[1] + x[2] < min_leaf || y[0] + y[1] + y[2] < min_leaf) continue;
                feasible += mult[j];
                const double term = log_m(x) + log_m(y) - reference[a][i];
                expected = sum ? expected + mult[j] * std::exp(term) : std::max(expected, term);
              }
              CHECK(check::near((a ? s1 : s0)[i], expected, 1e-11));
              CHECK((a ? e1 : e0)[i] == feasible);
            }
        }
      }
}

TEST(leaf_values_equal_naive_loops) {
  std::mt19937 r(11);
  std::uniform_real_distribution<double> uniform(0.1, 2.0);
  for (const Kernels* k : available_kernels())
    for (std::size_t tests : {1, 3, 8, 9, 17, 40}) {
      const int shift = 10;
      RandomBlock b(r, tests, {90, 70}, 2, shift);
      std::int32_t total[2] = {0, 0};
      for (const Section& s : b.sections) total[s.cls] += s.multiplicity() * (s.cls == 0 ? 90 : 70);
      const std::size_t stride = b.stride;
      std::vector<std::int32_t> of(2 * stride, 0), all(stride, 0), pairs(2 * stride), both(stride, 0), index(stride, 0);
      std::vector<double> leaf(static_cast<std::size_t>(total[0] + 1) << shift), multiplicity(stride, 0.0);
      for (double& x : leaf) x = uniform(r);
      for (std::size_t j = 0; j < tests; ++j) {
        for (std::size_t c = 0; c < 2; ++c) all[j] += of[c * stride + j] = b.pair(j, j, static_cast<int>(c));
        index[j] = (of[j] << shift) + of[stride + j];
        multiplicity[j] = 1 + static_cast<double>(j % 3);
      }
      const PairTable table{leaf.data(), index.data(), multiplicity.data(), (total[0] << shift) + total[1]};
      const auto at = [&](std::int32_t n0, std::int32_t n1) {
        return leaf[static_cast<std::size_t>((n0 << shift) + n1)];
      };
      for (std::size_t i = 0; i < tests; ++i) {
        k->pair_counts(b.block(), 2, i, 0, tests, stride, pairs.data());
        for (std::size_t j = 0; j < tests; ++j) both[j] = pairs[j] + pairs[stride + j];
        std::vector<double> term0(stride), term1(stride), each(stride), difference(stride), zero(stride);
        double* const term[2] = {term0.data(), term1.data()};
        const double unit[2] = {0.3, 0.7};
        k->pair_terms(table, shift, pairs.data(), pairs.data() + stride, i, tests, unit, term);
        // Counts of class c (or of all, c = 2) where i = side and j = b.
        const auto quadrant = [&](std::size_t j, int side, int holds, std::size_t c) {
          const std::int32_t p = c == 2 ? both[j] : pairs[c * stride + j], in_j = c == 2 ? all[j] : of[c * stride + j],
                             in_i = c == 2 ? all[i] : of[c * stride + i], n = c == 2 ? total[0] + total[1] : total[c];
          return side == 1 ? (holds ? p : in_i - p) : (holds ? in_j - p : n - in_i - in_j + p);
        };
        for (int side = 0; side < 2; ++side) {
          for (std::size_t j = 0; j < tests; ++j) {
            const double expected = j == i ? 0.0
                                           : unit[side] * multiplicity[j] *
                                                 at(quadrant(j, side, 1, 0), quadrant(j, side, 1, 1)) *
                                                 at(quadrant(j, side, 0, 0), quadrant(j, side, 0, 1));
            CHECK(std::abs(term[side][j] - expected) <= 1e-14 * std::abs(expected));
            each[j] = uniform(r);
          }
          for (std::int32_t kind = 0; kind < 3; ++kind)
            for (std::size_t c = 0; c < 2; ++c) {
              const double a = 0.4, sum_a = 1.1, centre = 0.45, per_example = c == 0 ? 1 : 10;
              const PairValues values{kind,
                                      a,
                                      sum_a,
                                      centre,
                                      1 / per_example,
                                      pairs.data() + c * stride,
                                      both.data(),
                                      of.data() + c * stride,
                                      all.data(),
                                      of[c * stride + i],
                                      all[i],
                                      total[c] - of[c * stride + i],
                                      total[0] + total[1] - all[i]};
              const double got =
                  k->pair_values(values, side, term[side], each.data(), tests, difference.data(), zero.data());
              double sum = 0;
              for (std::size_t j = 0; j < tests; ++j) {
                double value[2];
                for (int holds = 0; holds < 2; ++holds) {
                  const double total_b = quadrant(j, side, holds, 2) + sum_a;
                  const double m = (quadrant(j, side, holds, c) + a) / total_b;
                  value[holds] = kind == 0   ? m
                                 : kind == 1 ? (m - centre) * (m - centre)
                                             : m * (1 - m) / (total_b / per_example + 1);
                }
                const double expected = each[j] * term[side][j] * (value[1] - value[0]);
                CHECK(std::abs(difference[j] - expected) < 1e-13);
                CHECK(std::abs(zero[j] - term[side][j] * value[0]) < 1e-13);
                sum += zero[j];
              }
              CHECK(std::abs(got - sum) < 1e-12 * (1 + std::abs(sum)));
            }
        }
        std::vector<double> linear(tests, 0.5), row(tests, -1.0);
        k->add_row(term[1], term[0], 0.25, 3.0, tests, linear.data(), row.data());
        for (std::size_t j = 0; j < tests; ++j) {
          CHECK(std::abs(linear[j] - (0.5 + 0.25 * term[0][j])) < 1e-13);
          CHECK(std::abs(row[j] - 3.0 * (term[1][j] - term[0][j])) < 1e-13);
        }
      }
    }
}

TEST(quadratic_forms_equal_naive_loops) {
  std::mt19937 r(12);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (const Kernels* k : available_kernels())
    for (std::size_t n : {1, 7, 8, 9, 15, 16, 17, 24, 33, 40}) {
      const std::size_t stride = (n + 7) / 8 * 8, n_rows = 11;
      std::vector<double> a(n * stride, 0.0), y(n_rows * stride, 0.0), out(n_rows);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i; j < n; ++j) a[i * stride + j] = uniform(r);
      for (std::size_t row = 0; row < n_rows; ++row)
        for (std::size_t j = 0; j < n; ++j) y[row * stride + j] = uniform(r);
      const std::vector<std::uint32_t> rows{3, 0, 10, 7, 5, 1, 9};
      k->quadratic(a.data(), stride, n, y.data(), stride, rows.data(), rows.size(), out.data());
      for (std::size_t at = 0; at < rows.size(); ++at) {
        double expected = 0;
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t j = i; j < n; ++j)
            expected += a[i * stride + j] * y[rows[at] * stride + i] * y[rows[at] * stride + j];
        CHECK(std::abs(out[at] - expected) < 1e-12);
      }
    }
}

// Lane by lane, as lanes.hpp says it, is how the portable ones walk.
TEST(lanes_equal_those_walked_one_by_one) {
  std::mt19937_64 r(11);
  use_kernels("portable");
  const LaneKernels& slow = lane_kernels();
  for (const Kernels* k : available_kernels()) {
    use_kernels(k->name);
    const LaneKernels& fast = lane_kernels();
    for (std::size_t n : {1u, 63u, 64u, 65u, 127u, 700u, 64u * 127u, 64u * 127u + 1, 20000u})
      for (int again = 0; again < 8; ++again) {
        const LaneShape shape = LaneShape::of(n);
        const std::size_t steps = shape.steps(), places = shape.places();
        std::vector<std::uint64_t> rows(steps), sides(steps), cuts1(steps), cuts0(steps), plus(steps), minus(steps);
        for (std::size_t s = 0; s < steps; ++s) {
          rows[s] = again == 0 ? ~std::uint64_t{0} : r();
          sides[s] = r() & rows[s];
          cuts1[s] = again == 1 ? 0 : r();
          cuts0[s] = r();
          plus[s] = again == 2 ? ~std::uint64_t{0} : r();
          minus[s] = r() & ~plus[s];
        }
        std::vector<std::int8_t> signs(places);
        for (auto& x : signs) x = static_cast<std::int8_t>(again == 2 ? 1 : static_cast<int>(r() % 3) - 1);
        std::vector<std::uint16_t> codes16(places + 1);  // a gather reads one further
        std::vector<std::uint32_t> codes32(places), from(places);
        for (std::size_t p = 0; p < places; ++p) {
          codes32[p] = static_cast<std::uint32_t>(r());
          codes16[p] = static_cast<std::uint16_t>(r());
          from[p] = static_cast<std::uint32_t>(r() % places);
        }
        const auto cut16 = static_cast<std::uint16_t>(r());
        const auto cut32 = static_cast<std::uint32_t>(r());
        const std::uint64_t flip = again % 2 == 0 ? 0 : ~std::uint64_t{0};
        // From no limit to one that no cut meets; with all rows a lane has its 127.
        std::int64_t total = 0;
        for (std::size_t s = 0; s < steps; ++s) total += std::popcount((sides[s] ^ flip) & rows[s]);
        const std::int64_t least =
            again == 0 ? 1 : 1 + static_cast<std::int64_t>(r() % static_cast<std::uint64_t>(total / 2 + 2));
        const auto same = [](const Extremes& a, const Extremes& b) { return a.low == b.low && a.high == b.high; };
        const auto all = [&](const LaneKernels& lanes) {
          struct {
            Extremes at[5];
            std::vector<std::uint64_t> most16, most32, sized;
            std::vector<std::uint16_t> here16;
            std::vector<std::uint32_t> here32;
            std::vector<std::uint8_t> runs;
          } out;
          lanes.extremes_of_sides(signs.data(), rows.data(), sides.data(), cuts1.data(), cuts0.data(), shape, out.at);
          lanes.extremes_at16(codes16.data(), cut16, signs.data(), rows.data(), cuts1.data(), shape, out.at + 2);
          lanes.extremes_of_pair(plus.data(), minus.data(), rows.data(), sides.data(), flip, cuts0.data(), shape,
                                 out.at + 4);
          out.most16.resize(steps);
          lanes.at_most16(codes16.data(), rows.data(), steps, cut16, out.most16.data());
          out.most32.resize(steps);
          lanes.at_most32(codes32.data(), rows.data(), steps, cut32, out.most32.data());
          out.here16.resize(places);
          lanes.gather16(codes16.data(), from.data(), places, out.here16.data());
          out.here32.resize(places);
          lanes.gather32(codes32.data(), from.data(), places, out.here32.data());
          out.runs.resize(places);
          lanes.count_runs(rows.data(), sides.data(), flip, shape, out.runs.data());
          out.sized.resize(steps);
          lanes.sized_cuts(rows.data(), sides.data(), flip, cuts0.data(), least, total, shape, out.sized.data());
          return out;
        };
        const auto a = all(fast), b = all(slow);
        for (int e = 0; e < 5; ++e) CHECK(same(a.at[e], b.at[e]));
        CHECK(a.most16 == b.most16);
        CHECK(a.most32 == b.most32);
        CHECK(a.here16 == b.here16);
        CHECK(a.here32 == b.here32);
        CHECK(a.runs == b.runs);
        CHECK(a.sized == b.sized);
      }
  }
  use_kernels("");
}

TEST(hashes_do_not_see_complements) {
  std::mt19937 r(5);
  for (const Kernels* k : available_kernels()) {
    RandomBlock b(r, 20, {77}, 1);
    std::vector<std::uint32_t> valid(3, 0xffffffffu), h(64);
    valid[2] = (1u << 13) - 1;
    for (std::size_t c = 0; c < 3; ++c) b.at(c, 9) = ~b.at(c, 4) & valid[c];
    k->hash_columns(b.bits.data(), valid.data(), 3, 20, h.data());
    CHECK(h[9] == h[4]);
    CHECK(h[3] != h[4]);
  }
}

TEST(an_unknown_kernel_is_refused_and_a_known_one_runs) {
  bool refused = false;
  try {
    find_kernels("abacus");
  } catch (const std::invalid_argument& e) {
    refused = std::string(e.what()).find("abacus") != std::string::npos &&
              std::string(e.what()).find("portable") != std::string::npos;
  }
  CHECK(refused);
  for (const Kernels* k : available_kernels()) {
    use_kernels(k->name);
    CHECK(std::string(kernels().name) == k->name);
  }
  use_kernels("");
  CHECK(&kernels() == available_kernels().back());
}

#if defined(__x86_64__) && !defined(_MSC_VER)
TEST(the_cpu_says_what_the_compiler_says) {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512vpopcntdq");
  CHECK(ask_cpu_x86().avx2 == avx2);
  CHECK(ask_cpu_x86().avx512 == avx512);
}
#endif

int main() { return check::run(); }
