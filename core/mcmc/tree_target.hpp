// What a chain over trees samples from.
//
//     log π(T) = a · Σ_nodes log_prior(node) + b · Σ_leaves log_data(leaf)           (a = b = 1 unless heated)
//
//     posterior   log_prior: a tree prior (weights/prior.hpp)     log_data: the log marginal likelihood of the leaf
//     risk        log_prior: −alpha for a leaf, 0 for a split     log_data: −scale / n · φ(leaf) · examples of the leaf
//
// so that the second is exp(−E) with E(T) = scale · R(T) + alpha · leaves(T), R the mean of φ over the examples and φ
// the misclassification rate, Gini's index or the entropy (in nats) of a leaf.
#pragma once

#include <memory>
#include <optional>

#include "weights/dirichlet.hpp"
#include "weights/leaf_cost.hpp"
#include "weights/prior.hpp"

namespace everytree {

class TreeTarget {
 public:
  static TreeTarget posterior(Prior prior, std::shared_ptr<const Dirichlet> leaf) {
    TreeTarget target;
    target.prior_ = std::move(prior);
    target.leaf_ = std::move(leaf);
    return target;
  }
  // per_example: scale / n.
  static TreeTarget risk(CostKind phi, std::size_t n_classes, double per_example, double alpha) {
    TreeTarget target;
    target.prior_.log_leaf_open = target.prior_.log_leaf_closed = {-alpha};
    target.cost_.emplace(phi, n_classes);
    target.per_example_ = per_example;
    return target;
  }

  const Prior& prior() const { return prior_; }
  const std::shared_ptr<const Dirichlet>& leaf() const { return leaf_; }  // null for a risk
  // What a leaf with so many examples weighs under the prior, and what its class counts add to that.
  double log_prior_leaf(std::size_t depth, bool open, std::int32_t total) const {
    return prior_.log_leaf(depth, open) + (leaf_ ? leaf_->log_held(total) : 0);
  }
  double log_data(std::size_t depth, const std::int32_t* counts, std::int32_t total) const {
    return leaf_ ? leaf_->log_marginal(depth, counts) - leaf_->log_held(total) : -per_example_ * (*cost_)(counts);
  }
  // All that depends on the counts of a leaf.
  double log_counts(std::size_t depth, const std::int32_t* counts) const {
    return leaf_ ? leaf_->log_marginal(depth, counts) : -per_example_ * (*cost_)(counts);
  }

 private:
  TreeTarget() = default;

  Prior prior_;
  std::shared_ptr<const Dirichlet> leaf_;
  std::optional<LeafCost> cost_;
  double per_example_ = 0;
};

// a and b above. Annealing lowers or raises both; tempering raises only the data, and leaves the prior.
struct Powers {
  double prior = 1, data = 1;
  double of(double log_prior, double log_data) const { return prior * log_prior + data * log_data; }
};

}  // namespace everytree
