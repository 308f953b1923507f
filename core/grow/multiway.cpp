#include "grow/multiway.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "common/errors.hpp"

namespace everytree::grow {

std::size_t MultiwayTree::add_root() {
  attribute.assign(1, -1);
  threshold.assign(1, std::numeric_limits<double>::quiet_NaN());
  first_child.assign(1, 0);
  n_children.assign(1, 0);
  counts_ = Stretched();
  counts_.resize(n_classes_);
  return 0;
}

std::size_t MultiwayTree::split(std::size_t node, std::int32_t column, double at, std::size_t n) {
  const std::size_t first = n_nodes();
  if (first + n > std::numeric_limits<std::uint32_t>::max()) throw InvalidInput("the tree has more than 2^32 nodes");
  attribute[node] = column;
  threshold[node] = at;
  first_child[node] = static_cast<std::uint32_t>(first);
  n_children[node] = static_cast<std::uint32_t>(n);
  attribute.resize(first + n, -1);
  threshold.resize(first + n, std::numeric_limits<double>::quiet_NaN());
  first_child.resize(first + n, 0);
  n_children.resize(first + n, 0);
  counts_.resize((first + n) * n_classes_);
  return first;
}

void MultiwayTree::make_leaf(std::size_t node) {
  attribute[node] = -1;
  threshold[node] = std::numeric_limits<double>::quiet_NaN();
  first_child[node] = n_children[node] = 0;
}

void MultiwayTree::replace(std::size_t node, std::size_t by) {
  attribute[node] = attribute[by];
  threshold[node] = threshold[by];
  first_child[node] = first_child[by];
  n_children[node] = n_children[by];
}

void MultiwayTree::compact() {
  std::vector<std::uint32_t> old(1, 0);  // new node → old node, filled while it is read: breadth first
  for (std::size_t node = 0; node < old.size(); ++node)
    for (std::uint32_t k = 0; k < n_children[old[node]]; ++k) old.push_back(first_child[old[node]] + k);
  // The counts are nearly all of a tree of many classes: they change places, so that they are never there twice.
  std::vector<std::uint32_t> place(n_nodes()), at(n_nodes());  // old node → its place so far, and back
  std::iota(place.begin(), place.end(), std::uint32_t{0});
  std::iota(at.begin(), at.end(), std::uint32_t{0});
  for (std::uint32_t node = 0; node < old.size(); ++node) {
    const std::uint32_t from = place[old[node]];
    if (from == node) continue;
    std::swap_ranges(counts(node), counts(node) + n_classes_, counts(from));
    std::swap(at[node], at[from]);
    place[at[node]] = node;
    place[at[from]] = from;
  }
  counts_.resize(old.size() * n_classes_);
  counts_.shrink();
  MultiwayTree tree(n_classes_);
  std::uint32_t next = 1;
  for (std::uint32_t node : old) {
    tree.attribute.push_back(attribute[node]);
    tree.threshold.push_back(threshold[node]);
    tree.first_child.push_back(n_children[node] > 0 ? next : 0);
    tree.n_children.push_back(n_children[node]);
    next += n_children[node];
  }
  tree.counts_ = std::move(counts_);
  *this = std::move(tree);
}

double MultiwayTree::total(std::size_t node) const {
  return std::accumulate(counts(node), counts(node) + n_classes_, 0.0);
}

std::size_t MultiwayTree::reach(const Columns& data, std::size_t row) const {
  std::size_t node = 0;
  while (!is_leaf(node)) {
    const std::int32_t k = branch(node, data, row);
    if (k < 0) break;
    node = first_child[node] + static_cast<std::size_t>(k);
  }
  return node;
}

void MultiwayTree::check(const Columns& data) const {
  const std::size_t n = n_nodes();
  const auto fail = [](std::size_t node, const char* what) {
    throw InvalidInput("node " + std::to_string(node) + " of the tree: " + what);
  };
  if (n == 0) throw InvalidInput("the tree has no node");
  if (threshold.size() != n || first_child.size() != n || n_children.size() != n || counts_.size() != n * n_classes_)
    throw InvalidInput("the arrays of the tree differ in length");
  for (std::size_t node = 0; node < n; ++node) {
    if (attribute[node] < 0) {
      if (n_children[node] != 0) fail(node, "a leaf has no children");
      continue;
    }
    if (static_cast<std::size_t>(attribute[node]) >= data.n_columns()) fail(node, "no such column");
    const Column& column = data[static_cast<std::size_t>(attribute[node])];
    if (column.numeric && std::isnan(threshold[node])) fail(node, "a numeric test needs a threshold");
    if (n_children[node] != n_branches(column, threshold[node]))
      fail(node, "the number of children does not fit the column");
    if (first_child[node] <= node || first_child[node] > n || n_children[node] > n - first_child[node])
      fail(node, "children must come after their parent");
  }
}

std::size_t MultiwayTree::bytes() const { return n_nodes() * (4 + 8 + 4 + 4 + 8 * n_classes_); }

}  // namespace everytree::grow
