#include "grow/option_graph.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "common/errors.hpp"

namespace everytree::grow {

OptionGraph::OptionGraph(std::size_t n_classes) : n_classes_(n_classes) {
  if (n_classes == 0) throw InvalidInput("an option graph needs at least one class");
}

std::uint32_t OptionGraph::add_node(std::size_t depth, const std::int64_t* counts) {
  const std::size_t node = n_nodes();
  if (node >= kNoChild) throw InvalidInput("the option graph has 2^32 nodes or more");
  if (depth >= std::numeric_limits<std::uint32_t>::max()) throw InvalidInput("the option graph is too deep");
  for (std::size_t c = 0; c < n_classes_; ++c) {
    if (counts[c] == 0) continue;
    count_class_.push_back(static_cast<std::uint32_t>(c));
    count_.push_back(counts[c]);
  }
  count_begin_.push_back(count_.size());
  depth_.push_back(static_cast<std::uint32_t>(depth));
  deepest_ = std::max(deepest_, depth);
  open_.push_back(0);
  option_begin_.push_back(0);
  n_options_.push_back(0);
  return static_cast<std::uint32_t>(node);
}

void OptionGraph::add_option(std::uint32_t node, std::int32_t attribute, double threshold, double log_split,
                             const std::uint32_t* children, std::size_t n_children) {
  if (node >= n_nodes()) throw InvalidInput("an option of a node that does not exist");
  if (n_options_[node] == 0) option_begin_[node] = n_options();
  if (option_end(node) != n_options())
    throw InvalidInput("the options of node " + std::to_string(node) + " are not one directly after the other");
  ++n_options_[node];
  attribute_.push_back(attribute);
  threshold_.push_back(threshold);
  log_split_.push_back(log_split);
  child_.insert(child_.end(), children, children + n_children);
  child_begin_.push_back(child_.size());
}

void OptionGraph::counts(std::size_t node, std::int64_t* out) const {
  std::fill(out, out + n_classes_, 0);
  for (std::size_t k = count_begin_[node]; k < count_begin_[node + 1]; ++k) out[count_class_[k]] = count_[k];
}

std::int64_t OptionGraph::total(std::size_t node) const {
  return std::accumulate(count_.begin() + static_cast<std::ptrdiff_t>(count_begin_[node]),
                         count_.begin() + static_cast<std::ptrdiff_t>(count_begin_[node + 1]), std::int64_t{0});
}

std::vector<std::uint32_t> OptionGraph::by_depth() const {
  std::vector<std::size_t> next(deepest_ + 2, 0);
  for (const std::uint32_t d : depth_) ++next[d + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<std::uint32_t> order(n_nodes());
  for (std::uint32_t node = 0; node < n_nodes(); ++node) order[next[depth_[node]]++] = node;
  return order;
}

std::size_t OptionGraph::bytes() const {
  return depth_.capacity() * 4 + open_.capacity() + option_begin_.capacity() * 8 + n_options_.capacity() * 4 +
         count_begin_.capacity() * 8 + count_class_.capacity() * 4 + count_.capacity() * 8 + attribute_.capacity() * 4 +
         (threshold_.capacity() + log_split_.capacity() + child_begin_.capacity()) * 8 + child_.capacity() * 4;
}

std::uint32_t OptionGraph::add_node_like(const OptionGraph& other, std::size_t node) {
  if (n_nodes() >= kNoChild) throw InvalidInput("the option graph has 2^32 nodes or more");
  for (std::size_t k = other.count_begin(node); k < other.count_begin(node + 1); ++k) {
    count_class_.push_back(other.count_class(k));
    count_.push_back(other.count(k));
  }
  count_begin_.push_back(count_.size());
  depth_.push_back(other.depth_[node]);
  deepest_ = std::max(deepest_, other.depth(node));
  open_.push_back(other.open_[node]);
  option_begin_.push_back(0);
  n_options_.push_back(0);
  return static_cast<std::uint32_t>(n_nodes() - 1);
}

namespace {

void fail_option(std::size_t option, const char* what) {
  throw InvalidInput("option " + std::to_string(option) + " of the option graph: " + what);
}

void fail_node(std::size_t node, const char* what) {
  throw InvalidInput("node " + std::to_string(node) + " of the option graph: " + what);
}

// begin[0] = 0, never falls, and ends at `size`.
void check_begins(const std::vector<std::int64_t>& begin, std::size_t n, std::size_t size, const char* name) {
  bool good = begin.size() == n + 1 && begin[0] == 0 && begin[n] == static_cast<std::int64_t>(size);
  for (std::size_t k = 0; good && k < n; ++k) good = begin[k] <= begin[k + 1];
  if (!good)
    throw InvalidInput(std::string(name) + " of the option graph must start at 0, never fall, and end at " +
                       std::to_string(size));
}

}  // namespace

OptionGraph OptionGraph::from_arrays(std::size_t n_classes, const Arrays& a) {
  OptionGraph graph(n_classes);
  const std::size_t n = a.depth.size(), n_options = a.attribute.size();
  if (n == 0) throw InvalidInput("the option graph has no node");
  if (n >= kNoChild) throw InvalidInput("the option graph has 2^32 nodes or more");
  if (a.open.size() != n || a.count_class.size() != a.count.size() || a.threshold.size() != n_options ||
      a.log_split.size() != n_options)
    throw InvalidInput("the arrays of the option graph differ in length");
  check_begins(a.count_begin, n, a.count.size(), "count_begin");
  check_begins(a.option_begin, n, n_options, "option_begin");
  check_begins(a.child_begin, n_options, a.child.size(), "child_begin");
  if (a.depth[0] != 0) fail_node(0, "the root must be at depth 0");
  for (std::size_t node = 0; node < n; ++node) {
    if (a.depth[node] >= n) fail_node(node, "deeper than the graph has nodes");
    std::int64_t sum = 0, last = -1;
    for (auto k = static_cast<std::size_t>(a.count_begin[node]); k < static_cast<std::size_t>(a.count_begin[node + 1]);
         ++k) {
      if (a.count_class[k] >= n_classes || static_cast<std::int64_t>(a.count_class[k]) <= last)
        fail_node(node, "classes must be known and in order");
      last = a.count_class[k];
      // 2^53: sums of counts stay exact as doubles
      if (a.count[k] < 1 || a.count[k] > (std::int64_t{1} << 53) - sum)
        fail_node(node, "counts must be at least 1, and their sum at most 2^53");
      sum += a.count[k];
    }
    graph.n_options_.push_back(static_cast<std::uint32_t>(a.option_begin[node + 1] - a.option_begin[node]));
    graph.option_begin_.push_back(static_cast<std::size_t>(a.option_begin[node]));
    graph.open_.push_back(a.open[node] != 0);
    graph.deepest_ = std::max(graph.deepest_, static_cast<std::size_t>(a.depth[node]));
  }
  graph.depth_ = a.depth;
  graph.count_begin_.assign(a.count_begin.begin(), a.count_begin.end());
  graph.count_class_ = a.count_class;
  graph.count_ = a.count;
  graph.attribute_ = a.attribute;
  graph.threshold_ = a.threshold;
  graph.log_split_ = a.log_split;
  graph.child_begin_.assign(a.child_begin.begin(), a.child_begin.end());
  graph.child_ = a.child;
  graph.check_examples();
  return graph;
}

OptionGraph::Arrays OptionGraph::arrays() const {
  Arrays a;
  a.depth = depth_;
  a.open = open_;
  a.count_begin.assign(count_begin_.begin(), count_begin_.end());
  a.count_class = count_class_;
  a.count = count_;
  a.attribute.resize(n_options());
  a.threshold.resize(n_options());
  a.log_split.resize(n_options());
  a.option_begin.assign(1, 0);
  a.child_begin.assign(1, 0);
  // Options in the order of their nodes, whatever the order they were added in.
  std::size_t at = 0;
  a.child.reserve(child_.size());
  for (std::size_t node = 0; node < n_nodes(); ++node) {
    for (std::size_t o = option_begin(node); o < option_end(node); ++o, ++at) {
      a.attribute[at] = attribute_[o];
      a.threshold[at] = threshold_[o];
      a.log_split[at] = log_split_[o];
      a.child.insert(a.child.end(), children(o), children(o) + n_children(o));
      a.child_begin.push_back(static_cast<std::int64_t>(a.child.size()));
    }
    a.option_begin.push_back(static_cast<std::int64_t>(at));
  }
  return a;
}

// So a tree of the graph has no more leaves than examples, and no row reaches a state twice.
void OptionGraph::check_examples() const {
  std::vector<std::int64_t> left(n_classes_, 0);
  for (std::size_t node = 0; node < n_nodes(); ++node) {
    const std::int64_t n = option_end(node) > option_begin(node) ? total(node) : 0;
    for (std::size_t o = option_begin(node); o < option_end(node); ++o) {
      if (!(log_split_[o] < std::numeric_limits<double>::infinity()))
        fail_option(o, "log_split must be below infinity");
      for (std::size_t e = count_begin_[node]; e < count_begin_[node + 1]; ++e) left[count_class_[e]] = count_[e];
      std::int64_t rest = n;
      for (std::size_t k = 0; k < n_children(o); ++k) {
        const std::uint32_t child = children(o)[k];
        if (child == kNoChild) continue;
        if (child >= n_nodes()) fail_option(o, "no such child");
        if (depth_[child] != depth_[node] + 1) fail_option(o, "a child must lie one level below its parent");
        const std::int64_t below = total(child);
        if (below == 0 || below >= n) fail_option(o, "a child must have some of the examples of its parent, not all");
        rest -= below;
        for (std::size_t e = count_begin_[child]; e < count_begin_[child + 1]; ++e)
          if ((left[count_class_[e]] -= count_[e]) < 0) rest = -1;
        if (rest < 0) break;
      }
      if (rest != 0) fail_option(o, "its children must share out the examples of the node");
      for (std::size_t e = count_begin_[node]; e < count_begin_[node + 1]; ++e) left[count_class_[e]] = 0;
    }
  }
}

void OptionGraph::check(const Columns& data) const {
  for (std::size_t o = 0; o < n_options(); ++o) {
    if (attribute_[o] < 0 || static_cast<std::size_t>(attribute_[o]) >= data.n_columns())
      fail_option(o, "no such column");
    const Column& column = data[static_cast<std::size_t>(attribute_[o])];
    const double at = threshold_[o];
    if (column.numeric && (std::isnan(at) || at == -std::numeric_limits<double>::infinity()))
      fail_option(o, "a numeric test needs a threshold");
    if (!column.numeric && !every_value(column, at) && !(at >= 0 && at < column.n_values && at == std::floor(at)))
      fail_option(o, "the threshold of a nominal test must be one of its codes");
    if (n_children(o) != n_slots(column, at)) fail_option(o, "the number of children does not fit the column");
  }
}

}  // namespace everytree::grow
