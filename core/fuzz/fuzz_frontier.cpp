// Count table and frontier against naive loops over the rows, with every kernel set.
#include <memory>
#include <set>

#include "bytes.hpp"
#include "frontier/frontier.hpp"

using namespace everytree;

namespace {

// The rows of a cover that is a path of up to three tests, and the same as bits of the table.
struct Path {
  naive::Rows rows;
  Cover cover;
};

Path some_path(fuzz::Bytes& in, const naive::Table& d, const CountTable& table) {
  Path path{d.all(), table.all()};
  for (std::uint32_t steps = d.t == 0 ? 0 : in.number(0, 3); steps > 0; --steps) {
    const std::uint32_t test = in.number(0, static_cast<std::uint32_t>(d.t) - 1);
    const bool yes = in.flag();
    naive::Rows rows = d.side(path.rows, test, yes);
    if (d.total(rows) == 0) break;
    path.rows = std::move(rows);
    for (std::size_t w = 0; w < path.cover.size(); ++w)
      path.cover[w] &= yes ? table.column(test)[w] : ~table.column(test)[w];
  }
  return path;
}

void check_table(const naive::Table& d, const CountTable& table, const Path& path) {
  fuzz::require(table.count(path.cover.data()) == d.total(path.rows), "examples of a cover");
  naive::Counts counts(d.c);
  table.class_counts(path.cover.data(), counts.data());
  fuzz::require(counts == d.class_counts(path.rows), "class counts of a cover");
  std::set<std::uint32_t> seen;
  for (std::uint32_t t = 0; t < d.t; ++t)
    fuzz::require(table.count(path.cover.data(), t) == d.total(d.side(path.rows, t, true)),
                  "examples of a cover for which a test holds");
  for (const TestClass& c : table.test_classes())
    for (std::uint32_t member : c.members) {
      fuzz::require(seen.insert(member >> 1).second, "a test in two classes");
      for (std::uint32_t r = 0; r < d.n; ++r)
        if (d.total(naive::Rows{r}) > 0)
          fuzz::require(d.holds(r, member >> 1) == (d.holds(r, c.test) != static_cast<bool>(member & 1)),
                        "a member that differs from its class");
    }
  for (std::uint32_t t = 0; t < d.t; ++t)
    if (seen.count(t) == 0) {
      const std::int64_t ones = d.total(d.side(d.all(), t, true));
      fuzz::require(ones == 0 || ones == d.total(d.all()), "a test that splits, in no class");
    }
}

void check_frontier(const naive::Table& d, const CountTable& table, Frontier& f, const Path& path) {
  f.load(path.cover.data());
  const std::int64_t total = d.total(path.rows);
  fuzz::require(f.total() == total, "total of the frontier");
  std::size_t feasible = 0, grouped = 0;
  for (std::uint32_t t = 0; t < d.t; ++t) {
    const std::int64_t ones = d.total(d.side(path.rows, t, true));
    feasible += ones >= f.min_leaf() && total - ones >= f.min_leaf();
  }
  const auto& classes = table.test_classes();
  const std::size_t n = f.n_groups();
  std::vector<std::uint32_t> test(n);
  for (std::size_t g = 0; g < n; ++g) {
    test[g] = classes[*f.parts_begin(g) >> 1].test;
    fuzz::require((*f.parts_begin(g) & 1) == 0, "the first part of a group is flipped against itself");
    double multiplicity = 0;
    for (const std::uint32_t* p = f.parts_begin(g); p != f.parts_end(g); ++p) {
      multiplicity += static_cast<double>(classes[*p >> 1].members.size());
      grouped += classes[*p >> 1].members.size();
      for (std::uint32_t r : path.rows)
        if (d.total(naive::Rows{r}) > 0)
          fuzz::require(d.holds(r, classes[*p >> 1].test) == (d.holds(r, test[g]) != static_cast<bool>(*p & 1)),
                        "a part that splits otherwise");
    }
    fuzz::require(multiplicity == f.multiplicity(g), "multiplicity of a group");
  }
  fuzz::require(feasible == grouped && f.n_tests() == static_cast<double>(feasible), "feasible tests");

  // All pairs of groups: by class, and as one index.
  const bool packed = d.c == 2 && total < 32768;
  const int shift = packed ? 16 : 0;
  f.set_index(shift);
  std::vector<std::int32_t> counts(d.c * f.stride()), count_rows, index_rows, tests[2];
  for (auto& t : tests) t.assign(f.stride(), 0);
  std::int32_t* const counter[2] = {tests[0].data(), tests[1].data()};
  std::vector<std::int64_t> expected_tests[2] = {std::vector<std::int64_t>(n, 0), std::vector<std::int64_t>(n, 0)};
  for (std::size_t i = 0; i < n; ++i) {
    const naive::Rows side[2] = {d.side(path.rows, test[i], false), d.side(path.rows, test[i], true)};
    f.pair_counts(i, 0, counts.data());
    const std::int32_t* later = f.next_pair_counts(i, count_rows);
    const std::int32_t* index = f.next_pair_index(i, counter, index_rows);
    const naive::Counts single = d.class_counts(side[1]);
    for (std::size_t c = 0; c < d.c; ++c) fuzz::require(f.count(c, i) == single[c], "class counts of a group");
    for (std::size_t j = 0; j < n; ++j) {
      const naive::Counts both = d.class_counts(d.side(side[1], test[j], true));
      std::int64_t sum = 0;
      for (std::size_t c = 0; c < d.c; ++c) {
        fuzz::require(counts[c * f.stride() + j] == both[c], "class counts of a pair");
        if (j > i) fuzz::require(later[c * f.stride() + j] == both[c], "class counts of a pair, several at a time");
        sum += both[c];
      }
      if (j > i) fuzz::require(index[j] == (packed ? both[0] * 65536 + both[1] : sum), "index of a pair");
      if (j == i) continue;
      for (int a = 0; a < 2; ++a) {
        const std::int64_t all = d.total(side[a]), ones = d.total(d.side(side[a], test[j], true));
        if (ones >= f.min_leaf() && all - ones >= f.min_leaf())
          expected_tests[a][i] += static_cast<std::int64_t>(f.multiplicity(j));
      }
    }
  }
  for (int a = 0; a < 2; ++a)
    for (std::size_t i = 0; i < n; ++i) fuzz::require(tests[a][i] == expected_tests[a][i], "feasible second tests");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes in(data, size);
  const naive::Table d = fuzz::table(in, 300, 40, 4, in.flag() ? 3 : 300);
  if (d.total(d.all()) == 0) return 0;
  const auto min_leaf = static_cast<std::int64_t>(in.number(1, 6));
  const auto all = available_kernels();
  use_kernels(all[in.byte() % all.size()]->name);
  const auto table = d.core();
  Frontier frontier(*table, min_leaf);
  for (int paths = 0; paths < 3; ++paths) {  // buffers of a larger cover must not show through in a smaller one
    const Path path = some_path(in, d, *table);
    check_table(d, *table, path);
    check_frontier(d, *table, frontier, path);
  }
  use_kernels("");
  return 0;
}
