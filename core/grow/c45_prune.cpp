// What is undone after growing: splits that lower no training error, and those whose estimated errors are not less than
// those of a leaf or of their largest branch (which is then raised into their place).
#include <algorithm>

#include "c45_parts.hpp"
#include "weights/leaf_cost.hpp"

namespace everytree::grow::c45 {

void collapse(MultiwayTree& tree) {
  const std::size_t n_classes = tree.n_classes();
  std::vector<double> wrong(tree.n_nodes(), 0.0);
  for (std::size_t node = tree.n_nodes(); node-- > 0;) {  // children come after their parents
    if (tree.is_leaf(node))
      wrong[node] = errors(tree.counts(node), n_classes);
    else
      for (std::size_t k = 0; k < tree.n_children[node]; ++k) wrong[node] += wrong[tree.first_child[node] + k];
  }
  for (std::size_t node = 0; node < tree.n_nodes(); ++node)
    if (!tree.is_leaf(node) && wrong[node] >= errors(tree.counts(node), n_classes) - 1e-3) tree.make_leaf(node);
}

namespace {

// A tree replaces another when its estimated errors are at most this much larger: C4.5's preference for small trees.
constexpr double kSlack = 0.1;

class Pruner {
 public:
  Pruner(MultiwayTree& tree, const Columns& data, const C45Options& options, Control& control)
      : tree_(tree), data_(data), options_(options), control_(control), scratch_(tree.n_classes()) {}

  // Prunes below a node that holds the part; returns its estimated errors then.
  double prune(std::size_t node, const Part& part) {
    control_.check(true, "pruning", ++steps_, 0);
    for (;;) {
      const double leaf = estimate(tree_.counts(node));
      if (tree_.is_leaf(node)) return leaf;
      double subtree = 0;
      {
        std::vector<Part> parts = held(divide(tree_, node, data_, part));
        for (std::size_t k = 0; k < parts.size(); ++k) {
          subtree += prune(tree_.first_child[node] + k, parts[k]);
          release(parts[k]);
        }
      }
      const std::size_t largest = largest_branch(node);
      const double branch = options_.subtree_raising ? errors_of(largest, part) : kNoCost;
      if (leaf <= subtree + kSlack + kSmall && leaf <= branch + kSlack + kSmall) {
        tree_.make_leaf(node);
        return leaf;
      }
      if (branch > subtree + kSlack + kSmall) return subtree;
      tree_.replace(node, largest);
      recount(node, part);
    }
  }

 private:
  double estimate(const double* counts) const {
    const double n = sum(counts, tree_.n_classes());
    if (n < kSmall) return 0;
    const double e = errors(counts, tree_.n_classes());
    return e + added_errors(n, e, options_.confidence, options_.z);
  }

  // The child with most examples; the last one where several have.
  std::size_t largest_branch(std::size_t node) const {
    std::size_t best = tree_.first_child[node];
    double most = 0;
    for (std::size_t k = 0; k < tree_.n_children[node]; ++k) {
      const double n = tree_.total(tree_.first_child[node] + k);
      if (n > most - kSmall) {
        most = n;
        best = tree_.first_child[node] + k;
      }
    }
    return best;
  }

  // Estimated errors of a subtree if the part came to it.
  double errors_of(std::size_t node, const Part& part) {
    control_.check(true, "pruning", steps_, 0);
    if (tree_.is_leaf(node)) {
      count_classes(data_, part, scratch_.data());
      return estimate(scratch_.data());
    }
    double s = 0;
    std::vector<Part> parts = held(divide(tree_, node, data_, part));
    for (std::size_t k = 0; k < parts.size(); ++k) {
      s += errors_of(tree_.first_child[node] + k, parts[k]);
      release(parts[k]);
    }
    return s;
  }

  void recount(std::size_t node, const Part& part) {
    count_classes(data_, part, tree_.counts(node));
    if (tree_.is_leaf(node)) return;
    std::vector<Part> parts = held(divide(tree_, node, data_, part));
    for (std::size_t k = 0; k < parts.size(); ++k) {
      recount(tree_.first_child[node] + k, parts[k]);
      release(parts[k]);
    }
  }

  std::vector<Part> held(std::vector<Part> parts) {
    for (const Part& part : parts) bytes_ += part.bytes();
    control_.check_memory(bytes_ + tree_.bytes() + data_.bytes());
    return parts;
  }
  void release(Part& part) {
    bytes_ -= part.bytes();
    part = Part();
  }

  MultiwayTree& tree_;
  const Columns& data_;
  const C45Options& options_;
  Control& control_;
  std::vector<double> scratch_;
  std::size_t bytes_ = 0, steps_ = 0;
};

}  // namespace

void prune(MultiwayTree& tree, const Columns& data, const Part& all, const C45Options& options, Control& control) {
  Pruner(tree, data, options, control).prune(0, all);
}

}  // namespace everytree::grow::c45
