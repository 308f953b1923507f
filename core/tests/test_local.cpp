// Spaces in which states choose their tests, against a list of every tree: folds, posterior, and sets of trees.
#include <limits>
#include <map>
#include <set>
#include <string>

#include "check.hpp"
#include "common/errors.hpp"
#include "down/bracket.hpp"
#include "down/posterior.hpp"
#include "fold/estimate.hpp"
#include "fold/weigh_model.hpp"
#include "local_cases.hpp"
#include "mine/lattice.hpp"
#include "naive_trees.hpp"
#include "sets/likeliest.hpp"
#include "sets/near_best.hpp"
#include "sets/pareto.hpp"
#include "sets/query.hpp"

using namespace everytree;
using local_cases::Case;
using local_cases::for_every_case;

namespace {

bool close(double x, double y, double slack = 1e-9) {
  return x == y || std::abs(x - y) <= slack * std::max({1.0, std::abs(x), std::abs(y)});
}

std::uint64_t small(const Natural& n) {
  CHECK(n.limbs().size() <= 1);
  return n.limbs().empty() ? 0 : n.limbs()[0];
}

// f(case, graph, every tree, their cost) for the spaces with few trees.
template <class F>
void for_listed(unsigned seed, std::size_t most, F&& f) {
  std::size_t n = 0;
  for_every_case(seed, {2, 10}, {1, 3}, [&](const Case& c) {
    const LeafCost cost = naive::some_cost(c.number, c.d.c);
    const auto trees = c.trees(most, cost);
    if (trees.empty()) return;
    Control control;
    f(c, std::make_shared<const Graph>(c.d.core(), c.options, control), trees, cost);
    ++n;
  });
  CHECK(n > 200);
}

template <class F>
void for_posteriors(unsigned seed, std::size_t most, F&& f) {
  for_listed(seed, most, [&](const Case& c, auto graph, const auto& trees, const LeafCost&) {
    Control control;
    const Posterior p(graph, c.weights.prior, c.leaf(), c.linear, c.options.n_threads, control);
    f(c, p, trees);
  });
}

// f(path, test) for every node of a tree; a path is made of (test, outcome).
using Path = std::vector<std::pair<std::int32_t, int>>;
template <class F>
void for_nodes(const Key& key, std::size_t& at, Path& path, const F& f) {
  const std::int32_t test = key[at++];
  f(path, test);
  if (test < 0) return;
  for (int side = 0; side < 2; ++side) {
    path.emplace_back(test, side);
    for_nodes(key, at, path, f);
    path.pop_back();
  }
}

}  // namespace

TEST(offers_are_those_of_the_law) {
  std::mt19937 random(9);
  for_every_case(9, {1, 40}, {1, 4}, [&](const Case& c) {
    const auto table = c.d.core();
    Offers offers(*table, c.options.min_leaf);
    const naive::Space no_limit{&c.d, -1, c.options.min_leaf};
    // A random cover: where a few random tests hold, or do not.
    Cover cover = table->all();
    naive::Rows rows = c.d.all();
    for (unsigned k = 0; k < random() % 3; ++k) {
      const std::size_t test = random() % c.d.t;
      const bool side = random() & 1;
      for (std::size_t w = 0; w < cover.size(); ++w)
        cover[w] &= side ? table->column(test)[w] : ~table->column(test)[w];
      rows = c.d.side(rows, test, side);
    }
    if (c.d.total(rows) == 0) return;
    const auto got = offers.of(cover.data());
    const naive::Tests want = no_limit.feasible(rows, 0);
    CHECK(std::equal(got.begin(), got.end(), want.begin(), want.end()));
  });
}

TEST(trees_are_counted_and_weighed) {
  for_posteriors(1, 1500, [](const Case& c, const Posterior& p, const std::vector<naive::Tree>& trees) {
    Control control;
    CHECK(small(count_trees(p.graph(), control)) == trees.size());
    naive::Real sum = 0, best = -std::numeric_limits<naive::Real>::infinity();
    std::set<Key> inside;
    for (const auto& tree : trees) {
      inside.insert(tree.key);
      CHECK(close(p.log_joint(tree.key), static_cast<double>(tree.log_joint), 1e-11));
      sum += std::exp(tree.log_joint);
      best = std::max(best, tree.log_joint);
    }
    CHECK(inside.size() == trees.size());
    CHECK(close(p.log_evidence(), static_cast<double>(std::log(sum)), 1e-11));
    CHECK(close(p.log_map(control), static_cast<double>(best), 1e-11));
    CHECK(close(p.log_prior_total(control), static_cast<double>(std::log(naive::prior_total(c.space(), c.weights))),
                1e-10));
    const auto want = naive::answers(c.space(), c.weights, LeafCost(CostKind::error, c.d.c));
    const auto leaves = p.leaves_distribution(control), depths = p.depth_distribution(control);
    for (std::size_t k = 0; k < want.by_leaves.size(); ++k)
      CHECK(close(k < leaves.size() ? leaves[k] : 0.0, static_cast<double>(want.by_leaves[k] / sum)));
    for (std::size_t k = 0; k < want.by_depth.size(); ++k)
      CHECK(close(k < depths.size() ? depths[k] : 0.0, static_cast<double>(want.by_depth[k] / sum)));
    // Keys of trees that are not in the space, most of them because a state does not offer a test.
    std::mt19937 random(c.number);
    for (int round = 0; round < 10; ++round) {
      Key key = trees[random() % trees.size()].key;
      for (std::int32_t& test : key)
        if (test >= 0 && random() % 2) test = static_cast<std::int32_t>(random() % c.d.t);
      CHECK((p.log_joint(key) > -std::numeric_limits<double>::infinity()) == (inside.count(key) == 1));
    }
    const auto top = top_trees(p, 5, control);
    CHECK(top.size() == std::min<std::size_t>(5, trees.size()));
    for (const Ranked& tree : top) CHECK(inside.count(tree.key) == 1);
    CHECK(inside.count(map_tree(p, control)) == 1);
    CHECK(close(p.log_joint(map_tree(p, control)), static_cast<double>(best), 1e-9));
  });
}

TEST(every_node_of_the_posterior) {
  struct Node {
    naive::Real all = 0, leaf = 0;
    std::map<std::int32_t, naive::Real> split;
  };
  for_posteriors(2, 800, [](const Case& c, const Posterior& p, const std::vector<naive::Tree>& trees) {
    std::map<Path, Node> nodes;
    for (const auto& tree : trees) {
      std::size_t at = 0;
      Path path;
      const naive::Real w = std::exp(tree.log_joint);
      for_nodes(tree.key, at, path, [&](const Path& here, std::int32_t test) {
        Node& node = nodes[here];
        node.all += w;
        (test < 0 ? node.leaf : node.split[test]) += w;
      });
    }
    std::mt19937 random(c.number);
    std::size_t k = 0;
    for (const auto& [path, node] : nodes) {
      if (k++ > 40) break;
      const auto got = p.path_node(path);
      CHECK(got.exists);
      CHECK(close(got.leaf, static_cast<double>(node.leaf / node.all)));
      for (std::size_t t = 0; t < c.d.t; ++t) {
        const auto it = node.split.find(static_cast<std::int32_t>(t));
        CHECK(close(got.split[t], it == node.split.end() ? 0.0 : static_cast<double>(it->second / node.all)));
      }
      Path other = path;
      other.emplace_back(static_cast<std::int32_t>(random() % c.d.t), static_cast<int>(random() % 2));
      CHECK(p.path_node(other).exists == (nodes.count(other) == 1));
    }
  });
}

TEST(inclusion_of_tests_and_of_columns) {
  for_posteriors(3, 800, [](const Case& c, const Posterior& p, const std::vector<naive::Tree>& trees) {
    Control control;
    std::vector<naive::Real> tests(c.d.t, 0), columns(c.d.columns.size(), 0);
    std::vector<std::int32_t> owner(c.d.t);
    for (std::size_t j = 0; j < columns.size(); ++j)
      for (std::uint32_t t = c.d.columns[j].begin; t < c.d.t; ++t) owner[t] = static_cast<std::int32_t>(j);
    naive::Real all = 0;
    for (const auto& tree : trees) {
      const naive::Real w = std::exp(tree.log_joint);
      all += w;
      std::set<std::size_t> used, used_columns;
      for (std::int32_t test : tree.key)
        if (test >= 0) {
          used.insert(static_cast<std::size_t>(test));
          used_columns.insert(static_cast<std::size_t>(owner[static_cast<std::size_t>(test)]));
        }
      for (std::size_t t : used) tests[t] += w;
      for (std::size_t j : used_columns) columns[j] += w;
    }
    const auto by_test = p.inclusion(control), by_column = p.inclusion_of(owner, columns.size(), control);
    for (std::size_t t = 0; t < c.d.t; ++t) CHECK(close(by_test[t], static_cast<double>(tests[t] / all)));
    for (std::size_t j = 0; j < columns.size(); ++j) CHECK(close(by_column[j], static_cast<double>(columns[j] / all)));
  });
}

TEST(draws_come_as_often_as_they_weigh) {
  for_posteriors(4, 60, [](const Case&, const Posterior& p, const std::vector<naive::Tree>& trees) {
    Control control;
    constexpr std::size_t n = 3000;
    std::map<Key, std::size_t> seen;
    for (const Key& key : p.sample(0, n, 5, control)) ++seen[key];
    std::size_t found = 0;
    for (const auto& tree : trees) {
      const double want = std::exp(static_cast<double>(tree.log_joint) - p.log_evidence());
      const auto it = seen.find(tree.key);
      const std::size_t got = it == seen.end() ? 0 : it->second;
      found += got;
      CHECK(std::abs(static_cast<double>(got) / n - want) < 5 * std::sqrt(want / n) + 2.0 / n);
    }
    CHECK(found == n);
  });
}

TEST(best_trees_fronts_and_queries) {
  for_listed(5, 1500, [](const Case& c, auto graph, auto trees, const LeafCost& cost) {
    Control control;
    std::sort(trees.begin(), trees.end(), [](const auto& x, const auto& y) { return x.cost < y.cost; });
    std::map<Key, double> cost_of;
    for (const auto& tree : trees) cost_of[tree.key] = tree.cost;
    CHECK(close(least_cost(*graph, cost, control), trees[0].cost));
    for (std::size_t k : {std::size_t{1}, std::size_t{7}, trees.size() + 5}) {
      const auto got = best_trees(*graph, cost, k, control);
      CHECK(got.size() == std::min(k, trees.size()));
      std::set<Key> seen;
      for (std::size_t x = 0; x < got.size(); ++x) {
        CHECK(seen.insert(got[x].key).second && cost_of.count(got[x].key) == 1);
        CHECK(close(got[x].score, trees[x].cost) && close(cost_of[got[x].key], got[x].score));
      }
    }
    std::map<std::size_t, double> least;  // by leaves
    for (const auto& tree : trees)
      if (!least.count(tree.leaves) || tree.cost < least[tree.leaves]) least[tree.leaves] = tree.cost;
    for (const FrontPoint& point : cost_front(*graph, cost, control)) {
      CHECK(close(point.cost, least[point.leaves]));
      CHECK(cost_of.count(point.key) == 1 && close(cost_of[point.key], point.cost));
    }
    ParetoQuery query;
    query.costs = {&cost};
    query.rank = {0, 1};
    query.k = 1 + c.number % 9;
    const auto judged = pareto_trees(*graph, query, control);
    CHECK(judged.size() == std::min<std::size_t>(query.k, trees.size()));
    std::sort(trees.begin(), trees.end(), [](const auto& x, const auto& y) {
      return std::pair(std::round(x.cost * 1e8), x.leaves) < std::pair(std::round(y.cost * 1e8), y.leaves);
    });
    for (std::size_t x = 0; x < judged.size(); ++x) {
      CHECK(close(judged[x].values[0], trees[x].cost) && judged[x].values[1] == static_cast<double>(trees[x].leaves));
      CHECK(cost_of.count(judged[x].key) == 1);
    }
    query.k = 1;
    query.front = true;
    const auto front = pareto_trees(*graph, query, control);
    const auto as_good = [&](const Judged& point, const naive::Tree& tree) {
      return (point.values[0] < tree.cost || close(point.values[0], tree.cost)) &&
             point.values[1] <= static_cast<double>(tree.leaves);
    };
    for (const auto& point : front) CHECK(cost_of.count(point.key) == 1);
    for (const auto& tree : trees)
      CHECK(std::any_of(front.begin(), front.end(), [&](const Judged& point) { return as_good(point, tree); }));
  });
}

TEST(the_near_best_set) {
  for_listed(6, 1200, [](const Case& c, auto graph, const auto&, const LeafCost&) {
    Control control;
    const auto trees = naive::every_tree(c.space(), c.weights, LeafCost(CostKind::error, c.d.c));
    for (std::int32_t slack : {0, 2, 1 << 28}) {
      NearBest near(graph, 16, c.options.n_threads, control);
      std::vector<std::int32_t> limits = near.least();
      for (std::int32_t& x : limits)
        if (x >= 0) x += slack;
      near.keep(limits, control);
      std::map<std::pair<std::size_t, std::int32_t>, std::uint64_t> cells;
      std::vector<std::uint64_t> use(c.d.t, 0);
      for (const auto& tree : trees) {
        const auto errors = static_cast<std::int32_t>(tree.cost);
        if (tree.leaves > limits.size() || errors > limits[tree.leaves - 1]) continue;
        ++cells[{tree.leaves, errors}];
        for (std::int32_t test : std::set<std::int32_t>(tree.key.begin(), tree.key.end()))
          if (test >= 0) ++use[static_cast<std::size_t>(test)];
      }
      const auto found = near.cells(0);
      CHECK(found.size() == cells.size());
      for (const auto& cell : found) CHECK((cells[{cell.leaves, cell.errors}] == small(cell.n_trees)));
      const auto used = near.test_use(control);
      for (std::size_t t = 0; t < c.d.t; ++t) CHECK(small(used[t]) == use[t]);
      // What the trees of the set say of a new row.
      std::mt19937 random(c.number);
      const local_cases::NewRow row(c.d, random);
      const std::vector<double> a(c.d.c, 0.5);
      const auto answer = near.ask({nullptr, row.reach.data(), 1, c.d.t}, a, control);
      std::vector<double> mean(c.d.c, 0), greatest(c.d.c, -1);
      double n = 0;
      for (const auto& tree : trees) {
        if (tree.leaves > limits.size() || static_cast<std::int32_t>(tree.cost) > limits[tree.leaves - 1]) continue;
        n += 1;
        const naive::Counts counts = c.d.class_counts(row.leaf(c, tree.key).first);
        double sum = 0;
        for (std::int32_t x : counts) sum += x + 0.5;
        for (std::size_t k = 0; k < c.d.c; ++k) {
          mean[k] += (counts[k] + 0.5) / sum;
          greatest[k] = std::max(greatest[k], (counts[k] + 0.5) / sum);
        }
      }
      for (std::size_t k = 0; k < c.d.c; ++k) {
        CHECK(close(answer.mean[k], mean[k] / n));
        CHECK(close(answer.greatest[k], greatest[k]));
      }
    }
  });
}

namespace {

// A number for each row: the marginal of a leaf is exp(−(Σx)² / (1 + n)).
struct Numbers {
  using Entry = double;
  std::size_t width() const { return 2; }
  std::size_t outputs() const { return 1; }
  double log_marginal(std::size_t, const double* s) const { return -s[1] * s[1] / (1 + s[0]); }
  void predict(std::size_t, const double* s, double* out) const { out[0] = s[1]; }
};

}  // namespace

TEST(a_leaf_model_without_kernels) {
  for_every_case(7, {2, 9}, {1, 2}, [](const Case& given) {
    if (given.d.n < static_cast<std::size_t>(given.options.min_leaf)) return;
    Case c = given;
    // One class and every row once: slot k of the table is row k.
    c.d.c = 1;
    c.d.counts.assign(c.d.n, 1);
    std::mt19937 random(c.number);
    std::vector<double> x(c.d.n);
    for (double& y : x) y = static_cast<double>(random() % 100) / 50 - 1;
    const Numbers model;
    const Prior& prior = c.weights.prior;
    const naive::Real want = naive::fold<naive::Real>(
        c.space(), c.d.all(), 0,
        [&](const naive::Rows& rows, std::size_t depth, bool open) {
          double s[2] = {0, 0};
          for (std::uint32_t r : rows) {
            s[0] += 1;
            s[1] += x[r];
          }
          return std::exp(naive::Real(prior.log_leaf(depth, open) + model.log_marginal(depth, s)));
        },
        [&](const naive::Rows&, std::size_t depth, const naive::Tests& tests, std::uint32_t test, naive::Real yes,
            naive::Real no) { return std::exp(c.weights.log_split(tests, test, depth)) * yes * no; },
        [](naive::Real& a, naive::Real b) { a += b; });
    Control control;
    const Graph graph(c.d.core(), c.options, control);
    std::vector<double> slots(64 * graph.table().n_words() * 2, 0.0);
    for (std::size_t r = 0; r < c.d.n; ++r) {
      slots[2 * r] = 1;
      slots[2 * r + 1] = x[r];
    }
    const WeighModel<SumProduct, Numbers> weigh(graph, prior, model, slots);
    const auto values = fold_up<SumProduct>(graph, weigh, control, c.options.n_threads);
    CHECK(close(values[0].log(), static_cast<double>(std::log(want)), 1e-10));
  });
}

TEST(uppers_that_fit_no_column_are_refused) {
  const std::vector<Column> columns = {{Column::Kind::ordered, 0, 2}, {Column::Kind::nominal, 2, 4}};
  const Uppers wrong[] = {{{}}, {{0, 1}, {}}, {{}, {0, 0, 0, 0}}};
  const std::string words[] = {"1 tables of uppers for 2", "column 0 are not 3 by 3", "column 1 are not 2 by 2"};
  for (std::size_t k = 0; k < 3; ++k) {
    std::string said;
    try {
      const Columns made(columns, 4, wrong[k]);
    } catch (const InvalidInput& e) {
      said = e.what();
    }
    CHECK(said.find(words[k]) != std::string::npos);
  }
  const Columns made(columns, 4, {{0, 2, 1, 0, 0, 2, 0, 0, 0}, {}});
  CHECK(made.upper(0, 0, 1) == 2 && made.upper(0, 0, 2) == 1 && made.upper(0, 1, 2) == 2);
  CHECK(made.bytes() == 18);
}

TEST(itemsets_are_refused) {
  std::mt19937 random(1);
  const naive::Table d = naive::random_columns(random, 12, 3, 2, 3, 2);
  const LeafCost cost(CostKind::error, 2);
  std::string said;
  try {
    const mine::Lattice lattice(*d.core(), cost, 3, 1);
  } catch (const InvalidInput& e) {
    said = e.what();
  }
  CHECK(said.find("fixed for the whole table") != std::string::npos);
}

TEST(a_bracket_holds_the_evidence_without_a_depth_limit) {
  std::size_t compared = 0, met = 0;
  for_every_case(8, {4, 9}, {1, 3}, [&](const Case& c) {
    const Prior& prior = c.weights.prior;
    if (c.options.max_depth < 0 || !prior.per_test || prior.log_split[0] > -0.1) return;  // subtrees weigh at most one
    if (c.weights.a.size() > 1) return;
    Control control;
    GraphOptions free = c.options;
    free.max_depth = -1;
    free.by_depth = true;
    const auto graph = std::make_shared<const Graph>(c.d.core(), c.options, control);
    const Posterior limited(graph, prior, c.leaf(), c.linear, 1, control);
    const Posterior whole(std::make_shared<const Graph>(c.d.core(), free, control), prior, c.leaf(), c.linear, 1,
                          control);
    const Bracket one = evidence_bracket(limited, 1, control), two = evidence_bracket(limited, 2, control);
    CHECK(one.lower == two.lower && one.upper == two.upper);
    CHECK(one.lower <= whole.log_evidence() + 1e-10 && one.upper >= whole.log_evidence() - 1e-10);
    if (!graph->limited(control)) {
      CHECK(std::abs(one.lower - whole.log_evidence()) < 1e-10 && std::abs(one.upper - one.lower) < 1e-10);
      ++met;
    }
    ++compared;
  });
  CHECK(compared > 150 && met > 50 && met < compared);
}

TEST(an_estimate_is_made) {
  std::size_t compared = 0;
  double off = 0;
  for_every_case(8, {20, 60}, {2, 4}, [&](const Case& c) {
    if (c.options.max_depth < 0) return;
    Control control;
    GraphOptions options = c.options;
    options.merge = true;
    const Graph graph(c.d.core(), options, control);
    const GraphEstimate estimate = estimate_graph(c.d.core(), options, 0, control);
    CHECK(estimate.states >= 1);
    off += std::abs(std::log(estimate.states / static_cast<double>(graph.size())));
    ++compared;
  });
  CHECK(compared > 300);
  CHECK(off / static_cast<double>(compared) < 0.3);
  std::printf("     states are estimated within a factor of %.2f on average\n",
              std::exp(off / static_cast<double>(compared)));
}

int main() { return check::run(); }
