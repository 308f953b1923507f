// P(test t occurs in the tree) = 1 − u_{−t}(root) / u(root), where u_{−t} folds the trees without t under the same
// weights. All tests are excluded at once: each state holds the ratios r_t = u_{−t} / u ∈ [0, 1], and at a closed state
// leaving out one second test is one subtraction.
#include <algorithm>
#include <span>

#include "everytree/fold/posterior.hpp"
#include "everytree/fold/weigh.hpp"
#include "everytree/parallel.hpp"

namespace everytree {

namespace {
// Tests that any state treats alike are asked about once: the classes, or every test where shares differ by attribute.
struct Target {
  std::uint32_t cls;
  std::uint32_t test;
};
constexpr std::size_t kBytes = std::size_t{1} << 28;  // for the ratios of one round
}  // namespace

std::vector<double> Posterior::inclusion(Control& control) const {
  const CountTable& table = graph_->table();
  const auto& classes = table.test_classes();
  const Prior& prior = weights_.prior();
  std::vector<Target> targets;
  for (std::uint32_t k = 0; k < classes.size(); ++k)
    for (std::uint32_t member : classes[k].members) {
      targets.push_back({k, member >> 1});
      if (!prior.fair) break;
    }
  std::vector<double> out(table.n_tests(), 0.0);
  const std::size_t n_states = graph_->size();
  const std::size_t width =
      std::clamp<std::size_t>(kBytes / (8 * n_states), 1, std::max<std::size_t>(1, targets.size()));
  const Order order(*graph_);
  const std::vector<std::uint32_t>&closed = order.closed, &inner = order.inner;

  for (std::size_t from = 0; from < targets.size(); from += width) {
    const std::size_t n = std::min(width, targets.size() - from);
    std::vector<double> ratio(n_states * n, 1.0);
    // Which targets of this round belong to each class: classes are contiguous in `targets`.
    std::vector<std::uint32_t> first(classes.size() + 1, 0);
    for (std::size_t b = 0; b < n; ++b) ++first[targets[from + b].cls + 1];
    for (std::size_t k = 0; k < classes.size(); ++k) first[k + 1] += first[k];

    const auto for_each_target = [&](std::span<const std::uint32_t> parts, auto&& use) {
      for (std::uint32_t part : parts)
        for (std::uint32_t t = first[part >> 1]; t < first[(part >> 1) + 1]; ++t) use(t);
    };

    struct Buffers {
      OneLevel level;
      std::vector<double> term1, term0, sum, own, share1, share0;
      Shares shares;
    };
    std::vector<OneLevelFold> folds = one_fold_per_thread(*graph_, n_threads_, control);
    std::vector<Buffers> buffers(folds.size());
    for_each_parallel(
        closed.size(), n_threads_, control, "excluding each test", [&](std::size_t c, std::size_t worker) {
          const std::uint32_t id = closed[c];
          if (graph_->state(id).levels == 0) return;
          OneLevelFold& fold = folds[worker];
          Buffers& b = buffers[worker];
          OneLevel& level = b.level;
          fold.product(id, weights_, Plus::sum, level);
          const Frontier& f = fold.frontier();
          const std::size_t groups = level.n;
          if (groups == 0) return;
          b.term1.resize(f.stride());
          b.term0.resize(f.stride());
          double* const term[2] = {b.term0.data(), b.term1.data()};
          double* r = ratio.data() + static_cast<std::size_t>(id) * n;
          double total = level.state_leaf;
          for (std::size_t i = 0; i < groups; ++i)
            total += level.weight[i] * (level.leaf[1][i] + level.split[1][i]) * (level.leaf[0][i] + level.split[0][i]);
          b.sum.assign(n, level.state_leaf);
          for (std::size_t i = 0; i < groups; ++i) {
            const double full[2] = {level.leaf[0][i] + level.split[0][i], level.leaf[1][i] + level.split[1][i]};
            fold.terms(weights_, level, i, term);
            if (!prior.fair) {
              // All members of a group have the same share: leaving one out takes 1/multiplicity of the term.
              for (std::size_t j = 0; j < groups; ++j) {
                const double m = f.multiplicity(j);
                const double value = j == i ? level.weight[i] * (1 - 1 / m) * full[1] * full[0]
                                            : level.weight[i] * (full[1] - term[1][j] / m) * (full[0] - term[0][j] / m);
                for_each_target(f.parts(j), [&](std::uint32_t t) { b.sum[t] += value; });
              }
            } else {
              fold.load_pairs(i);
              b.own.assign(n, level.weight[i] * full[1] * full[0]);
              b.share1.assign(n, 0.0);
              b.share0.assign(n, 0.0);
              for (int a = 0; a < 2; ++a) {
                auto& part_of = a == 1 ? b.share1 : b.share0;  // of the child's split weight that is target t's
                b.shares.begin(prior);
                for (std::size_t j = 0; j < groups; ++j)
                  if (j != i && fold.feasible(j, a)) b.shares.add(table, f.parts(j));
                for (std::size_t j = 0; j < groups; ++j) {
                  if (j == i || !fold.feasible(j, a)) continue;
                  const double mass = b.shares.share(table, f.parts(j), Plus::sum);
                  for_each_target(f.parts(j), [&](std::uint32_t t) {
                    part_of[t] = term[a][j] * b.shares.share(targets[from + t].test) / mass;
                  });
                }
              }
              b.shares.begin(prior);
              for (std::size_t j = 0; j < groups; ++j) b.shares.add(table, f.parts(j));
              const double mass = b.shares.share(table, f.parts(i), Plus::sum);
              for (std::size_t t = 0; t < n; ++t)
                b.own[t] = level.weight[i] * (full[1] - b.share1[t]) * (full[0] - b.share0[t]);
              for_each_target(f.parts(i), [&](std::uint32_t t) {
                b.own[t] = level.weight[i] * (1 - b.shares.share(targets[from + t].test) / mass) * full[1] * full[0];
              });
              for (std::size_t t = 0; t < n; ++t) b.sum[t] += b.own[t];
            }
          }
          if (!prior.fair) {
            // Targets that are not feasible here were left out of no term.
            std::fill(r, r + n, 1.0);
            for (std::size_t j = 0; j < groups; ++j)
              for_each_target(f.parts(j), [&](std::uint32_t t) { r[t] = std::clamp(b.sum[t] / total, 0.0, 1.0); });
          } else {
            for (std::size_t t = 0; t < n; ++t) r[t] = std::clamp(b.sum[t] / total, 0.0, 1.0);
          }
        });

    InnerNode node;
    InnerShares shares(*graph_, prior);
    for (std::uint32_t id : inner) {
      control.check(true, "excluding each test", 0, inner.size());
      inner_node(id, node);
      const State& s = graph_->state(id);
      shares.load(s);
      double* r = ratio.data() + static_cast<std::size_t>(id) * n;
      std::fill(r, r + n, node.leaf);
      const auto splits = graph_->splits(s);
      for (std::size_t k = 0; k < splits.size(); ++k) {
        const double share = shares.share(splits[k], Plus::sum), unit = node.split[k];
        const double* r1 = ratio.data() + static_cast<std::size_t>(splits[k].child[1]) * n;
        const double* r0 = ratio.data() + static_cast<std::size_t>(splits[k].child[0]) * n;
        for (std::size_t t = 0; t < n; ++t) r[t] += unit * share * r1[t] * r0[t];
        for_each_target(graph_->parts(splits[k]),
                        [&](std::uint32_t t) { r[t] -= unit * shares.share(targets[from + t].test) * r1[t] * r0[t]; });
      }
      for (std::size_t t = 0; t < n; ++t) r[t] = std::clamp(r[t], 0.0, 1.0);
    }
    for (std::size_t b = 0; b < n; ++b) {
      const double p = 1.0 - ratio[b];
      if (prior.fair)
        out[targets[from + b].test] = p;
      else
        for (std::uint32_t member : classes[targets[from + b].cls].members) out[member >> 1] = p;
    }
  }
  return out;
}

}  // namespace everytree
