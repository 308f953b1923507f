// The proposals of node_states.hpp: how a state draws its test, or a subtree of one or two levels.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "common/infinity.hpp"
#include "mcmc/node_states.hpp"
#include "mcmc/share_out.hpp"

namespace everytree {

namespace {

// Turn logarithms into weights with the largest one 1.
double exponentials(std::vector<double>& x, double most) {
  double sum = 0;
  for (double& w : x) sum += w = most > -kInf ? std::exp(w - most) : 1.0;
  return sum;
}

}  // namespace

// d of the feasible tests, summing to one unless it is outright.
void NodeStates::densities(std::uint32_t state, bool outright, std::vector<double>& out) const {
  const auto n = static_cast<std::size_t>(states_[state].n_tests);
  if (space_.density == nullptr) {
    out.assign(n, 1 / static_cast<double>(n));
    return;
  }
  out.clear();
  double sum = 0;
  const std::uint64_t* bits = tests(state);
  for (std::size_t w = 0; w < test_words_; ++w)
    for (std::uint64_t word = bits[w]; word != 0; word &= word - 1) {
      out.push_back((*space_.density)[64 * w + static_cast<std::size_t>(std::countr_zero(word))]);
      sum += out.back();
    }
  if (!outright)
    for (double& d : out) d /= sum;
}

// Weights of the feasible tests, in any scale, with the levels below a split as far as `levels` goes (0: for r, where
// stopping is no choice). Returns that of stopping in the same scale.
double NodeStates::stop_and_weights(std::uint32_t state, std::size_t levels, std::vector<double>& weight) {
  const auto n = static_cast<std::size_t>(count_tests(state));
  const NodeState s = states_[state];
  const auto depth = static_cast<std::size_t>(s.depth);
  weight.assign(n, 0.0);
  const bool two = space_.max_depth < 0 || s.depth + 1 < space_.max_depth;
  if (levels == 2 && fold_ && two) {
    fold_->product<SumProduct>(ClosedState{cover(state), depth, 2}, *space_.frontier, level_);
    const auto share = [&](std::uint32_t test) {
      return attribute_.empty() ? 1.0 : std::exp(log_split(state, test) - s.log_split);
    };
    const double splits = share_out(level_, fold_->frontier(), share,
                                    [&](std::uint32_t test, double w) { weight[rank(state, test)] = w; });
    if (splits > 0 && std::isfinite(splits + level_.state_leaf)) return level_.state_leaf;
  }
  // One level, and what the frontier could not hold in a double.
  const std::size_t n_classes = space_.table->n_classes();
  auto &all = part_[0], &yes = part_[1], &no = part_[2];
  space_.table->class_counts(cover(state), all.data());
  double most = -kInf;
  std::size_t k = 0;
  const std::uint64_t *bits = tests(state), *whole = cover(state);
  for (std::size_t w = 0; w < test_words_; ++w)
    for (std::uint64_t word = bits[w]; word != 0; word &= word - 1) {
      const auto test = static_cast<std::uint32_t>(64 * w) + static_cast<std::uint32_t>(std::countr_zero(word));
      const std::uint64_t* column = space_.table->column(test);
      std::fill(yes.begin(), yes.end(), 0);
      for (const Section& s : space_.table->sections())
        yes[s.cls] += s.multiplicity() * static_cast<std::int32_t>(
                                             kernels_->count_and(whole + s.begin, column + s.begin, s.end - s.begin));
      for (std::size_t c = 0; c < n_classes; ++c) no[c] = all[c] - yes[c];
      weight[k] = log_split(state, test) + space_.target->log_counts(depth + 1, yes.data()) +
                  space_.target->log_counts(depth + 1, no.data());
      most = std::max(most, weight[k++]);
      work_ += words_;
    }
  double stop = s.log_prior_leaf + s.log_data_leaf;
  if (levels > 0) {
    // Two leaves beyond the last level count as closed.
    stop -= 2 * space_.target->prior().log_leaf(depth + 1, false);
    most = std::max(most, stop);
  }
  exponentials(weight, most);
  return most > -kInf ? std::exp(stop - most) : 1.0;
}

const double* NodeStates::look_ahead(std::uint32_t state, std::size_t which) {
  if (states_[state].look[which] != kNone) return looks_.data() + states_[state].look[which];
  const double stop = stop_and_weights(state, which, weight_);
  const bool outright = which == 0 && space_.outright;
  densities(state, outright, density_);
  double sum = 0;
  for (double w : weight_) sum += w;
  const bool usable = sum > 0 && std::isfinite(sum + stop);
  const double blind = which == 0 ? space_.blind : kBlindRegrowth;
  const auto at = static_cast<std::uint32_t>(looks_.size());
  if (which > 0) looks_.push_back(usable ? (1 - blind) * stop / (stop + sum) + blind / 2 : 0.5);
  // r given a split: of the informed part with its probability of a split, and of the blind part with one half.
  const double seen = usable ? (which == 0 ? 1 - blind : (1 - blind) * sum / (stop + sum)) : 0.0,
               unseen = which == 0 ? blind : blind / 2;
  double below = 0;
  for (std::size_t k = 0; k < weight_.size(); ++k)
    looks_.push_back(below += (seen > 0 ? seen * weight_[k] / sum : 0.0) + unseen * density_[k]);
  if (!outright)
    for (std::size_t k = looks_.size() - weight_.size(); k < looks_.size(); ++k) looks_[k] /= below;
  states_[state].look[which] = at;
  return looks_.data() + at;
}

std::uint32_t NodeStates::draw(std::uint32_t state, Stream& random) {
  const auto n = static_cast<std::size_t>(count_tests(state));
  if (plain()) return select(state, random.below(n));
  const double* at = look_ahead(state, 0);
  const auto k = static_cast<std::size_t>(std::upper_bound(at, at + n, random.uniform()) - at);
  if (space_.outright && k == n) return kNone;
  return select(state, std::min(k, n - 1));
}

double NodeStates::log_proposal(std::uint32_t state, std::uint32_t test) {
  const auto n = static_cast<std::size_t>(count_tests(state));
  if (plain()) return -std::log(static_cast<double>(n));
  const double* at = look_ahead(state, 0);
  const std::size_t k = rank(state, test);
  return std::log(k == 0 ? at[0] : at[k] - at[k - 1]);
}

std::int32_t NodeStates::draw_level(std::uint32_t state, int levels, Stream& random) {
  if (!states_[state].open) return -1;
  const double* at = look_ahead(state, static_cast<std::size_t>(levels));
  if (random.uniform() < *at++) return -1;
  const auto n = static_cast<std::size_t>(states_[state].n_tests);
  const auto k = static_cast<std::size_t>(std::upper_bound(at, at + n, random.uniform()) - at);
  return static_cast<std::int32_t>(select(state, std::min(k, n - 1)));
}

double NodeStates::log_level(std::uint32_t state, int levels, std::int32_t test) {
  if (!states_[state].open) return 0;
  const double* at = look_ahead(state, static_cast<std::size_t>(levels));
  if (test < 0) return std::log(*at);
  const double split = std::log1p(-*at++);
  const std::size_t k = rank(state, static_cast<std::uint32_t>(test));
  return split + std::log(k == 0 ? at[0] : at[k] - at[k - 1]);
}

}  // namespace everytree
