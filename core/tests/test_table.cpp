// The count table and the frontier against naive counting of rows.
#include <random>

#include "check.hpp"
#include "common/errors.hpp"
#include "frontier/frontier.hpp"
#include "table/count_table.hpp"
#include "table/cover_index.hpp"

using namespace everytree;

namespace {
struct Data {
  std::size_t n, t, c;
  std::vector<std::uint8_t> rows;
  std::vector<std::int64_t> counts;
  Data(std::mt19937& r, std::size_t n, std::size_t t, std::size_t c, int weight)
      : n(n), t(t), c(c), rows(n * t), counts(n * c, 0) {
    for (auto& x : rows) x = r() & 1;
    if (t >= 3)
      for (std::size_t k = 0; k < n; ++k) rows[k * t + 2] = !rows[k * t];  // a complement
    for (std::size_t k = 0; k < n; ++k) counts[k * c + r() % c] += 1 + r() % static_cast<unsigned>(weight);
    if (n > 1) counts[r() % n * c + r() % c] += 5;
  }
};
}  // namespace

TEST(class_counts_equal_naive_sums) {
  std::mt19937 r(1);
  for (std::size_t n : {1, 2, 63, 64, 65, 128, 129, 300})
    for (std::size_t c : {1, 2, 5})
      for (int weight : {1, 9}) {
        Data d(r, n, 6, c, weight);
        CountTable table(d.rows.data(), d.counts.data(), d.n, d.t, d.c);
        std::vector<std::int32_t> got(c);
        table.class_counts(table.all().data(), got.data());
        std::int64_t total = 0;
        for (std::size_t k = 0; k < c; ++k) {
          std::int64_t sum = 0;
          for (std::size_t row = 0; row < n; ++row) sum += d.counts[row * c + k];
          CHECK(got[k] == sum);
          total += sum;
        }
        CHECK(table.total() == total);
        for (std::size_t t = 0; t < d.t; ++t) {
          std::int64_t sum = 0;
          for (std::size_t row = 0; row < n; ++row)
            for (std::size_t k = 0; k < c; ++k) sum += d.rows[row * d.t + t] ? d.counts[row * c + k] : 0;
          CHECK(table.count(table.all().data(), t) == sum);
        }
      }
}

TEST(the_frontier_counts_every_quadrant_of_feasible_tests) {
  std::mt19937 r(2);
  for (const Kernels* kernel : available_kernels()) {
    use_kernels(kernel->name);
    for (std::size_t n : {5, 40, 64, 200, 1500})
      for (std::size_t c : {2, 4})
        for (int min_leaf : {1, 3}) {
          Data d(r, n, 12, c, 3);
          CountTable table(d.rows.data(), d.counts.data(), d.n, d.t, d.c);
          // a cover: rows with test 5 and not test 7
          Cover cover(table.n_words());
          for (std::size_t w = 0; w < cover.size(); ++w) cover[w] = table.column(5)[w] & ~table.column(7)[w];
          for (std::size_t w = 0; w < cover.size(); ++w) cover[w] &= table.all()[w];
          if (table.count(cover.data()) == 0) continue;
          Frontier f(table, min_leaf);
          f.load(cover.data());
          const auto count = [&](std::uint32_t test, std::int64_t other, std::size_t cls) {
            std::int64_t sum = 0;
            for (std::size_t row = 0; row < n; ++row) {
              const std::uint8_t* x = d.rows.data() + row * d.t;
              if (x[5] && !x[7] && x[test] && (other < 0 || x[other])) sum += d.counts[row * c + cls];
            }
            return sum;
          };
          double tests = 0;
          for (std::uint32_t t = 0; t < d.t; ++t) {
            std::int64_t ones = 0;
            for (std::size_t k = 0; k < c; ++k) ones += count(t, -1, k);
            if (ones >= min_leaf && f.total() - ones >= min_leaf) tests += 1;
          }
          CHECK(f.n_tests() == tests);
          std::vector<std::int32_t> pairs(c * f.stride() + 16);
          for (std::size_t g = 0; g < f.n_groups(); ++g) {
            f.pair_counts(g, 0, pairs.data());
            const std::uint32_t tg = table.test_classes()[*f.parts_begin(g) >> 1].test;
            for (std::size_t k = 0; k < c; ++k) {
              CHECK(f.count(k, g) == count(tg, -1, k));
              for (std::size_t j = 0; j < f.n_groups(); ++j)
                CHECK(pairs[k * f.stride() + j] == count(tg, table.test_classes()[*f.parts_begin(j) >> 1].test, k));
            }
          }
        }
  }
  use_kernels("");
}

TEST(equal_and_complementary_tests_form_one_class) {
  const std::uint8_t rows[] = {0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1};  // 4 rows × 4 tests
  const std::int64_t counts[] = {1, 0, 0, 1, 1, 0, 0, 1};
  CountTable table(rows, counts, 4, 4, 2);
  // columns: 0,1,1,1 | 1,0,0,0 (complement) | 0,1,1,1 (equal) | 0,0,1,1
  CHECK(table.test_classes().size() == 2);
  CHECK((table.test_classes()[0].members == std::vector<std::uint32_t>{0 << 1, 1 << 1 | 1, 2 << 1}));
  CHECK((table.test_classes()[1].members == std::vector<std::uint32_t>{3 << 1}));
}

TEST(bad_counts_are_refused) {
  const std::uint8_t rows[] = {0, 1};
  const std::int64_t negative[] = {1, -1}, huge[] = {CountTable::kMaxTotal, 1};
  for (const std::int64_t* counts : {negative, huge}) {
    bool refused = false;
    try {
      CountTable table(rows, counts, 2, 1, 1);
    } catch (const InvalidInput&) {
      refused = true;
    }
    CHECK(refused);
  }
}

// Hashes of few values, so that many numbers have the same one and meet again after the index grew.
TEST(covers_are_found_where_hashes_meet) {
  std::mt19937 r(3);
  for (const std::uint64_t values : {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{300}, ~std::uint64_t{0}}) {
    CoverIndex index(2);
    std::vector<std::uint64_t> hashes;
    for (int round = 0; round < 2; ++round) {
      while (hashes.size() < 500) {
        const auto id = static_cast<std::uint32_t>(hashes.size());
        hashes.push_back(((std::uint64_t{r()} << 32) + r()) % values);
        CHECK(index.find(hashes[id], [&](std::uint32_t k) { return k == id; }) == CoverIndex::kNone);
        const std::size_t before = index.bytes(), told = index.taking(1);
        index.add(hashes[id], id);
        CHECK(index.bytes() == std::max(before, told));
      }
      for (std::uint32_t id = 0; id < 500; ++id)
        CHECK(index.find(hashes[id], [&](std::uint32_t k) { return k == id; }) == id);
      index.clear();
      CHECK(index.find(hashes[0], [](std::uint32_t) { return true; }) == CoverIndex::kNone);
      hashes.clear();
    }
  }
}

// A question that took a gigabyte ends early enough to give it back.
TEST(time_to_give_memory_back_is_part_of_the_limit) {
  // Whatever else the machine does: no look passes after `end`, and none fails before.
  const auto ends = [](std::size_t bytes, double end) {
    Control control;
    control.time_limit = 0.2;
    control.check_memory(bytes);
    double passed = 0;
    try {
      for (double begun = 0;; passed = begun) {
        begun = control.seconds();
        control.check(true, "waiting", 0, 0);
      }
    } catch (const LimitReached& reached) {
      CHECK(reached.reason == LimitReached::Reason::time);
    }
    return passed <= end && control.seconds() > end;
  };
  CHECK(ends(0, 0.2));
  CHECK(ends(100'000'000, 0.19));
  CHECK(ends(std::size_t{1} << 40, 0.18));  // never more than a tenth
}

int main() { return check::run(); }
