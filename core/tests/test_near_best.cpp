// The near-best set against a list of every tree: its cells, its use of tests, and what it says of rows.
#include "sets/near_best.hpp"

#include <map>

#include "check.hpp"
#include "naive_trees.hpp"

using namespace everytree;

namespace {

std::uint64_t small(const Natural& n) {
  CHECK(n.limbs().size() <= 1);
  return n.limbs().empty() ? 0 : n.limbs()[0];
}

// Class counts of the leaf that a row ends in.
naive::Counts leaf_of(const naive::Table& d, const Key& key, const std::vector<std::uint8_t>& row) {
  naive::Rows cover = d.all();
  std::size_t at = 0;
  while (key[at] >= 0) {
    const auto test = static_cast<std::size_t>(key[at++]);
    cover = d.side(cover, test, row[test]);
    if (!row[test]) continue;
    for (int open = 1; open > 0; ++at) open += key[at] >= 0 ? 1 : -1;  // skip the subtree of outcome 0
  }
  return d.class_counts(cover);
}

void compare(const naive::Table& d, NearBest& near, const std::vector<naive::Tree>& trees,
             const std::vector<std::int32_t>& limits, std::mt19937& random) {
  Control control;
  near.keep(limits, control);
  std::vector<const naive::Tree*> in;
  std::map<std::pair<std::size_t, std::int32_t>, std::uint64_t> cells;
  for (const naive::Tree& tree : trees) {
    const auto errors = static_cast<std::int32_t>(tree.cost);
    if (tree.leaves > limits.size() || errors > limits[tree.leaves - 1]) continue;
    in.push_back(&tree);
    ++cells[{tree.leaves, errors}];
  }
  CHECK(!in.empty());
  const auto found = near.cells(0);
  CHECK(found.size() == cells.size());
  for (const auto& cell : found) CHECK((cells[{cell.leaves, cell.errors}] == small(cell.n_trees)));

  const auto use = near.test_use(control);
  for (std::size_t t = 0; t < d.t; ++t) {
    std::uint64_t n = 0;
    for (const naive::Tree* tree : in)
      n += std::find(tree->key.begin(), tree->key.end(), static_cast<std::int32_t>(t)) != tree->key.end();
    CHECK(small(use[t]) == n);
  }

  std::vector<double> a(d.c);
  for (double& x : a) x = 0.5 + 0.25 * static_cast<double>(random() % 4);
  std::vector<std::uint8_t> row(d.t);
  for (std::uint8_t& x : row) x = random() & 1;
  const auto answer = near.ask({row.data(), nullptr, 1, d.t}, a, control);
  std::vector<double> mean(d.c, 0), least(d.c, 2), greatest(d.c, -1), votes(d.c, 0);
  for (const naive::Tree* tree : in) {
    const naive::Counts counts = leaf_of(d, tree->key, row);
    std::vector<double> theta(d.c);
    double sum = 0;
    for (std::size_t c = 0; c < d.c; ++c) sum += theta[c] = counts[c] + a[c];
    for (std::size_t c = 0; c < d.c; ++c) {
      theta[c] /= sum;
      mean[c] += theta[c] / static_cast<double>(in.size());
      least[c] = std::min(least[c], theta[c]);
      greatest[c] = std::max(greatest[c], theta[c]);
    }
    std::size_t said = 0;  // the largest class; of several, the most probable one
    for (std::size_t c = 1; c < d.c; ++c)
      if (std::pair(counts[c], theta[c]) > std::pair(counts[said], theta[said])) said = c;
    votes[said] += 1.0 / static_cast<double>(in.size());
  }
  for (std::size_t c = 0; c < d.c; ++c) {
    CHECK(check::near(answer.mean[c], mean[c], 1e-10));
    CHECK(answer.least[c] == least[c]);
    CHECK(answer.greatest[c] == greatest[c]);
    CHECK(std::abs(answer.votes[c] - votes[c]) < 1e-10);
  }
}

}  // namespace

TEST(against_a_list_of_every_tree) {
  std::mt19937 random(7);
  int compared = 0;
  for (const Kernels* kernel : available_kernels()) {
    use_kernels(kernel->name);
    for (std::size_t classes = 1; classes <= 4; ++classes)
      for (std::int64_t min_leaf = 1; min_leaf <= 3; ++min_leaf)
        for (int depth : {-1, 0, 1, 2, 3, 4})
          for (unsigned round = 0; round < 8; ++round) {
            const naive::Table d = naive::random_table(random, {1, 12}, {0, 5}, classes, round % 4 == 0 ? 100000 : 3);
            if (d.total(d.all()) < min_leaf) continue;
            const LeafCost cost(CostKind::error, classes);
            const naive::Space space{&d, depth, min_leaf};
            const naive::Weights weights{naive::some_prior(0, d.t), {std::vector<double>(classes, 1.0)}};
            if (naive::answers(space, weights, cost).count > 2000) continue;
            const auto trees = naive::every_tree(space, weights, cost);
            Control control;
            const auto graph =
                std::make_shared<const Graph>(d.core(), naive::some_options(round, depth, min_leaf), control);
            for (std::int32_t slack : {0, 1, 3, 1 << 28}) {
              NearBest near(graph, 1 + random() % 16, 1 + round % 2, control);
              std::vector<std::int32_t> limits = near.least();
              // Any limits will do: some numbers of leaves are left out, and the rest get some slack.
              for (std::size_t l = 0; l < limits.size(); ++l)
                limits[l] = limits[l] < 0 || (l > 0 && random() % 4 == 0) ? -1 : limits[l] + slack;
              compare(d, near, trees, limits, random);
              ++compared;
            }
          }
  }
  CHECK(compared > 1000);
}

TEST(limits_are_obeyed) {
  std::mt19937 random(3);
  const naive::Table d = naive::random_table(random, 200, 30, 2, 1);
  Control control;
  const auto graph = std::make_shared<const Graph>(d.core(), GraphOptions{.max_depth = 4}, control);
  const auto reason = [&](auto&& set_up) {
    Control limited;
    NearBest near(graph, 16, 1, limited);
    std::vector<std::int32_t> limits(16, 200);
    set_up(limited);
    try {
      near.keep(limits, limited);
    } catch (const LimitReached& e) {
      return static_cast<int>(e.reason);
    }
    return -1;
  };
  CHECK(reason([](Control& c) { c.memory_limit = 1 << 20; }) == static_cast<int>(LimitReached::Reason::memory));
  CHECK(reason([](Control& c) { c.time_limit = 1e-6; }) == static_cast<int>(LimitReached::Reason::time));
  CHECK(reason([](Control& c) { c.stop(); }) == static_cast<int>(LimitReached::Reason::stopped));
  CHECK(reason([](Control&) {}) == -1);
}

int main() { return check::run(); }
