// Trees grown at random on codes of columns, deep; of each all prunings are averaged, and left-out examples are judged
// by trees that did not see them.
//
// A *round* deals the rows of codes out to `n_parts` parts, class by class, and grows a tree without each of them:
//
//     at a node   `columns_at_node` columns are drawn, and further ones until one divides the rows that are seen
//     test        of the drawn columns the one with the largest  Σ_c l_c² / l + Σ_c r_c² / r  (least Gini impurity),
//     the
//                 first of equals; l and r are the examples on its two sides, of the rows that are seen
//     cuts        all between neighbouring codes that are seen, or, with random_cuts, one drawn between the least and
//     the
//                 greatest code; of nominal columns all values that are seen, or one drawn
//     leaf        where the rows that are seen have one class, or no column divides them, or at depth kDeepest
//
// A cut that is found between the codes b < e of rows that are seen lies midway, at code (b + e − 1) / 2: so rows that
// are not seen fall on the side they are nearer to. Scores are quotients of whole numbers: any program that follows
// these lines grows the same trees.
//
// Then all rows count, with a_c parameters and the power η as everywhere (SmoothedTreeClassifier has the same law):
//
//     s(n) = M(n)^η at a leaf,   ½ M(n)^η + ½ s(left) s(right) at a split,   M the marginal likelihood of the counts
//     w(n) = P(a tree of the prunings has its leaf at n | x comes by)        θ(leaf) = Σ_{n above, and itself} w(n)
//     p(n)
//
// What is said of a row of the part that a tree did not see, without one of its examples of class y, is exact for that
// tree: Σ_n w(n) r(n) p⁻(n) over the path, normalised, as in down/leave_one_out.hpp. The mean over the rounds is
// returned as a sum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/control.hpp"
#include "down/forest.hpp"
#include "table/columns.hpp"

namespace everytree::coded {

struct CodedExamples {
  const Columns* columns;                // of all rows; those without tests play no part
  std::span<const std::uint16_t> codes;  // by column, then row; n_codes for a missing value
  std::span<const std::int64_t> counts;  // by row, then class
  std::size_t n_rows, n_classes;
  std::int64_t per_example = 1;  // so many counts are an example
};

struct ForestSettings {
  std::size_t n_parts = 5, columns_at_node = 1;
  bool random_cuts = false;
  double power = 1;
  std::vector<double> a;  // one for each class
  std::uint64_t seed = 0;
};

constexpr std::size_t kDeepest = 64;
constexpr std::int64_t kMostCounts = std::int64_t{1} << 31;  // in all: their squares are added up as 64-bit numbers

// Grows the trees of rounds first … first + n_rounds − 1. `left` has a line of n_classes numbers for every row and
// class with examples, in their order, to which what is said of them is added, once for each round. The same to the
// last bit for any number of threads. Throws InvalidInput if arrays do not fit together.
Forest grow_rounds(const CodedExamples& data, const ForestSettings& settings, std::uint64_t first, std::size_t n_rounds,
                   double* left, std::size_t n_threads, Control& control);

}  // namespace everytree::coded
