#include "grow/grow_options.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <queue>
#include <unordered_map>
#include <utility>

#include "choose.hpp"
#include "common/errors.hpp"
#include "common/room.hpp"
#include "grow/branch.hpp"

namespace everytree::grow {

namespace {

constexpr std::size_t kMostPlies = 64;  // the work grows by a factor of tests with every ply; nobody waits for ten

void check_settings(const Columns& columns, const GrowSettings& s, const DirichletParameters& a) {
  if (columns.n_rows() == 0 || columns.n_classes() == 0) throw InvalidInput("growing needs rows with classes");
  a.check_classes(columns.n_classes());
  if (s.lookahead < 1 || s.lookahead > kMostPlies)
    throw InvalidInput("lookahead must be from 1 to " + std::to_string(kMostPlies));
  if (s.lookahead > 1 && s.score != GrowScore::quality) throw InvalidInput("lookahead needs the score \"quality\"");
  if (s.n_cuts < 2) throw InvalidInput("n_cuts must be at least 2");
  if (s.max_depth < -1) throw InvalidInput("max_depth must be at least 0, or -1 for none");
  if (s.score == GrowScore::gain_ratio && (s.option_factor < 1 || s.random))
    throw InvalidInput("the score \"gain_ratio\" grows one tree, and not by chance");
  if (s.min_leaf < 1) throw InvalidInput("min_leaf must be at least 1");
  if (!(s.stop_factor >= 0) || !std::isfinite(s.stop_factor)) throw InvalidInput("stop_factor must be at least 0");
  if (!(s.option_factor >= 0 && s.option_factor <= 1)) throw InvalidInput("option_factor must be between 0 and 1");
  if (s.subsample_lead != 0 && !(s.subsample_lead >= 1)) throw InvalidInput("subsample_lead must be at least 1");
  if (s.subsample_lead > 0 && (s.subsample_first < 1 || !(s.subsample_growth > 1)))
    throw InvalidInput("a subsample must begin with one example and grow");
  if (s.subsample_lead > 0 && (s.random || s.lookahead > 1 || s.score != GrowScore::quality))
    throw InvalidInput("subsampling goes with one ply and the score \"quality\"");
}

// One test per node, and of the kind of its column. Columns may have more values than when the tree was grown.
void check_older(const Columns& columns, const OptionGraph& old) {
  if (old.n_nodes() == 0) throw InvalidInput("the older tree has no node");
  for (std::size_t node = 0; node < old.n_nodes(); ++node)
    if (old.option_end(node) - old.option_begin(node) > 1)
      throw InvalidInput("only trees can be restructured: a node of this graph has several options");
  for (std::size_t option = 0; option < old.n_options(); ++option) {
    const auto attribute = static_cast<std::size_t>(old.attribute(option));
    if (old.attribute(option) < 0 || attribute >= columns.n_columns())
      throw InvalidInput("the older tree has a column that is not there");
    const Column& column = columns[attribute];
    const double at = old.threshold(option);
    const std::size_t n = old.n_children(option);
    const bool fits = every_value(column, at)
                          ? n >= 1 && n <= n_slots(column, at)
                          : n == 3 && !std::isnan(at) && (column.numeric || (at >= 0 && at < column.n_values));
    if (!fits) throw InvalidInput("a test of the older tree does not fit column " + std::to_string(attribute));
    for (std::size_t k = 0; k < n; ++k)
      if (old.children(option)[k] != kNoChild && old.children(option)[k] >= old.n_nodes())
        throw InvalidInput("the older tree has a child that is not there");
  }
}

std::vector<std::uint32_t> all_rows(const Columns& columns) {
  std::vector<std::uint32_t> rows(columns.n_rows());
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  return rows;
}

std::size_t n_slots(const Columns& columns, const Candidate& test) {
  return n_slots(columns[static_cast<std::size_t>(test.column)], test.threshold);
}

// What both ways to grow share: the graph, and nodes with their counts and whether a test is feasible.
class Grower {
 public:
  Grower(Columns& columns, const GrowSettings& settings, const Prior& prior, const DirichletParameters& a,
         Control& control)
      : columns_(columns),
        settings_(settings),
        control_(control),
        graph_(columns.n_classes()),
        chooser_(columns, settings, prior, a, control),
        splitter_(columns) {}

 protected:
  std::uint32_t add_node(std::span<const std::uint32_t> rows, std::size_t depth) {
    chooser_.scanner().count(rows, counts_);
    const std::uint32_t node = graph_.add_node(depth, counts_.data());
    const bool deep = settings_.max_depth >= 0 && depth >= static_cast<std::size_t>(settings_.max_depth);
    graph_.set_open(node, !deep && chooser_.scanner().any_feasible(rows));
    return node;
  }
  void add_option(std::uint32_t node, const Candidate& test, const Labels& labels,
                  const std::vector<std::uint32_t>& nodes) {
    children_.assign(n_slots(columns_, test), kNoChild);
    for (std::size_t p = 0; p < nodes.size(); ++p) children_[labels.slot[p]] = nodes[p];
    graph_.add_option(node, test.column, test.threshold, test.log_split, children_.data(), children_.size());
  }
  void check(std::size_t bytes) {
    control_.check_memory(chooser_.bytes() + graph_.bytes() + bytes);
    control_.check(true, "growing", graph_.n_nodes(), std::max(settings_.max_nodes, graph_.n_nodes()));
  }

  Columns& columns_;
  const GrowSettings& settings_;
  Control& control_;
  OptionGraph graph_;
  Chooser chooser_;
  Splitter splitter_;
  std::vector<std::int64_t> counts_;
  std::vector<std::uint32_t> children_;
};

// One option per node, depth first: the sorted columns of a node become those of its children in place.
class TreeGrower : Grower {
 public:
  using Grower::Grower;

  Grown grow(const OptionGraph* old, const std::vector<double>& older_rivals, double log_lead) {
    older_rivals_ = older_rivals;
    auto storage = std::make_shared<Storage>();
    View root;
    if (chooser_.subsamples()) {
      storage->rows = all_rows(columns_);
      root.rows = storage->rows;
      root.sorted.resize(columns_.n_columns());
    } else {
      check(2 * view_bytes(columns_.n_rows(), columns_));
      root = view_of(all_rows(columns_), columns_, *storage);
    }
    held_ = storage->bytes();
    tasks_.push_back({add_node(root.rows, 0), 0, std::move(root), storage, old != nullptr ? 0 : kNoChild});
    std::size_t since = 0;
    while (!tasks_.empty()) {
      Task task = std::move(tasks_.back());
      tasks_.pop_back();
      since += task.view.rows.size() + 64;
      if (since > (std::size_t{1} << 14)) {
        check(2 * held_);
        since = 0;
      }
      step(task, old, log_lead);
    }
    rivals_.resize(graph_.n_nodes(), std::numeric_limits<double>::quiet_NaN());
    return {std::move(graph_), chooser_.report, std::move(rivals_)};
  }

 private:
  struct Task {
    std::uint32_t node;
    std::size_t depth;
    View view;
    std::shared_ptr<Storage> storage;
    std::uint32_t old;  // the node of the older tree that it follows
  };

  void step(Task& task, const OptionGraph* old, double log_lead) {
    if (!graph_.open(task.node)) return;
    if (chooser_.subsamples() && task.view.rows.size() <= settings_.subsample_first) sort(task);
    Candidate test;
    const std::uint32_t* follow = nullptr;
    std::size_t n_follow = 0;
    if (task.old != kNoChild && old->option_begin(task.old) < old->option_end(task.old)) {
      const std::size_t option = old->option_begin(task.old);
      const double rival = older_rivals_.empty() ? std::numeric_limits<double>::quiet_NaN() : older_rivals_[task.old];
      if (const auto kept =
              chooser_.keep(task.view, task.depth, old->attribute(option), old->threshold(option), log_lead, rival)) {
        test = *kept;
        follow = old->children(option);
        n_follow = old->n_children(option);
        ++chooser_.report.n_kept;
      } else {
        ++chooser_.report.n_regrown;
      }
    }
    if (follow == nullptr) {
      const std::vector<Candidate> found = chooser_.choose(task.view, task.depth);
      if (found.empty()) return;
      test = found[0];
    }
    rivals_.resize(graph_.n_nodes(), std::numeric_limits<double>::quiet_NaN());
    rivals_[task.node] = chooser_.rival();
    const Labels& labels = splitter_.label(task.view.rows, test.column, test.threshold);
    std::vector<View> parts = splitter_.split(task.view);
    std::vector<std::uint32_t> nodes;
    for (const View& part : parts) nodes.push_back(add_node(part.rows, task.depth + 1));
    add_option(task.node, test, labels, nodes);
    const std::size_t n = n_slots(columns_, test);
    for (std::size_t p = parts.size(); p-- > 0;) {
      std::uint32_t before = kNoChild;
      if (follow != nullptr) {  // values declared since then come before the slot of missing, which is the last
        const std::size_t slot = labels.slot[p];
        if (slot == n - 1)
          before = follow[n_follow - 1];
        else if (slot + 1 < n_follow)
          before = follow[slot];
      }
      tasks_.push_back({nodes[p], task.depth + 1, std::move(parts[p]), task.storage, before});
    }
  }

  // Few enough rows that all of them are looked at: from here on, columns are sorted as without subsamples.
  void sort(Task& task) {
    if (std::any_of(task.view.sorted.begin(), task.view.sorted.end(), [](const auto& x) { return !x.empty(); })) return;
    auto storage = std::make_shared<Storage>();
    task.view = view_of(std::vector<std::uint32_t>(task.view.rows.begin(), task.view.rows.end()), columns_, *storage);
    task.storage = std::move(storage);
  }

  std::vector<Task> tasks_;
  std::size_t held_ = 0;
  std::vector<double> rivals_, older_rivals_;  // by node
};

// Options and budgets: the node that matters most is expanded next. Nodes with the same rows at one depth are one.
class OptionGrower : Grower {
 public:
  using Grower::Grower;

  Grown grow() {
    check(2 * view_bytes(columns_.n_rows(), columns_));
    const std::vector<std::uint32_t> rows = all_rows(columns_);
    node_for(rows, 0, 1.0);
    std::size_t since = 0;
    while (!queue_.empty()) {
      const auto [priority, negated] = queue_.top();
      queue_.pop();
      const std::uint32_t node = ~negated;
      if (done_[node] || priority != priority_[node]) continue;  // an older entry
      done_[node] = 1;
      since += size_of(node) + 64;
      if (since > (std::size_t{1} << 14)) {
        check(held());
        since = 0;
      }
      if (!expand(node)) {
        chooser_.report.budget_reached = true;
        break;
      }
    }
    return {std::move(graph_), chooser_.report, {}};
  }

 private:
  struct Key {
    std::uint64_t low, high;
    bool operator==(const Key&) const = default;
  };
  struct HashKey {
    std::size_t operator()(const Key& key) const { return static_cast<std::size_t>(key.low); }
  };
  // A sum over the rows, so that it does not matter in which order they come; equality is proved by comparing rows.
  static Key key_of(std::span<const std::uint32_t> rows, std::size_t depth) {
    const auto mix = [](std::uint64_t z) {
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
      return z ^ (z >> 31);
    };
    Key key{mix(depth + 1), depth};
    for (const std::uint32_t row : rows) {
      const std::uint64_t x = mix(row + 0x9e3779b97f4a7c15ULL);
      key.low += x;
      key.high += mix(x + 0x632be59bd9b4e019ULL);
    }
    return key;
  }

  std::size_t held() const { return arena_.capacity() * sizeof(arena_[0]) + storage_.bytes() + done_.size() * 96; }
  std::span<const std::uint32_t> rows_of(std::uint32_t node) const {
    return {arena_.data() + begin_[node], begin_[node + 1] - begin_[node]};
  }
  std::size_t size_of(std::uint32_t node) const { return begin_[node + 1] - begin_[node]; }

  // The node of these rows, new or not; `reach` is the probability to come here by one more way.
  std::uint32_t node_for(std::span<const std::uint32_t> rows, std::size_t depth, double reach) {
    const Key key = key_of(rows, depth);
    const auto [from, to] = nodes_.equal_range(key);
    for (auto it = from; it != to; ++it) {
      const std::span<const std::uint32_t> other = rows_of(it->second);
      if (graph_.depth(it->second) != depth || !std::equal(rows.begin(), rows.end(), other.begin(), other.end()))
        continue;
      ++chooser_.report.n_merged;
      reached(it->second, reach);
      return it->second;
    }
    const std::uint32_t node = add_node(rows, depth);
    nodes_.emplace(key, node);
    make_room(arena_, rows.size(), [this](std::size_t more) { check(held() + more); });
    arena_.insert(arena_.end(), rows.begin(), rows.end());
    begin_.push_back(arena_.size());
    priority_.push_back(0);
    reach_.push_back(0);
    done_.push_back(!graph_.open(node) || !chooser_.may_split(counts_, depth));
    reached(node, reach);
    return node;
  }
  void reached(std::uint32_t node, double reach) {
    reach_[node] += reach;
    if (done_[node]) return;
    priority_[node] = reach_[node] * static_cast<double>(graph_.total(node)) / static_cast<double>(columns_.total());
    queue_.emplace(priority_[node], ~node);  // ties: the older node first
  }

  // False if the options of this node do not fit the budget.
  bool expand(std::uint32_t node) {
    const std::size_t depth = graph_.depth(node);
    std::vector<std::uint32_t> rows(rows_of(node).begin(), rows_of(node).end());  // the arena grows below
    const View view = view_of(rows, columns_, storage_);
    const std::vector<Candidate> found = chooser_.choose(view, depth);
    if (found.empty()) return true;
    if (settings_.max_nodes > 0) {
      std::size_t room = settings_.max_nodes - std::min(settings_.max_nodes, graph_.n_nodes());
      for (const Candidate& test : found) {
        const std::size_t n = splitter_.label(rows, test.column, test.threshold).n_parts();
        if (n > room) return false;
        room -= n;
      }
    }
    graph_.counts(node, count_buffer());
    const double leaf = chooser_.log_open_leaf(counts_.data(), depth);
    double most = leaf, sum = 0;
    for (const Candidate& test : found) most = std::max(most, test.quality);
    for (const Candidate& test : found) sum += std::exp(test.quality - most);
    sum += std::exp(leaf - most);
    const double reach = reach_[node];
    for (const Candidate& test : found) {
      const Labels& labels = splitter_.label(rows, test.column, test.threshold);
      const std::vector<View> parts = splitter_.split(View{rows, {}}, parts_);
      nodes_of_.clear();
      const double share = reach * std::exp(test.quality - most) / sum;
      for (const View& part : parts) nodes_of_.push_back(node_for(part.rows, depth + 1, share));
      add_option(node, test, labels, nodes_of_);
    }
    return true;
  }
  std::int64_t* count_buffer() {
    counts_.resize(columns_.n_classes());
    return counts_.data();
  }

  std::unordered_multimap<Key, std::uint32_t, HashKey> nodes_;
  std::vector<std::uint32_t> arena_;      // rows of all nodes
  std::vector<std::size_t> begin_ = {0};  // one more than nodes
  std::vector<double> priority_, reach_;
  std::vector<char> done_;
  std::priority_queue<std::pair<double, std::uint32_t>> queue_;
  Storage storage_, parts_;
  std::vector<std::uint32_t> nodes_of_;
};

}  // namespace

Grown grow_options(Columns& columns, const GrowSettings& settings, const Prior& prior, const DirichletParameters& a,
                   Control& control) {
  check_settings(columns, settings, a);
  columns.sort(&control);
  const bool one = settings.option_factor >= 1 || settings.max_options == 1 || settings.random ||
                   settings.score == GrowScore::gain_ratio || settings.subsample_lead > 0;
  if (one && settings.max_nodes == 0) return TreeGrower(columns, settings, prior, a, control).grow(nullptr, {}, 0);
  return OptionGrower(columns, settings, prior, a, control).grow();
}

Grown restructure(Columns& columns, const OptionGraph& old, double lead, const GrowSettings& settings,
                  const Prior& prior, const DirichletParameters& a, Control& control,
                  const std::vector<double>& rivals) {
  check_settings(columns, settings, a);
  if (!(lead >= 1)) throw InvalidInput("the lead must be at least 1");
  if (settings.score != GrowScore::quality || settings.subsample_lead > 0 || settings.random)
    throw InvalidInput("only trees grown by quality, on all examples and without chance, can be restructured");
  check_older(columns, old);
  if (!rivals.empty() && rivals.size() != old.n_nodes())
    throw InvalidInput("the older tree needs one rival for each node, or none at all");
  columns.sort(&control);
  return TreeGrower(columns, settings, prior, a, control).grow(&old, rivals, std::log(lead));
}

}  // namespace everytree::grow
