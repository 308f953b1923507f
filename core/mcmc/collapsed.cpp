#include "mcmc/collapsed.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>

#include "common/parallel.hpp"

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

// Bytes that the draw takes.
std::size_t keep(Chain& chain) {
  std::size_t bytes = 12;
  if (chain.moved) {
    chain.draws.tops.push_back(chain.top->key());
    bytes += chain.draws.tops.back().size() * 4 + sizeof(Key);
    chain.moved = false;
  }
  chain.draws.which.push_back(static_cast<std::uint32_t>(chain.draws.tops.size() - 1));
  chain.draws.log_joint.push_back(chain.top->log_joint());
  return bytes;
}

}  // namespace

Collapsed::Collapsed(std::shared_ptr<const CountTable> table, int max_depth, std::int64_t min_leaf, Prior prior,
                     std::shared_ptr<const Dirichlet> leaf, bool linear, std::size_t n_threads)
    : table_(std::move(table)),
      max_depth_(max_depth),
      min_leaf_(min_leaf),
      weights_(*table_, min_leaf, std::move(prior), std::move(leaf), linear),
      n_threads_(std::max<std::size_t>(1, n_threads)) {
  if (min_leaf < 1) throw InvalidInput("min_leaf must be at least 1");
}

CollapsedRun Collapsed::run(const CollapsedPlan& plan, Control& control) const {
  const std::size_t workers = std::min(n_threads_, plan.n_chains);
  const std::size_t steps = plan.burn_in + plan.n_draws * plan.thin;
  std::vector<TopStates> states;
  states.reserve(workers);
  for (std::size_t k = 0; k < workers; ++k) {
    states.push_back(this->states(std::min(kCacheBytes, control.memory_limit / 2) / workers));
    states.back().watch(control, k == 0);
  }
  std::vector<Chain> chains;
  for (std::size_t c = 0; c < plan.n_chains; ++c) chains.push_back({Stream(plan.seed, c), std::nullopt, 0, true, {}});
  std::atomic<std::size_t> done{0}, bytes{0};
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
            control.check_memory(2 * (bytes += keep(chain)) + workers * states[worker].bytes());
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
      chain.draws.tops.resize(chain.draws.which.back() + 1);
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
