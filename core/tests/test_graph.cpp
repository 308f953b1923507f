// The graph: its shape, and that the switches (merging, frontier, depth) change its size but no answer.
#include <array>
#include <bit>
#include <map>
#include <set>
#include <string>

#include "check.hpp"
#include "common/errors.hpp"
#include "down/posterior.hpp"
#include "fold/estimate.hpp"
#include "frontier/frontier.hpp"
#include "graph/graph.hpp"
#include "naive.hpp"
#include "sets/query.hpp"

using namespace everytree;

namespace {

// Cover of a state, as words: the key of a map.
std::vector<std::uint64_t> words(const Graph& g, std::size_t id) {
  return {g.cover(id), g.cover(id) + g.table().n_words()};
}

bool holds(const std::vector<std::uint64_t>& cover, std::size_t bit) { return cover[bit / 64] >> (bit % 64) & 1; }

// f(table, options) for random small tables and every setting of the switches.
template <class F>
void for_random_graphs(unsigned seed, int rounds, F&& f) {
  std::mt19937 random(seed);
  for (int round = 0; round < rounds; ++round)
    for (int depth : {-1, 0, 1, 2, 3, 4})
      for (std::int64_t min_leaf : {1, 2, 3}) {
        const naive::Table d = naive::random_table(random, {1, 14}, {0, 6}, {1, 4}, {1, 4});
        if (d.total(d.all()) < min_leaf) continue;
        GraphOptions o;
        o.max_depth = depth;
        o.min_leaf = min_leaf;
        f(d, o);
      }
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const InvalidInput& e) {
    return e.what();
  }
  return "nothing was thrown";
}

// Two covers of two words with the same hash: the last word is free, and the first one makes up for it. Undoes
// hash_words step by step; the test checks that the hashes are equal, so a new hash function needs a new inverse here.
std::array<std::uint64_t, 2> same_hash(std::uint64_t first, std::uint64_t second, std::uint64_t other_second) {
  constexpr std::uint64_t kA = 0x9e3779b97f4a7c15ULL, kB = 0xd1b54a32d192ed03ULL, kTimesA = 0xff51afd7ed558ccdULL,
                          kTimesB = 0xc4ceb9fe1a85ec53ULL;
  const auto lane_b = [](std::uint64_t word) {
    const std::uint64_t b = (kB ^ word) * kTimesB;
    return std::rotl(b ^ (b >> 29), 23);
  };
  std::uint64_t a = (kA ^ first) * kTimesA;
  a ^= a >> 32;
  a ^= lane_b(second) ^ lane_b(other_second);
  a ^= a >> 32;               // its own inverse
  std::uint64_t inverse = 1;  // of kTimesA modulo 2^64, by Newton's iteration
  for (int k = 0; k < 6; ++k) inverse *= 2 - kTimesA * inverse;
  return {a * inverse ^ kA, other_second};
}

}  // namespace

TEST(children_of_every_split_partition_the_cover) {
  for_random_graphs(1, 6, [](const naive::Table& d, GraphOptions o) {
    const auto table = d.core();
    const auto& classes = table->test_classes();
    for (int switches = 0; switches < 4; ++switches) {
      o.merge = switches & 1;
      o.frontier = switches & 2;
      Control control;
      const Graph g(table, o, control);
      std::size_t n_inner = 0;
      for (std::size_t id = 0; id < g.size(); ++id) {
        const State& s = g.state(id);
        CHECK(s.total == table->count(g.cover(id)));
        CHECK(s.total >= o.min_leaf);
        if (!s.inner()) continue;
        ++n_inner;
        const auto here = words(g, id);
        std::set<std::uint32_t> seen;
        std::uint32_t n_tests = 0;
        for (const Split& split : g.splits(s)) {
          const auto one = words(g, split.child[1]), zero = words(g, split.child[0]);
          CHECK(g.state(split.child[1]).total + g.state(split.child[0]).total == s.total);
          CHECK(g.state(split.child[1]).depth == s.depth + 1 && g.state(split.child[0]).depth == s.depth + 1);
          for (std::size_t w = 0; w < here.size(); ++w) CHECK((one[w] & zero[w]) == 0 && (one[w] | zero[w]) == here[w]);
          CHECK(!g.parts(split).empty());
          for (std::uint32_t part : g.parts(split)) {
            CHECK(seen.insert(part >> 1).second);  // a class splits a state once
            n_tests += static_cast<std::uint32_t>(classes[part >> 1].members.size());
            const std::uint64_t* column = table->column(classes[part >> 1].test);
            for (std::size_t w = 0; w < here.size(); ++w) CHECK((part & 1 ? zero : one)[w] == (here[w] & column[w]));
          }
        }
        std::uint32_t feasible = 0;
        for (std::size_t t = 0; t < d.t; ++t) {
          const std::int64_t ones = table->count(g.cover(id), t);
          feasible += ones >= o.min_leaf && s.total - ones >= o.min_leaf;
        }
        CHECK(n_tests == feasible && s.n_tests == feasible);
      }
      CHECK(n_inner == g.n_inner());
    }
  });
}

TEST(every_state_comes_after_its_children) {
  for_random_graphs(2, 6, [](const naive::Table& d, GraphOptions o) {
    for (int switches = 0; switches < 8; ++switches) {
      o.merge = switches & 1;
      o.frontier = switches & 2;
      o.by_depth = switches & 4;
      Control control;
      const Graph g(d.core(), o, control);
      std::vector<int> place(g.size(), -1);
      int n = 0;
      for (std::uint32_t id : g.children_first()) place[id] = n++;
      CHECK(static_cast<std::size_t>(n) == g.size());
      for (std::size_t id = 0; id < g.size(); ++id) {
        CHECK(place[id] >= 0);
        for (const Split& split : g.splits(g.state(id)))
          CHECK(place[split.child[0]] < place[id] && place[split.child[1]] < place[id]);
      }
    }
  });
}

TEST(equal_covers_at_one_depth_are_one_state) {
  for_random_graphs(3, 6, [](const naive::Table& d, GraphOptions o) {
    for (bool by_depth : {true, false}) {
      o.by_depth = by_depth;
      Control control;
      const Graph g(d.core(), o, control);
      std::set<std::pair<std::vector<std::uint64_t>, std::int32_t>> seen;
      for (std::size_t id = 0; id < g.size(); ++id) CHECK(seen.emplace(words(g, id), g.state(id).depth).second);
      o.merge = false;
      const Graph paths(d.core(), o, control);
      o.merge = true;
      std::set<std::pair<std::vector<std::uint64_t>, std::int32_t>> reached;
      for (std::size_t id = 0; id < paths.size(); ++id) reached.emplace(words(paths, id), paths.state(id).depth);
      CHECK(seen == reached);
    }
  });
}

TEST(closed_states_have_as_many_levels_as_the_limits_leave) {
  for_random_graphs(4, 6, [](const naive::Table& d, GraphOptions o) {
    Control control;
    const Graph g(d.core(), o, control);
    for (std::size_t id = 0; id < g.size(); ++id) {
      const State& s = g.state(id);
      const int left = o.max_depth < 0 ? 100 : o.max_depth - s.depth;
      const auto leaves = static_cast<int>(s.total / o.min_leaf);
      const int most = std::min(left, leaves - 1);  // a tree with k leaves has at most k − 1 levels
      if (s.inner())
        CHECK(most >= 3);
      else
        CHECK(s.levels == (left <= 0 ? 0 : std::min({2, left, std::max(0, most)})));
    }
  });
}

TEST(no_switch_changes_an_answer) {
  unsigned which = 0;
  for_random_graphs(5, 8, [&](const naive::Table& d, GraphOptions o) {
    Control control;
    const auto table = d.core();
    const LeafCost error(CostKind::error, d.c);
    const Prior prior = naive::some_prior(which++, d.t);
    const auto leaf = std::make_shared<const Dirichlet>(std::vector<std::vector<double>>{std::vector<double>(d.c, 0.7)},
                                                        d.class_counts(d.all()));
    Natural count;
    double least = 0, log_evidence = 0;
    for (int switches = 0; switches < 8; ++switches) {
      o.merge = !(switches & 1);
      o.frontier = !(switches & 2);
      o.by_depth = !(switches & 4);
      if (!o.by_depth && naive::depends_on_depth(prior)) continue;
      auto g = std::make_shared<const Graph>(table, o, control);
      const Posterior p(g, prior, leaf, true, 1, control);
      if (switches == 0) {
        count = count_trees(*g, control);
        least = least_cost(*g, error, control);
        log_evidence = p.log_evidence();
      }
      CHECK(count_trees(*g, control) == count);
      CHECK(least_cost(*g, error, control) == least);
      CHECK(std::abs(p.log_evidence() - log_evidence) < 1e-11 * std::max(1.0, std::abs(log_evidence)));
    }
  });
}

TEST(no_tree_is_deeper_than_deepest) {
  for_random_graphs(6, 3, [](const naive::Table& d, GraphOptions o) {
    Control control;
    const Graph g(d.core(), o, control);
    const naive::Space space{&d, o.max_depth, o.min_leaf};
    const auto a = naive::answers(space, {naive::some_prior(0, d.t), {std::vector<double>(d.c, 1.0)}},
                                  LeafCost(CostKind::error, d.c));
    CHECK(static_cast<std::int32_t>(a.by_depth.size()) - 1 <= g.deepest());
    if (o.max_depth >= 0) CHECK(g.deepest() <= o.max_depth);
  });
}

TEST(many_states_outgrow_the_first_index_and_the_first_pool_chunk) {
  // 12 independent tests on 200 rows, four deep: thousands of states, so that the index is rebuilt while it is in use.
  std::mt19937 random(7);
  naive::Table d(200, 12, 2);
  for (auto& x : d.rows) x = random() & 1;
  for (std::size_t r = 0; r < d.n; ++r) d.counts[r * 2 + (random() & 1)] = 1;
  GraphOptions o;
  o.max_depth = 6;
  o.min_leaf = 5;
  Control control;
  const Graph g(d.core(), o, control);
  CHECK(g.size() > 5000);
  std::set<std::pair<std::int32_t, std::vector<std::uint64_t>>> seen;
  bool distinct = true, consistent = true;
  for (std::size_t id = 0; id < g.size(); ++id) {
    distinct = seen.emplace(g.state(id).depth, words(g, id)).second && distinct;
    for (const Split& split : g.splits(g.state(id))) {
      const auto here = words(g, id), one = words(g, split.child[1]);
      const std::uint64_t* column = g.table().column(g.table().test_classes()[g.parts(split)[0] >> 1].test);
      for (std::size_t bit = 0; bit < 64 * here.size(); ++bit)
        consistent = holds(one, bit) == (holds(here, bit) && (column[bit / 64] >> (bit % 64) & 1)) && consistent;
    }
  }
  CHECK(distinct);
  CHECK(consistent);
  CHECK(g.bytes() > g.size() * g.table().n_words() * 8);
}

TEST(covers_with_the_same_hash_are_told_apart) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 20; ++round) {
    std::array<std::uint64_t, 2> x{random() & ~1ULL, random()}, y;
    do y = same_hash(x[0], x[1], random());
    while (y[0] & 1);  // columns that hold for the first row would be hashed as their complements
    CHECK(x != y);
    CHECK(hash_words(x.data(), 2, 0) == hash_words(y.data(), 2, 0));
    naive::Table d(128, 2, 1);
    for (std::size_t r = 0; r < 128; ++r) {
      d.rows[r * 2] = x[r / 64] >> (r % 64) & 1;
      d.rows[r * 2 + 1] = y[r / 64] >> (r % 64) & 1;
      d.counts[r] = 1;
    }
    const auto table = d.core();
    CHECK(table->test_classes().size() == 2);
    for (bool by_depth : {true, false}) {
      GraphOptions o;
      o.max_depth = by_depth ? 3 : -1;
      o.by_depth = by_depth;
      o.frontier = false;
      Control control;
      const Graph merged(table, o, control);
      o.merge = false;
      const Graph paths(table, o, control);
      CHECK(merged.splits(merged.state(0)).size() == 2);
      CHECK(count_trees(merged, control) == count_trees(paths, control));
      for (const Split& split : merged.splits(merged.state(0))) {
        const auto& column = split.parts_begin == merged.splits(merged.state(0))[0].parts_begin ? x : y;
        CHECK(words(merged, split.child[1]) == std::vector<std::uint64_t>(column.begin(), column.end()));
      }
    }
  }
}

TEST(columns_with_the_same_hash_are_not_grouped) {
  // Among 2^18 columns of 64 rows some pairs share their 32-bit hash.
  std::mt19937_64 random(10);
  constexpr std::size_t kColumns = 1 << 18;
  std::vector<std::uint64_t> column(kColumns);
  std::vector<std::uint32_t> bits(2 * kColumns), hash(kColumns);
  const std::uint32_t valid[2] = {~0u, ~0u};
  for (std::size_t j = 0; j < kColumns; ++j) {
    column[j] = random() & ~1ULL;
    bits[RowBlock::word(2, 0, j)] = static_cast<std::uint32_t>(column[j]);
    bits[RowBlock::word(2, 1, j)] = static_cast<std::uint32_t>(column[j] >> 32);
  }
  kernels().hash_columns(bits.data(), valid, 2, kColumns, hash.data());
  std::map<std::uint32_t, std::size_t> first;
  int found = 0;
  for (std::size_t j = 0; j < kColumns && found < 5; ++j) {
    const auto [it, fresh] = first.emplace(hash[j], j);
    if (fresh || column[j] == column[it->second]) continue;
    ++found;
    naive::Table d(64, 2, 1);
    for (std::size_t r = 0; r < 64; ++r) {
      d.rows[r * 2] = column[j] >> r & 1;
      d.rows[r * 2 + 1] = column[it->second] >> r & 1;
      d.counts[r] = 1;
    }
    const auto table = d.core();
    Frontier f(*table, 1);
    f.load(table->all().data());
    CHECK(f.n_groups() == 2);
  }
  CHECK(found == 5);
}

TEST(an_empty_space_is_refused_with_its_reason) {
  std::mt19937 random(8);
  const naive::Table d = naive::random_table(random, 5, 3, 2, 1);
  GraphOptions o;
  Control control;
  o.min_leaf = 0;
  CHECK(message_of([&] { Graph(d.core(), o, control); }).find("min_leaf must be at least 1") != std::string::npos);
  o.min_leaf = 1000;
  const std::string few = message_of([&] { Graph(d.core(), o, control); });
  CHECK(few.find("min_leaf=1000") != std::string::npos && few.find("lower min_leaf") != std::string::npos);
}

TEST(tables_without_tests_or_with_one_row_have_one_tree) {
  for (std::size_t tests : {0, 3}) {
    naive::Table d(1, tests, 2);
    d.counts = {3, 4};
    for (int depth : {-1, 0, 1, 2, 3})
      for (bool frontier : {true, false}) {
        GraphOptions o;
        o.max_depth = depth;
        o.frontier = frontier;
        Control control;
        const Graph g(d.core(), o, control);
        CHECK(count_trees(g, control) == Natural(1));
        CHECK(least_cost(g, LeafCost(CostKind::error, 2), control) == 3);
      }
  }
}

TEST(the_estimate_of_states_is_exact_where_nothing_is_random) {
  // One level of inner states and n tests that all differ: 1 + 2n paths.
  naive::Table d(64, 6, 2);
  for (std::size_t r = 0; r < 64; ++r) {
    for (std::size_t t = 0; t < 6; ++t) d.rows[r * 6 + t] = r >> t & 1;
    d.counts[r * 2 + (r & 1)] = 1;
  }
  GraphOptions o;
  o.max_depth = 3;
  Control control;
  CHECK(check::near(estimate_graph(d.core(), o, 0, control).states, 13.0));
  CHECK(Graph(d.core(), o, control).size() == 13);
  o.max_depth = 2;
  CHECK(check::near(estimate_graph(d.core(), o, 0, control).states, 1.0));
  CHECK(estimate_graph(d.core(), o, 0, control).seconds == 0);
  CHECK(estimate_graph(d.core(), o, 0.001, control).seconds > 0);
  o.min_leaf = 0;
  CHECK(message_of([&] { estimate_graph(d.core(), o, 0, control); }).find("min_leaf must be at least 1") !=
        std::string::npos);
}

int main() { return check::run(); }
