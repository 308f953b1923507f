#include "sets/near_set.hpp"

#include <algorithm>

namespace everytree {

namespace {

constexpr std::int32_t kNever = LeastErrors::kNever;
constexpr std::uint32_t kNone = 0xffffffffu;

}  // namespace

NearSet::NearSet(const Graph& graph, const LeastErrors& least, const std::vector<std::int32_t>& limits,
                 Control& control)
    : graph_(&graph), leaves_(graph.table().n_classes()), control_(&control), held_(graph.bytes() + least.bytes()) {
  // Tests that stand alone are most of the test sets: number 2 · test + flipped, once for all nodes. Where states
  // choose their tests, one for each upper is made when it is met.
  for (std::uint32_t t = 0; !graph.table().local() && t < 2 * graph.table().n_tests(); ++t) {
    tests_.push_back(t);
    tests_begin_.push_back(t + 1);
  }
  keep_states(least, limits, control);
  Frontier frontier(graph.table(), graph.options().min_leaf);
  const std::size_t n = nodes_.size();
  for (std::uint32_t v = 0; v < n; ++v) {
    control.check(true, "keeping the near-best trees", v, n);
    if ((v & 15) == 0) check_size(control);
    const std::uint32_t state = state_of_[v];
    if (graph.state(state).inner())
      add_inner(v, state, least);
    else
      add_closed(v, state, frontier, control);
  }
  node_of_ = state_of_ = group_tests_ = group_uppers_ = {};
  alone_ = {};
  pairs_ = side_errors_[0] = side_errors_[1] = {};
  add_cells(control);
  check_size(control);
  control_ = nullptr;
}

std::size_t NearSet::bytes() const {
  return leaves_.bytes() + nodes_.capacity() * sizeof(Node) + splits_.capacity() * sizeof(Split) +
         cherries_.capacity() * sizeof(Cherry) +
         4 * (tests_.capacity() + tests_begin_.capacity() + limits_.capacity() + cell_errors_.capacity() +
              rows_.capacity() + node_of_.capacity() + state_of_.capacity() + uppers_.capacity()) +
         48 * alone_.size();
}

void NearSet::check_size(Control& control) const {
  control.check_memory(held_ + bytes());
  for (std::size_t n : {nodes_.size(), splits_.size(), cherries_.size(), tests_.size(), limits_.size(),
                        cell_errors_.size(), rows_.size(), leaves_.size()})
    if (n > 0xf0000000u) throw LimitReached(LimitReached::Reason::memory, "more than 4·10^9 parts of near-best trees");
}

// Limits from the root down; then a node for every state that some tree of the set passes.
void NearSet::keep_states(const LeastErrors& least, const std::vector<std::int32_t>& limits, Control& control) {
  const auto& order = graph_->children_first();
  check_room(graph_->size() * 8);
  std::vector<std::uint32_t> place(graph_->size(), kNone);  // of the limits of a state
  held_ += graph_->size() * 4;
  const auto at = [&](std::uint32_t state) {
    if (place[state] == kNone) {
      place[state] = static_cast<std::uint32_t>(limits_.size());
      make_room(limits_, least.of(state).size(), [this](std::size_t more) { check_room(more); });
      limits_.resize(limits_.size() + least.of(state).size(), -1);
    }
    return place[state];
  };
  const auto root = least.of(0);
  const std::uint32_t at_root = at(0);
  for (std::size_t k = 0; k < std::min(root.size(), limits.size()); ++k)
    if (limits[k] >= root[k]) limits_[at_root + k] = limits[k];
  node_of_.assign(graph_->size(), kNone);
  std::size_t work = 0, done = 0;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const std::uint32_t state = *it;
    ++done;
    if (place[state] == kNone) continue;
    Node node;
    node.limits = place[state];
    const std::size_t n = least.of(state).size();
    for (std::size_t k = 0; k < n; ++k)
      if (limits_[node.limits + k] >= 0) node.most = static_cast<std::uint32_t>(k + 1);
    if (node.most == 0) continue;
    node_of_[state] = static_cast<std::uint32_t>(nodes_.size());
    add(state_of_, state);
    add(nodes_, node);
    if (!graph_->state(state).inner()) continue;
    for (const auto& split : graph_->splits(graph_->state(state))) {
      const auto one = least.of(split.child[1]), zero = least.of(split.child[0]);
      for (std::size_t x = 0; x < one.size(); ++x)
        for (std::size_t y = 0; y < zero.size() && x + y + 2 <= node.most; ++y) {
          const std::int32_t most = limits_[node.limits + x + y + 1];
          if (one[x] + zero[y] > most) continue;
          std::int32_t& to1 = limits_[at(split.child[1]) + x];
          to1 = std::max(to1, most - zero[y]);
          std::int32_t& to0 = limits_[at(split.child[0]) + y];
          to0 = std::max(to0, most - one[x]);
        }
      if ((work += 8 + one.size() * zero.size()) > (std::size_t{1} << 18)) {
        work = 0;
        control.check(true, "finding the near-best states", done, order.size());
        check_size(control);
      }
    }
  }
  held_ -= graph_->size() * 4;
}

std::uint32_t NearSet::add_leaf(const std::int32_t* counts) {
  if (const std::size_t more = leaves_.growth(); more > 0) check_room(more);
  return leaves_.add(counts);
}

std::uint32_t NearSet::add_tests(std::span<const std::uint32_t> parts, const std::uint32_t* uppers) {
  group_tests_.clear();
  graph_->table().for_each_test(parts, [this](std::uint32_t test, bool flipped) {
    group_tests_.push_back(test << 1 | static_cast<std::uint32_t>(flipped));
  });
  if (!graph_->table().local()) {
    if (group_tests_.size() == 1) return group_tests_[0];
  } else {  // each part is one test
    group_uppers_.assign(uppers, uppers + parts.size());
    if (parts.size() == 1) {
      const auto next = static_cast<std::uint32_t>(n_test_sets());
      const auto [it, fresh] = alone_.try_emplace(std::uint64_t{group_uppers_[0]} << 32 | group_tests_[0], next);
      if (!fresh) return it->second;
    }
    add_all(uppers_, group_uppers_);
  }
  add_all(tests_, group_tests_);
  add(tests_begin_, static_cast<std::uint32_t>(tests_.size()));
  return static_cast<std::uint32_t>(n_test_sets() - 1);
}

void NearSet::add_inner(std::uint32_t v, std::uint32_t state, const LeastErrors& least) {
  Node& node = nodes_[v];
  if (limits_[node.limits] >= 0) {
    std::vector<std::int32_t> counts(graph_->table().n_classes());
    graph_->table().class_counts(graph_->cover(state), counts.data());
    node.leaf_errors = errors_of(counts.data(), counts.size());
    node.leaf = add_leaf(counts.data());
  }
  node.splits_begin = static_cast<std::uint32_t>(splits_.size());
  for (const auto& split : graph_->splits(graph_->state(state))) {
    const auto one = least.of(split.child[1]), zero = least.of(split.child[0]);
    bool used = false;
    for (std::size_t x = 0; x < one.size() && !used; ++x)
      for (std::size_t y = 0; y < zero.size() && x + y + 2 <= node.most && !used; ++y)
        used = one[x] + zero[y] <= limits_[node.limits + x + y + 1];
    if (!used) continue;
    const std::uint32_t tests = add_tests(graph_->parts(split), graph_->uppers(split).data());
    add(splits_, Split{{node_of_[split.child[0]], node_of_[split.child[1]]}, tests});
  }
  node.splits_end = static_cast<std::uint32_t>(splits_.size());
}

void NearSet::add_closed(std::uint32_t v, std::uint32_t state, Frontier& f, Control& control) {
  const CountTable& table = graph_->table();
  const std::size_t n_classes = table.n_classes();
  const int levels = graph_->state(state).levels;
  const Node self = nodes_[v];
  const auto limit = [&](std::size_t l) { return l <= self.most ? limits_[self.limits + l - 1] : -1; };
  std::vector<std::int32_t> counts(n_classes), other(n_classes);
  if (limit(1) >= 0) {
    table.class_counts(graph_->cover(state), counts.data());
    nodes_[v].leaf_errors = errors_of(counts.data(), n_classes);
    nodes_[v].leaf = add_leaf(counts.data());
  }
  if (self.most == 1) return;

  f.load(graph_->cover(state));
  const std::size_t n = f.n_groups(), stride = f.stride();
  std::vector<std::uint32_t> tests_of(n, kNone);
  const auto tests = [&](std::size_t g) {
    if (tests_of[g] == kNone) tests_of[g] = add_tests(f.parts(g), f.uppers_begin(g));
    return tests_of[g];
  };
  // The two leaves of a cherry, from the counts of one side and of both.
  const auto cherry = [&](std::int32_t errors, std::size_t g) {
    for (std::size_t c = 0; c < n_classes; ++c) other[c] -= counts[c];
    const std::uint32_t one = add_leaf(counts.data()), zero = add_leaf(other.data());
    add(cherries_, Cherry{errors, tests(g), {zero, one}});
  };
  // Splits and cherries of the state itself wait until those of its children are stored.
  std::vector<Split> own_splits;
  std::vector<std::uint32_t> own_cherries;
  std::vector<std::int32_t> own_errors;
  pairs_.resize(std::max(pairs_.size(), n_classes * stride));
  const auto min_leaf = static_cast<std::int32_t>(f.min_leaf());
  for (int a = 0; a < 2; ++a) side_errors_[a].assign(stride, kNever);
  std::vector<std::int32_t> largest[4], total[2];
  for (auto& x : largest) x.resize(stride);
  for (auto& x : total) x.resize(stride);
  std::size_t work = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::int32_t errors[2][2] = {{0, kNever}, {0, kNever}};  // [side][leaf, least cherry]
    std::int32_t most1 = 0, most0 = 0;
    for (std::size_t c = 0; c < n_classes; ++c) {
      most1 = std::max(most1, f.count(c, i));
      most0 = std::max(most0, f.totals()[c] - f.count(c, i));
    }
    const std::int32_t total1 = f.total(i), total0 = f.total() - f.total(i);
    errors[1][0] = total1 - most1;
    errors[0][0] = total0 - most0;
    if (levels == 2 && self.most > 2) {
      f.pair_counts(i, 0, pairs_.data());
      if ((work += n * (8 + f.n_chunks())) > (std::size_t{1} << 22)) {
        work = 0;
        control.check(true, "keeping the near-best trees", 0, 0);
        check_size(control);
      }
      for (auto& x : largest) std::fill(x.begin(), x.end(), 0);
      std::fill(total[1].begin(), total[1].end(), 0);
      for (std::size_t c = 0; c < n_classes; ++c) {
        const std::int32_t* both = pairs_.data() + c * stride;
        const std::int32_t* of_j = f.counts(c);
        const std::int32_t of_i = f.count(c, i), rest = f.totals()[c] - of_i;
        for (std::size_t j = 0; j < n; ++j) {
          const std::int32_t b = both[j], not_i = of_j[j] - b;
          largest[3][j] = std::max(largest[3][j], b);
          largest[2][j] = std::max(largest[2][j], of_i - b);
          largest[1][j] = std::max(largest[1][j], not_i);
          largest[0][j] = std::max(largest[0][j], rest - not_i);
          total[1][j] += b;
        }
      }
      for (std::size_t j = 0; j < n; ++j) {
        const std::int32_t b = total[1][j], not_i = f.group_totals()[j] - b;
        const bool feasible1 = b >= min_leaf && total1 - b >= min_leaf,
                   feasible0 = not_i >= min_leaf && total0 - not_i >= min_leaf;
        side_errors_[1][j] = feasible1 ? total1 - largest[3][j] - largest[2][j] : kNever;
        side_errors_[0][j] = feasible0 ? total0 - largest[1][j] - largest[0][j] : kNever;
      }
      for (int a = 0; a < 2; ++a) {
        side_errors_[a][i] = kNever;
        errors[a][1] =
            *std::min_element(side_errors_[a].begin(), side_errors_[a].begin() + static_cast<std::ptrdiff_t>(n));
      }
    }
    std::int32_t most[2][2] = {{-1, -1}, {-1, -1}};  // limits of the children
    for (int k1 = 0; k1 < 2; ++k1)
      for (int k0 = 0; k0 < 2; ++k0) {
        const std::int32_t here = limit(static_cast<std::size_t>(k1 + k0 + 2));
        if (errors[1][k1] + errors[0][k0] > here) continue;
        most[1][k1] = std::max(most[1][k1], here - errors[0][k0]);
        most[0][k0] = std::max(most[0][k0], here - errors[1][k1]);
      }
    if (most[1][0] < 0 && most[1][1] < 0) continue;
    if (most[1][1] < 0 && most[0][1] < 0) {
      own_cherries.push_back(static_cast<std::uint32_t>(i));
      own_errors.push_back(errors[1][0] + errors[0][0]);
      continue;
    }
    Split split;
    split.tests = tests(i);
    for (int a = 0; a < 2; ++a) {
      split.child[a] = static_cast<std::uint32_t>(nodes_.size());
      Node child;
      child.limits = static_cast<std::uint32_t>(limits_.size());
      child.most = most[a][1] >= 0 ? 2 : 1;
      add(limits_, most[a][0]);
      if (child.most == 2) add(limits_, most[a][1]);
      const auto of_side = [&](std::size_t c) { return a == 1 ? f.count(c, i) : f.totals()[c] - f.count(c, i); };
      if (most[a][0] >= 0) {
        for (std::size_t c = 0; c < n_classes; ++c) counts[c] = of_side(c);
        child.leaf_errors = errors[a][0];
        child.leaf = add_leaf(counts.data());
      }
      child.cherries_begin = static_cast<std::uint32_t>(cherries_.size());
      for (std::size_t j = 0; j < n && child.most == 2; ++j) {
        if (side_errors_[a][j] > most[a][1]) continue;
        for (std::size_t c = 0; c < n_classes; ++c) {
          const std::int32_t both = pairs_[c * stride + j];
          counts[c] = a == 1 ? both : f.count(c, j) - both;
          other[c] = of_side(c);
        }
        cherry(side_errors_[a][j], j);
      }
      child.cherries_end = static_cast<std::uint32_t>(cherries_.size());
      add(nodes_, child);
    }
    own_splits.push_back(split);
  }
  nodes_[v].splits_begin = static_cast<std::uint32_t>(splits_.size());
  add_all(splits_, own_splits);
  nodes_[v].splits_end = static_cast<std::uint32_t>(splits_.size());
  nodes_[v].cherries_begin = static_cast<std::uint32_t>(cherries_.size());
  for (std::size_t k = 0; k < own_cherries.size(); ++k) {
    for (std::size_t c = 0; c < n_classes; ++c) {
      counts[c] = f.count(c, own_cherries[k]);
      other[c] = f.totals()[c];
    }
    cherry(own_errors[k], own_cherries[k]);
  }
  nodes_[v].cherries_end = static_cast<std::uint32_t>(cherries_.size());
}

// The cells of every node, children first: which numbers of errors occur with each number of leaves.
void NearSet::add_cells(Control& control) {
  std::vector<std::int32_t> low, high;
  std::vector<std::int64_t> shift;
  std::vector<std::uint8_t> marks;
  std::vector<std::vector<std::int32_t>> lists;
  std::size_t work = 0;
  for (std::size_t v = nodes_.size(); v-- > 0;) {
    Node& node = nodes_[v];
    const std::size_t most = node.most;
    low.assign(most + 1, kNever);
    high.assign(most + 1, -1);
    std::size_t pairs = 0;
    const auto widen = [&](std::size_t l, std::int32_t from, std::int32_t to) {
      low[l] = std::min(low[l], from);
      high[l] = std::max(high[l], std::min(to, limit(node, l)));
    };
    if (node.leaf_errors >= 0) widen(1, node.leaf_errors, node.leaf_errors);
    for (const Cherry& c : cherries(node)) widen(2, c.errors, c.errors);
    pairs += node.cherries_end - node.cherries_begin;
    for (const Split& split : splits(node))
      for_pairs(node, split, [&](std::size_t, std::size_t from, std::size_t to, std::size_t l, std::int32_t e1) {
        widen(l, e1 + cell_errors_[from], e1 + cell_errors_[to - 1]);
        pairs += to - from;
      });
    std::int64_t range = 0;
    shift.assign(most + 1, 0);
    for (std::size_t l = 1; l <= most; ++l) {
      shift[l] = range - low[l];
      if (high[l] >= low[l]) range += high[l] - low[l] + 1;
    }
    node.rows = static_cast<std::uint32_t>(rows_.size());
    const bool dense = range <= static_cast<std::int64_t>(std::min<std::size_t>(1024 + 8 * pairs, 1 << 26));
    if (dense) {
      marks.assign(static_cast<std::size_t>(range), 0);
    } else {
      lists.resize(std::max(lists.size(), most + 1));
      for (std::size_t l = 1; l <= most; ++l) lists[l].clear();
    }
    const auto unique = [](std::vector<std::int32_t>& list) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    };
    const auto mark = [&](std::size_t l, std::int32_t errors) {
      if (dense) {
        marks[static_cast<std::size_t>(shift[l] + errors)] = 1;
        return;
      }
      std::vector<std::int32_t>& list = lists[l];
      if (list.size() == list.capacity()) {  // before it grows
        unique(list);
        if (list.size() > list.capacity() / 2) list.reserve(2 * list.capacity() + 64);
      }
      list.push_back(errors);
    };
    const auto tick = [&](std::size_t more) {
      if ((work += more) < (std::size_t{1} << 20)) return;
      work = 0;
      control.check(true, "finding the cells of the near-best trees", nodes_.size() - v, nodes_.size());
      check_size(control);
    };
    if (node.leaf_errors >= 0) mark(1, node.leaf_errors);
    for (const Cherry& c : cherries(node)) mark(2, c.errors);
    for (const Split& split : splits(node))
      for_pairs(node, split, [&](std::size_t, std::size_t from, std::size_t to, std::size_t l, std::int32_t e1) {
        for (std::size_t k = from; k < to; ++k) mark(l, e1 + cell_errors_[k]);
        tick(to - from);
      });
    for (std::size_t l = 1; l <= most; ++l) {
      add(rows_, static_cast<std::uint32_t>(cell_errors_.size()));
      if (dense) {
        for (std::int32_t e = low[l]; e <= high[l]; ++e)
          if (marks[static_cast<std::size_t>(shift[l] + e)]) add(cell_errors_, e);
      } else {
        unique(lists[l]);
        add_all(cell_errors_, lists[l]);
      }
    }
    add(rows_, static_cast<std::uint32_t>(cell_errors_.size()));
    tick(16);
  }
}

}  // namespace everytree
