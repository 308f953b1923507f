// From values back to trees: the best tree, the k best in order, the best of every size.
//
// Scores are additive and smaller is better: a cost, or minus the log weight. The options of a state are written out
// only when a tree passes through it, so the cost follows the answer and not the graph.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "algebra/concept.hpp"
#include "algebra/tie.hpp"
#include "common/key.hpp"
#include "frontier/one_level.hpp"

namespace everytree {

// Additive scores of leaves and splits.
class Scores {
 public:
  virtual ~Scores() = default;
  virtual double leaf(const std::int32_t* counts, std::size_t depth, bool open) const = 0;
  virtual double split(std::size_t depth, double share) const = 0;
  virtual const Prior& prior() const = 0;  // for the shares of tests
};

class ProductScores final : public Scores {
 public:
  explicit ProductScores(const ProductWeights& weights) : weights_(&weights) {}
  double leaf(const std::int32_t* counts, std::size_t depth, bool open) const override {
    return -weights_->log_leaf(counts, depth, open);
  }
  double split(std::size_t depth, double share) const override {
    return -weights_->prior().log_split_base(depth) - std::log(share);
  }
  const Prior& prior() const override { return weights_->prior(); }

 private:
  const ProductWeights* weights_;
};

class CostScores final : public Scores {
 public:
  explicit CostScores(const LeafCost& cost) : cost_(&cost) {}
  double leaf(const std::int32_t* counts, std::size_t, bool) const override {
    const double cost = (*cost_)(counts);
    return no_cost(cost) ? std::numeric_limits<double>::infinity() : cost;
  }
  double split(std::size_t, double) const override { return 0; }
  const Prior& prior() const override { return prior_; }

 private:
  const LeafCost* cost_;
  Prior prior_;
};

// A tree with its score.
struct Ranked {
  double score;
  Key key;
};

// Least score of the trees below a state, and the number of leaves of the smallest such tree.
struct Best {
  double score, leaves;
};

class TreeFinder {
 public:
  // From the values of a fold, one for every state: only an algebra that selects knows a best tree.
  template <GivesTree A>
  static TreeFinder of(const Graph& graph, const Scores& scores, const std::vector<typename A::Value>& values,
                       Control& control) {
    std::vector<Best> best;
    best.reserve(values.size());
    for (const auto& v : values) best.push_back({A::cost(v), v.leaves});
    return TreeFinder(graph, scores, std::move(best), control);
  }
  // For best_with_leaves alone, which brings its values.
  TreeFinder(const Graph& graph, const Scores& scores, Control& control)
      : TreeFinder(graph, scores, std::vector<Best>(graph.size(), Best{0, 0}), control) {}

  // The best tree; ties go to fewer leaves, then to the leaf, then to the lowest test, from the root down.
  Key best_tree();
  // The k-th best tree (0 is the best), or an empty key when there are fewer trees.
  Key kth_tree(std::size_t k, double& score);
  // The first k trees in order of (score, leaves), or all if there are fewer.
  std::vector<Ranked> first(std::size_t k);
  // The best tree with exactly this many leaves; by_leaves[id][n − 1] is the least score with n leaves.
  Key best_with_leaves(const std::vector<std::vector<double>>& by_leaves, std::size_t leaves);

 private:
  // best[id] for every state of the graph.
  TreeFinder(const Graph& graph, const Scores& scores, std::vector<Best> best, Control& control);

  static constexpr std::uint32_t kNone = 0xffffffffu;
  struct Option {
    double weight;                 // score of the split, or of the leaf
    std::int32_t test;             // −1: leaf
    std::uint32_t child1, child0;  // nodes
  };
  struct Result {
    double score, leaves;
    std::uint32_t option, rank1, rank0;
    bool operator>(const Result& y) const {
      const double a = tie_class(score), b = tie_class(y.score);  // ties: the smaller tree comes first
      return std::tie(a, leaves, option, rank1, rank0) > std::tie(b, y.leaves, y.option, y.rank1, y.rank0);
    }
  };
  struct Node {
    std::uint32_t state;
    std::uint32_t group = kNone;  // of a child of a closed state: which split,
    int side = 0;                 // and which side of it,
    double one = 0, two = 0;      // and its least scores with one leaf and with two
    Best best;
    bool expanded = false, opened = false;
    std::vector<Option> options;
    std::vector<Result> results;
    std::priority_queue<Result, std::vector<Result>, std::greater<>> heap;
  };

  std::uint32_t node_of_state(std::uint32_t state);
  // What the graph, its values and all nodes take, for the limit of memory.
  std::size_t bytes() const;
  void expand(std::uint32_t node);
  void expand_inner(Node& node);
  void expand_closed(Node& node);
  void expand_child(Node& node);
  bool open(std::uint32_t node, std::size_t k);  // make result k available
  Best score_of(std::uint32_t node, std::size_t k);
  void write_best(std::uint32_t node, Key& key);
  void write_kth(std::uint32_t node, std::size_t k, Key& key);
  void write_leaves(std::uint32_t node, std::size_t leaves, const std::vector<std::vector<double>>& by_leaves,
                    Key& key);
  double least(std::uint32_t node, std::size_t leaves, const std::vector<std::vector<double>>& by_leaves) const;
  std::size_t most_leaves(std::uint32_t node, const std::vector<std::vector<double>>& by_leaves) const;

  const Graph* graph_;
  const Scores* scores_;
  std::vector<Best> best_;
  Control* control_;
  OneLevelFold fold_;
  OneLevel level_;
  Shares shares_;
  std::uint32_t loaded_ = kNone;
  std::unordered_map<std::uint32_t, std::uint32_t> node_of_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::size_t option_bytes_ = 0;  // of the options of all nodes, and of what the k best have opened
};

}  // namespace everytree
