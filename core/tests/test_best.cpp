// From values back to trees: the best, the k best and the best of every size, against a list of every tree.
#include <limits>
#include <map>
#include <set>

#include "algebra/lexicographic.hpp"
#include "check.hpp"
#include "fold/weigh.hpp"
#include "naive_trees.hpp"
#include "sets/query.hpp"

using namespace everytree;

namespace {

bool close(double x, double y) { return std::abs(x - y) <= 1e-9 * std::max({1.0, std::abs(x), std::abs(y)}); }

std::size_t leaves_of(const Key& key) { return static_cast<std::size_t>(std::count(key.begin(), key.end(), -1)); }

// f(table, graph, cost, all trees by cost) for small random spaces.
template <class F>
void for_small_spaces(unsigned seed, F&& f) {
  std::mt19937 random(seed);
  unsigned k = 0;
  for (const Kernels* kernel : available_kernels()) {
    use_kernels(kernel->name);
    for (std::size_t classes = 1; classes <= 4; ++classes)
      for (std::int64_t min_leaf = 1; min_leaf <= 3; ++min_leaf)
        for (int depth : {-1, 0, 1, 2, 3, 4}) {
          for (int round = 0; round < 6; ++round, ++k) {
            const naive::Table d = naive::random_table(random, {1, 12}, {0, 4}, classes, {1, 3});
            if (d.total(d.all()) < min_leaf) continue;
            const LeafCost cost = naive::some_cost(k, classes);
            const naive::Space space{&d, depth, min_leaf};
            const naive::Weights weights{naive::some_prior(0, d.t), {std::vector<double>(classes, 1.0)}};
            if (naive::answers(space, weights, cost).count > 3000) continue;
            auto trees = naive::every_tree(space, weights, cost);
            std::sort(trees.begin(), trees.end(), [](const auto& x, const auto& y) { return x.cost < y.cost; });
            Control control;
            f(d, Graph(d.core(), naive::some_options(k, depth, min_leaf), control), cost, trees);
          }
        }
  }
  use_kernels("");
}

}  // namespace

TEST(the_k_best_are_in_order_distinct_and_complete) {
  for_small_spaces(
      1, [](const naive::Table&, const Graph& g, const LeafCost& cost, const std::vector<naive::Tree>& trees) {
        std::map<Key, double> cost_of;
        for (const auto& tree : trees) cost_of[tree.key] = tree.cost;
        CHECK(cost_of.size() == trees.size());
        Control control;
        for (std::size_t k : {std::size_t{2}, std::size_t{7}, trees.size() + 5}) {
          const auto got = best_trees(g, cost, k, control);
          CHECK(got.size() == std::min(k, trees.size()));
          std::set<Key> seen;
          for (std::size_t x = 0; x < got.size(); ++x) {
            CHECK(seen.insert(got[x].key).second);
            const auto it = cost_of.find(got[x].key);
            CHECK(it != cost_of.end());
            if (it != cost_of.end()) CHECK(close(it->second, got[x].score));
            CHECK(close(got[x].score, trees[x].cost));
            if (x > 0) CHECK(got[x].score >= got[x - 1].score - 1e-9);
          }
        }
      });
}

TEST(the_best_tree_is_the_smallest_and_then_the_first) {
  for_small_spaces(
      2, [](const naive::Table&, const Graph& g, const LeafCost& cost, const std::vector<naive::Tree>& trees) {
        Control control;
        const auto got = best_trees(g, cost, 1, control);
        CHECK(got.size() == 1);
        const naive::Tree* expected = nullptr;
        for (const auto& tree : trees) {
          if (!close(tree.cost, trees[0].cost)) break;
          if (expected == nullptr || tree.leaves < expected->leaves ||
              (tree.leaves == expected->leaves && tree.key < expected->key))
            expected = &tree;
        }
        CHECK(close(got[0].score, trees[0].cost));
        CHECK(leaves_of(got[0].key) == expected->leaves);
        CHECK(got[0].key == expected->key);
      });
}

TEST(the_front_has_the_best_tree_of_every_size_that_pays) {
  for_small_spaces(
      3, [](const naive::Table&, const Graph& g, const LeafCost& cost, const std::vector<naive::Tree>& trees) {
        Control control;
        std::map<std::size_t, double> least;  // leaves -> cost
        std::map<Key, double> cost_of;
        for (const auto& tree : trees) {
          cost_of[tree.key] = tree.cost;
          const auto it = least.emplace(tree.leaves, tree.cost).first;
          it->second = std::min(it->second, tree.cost);
        }
        const auto front = cost_front(g, cost, control);
        CHECK(!front.empty() && front[0].leaves == 1);
        std::map<std::size_t, double> on_front;
        for (std::size_t k = 0; k < front.size(); ++k) {
          CHECK(leaves_of(front[k].key) == front[k].leaves);
          CHECK(cost_of.count(front[k].key) == 1 && close(cost_of[front[k].key], front[k].cost));
          CHECK(least.count(front[k].leaves) == 1 && close(least[front[k].leaves], front[k].cost));
          if (k > 0) CHECK(front[k].leaves > front[k - 1].leaves && front[k].cost < front[k - 1].cost);
          on_front[front[k].leaves] = front[k].cost;
        }
        // What is left out is no better than a smaller tree on the front.
        double so_far = std::numeric_limits<double>::infinity();
        for (const auto& [leaves, price] : least) {
          if (on_front.count(leaves) == 0) CHECK(price >= so_far - 1e-9);
          if (on_front.count(leaves) != 0) so_far = on_front[leaves];
        }
      });
}

TEST(best_with_leaves_finds_every_size) {
  for_small_spaces(
      4, [](const naive::Table&, const Graph& g, const LeafCost& cost, const std::vector<naive::Tree>& trees) {
        using A = ByLeaves<MinPlus>;
        Control control;
        const auto value = fold_up<A>(g, WeighCost<A>(g, cost), control, 1);
        const CostScores scores(cost);
        TreeFinder finder(g, scores, control);
        std::map<Key, const naive::Tree*> known;
        std::map<std::size_t, double> least;
        for (const auto& tree : trees) {
          known[tree.key] = &tree;
          const auto it = least.emplace(tree.leaves, tree.cost).first;
          it->second = std::min(it->second, tree.cost);
        }
        for (const auto& [leaves, price] : least) {
          const Key key = finder.best_with_leaves(value, leaves);
          CHECK(known.count(key) == 1);
          if (known.count(key) == 1) CHECK(known[key]->leaves == leaves && close(known[key]->cost, price));
        }
      });
}

TEST(trees_come_one_by_one_as_well) {
  std::mt19937 random(5);
  const naive::Table d = naive::random_table(random, 12, 4, 2, 2);
  GraphOptions o;
  o.max_depth = 3;
  Control control;
  const Graph g(d.core(), o, control);
  const LeafCost cost(CostKind::error, 2);
  const auto value = fold_up<Lexicographic>(g, WeighCost<Lexicographic>(g, cost), control, 1);
  const CostScores scores(cost);
  TreeFinder together = TreeFinder::of<Lexicographic>(g, scores, value, control);
  TreeFinder apart = TreeFinder::of<Lexicographic>(g, scores, value, control);
  const auto first = together.first(50);
  CHECK(first.size() == 50);
  double score = -1;
  CHECK(apart.kth_tree(20, score) == first[20].key && score == first[20].score);  // in any order
  CHECK(apart.kth_tree(3, score) == first[3].key && score == first[3].score);
  CHECK(apart.kth_tree(100000000, score).empty());
}

TEST(what_cannot_be_answered_is_refused) {
  std::mt19937 random(6);
  const naive::Table d = naive::random_table(random, 12, 3, 2, 1);
  GraphOptions o;
  o.max_depth = 2;
  Control control;
  const Graph g(d.core(), o, control);
  const auto refusal = [](const auto& f) -> std::string {
    try {
      f();
    } catch (const InvalidInput& e) {
      return e.what();
    }
    return "nothing was thrown";
  };
  // A cost for more classes would read past the counts.
  const LeafCost other(CostKind::error, 9);
  CHECK(refusal([&] { best_trees(g, other, 1, control); }).find("for 9 classes; the table has 2") != std::string::npos);
  CHECK(refusal([&] { least_cost(g, other, control); }).find("for 9 classes") != std::string::npos);
  CHECK(refusal([&] { cost_front(g, other, control); }).find("for 9 classes") != std::string::npos);
  using A = ByLeaves<MinPlus>;
  const LeafCost error(CostKind::error, 2);
  const auto value = fold_up<A>(g, WeighCost<A>(g, error), control, 1);
  const CostScores scores(error);
  TreeFinder finder(g, scores, control);
  for (std::size_t leaves : {0, 5, 1000000})
    CHECK(refusal([&] { finder.best_with_leaves(value, leaves); }).find(std::to_string(leaves)) != std::string::npos);
}

int main() { return check::run(); }
