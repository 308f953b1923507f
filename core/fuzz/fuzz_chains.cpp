// Chains over whole trees and over tops: after every move the tree is one of the space and weighs what the definition
// says, a move knows how it is undone, and runs say the same on any number of threads, resumed, or up to a limit.
#include <map>

#include "bytes.hpp"
#include "chain_twin.hpp"
#include "local_cases.hpp"
#include "mcmc/collapsed.hpp"
#include "mcmc/predict_draws.hpp"
#include "mcmc/tree_chains.hpp"
#include "naive_trees.hpp"

using namespace everytree;
using fuzz::close;
using fuzz::require;
using local_cases::Case;

namespace {

// A posterior, or a risk.
struct Target {
  TreeTarget core;
  bool posterior;
  LeafCost phi;
  double per_example, alpha;

  Target(fuzz::Bytes& in, const Case& c)
      : core(TreeTarget::posterior(c.weights.prior, c.leaf())),
        posterior(in.number(0, 3) != 0),
        phi(in.flag()   ? CostKind::error
            : in.flag() ? CostKind::gini
                        : CostKind::entropy,
            c.d.c),
        per_example(0.1 * in.number(1, 30)),
        alpha(0.1 * in.number(0, 20)) {
    if (!posterior) core = TreeTarget::risk(phi.kind(), c.d.c, per_example, alpha);
  }
  double log_target(const Case& c, const Key& key) const {
    if (posterior) return naive::log_joint(c.space(), c.weights, key);
    return -alpha * static_cast<double>(naive::leaves_of(key)) - per_example * naive::cost_of(c.space(), phi, key);
  }
};

MoveOdds some_odds(fuzz::Bytes& in) {
  MoveOdds odds;
  const double grow = in.number(1, 9), change = in.number(0, 9), swap = in.number(0, 9), regrow = in.number(0, 9);
  const double sum = 2 * grow + change + swap + regrow;
  odds.p = {grow / sum, grow / sum, change / sum, swap / sum, regrow / sum};
  return odds;
}

ChainSettings some_settings(fuzz::Bytes& in, const Case& c) {
  ChainSettings s;
  s.kernel = in.flag() ? ChainKernel::chipman : ChainKernel::stack;
  s.orders = in.flag() ? Orders::counted : Orders::once;
  s.odds = some_odds(in);
  s.blind = in.flag() ? 1.0 : 0.1 * in.number(1, 9);
  if (in.number(0, 2) == 0) {
    double all = 0;
    for (std::size_t t = 0; t < c.d.t; ++t) {
      s.density.push_back(1.0 + in.number(0, 5));
      all += s.density.back();
    }
    s.density_outright = c.d.t > 0 && in.flag();
    if (s.density_outright)
      for (double& d : s.density) d /= 1.01 * all;
  }
  for (std::uint32_t rungs = in.number(0, 2); rungs > 0; --rungs) s.ladder.push_back(s.ladder.back() * 0.6);
  s.exchange_every = in.number(1, 10);
  s.n_chains = in.number(1, 3);
  s.seed = in.byte();
  if (in.number(0, 3) == 0) s.state_bytes = std::size_t{1} << in.number(0, 14);  // forgets states on the way
  return s;
}

// Every node has the rows that reach it, and the tree is what it would be if built anew.
void check_tree(const Case& c, const Target& target, NodeStates& states, const ChainTree& tree, bool ordered) {
  const Key key = tree.key();
  require(close(tree.log_prior() + tree.log_data(), target.log_target(c, key)), "log target of the tree");
  std::vector<naive::Rows> open{c.d.all()};
  std::size_t at = 0;
  tree.preorder(ChainTree::kRoot, [&](std::int32_t v) {
    const naive::Rows rows = open.back();
    open.pop_back();
    require(states[tree[v].state].total == c.d.total(rows), "examples of a node");
    const std::int32_t test = key[at++];
    require(tree[v].test == test, "key and nodes");
    if (test < 0) return;
    for (bool side : {true, false}) open.push_back(c.d.side(rows, static_cast<std::size_t>(test), side));
  });
  const ChainTree fresh(states, key, ordered);
  require(chain_twin::same_sets(tree, fresh) && fresh.key() == key, "sets of the tree");
  require(tree.n_leaves() == naive::leaves_of(key), "leaves of the tree");
}

// Moves one by one, all of them accepted: each weight is the one before and what the move said.
void moves_one_by_one(fuzz::Bytes& in, const Case& c, const Target& target, const ChainSettings& s) {
  const auto table = c.d.core();
  Control control;
  const std::vector<TestRange> ranges = nested_tests(*table, control);
  std::unique_ptr<const ProductWeights> frontier;
  if (target.posterior)
    frontier = std::make_unique<ProductWeights>(*table, c.options.min_leaf, target.core.prior(), target.core.leaf());
  NodeStates states({table.get(), &ranges, c.options.max_depth, c.options.min_leaf, &target.core, s.blind,
                     s.density.empty() ? nullptr : &s.density, s.density_outright, frontier.get()},
                    0);
  const bool ordered = s.kernel == ChainKernel::stack;
  TreeMoves moves(states, s.odds, s.orders);
  ChainTree tree(states, ordered);
  Stream random(in.byte(), 0);
  const double power = in.flag() ? 1 : 0.5, heat = in.flag() ? 1 : 0.3;
  const Powers powers{power, power * heat};
  Move last;
  bool grew = false;
  for (std::uint32_t step = in.number(5, 40); step > 0; --step) {
    MoveKind kind = s.odds.draw(random);
    const Move move =
        ordered ? moves.propose_stack(tree, powers, random, kind) : moves.propose(kind, tree, powers, random);
    if (!move.proposed) continue;
    require(!std::isnan(move.log_ratio()) && move.log_forward < 1e-9, "odds of a move");
    const double prior = tree.log_prior(), data = tree.log_data(), plain = moves.log_plain();
    moves.accept(tree);
    check_tree(c, target, states, tree, ordered);
    const double more_prior = tree.log_prior() - prior, more_data = tree.log_data() - data;
    require(close(plain, more_prior + more_data), "what a move adds");
    if (!ordered || s.orders == Orders::counted)
      require(close(move.log_target, powers.of(more_prior, more_data)), "what a heated move adds");
    // The stack undoes the last split first: a prune after a grow is its undoing.
    if (ordered && grew && kind == MoveKind::prune)
      require(close(move.log_target, -last.log_target) && close(move.log_forward, last.log_reverse) &&
                  close(move.log_reverse, last.log_forward),
              "undoing the last split");
    grew = kind == MoveKind::grow;
    last = move;
    if (in.number(0, 15) == 0) {
      states.clear();
      tree.attach(states);
    }
  }
}

// π(T) q(T → T') = π(T') q(T' → T) · ratio: what a proposal says of its undoing is what that says of itself.
void proposals_and_their_undoing(fuzz::Bytes& in, const Case& c, const TreeChains& chains, bool stack) {
  Control control;
  Key key{-1};
  for (std::uint32_t step = in.number(1, 5); step > 0; --step) {
    const auto kind = static_cast<MoveKind>(stack ? 0 : in.number(0, kMoveKinds - 1));
    const auto back = kind == MoveKind::grow ? MoveKind::prune : kind == MoveKind::prune ? MoveKind::grow : kind;
    Key next = key;
    for (const auto& [move, to] : chains.propose(key, kind, in.byte(), 3, control)) {
      if (!move.proposed) continue;
      require(naive::leaves_of(to) > 0 && !std::isnan(naive::log_joint(c.space(), c.weights, to)), "out of the space");
      if (stack || to == key) continue;
      next = to;
      for (const auto& [undo, from] : chains.propose(to, back, in.byte(), 20, control)) {
        if (!undo.proposed || from != key || undo.place != move.place) continue;
        require(close(undo.log_forward, move.log_reverse) && close(undo.log_reverse, move.log_forward) &&
                    close(undo.log_target, -move.log_target),
                "a proposal and its undoing");
      }
    }
    key = next;
  }
}

Key key_of(const TreeDraws& draws, std::size_t tree) {
  const auto begin = static_cast<std::ptrdiff_t>(tree == 0 ? 0 : draws.ends[tree - 1]);
  return {draws.keys.begin() + begin, draws.keys.begin() + static_cast<std::ptrdiff_t>(draws.ends[tree])};
}

void check_draws(const Case& c, const Target& target, const TreeDraws& draws) {
  for (std::size_t k = 0; k < draws.which.size(); ++k) {
    const Key key = key_of(draws, draws.which[k]);
    const double want = target.log_target(c, key);
    require(close(draws.log_prior[k] + draws.log_data[k], want), "log target of a draw");
    require(want <= draws.best_log_target + 1e-9 * std::max(1.0, std::abs(want)), "a draw above the best one");
    require(static_cast<std::size_t>(draws.leaves[draws.which[k]]) == naive::leaves_of(key), "leaves of a draw");
  }
  require(close(target.log_target(c, draws.best), draws.best_log_target), "log target of the best tree");
}

bool begins_with(const TreeDraws& all, const TreeDraws& part) {
  for (std::size_t k = 0; k < part.which.size(); ++k)
    if (all.which[k] != part.which[k] || all.log_data[k] != part.log_data[k] ||
        key_of(all, all.which[k]) != key_of(part, part.which[k]))
      return false;
  return part.which.size() <= all.which.size();
}

void runs(fuzz::Bytes& in, const Case& c, const Target& target, ChainSettings s) {
  Control free;
  const auto chains = [&](ChainSettings settings) {
    return TreeChains(c.d.core(), c.options.max_depth, c.options.min_leaf, target.core, std::move(settings), free);
  };
  TreePlan plan{in.number(1, 12), in.number(0, 3), in.number(1, 8), {}};
  if (in.number(0, 3) == 0) plan.powers = {0.3, 1.0, 2.0};
  TreeChains stays = chains(s);
  proposals_and_their_undoing(in, c, stays, s.kernel == ChainKernel::stack);
  ChainState begin = stays.state(s.n_chains - 1);
  const TreeRun whole = stays.run(plan, free);
  require(whole.stopped.empty() && whole.chains.size() == s.n_chains, "a run without limits");
  for (const TreeDraws& draws : whole.chains) {
    require(draws.which.size() == plan.n_draws, "draws asked for");
    check_draws(c, target, draws);
  }
  // Elsewhere, by more threads, and with all the memory there is.
  ChainSettings other = s;
  other.state_bytes = std::size_t{1} << 20;
  if (in.number(0, 7) == 0) other.n_threads = 2;
  TreeChains moves = chains(other);
  moves.restore(s.n_chains - 1, begin);
  const TreeRun again = moves.run(plan, free);
  for (std::size_t k = 0; k < s.n_chains; ++k)
    require(begins_with(whole.chains[k], again.chains[k]), "the same draws elsewhere");
  Control little;
  fuzz::limit(in, little);
  TreeChains limited = chains(s);
  const TreeRun part = limited.run(plan, little);
  for (std::size_t k = 0; k < s.n_chains; ++k) {
    require(part.chains[k].which.size() == part.chains[0].which.size(), "chains of one length");
    require(!part.stopped.empty() || part.chains[k].which.size() == plan.n_draws, "fewer draws without a reason");
    require(begins_with(whole.chains[k], part.chains[k]), "the same draws up to a limit");
    check_draws(c, target, part.chains[k]);
  }
  const TreeRun more = limited.run(plan, free);  // a run that was ended goes on
  for (const TreeDraws& draws : more.chains) check_draws(c, target, draws);
}

// What drawn trees say of a new row is the mean of what their leaves say.
void predictions(fuzz::Bytes& in, const Case& c, const std::vector<Key>& trees) {
  const bool local = !c.d.columns.empty();
  if (c.d.t == 0) return;
  const local_cases::NewRow row(c.d, in);
  std::vector<std::uint8_t> outcomes(c.d.t);
  for (auto& x : outcomes) x = in.flag();
  Key keys;
  std::vector<std::uint64_t> ends;
  std::vector<double> weights, want(c.d.c, 0), got(c.d.c);
  for (const Key& key : trees) {
    keys.insert(keys.end(), key.begin(), key.end());
    ends.push_back(keys.size());
    weights.push_back(0.25 * in.number(1, 8));
    const auto [rows, depth] = local ? row.leaf(c, key) : naive::leaf_of(c.d, key, outcomes.data());
    for (std::size_t k = 0; k < c.d.c; ++k)
      want[k] += weights.back() * static_cast<double>(c.weights.theta(c.d.class_counts(rows), depth, k));
  }
  Control control;
  const NewRows rows{local ? nullptr : outcomes.data(), local ? row.reach.data() : nullptr, 1, c.d.t};
  predict_draws(*c.d.core(), {keys, ends, weights, c.options.max_depth}, *c.leaf(), rows, 1, got.data(), control);
  for (std::size_t k = 0; k < c.d.c; ++k) require(close(got[k], want[k]), "what drawn trees say");
}

void tops(fuzz::Bytes& in, const Case& c) {
  const Collapsed collapsed(c.d.core(), c.options.max_depth, c.options.min_leaf, c.weights.prior, c.leaf(), c.linear,
                            in.number(0, 7) == 0 ? 2 : 1);
  std::map<Key, naive::Real> sums;
  const auto trees = c.trees(400, LeafCost(CostKind::error, c.d.c));
  std::vector<Key> keys;
  for (const naive::Tree& tree : trees) {
    sums[chain_twin::top_of(c.space(), tree.key)] += std::exp(tree.log_joint);
    if (keys.size() < 20) keys.push_back(tree.key);
  }
  predictions(in, c, keys);
  for (const auto& [top, sum] : sums)
    require(close(collapsed.log_joint(top), static_cast<double>(std::log(sum))), "weight of a top");
  CollapsedPlan plan;
  plan.n_chains = in.number(1, 2);
  plan.n_draws = in.number(1, 6);
  plan.burn_in = in.number(0, 2);
  plan.thin = in.number(1, 2);
  plan.least = 1;
  plan.seed = in.byte();
  Control free, little;
  const CollapsedRun whole = collapsed.run(plan, free);
  for (const ChainDraws& draws : whole.chains) {
    require(draws.which.size() == plan.n_draws, "draws of tops");
    for (std::size_t k = 0; k < plan.n_draws; ++k) {
      const Key top = draws.top(draws.which[k]);
      require(close(collapsed.log_joint(top), draws.log_joint[k]), "weight of a drawn top");
      require(sums.empty() || sums.count(top) == 1, "a drawn top that no tree has");
    }
  }
  fuzz::limit(in, little);
  try {
    const CollapsedRun part = collapsed.run(plan, little);
    for (std::size_t k = 0; k < plan.n_chains; ++k) {
      const ChainDraws &all = whole.chains[k], &some = part.chains[k];
      require(some.which.size() == part.chains[0].which.size(), "chains of tops of one length");
      require(!part.stopped.empty() || some.which.size() == plan.n_draws, "fewer tops without a reason");
      for (std::size_t x = 0; x < some.which.size(); ++x)
        require(some.top(some.which[x]) == all.top(all.which[x]), "the same tops up to a limit");
    }
  } catch (const LimitReached&) {  // not one draw of each chain
  }
  const Key top = whole.chains[0].top(whole.chains[0].n_tops() - 1);
  const double before = collapsed.log_joint(top);
  const auto kind = static_cast<MoveKind>(in.number(0, kMoveKinds - 1));
  for (const auto& [move, key] : collapsed.propose(top, kind, in.byte(), 6, free)) {
    require(move.proposed || key == top, "a top that moved without a proposal");
    if (move.proposed) require(close(collapsed.log_joint(key) - before, move.log_target), "what a move of a top adds");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes in(data, size);
  const auto all = available_kernels();
  use_kernels(all[in.byte() % all.size()]->name);
  const std::uint32_t kind = in.number(0, 2);
  Case c{fuzz::table_or_columns(in, kind == 2 ? 12 : 30, 6, 3, 3, 4), {}, {}, in.flag(), 0};
  c.options.max_depth = static_cast<int>(in.number(0, 5)) - 1;
  c.options.min_leaf = in.number(1, 3);
  if (c.d.total(c.d.all()) >= c.options.min_leaf) {
    c.weights = fuzz::weights(in, c.d);
    const Target target(in, c);
    const ChainSettings s = some_settings(in, c);
    if (kind == 0) moves_one_by_one(in, c, target, s);
    if (kind == 1) runs(in, c, target, s);
    if (kind == 2) tops(in, c);
  }
  use_kernels("");
  return 0;
}
