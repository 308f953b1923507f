// A tree with any number of branches, flat: a node is an index, its children are first_child … first_child + n_children
// − 1.
//
// The test of a node is on one column, with a child for each of its branches (grow/branch.hpp). A row whose value is
// missing or was not declared has no branch: it stops at the node. Children come after their parent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/stretched.hpp"
#include "grow/branch.hpp"
#include "grow/columns.hpp"

namespace everytree::grow {

class MultiwayTree {
 public:
  explicit MultiwayTree(std::size_t n_classes) : n_classes_(n_classes) {}

  // Node 0; counts are zero.
  std::size_t add_root();
  // Give a leaf a test and children with zero counts; returns the first of them.
  std::size_t split(std::size_t node, std::int32_t attribute, double threshold, std::size_t n_children);
  // Forget the test of a node. Its subtree stays in the arrays, unreachable, until compact().
  void make_leaf(std::size_t node);
  // Put the test and the children of another node in the place of this node's; the counts stay.
  void replace(std::size_t node, std::size_t by);
  // Drop what cannot be reached, in place. Nodes are then in the order of their depth, siblings side by side.
  void compact();

  std::size_t n_nodes() const { return attribute.size(); }
  std::size_t n_classes() const { return n_classes_; }
  bool is_leaf(std::size_t node) const { return attribute[node] < 0; }
  double* counts(std::size_t node) { return counts_.data() + node * n_classes_; }
  const double* counts(std::size_t node) const { return counts_.data() + node * n_classes_; }
  double total(std::size_t node) const;

  // The branch of a row at an inner node: its number, kMissing or kUnseen.
  std::int32_t branch(std::size_t node, const Columns& data, std::size_t row) const {
    return branch_of(data[static_cast<std::size_t>(attribute[node])], threshold[node], row);
  }
  // The node at which a row stops: a leaf, or an inner node that has no branch for it.
  std::size_t reach(const Columns& data, std::size_t row) const;
  // Throws InvalidInput unless every node's test fits the columns and children come after their parents.
  void check(const Columns& data) const;
  std::size_t bytes() const;

  std::vector<std::int32_t> attribute;  // −1 for a leaf
  std::vector<double> threshold;
  std::vector<std::uint32_t> first_child, n_children;
  Stretched counts_;  // n_nodes × n_classes; fractional where missing values were shared out

 private:
  std::size_t n_classes_;
};

}  // namespace everytree::grow
