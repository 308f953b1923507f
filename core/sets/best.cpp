#include "sets/best.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "common/infinity.hpp"

namespace everytree {

namespace {
void improve(Best& best, double score, double leaves) {
  if (score < best.score && !tied(score, best.score))
    best = {score, leaves};
  else if (tied(score, best.score) && leaves < best.leaves)
    best = {std::min(score, best.score), leaves};
}
}  // namespace

TreeFinder::TreeFinder(const Graph& graph, const Scores& scores, std::vector<Best> best, Control& control)
    : graph_(&graph), scores_(&scores), best_(std::move(best)), control_(&control), fold_(graph) {
  fold_.watch(control, true);
}

std::uint32_t TreeFinder::node_of_state(std::uint32_t state) {
  const auto [it, fresh] = node_of_.try_emplace(state, static_cast<std::uint32_t>(nodes_.size()));
  if (fresh) {
    auto node = std::make_unique<Node>();
    node->state = state;
    node->best = best_[state];
    nodes_.push_back(std::move(node));
  }
  return it->second;
}

std::size_t TreeFinder::bytes() const {
  constexpr std::size_t kBeside = 96;  // of a node: its pointer, its place in the map, and what the allocator adds
  return graph_->bytes() + best_.size() * sizeof(Best) + option_bytes_ + nodes_.size() * (sizeof(Node) + kBeside);
}

void TreeFinder::expand(std::uint32_t id) {
  Node& node = *nodes_[id];
  if (node.expanded) return;
  node.expanded = true;
  control_->check(true, "writing trees", nodes_.size(), nodes_.size());
  // Before they are there: an option for each test at most, in a vector that doubles, and under a closed state two
  // nodes.
  control_->check_memory(bytes() + graph_->table().n_tests() * (2 * sizeof(Option) + 2 * sizeof(Node)));
  if (node.group != kNone)
    expand_child(node);
  else if (graph_->state(node.state).inner())
    expand_inner(node);
  else
    expand_closed(node);
  std::stable_sort(node.options.begin(), node.options.end(),
                   [](const Option& a, const Option& b) { return a.test < b.test; });
  option_bytes_ += node.options.capacity() * sizeof(Option);
}

void TreeFinder::expand_inner(Node& node) {
  const State& s = graph_->state(node.state);
  const auto depth = static_cast<std::size_t>(s.depth);
  const CountTable& table = graph_->table();
  std::vector<std::int32_t> counts(table.n_classes());
  table.class_counts(graph_->cover(node.state), counts.data());
  node.options.push_back({scores_->leaf(counts.data(), depth, s.n_tests > 0), -1, kNone, kNone});
  shares_.begin(scores_->prior());
  for (const Split& split : graph_->splits(s)) shares_.add(table, graph_->parts(split));
  for (const Split& split : graph_->splits(s)) {
    const std::uint32_t c1 = node_of_state(split.child[1]), c0 = node_of_state(split.child[0]);
    table.for_each_test(graph_->parts(split), [&](std::uint32_t test, bool flipped) {
      node.options.push_back({scores_->split(depth, shares_.share(test)), static_cast<std::int32_t>(test),
                              flipped ? c0 : c1, flipped ? c1 : c0});
    });
  }
}

void TreeFinder::expand_closed(Node& node) {
  const State& s = graph_->state(node.state);
  const auto depth = static_cast<std::size_t>(s.depth);
  const std::size_t n_classes = graph_->table().n_classes();
  std::vector<std::int32_t> counts(n_classes), other(n_classes);
  if (s.levels == 0) {
    graph_->table().class_counts(graph_->cover(node.state), counts.data());
    node.options.push_back({scores_->leaf(counts.data(), depth, false), -1, kNone, kNone});
    return;
  }
  fold_.load_state(node.state);
  loaded_ = node.state;
  const Frontier& f = fold_.frontier();
  const std::size_t n = f.n_groups();
  node.options.push_back({scores_->leaf(f.totals(), depth, n > 0), -1, kNone, kNone});
  std::vector<double> state_shares, share(f.stride());
  std::vector<std::uint32_t> child(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    control_->check(true, "writing trees", 0, 0);
    if (s.levels == 2) fold_.load_pairs(i);
    for (int a = 0; a < 2; ++a) {
      double tests = 0;
      Best best{kInf, kInf};
      if (s.levels == 2) {
        fold_.child_shares<MaxProduct>(scores_->prior(), a, share.data(), tests);
        for (std::size_t j = 0; j < n; ++j) {
          if (!(share[j] > 0)) continue;
          fold_.quadrant(j, a, 1, counts.data());
          fold_.quadrant(j, a, 0, other.data());
          improve(best,
                  scores_->split(depth + 1, share[j]) + scores_->leaf(counts.data(), depth + 2, false) +
                      scores_->leaf(other.data(), depth + 2, false),
                  2);
        }
      }
      for (std::size_t c = 0; c < n_classes; ++c) counts[c] = a == 1 ? f.count(c, i) : f.totals()[c] - f.count(c, i);
      const double leaf = scores_->leaf(counts.data(), depth + 1, tests > 0);
      child[2 * i + static_cast<std::size_t>(a)] = static_cast<std::uint32_t>(nodes_.size());
      auto made = std::make_unique<Node>();
      made->state = node.state;
      made->group = static_cast<std::uint32_t>(i);
      made->side = a;
      made->one = leaf;
      made->two = best.score;
      improve(best, leaf, 1);
      made->best = best;
      nodes_.push_back(std::move(made));
    }
  }
  shares_.begin(scores_->prior());
  for (std::size_t i = 0; i < n; ++i) shares_.add(f.table(), f.parts(i));
  for (std::size_t i = 0; i < n; ++i)
    f.table().for_each_test(f.parts(i), [&](std::uint32_t test, bool flipped) {
      node.options.push_back({scores_->split(depth, shares_.share(test)), static_cast<std::int32_t>(test),
                              child[2 * i + (flipped ? 0 : 1)], child[2 * i + (flipped ? 1 : 0)]});
    });
}

void TreeFinder::expand_child(Node& node) {
  const State& s = graph_->state(node.state);
  const auto depth = static_cast<std::size_t>(s.depth) + 1;
  const std::size_t n_classes = graph_->table().n_classes();
  if (loaded_ != node.state) {
    fold_.load_state(node.state);
    loaded_ = node.state;
  }
  const Frontier& f = fold_.frontier();
  const std::size_t n = f.n_groups(), i = node.group;
  const int a = node.side;
  std::vector<std::int32_t> counts(n_classes), other(n_classes);
  std::vector<double> leaf_pair(n, kInf);
  bool open = false;
  if (s.levels == 2) {
    fold_.load_pairs(i);
    shares_.begin(scores_->prior());
    for (std::size_t j = 0; j < n; ++j) {
      if (j == i || !fold_.feasible(j, a)) continue;
      open = true;
      fold_.quadrant(j, a, 1, counts.data());
      fold_.quadrant(j, a, 0, other.data());
      leaf_pair[j] = scores_->leaf(counts.data(), depth + 1, false) + scores_->leaf(other.data(), depth + 1, false);
      shares_.add(f.table(), f.parts(j));
    }
  }
  for (std::size_t c = 0; c < n_classes; ++c) counts[c] = a == 1 ? f.count(c, i) : f.totals()[c] - f.count(c, i);
  node.options.push_back({scores_->leaf(counts.data(), depth, open), -1, kNone, kNone});
  if (!open) return;
  for (std::size_t j = 0; j < n; ++j) {
    if (leaf_pair[j] == kInf) continue;
    f.table().for_each_test(f.parts(j), [&](std::uint32_t test, bool) {
      node.options.push_back(
          {scores_->split(depth, shares_.share(test)) + leaf_pair[j], static_cast<std::int32_t>(test), kNone, kNone});
    });
  }
}

// --- the best tree ---

Key TreeFinder::best_tree() {
  Key key;
  write_best(node_of_state(0), key);
  return key;
}

void TreeFinder::write_best(std::uint32_t id, Key& key) {
  expand(id);
  // Options are sorted by test, the leaf first: the first one that reaches the best score and size wins.
  const Node& node = *nodes_[id];
  const Option* chosen = nullptr;
  double least = kInf;
  for (const Option& o : node.options) {
    double score = o.weight, leaves = o.test < 0 ? 1 : 2;
    if (o.child1 != kNone) {
      const Best &b1 = nodes_[o.child1]->best, &b0 = nodes_[o.child0]->best;
      score += b1.score + b0.score;
      leaves = b1.leaves + b0.leaves;
    }
    if (tied(score, node.best.score) && leaves == node.best.leaves) {
      chosen = &o;
      break;
    }
    if (score < least) {  // rounding left no exact match: take the least
      least = score;
      chosen = &o;
    }
  }
  if (chosen == nullptr) throw InvalidInput("every tree has an infinite or undefined score");
  key.push_back(chosen->test);
  if (chosen->test < 0) return;
  if (chosen->child1 == kNone) {
    key.push_back(-1);
    key.push_back(-1);
    return;
  }
  const std::uint32_t c1 = chosen->child1, c0 = chosen->child0;
  write_best(c0, key);
  write_best(c1, key);
}

// --- the k best, lazily ---

Key TreeFinder::kth_tree(std::size_t k, double& score) {
  const std::uint32_t root = node_of_state(0);
  if (!open(root, k)) return {};
  score = nodes_[root]->results[k].score;
  Key key;
  write_kth(root, k, key);
  return key;
}

std::vector<Ranked> TreeFinder::first(std::size_t k) {
  std::vector<Ranked> out;
  std::size_t written = 0;
  while (out.size() < k) {
    double score = 0;
    Key key = kth_tree(out.size(), score);
    if (key.empty()) break;
    control_->check(true, "writing trees", out.size(), k);
    written += 64 + 4 * key.size();
    control_->check_memory(bytes() + written);
    out.push_back({score, std::move(key)});
  }
  return out;
}

Best TreeFinder::score_of(std::uint32_t id, std::size_t k) {
  if (k == 0) return nodes_[id]->best;  // known from the fold, without opening the node
  if (!open(id, k)) return {kInf, kInf};
  return {nodes_[id]->results[k].score, nodes_[id]->results[k].leaves};
}

bool TreeFinder::open(std::uint32_t id, std::size_t k) {
  Node& node = *nodes_[id];
  if (node.results.size() > k) return true;
  if (!node.opened) {
    expand(id);
    node.opened = true;
    option_bytes_ += node.options.size() * 2 * sizeof(Result);  // vectors hold up to twice their size
    control_->check_memory(bytes());
    for (std::uint32_t o = 0; o < node.options.size(); ++o) {
      const Option& option = node.options[o];
      double score = option.weight, leaves = option.test < 0 ? 1 : 2;
      if (option.child1 != kNone) {
        const Best &b1 = nodes_[option.child1]->best, &b0 = nodes_[option.child0]->best;
        score += b1.score + b0.score;
        leaves = b1.leaves + b0.leaves;
      }
      if (score < kInf) node.heap.push({score, leaves, o, 0, 0});
    }
  }
  while (node.results.size() <= k && !node.heap.empty()) {
    const Result r = node.heap.top();
    node.heap.pop();
    node.results.push_back(r);
    option_bytes_ += 2 * sizeof(Result);
    const Option option = node.options[r.option];
    if (option.child1 == kNone) continue;
    // Each pair of ranks is reached once: along rank0 from (rank1, 0), and along rank1 while rank0 is 0.
    const auto push = [&](std::uint32_t rank1, std::uint32_t rank0) {
      const Best b1 = score_of(option.child1, rank1);
      if (!(b1.score < kInf)) return;
      const Best b0 = score_of(option.child0, rank0);
      if (b0.score < kInf)
        nodes_[id]->heap.push({option.weight + b1.score + b0.score, b1.leaves + b0.leaves, r.option, rank1, rank0});
    };
    push(r.rank1, r.rank0 + 1);
    if (r.rank0 == 0) push(r.rank1 + 1, 0);
  }
  return node.results.size() > k;
}

void TreeFinder::write_kth(std::uint32_t id, std::size_t k, Key& key) {
  open(id, k);
  const Result r = nodes_[id]->results[k];
  const Option o = nodes_[id]->options[r.option];
  key.push_back(o.test);
  if (o.test < 0) return;
  if (o.child1 == kNone) {
    key.push_back(-1);
    key.push_back(-1);
    return;
  }
  write_kth(o.child0, r.rank0, key);
  write_kth(o.child1, r.rank1, key);
}

// --- the best tree of a given size ---

Key TreeFinder::best_with_leaves(const std::vector<std::vector<double>>& by_leaves, std::size_t leaves) {
  if (leaves == 0 || leaves > by_leaves[0].size() || !(by_leaves[0][leaves - 1] < kInf))
    throw InvalidInput("no tree has " + std::to_string(leaves) + " leaves");
  Key key;
  write_leaves(node_of_state(0), leaves, by_leaves, key);
  return key;
}

// Of the nodes under a closed state what expand_closed knows of them: to write out their options takes as much memory
// as the square of the number of tests (432 MB with 3,000 of them).
double TreeFinder::least(std::uint32_t id, std::size_t leaves,
                         const std::vector<std::vector<double>>& by_leaves) const {
  const Node& node = *nodes_[id];
  if (node.group != kNone) return leaves == 1 ? node.one : leaves == 2 ? node.two : kInf;
  const auto& v = by_leaves[node.state];
  return leaves <= v.size() ? v[leaves - 1] : kInf;
}

std::size_t TreeFinder::most_leaves(std::uint32_t id, const std::vector<std::vector<double>>& by_leaves) const {
  return nodes_[id]->group == kNone ? by_leaves[nodes_[id]->state].size() : 2;
}

void TreeFinder::write_leaves(std::uint32_t id, std::size_t leaves, const std::vector<std::vector<double>>& by_leaves,
                              Key& key) {
  expand(id);
  const double target = least(id, leaves, by_leaves);
  const std::vector<Option> options = nodes_[id]->options;
  for (const Option& o : options) {
    if (o.child1 == kNone) {
      if ((o.test < 0 ? 1u : 2u) != leaves || !tied(o.weight, target)) continue;
      key.push_back(o.test);
      if (o.test >= 0) key.insert(key.end(), 2, -1);
      return;
    }
    const std::size_t most = std::min(most_leaves(o.child0, by_leaves), leaves - 1);
    for (std::size_t n0 = 1; n0 <= most; ++n0) {
      const double s = o.weight + least(o.child0, n0, by_leaves) + least(o.child1, leaves - n0, by_leaves);
      if (!(s < kInf) || !tied(s, target)) continue;
      key.push_back(o.test);
      write_leaves(o.child0, n0, by_leaves, key);
      write_leaves(o.child1, leaves - n0, by_leaves, key);
      return;
    }
  }
  throw std::logic_error("no tree of the size that the fold found");
}

}  // namespace everytree
