#include "down/forest.hpp"

#include <algorithm>
#include <string>

#include "common/errors.hpp"
#include "common/parallel.hpp"
#include "table/node_offers.hpp"

namespace everytree {

namespace {

constexpr std::uint32_t kNobody = ~std::uint32_t{0};
constexpr std::size_t kAbreast = 8;  // rows that walk side by side
constexpr std::uint32_t kSteps = 4;  // after so many it is seen whether all of them have arrived
// Of the rows of a part: their tests and sums stay in the cache while all trees are asked. As many as fit, because a
// tree is read anew for each part: of 680 trees with 250,000 nodes 1,000 rows took 70 ms in parts of 64 rows.
constexpr std::size_t kPartBytes = std::size_t{1} << 18;
constexpr std::size_t kPartWalks = std::size_t{1} << 21;  // between looks at the clock: 40 ms
constexpr std::size_t kLeastRows = 64;

bool holds(const std::uint8_t* row, const ForestNode& node) { return row[node.test] != 0; }
bool holds(const std::uint16_t* row, const ForestNode& node) { return row[node.test] <= node.upper; }

// The leaf of each of kAbreast rows.
template <class Cell>
void walk(const ForestNode* nodes, const ForestTree& tree, const Cell* rows, std::size_t n_tests,
          std::uint32_t (&at)[kAbreast]) {
  for (std::uint32_t& one : at) one = tree.root;
  // Deep trees are uneven: most rows arrive at half of the depth.
  std::uint32_t moved = 1;
  for (std::uint32_t step = 0; step < tree.depth && moved != 0;) {
    const std::uint32_t until = std::min(tree.depth, step + kSteps);
    for (; step < until; ++step) {
      moved = 0;
      for (std::size_t k = 0; k < kAbreast; ++k) {
        const ForestNode& node = nodes[at[k]];
        const std::uint32_t next = node.next[holds(rows + k * n_tests, node)];
        moved |= next ^ at[k];
        at[k] = next;
      }
    }
  }
}

template <class Cell>
void add_rows(const ForestView& forest, const Cell* rows, std::size_t n_rows, std::size_t n_tests, double* out) {
  const std::size_t classes = forest.n_classes;
  const auto add = [&](std::size_t row, std::uint32_t leaf) {
    const double* theta = forest.theta + leaf * classes;
    for (std::size_t c = 0; c < classes; ++c) out[row * classes + c] += theta[c];
  };
  // What leaves say is far apart in memory: it is asked for when a row arrives, and added when the next eight have
  // walked. (A third of the time was waiting for it.)
  std::uint32_t at[kAbreast], before[kAbreast];
  for (const ForestTree& tree : forest.trees) {
    std::size_t r = 0;
    for (; r + kAbreast <= n_rows; r += kAbreast) {
      walk(forest.nodes.data(), tree, rows + r * n_tests, n_tests, at);
      for (const std::uint32_t leaf : at)
        for (std::size_t c = 0; c < classes + 7; c += 8) __builtin_prefetch(forest.theta + leaf * classes + c);
      for (std::size_t k = 0; k < kAbreast && r > 0; ++k) add(r - kAbreast + k, before[k]);
      std::copy_n(at, kAbreast, before);
    }
    for (std::size_t k = 0; k < kAbreast && r > 0; ++k) add(r - kAbreast + k, before[k]);
    for (; r < n_rows; ++r) {
      std::uint32_t one = tree.root;
      for (std::uint32_t step = 0; step < tree.depth; ++step)
        one = forest.nodes[one].next[holds(rows + r * n_tests, forest.nodes[one])];
      add(r, one);
    }
  }
}

}  // namespace

void Forest::clear() {
  nodes.clear();
  trees.clear();
  theta.clear();
}

ForestReader::ForestReader(const CountTable& table, int max_depth, const Dirichlet& leaf)
    : table_(&table), max_depth_(max_depth), leaf_(&leaf), counts_(table.n_classes()) {}

void ForestReader::add(std::span<const std::int32_t> key, double weight, Forest& forest) {
  const std::size_t words = table_->n_words(), classes = table_->n_classes();
  forest.trees.push_back({static_cast<std::uint32_t>(forest.nodes.size()), 0});
  open_.assign(1, {kNobody, 0});
  covers_.assign(1, table_->all());
  for (const std::int32_t test : key) {
    if (open_.empty()) throw InvalidInput("a key goes on after its tree is complete");
    const auto [parent, depth] = open_.back();
    open_.pop_back();
    if (forest.nodes.size() >= kNobody) throw InvalidInput("the trees have too many nodes");
    const auto at = static_cast<std::uint32_t>(forest.nodes.size());
    if (parent != kNobody) forest.nodes[parent].next[1] = at;
    if (test < -1 || test >= static_cast<std::int64_t>(table_->n_tests()))
      throw InvalidInput("a key has test " + std::to_string(test) + "; the table has " +
                         std::to_string(table_->n_tests()));
    forest.theta.resize(forest.theta.size() + classes, 0.0);
    // The cover of an open node at depth d is covers_[d], or what the test of its parent leaves of covers_[d − 1].
    if (covers_.size() < depth + 2) covers_.resize(depth + 2, Cover(words));
    Cover& cover = covers_[depth];
    if (parent != kNobody) {
      const std::uint64_t* column = table_->column(forest.nodes[parent].test);
      for (std::size_t w = 0; w < words; ++w) cover[w] = covers_[depth - 1][w] & column[w];
    }
    if (test < 0) {
      forest.nodes.push_back({0, 0, {at, at}});
      table_->class_counts(cover.data(), counts_.data());
      double total = leaf_->sum_a(depth);
      for (std::int32_t n : counts_) total += n;
      for (std::size_t c = 0; c < classes; ++c)
        forest.theta[at * classes + c] = weight * (counts_[c] + leaf_->a(depth, c)) / total;
      continue;
    }
    const auto asked = static_cast<std::uint32_t>(test);
    std::uint32_t upper = 0;
    if (table_->local()) {
      const Cover& offers = tests_from_above(*table_, max_depth_, depth) ? covers_[depth - 1] : cover;
      upper = upper_of(*table_, offers.data(), asked);
    }
    forest.nodes.push_back({asked, upper, {at + 1, at + 1}});
    forest.trees.back().depth = std::max(forest.trees.back().depth, static_cast<std::uint32_t>(depth + 1));
    const std::uint64_t* column = table_->column(asked);
    for (std::size_t w = 0; w < words; ++w) covers_[depth + 1][w] = cover[w] & ~column[w];
    open_.push_back({at, depth + 1});
    open_.push_back({kNobody, depth + 1});
  }
  if (!open_.empty()) throw InvalidInput("a key ends before its tree is complete");
}

void ForestView::check(std::size_t n_tests) const {
  for (const ForestNode& node : nodes) {
    if (node.next[0] >= nodes.size() || node.next[1] >= nodes.size())
      throw InvalidInput("a node of the forest leads out of it");
    if (node.test >= std::max<std::size_t>(1, n_tests)) throw InvalidInput("a node asks for a test that rows lack");
  }
  for (const ForestTree& tree : trees) {
    if (tree.root >= nodes.size()) throw InvalidInput("the root of a tree is outside of the forest");
    if (tree.depth > nodes.size()) throw InvalidInput("a tree is said to be deeper than the forest has nodes");
    if (tree.depth > 0 && n_tests == 0) throw InvalidInput("a node asks for a test that rows lack");
  }
}

void add_forest(const ForestView& forest, const NewRows& rows, std::size_t n_threads, double* out, Control& control) {
  const std::size_t threads = std::max<std::size_t>(1, n_threads);
  const std::size_t row_bytes =
      rows.n_tests * (rows.reach != nullptr ? sizeof *rows.reach : 1) + forest.n_classes * sizeof(double);
  const std::size_t most =
      std::min({kPartBytes / std::max<std::size_t>(1, row_bytes),
                kPartWalks / std::max<std::size_t>(1, forest.trees.size()), (rows.n_rows + threads - 1) / threads});
  const std::size_t in_part = std::max(kLeastRows, most & ~(kAbreast - 1));
  for_each_parallel((rows.n_rows + in_part - 1) / in_part, n_threads, control, nullptr,
                    [&](std::size_t part, std::size_t) {
                      const std::size_t first = part * in_part, n = std::min(rows.n_rows - first, in_part);
                      double* sums = out + first * forest.n_classes;
                      if (rows.reach != nullptr)
                        add_rows(forest, rows.reach + first * rows.n_tests, n, rows.n_tests, sums);
                      else
                        add_rows(forest, rows.outcomes + first * rows.n_tests, n, rows.n_tests, sums);
                    });
}

}  // namespace everytree
