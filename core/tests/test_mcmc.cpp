// Tops against a list of every tree: a top weighs what its trees weigh together, and moves say the truth about that.
#include <map>

#include "chain_twin.hpp"
#include "check.hpp"
#include "common/errors.hpp"
#include "mcmc/collapsed.hpp"
#include "naive_trees.hpp"

using namespace everytree;

namespace {

struct Case {
  naive::Table d;
  int max_depth;
  std::int64_t min_leaf;
  naive::Weights weights;
  bool linear;
};

template <class F>
void for_every_setting(unsigned seed, F&& f) {
  std::mt19937 random(seed);
  unsigned k = 0;
  for (std::size_t classes = 1; classes <= 3; ++classes)
    for (std::int64_t min_leaf = 1; min_leaf <= 3; ++min_leaf)
      for (int depth : {-1, 0, 1, 2, 3, 4, 5})
        for (unsigned prior = 0; prior < naive::kPriors; ++prior, ++k) {
          Case c{naive::random_table(random, {4, 16}, {0, 4}, classes, {1, 4}), depth, min_leaf, {}, k % 3 != 0};
          if (c.d.total(c.d.all()) < min_leaf) continue;
          c.weights.prior = naive::some_prior(prior, c.d.t);
          c.weights.a = {std::vector<double>(classes, 0.7)};
          if (k % 2 == 0) c.weights.a.push_back(std::vector<double>(classes, 0.4));
          const auto leaf = std::make_shared<const Dirichlet>(c.weights.a, c.d.class_counts(c.d.all()));
          f(c, Collapsed(c.d.core(), depth, min_leaf, c.weights.prior, leaf, c.linear, 1 + k % 3));
        }
}

}  // namespace

TEST(a_top_weighs_what_its_trees_weigh) {
  for_every_setting(1, [&](const Case& c, const Collapsed& collapsed) {
    const naive::Space space{&c.d, c.max_depth, c.min_leaf};
    const LeafCost cost(CostKind::error, c.d.c);
    if (naive::answers(space, c.weights, cost).count > 3000) return;
    std::map<Key, naive::Real> sums;
    for (const naive::Tree& tree : naive::every_tree(space, c.weights, cost)) {
      sums[chain_twin::top_of(space, tree.key)] += std::exp(tree.log_joint);
    }
    for (const auto& [top, sum] : sums)
      CHECK(std::abs(collapsed.log_joint(top) - static_cast<double>(std::log(sum))) < 1e-10);
  });
}

TEST(moves_change_the_weight_as_they_say_and_can_be_undone) {
  for_every_setting(2, [&](const Case&, const Collapsed& collapsed) {
    Control control;
    CollapsedPlan plan;
    plan.n_chains = 2;
    plan.n_draws = 20;
    plan.burn_in = 0;
    const CollapsedRun run = collapsed.run(plan, control);
    for (const ChainDraws& chain : run.chains) {
      CHECK(chain.which.size() == 20 && chain.log_joint.size() == 20);
      for (std::size_t k = 0; k < 20; ++k)
        CHECK(std::abs(chain.log_joint[k] - collapsed.log_joint(chain.top(chain.which[k]))) < 1e-9);
      const Key top = chain.top(chain.n_tops() - 1);
      const double before = collapsed.log_joint(top);
      for (std::size_t kind = 0; kind < kMoveKinds; ++kind)
        // Proposals are all made from one object: had undo left anything behind, the later ones would be wrong.
        for (const auto& [move, key] : collapsed.propose(top, static_cast<MoveKind>(kind), kind, 20, control)) {
          if (!move.proposed) CHECK(key == top);
          if (move.proposed) CHECK(std::abs(collapsed.log_joint(key) - before - move.log_target) < 1e-9);
          if (move.proposed) CHECK(move.log_forward <= 0 && move.log_reverse <= 1e-12);
        }
    }
  });
}

TEST(keys_that_are_no_tops) {
  std::mt19937 random(3);
  const naive::Table d = naive::random_table(random, 12, 3, 2, 2);
  const auto leaf =
      std::make_shared<const Dirichlet>(std::vector<std::vector<double>>{{1, 1}}, d.class_counts(d.all()));
  const Collapsed collapsed(d.core(), 4, 1, Prior{}, leaf, true, 1);
  for (const Key& key : {Key{}, Key{0}, Key{-1, -1}, Key{7, -1, -1}, Key{-2}}) {
    bool thrown = false;
    try {
      collapsed.log_joint(key);
    } catch (const InvalidInput&) {
      thrown = true;
    }
    CHECK(thrown);
  }
}

int main() { return check::run(); }
