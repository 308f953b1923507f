// P(class | row), averaged over every tree, for a batch of rows.
//
// ρ(s, x) is the posterior probability that the path of row x passes through state s. It flows down the inner states
// level by level. At a closed state the row's contribution depends on x only through the outcomes of the two tests
// below, so for class c it is a quadratic form in y_k(x) = number of tests of class k that hold for x:
//     f_c(x) = const + Σ_k b_k y_k + Σ_{k<l} A_kl y_k y_l
// The matrix is built once per state and serves every row that reaches it.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "everytree/fold/posterior.hpp"
#include "everytree/fold/quadratic_form.hpp"
#include "everytree/fold/weigh.hpp"
#include "everytree/parallel.hpp"

namespace everytree {

namespace {

struct Edge {
  std::uint32_t parent, split;
  int side;
};

constexpr std::size_t kBytes = std::size_t{1} << 28;
constexpr std::size_t kParts =
    16;  // closed states are summed in 16 fixed parts: the same sums for any number of threads

}  // namespace

void Posterior::predict(const std::uint8_t* rows, std::size_t n_rows, double* out, Control& control) const {
  // Equal rows are asked once: a batch often holds many.
  const std::size_t n_tests = graph_->table().n_tests(), n_classes = graph_->table().n_classes();
  std::vector<std::uint32_t> order(n_rows), distinct(n_rows);
  std::iota(order.begin(), order.end(), 0u);
  const auto at = [&](std::uint32_t r) { return rows + static_cast<std::size_t>(r) * n_tests; };
  const auto compare = [&](std::uint32_t a, std::uint32_t b) {
    return n_tests == 0 ? 0 : std::memcmp(at(a), at(b), n_tests);
  };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const int c = compare(a, b);
    return c != 0 ? c < 0 : a < b;
  });
  std::vector<std::uint8_t> asked;
  std::size_t n_distinct = 0;
  for (std::size_t k = 0; k < n_rows; ++k) {
    if (k == 0 || compare(order[k - 1], order[k]) != 0) {
      asked.insert(asked.end(), at(order[k]), at(order[k]) + n_tests);
      ++n_distinct;
    }
    distinct[order[k]] = static_cast<std::uint32_t>(n_distinct - 1);
  }
  std::vector<double> answers(n_distinct * n_classes);
  predict_distinct(asked.data(), n_distinct, answers.data(), control);
  for (std::size_t r = 0; r < n_rows; ++r)
    std::copy_n(answers.data() + distinct[r] * n_classes, n_classes, out + r * n_classes);
}

void Posterior::predict_distinct(const std::uint8_t* rows, std::size_t n_rows, double* out, Control& control) const {
  const CountTable& table = graph_->table();
  const std::size_t n_classes = table.n_classes(), n_tests = table.n_tests();
  const Prior& prior = weights_.prior();
  const Dirichlet& leaf = weights_.leaf();
  std::fill(out, out + n_rows * n_classes, 0.0);
  if (n_rows == 0) return;

  const std::size_t n_asked = n_classes - 1;  // the last class is what remains of 1

  std::vector<std::uint32_t> first_slot;
  const std::vector<Slot> slots = make_slots(table, prior, first_slot);
  const std::size_t n_slots = slots.size(),
                    stride = (n_slots + 1 + 7) & ~std::size_t{7};  // and one column that is always 1

  // Inner states parents first, with their place in ρ; edges into closed states.
  std::vector<std::uint32_t> inner, closed, place(graph_->size(), 0);
  for (auto it = graph_->children_first().rbegin(); it != graph_->children_first().rend(); ++it) {
    if (graph_->state(*it).inner()) {
      place[*it] = static_cast<std::uint32_t>(inner.size());
      inner.push_back(*it);
    } else {
      place[*it] = static_cast<std::uint32_t>(closed.size());
      closed.push_back(*it);
    }
  }
  std::vector<std::uint32_t> edges_begin(closed.size() + 1, 0);
  for (std::uint32_t id : inner)
    for (const Split& split : graph_->splits(graph_->state(id)))
      for (std::uint32_t child : split.child)
        if (!graph_->state(child).inner()) ++edges_begin[place[child] + 1];
  for (std::size_t k = 0; k < closed.size(); ++k) edges_begin[k + 1] += edges_begin[k];
  std::vector<Edge> edges(edges_begin.back());
  {
    std::vector<std::uint32_t> at(edges_begin.begin(), edges_begin.end() - 1);
    for (std::uint32_t id : inner) {
      const auto splits = graph_->splits(graph_->state(id));
      for (std::uint32_t k = 0; k < splits.size(); ++k)
        for (int side = 0; side < 2; ++side)
          if (const std::uint32_t child = splits[k].child[side]; !graph_->state(child).inner())
            edges[at[place[child]]++] = {id, k, side};
    }
  }
  // Probability of one unit of share of every split of every inner state.
  std::vector<std::vector<double>> unit(inner.size());
  std::vector<double> leaf_probability(inner.size());
  for (std::size_t k = 0; k < inner.size(); ++k) {
    InnerNode node;
    inner_node(inner[k], node);
    leaf_probability[k] = node.leaf;
    unit[k] = std::move(node.split);
    if (prior.fair || !prior.per_test) continue;
    for (double& p : unit[k]) p /= graph_->state(inner[k]).n_tests;
  }

  const std::size_t batch = std::clamp<std::size_t>(kBytes / (8 * (inner.size() + 1)), 32, 4096);
  std::vector<OneLevelFold> folds = one_fold_per_thread(*graph_, n_threads_, control);

  for (std::size_t from = 0; from < n_rows; from += batch) {
    const std::size_t n = std::min(batch, n_rows - from);
    std::vector<double> y(n * stride, 0.0), by_slot(n_slots * n);
    for (std::size_t r = 0; r < n; ++r) {
      const std::uint8_t* row = rows + (from + r) * n_tests;
      for (std::size_t k = 0; k < n_slots; ++k) {
        double sum = 0;
        for (std::uint32_t member : slots[k].members) sum += (row[member >> 1] != 0) != static_cast<bool>(member & 1);
        y[r * stride + k] = sum;
        by_slot[k * n + r] = sum;
      }
      y[r * stride + n_slots] = 1.0;
    }
    // ρ of one child: add what comes over one edge.
    const auto flow = [&](const Split& split, int side, double unit_probability, const InnerShares& shares,
                          const double* parent, double* child) {
      for (std::uint32_t part : graph_->parts(split)) {
        for (std::uint32_t k = first_slot[part >> 1]; k < first_slot[(part >> 1) + 1]; ++k) {
          const bool flipped = (part & 1) ^ slots[k].flipped;
          const double p = prior.fair ? unit_probability * shares.share(slots[k].members[0] >> 1) : unit_probability;
          const double m = slots[k].multiplicity;
          const double* yk = by_slot.data() + k * n;
          if ((side == 1) != flipped)
            for (std::size_t r = 0; r < n; ++r) child[r] += parent[r] * p * yk[r];
          else
            for (std::size_t r = 0; r < n; ++r) child[r] += parent[r] * p * (m - yk[r]);
        }
      }
    };
    std::vector<double> rho(std::max<std::size_t>(1, inner.size()) * n, 0.0);
    InnerShares shares(*graph_, prior);
    std::vector<std::int32_t> counts(n_classes);
    if (!inner.empty())
      std::fill(rho.begin(), rho.begin() + static_cast<std::ptrdiff_t>(n), 1.0);  // the root comes first
    for (std::size_t k = 0; k < inner.size(); ++k) {
      control.check(true, "predicting", from, n_rows);
      const State& s = graph_->state(inner[k]);
      const double* here = rho.data() + k * n;
      table.class_counts(graph_->cover(inner[k]), counts.data());
      const auto depth = static_cast<std::size_t>(s.depth);
      for (std::size_t c = 0; c < n_classes; ++c) {
        const double theta = (counts[c] + leaf.a(depth, c)) / (s.total + leaf.sum_a(depth)) * leaf_probability[k];
        for (std::size_t r = 0; r < n; ++r) out[(from + r) * n_classes + c] += here[r] * theta;
      }
      if (prior.fair) shares.load(s);
      const auto splits = graph_->splits(s);
      for (std::size_t x = 0; x < splits.size(); ++x)
        for (int side = 0; side < 2; ++side)
          if (const std::uint32_t child = splits[x].child[side]; graph_->state(child).inner())
            flow(splits[x], side, unit[k][x], shares, here, rho.data() + place[child] * n);
    }

    std::vector<std::vector<double>> partial(kParts);
    for_each_parallel(kParts, n_threads_, control, "predicting", [&](std::size_t part, std::size_t worker) {
      std::vector<double>& sum = partial[part];
      sum.assign(n * n_classes, 0.0);
      OneLevelFold& fold = folds[worker];
      OneLevel level;
      InnerShares edge_shares(*graph_, prior);
      std::vector<double> here(n), value(n), weight;
      std::vector<std::uint32_t> active;
      std::vector<std::int32_t> q(n_classes);
      QuadraticForm form;
      for (std::size_t k = closed.size() * part / kParts; k < closed.size() * (part + 1) / kParts; ++k) {
        const std::uint32_t id = closed[k];
        const State& s = graph_->state(id);
        const auto depth = static_cast<std::size_t>(s.depth);
        std::fill(here.begin(), here.end(), inner.empty() ? 1.0 : 0.0);
        for (std::uint32_t e = edges_begin[k]; e < edges_begin[k + 1]; ++e) {
          const State& parent = graph_->state(edges[e].parent);
          if (prior.fair) edge_shares.load(parent);
          flow(graph_->splits(parent)[edges[e].split], edges[e].side, unit[place[edges[e].parent]][edges[e].split],
               edge_shares, rho.data() + place[edges[e].parent] * n, here.data());
        }
        active.clear();
        weight.clear();
        for (std::uint32_t r = 0; r < n; ++r)
          if (here[r] > 0) {
            active.push_back(r);
            weight.push_back(here[r]);
          }
        if (active.empty()) continue;
        if ((k & 15) == 0) control.check(worker == 0, "predicting", from, n_rows);
        fold.product(id, weights_, Plus::sum, level);
        if (level.n == 0) {
          table.class_counts(graph_->cover(id), q.data());
          for (std::size_t c = 0; c < n_classes; ++c) {
            const double p = (q[c] + leaf.a(depth, c)) / (s.total + leaf.sum_a(depth));
            for (std::size_t r = 0; r < active.size(); ++r) sum[active[r] * n_classes + c] += weight[r] * p;
          }
          continue;
        }
        form.build(fold, weights_, level, slots, first_slot, stride, n_asked);
        std::vector<double>& rest = weight;
        for (std::size_t c = 0; c < n_asked; ++c) {
          fold.frontier().kernel().quadratic(form.matrix(c), stride, n_slots + 1, y.data(), stride, active.data(),
                                             active.size(), value.data());
          for (std::size_t r = 0; r < active.size(); ++r) {
            const double p = here[active[r]] * value[r];
            sum[active[r] * n_classes + c] += p;
            rest[r] -= p;
          }
        }
        for (std::size_t r = 0; r < active.size(); ++r) sum[active[r] * n_classes + n_asked] += rest[r];
      }
    });
    for (const auto& sum : partial)
      for (std::size_t k = 0; k < sum.size(); ++k) out[from * n_classes + k] += sum[k];
  }
}

}  // namespace everytree
