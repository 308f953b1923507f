#include "search/greedy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "algebra/tie.hpp"
#include "frontier/one_level.hpp"
#include "table/node_offers.hpp"

namespace everytree {

namespace {

using Classes = std::shared_ptr<const std::vector<std::uint32_t>>;

// The rows of a state: its words that are not empty, by section. A pending state holds no more, so that all of them
// together hold a word per row at most, however deep the tree.
struct Rows {
  std::vector<std::uint32_t> place;
  std::vector<std::uint64_t> bits;
  std::vector<Section> sections;  // ranges of the words here
};

Rows rows_of(const Rows& from, const std::uint64_t* column, bool outcome) {
  Rows out;
  for (const Section& s : from.sections) {
    const auto begin = static_cast<std::uint32_t>(out.bits.size());
    for (std::uint32_t k = s.begin; k < s.end; ++k) {
      const std::uint64_t both = from.bits[k] & (outcome ? column[from.place[k]] : ~column[from.place[k]]);
      if (both == 0) continue;
      out.place.push_back(from.place[k]);
      out.bits.push_back(both);
    }
    const auto end = static_cast<std::uint32_t>(out.bits.size());
    if (end > begin) out.sections.push_back({begin, end, s.cls, s.shift, 0});
  }
  return out;
}

Rows all_rows(const CountTable& table) {
  Rows out;
  for (std::uint32_t w = 0; w < table.n_words(); ++w) {
    out.place.push_back(w);
    out.bits.push_back(table.all()[w]);
  }
  out.sections = table.sections();
  return out;
}

class Grower {
 public:
  Grower(const CountTable& table, int max_depth, int space_depth, std::int64_t min_leaf, GreedyRule& rule,
         Control& control)
      : table_(table),
        max_depth_(max_depth < 0 ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(max_depth)),
        min_leaf_(min_leaf),
        offers_(table, space_depth, min_leaf),
        rule_(rule),
        control_(control),
        n_classes_(table.n_classes()),
        counts_(n_classes_),
        zero_(n_classes_) {}

  GreedyTree grow() {
    std::vector<std::uint32_t> all(table_.local() ? 0 : table_.test_classes().size());
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    std::vector<Pending> stack;
    nodes_.emplace_back();
    stack.push_back({0, 0, all_rows(table_), std::make_shared<const std::vector<std::uint32_t>>(std::move(all))});
    while (!stack.empty()) {
      Pending state = std::move(stack.back());
      stack.pop_back();
      visit(state, stack);
    }
    return prune();
  }

 private:
  struct Node {
    std::int32_t test = -1, single_test = -1;
    std::uint32_t side[2] = {0, 0};  // 0: a leaf
    double leaf = 0, split = 0, single = kNoCost;
  };
  struct Pending {
    std::uint32_t node;
    std::size_t depth;
    Rows rows;
    Classes tests;  // all that may be feasible; where states choose theirs, those of the parent
  };

  void visit(Pending& state, std::vector<Pending>& stack) {
    const Rows& rows = state.rows;
    std::fill(counts_.begin(), counts_.end(), 0);
    std::int64_t total = 0;
    for (const Section& s : rows.sections) {
      const auto n = s.multiplicity() * static_cast<std::int32_t>(kernels_.count_and(
                                            rows.bits.data() + s.begin, rows.bits.data() + s.begin, s.end - s.begin));
      counts_[s.cls] += n;
      total += n;
    }
    const bool can_split = state.depth < max_depth_ && total / 2 >= min_leaf_;
    const bool pure = std::count_if(counts_.begin(), counts_.end(), [](auto n) { return n > 0; }) <= 1;
    feasible_.clear();
    if (can_split && table_.local()) choose(state);
    if (can_split) count(rows, *state.tests, total);
    nodes_[state.node].leaf = rule_.leaf(counts_.data(), state.depth, !feasible_.empty());
    if (feasible_.empty() || pure) return;

    const std::size_t best = best_of(state.depth);
    const std::uint32_t chosen = feasible_[best];
    const std::uint32_t test = table_.test_classes()[chosen].test;
    const auto first = static_cast<std::uint32_t>(nodes_.size());
    Node& node = nodes_[state.node];
    node.single = least_single_;
    node.single_test = static_cast<std::int32_t>(table_.test_classes()[feasible_[single_]].test);
    node.test = static_cast<std::int32_t>(test);
    node.split = rule_.split(feasible_, chosen, state.depth);
    node.side[0] = first;
    node.side[1] = first + 1;
    nodes_.resize(nodes_.size() + 2);  // `node` is gone
    // What is infeasible here stays so below. Lists that hardly shrink are shared: then those of a path add up to a few
    // times the first. (Tests that a state chooses are few, and those of its children others.)
    if (!table_.local() && 4 * feasible_.size() < 3 * state.tests->size())
      state.tests = std::make_shared<const std::vector<std::uint32_t>>(feasible_);
    for (int a = 0; a < 2; ++a)
      stack.push_back({first + static_cast<std::uint32_t>(a), state.depth + 1,
                       rows_of(rows, table_.column(test), a == 1), state.tests});
  }

  // The tests that a state offers: its own, or its parent's where one level is left.
  void choose(Pending& state) {
    if (offers_.from_above(state.depth)) return;
    Cover cover(table_.n_words(), 0);
    for (std::size_t k = 0; k < state.rows.bits.size(); ++k) cover[state.rows.place[k]] = state.rows.bits[k];
    const auto own = offers_.of(cover.data(), state.depth, nullptr);
    state.tests = std::make_shared<const std::vector<std::uint32_t>>(own.begin(), own.end());
  }

  // The feasible tests, and the class counts of the rows for which they hold.
  void count(const Rows& rows, const std::vector<std::uint32_t>& tests, std::int64_t total) {
    const std::size_t n_words = rows.bits.size();
    const bool whole = 2 * n_words > table_.n_words();  // then the column is read as it is
    gathered_.resize(n_words);
    cover_.assign(whole ? table_.n_words() : 0, 0);
    if (whole)
      for (std::size_t k = 0; k < n_words; ++k) cover_[rows.place[k]] = rows.bits[k];
    const std::vector<Section>& sections = whole ? table_.sections() : rows.sections;
    const std::uint64_t* cover = whole ? cover_.data() : rows.bits.data();
    ones_.clear();
    std::vector<std::int32_t> one(n_classes_);
    for (const std::uint32_t i : tests) {
      work_ += n_words + 16;
      if (work_ >= (std::size_t{1} << 22)) {
        work_ = 0;
        control_.check_stop(true, "growing a first tree");
      }
      const std::uint64_t* column = table_.column(table_.test_classes()[i].test);
      if (!whole) {
        for (std::size_t k = 0; k < n_words; ++k) gathered_[k] = column[rows.place[k]];
        column = gathered_.data();
      }
      std::fill(one.begin(), one.end(), 0);
      std::int64_t ones = 0;
      for (const Section& s : sections) {
        const auto n = s.multiplicity() * static_cast<std::int32_t>(
                                              kernels_.count_and(cover + s.begin, column + s.begin, s.end - s.begin));
        one[s.cls] += n;
        ones += n;
      }
      if (ones < min_leaf_ || total - ones < min_leaf_) continue;
      feasible_.push_back(i);
      ones_.insert(ones_.end(), one.begin(), one.end());
    }
  }

  // The first of the feasible tests whose gain is the largest but for rounding; also the first of the least single
  // splits.
  std::size_t best_of(std::size_t depth) {
    const std::size_t n = feasible_.size();
    gains_.resize(n);
    double most = -std::numeric_limits<double>::infinity();
    least_single_ = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < n; ++i) {
      const std::int32_t* one = ones_.data() + i * n_classes_;
      for (std::size_t c = 0; c < n_classes_; ++c) zero_[c] = counts_[c] - one[c];
      gains_[i] = rule_.gain(one, zero_.data(), depth);
      most = std::max(most, gains_[i]);
      if (const double single = rule_.single(one, zero_.data()); single < below(least_single_) || i == 0) {
        least_single_ = single;
        single_ = i;
      }
    }
    const auto found = std::find_if(gains_.begin(), gains_.end(), [&](double x) { return x >= below(most); });
    return static_cast<std::size_t>(found - gains_.begin());
  }

  GreedyTree prune() {
    std::vector<double> cost(nodes_.size());
    for (std::size_t k = nodes_.size(); k-- > 0;) {  // sides come after their parent
      Node& node = nodes_[k];
      cost[k] = node.leaf;
      if (node.test < 0) continue;
      const double split = node.split + cost[node.side[0]] + cost[node.side[1]];
      if (split < below(std::min(node.leaf, node.single))) {
        cost[k] = split;
        continue;
      }
      node.side[0] = node.side[1] = 0;
      node.test = -1;
      if (node.single >= below(node.leaf)) continue;
      node.test = node.single_test;
      cost[k] = node.single;
    }
    GreedyTree tree{cost[0], {}};
    std::vector<std::uint32_t> stack{0};
    while (!stack.empty()) {
      const Node& node = nodes_[stack.back()];
      stack.pop_back();
      tree.key.push_back(node.test);
      if (node.test < 0) continue;
      if (node.side[0] == 0)
        tree.key.insert(tree.key.end(), {-1, -1});
      else
        stack.insert(stack.end(), {node.side[1], node.side[0]});
    }
    return tree;
  }

  const CountTable& table_;
  const Kernels& kernels_ = kernels();
  std::size_t max_depth_;
  std::int64_t min_leaf_;
  NodeOffers offers_;
  GreedyRule& rule_;
  Control& control_;
  std::size_t n_classes_, work_ = 0, single_ = 0;
  double least_single_ = 0;
  std::vector<Node> nodes_;
  std::vector<std::int32_t> counts_, zero_, ones_;  // of the state; of one side; of all tests
  std::vector<std::uint32_t> feasible_;
  std::vector<std::uint64_t> gathered_, cover_;
  std::vector<double> gains_;
};

// The leaf's cost; splits are free.
class CostRule : public GreedyRule {
 public:
  explicit CostRule(const LeafCost& cost) : cost_(cost) {}
  double gain(const std::int32_t* one, const std::int32_t* zero, std::size_t) const override {
    return -(cost_(one) + cost_(zero));
  }
  double single(const std::int32_t* one, const std::int32_t* zero) const override { return cost_(one) + cost_(zero); }
  double leaf(const std::int32_t* counts, std::size_t, bool) const override { return cost_(counts); }
  double split(const std::vector<std::uint32_t>&, std::uint32_t, std::size_t) override { return 0; }

 protected:
  const LeafCost& cost_;
};

// By an impurity in which an example of class c counts weight[c].
class ImpurityRule : public CostRule {
 public:
  ImpurityRule(const LeafCost& cost, bool entropy, std::vector<double> weight)
      : CostRule(cost),
        entropy_(entropy),
        alike_(weight == std::vector<double>(weight.size(), 1.0)),
        weight_(std::move(weight)) {
    for (std::size_t n = 1; entropy_ && alike_ && n < n_log_n_.size(); ++n)
      n_log_n_[n] = n_log_n(static_cast<double>(n));
  }
  double gain(const std::int32_t* one, const std::int32_t* zero, std::size_t) const override {
    return purity(one) + purity(zero);
  }

 private:
  // Σ n_c² / n, or Σ n_c log n_c − n log n.
  double purity(const std::int32_t* counts) const {
    double sum = 0, n = 0;
    if (entropy_ && alike_) {
      for (std::size_t c = 0; c < weight_.size(); ++c) {
        const auto x = static_cast<std::size_t>(counts[c]);
        n += static_cast<double>(x);
        sum += x < n_log_n_.size() ? n_log_n_[x] : n_log_n(static_cast<double>(x));
      }
      return n <= 0 ? 0 : sum - n * std::log(n);
    }
    for (std::size_t c = 0; c < weight_.size(); ++c) {
      const double x = weight_[c] * counts[c];
      n += x;
      sum += entropy_ ? (x > 0 ? n_log_n(x) : 0) : x * x;
    }
    return n <= 0 ? 0 : entropy_ ? sum - n * std::log(n) : sum / n;
  }
  static double n_log_n(double n) { return n * std::log(n); }
  bool entropy_, alike_;
  std::vector<double> weight_;
  // Of hundreds of classes nearly all counts are small; n log n of these was most of the time of a first tree.
  std::array<double, 256> n_log_n_{};
};

class QualityRule : public GreedyRule {
 public:
  QualityRule(const CountTable& table, const Prior& prior, const Dirichlet& leaf)
      : table_(table), prior_(prior), leaf_(leaf) {}
  double gain(const std::int32_t* one, const std::int32_t* zero, std::size_t depth) const override {
    return leaf_.log_marginal(depth + 1, one) + leaf_.log_marginal(depth + 1, zero);
  }
  // Whether a test could follow the sides, which the prior of leaves asks, is known once they are visited.
  double single(const std::int32_t*, const std::int32_t*) const override { return kNoCost; }
  double leaf(const std::int32_t* counts, std::size_t depth, bool open) const override {
    return -prior_.log_leaf(depth, open) - leaf_.log_marginal(depth, counts);
  }
  double split(const std::vector<std::uint32_t>& feasible, std::uint32_t chosen, std::size_t depth) override {
    shares_.begin(prior_);
    for (const std::uint32_t i : feasible)
      for (const std::uint32_t member : table_.test_classes()[i].members) shares_.add(member >> 1);
    return -prior_.log_split_base(depth) - std::log(shares_.share(table_.test_classes()[chosen].test));
  }

 private:
  const CountTable& table_;
  const Prior& prior_;
  const Dirichlet& leaf_;
  Shares shares_;
};

}  // namespace

GreedyTree grow_greedy(const CountTable& table, int max_depth, std::int64_t min_leaf, GreedyRule& rule,
                       Control& control) {
  return grow_greedy(table, max_depth, max_depth, min_leaf, rule, control);
}

GreedyTree grow_greedy(const CountTable& table, int max_depth, int space_depth, std::int64_t min_leaf, GreedyRule& rule,
                       Control& control) {
  return Grower(table, max_depth, space_depth, min_leaf, rule, control).grow();
}

GreedyTree greedy_tree(const CountTable& table, const LeafCost& cost, int max_depth, std::int64_t min_leaf,
                       Control& control) {
  CostRule own(cost);
  GreedyTree best = grow_greedy(table, max_depth, min_leaf, own, control);
  if (max_depth == 0 || max_depth == 1) return best;  // and the best of all
  const std::vector<double> alike(table.n_classes(), 1.0), weighted = cost.weights();
  for (const auto* weights : {&alike, &weighted})
    for (const bool entropy : {false, true}) {
      if (weights == &weighted && weighted == alike) continue;
      ImpurityRule rule(cost, entropy, *weights);
      GreedyTree tree = grow_greedy(table, max_depth, min_leaf, rule, control);
      if (tree.cost < below(best.cost)) best = std::move(tree);
    }
  return best;
}

GreedyTree greedy_tree(const CountTable& table, const Prior& prior, const Dirichlet& leaf, int max_depth,
                       int space_depth, std::int64_t min_leaf, Control& control) {
  QualityRule rule(table, prior, leaf);
  return grow_greedy(table, max_depth, space_depth, min_leaf, rule, control);
}

}  // namespace everytree
