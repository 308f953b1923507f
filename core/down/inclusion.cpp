// P(some test of a set B occurs in the tree) = 1 − u_{−B}(root) / u(root), where u_{−B} folds the trees without B under
// the same weights. All sets are excluded at once: each state holds the ratios r_B = u_{−B} / u ∈ [0, 1], and at a
// closed state leaving out second tests is one subtraction.
//
// The sets are disjoint: single tests, or the tests of each attribute.
#include <algorithm>

#include "common/parallel.hpp"
#include "down/posterior.hpp"
#include "fold/weigh.hpp"

namespace everytree {

namespace {

constexpr std::size_t kRatioBytes = std::size_t{1} << 28;  // for the ratios of one round, if there is no tighter limit
constexpr std::int32_t kNoPlace = -1;

// The part of the weight of a group of tests that belongs to a set, the `target`.
struct Part {
  std::uint32_t target;
  double fraction;
};

// Excludes the sets `first` to `first + n` − 1 from closed states. Owns the buffers: one object per thread.
class ClosedExclusion {
 public:
  ClosedExclusion(const Graph& graph, const ProductWeights& weights, const std::vector<std::int32_t>& owner,
                  Control& control, bool calling_thread)
      : graph_(&graph), weights_(&weights), owner_(&owner), fold_(graph) {
    fold_.watch(control, calling_thread);
  }

  // Ratios of one closed state; they are 1 before, and stay so for sets that none of its tests belongs to: where states
  // choose their tests, that is most of them.
  void run(std::uint32_t id, std::int32_t first, std::size_t n_sets, double* ratio) {
    if (graph_->state(id).levels == 0) return;
    fold_.product<SumProduct>(id, *weights_, level_);
    const Frontier& f = fold_.frontier();
    const std::size_t groups = level_.n;
    if (groups == 0) return;
    find_targets(groups, first, n_sets);
    const std::size_t n = sets_.size();
    if (n == 0) return;
    const bool fair = weights_->prior().fair;
    state_parts(groups);
    for (auto& t : term_) t.resize(f.stride());
    double* const term[2] = {term_[0].data(), term_[1].data()};
    sum_.assign(n, level_.state_leaf);
    double total = level_.state_leaf;
    for (std::size_t i = 0; i < groups; ++i) {
      const double full[2] = {level_.leaf[0][i] + level_.split[0][i], level_.leaf[1][i] + level_.split[1][i]};
      total += level_.weight[i] * full[1] * full[0];
      fold_.terms(*weights_, level_, i, term);
      for (auto& o : off_) o.assign(n, 0.0);  // the weight of each set below the two children
      if (fair) {
        fold_.load_pairs(i);
        for (int a = 0; a < 2; ++a) child_weights(i, a, groups);
      } else {
        // All tests have the same share, at every node: the parts of the state hold at its children too.
        for (std::size_t j = 0; j < groups; ++j)
          for (std::size_t p = begin_[j]; p < begin_[j + 1]; ++p) {
            off_[1][parts_[p].target] += parts_[p].fraction * term[1][j];
            off_[0][parts_[p].target] += parts_[p].fraction * term[0][j];
          }
      }
      own_.assign(n, level_.weight[i]);
      for (std::size_t p = begin_[i]; p < begin_[i + 1]; ++p)
        own_[parts_[p].target] -= parts_[p].fraction * level_.weight[i];
      for (std::size_t t = 0; t < n; ++t)
        sum_[t] += std::max(0.0, own_[t]) * (full[1] - off_[1][t]) * (full[0] - off_[0][t]);
    }
    for (std::size_t t = 0; t < n; ++t) ratio[sets_[t]] = std::clamp(sum_[t] / total, 0.0, 1.0);
  }

 private:
  // The targets of a state: the sets of this round that its tests belong to.
  void find_targets(std::size_t groups, std::int32_t first, std::size_t n_sets) {
    for (const std::uint32_t set : sets_) target_of_[set] = kNoPlace;
    first_ = first;
    target_of_.resize(n_sets, kNoPlace);
    sets_.clear();
    for (std::size_t g = 0; g < groups; ++g)
      graph_->table().for_each_test(fold_.frontier().parts(g), [&](std::uint32_t test, bool) {
        const std::int32_t set = (*owner_)[test] - first_;
        if (set < 0 || set >= static_cast<std::int32_t>(n_sets) ||
            target_of_[static_cast<std::size_t>(set)] != kNoPlace)
          return;
        target_of_[static_cast<std::size_t>(set)] = static_cast<std::int32_t>(sets_.size());
        sets_.push_back(static_cast<std::uint32_t>(set));
      });
  }

  // Call use(test, target) for every test of group g; the target is kNoPlace outside the sets of this round.
  template <class F>
  void for_tests(std::size_t g, F&& use) const {
    graph_->table().for_each_test(fold_.frontier().parts(g), [&](std::uint32_t test, bool) {
      const std::int32_t set = (*owner_)[test] - first_;
      use(test, set >= 0 && set < static_cast<std::int32_t>(target_of_.size())
                    ? target_of_[static_cast<std::size_t>(set)]
                    : kNoPlace);
    });
  }

  // The parts of every group of the state, by the shares of the state's own tests.
  void state_parts(std::size_t groups) {
    shares_.begin(weights_->prior());
    for (std::size_t g = 0; g < groups; ++g) shares_.add(graph_->table(), fold_.frontier().parts(g));
    parts_.clear();
    begin_.assign(1, 0);
    for (std::size_t g = 0; g < groups; ++g) {
      double mass = 0;
      for_tests(g, [&](std::uint32_t test, std::int32_t target) {
        const double share = shares_.share(test);
        mass += share;
        if (target == kNoPlace) return;
        const auto at = static_cast<std::uint32_t>(target);
        if (parts_.size() > begin_[g] && parts_.back().target == at)
          parts_.back().fraction += share;
        else
          parts_.push_back({at, share});
      });
      for (std::size_t p = begin_[g]; p < parts_.size(); ++p) parts_[p].fraction /= mass;
      begin_.push_back(parts_.size());
    }
  }

  // Attribute-fair shares differ from node to node.
  void child_weights(std::size_t i, int a, std::size_t groups) {
    shares_.begin(weights_->prior());
    for (std::size_t j = 0; j < groups; ++j)
      if (j != i && fold_.feasible(j, a)) shares_.add(graph_->table(), fold_.frontier().parts(j));
    for (std::size_t j = 0; j < groups; ++j) {
      if (j == i || !fold_.feasible(j, a)) continue;
      const double mass = shares_.share<SumProduct>(graph_->table(), fold_.frontier().parts(j));
      for_tests(j, [&](std::uint32_t test, std::int32_t target) {
        if (target != kNoPlace) off_[a][static_cast<std::size_t>(target)] += term_[a][j] * shares_.share(test) / mass;
      });
    }
  }

  const Graph* graph_;
  const ProductWeights* weights_;
  const std::vector<std::int32_t>* owner_;
  OneLevelFold fold_;
  OneLevel level_;
  Shares shares_;
  std::int32_t first_ = 0;
  std::vector<std::int32_t> target_of_;  // of a set of the round, or kNoPlace
  std::vector<std::uint32_t> sets_;      // of each target
  std::vector<Part> parts_;
  std::vector<std::size_t> begin_;
  std::vector<double> term_[2], off_[2], sum_, own_;
};

}  // namespace

std::vector<double> Posterior::inclusion(Control& control) const {
  // Tests that every state treats alike are asked about once: the classes, or every test where shares differ.
  const auto& classes = graph_->table().test_classes();
  std::vector<std::int32_t> owner(graph_->table().n_tests(), kNoPlace), asked(owner.size(), kNoPlace);
  std::int32_t n = 0;
  for (const auto& c : classes)
    for (std::uint32_t member : c.members) {
      const bool alike = !weights_.prior().fair && member != c.members.front();
      if (!alike) owner[member >> 1] = n++;
      asked[member >> 1] = n - 1;
    }
  const std::vector<double> found = inclusion_of(owner, static_cast<std::size_t>(n), control);
  std::vector<double> out(owner.size(), 0.0);
  for (std::size_t t = 0; t < out.size(); ++t)
    if (asked[t] != kNoPlace) out[t] = found[static_cast<std::size_t>(asked[t])];
  return out;
}

std::vector<double> Posterior::inclusion_of(const std::vector<std::int32_t>& owner, std::size_t n_sets,
                                            Control& control) const {
  const CountTable& table = graph_->table();
  if (owner.size() != table.n_tests()) throw InvalidInput("sets of tests need one owner per test");
  for (std::int32_t set : owner)
    if (set < kNoPlace || set >= static_cast<std::int32_t>(n_sets))
      throw InvalidInput("the owner of a test is " + std::to_string(set) + "; expected -1 to " +
                         std::to_string(static_cast<std::int64_t>(n_sets) - 1));
  const Prior& prior = weights_.prior();
  const std::size_t n_states = graph_->size();
  // The graph and its values, and for each thread what it knows of the tests of a state.
  const std::size_t held = bytes() + n_threads_ * owner.size() * 16 * sizeof(double);
  const std::size_t room = std::min(kRatioBytes, control.memory_limit - std::min(control.memory_limit, held));
  const std::size_t width = std::clamp<std::size_t>(room / (8 * n_states), 1, std::max<std::size_t>(1, n_sets));
  control.check_memory(held + 8 * n_states * width);
  const Order order(*graph_);
  const std::vector<std::uint32_t>&closed = order.closed, &inner = order.inner;
  std::vector<ClosedExclusion> workers;
  for (std::size_t k = 0; k < std::max<std::size_t>(1, n_threads_); ++k)
    workers.emplace_back(*graph_, weights_, owner, control, k == 0);

  std::vector<double> out(n_sets, 0.0);
  for (std::size_t from = 0; from < n_sets; from += width) {
    const std::size_t n = std::min(width, n_sets - from);
    std::vector<double> ratio(n_states * n, 1.0);
    for_each_parallel(closed.size(), n_threads_, control, "excluding tests", [&](std::size_t c, std::size_t worker) {
      workers[worker].run(closed[c], static_cast<std::int32_t>(from), n, ratio.data() + closed[c] * n);
    });
    InnerNode node;
    InnerShares shares(*graph_, prior);
    for (std::uint32_t id : inner) {
      control.check(true, "excluding tests", 0, inner.size());
      inner_node(id, node);
      const State& s = graph_->state(id);
      shares.load(s);
      double* r = ratio.data() + static_cast<std::size_t>(id) * n;
      std::fill(r, r + n, node.leaf);
      const auto splits = graph_->splits(s);
      for (std::size_t k = 0; k < splits.size(); ++k) {
        const double share = shares.share<SumProduct>(splits[k]), unit = node.split[k];
        const double* r1 = ratio.data() + static_cast<std::size_t>(splits[k].child[1]) * n;
        const double* r0 = ratio.data() + static_cast<std::size_t>(splits[k].child[0]) * n;
        for (std::size_t t = 0; t < n; ++t) r[t] += unit * share * r1[t] * r0[t];
        table.for_each_test(graph_->parts(splits[k]), [&](std::uint32_t test, bool) {
          const auto set = static_cast<std::size_t>(owner[test]);
          if (owner[test] == kNoPlace || set < from || set >= from + n) return;
          r[set - from] -= unit * shares.share(test) * r1[set - from] * r0[set - from];
        });
      }
      for (std::size_t t = 0; t < n; ++t) r[t] = std::clamp(r[t], 0.0, 1.0);
    }
    for (std::size_t b = 0; b < n; ++b) out[from + b] = 1.0 - ratio[b];
  }
  return out;
}

}  // namespace everytree
