// The posterior over every tree of a graph: the evidence and the downward passes.
//
// With u the sum-product values, at a state s
//     P(leaf at s | s is a node)      = leaf(s) / u(s)
//     P(split by test t | s is a node) = split weight · u(child 1) · u(child 0) / u(s)
// so every question about the posterior is a walk from the root with these probabilities.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "algebra/max_product.hpp"
#include "common/key.hpp"
#include "common/wide.hpp"
#include "down/new_rows.hpp"
#include "frontier/one_level.hpp"
#include "graph/graph.hpp"

namespace everytree {

class Posterior {
 public:
  Posterior(std::shared_ptr<const Graph> graph, Prior prior, std::shared_ptr<const Dirichlet> leaf, bool linear,
            std::size_t n_threads, Control& control);
  // The same from parts of the frontier that were folded elsewhere: parts[k] is what fold_sent makes of
  // send_part(graph, k, parts.size()). Throws InvalidInput if they are not as long as those of this graph.
  Posterior(std::shared_ptr<const Graph> graph, Prior prior, std::shared_ptr<const Dirichlet> leaf, bool linear,
            const std::vector<std::vector<Wide>>& parts, std::size_t n_threads, Control& control);
  Posterior(const Posterior&) = delete;

  // Every n_parts-th closed state from the part-th on, for another process, which needs no graph to fold them.
  struct Sent {
    std::vector<std::uint64_t> covers;  // n_words each
    std::vector<std::int32_t> depths;
    TableSizes sizes;
  };
  static Sent send_part(const Graph& graph, std::size_t part, std::size_t n_parts);
  // Their values, in the order of the fold.
  static std::vector<Wide> fold_sent(std::shared_ptr<const CountTable> table, const GraphOptions& options,
                                     const Sent& sent, Prior prior, std::shared_ptr<const Dirichlet> leaf, bool linear,
                                     std::size_t n_threads, Control& control);

  const Graph& graph() const { return *graph_; }
  const ProductWeights& weights() const { return weights_; }
  double log_evidence() const { return u_[0].log(); }
  std::size_t bytes() const { return graph_->bytes() + own_bytes(); }
  // Without the graph, which other posteriors may share.
  std::size_t own_bytes() const { return weights_.bytes() + kept_.bytes() + u_.size() * sizeof(Wide); }
  const std::vector<Wide>& values() const { return u_; }
  // log Σ over all trees of the prior alone: the same fold with every marginal likelihood 1.
  double log_prior_total(Control& control) const;
  // log marginal likelihood of the single leaf.
  double log_single_leaf() const;

  // log prior + log marginal likelihood of a tree; −inf outside the space. Throws InvalidInput on a malformed key.
  double log_joint(const Key& key) const;

  // P(root test = t) for every original test; the rest is P(single leaf).
  std::vector<double> root_distribution() const { return path_node({}).split; }
  // P(test t occurs in the tree) for every original test.
  std::vector<double> inclusion(Control& control) const;
  // P(some test of set k occurs in the tree) for disjoint sets; owner[t] is the set of test t, −1 for none.
  std::vector<double> inclusion_of(const std::vector<std::int32_t>& owner, std::size_t n_sets, Control& control) const;
  // P(n leaves), index n − 1; and P(depth = d).
  std::vector<double> leaves_distribution(Control& control) const;
  std::vector<double> depth_distribution(Control& control) const;
  double expected_leaves(Control& control) const;

  // The weight of the most probable tree below each state, and its logarithm at the root. The trees:
  // sets/likeliest.hpp.
  std::vector<MaxProduct::Value> likeliest(Control& control) const;
  double log_map(Control& control) const { return likeliest(control)[0].weight.log(); }

  // Independent draws number first, first + 1, … Draw k depends only on (seed, k).
  std::vector<Key> sample(std::size_t first, std::size_t n, std::uint64_t seed, Control& control) const;

  // The node reached by these (test, outcome) steps in this order, if every test is feasible on the way.
  struct PathNode {
    bool exists = false;
    double leaf = 0;                   // P(leaf | node)
    std::vector<double> split;         // P(split by test t | node), per original test
    std::vector<std::int32_t> counts;  // per class
  };
  PathNode path_node(const std::vector<std::pair<std::int32_t, int>>& steps) const;

  // P(class | row), n_rows × n_classes. rows: n_rows × n_tests of 0/1, row-major.
  void predict(const NewRows& rows, double* out, Control& control) const;
  void predict(const std::uint8_t* rows, std::size_t n_rows, double* out, Control& control) const {
    predict({rows, nullptr, n_rows, graph_->table().n_tests()}, out, control);
  }
  // Moments of θ_c at a row, where θ in a leaf is Dirichlet(n + a) given the tree. For each row and class: E[θ_c], the
  // variance over trees of the leaf's mean, and the mean over trees of the leaf's own variance: n_rows × 3 × n_classes.
  void moments(const NewRows& rows, double* out, Control& control) const;
  void moments(const std::uint8_t* rows, std::size_t n_rows, double* out, Control& control) const {
    moments({rows, nullptr, n_rows, graph_->table().n_tests()}, out, control);
  }

 private:
  friend class Expansion;
  friend class LocalExpansion;
  // Splits of an inner state: probability of one unit of share of each split, and the shares by test.
  struct InnerNode {
    double leaf;                // P(leaf | node)
    std::vector<double> split;  // P(split k | node) / share of split k
  };
  void inner_node(std::size_t id, InnerNode& out) const;
  void average(const NewRows& rows, bool moments, double* out, Control& control) const;
  // `held`: bytes of the question so far.
  void average_distinct(const NewRows& rows, bool moments, double* out, std::size_t held, Control& control) const;

  std::shared_ptr<const Graph> graph_;
  ProductWeights weights_;
  std::size_t n_threads_;
  SecondLevels kept_;
  std::vector<Wide> u_;
};

}  // namespace everytree
