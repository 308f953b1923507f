// What a closed state says about a row, as a quadratic form.
//
// Let Y_i(x) be the number of tests of split i that hold for row x (out of m_i). At the state, split i sends the row to
// side a with weight ω_i · Y_i or ω_i · (m_i − Y_i); there it meets a leaf, or a second test j with outcome b. With the
// weights of the two levels summed by the frontier, the average of a leaf value is
//     f(x) = const + Σ_i b_i Y_i + Σ_ij A_ij Y_i Y_j
// and is rewritten over the *slots*, the fixed variables in which rows are given. Where states choose their tests there
// are no slots, and the variables are the splits of the state, or single tests of theirs.
#pragma once

#include <cstdint>
#include <vector>

#include "frontier/one_level.hpp"

namespace everytree {

// What a row is asked: a class of tests, or a single test where shares differ by attribute.
struct Slot {
  std::uint32_t cls;
  std::uint32_t flipped;  // against the column of the class
  double multiplicity;
  std::vector<std::uint32_t> members;  // test << 1 | flipped against the slot
};

// The slots in which rows are given: classes of tests, or single tests where shares differ by attribute.
// first_slot[k] … first_slot[k + 1] are the slots of test class k.
std::vector<Slot> make_slots(const CountTable& table, const Prior& prior, std::vector<std::uint32_t>& first_slot);

class QuadraticForm {
 public:
  // One matrix for each leaf value. After fold.product<SumProduct>(state, weights, level) with level.n > 0. The
  // matrices have slots.size() + 1 rows of `stride` entries, upper triangular; the last variable is the constant 1.
  // Without slots they have size() rows of stride() entries.
  void build(OneLevelFold& fold, const ProductWeights& weights, const OneLevel& level, const std::vector<Slot>& slots,
             const std::vector<std::uint32_t>& first_slot, std::size_t stride, const std::vector<LeafValue>& values);
  const double* matrix(std::size_t value) const { return matrix_.data() + value * matrix_size_; }
  std::size_t size() const { return elements_.size() + 1; }
  std::size_t stride() const { return (size() + 7) & ~std::size_t{7}; }

 private:
  // A variable of the form before it is rewritten: a split, or one test of it where shares differ.
  struct Element {
    std::uint32_t split, slot, test, flipped;
    double m, unit;
  };
  std::vector<Element> elements_;
  std::vector<std::uint32_t> first_, slot_of_;
  std::vector<double> matrix_, a_, b_, term_[2], zero_, both_, each_, per_test_, difference_[2], factor_, offset_;
  std::size_t matrix_size_ = 0;
  Shares shares_;
};

}  // namespace everytree
