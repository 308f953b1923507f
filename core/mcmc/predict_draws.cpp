#include "mcmc/predict_draws.hpp"

#include <algorithm>
#include <string>

#include "common/errors.hpp"
#include "common/parallel.hpp"
#include "table/node_offers.hpp"

namespace everytree {

namespace {

constexpr std::size_t kTrees = 64, kRows = 512;  // a block of each: its leaves and its sums stay in the cache

// Trees of a block, their nodes numbered through: child 0 follows its parent, child 1 is at `other`.
struct Block {
  std::vector<std::int32_t> test;
  std::vector<std::uint32_t> other, roots, upper;
  std::vector<double> theta;  // by node and class; 0 at splits

  void clear() {
    test.clear();
    other.clear();
    roots.clear();
    upper.clear();
    theta.clear();
  }
};

class Reader {
 public:
  Reader(const CountTable& table, int max_depth, const Dirichlet& leaf)
      : table_(&table), max_depth_(max_depth), leaf_(&leaf), counts_(table.n_classes()) {}

  void add(std::span<const std::int32_t> key, double weight, Block& block) {
    const std::size_t words = table_->n_words(), classes = table_->n_classes();
    block.roots.push_back(static_cast<std::uint32_t>(block.test.size()));
    open_.assign(1, {kNone, 0});
    covers_.assign(1, table_->all());
    for (std::int32_t test : key) {
      if (open_.empty()) throw InvalidInput("a key goes on after its tree is complete");
      const auto [parent, depth] = open_.back();
      open_.pop_back();
      const auto at = static_cast<std::uint32_t>(block.test.size());
      if (parent != kNone) block.other[parent] = at;
      block.test.push_back(test);
      block.other.push_back(0);
      block.upper.push_back(0);
      block.theta.resize(block.theta.size() + classes, 0.0);
      if (test < -1 || test >= static_cast<std::int64_t>(table_->n_tests()))
        throw InvalidInput("a key has test " + std::to_string(test) + "; the table has " +
                           std::to_string(table_->n_tests()));
      // The cover of an open node at depth d is covers_[d], or what the test of its parent leaves of covers_[d − 1].
      if (covers_.size() < depth + 2) covers_.resize(depth + 2, Cover(words));
      Cover& cover = covers_[depth];
      if (parent != kNone) {
        const std::uint64_t* column = table_->column(static_cast<std::size_t>(block.test[parent]));
        for (std::size_t w = 0; w < words; ++w) cover[w] = covers_[depth - 1][w] & column[w];
      }
      if (test < 0) {
        table_->class_counts(cover.data(), counts_.data());
        double total = leaf_->sum_a(depth);
        for (std::int32_t n : counts_) total += n;
        for (std::size_t c = 0; c < classes; ++c)
          block.theta[at * classes + c] = weight * (counts_[c] + leaf_->a(depth, c)) / total;
        continue;
      }
      if (table_->local()) {
        const Cover& offers = tests_from_above(*table_, max_depth_, depth) ? covers_[depth - 1] : cover;
        block.upper[at] = upper_of(*table_, offers.data(), static_cast<std::uint32_t>(test));
      }
      const std::uint64_t* column = table_->column(static_cast<std::size_t>(test));
      for (std::size_t w = 0; w < words; ++w) covers_[depth + 1][w] = cover[w] & ~column[w];
      open_.push_back({at, depth + 1});
      open_.push_back({kNone, depth + 1});
    }
    if (!open_.empty()) throw InvalidInput("a key ends before its tree is complete");
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Open {
    std::uint32_t parent;  // for child 1; kNone for child 0, whose cover is there already
    std::size_t depth;
  };
  const CountTable* table_;
  int max_depth_;
  const Dirichlet* leaf_;
  std::vector<std::int32_t> counts_;
  std::vector<Open> open_;
  std::vector<Cover> covers_;
};

bool holds(const std::uint8_t* row, std::int32_t test, std::uint32_t) { return row[test] != 0; }
bool holds(const std::uint16_t* row, std::int32_t test, std::uint32_t upper) { return row[test] <= upper; }

template <class Cell>
void average(const CountTable& table, const DrawnTrees& trees, const Dirichlet& leaf, const Cell* rows,
             std::size_t n_rows, std::size_t n_threads, double* out, Control& control) {
  if (trees.weights.size() != trees.ends.size()) throw InvalidInput("expected one weight for each tree");
  const std::size_t classes = table.n_classes(), n_tests = table.n_tests(), n_trees = trees.ends.size();
  std::fill(out, out + n_rows * classes, 0.0);
  Reader reader(table, trees.max_depth, leaf);
  Block block;
  for (std::size_t first = 0; first < n_trees; first += kTrees) {
    block.clear();
    for (std::size_t k = first; k < std::min(n_trees, first + kTrees); ++k) {
      const std::uint64_t begin = k == 0 ? 0 : trees.ends[k - 1], end = trees.ends[k];
      if (begin > end || end > trees.keys.size()) throw InvalidInput("the ends of the keys must rise, to their number");
      if (trees.weights[k] == 0) continue;  // of another batch of draws
      reader.add(trees.keys.subspan(begin, end - begin), trees.weights[k], block);
    }
    control.check(true, "averaging over draws", first, n_trees);
    for_each_parallel((n_rows + kRows - 1) / kRows, n_threads, control, nullptr, [&](std::size_t part, std::size_t) {
      for (std::size_t r = part * kRows; r < std::min(n_rows, (part + 1) * kRows); ++r) {
        const Cell* row = rows + r * n_tests;
        for (std::uint32_t at : block.roots) {
          while (block.test[at] >= 0) at = holds(row, block.test[at], block.upper[at]) ? block.other[at] : at + 1;
          for (std::size_t c = 0; c < classes; ++c) out[r * classes + c] += block.theta[at * classes + c];
        }
      }
    });
  }
}

}  // namespace

void predict_draws(const CountTable& table, const DrawnTrees& trees, const Dirichlet& leaf, const NewRows& rows,
                   std::size_t n_threads, double* out, Control& control) {
  if ((rows.reach != nullptr) != table.local())
    throw InvalidInput("rows are given by their outcomes, or by their reach where states choose their tests");
  if (table.local())
    average(table, trees, leaf, rows.reach, rows.n_rows, n_threads, out, control);
  else
    average(table, trees, leaf, rows.outcomes, rows.n_rows, n_threads, out, control);
}

}  // namespace everytree
