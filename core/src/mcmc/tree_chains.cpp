#include "everytree/mcmc/tree_chains.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "everytree/parallel.hpp"

namespace everytree {

namespace {

constexpr std::size_t kRound = 20000;  // proposals of a chain between two meetings of all of them
constexpr std::size_t kCheck = 512;    // proposals between two looks at the clock
constexpr double kLowest = -std::numeric_limits<double>::infinity();

}  // namespace

struct TreeChains::Chain {
  Chain(const ChainSpace& space, const MoveOdds& odds, bool ordered, std::uint64_t seed, std::uint64_t number,
        std::size_t max_bytes)
      : random(seed, number), states(space, max_bytes), moves(states, odds), tree(states, ordered) {
    look();
  }

  // Compare the tree with the best one.
  void look() {
    log_target = tree.log_prior() + tree.log_data();
    if (log_target > best_log_target) {
      best_log_target = log_target;
      best = tree.key();
    }
  }

  Stream random;
  NodeStates states;
  TreeMoves moves;
  ChainTree tree;
  double log_target = 0;  // not heated; kept up by differences, and anew for every kept draw
  Key best;
  double best_log_target = kLowest;
  // In a run.
  std::size_t done = 0;  // draws, with those of the burn-in
  bool moved = true;     // since the last kept draw
  TreeDraws draws;
};

TreeChains::TreeChains(std::shared_ptr<const CountTable> table, int max_depth, std::int64_t min_leaf, TreeTarget target,
                       ChainKernel kernel, MoveOdds odds, double blind, std::size_t n_chains, std::uint64_t seed,
                       std::size_t n_threads, std::size_t state_bytes)
    : table_(std::move(table)),
      max_depth_(max_depth),
      min_leaf_(min_leaf),
      target_(std::make_unique<const TreeTarget>(std::move(target))),
      kernel_(kernel),
      odds_(odds),
      blind_(blind),
      n_threads_(std::max<std::size_t>(1, n_threads)) {
  if (min_leaf < 1) throw InvalidInput("min_leaf must be at least 1");
  if (table_->total() < min_leaf) throw InvalidInput("fewer examples than min_leaf: there is no tree");
  if (!(blind > 0 && blind <= 1)) throw InvalidInput("the share of blind proposals must lie in (0, 1]");
  double sum = 0;
  for (double p : odds.p) {
    if (!(p >= 0)) throw InvalidInput("probabilities of moves must not be negative");
    sum += p;
  }
  const auto has = [&](MoveKind kind) { return odds.p[static_cast<std::size_t>(kind)] > 0; };
  if (!(std::abs(sum - 1) < 1e-9)) throw InvalidInput("probabilities of moves must sum to one");
  if (has(MoveKind::grow) != has(MoveKind::prune))
    throw InvalidInput("moves grow and prune undo each other: give both a probability above 0, or neither");
  const std::size_t bytes = state_bytes / std::max<std::size_t>(1, n_chains);
  for (std::size_t c = 0; c < n_chains; ++c) {
    chains_.push_back(std::make_unique<Chain>(space(), odds_, kernel_ == ChainKernel::stack, seed, c, bytes));
    if (chains_[c]->best_log_target == kLowest)
      throw InvalidInput("the single leaf has probability 0 under this prior; use a prior without zeros");
  }
}

TreeChains::~TreeChains() = default;
TreeChains::TreeChains(TreeChains&&) noexcept = default;

void TreeChains::start(std::size_t chain, const Key& key) {
  if (chain >= chains_.size()) throw InvalidInput("there is no chain " + std::to_string(chain));
  Chain& c = *chains_[chain];
  ChainTree tree(c.states, key, kernel_ == ChainKernel::stack);
  if (!(tree.log_prior() + tree.log_data() > kLowest))
    throw InvalidInput("a chain cannot start at a tree of probability 0");
  c.tree = std::move(tree);
  c.look();
}

// All the proposals of one draw.
void TreeChains::step(Chain& chain, const TreePlan& plan, std::size_t draw) const {
  double power = 1;
  if (!plan.powers.empty()) power = plan.powers[std::min(draw, plan.powers.size() - 1)];
  const Powers powers{power, power};
  for (std::size_t k = 0; k < plan.thin; ++k) {
    if (chain.states.full()) {
      chain.states.clear();
      chain.tree.attach(chain.states);
    }
    MoveKind kind;
    Move move;
    if (kernel_ == ChainKernel::stack) {
      move = chain.moves.propose_stack(chain.tree, powers, chain.random, kind);
    } else {
      kind = odds_.draw(chain.random);
      move = chain.moves.propose(kind, chain.tree, powers, chain.random);
    }
    ++chain.draws.proposed[static_cast<std::size_t>(kind)];
    if (!move.proposed) continue;
    const double log_ratio = move.log_ratio();
    if (!(log_ratio >= 0 || chain.random.uniform() < std::exp(log_ratio))) continue;
    chain.moves.accept(chain.tree);
    ++chain.draws.accepted[static_cast<std::size_t>(kind)];
    chain.moved = true;
    chain.log_target += chain.moves.log_plain();
    // Differences round; a tree is the best one only if it is so when summed anew.
    if (chain.log_target > chain.best_log_target + 1e-9) chain.look();
  }
}

namespace {

// Bytes that the draw takes.
template <class Chain>
std::size_t keep(Chain& chain, bool ordered) {
  TreeDraws& out = chain.draws;
  std::size_t bytes = 20;
  chain.look();
  if (chain.moved || out.which.empty()) {
    const Key key = chain.tree.key();
    out.keys.insert(out.keys.end(), key.begin(), key.end());
    if (ordered) {
      const Key order = chain.tree.order_of_key();
      out.orders.insert(out.orders.end(), order.begin(), order.end());
    }
    out.ends.push_back(out.keys.size());
    out.leaves.push_back(static_cast<std::int32_t>(chain.tree.n_leaves()));
    out.depths.push_back(static_cast<std::int32_t>(chain.tree.depth(chain.states)));
    bytes += 16 + key.size() * (ordered ? 8 : 4);
    chain.moved = false;
  }
  out.which.push_back(static_cast<std::uint32_t>(out.ends.size() - 1));
  out.log_prior.push_back(chain.tree.log_prior());
  out.log_data.push_back(chain.tree.log_data());
  return bytes;
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
  if (plan.thin == 0) throw InvalidInput("thin must be at least 1");
  const std::size_t workers = std::min(n_threads_, chains_.size()), all = plan.burn_in + plan.n_draws;
  const std::size_t round = std::max<std::size_t>(1, kRound / plan.thin);
  const bool ordered = kernel_ == ChainKernel::stack;
  std::atomic<std::size_t> done{0}, bytes{0};
  for (auto& chain : chains_) {
    chain->done = 0;
    chain->moved = true;
    chain->draws = {};
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
          if (++chain.done > plan.burn_in) control.check_memory(2 * (bytes += keep(chain, ordered)));
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
  NodeStates states(space(), kStateBytes);
  const ChainTree tree(states, key, false);
  return {tree.log_prior(), tree.log_data()};
}

std::vector<std::pair<Move, Key>> TreeChains::propose(const Key& key, MoveKind kind, std::uint64_t seed, std::size_t n,
                                                      Control& control) const {
  NodeStates states(space(), kStateBytes);
  states.watch(&control, true);
  TreeMoves moves(states, odds_);
  const bool ordered = kernel_ == ChainKernel::stack;
  const ChainTree tree(states, key, ordered);
  Stream random(seed, 0);
  std::vector<std::pair<Move, Key>> out;
  for (std::size_t k = 0; k < n; ++k) {
    control.check(true, "proposing", k, n);
    MoveKind drawn = kind;
    Move move = ordered ? moves.propose_stack(tree, {}, random, drawn) : moves.propose(kind, tree, {}, random);
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
