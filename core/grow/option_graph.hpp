// The option graph: a part of the AND/OR graph of all trees, over whole columns.
//
// A node is a state: the examples that reach it, and its depth. It may be a leaf, or be split by one of its *options*,
// a test with a child for every branch that has examples. One option per node is a grown tree with all its prunings;
// all tests as options are the whole space. A tree of the graph chooses, from the root down, "leaf" or one option.
//
// The test of an option is on one column, and its children have slots: those of its branches (grow/branch.hpp), and
// the last for missing values. kNoChild where no example of the node goes; a row that would go there stops at the node.
//
// A child lies one level below its parents, of which it may have several. Node 0 is the root.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "grow/branch.hpp"
#include "grow/columns.hpp"

namespace everytree::grow {

constexpr std::uint32_t kNoChild = 0xffffffffu;

class OptionGraph {
 public:
  explicit OptionGraph(std::size_t n_classes);

  // A node with the class counts of its examples; closed until set_open. Nodes may come in any order.
  std::uint32_t add_node(std::size_t depth, const std::int64_t* counts);
  // A node like one of another graph, without its options.
  std::uint32_t add_node_like(const OptionGraph& other, std::size_t node);
  // Open: some test is feasible at the node, whether it is an option or not. The prior of a leaf depends on it.
  void set_open(std::uint32_t node, bool open) { open_[node] = open; }
  // The options of one node are added one directly after the other. log_split: what the prior charges for the test.
  void add_option(std::uint32_t node, std::int32_t attribute, double threshold, double log_split,
                  const std::uint32_t* children, std::size_t n_children);

  std::size_t n_classes() const { return n_classes_; }
  std::size_t n_nodes() const { return depth_.size(); }
  std::size_t n_options() const { return attribute_.size(); }
  std::size_t depth(std::size_t node) const { return depth_[node]; }
  std::size_t deepest() const { return deepest_; }
  bool open(std::size_t node) const { return open_[node] != 0; }

  // Counts are kept for the classes that a node has: entries count_begin(node) … count_begin(node + 1) − 1.
  std::size_t count_begin(std::size_t node) const { return count_begin_[node]; }
  std::uint32_t count_class(std::size_t entry) const { return count_class_[entry]; }
  std::int64_t count(std::size_t entry) const { return count_[entry]; }
  const std::uint32_t* count_classes() const { return count_class_.data(); }
  const std::int64_t* all_counts() const { return count_.data(); }
  void counts(std::size_t node, std::int64_t* out) const;  // n_classes of them
  std::int64_t total(std::size_t node) const;

  // Options option_begin(node) … option_end(node) − 1.
  std::size_t option_begin(std::size_t node) const { return option_begin_[node]; }
  std::size_t option_end(std::size_t node) const { return option_begin_[node] + n_options_[node]; }
  std::int32_t attribute(std::size_t option) const { return attribute_[option]; }
  double threshold(std::size_t option) const { return threshold_[option]; }
  double log_split(std::size_t option) const { return log_split_[option]; }
  const std::uint32_t* children(std::size_t option) const { return child_.data() + child_begin_[option]; }
  std::size_t n_children(std::size_t option) const { return child_begin_[option + 1] - child_begin_[option]; }

  // The child that a row goes to, or kNoChild.
  std::uint32_t child_of(std::size_t option, const Columns& data, std::size_t row) const {
    const std::int32_t k = branch_of(data[static_cast<std::size_t>(attribute_[option])], threshold_[option], row);
    if (k == kUnseen) return kNoChild;
    return children(option)[k == kMissing ? n_children(option) - 1 : static_cast<std::size_t>(k)];
  }

  // The nodes by depth: parents before their children.
  std::vector<std::uint32_t> by_depth() const;
  std::size_t bytes() const;
  // The arrays of a graph, as a model file or a test has them.
  struct Arrays {
    std::vector<std::uint32_t> depth;
    std::vector<std::uint8_t> open;
    std::vector<std::int64_t> count_begin;  // one more than nodes
    std::vector<std::uint32_t> count_class;
    std::vector<std::int64_t> count;
    std::vector<std::int64_t> option_begin;  // one more than nodes: options are in the order of their nodes
    std::vector<std::int32_t> attribute;
    std::vector<double> threshold, log_split;
    std::vector<std::int64_t> child_begin;  // one more than options
    std::vector<std::uint32_t> child;
  };
  // Nodes and options in the order of `arrays`. Throws InvalidInput unless the arrays fit together, children lie one
  // level below their parent, and the children of every option share out the examples of its node, each with fewer.
  static OptionGraph from_arrays(std::size_t n_classes, const Arrays& arrays);
  Arrays arrays() const;
  // Throws InvalidInput unless tests and slots fit the columns. Every use with columns from outside asks.
  void check(const Columns& data) const;

 private:
  void check_examples() const;

  std::size_t n_classes_;
  std::size_t deepest_ = 0;
  std::vector<std::uint32_t> depth_;
  std::vector<std::uint8_t> open_;
  std::vector<std::size_t> option_begin_;
  std::vector<std::uint32_t> n_options_;
  std::vector<std::size_t> count_begin_{0};  // one more than nodes
  std::vector<std::uint32_t> count_class_;
  std::vector<std::int64_t> count_;
  std::vector<std::int32_t> attribute_;
  std::vector<double> threshold_, log_split_;
  std::vector<std::size_t> child_begin_{0};  // one more than options
  std::vector<std::uint32_t> child_;
};

}  // namespace everytree::grow
