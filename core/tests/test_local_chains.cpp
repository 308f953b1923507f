// Chains in spaces where states choose their tests: weights after every move, and how often each tree is drawn.
#include <map>
#include <set>

#include "chain_twin.hpp"
#include "check.hpp"
#include "common/errors.hpp"
#include "local_cases.hpp"
#include "mcmc/collapsed.hpp"
#include "mcmc/predict_draws.hpp"
#include "mcmc/tree_chains.hpp"
#include "naive_trees.hpp"

using namespace everytree;
using local_cases::Case;
using local_cases::for_every_case;

namespace {

double log_joint(const Case& c, const Key& key) { return naive::log_joint(c.space(), c.weights, key); }

// The distance between what was drawn and what each should weigh: half the sum of the differences.
double distance(const std::map<Key, double>& drawn, const std::map<Key, naive::Real>& weight) {
  naive::Real all = 0;
  double n = 0, sum = 0;
  for (const auto& [key, w] : weight) all += w;
  for (const auto& [key, count] : drawn) n += count;
  for (const auto& [key, w] : weight) {
    const auto it = drawn.find(key);
    sum += std::abs((it == drawn.end() ? 0.0 : it->second / n) - static_cast<double>(w / all));
  }
  for (const auto& [key, count] : drawn)
    if (!weight.count(key)) sum += count / n;
  return sum / 2;
}

}  // namespace

TEST(after_every_move_the_tree_is_as_if_built_anew) {
  std::size_t moved = 0, deep = 0;
  for_every_case(1, {4, 40}, {1, 4}, [&](const Case& c) {
    const auto table = c.d.core();
    const TreeTarget target = TreeTarget::posterior(c.weights.prior, c.leaf());
    const ProductWeights frontier(*table, c.options.min_leaf, target.prior(), target.leaf());
    Control control;
    const std::vector<TestRange> ranges = nested_tests(*table, control);
    const double blind = c.number % 2 ? 1.0 : 0.3;
    NodeStates states(
        {table.get(), &ranges, c.options.max_depth, c.options.min_leaf, &target, blind, nullptr, false, &frontier}, 0);
    MoveOdds odds;
    odds.p = {0.3, 0.1, 0.2, 0.2, 0.2};
    TreeMoves moves(states, odds, Orders::counted);
    ChainTree tree(states, false);
    Stream random(3, 0);
    for (int k = 0; k < 60; ++k) {
      const Move move = moves.propose(odds.draw(random), tree, {}, random);
      if (!move.proposed) continue;
      const double before = tree.log_prior() + tree.log_data();
      moves.accept(tree);
      if (k == 30) {
        states.clear();
        tree.attach(states);
      }
      const Key key = tree.key();
      const double log_target = tree.log_prior() + tree.log_data();
      CHECK(std::abs(log_target - log_joint(c, key)) < 1e-9);
      CHECK(std::abs(log_target - before - move.log_target) < 1e-9);
      const ChainTree fresh(states, key, false);
      CHECK(chain_twin::same_sets(tree, fresh) && fresh.key() == key);
      CHECK(std::abs(move.log_forward) < 100 && std::abs(move.log_reverse) < 100);
      ++moved;
      deep += tree.depth(states) > 1;
    }
  });
  CHECK(moved > 5000 && deep > 2000);
}

// Every kernel, on spaces with few trees: each is drawn as often as it weighs.
TEST(chains_draw_trees_as_often_as_they_weigh) {
  double most = 0;
  std::size_t n = 0;
  for_every_case(2, {5, 9}, {1, 3}, [&](const Case& c) {
    const auto trees = c.trees(40, LeafCost(CostKind::error, c.d.c));
    if (trees.size() < 4) return;
    std::map<Key, naive::Real> weight;
    for (const auto& tree : trees) weight[tree.key] = std::exp(tree.log_joint);
    ChainSettings settings;
    settings.n_chains = 1;
    settings.seed = c.number;
    settings.blind = c.number % 2 ? 1.0 : 0.3;
    settings.kernel = c.number % 3 == 0 ? ChainKernel::stack : ChainKernel::chipman;
    settings.orders = Orders::once;
    settings.odds.p = {0.25, 0.25, 0.2, 0.1, 0.2};
    if (c.number % 4 == 1) {
      settings.density.resize(c.d.t);
      for (std::size_t t = 0; t < c.d.t; ++t) settings.density[t] = 1.0 + static_cast<double>(t % 3);
    }
    Control control;
    TreeChains chains(c.d.core(), c.options.max_depth, c.options.min_leaf,
                      TreeTarget::posterior(c.weights.prior, c.leaf()), settings, control);
    const TreeRun run = chains.run({4000, 50, 10, {}}, control);
    const TreeDraws& draws = run.chains[0];
    std::map<Key, double> drawn;
    for (const std::uint32_t which : draws.which) {
      const std::size_t begin = which == 0 ? 0 : draws.ends[which - 1];
      drawn[Key(draws.keys.begin() + static_cast<std::ptrdiff_t>(begin),
                draws.keys.begin() + static_cast<std::ptrdiff_t>(draws.ends[which]))] += 1;
    }
    const double far = distance(drawn, weight);
    CHECK(far < 0.1);
    most = std::max(most, far);
    ++n;
  });
  CHECK(n > 80);
  std::printf("     %zu spaces, greatest distance %.3f\n", n, most);
}

// π(T) · q(T → T') · min(1, ratio) is the same both ways: what a proposal says of its undoing is what the undoing says
// of itself.
TEST(a_proposal_knows_how_it_is_undone) {
  std::size_t undone = 0;
  for_every_case(3, {5, 14}, {1, 3}, [&](const Case& c) {
    if (c.number % 3) return;
    ChainSettings settings;
    settings.n_chains = 1;
    settings.blind = 0.4;
    settings.odds.p = {0.25, 0.25, 0.2, 0.1, 0.2};
    Control control;
    const TreeChains chains(c.d.core(), c.options.max_depth, c.options.min_leaf,
                            TreeTarget::posterior(c.weights.prior, c.leaf()), settings, control);
    Key key{-1};
    for (int step = 0; step < 6; ++step) {
      const auto kind = static_cast<MoveKind>(step % 2 == 0 ? 0 : 2 + step / 2);
      const auto back = kind == MoveKind::grow ? MoveKind::prune : kind;
      Key next = key;
      for (const auto& [move, to] : chains.propose(key, kind, c.number, 6, control)) {
        if (!move.proposed || to == key) continue;
        next = to;
        for (const auto& [undo, from] : chains.propose(to, back, c.number + 1, 60, control)) {
          if (!undo.proposed || from != key || undo.place != move.place) continue;
          CHECK(std::abs(undo.log_forward - move.log_reverse) < 1e-9);
          CHECK(std::abs(undo.log_reverse - move.log_forward) < 1e-9);
          CHECK(std::abs(undo.log_target + move.log_target) < 1e-9);
          ++undone;
        }
      }
      key = next;
    }
  });
  CHECK(undone > 500);
}

TEST(tops_weigh_what_their_trees_weigh_and_are_drawn_so) {
  double most = 0;
  std::size_t n = 0;
  for_every_case(4, {6, 14}, {1, 3}, [&](const Case& c) {
    const auto trees = c.trees(3000, LeafCost(CostKind::error, c.d.c));
    if (trees.empty()) return;
    const Collapsed collapsed(c.d.core(), c.options.max_depth, c.options.min_leaf, c.weights.prior, c.leaf(), c.linear,
                              1);
    std::map<Key, naive::Real> weight;
    for (const auto& tree : trees) {
      weight[chain_twin::top_of(c.space(), tree.key)] += std::exp(tree.log_joint);
    }
    for (const auto& [top, sum] : weight)
      CHECK(std::abs(collapsed.log_joint(top) - static_cast<double>(std::log(sum))) < 1e-9);
    if (weight.size() < 3 || weight.size() > 30) return;
    CollapsedPlan plan;
    plan.n_chains = 1;
    plan.n_draws = 1500;
    plan.burn_in = 20;
    plan.seed = c.number;
    Control control;
    const CollapsedRun run = collapsed.run(plan, control);
    std::map<Key, double> drawn;
    for (const std::uint32_t which : run.chains[0].which) drawn[run.chains[0].top(which)] += 1;
    const double far = distance(drawn, weight);
    CHECK(far < 0.1);
    most = std::max(most, far);
    ++n;
  });
  CHECK(n > 20);
  std::printf("     %zu spaces, greatest distance %.3f\n", n, most);
}

TEST(drawn_trees_predict_new_rows) {
  for_every_case(5, {4, 12}, {1, 3}, [](const Case& c) {
    const auto trees = c.trees(300, LeafCost(CostKind::error, c.d.c));
    if (trees.empty()) return;
    const auto table = c.d.core();
    Key keys;
    std::vector<std::uint64_t> ends;
    std::vector<double> weights;
    for (const auto& tree : trees) {
      keys.insert(keys.end(), tree.key.begin(), tree.key.end());
      ends.push_back(keys.size());
      weights.push_back(1.0 / static_cast<double>(1 + ends.size() % 3));
    }
    std::mt19937 random(c.number);
    std::vector<local_cases::NewRow> rows;
    std::vector<std::uint16_t> reach;
    for (int r = 0; r < 6; ++r) {
      rows.emplace_back(c.d, random);
      reach.insert(reach.end(), rows.back().reach.begin(), rows.back().reach.end());
    }
    std::vector<double> got(rows.size() * c.d.c);
    Control control;
    const DrawnTrees drawn{keys, ends, weights, c.options.max_depth};
    predict_draws(*table, drawn, *c.leaf(), {nullptr, reach.data(), rows.size(), c.d.t}, 1, got.data(), control);
    for (std::size_t r = 0; r < rows.size(); ++r)
      for (std::size_t k = 0; k < c.d.c; ++k) {
        naive::Real want = 0;
        for (std::size_t t = 0; t < trees.size(); ++t) {
          const auto [cover, depth] = rows[r].leaf(c, trees[t].key);
          want += weights[t] * c.weights.theta(c.d.class_counts(cover), depth, k);
        }
        CHECK(check::near(got[r * c.d.c + k], static_cast<double>(want), 1e-10));
      }
  });
}

// Every top once with its weight is the exact average over all trees.
TEST(tops_predict_new_rows) {
  std::size_t n = 0;
  for_every_case(6, {4, 14}, {1, 3}, [&](const Case& c) {
    const auto trees = c.trees(1500, LeafCost(CostKind::error, c.d.c));
    if (trees.empty()) return;
    const Collapsed collapsed(c.d.core(), c.options.max_depth, c.options.min_leaf, c.weights.prior, c.leaf(), c.linear,
                              1 + c.number % 2);
    std::map<Key, naive::Real> weight;
    naive::Real all = 0;
    for (const auto& tree : trees) {
      weight[chain_twin::top_of(c.space(), tree.key)] += std::exp(tree.log_joint);
      all += std::exp(tree.log_joint);
    }
    std::vector<Key> tops;
    Collapsed::Counts counts;
    for (const auto& [top, w] : weight) {
      tops.push_back(top);
      counts.push_back({{0u, static_cast<double>(w / all)}, {1u, 1.0}});
    }
    std::mt19937 random(c.number);
    std::vector<local_cases::NewRow> rows;
    std::vector<std::uint16_t> reach;
    for (int r = 0; r < 5; ++r) {
      rows.emplace_back(c.d, random);
      reach.insert(reach.end(), rows.back().reach.begin(), rows.back().reach.end());
    }
    std::vector<double> got(2 * rows.size() * c.d.c);
    Control control;
    collapsed.predict(tops, counts, 2, {nullptr, reach.data(), rows.size(), c.d.t}, got.data(), control);
    for (std::size_t r = 0; r < rows.size(); ++r)
      for (std::size_t k = 0; k < c.d.c; ++k) {
        naive::Real want = 0;
        for (const auto& tree : trees) {
          const auto [cover, depth] = rows[r].leaf(c, tree.key);
          want += std::exp(tree.log_joint) / all * c.weights.theta(c.d.class_counts(cover), depth, k);
        }
        CHECK(check::near(got[r * c.d.c + k], static_cast<double>(want), 1e-9));
      }
    n += tops.size() > 1;
  });
  CHECK(n > 50);
}

// A test that the state does not offer is refused, though it splits its rows.
TEST(keys_that_use_other_tests_are_refused) {
  // One ordered column of six codes, two bins: the root offers the third cut only.
  naive::Table d(6, 5, 2);
  for (std::size_t r = 0; r < 6; ++r) {
    for (std::size_t t = 0; t < 5; ++t) d.rows[r * 5 + t] = r <= t;
    d.counts[r * 2 + r % 2] = 1;
  }
  d.columns = {{Column::Kind::ordered, 0, 5, Column::kNone, 2}};
  const Case c{d, {}, {naive::some_prior(2, 5), {{1.0, 1.0}}}, true, 0};
  ChainSettings settings;
  settings.n_chains = 1;
  for (int depth : {-1, 2, 3}) {
    Control control;
    TreeChains chains(d.core(), depth, 1, TreeTarget::posterior(c.weights.prior, c.leaf()), settings, control);
    const auto refused = [&](const Key& key) {
      try {
        chains.start(0, key);
      } catch (const InvalidInput&) {
        return true;
      }
      return false;
    };
    CHECK(!refused({2, -1, -1}));
    CHECK(refused({1, -1, -1}));
    // Rows 3, 4 and 5 offer the cut after two of them, unless they have to take those of the root.
    CHECK(refused({2, 3, -1, -1, -1}));
    CHECK(refused({2, 4, -1, -1, -1}) == (depth == 2));
  }
}

int main() { return check::run(); }
