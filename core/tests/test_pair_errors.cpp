// Errors of pairs of tests against naive loops: of one cover, and of two covers that make up a third.
#include <algorithm>
#include <random>

#include "check.hpp"
#include "kernels/kernels.hpp"
#include "random_block.hpp"

using namespace everytree;

TEST(errors_equal_naive_loops) {
  std::mt19937 r(4);
  for (const Kernels* k : available_kernels())
    for (std::size_t n : {2, 9, 16, 33}) {
      const std::size_t stride = (n + 16) / 16 * 16;
      RandomBlock b(r, n, {70, 40}, 2);
      for (auto& s : b.sections) {
        s.shift = 0;
        s.index_shift = s.cls == 0 ? 16 : 0;
      }
      std::vector<std::int32_t> index(stride, 0), b1(stride, kInfeasible), b0(stride, kInfeasible),
          l1(stride, kInfeasible), l0(stride, kInfeasible), plain1(stride, kInfeasible), plain0(stride, kInfeasible);
      for (std::size_t j = 0; j < n; ++j) index[j] = b.pair(j, j, -1);
      const std::int32_t total = 70 * 65536 + 40;
      const PairErrors both{index.data(), total, 26, 3, {b0.data(), b1.data()}, {l0.data(), l1.data()}};
      const PairErrors plain{index.data(), total, 26, 3, {plain0.data(), plain1.data()}, {nullptr, nullptr}};
      for (std::size_t i = 0; i < n; i += kPairRows)
        for (const PairErrors* errors : {&both, &plain}) k->pair_errors(b.block(), i, n, *errors);
      const auto bound = [](std::int32_t x) {
        const std::int32_t lo = x & 0xffff, hi = x >> 16, e = std::min(lo, hi);
        return lo + hi < 26 ? kInfeasible : std::min(e, 3 + std::max(26 - e, 0));
      };
      const auto error = [](std::int32_t x) {
        const std::int32_t lo = x & 0xffff, hi = x >> 16;
        return lo + hi < 26 ? kInfeasible : std::min(lo, hi);
      };
      for (std::size_t i = 0; i < n; ++i) {
        std::int32_t e1 = kInfeasible, e0 = kInfeasible, c1 = kInfeasible, c0 = kInfeasible;
        for (std::size_t j = 0; j < n; ++j) {
          if (i == j) continue;
          const std::int32_t p = b.pair(i, j, -1), q01 = index[j] - p, q00 = total - index[i] - index[j] + p;
          e1 = std::min(e1, error(p) + error(index[i] - p));
          e0 = std::min(e0, error(q01) + error(q00));
          c1 = std::min(c1, bound(p) + bound(index[i] - p));
          c0 = std::min(c0, bound(q01) + bound(q00));
        }
        const auto same = [](std::int32_t got, std::int32_t expected) {
          return expected < kInfeasible ? got == expected : got >= kInfeasibleError;
        };
        CHECK(same(b1[i], e1));
        CHECK(same(b0[i], e0));
        CHECK(same(plain1[i], e1));
        CHECK(same(plain0[i], e0));
        CHECK(same(l1[i], c1));
        CHECK(same(l0[i], c0));
      }
    }
}

// A cover in two parts: the pairs of one counted, those of the other by subtraction from the whole.
TEST(errors_of_both_sides_equal_naive_loops) {
  std::mt19937 r(14);
  for (const Kernels* k : available_kernels())
    for (std::size_t n : {2, 3, 9, 16, 17, 33, 63, 64, 65, 127, 128, 129})
      for (std::int32_t min_leaf : {1, 9}) {
        RandomBlock part(r, n, {50, 33}, 2), other(r, n, {70, 40}, 2);
        for (RandomBlock* b : {&part, &other})
          for (auto& s : b->sections) {
            s.shift = 0;
            s.index_shift = s.cls == 0 ? 16 : 0;
          }
        const std::size_t stride = part.stride;
        std::vector<std::int32_t> whole(stride * stride, 0), index[2], best[2][2];
        const std::int32_t total[2] = {50 * 65536 + 33, 70 * 65536 + 40};
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t j = 0; j < n; ++j) whole[i * stride + j] = part.pair(i, j, -1) + other.pair(i, j, -1);
        SideErrors errors;
        errors.whole_stride = stride;
        for (int side = 0; side < 2; ++side) {
          index[side].assign(stride, 0);
          for (std::size_t j = 0; j < n; ++j) index[side][j] = (side == 0 ? part : other).pair(j, j, -1);
          for (auto& x : best[side]) x.assign(stride, kInfeasible);
          (side == 0 ? errors.counted : errors.rest) = {
              index[side].data(), total[side], min_leaf, 0, {best[side][0].data(), best[side][1].data()},
              {nullptr, nullptr}};
        }
        for (std::size_t i = 0; i < n; i += kPairRows) {
          errors.whole = whole.data() + i * stride;
          k->side_errors(part.block(), i, n, errors);
        }
        const auto error = [min_leaf](std::int32_t x) {
          const std::int32_t lo = x & 0xffff, hi = x >> 16;
          return lo + hi < min_leaf ? kInfeasible : std::min(lo, hi);
        };
        for (int side = 0; side < 2; ++side)
          for (std::size_t i = 0; i < n; ++i) {
            std::int32_t expected[2] = {kInfeasible, kInfeasible};
            for (std::size_t j = 0; j < n; ++j) {
              if (i == j) continue;
              const std::int32_t p = (side == 0 ? part : other).pair(i, j, -1), of_i = index[side][i],
                                 of_j = index[side][j];
              expected[1] = std::min(expected[1], error(p) + error(of_i - p));
              expected[0] = std::min(expected[0], error(of_j - p) + error(total[side] - of_i - of_j + p));
            }
            for (int a = 0; a < 2; ++a) {
              if (expected[a] < kInfeasible)
                CHECK(best[side][a][i] == expected[a]);
              else
                CHECK(best[side][a][i] >= kInfeasibleError);
            }
          }
      }
}

// Counts as large as they may be: 32767 examples, and all of one class or half of each.
TEST(errors_of_the_largest_covers_do_not_wrap) {
  for (const Kernels* k : available_kernels())
    for (std::int32_t one : {0, 1, 16383, 16384, 32766, 32767}) {
      const std::int32_t zero = 32767 - one, total = zero << 16 | one;
      const std::size_t n = 3, stride = 16;
      // No rows are needed: the pairs are all in the whole, so the rest has them.
      std::vector<std::uint32_t> bits(stride, 0);
      const RowBlock none{bits.data(), 1, nullptr, 0};
      // Tests 0 and 1 hold for half of each class, 1 like 0; 2 holds for all of class one.
      const std::int32_t half = (zero / 2) << 16 | (one / 2);
      std::vector<std::int32_t> index(stride, 0), empty(stride, 0), whole(4 * stride, 0), best[2], unused[2];
      index[0] = index[1] = half;
      index[2] = one;
      whole[1] = half;
      whole[2] = whole[stride + 2] = one / 2;
      for (int a = 0; a < 2; ++a) {
        best[a].assign(stride, kInfeasible);
        unused[a].assign(stride, kInfeasible);
      }
      SideErrors errors;
      errors.counted = {empty.data(), 0, 1, 0, {unused[0].data(), unused[1].data()}, {nullptr, nullptr}};
      errors.rest = {index.data(), total, 1, 0, {best[0].data(), best[1].data()}, {nullptr, nullptr}};
      errors.whole = whole.data();
      errors.whole_stride = stride;
      k->side_errors(none, 0, n, errors);
      // Test 2 makes both sides of test 0 pure, if both classes are on that side.
      const bool mixed1 = zero / 2 > 0 && one / 2 > 0, mixed0 = zero - zero / 2 > 0 && one - one / 2 > 0;
      CHECK(mixed1 ? best[1][0] == 0 : best[1][0] >= kInfeasibleError);
      CHECK(mixed0 ? best[0][0] == 0 : best[0][0] >= kInfeasibleError);
      CHECK(unused[0][0] >= kInfeasibleError);
    }
}

int main() { return check::run(); }
