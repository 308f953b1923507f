// P(class | row), averaged over every tree, for a batch of rows.
//
// ρ(s, x) is the posterior probability that the path of row x passes through state s. It flows down the inner states
// level by level. At a closed state the row's contribution depends on x only through the outcomes of the two tests
// below, so for class c it is a quadratic form in y_k(x) = number of tests of class k that hold for x:
//     f_c(x) = const + Σ_k b_k y_k + Σ_{k<l} A_kl y_k y_l
// The matrix is built once per state and serves every row that reaches it.
#include <algorithm>
#include <cstring>

#include "everytree/fold/posterior.hpp"
#include "everytree/fold/weigh.hpp"
#include "everytree/parallel.hpp"

namespace everytree {

namespace {

// What a row is asked at: a class of tests, or a single test where shares differ by attribute.
struct Slot {
  std::uint32_t cls;
  std::uint32_t flipped;  // against the column of the class
  double multiplicity;
  std::vector<std::uint32_t> members;  // test << 1 | flipped against the slot
};

struct Edge {
  std::uint32_t parent, split;
  int side;
};

constexpr std::size_t kBytes = std::size_t{1} << 28;
constexpr std::size_t kParts = 16;  // closed states are summed in 16 fixed parts: the same sums for any number of threads

}  // namespace

void Posterior::predict(const std::uint8_t* rows, std::size_t n_rows, double* out, Control& control) const {
  const CountTable& table = graph_->table();
  const auto& classes = table.test_classes();
  const std::size_t n_classes = table.n_classes(), n_tests = table.n_tests();
  const Prior& prior = weights_.prior();
  const Dirichlet& leaf = weights_.leaf();
  std::fill(out, out + n_rows * n_classes, 0.0);
  if (n_rows == 0) return;

  std::vector<Slot> slots;
  std::vector<std::uint32_t> first_slot(classes.size() + 1, 0);
  for (std::uint32_t k = 0; k < classes.size(); ++k) {
    first_slot[k] = static_cast<std::uint32_t>(slots.size());
    if (prior.fair)
      for (std::uint32_t member : classes[k].members) slots.push_back({k, member & 1, 1.0, {member & ~1u}});
    else
      slots.push_back({k, 0, static_cast<double>(classes[k].members.size()), classes[k].members});
  }
  first_slot[classes.size()] = static_cast<std::uint32_t>(slots.size());
  const std::size_t n_slots = slots.size(), stride = std::max<std::size_t>(8, (n_slots + 7) & ~std::size_t{7});

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
          if (const std::uint32_t child = splits[k].child[side]; !graph_->state(child).inner()) edges[at[place[child]]++] = {id, k, side};
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
  }

  const std::size_t batch = std::clamp<std::size_t>(kBytes / (8 * (inner.size() + 1)), 32, 4096);
  std::vector<OneLevelFold> folds;
  for (std::size_t k = 0; k < std::max<std::size_t>(1, n_threads_); ++k) folds.emplace_back(*graph_);

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
    }
    // ρ of one child: add what comes over one edge.
    const auto flow = [&](const State& s, const Split& split, int side, double unit_probability, const InnerShares& shares,
                          const double* parent, double* child) {
      (void)s;
      for (std::uint32_t part : graph_->parts(split)) {
        for (std::uint32_t k = first_slot[part >> 1]; k < first_slot[(part >> 1) + 1]; ++k) {
          const bool flipped = (part & 1) ^ slots[k].flipped;
          const double p = unit_probability * shares.share(slots[k].members[0] >> 1), m = slots[k].multiplicity;
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
    if (!inner.empty()) std::fill(rho.begin(), rho.begin() + static_cast<std::ptrdiff_t>(n), 1.0);  // the root comes first
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
      shares.load(s);
      const auto splits = graph_->splits(s);
      for (std::size_t x = 0; x < splits.size(); ++x)
        for (int side = 0; side < 2; ++side)
          if (const std::uint32_t child = splits[x].child[side]; graph_->state(child).inner())
            flow(s, splits[x], side, unit[k][x], shares, here, rho.data() + place[child] * n);
    }

    std::vector<std::vector<double>> partial(kParts);
    for_each_parallel(kParts, n_threads_, control, "predicting", [&](std::size_t part, std::size_t worker) {
      std::vector<double>& sum = partial[part];
      sum.assign(n * n_classes, 0.0);
      OneLevelFold& fold = folds[worker];
      OneLevel level;
      InnerShares edge_shares(*graph_, prior);
      std::uint32_t shares_of = 0xffffffffu;
      std::vector<double> here(n), a, b, constant(n_classes), value(n), weight;
      std::vector<double> theta, term1, term0, coefficient;
      std::vector<std::uint32_t> active;
      std::vector<std::int32_t> q(n_classes);
      Shares node_shares;
      for (std::size_t k = closed.size() * part / kParts; k < closed.size() * (part + 1) / kParts; ++k) {
        const std::uint32_t id = closed[k];
        const State& s = graph_->state(id);
        const auto depth = static_cast<std::size_t>(s.depth);
        std::fill(here.begin(), here.end(), inner.empty() ? 1.0 : 0.0);
        for (std::uint32_t e = edges_begin[k]; e < edges_begin[k + 1]; ++e) {
          const State& parent = graph_->state(edges[e].parent);
          if (prior.fair || shares_of != edges[e].parent) {
            edge_shares.load(parent);
            shares_of = edges[e].parent;
          }
          flow(parent, graph_->splits(parent)[edges[e].split], edges[e].side, unit[place[edges[e].parent]][edges[e].split], edge_shares,
               rho.data() + place[edges[e].parent] * n, here.data());
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
        const Frontier& f = fold.frontier();
        const std::size_t groups = level.n;
        double total = level.state_leaf;
        for (std::size_t i = 0; i < groups; ++i)
          total += level.weight[i] * (level.leaf[1][i] + level.split[1][i]) * (level.leaf[0][i] + level.split[0][i]);

        // Slots of each group, and the weight of one unit of each slot at the state.
        struct Part {
          std::uint32_t slot, flipped;
          double unit, m;
        };
        std::vector<std::vector<Part>> parts(groups);
        node_shares.begin(prior);
        for (std::size_t i = 0; i < groups; ++i)
          for (const std::uint32_t* p = f.parts_begin(i); p != f.parts_end(i); ++p)
            for (std::uint32_t member : classes[*p >> 1].members) node_shares.add(member >> 1);
        for (std::size_t i = 0; i < groups; ++i) {
          double mass = 0;
          for (const std::uint32_t* p = f.parts_begin(i); p != f.parts_end(i); ++p)
            for (std::uint32_t x = first_slot[*p >> 1]; x < first_slot[(*p >> 1) + 1]; ++x) {
              const double share = node_shares.share(slots[x].members[0] >> 1);
              mass += share * slots[x].multiplicity;
              parts[i].push_back({x, (*p & 1) ^ slots[x].flipped, share, slots[x].multiplicity});
            }
          for (Part& p : parts[i]) p.unit *= level.weight[i] / (mass * total);
        }

        const std::size_t n_free = n_classes - 1;  // the last class is what remains
        a.assign(n_free * n_slots * stride, 0.0);
        b.assign(n_free * n_slots, 0.0);
        for (std::size_t c = 0; c < n_free; ++c)
          constant[c] = level.state_leaf / total * (f.totals()[c] + leaf.a(depth, c)) / (f.total() + leaf.sum_a(depth));
        term1.resize(f.stride());
        term0.resize(f.stride());
        double* const term[2] = {term0.data(), term1.data()};
        for (std::size_t i = 0; i < groups; ++i) {
          fold.terms(weights_, level, i, term);
          fold.load_pairs(i);
          const double full[2] = {level.leaf[0][i] + level.split[0][i], level.leaf[1][i] + level.split[1][i]};
          // linear[c][a]: the child as a leaf; coefficient of slot q at child a with outcome b follows below.
          for (int side = 0; side < 2; ++side) {
            const double other = full[1 - side];
            const std::int32_t total_side = side == 1 ? f.total(i) : f.total() - f.total(i);
            for (std::size_t c = 0; c < n_free; ++c) {
              const std::int32_t n_c = side == 1 ? f.count(c, i) : f.totals()[c] - f.count(c, i);
              const double as_leaf = other * level.leaf[side][i] * (n_c + leaf.a(depth + 1, c)) / (total_side + leaf.sum_a(depth + 1));
              // A row at part p takes side `side` y_p times if (side == 1) != flipped, else m − y_p times.
              for (const Part& p : parts[i]) {
                const double w = p.unit * as_leaf;
                if ((side == 1) != static_cast<bool>(p.flipped)) {
                  b[c * n_slots + p.slot] += w;
                } else {
                  constant[c] += w * p.m;
                  b[c * n_slots + p.slot] -= w;
                }
              }
            }
            if (!(level.tests[side][i] > 0)) continue;
            if (prior.fair) {
              node_shares.begin(prior);
              for (std::size_t j = 0; j < groups; ++j)
                if (term[side][j] > 0)
                  for (const Part& p : parts[j]) node_shares.add(slots[p.slot].members[0] >> 1);
            }
            for (std::size_t j = 0; j < groups; ++j) {
              if (!(term[side][j] > 0)) continue;
              double mass = f.multiplicity(j);
              if (prior.fair) {
                mass = 0;
                for (const Part& p : parts[j]) mass += node_shares.share(slots[p.slot].members[0] >> 1);
              }
              for (int outcome = 0; outcome < 2; ++outcome) {
                fold.quadrant(j, side, outcome, q.data());
                const std::int32_t n_q = fold.quadrant_total(j, side, outcome);
                for (std::size_t c = 0; c < n_free; ++c) {
                  const double pair = other * term[side][j] / mass * (q[c] + leaf.a(depth + 2, c)) / (n_q + leaf.sum_a(depth + 2));
                  for (const Part& p : parts[i])
                    for (const Part& second : parts[j]) {
                      double w = p.unit * pair;
                      if (prior.fair) w *= node_shares.share(slots[second.slot].members[0] >> 1);
                      // (±y_p + [m_p]) (±y_q + [m_q])
                      const bool plus_p = (side == 1) != static_cast<bool>(p.flipped), plus_q = (outcome == 1) != static_cast<bool>(second.flipped);
                      const std::size_t lo = std::min(p.slot, second.slot), hi = std::max(p.slot, second.slot);
                      a[(c * n_slots + lo) * stride + hi] += plus_p == plus_q ? w : -w;
                      if (!plus_p) b[c * n_slots + second.slot] += plus_q ? w * p.m : -w * p.m;
                      if (!plus_q) b[c * n_slots + p.slot] += plus_p ? w * second.m : -w * second.m;
                      if (!plus_p && !plus_q) constant[c] += w * p.m * second.m;
                    }
                }
              }
            }
          }
        }
        std::vector<double> rest(weight);
        for (std::size_t c = 0; c < n_free; ++c) {
          fold.frontier().kernel().quadratic(a.data() + c * n_slots * stride, stride, n_slots, y.data(), stride, active.data(), active.size(), value.data());
          for (std::size_t r = 0; r < active.size(); ++r) {
            const double* yr = y.data() + active[r] * stride;
            double p = value[r] + constant[c];
            for (std::size_t x = 0; x < n_slots; ++x) p += b[c * n_slots + x] * yr[x];
            p *= weight[r];
            sum[active[r] * n_classes + c] += p;
            rest[r] -= p;
          }
        }
        for (std::size_t r = 0; r < active.size(); ++r) sum[active[r] * n_classes + n_free] += rest[r];
      }
    });
    for (const auto& sum : partial)
      for (std::size_t k = 0; k < sum.size(); ++k) out[from * n_classes + k] += sum[k];
  }
}

}  // namespace everytree
