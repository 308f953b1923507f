// Chains over whole trees: after every move the tree is what it would be if built anew, and its weight is that of the
// plain definitions.
#include "chain_twin.hpp"
#include "check.hpp"
#include "common/errors.hpp"
#include "mcmc/tree_chains.hpp"
#include "naive_trees.hpp"

using namespace everytree;

namespace {

struct Case {
  naive::Table d;
  int max_depth;
  std::int64_t min_leaf;
  naive::Weights weights;
  double blind;
};

// Make the tests cuts of one number, and perhaps the last one something else: less or equal, or greater.
void cut(naive::Table& d, std::mt19937& random) {
  const bool rising = random() & 1;
  const std::size_t n = d.t < 7 ? d.t : d.t - random() % 2;
  for (std::size_t r = 0; r < d.n; ++r) {
    const std::size_t x = random() % (n + 1);
    for (std::size_t j = 0; j < n; ++j) d.rows[r * d.t + j] = rising ? x <= j : x > j;
  }
}

template <class F>
void for_every_setting(unsigned seed, F&& f) {
  std::mt19937 random(seed);
  unsigned k = 0;
  for (std::size_t classes = 1; classes <= 3; ++classes)
    for (std::int64_t min_leaf = 1; min_leaf <= 3; ++min_leaf)
      for (int depth : {-1, 0, 1, 2, 3, 5})
        for (unsigned prior = 0; prior < naive::kPriors; ++prior, ++k) {
          Case c{naive::random_table(random, {4, 40}, {0, 8}, classes, {1, 4}), depth, min_leaf, {}, k % 2 ? 1.0 : 0.3};
          if (k % 4 == 1) cut(c.d, random);
          if (c.d.total(c.d.all()) < min_leaf) continue;
          c.weights.prior = naive::some_prior(prior, c.d.t);
          c.weights.a = {std::vector<double>(classes, 0.7)};
          if (k % 2 == 0) c.weights.a.push_back(std::vector<double>(classes, 0.4));
          const auto leaf = std::make_shared<const Dirichlet>(c.weights.a, c.d.class_counts(c.d.all()));
          f(c, TreeTarget::posterior(c.weights.prior, leaf));
        }
}

double log_joint(const Case& c, const Key& key) {
  return naive::log_joint({&c.d, c.max_depth, c.min_leaf}, c.weights, key);
}

}  // namespace

TEST(after_every_move_the_tree_is_as_if_built_anew) {
  for_every_setting(1, [](const Case& c, const TreeTarget& target) {
    const auto table = c.d.core();
    const ProductWeights frontier(*table, c.min_leaf, target.prior(), target.leaf());
    Control control;
    const std::vector<TestRange> ranges = nested_tests(*table, control);
    NodeStates states({table.get(), &ranges, c.max_depth, c.min_leaf, &target, c.blind, nullptr, false, &frontier}, 0);
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
      CHECK(tree.count(ChainTree::splits) == 0 || tree.member(ChainTree::splits, 0) == ChainTree::kRoot);
      CHECK(std::abs(move.log_forward) < 100 && std::abs(move.log_reverse) < 100);
    }
  });
}

TEST(the_stack_undoes_the_last_split_first) {
  for_every_setting(2, [](const Case& c, const TreeTarget& target) {
    ChainSettings settings;
    settings.kernel = ChainKernel::stack;
    settings.orders = c.min_leaf > 1 ? Orders::once : Orders::counted;
    settings.blind = c.blind;
    settings.n_chains = settings.n_threads = 2;
    settings.ladder = {1.0, 0.5};
    Control control;
    TreeChains chains(c.d.core(), c.max_depth, c.min_leaf, target, settings, control);
    const TreeRun run = chains.run({40, 0, 3, {}}, control);
    CHECK(run.stopped.empty() && run.chains.size() == 2);
    for (const TreeDraws& draws : run.chains) {
      CHECK(draws.which.size() == 40 && draws.orders.size() == draws.keys.size());
      for (std::size_t k = 0; k < 40; ++k) {
        const std::size_t tree = draws.which[k], begin = tree == 0 ? 0 : draws.ends[tree - 1];
        const Key key(draws.keys.begin() + static_cast<std::ptrdiff_t>(begin),
                      draws.keys.begin() + static_cast<std::ptrdiff_t>(draws.ends[tree]));
        CHECK(std::abs(draws.log_prior[k] + draws.log_data[k] - log_joint(c, key)) < 1e-9);
        // Every split has a number of its own, and numbers rise from parent to child.
        std::vector<std::int32_t> open{-1}, seen;
        for (std::size_t j = 0; j < key.size(); ++j) {
          const std::int32_t above = open.back(), number = draws.orders[begin + j];
          open.pop_back();
          CHECK((number >= 0) == (key[j] >= 0));
          if (key[j] < 0) continue;
          CHECK(number > above);
          seen.push_back(number);
          open.insert(open.end(), 2, number);
        }
        std::sort(seen.begin(), seen.end());
        for (std::size_t j = 0; j < seen.size(); ++j) CHECK(seen[j] == static_cast<std::int32_t>(j));
      }
    }
  });
}

// A chain that moves house after every run draws what one that stays draws.
TEST(a_chain_goes_on_elsewhere) {
  for_every_setting(3, [](const Case& c, const TreeTarget& target) {
    for (ChainKernel kernel : {ChainKernel::chipman, ChainKernel::stack}) {
      ChainSettings settings;
      settings.kernel = kernel;
      settings.blind = c.blind;
      settings.n_chains = 2;
      settings.ladder = {1.0, 0.6, 0.2};
      Control control;
      TreeChains stays(c.d.core(), c.max_depth, c.min_leaf, target, settings, control);
      ChainSettings alone = settings;
      alone.n_chains = 1;
      alone.seed = 99;
      ChainState where = stays.state(1);
      for (int turn = 0; turn < 3; ++turn) {
        const TreeDraws want = stays.run({15, 0, 7, {}}, control).chains[1];
        TreeChains moves(c.d.core(), c.max_depth, c.min_leaf, target, alone, control);
        moves.restore(0, where);
        const TreeDraws got = moves.run({15, 0, 7, {}}, control).chains[0];
        where = moves.state(0);
        CHECK(got.keys == want.keys && got.orders == want.orders && got.which == want.which);
        CHECK(got.log_prior == want.log_prior && got.log_data == want.log_data);
        CHECK(got.best == want.best && got.best_log_target == want.best_log_target);
        CHECK(got.proposed == want.proposed && got.accepted == want.accepted && got.exchanged == want.exchanged);
      }
      const auto refused = [&](auto&& change) {
        ChainState bad = where;
        change(bad);
        try {
          stays.restore(0, bad);
        } catch (const InvalidInput&) {
          return true;
        }
        return false;
      };
      CHECK(refused([](ChainState& s) { s.trees.pop_back(); }));
      CHECK(refused([](ChainState& s) { s.trees[0].places[0].push_back(0); }));
      CHECK(refused([](ChainState& s) {
        for (std::int32_t& place : s.trees[1].places[ChainTree::splits]) place = 0;
      }));
      CHECK(refused([](ChainState& s) { s.trees[2].order.push_back(0); }));
      CHECK(refused([](ChainState& s) { s.trees[2].key.push_back(-1); }));
      CHECK(refused([](ChainState& s) { s.best.push_back(-1); }));
    }
  });
}

int main() { return check::run(); }
