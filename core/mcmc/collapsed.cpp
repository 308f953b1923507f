#include "mcmc/collapsed.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>

#include "common/parallel.hpp"
#include "mcmc/account.hpp"

namespace everytree {

namespace {

// Grow and prune must be alike: they undo each other.
constexpr MoveOdds kOdds{{0.15, 0.15, 0.20, 0.10, 0.40}};
constexpr std::size_t kSteps = 16;                         // steps between two meetings of the chains
constexpr std::size_t kCacheBytes = std::size_t{1} << 30;  // of states, over all threads
constexpr int kStarts = 1000;

struct Chain {
  Stream random;
  std::optional<Top> top;
  std::size_t steps = 0;
  bool moved = true;  // since the last kept draw
  ChainDraws draws;
};

void start(Chain& chain, TopStates& states) {
  for (int k = 0; k < kStarts; ++k) {
    chain.top.emplace(states, chain.random);
    if (chain.top->log_joint() > -std::numeric_limits<double>::infinity()) return;
  }
  throw InvalidInput("no tree of positive prior probability was found in " + std::to_string(kStarts) +
                     " attempts; use a prior without zeros");
}

void step(Chain& chain, TopStates& states) {
  for (std::size_t k = 0; k < Collapsed::kProposals; ++k) {
    const MoveKind kind = kOdds.draw(chain.random);
    const Move move = chain.top->move(kind, states, chain.random);
    ++chain.draws.proposed[static_cast<std::size_t>(kind)];
    if (!move.proposed) continue;
    if (std::log(chain.random.uniform()) < move.log_ratio()) {
      ++chain.draws.accepted[static_cast<std::size_t>(kind)];
      chain.moved = true;
    } else {
      chain.top->undo();
    }
  }
  ++chain.steps;
}

// What the caller makes of draws and tops while the draws are still there: arrays of all chains, and each top as a
// tuple with its place in a dictionary, as measured. The states that were remembered are gone by then.
constexpr std::size_t kMadeOfDraw = 40, kMadeOfTop = 200, kMadeOfNode = 8;

// Keep the draw; ask(bytes) comes before the memory is taken, which for a moment is there beside what it replaces.
template <class Ask>
void keep(Chain& chain, DrawAccount& account, Ask&& ask) {
  ChainDraws& draws = chain.draws;
  const auto room = [&](auto& v, std::size_t more) { account.room(v, more, ask); };
  room(draws.which, 1);
  room(draws.log_joint, 1);
  account.made += kMadeOfDraw;
  if (chain.moved) {
    const Key key = chain.top->key();
    room(draws.keys, key.size());
    room(draws.ends, 1);
    account.made += kMadeOfTop + kMadeOfNode * key.size();
    draws.keys.insert(draws.keys.end(), key.begin(), key.end());
    draws.ends.push_back(draws.keys.size());
    chain.moved = false;
  }
  draws.which.push_back(static_cast<std::uint32_t>(draws.n_tops() - 1));
  draws.log_joint.push_back(chain.top->log_joint());
  ask(0);
}

}  // namespace

Collapsed::Collapsed(std::shared_ptr<const CountTable> table, int max_depth, std::int64_t min_leaf, Prior prior,
                     std::shared_ptr<const Dirichlet> leaf, bool linear, std::size_t n_threads, const Control* control)
    : table_(std::move(table)),
      max_depth_(max_depth),
      min_leaf_(min_leaf),
      weights_(*table_, min_leaf, std::move(prior), std::move(leaf), linear, control),
      n_threads_(std::max<std::size_t>(1, n_threads)) {
  if (min_leaf < 1) throw InvalidInput("min_leaf must be at least 1");
}

CollapsedRun Collapsed::run(const CollapsedPlan& plan, Control& control) const {
  const std::size_t workers = std::min(n_threads_, plan.n_chains);
  const std::size_t steps = plan.burn_in + plan.n_draws * plan.thin;
  const std::size_t fixed = weights_.bytes(), room = control.memory_limit - std::min(fixed, control.memory_limit);
  std::vector<TopStates> states;
  states.reserve(workers);
  for (std::size_t k = 0; k < workers; ++k) {
    states.push_back(this->states(std::min(kCacheBytes, room / 2) / workers));
    states.back().watch(control, k == 0);
  }
  std::vector<Chain> chains;
  for (std::size_t c = 0; c < plan.n_chains; ++c) chains.push_back({Stream(plan.seed, c), std::nullopt, 0, true, {}});
  std::atomic<std::size_t> done{0};
  DrawAccount account;
  CollapsedRun run;
  try {
    for (std::size_t until = std::min(kSteps, steps);; until = std::min(until + kSteps, steps)) {
      for_each_parallel(chains.size(), workers, control, nullptr, [&](std::size_t c, std::size_t worker) {
        Chain& chain = chains[c];
        if (!chain.top) start(chain, states[worker]);
        while (chain.steps < until) {
          control.check(worker == 0, "sampling tops", done++, steps * chains.size());
          step(chain, states[worker]);
          if (chain.steps > plan.burn_in && (chain.steps - plan.burn_in) % plan.thin == 0)
            // The other workers remember about as much as this one.
            keep(chain, account, [&](std::size_t beside) {
              control.check_memory(fixed + account.drawn + beside +
                                   std::max<std::size_t>(workers * states[worker].bytes(), account.made));
            });
        }
      });
      if (until == steps) break;
    }
  } catch (const LimitReached& limit) {
    // An interrupt is the user's, and goes on. A limit leaves what there is, if it is enough.
    if (limit.reason == LimitReached::Reason::stopped && !control.stopped()) throw;
    std::size_t least = plan.n_draws;
    for (const Chain& chain : chains) least = std::min(least, chain.draws.which.size());
    if (least < plan.least)
      throw LimitReached(limit.reason, std::string(limit.what()) + " after " + std::to_string(least) +
                                           " draws of each chain (at least " + std::to_string(plan.least) +
                                           " are needed)");
    run.stopped = limit.what();
    for (Chain& chain : chains) {
      chain.draws.which.resize(least);
      chain.draws.log_joint.resize(least);
      chain.draws.ends.resize(chain.draws.which.back() + 1);
      chain.draws.keys.resize(chain.draws.ends.back());
    }
  }
  for (Chain& chain : chains) run.chains.push_back(std::move(chain.draws));
  return run;
}

double Collapsed::log_joint(const Key& top) const {
  TopStates states = this->states(kCacheBytes);
  return Top(states, top).log_joint();
}

std::vector<std::pair<Move, Key>> Collapsed::propose(const Key& top, MoveKind kind, std::uint64_t seed, std::size_t n,
                                                     Control& control) const {
  TopStates states = this->states(std::min(kCacheBytes, control.memory_limit / 2));
  states.watch(control, true);
  Stream random(seed, 0);
  Top here(states, top);
  std::vector<std::pair<Move, Key>> out;
  for (std::size_t k = 0; k < n; ++k) {
    control.check(true, "proposing", k, n);
    const Move move = here.move(kind, states, random);
    out.emplace_back(move, here.key());
    if (move.proposed) here.undo();
  }
  return out;
}

}  // namespace everytree
