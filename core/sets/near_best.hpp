// Questions about the near-best set: how many trees, with which tests, and what they say of a row.
//
//     N(v)[l, e] = [leaf here] + Σ_splits Σ_cells  tests · N(child 1)[l1, e1] · N(child 0)[l − l1, e − e1]    (upward)
// counts the trees of a cell exactly. For a row x, the number of ways to complete a subtree at v with (l, e) so that x
// passes v and the whole tree is in the set is
//     W(child x takes)[l1, e1] += Σ_cells  tests that send x there · N(sibling)[l0, e0] · W(v)[l1 + l0, e1 + e0]
// from W(root) = 1 down, and a leaf at v with e errors decides x in W(v)[1, e] trees.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "algebra/count.hpp"
#include "down/new_rows.hpp"
#include "sets/near_set.hpp"

namespace everytree {

class NearBest {
 public:
  // Prepares the least errors. No tree of more than most_leaves leaves will be asked for.
  NearBest(std::shared_ptr<const Graph> graph, std::size_t most_leaves, std::size_t n_threads, Control& control);
  NearBest(const NearBest&) = delete;

  const Graph& graph() const { return *graph_; }
  // Least errors of the trees with l leaves, entry l − 1; −1 where there is none.
  std::vector<std::int32_t> least() const;
  // Keep the trees with l leaves and at most limits[l − 1] errors (−1: none), and count them.
  void keep(const std::vector<std::int32_t>& limits, Control& control);

  const NearSet& set() const;
  std::size_t bytes() const;
  // Number of trees below node v, one for each cell.
  struct Cell {
    std::size_t leaves;
    std::int32_t errors;
    Natural n_trees;
  };
  std::vector<Cell> cells(std::size_t v) const;
  // Trees with these leaves and errors below node v, for one test of each split in turn.
  std::vector<Natural> by_split(std::size_t v, std::size_t leaves, std::int32_t errors) const;
  // Trees of the set that use each original test.
  std::vector<Natural> test_use(Control& control) const;

  // What the trees say of each row, class by class (n_rows × n_classes each): the mean, least and greatest probability
  // of the row's leaf, (n_c + a_c) / (n + Σa), and the share of trees whose leaf gives the class the largest
  // probability (the lowest class on ties).
  struct Rows {
    std::vector<double> mean, least, greatest, votes;
  };
  Rows ask(const NewRows& rows, const std::vector<double>& a, Control& control) const;

 private:
  using Wide128 = Limb2;

  std::shared_ptr<const Graph> graph_;
  std::size_t n_threads_;
  std::optional<LeastErrors> least_;
  std::unique_ptr<const NearSet> set_;
  std::vector<double> approximate_;  // N, cell by cell; infinite where a double is too small
  // The same exactly, in the smallest numbers that hold the whole set.
  std::variant<std::vector<std::uint64_t>, std::vector<Wide128>, std::vector<Natural>> exact_;
};

}  // namespace everytree
