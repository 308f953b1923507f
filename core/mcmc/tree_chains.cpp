#include "mcmc/tree_chains.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "algebra/tie.hpp"
#include "common/infinity.hpp"
#include "common/parallel.hpp"
#include "mcmc/account.hpp"

namespace everytree {

namespace {

constexpr std::size_t kProposals = 20000;  // proposals of a chain between two meetings of all of them
constexpr std::size_t kCheck = 512;        // proposals between two looks at the clock

}  // namespace

struct TreeChains::Chain {
  // A tree and its log π, not heated: kept up by differences, and found anew for every kept draw.
  struct Replica {
    ChainTree tree;
    double log_target;
  };

  Chain(const ChainSpace& space, const ChainSettings& settings, std::uint64_t number)
      : random(settings.seed, number),
        states(space, settings.state_bytes / settings.n_chains),
        moves(states, settings.odds, settings.orders) {
    for (std::size_t k = 0; k < settings.ladder.size(); ++k)
      replicas.push_back({ChainTree(states, settings.kernel == ChainKernel::stack), 0});
    look(replicas[0]);
  }

  // Sum anew, and compare with the best one.
  void look(Replica& replica) {
    replica.log_target = replica.tree.log_prior() + replica.tree.log_data();
    if (replica.log_target <= best_log_target) return;
    best_log_target = replica.log_target;
    best = replica.tree.key();
  }

  Stream random;
  NodeStates states;
  TreeMoves moves;
  std::vector<Replica> replicas;
  Key best;
  double best_log_target = -kInf;
  std::size_t proposals = 0;  // since the last exchange
  // In a run.
  std::size_t done = 0;  // draws, with those of the burn-in
  bool moved = true;     // since the last kept draw
  TreeDraws draws;
};

TreeChains::TreeChains(std::shared_ptr<const CountTable> table, int max_depth, std::int64_t min_leaf, TreeTarget target,
                       ChainSettings settings, Control& control)
    : table_(std::move(table)),
      max_depth_(max_depth),
      min_leaf_(min_leaf),
      target_(std::make_unique<const TreeTarget>(std::move(target))),
      ranges_(std::make_unique<const std::vector<TestRange>>(nested_tests(*table_, control))),
      settings_(std::move(settings)) {
  check();
  settings_.n_threads = std::max<std::size_t>(1, settings_.n_threads);
  if (settings_.odds.p[static_cast<std::size_t>(MoveKind::regrow)] > 0 && target_->leaf())
    frontier_ = std::make_unique<const ProductWeights>(*table_, min_leaf_, target_->prior(), target_->leaf());
  for (std::size_t c = 0; c < settings_.n_chains; ++c) {
    chains_.push_back(std::make_unique<Chain>(space(), settings_, c));
    if (chains_[c]->best_log_target == -kInf)
      throw InvalidInput("the single leaf has probability 0 under this prior; use a prior without zeros");
  }
}

void TreeChains::check() const {
  if (min_leaf_ < 1) throw InvalidInput("min_leaf must be at least 1");
  if (settings_.n_chains < 1) throw InvalidInput("n_chains must be at least 1");
  if (table_->total() < min_leaf_) throw InvalidInput("fewer examples than min_leaf: there is no tree");
  if (!(settings_.blind > 0 && settings_.blind <= 1))
    throw InvalidInput("the share of blind proposals must lie in (0, 1]");
  double sum = 0;
  for (double p : settings_.odds.p) {
    if (!(p >= 0)) throw InvalidInput("probabilities of moves must not be negative");
    sum += p;
  }
  const auto has = [&](MoveKind kind) { return settings_.odds.p[static_cast<std::size_t>(kind)] > 0; };
  if (!(std::abs(sum - 1) < 1e-9)) throw InvalidInput("probabilities of moves must sum to one");
  if (has(MoveKind::grow) != has(MoveKind::prune))
    throw InvalidInput("moves grow and prune undo each other: give both a probability above 0, or neither");
  if (!settings_.density.empty() && settings_.density.size() != table_->n_tests())
    throw InvalidInput("a density needs one number for each of the " + std::to_string(table_->n_tests()) +
                       " tests, not " + std::to_string(settings_.density.size()));
  for (double d : settings_.density)
    if (!(d > 1e-100 && d < 1e100)) throw InvalidInput("a density must be positive, from 1e-100 to 1e100");
  if (settings_.density_outright) {
    const double all = std::accumulate(settings_.density.begin(), settings_.density.end(), 0.0);
    if (settings_.density.empty() || !(all < 1 + 1e-9))
      throw InvalidInput("a density over all tests must be given, and sum to at most one");
  }
  const std::vector<double>& ladder = settings_.ladder;
  bool falls = !ladder.empty() && ladder[0] == 1;
  for (std::size_t k = 1; k < ladder.size(); ++k) falls = falls && ladder[k] < ladder[k - 1] && ladder[k] >= 0;
  if (!falls) throw InvalidInput("a ladder of temperatures begins with 1 and falls to 0 or more");
  if (settings_.exchange_every < 1) throw InvalidInput("exchange_every must be at least 1");
}

ChainSpace TreeChains::space() const {
  return {table_.get(),
          ranges_.get(),
          max_depth_,
          min_leaf_,
          target_.get(),
          settings_.blind,
          settings_.density.empty() ? nullptr : &settings_.density,
          settings_.density_outright,
          frontier_.get()};
}

TreeChains::~TreeChains() = default;
TreeChains::TreeChains(TreeChains&&) noexcept = default;

TreeChains::Chain& TreeChains::at(std::size_t chain) const {
  if (chain >= chains_.size()) throw InvalidInput("there is no chain " + std::to_string(chain));
  return *chains_[chain];
}

ChainState TreeChains::state(std::size_t chain) const {
  const Chain& c = at(chain);
  ChainState out{c.random.state(), c.proposals, {}, c.best, c.best_log_target};
  for (const Chain::Replica& replica : c.replicas) {
    const ChainTree& tree = replica.tree;
    out.trees.push_back(
        {tree.key(),
         ordered() ? tree.order_of_key() : Key{},
         {tree.places(ChainTree::growable), tree.places(ChainTree::cherries), tree.places(ChainTree::splits)},
         replica.log_target});
  }
  return out;
}

void TreeChains::restore(std::size_t chain, const ChainState& state) {
  Chain& c = at(chain);
  if (state.trees.size() != c.replicas.size())
    throw InvalidInput("a chain has " + std::to_string(state.trees.size()) + " trees, not one for each of the " +
                       std::to_string(c.replicas.size()) + " steps of the ladder");
  std::vector<Chain::Replica> replicas;
  for (const ChainState::Tree& given : state.trees) {
    ChainTree tree(c.states, given.key, ordered());
    tree.arrange(given.places, given.order);
    replicas.push_back({std::move(tree), given.log_target});
  }
  (void)ChainTree(c.states, state.best, false);  // throws if it is not in the space
  c.replicas = std::move(replicas);
  c.random.restore(state.random);
  c.proposals = state.proposals;
  c.best = state.best;
  c.best_log_target = state.best_log_target;
}

void TreeChains::start(std::size_t chain, const Key& key) {
  Chain& c = at(chain);
  const ChainTree tree(c.states, key, ordered());
  if (!(tree.log_prior() + tree.log_data() > -kInf))
    throw InvalidInput("a chain cannot start at a tree of probability 0");
  for (Chain::Replica& replica : c.replicas) replica.tree = tree;
  c.look(c.replicas[0]);
}

// All the proposals of one draw.
void TreeChains::step(Chain& chain, const TreePlan& plan, std::size_t draw) const {
  double power = 1;
  if (!plan.powers.empty()) power = plan.powers[std::min(draw, plan.powers.size() - 1)];
  for (std::size_t k = 0; k < plan.thin; ++k) {
    for (std::size_t r = 0; r < chain.replicas.size(); ++r) {
      if (chain.states.full()) {
        chain.states.clear();
        for (auto& replica : chain.replicas) replica.tree.attach(chain.states);
      }
      Chain::Replica& replica = chain.replicas[r];
      const Powers powers{power, power * settings_.ladder[r]};
      MoveKind kind;
      Move move;
      if (ordered()) {
        move = chain.moves.propose_stack(replica.tree, powers, chain.random, kind);
      } else {
        kind = settings_.odds.draw(chain.random);
        move = chain.moves.propose(kind, replica.tree, powers, chain.random);
      }
      if (r == 0) ++chain.draws.proposed[static_cast<std::size_t>(kind)];
      if (!move.proposed) continue;
      const double log_ratio = move.log_ratio();
      if (!(log_ratio >= 0 || chain.random.uniform() < std::exp(log_ratio))) continue;
      chain.moves.accept(replica.tree);
      if (r == 0) {
        ++chain.draws.accepted[static_cast<std::size_t>(kind)];
        chain.moved = true;
      }
      replica.log_target += chain.moves.log_plain();
      // Differences round; a tree is the best one only if it is so when summed anew.
      if (replica.log_target > chain.best_log_target + kDriftTie) chain.look(replica);
    }
    if (chain.replicas.size() > 1 && ++chain.proposals >= settings_.exchange_every) {
      chain.proposals = 0;
      exchange(chain, power);
    }
  }
}

void TreeChains::exchange(Chain& chain, double power) const {
  const std::size_t i = chain.random.below(chain.replicas.size() - 1);
  Chain::Replica &a = chain.replicas[i], &b = chain.replicas[i + 1];
  const double log_ratio =
      power * (settings_.ladder[i] - settings_.ladder[i + 1]) * (b.tree.log_data() - a.tree.log_data());
  ++chain.draws.exchanges[i];
  if (!(log_ratio >= 0 || chain.random.uniform() < std::exp(log_ratio))) return;
  ++chain.draws.exchanged[i];
  std::swap(a, b);
  if (i == 0) chain.moved = true;
}

namespace {

// What the caller makes of draws and trees while the draws are still there: arrays of all chains, and each tree as its
// bytes in a dictionary with what is known of it.
constexpr std::size_t kMadeOfTreeDraw = 48, kMadeOfTree = 300, kMadeOfTreeNode = 4;

// Keep the draw; ask(bytes) comes before the memory is taken, which for a moment is there beside what it replaces.
template <class Chain, class Ask>
void keep(Chain& chain, bool ordered, DrawAccount& account, Ask&& ask) {
  TreeDraws& out = chain.draws;
  const ChainTree& tree = chain.replicas[0].tree;
  const auto room = [&](auto& v, std::size_t more) { account.room(v, more, ask); };
  room(out.which, 1);
  room(out.log_prior, 1);
  room(out.log_data, 1);
  account.made += kMadeOfTreeDraw;
  for (auto& replica : chain.replicas) chain.look(replica);
  if (chain.moved || out.which.empty()) {
    const Key key = tree.key();
    room(out.keys, key.size());
    if (ordered) room(out.orders, key.size());
    room(out.ends, 1);
    room(out.leaves, 1);
    room(out.depths, 1);
    account.made += kMadeOfTree + kMadeOfTreeNode * key.size();
    out.keys.insert(out.keys.end(), key.begin(), key.end());
    if (ordered) {
      const Key order = tree.order_of_key();
      out.orders.insert(out.orders.end(), order.begin(), order.end());
    }
    out.ends.push_back(out.keys.size());
    out.leaves.push_back(static_cast<std::int32_t>(tree.n_leaves()));
    out.depths.push_back(static_cast<std::int32_t>(tree.depth(chain.states)));
    chain.moved = false;
  }
  out.which.push_back(static_cast<std::uint32_t>(out.ends.size() - 1));
  out.log_prior.push_back(tree.log_prior());
  out.log_data.push_back(tree.log_data());
  ask(0);
}

void shorten(TreeDraws& draws, std::size_t n) {
  draws.which.resize(n);
  draws.log_prior.resize(n);
  draws.log_data.resize(n);
  const std::size_t trees = n == 0 ? 0 : draws.which.back() + 1;
  draws.ends.resize(trees);
  draws.leaves.resize(trees);
  draws.depths.resize(trees);
  draws.keys.resize(trees == 0 ? 0 : draws.ends.back());
  if (!draws.orders.empty()) draws.orders.resize(draws.keys.size());
}

}  // namespace

TreeRun TreeChains::run(const TreePlan& plan, Control& control) {
  const std::size_t workers = std::min(settings_.n_threads, chains_.size()), all = plan.burn_in + plan.n_draws;
  const std::size_t round = std::max<std::size_t>(1, kProposals / std::max<std::size_t>(1, plan.thin));
  std::atomic<std::size_t> done{0};
  DrawAccount account;
  const std::size_t fixed = frontier_ ? frontier_->bytes() : 0;
  const std::size_t state_bytes = std::min(settings_.state_bytes, control.memory_limit / 4) / chains_.size();
  for (auto& chain : chains_) {
    chain->states.limit(state_bytes);
    chain->done = 0;
    chain->moved = true;
    chain->draws = {};
    chain->draws.exchanges.assign(settings_.ladder.size() - 1, 0);
    chain->draws.exchanged = chain->draws.exchanges;
  }
  TreeRun run;
  try {
    for (std::size_t until = 0; until < all;) {
      until = std::min(until + round, all);
      for_each_parallel(chains_.size(), workers, control, nullptr, [&](std::size_t c, std::size_t worker) {
        Chain& chain = *chains_[c];
        chain.states.watch(&control, worker == 0);
        std::size_t since = kCheck;
        for (; chain.done < until; since += plan.thin) {
          if (since >= kCheck) {
            since = 0;
            control.check(worker == 0, "sampling trees", done.load(), all * chains_.size());
          }
          step(chain, plan, chain.done);
          ++done;
          // Vectors of states may hold twice what is in them; the other chains remember about as much as this one.
          if (++chain.done > plan.burn_in)
            keep(chain, ordered(), account, [&](std::size_t beside) {
              control.check_memory(fixed + account.drawn + account.made + beside +
                                   2 * chains_.size() * std::min(chain.states.bytes(), state_bytes));
            });
        }
      });
    }
  } catch (const LimitReached& limit) {
    // An interrupt is the user's, and goes on. A limit leaves what there is.
    if (limit.reason == LimitReached::Reason::stopped && !control.stopped()) throw;
    run.stopped = limit.what();
    std::size_t least = plan.n_draws;
    for (const auto& chain : chains_) least = std::min(least, chain->draws.which.size());
    for (const auto& chain : chains_) shorten(chain->draws, least);
  }
  for (auto& chain : chains_) {
    chain->states.watch(nullptr, false);
    chain->draws.best = chain->best;
    chain->draws.best_log_target = chain->best_log_target;
    run.chains.push_back(std::move(chain->draws));
  }
  return run;
}

std::pair<double, double> TreeChains::log_target(const Key& key) const {
  NodeStates states(space(), settings_.state_bytes);
  const ChainTree tree(states, key, false);
  return {tree.log_prior(), tree.log_data()};
}

std::vector<std::pair<Move, Key>> TreeChains::propose(const Key& key, MoveKind kind, std::uint64_t seed, std::size_t n,
                                                      Control& control) const {
  NodeStates states(space(), settings_.state_bytes);
  states.watch(&control, true);
  TreeMoves moves(states, settings_.odds, settings_.orders);
  const ChainTree tree(states, key, ordered());
  Stream random(seed, 0);
  std::vector<std::pair<Move, Key>> out;
  for (std::size_t k = 0; k < n; ++k) {
    control.check(true, "proposing", k, n);
    MoveKind drawn = kind;
    Move move = ordered() ? moves.propose_stack(tree, {}, random, drawn) : moves.propose(kind, tree, {}, random);
    if (!move.proposed || drawn != kind) {
      out.emplace_back();
      continue;
    }
    std::size_t at = 0;
    tree.preorder(ChainTree::kRoot, [&](std::int32_t v) {
      if (v == moves.node()) move.place = at;
      ++at;
    });
    ChainTree after = tree;
    moves.accept(after);
    out.emplace_back(move, after.key());
  }
  return out;
}

}  // namespace everytree
