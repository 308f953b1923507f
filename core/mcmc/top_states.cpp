#include "mcmc/top_states.hpp"

#include <algorithm>
#include <cmath>

#include "mcmc/share_out.hpp"

namespace everytree {

namespace {
// The share of proposals that ignore the data, and the range of r(stop): an independence proposal must not be much
// rarer than the target anywhere, or the chain stays for long where it is.
constexpr double kBlind = 0.1, kLeastStop = 0.05, kMostStop = 0.95;

// What the C library adds to a block, and what a state is besides its vectors: counted for shared_ptr, and its node and
// places in the table of known ones, of which there are twice as many for a moment when the table grows.
constexpr std::size_t kBlock = 16, kKnown = sizeof(TopState) + 16 + kBlock + 32 + kBlock + 3 * 16;

template <class T>
std::size_t block_of(const std::vector<T>& v) {
  return v.capacity() == 0 ? 0 : v.capacity() * sizeof(T) + kBlock;
}
}  // namespace

std::size_t TopState::find(std::uint32_t test) const {
  const auto at = std::lower_bound(tests.begin(), tests.end(), test);
  return at != tests.end() && *at == test ? static_cast<std::size_t>(at - tests.begin()) : tests.size();
}

double TopState::log_proposal(std::size_t k) const {
  return std::log(k == 0 ? cumulative[0] : cumulative[k] - cumulative[k - 1]);
}

double log_sum_of(const OneLevel& level) {
  double sum = level.state_leaf;
  for (std::size_t i = 0; i < level.n; ++i) sum += weight_of(level, i);
  return std::log(sum) + level.log_scale;
}

TopStates::TopStates(const CountTable& table, int max_depth, std::int64_t min_leaf, const ProductWeights& weights,
                     std::size_t max_bytes)
    : table_(&table),
      max_depth_(max_depth),
      min_leaf_(min_leaf),
      weights_(&weights),
      max_bytes_(max_bytes),
      fold_(table, min_leaf),
      offers_(table, min_leaf),
      scratch_(table.n_words()),
      counts_(table.n_classes()) {}

std::shared_ptr<TopState> TopStates::child(const TopState& state, std::uint32_t test, int side) {
  const std::uint64_t* column = table_->column(test);
  for (std::size_t w = 0; w < scratch_.size(); ++w)
    scratch_[w] = side == 1 ? state.cover[w] & column[w] : state.cover[w] & ~column[w];
  return get(scratch_.data(), state.depth + 1);
}

std::shared_ptr<TopState> TopStates::get(const std::uint64_t* cover, std::int32_t depth) {
  const std::size_t words = table_->n_words();
  const std::uint64_t hash = hash_words(cover, words, static_cast<std::uint64_t>(depth));
  auto [begin, end] = known_.equal_range(hash);
  for (auto it = begin; it != end; ++it)
    if (it->second->depth == depth && std::equal(cover, cover + words, it->second->cover.begin())) return it->second;
  std::shared_ptr<TopState> state = make(cover, depth);
  keep(kKnown + block_of(state->cover) + block_of(state->tests) + block_of(state->log_shares));
  known_.emplace(hash, state);
  return state;
}

// Tops hold on to their own states, so everything else may be forgotten at any time: it will be computed again.
void TopStates::keep(std::size_t bytes) {
  bytes_ += bytes;
  if (bytes_ <= max_bytes_) return;
  known_.clear();
  bytes_ = bytes;
}

std::shared_ptr<TopState> TopStates::make(const std::uint64_t* cover, std::int32_t depth) {
  auto state = std::make_shared<TopState>();
  TopState& s = *state;
  s.cover.assign(cover, cover + table_->n_words());
  s.depth = depth;
  s.total = static_cast<std::int32_t>(table_->count(cover));
  s.levels = levels_of(table_->local(), max_depth_, min_leaf_, depth, s.total);
  const auto d = static_cast<std::size_t>(depth);
  if (s.levels != State::kInner) {
    fold_.product<SumProduct>(ClosedState{cover, d, s.levels}, *weights_, level_);
    s.log_stop = log_sum_of(level_);
    return state;
  }
  const Prior& prior = weights_->prior();
  for (const std::uint32_t k : offers_.of(cover)) {
    const TestClass& tests = table_->test_classes()[k];
    const std::int64_t ones = table_->count(cover, tests.test);
    if (ones < min_leaf_ || s.total - ones < min_leaf_) continue;
    for (std::uint32_t member : tests.members) s.tests.push_back(member >> 1);
  }
  s.tests.shrink_to_fit();
  std::sort(s.tests.begin(), s.tests.end());
  table_->class_counts(cover, counts_.data());
  s.log_stop = weights_->log_leaf(counts_.data(), d, s.may_split());
  s.log_split = prior.log_split_base(d);
  if (!s.may_split()) return state;
  shares_.begin(prior);
  for (std::uint32_t test : s.tests) shares_.add(test);
  const std::size_t n = prior.fair ? s.tests.size() : 1;
  s.log_shares.reserve(n);
  for (std::size_t k = 0; k < n; ++k) s.log_shares.push_back(std::log(shares_.share(s.tests[k])));
  return state;
}

void TopStates::propose(TopState& s) {
  if (!s.may_split() || !s.cumulative.empty()) return;
  fold_.product<SumProduct>(ClosedState{s.cover.data(), static_cast<std::size_t>(s.depth), 2}, *weights_, level_);
  const std::size_t n = s.tests.size();
  // The weight of a split is shared out among its tests as the prior does.
  weight_.assign(n, 0.0);
  double blind = 0;
  const auto share = [&](std::size_t k) { return s.log_shares.size() == 1 ? 1.0 : std::exp(s.log_shares[k]); };
  const double splits = share_out(
      level_, fold_.frontier(), [&](std::uint32_t test) { return share(s.find(test)); },
      [&](std::uint32_t test, double w) { weight_[s.find(test)] = w; });
  for (std::size_t k = 0; k < n; ++k) blind += share(k);
  const double all = level_.state_leaf + splits;
  const bool usable = splits > 0 && std::isfinite(all);  // else the look ahead left the range of a double
  s.stop = usable ? std::clamp(level_.state_leaf / all, kLeastStop, kMostStop) : 0.5;
  s.cumulative.resize(n);
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) {
    sum += (usable ? (1 - kBlind) * weight_[k] / splits : 0.0) + (usable ? kBlind : 1.0) * share(k) / blind;
    s.cumulative[k] = sum;
  }
  for (double& x : s.cumulative) x /= sum;
  keep(block_of(s.cumulative));
}

}  // namespace everytree
