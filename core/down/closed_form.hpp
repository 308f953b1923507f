// What a closed state says about many rows at once.
//
// A row x enters through the outcomes y_e(x) ∈ {0, 1} of the single tests e that the state offers, and the average of a
// leaf value over the trees of the state is
//     f(x) = constant + Σ_e y_e linear_e + Σ_{e < e'} y_e y_e' matrix_{e e'}
// The form is built from the probabilities of the leaves of pairs (OneLevelFold::next_masses), each pair once, and is
// evaluated by patterns of four outcomes (Kernels::pattern_sums), where the tests are cuts of few columns by their runs
// (down/grid.hpp), or where they are few for all combinations of outcomes at once (cells). down/quadratic_form.hpp is
// the same for any weights, over the slots of the whole table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "down/grid.hpp"
#include "down/patterns.hpp"
#include "frontier/one_level.hpp"
#include "kernels/row_kernels.hpp"

namespace everytree {

// Closed states are summed in fixed parts: the same sums for any number of threads.
inline constexpr std::size_t kParts = 16;

class ClosedForm {
 public:
  // A single test that the state offers, in the order of the form.
  struct Element {
    std::uint32_t group, test, upper;
    bool flipped;  // it holds where the split of its group does not
  };
  // After fold.product<SumProduct>(state, weights, level) with level.n > 0, and fold.begin_masses. With `by_group` the
  // elements are the splits of the state themselves: for rows on which the tests of a split agree.
  void begin(const OneLevelFold& fold, bool by_group);
  const std::vector<Element>& elements() const { return elements_; }

  // One form for each of these leaf values.
  void build(OneLevelFold& fold, const ProductWeights& weights, const OneLevel& level,
             const std::vector<LeafValue>& values);

  // The same for left-out examples of some classes y (see down/leave_one_out.hpp): form k · n_classes + c is of y[k]
  // and c, and a leaf gives own[n_y] · all[n] · (n_c − [c = y] + a_c). Without the leaf that the state itself may be.
  struct LeftOut {
    std::size_t y;
    const double *own[2], *all[2];  // of leaves one and two levels below the state
  };
  void build(OneLevelFold& fold, const ProductWeights& weights, const OneLevel& level,
             const std::vector<LeftOut>& left_out);

  // The numbers of one form, over the elements: of the matrix those above its diagonal.
  struct View {
    double constant;
    const double *linear, *matrix;
    std::size_t stride;
  };
  View view(std::size_t value) const {
    const Form& form = forms_[value];
    return {form.constant, form.linear.data(), matrix_of(form), stride_};
  }

  // The rows to be asked, by the outcomes of the elements; kept by the caller. Then out[r] for each, of one form: once.
  void ask(const Patterns& patterns);
  void evaluate(std::size_t value, const Kernels& kernels, double* out);
  // Bytes that both take for so many rows, with the patterns: scratch of the kernels, or a place of each row in every
  // run, of which there are few where rows are asked by them (TestRuns::pay).
  static std::size_t bytes_to_ask(std::size_t n_tests, std::size_t n_rows) {
    const std::size_t pitch = (n_rows + 7) & ~std::size_t{7}, runs = n_tests / 5 + 1;
    return n_tests / 4 * 2 * pitch + std::max(16 * pitch * sizeof(double), runs * n_rows * sizeof(std::uint32_t));
  }
  // Instead of both, where it pays for so many rows: the means of all classes but the last were built, and every
  // combination of outcomes has its cell with the means of all classes (RowKernels::cell_table).
  bool cells_pay(std::size_t n_rows) const {
    return elements_.size() <= kMostCellTests && std::size_t{1} << elements_.size() <= 4 * n_rows;
  }
  const double* cell_means(std::size_t n_means, const RowKernels& kernels);
  static void cells_of(const Patterns& patterns, std::size_t n_tests, std::vector<std::uint8_t>& cells);
  static std::size_t cell_width(std::size_t n_means) { return (n_means + 8) & ~std::size_t{7}; }
  // Σ of the absolute parts that were added up: a value that is a small part of it lacks digits. Not of means alone.
  double size_of(std::size_t value) const { return forms_[value].size; }

 private:
  static constexpr std::size_t kMostCellTests = 8;
  struct Form {
    std::vector<double> matrix, linear;
    double constant = 0, size = 0;
  };
  const double* matrix_of(const Form& form) const { return pairs_ ? form.matrix.data() : zeros_.data(); }
  void singles(const Form& form, double* out) const;
  void reset(std::size_t n_values, const OneLevelFold& fold);
  PairSums sums(std::size_t value, std::size_t i, const Frontier& frontier);
  void spread(std::size_t n_values);  // from single tests of groups to elements

  std::vector<Element> elements_;
  std::vector<Form> forms_;
  const Patterns* patterns_ = nullptr;
  TestRuns runs_;
  bool by_runs_ = false;
  std::vector<double> scratch_, factor_[4], wide_, multiplicity_, coefficients_, cells_;
  std::vector<MeanTerm> terms_;
  // Where one test may follow, no two do: 3,000 rows of 400 classes with 228 tests took 166 MB of zeros, and 0.53 s
  // instead of 0.045.
  bool pairs_ = true;
  std::vector<double> zeros_;
  bool plain_ = true;  // an element for each group
  std::size_t stride_ = 0;
};

}  // namespace everytree
