// The average over every tree as one polynomial, for many rows.
//
// Where tests are fixed a row is v_t(x), 1 if test t holds. The probability that a row passes a closed
// state is a sum of products of v_t and 1 − v_t, what the state says is a quadratic form (down/closed_form.hpp), and so
// all closed states together say
//     f(x) = Σ_S b(S) Π_{t ∈ S} v_t(x)
//          = b(∅) + Σ_t b({t}) v_t + Σ_Q Π_{t ∈ Q} v_t · Σ_{k < l < min Q} b(Q ∪ {k, l}) v_k v_l.
// States whose paths differ in the outcomes or in the order of their tests meet in the same sets: each set is asked
// once, not the pairs of each state, and only of rows that have all of Q; the inner sums go by patterns of four tests.
// (400 tests at depth 3: 11 million sets for half of the rows instead of 32 million pairs for each.) The coefficients
// belong to no row: what they took is shared by all batches.
#pragma once

#include <cstdint>
#include <vector>

#include "down/closed_form.hpp"
#include "down/new_rows.hpp"
#include "down/patterns.hpp"
#include "down/row_flow.hpp"
#include "down/set_sum.hpp"
#include "down/subsets.hpp"

namespace everytree {

class RowPolynomial {
 public:
  // For the means of so many classes.
  RowPolynomial(const Graph& graph, std::size_t n_means);
  // Whether it takes less time for so many rows than asking every state, and how much memory: as if every part had a
  // thread, so that the way that is taken is the same for any number of them.
  bool pays(std::size_t n_rows) const;
  std::uint64_t bytes() const;

  // For weights that OneLevelFold::begin_masses serves, one fold for each thread; `flow` knows the probabilities.
  // States that no row can pass with a probability above `least` are left out. Progress counts `n_rows`, which are all
  // to be asked: nearly all of the time is gone when it is built.
  void build(const RowFlow& flow, const ProductWeights& weights, const SecondLevels& kept, double least,
             std::size_t n_rows, std::vector<OneLevelFold>& folds, Control& control);

  // The outcomes of some rows; then out[r * n_means + c] += f_c, part by part: kParts of them.
  void load(const NewRows& rows, std::size_t from, std::size_t n);
  void evaluate(std::size_t part, Control& control, bool calling, double* out) const;

 private:
  // A quadratic form over the variables: pairs (k < l) at C(l, 2) + k.
  struct Form {
    double constant = 0;
    std::vector<double> linear, square;
    void clear(std::size_t n);
    void add(double weight, const Form& other);
    double* row(std::size_t l) { return square.data() + l * (l - 1) / 2; }
    const double* row(std::size_t l) const { return square.data() + l * (l - 1) / 2; }
  };
  // What a closed state says of each mean, and the variables of its elements.
  struct Said {
    std::vector<Form> forms;
    std::vector<std::uint32_t> at;
    std::vector<double> turned;
  };
  struct Work;
  std::vector<std::uint32_t> find_paths(const RowFlow& flow, const Prior& prior, double least, Control& control);
  void say(const ClosedForm& form, Said& out) const;
  void spread(std::uint64_t set, const Form& form, std::vector<double>& b) const;
  std::size_t form_bytes() const;
  std::size_t said_at_once(std::size_t n_threads) const;  // forms of closed states
  void descend(std::size_t level, std::uint32_t q, std::uint64_t base, const Patterns& patterns,
               const std::vector<std::uint32_t>& rows, Work& work, double* out) const;
  void block(std::uint64_t base, std::size_t n, bool with_linear, const Patterns& patterns,
             const std::vector<std::uint32_t>& rows, Work& work, double* out) const;

  const Graph* graph_;
  std::size_t n_asked_ = 0;
  std::size_t n_means_, above_ = 0;  // tests above a closed state, at most
  // Of each test, and back. The last test is variable 0: rows of a form are rows of ClosedForm's matrix, backwards.
  std::vector<std::uint32_t> variable_, tests_;
  Subsets sets_{0, 0};
  std::vector<SetSum<std::uint64_t>> paths_;  // of closed states
  std::vector<std::vector<double>> b_;        // by mean and set
  Form spare_;
  Patterns rows_;
};

}  // namespace everytree
