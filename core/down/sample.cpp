// Exact, independent draws from the posterior: a random walk down from the root. All draws that pass through a state
// are served together, so each closed state is packed once.
#include <map>
#include <span>

#include "common/stream.hpp"
#include "down/posterior.hpp"
#include "fold/weigh.hpp"

namespace everytree {

namespace {

struct DrawnNode {
  std::int32_t test = -1;
  std::uint32_t child[2] = {0, 0};
};

// Index k with probability proportional to weight(k), k < n.
template <class F>
std::size_t pick(Stream& random, std::size_t n, double total, F&& weight) {
  double x = random.uniform() * total;
  std::size_t last = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const double w = weight(k);
    if (w <= 0) continue;
    last = k;
    x -= w;
    if (x < 0) return k;
  }
  return last;  // rounding may leave a little over: it goes to the option of the highest number
}

void write(const std::vector<DrawnNode>& nodes, std::uint32_t at, Key& key) {
  std::vector<std::uint32_t> stack{at};
  while (!stack.empty()) {
    const DrawnNode& node = nodes[stack.back()];
    stack.pop_back();
    key.push_back(node.test);
    if (node.test < 0) continue;
    stack.push_back(node.child[1]);
    stack.push_back(node.child[0]);
  }
}

}  // namespace

std::vector<Key> Posterior::sample(std::size_t first_draw, std::size_t n, std::uint64_t seed, Control& control) const {
  struct Request {
    std::uint32_t draw, node;
  };
  std::vector<Stream> random;
  random.reserve(n);
  for (std::size_t k = 0; k < n; ++k) random.emplace_back(seed, first_draw + k);
  std::vector<std::vector<DrawnNode>> trees(n, std::vector<DrawnNode>(1));
  // Parents first, closed states last. The rank in that order sorts the waiting states.
  const auto& order = graph_->children_first();
  std::vector<std::uint32_t> rank(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) rank[order[k]] = static_cast<std::uint32_t>(order.size() - 1 - k);
  std::map<std::uint32_t, std::vector<Request>> waiting;
  for (std::uint32_t k = 0; k < n; ++k) waiting[rank[0]].push_back({k, 0});
  InnerNode inner;
  InnerShares inner_shares(*graph_, weights_.prior());
  OneLevelFold fold(*graph_);
  fold.watch(control, true);
  OneLevel level;
  Shares shares;
  // One of the tests of a split, by its share: test << 1 | flipped against the split.
  std::vector<std::uint32_t> members;
  const auto pick_test = [&](Stream& stream, std::span<const std::uint32_t> parts, const auto& among) {
    members.clear();
    double mass = 0;
    graph_->table().for_each_test(parts, [&](std::uint32_t test, bool flipped) {
      members.push_back(test << 1 | static_cast<std::uint32_t>(flipped));
      mass += among.share(test);
    });
    return members[pick(stream, members.size(), mass, [&](std::size_t x) { return among.share(members[x] >> 1); })];
  };
  const auto grow = [&](const Request& r, std::uint32_t test) {
    auto& nodes = trees[r.draw];
    const auto first = static_cast<std::uint32_t>(nodes.size());
    nodes.resize(nodes.size() + 2);
    nodes[r.node].test = static_cast<std::int32_t>(test);
    nodes[r.node].child[0] = first;
    nodes[r.node].child[1] = first + 1;
    return first;
  };
  while (!waiting.empty()) {
    const auto it = waiting.begin();
    const std::uint32_t id = order[order.size() - 1 - it->first];
    const std::vector<Request> requests = std::move(it->second);
    waiting.erase(it);
    control.check(true, "drawing trees", 0, n);
    const State& s = graph_->state(id);
    if (s.inner()) {
      inner_node(id, inner);
      inner_shares.load(s);
      const auto splits = graph_->splits(s);
      std::vector<double> weight(splits.size() + 1);
      double total = weight[0] = inner.leaf;
      for (std::size_t k = 0; k < splits.size(); ++k)
        total += weight[k + 1] = inner.split[k] * inner_shares.share<SumProduct>(splits[k]);
      for (const Request& r : requests) {
        const std::size_t k = pick(random[r.draw], weight.size(), total, [&](std::size_t x) { return weight[x]; });
        if (k == 0) continue;
        const Split& split = splits[k - 1];
        const std::uint32_t member = pick_test(random[r.draw], graph_->parts(split), inner_shares);
        const std::uint32_t first = grow(r, member >> 1);
        for (std::uint32_t side = 0; side < 2; ++side)
          waiting[rank[split.child[side ^ (member & 1)]]].push_back({r.draw, first + side});
      }
      continue;
    }
    if (s.levels == 0) continue;
    fold.product<SumProduct>(id, weights_, level);
    const Frontier& f = fold.frontier();
    const std::size_t groups = level.n;
    if (groups == 0) continue;
    std::vector<double> weight(groups + 1), term1(f.stride()), term0(f.stride());
    double total = weight[0] = level.state_leaf;
    for (std::size_t g = 0; g < groups; ++g)
      total += weight[g + 1] =
          level.weight[g] * (level.leaf[1][g] + level.split[1][g]) * (level.leaf[0][g] + level.split[0][g]);
    // First the tests of the state itself, for all draws; then their children, split by split.
    std::map<std::size_t, std::vector<std::pair<Request, int>>> children;  // group -> (node, side)
    shares.begin(weights_.prior());
    for (std::size_t g = 0; g < groups; ++g) shares.add(f.table(), f.parts(g));
    for (const Request& r : requests) {
      const std::size_t k = pick(random[r.draw], weight.size(), total, [&](std::size_t x) { return weight[x]; });
      if (k == 0) continue;
      const std::uint32_t member = pick_test(random[r.draw], f.parts(k - 1), shares);
      const std::uint32_t first = grow(r, member >> 1);
      for (std::uint32_t side = 0; side < 2; ++side)
        children[k - 1].push_back({{r.draw, first + side}, static_cast<int>(side ^ (member & 1))});
    }
    double* const term[2] = {term0.data(), term1.data()};
    for (const auto& [i, nodes] : children) {
      fold.terms(weights_, level, i, term);
      fold.load_pairs(i);
      for (int a = 0; a < 2; ++a) {
        if (!(level.tests[a][i] > 0)) continue;
        shares.begin(weights_.prior());
        for (std::size_t j = 0; j < groups; ++j) {
          if (j == i || !fold.feasible(j, a)) continue;
          shares.add(f.table(), f.parts(j));
        }
        for (const auto& [r, side] : nodes) {
          if (side != a) continue;
          Stream& x = random[r.draw];
          if (x.uniform() * (level.leaf[a][i] + level.split[a][i]) < level.leaf[a][i]) continue;
          const std::size_t j = pick(x, groups, level.split[a][i], [&](std::size_t y) { return term[a][y]; });
          grow(r, pick_test(x, f.parts(j), shares) >> 1);
        }
      }
    }
  }
  std::vector<Key> keys(n);
  for (std::size_t k = 0; k < n; ++k) write(trees[k], 0, keys[k]);
  return keys;
}

}  // namespace everytree
