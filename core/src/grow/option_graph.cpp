#include "everytree/grow/option_graph.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "everytree/errors.hpp"

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

void OptionGraph::check(const Columns& data) const {
  if (n_nodes() == 0) throw InvalidInput("the option graph has no node");
  const auto fail = [](std::size_t option, const char* what) {
    throw InvalidInput("option " + std::to_string(option) + " of the option graph: " + what);
  };
  if (depth_[0] != 0) throw InvalidInput("node 0 of the option graph must be at depth 0");
  if (deepest_ >= n_nodes()) throw InvalidInput("the option graph is deeper than it has nodes");
  for (std::size_t node = 0; node < n_nodes(); ++node) {
    std::int64_t sum = 0;
    for (std::size_t k = count_begin_[node]; k < count_begin_[node + 1]; ++k) {
      // 2^53: sums of counts stay exact as doubles
      if (count_[k] < 0 || count_[k] > (std::int64_t{1} << 53) - sum)
        throw InvalidInput("node " + std::to_string(node) + " of the option graph: counts must be from 0 to 2^53");
      sum += count_[k];
    }
  }
  std::vector<std::int64_t> left(n_classes_);
  for (std::size_t node = 0; node < n_nodes(); ++node) {
    if (option_begin_[node] > n_options() || n_options_[node] > n_options() - option_begin_[node])
      throw InvalidInput("node " + std::to_string(node) + " of the option graph: no such options");
    for (std::size_t o = option_begin(node); o < option_end(node); ++o) {
      if (attribute_[o] < 0 || static_cast<std::size_t>(attribute_[o]) >= data.n_columns()) fail(o, "no such column");
      const Column& column = data[static_cast<std::size_t>(attribute_[o])];
      const double at = threshold_[o];
      const bool every_value = !column.numeric && std::isnan(at);
      if (column.numeric && (std::isnan(at) || at == -std::numeric_limits<double>::infinity()))
        fail(o, "a numeric test needs a threshold");
      if (!column.numeric && !every_value && !(at >= 0 && at < column.n_values && at == std::floor(at)))
        fail(o, "the threshold of a nominal test must be one of its codes");
      if (n_children(o) != (every_value ? static_cast<std::size_t>(column.n_values) + 1 : 3))
        fail(o, "the number of children does not fit the column");
      if (!(log_split_[o] < std::numeric_limits<double>::infinity()))
        fail(o, "log_split must be a number below infinity");
      counts(node, left.data());
      const std::int64_t n = total(node);
      for (std::size_t k = 0; k < n_children(o); ++k) {
        const std::uint32_t child = children(o)[k];
        if (child == kNoChild) continue;
        if (child >= n_nodes()) fail(o, "no such child");
        if (depth_[child] != depth_[node] + 1) fail(o, "a child must lie one level below its parent");
        const std::int64_t below = total(child);
        if (below == 0 || below >= n) fail(o, "a child must have some of the examples of its parent, not all");
        for (std::size_t e = count_begin_[child]; e < count_begin_[child + 1]; ++e) left[count_class_[e]] -= count_[e];
      }
      for (const std::int64_t rest : left)
        if (rest != 0) fail(o, "its children must share out the examples of the node");
    }
  }
}

}  // namespace everytree::grow
