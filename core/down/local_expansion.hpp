// The average over every tree as a sum of parities (down/expansion.hpp), where states choose their tests.
//
// A path is a product of factors (1 ± z_q)/2 over the questions that its states ask, and the exact prediction
//     P(c | x) = Σ_S a_c(S) · Π_{q ∈ S} z_q(x)
// runs over sets with at most one question of each column (down/question_sets.hpp). As |Π z| = 1, leaving out a family
// of sets moves class c by at most the sum of its |a_c(S)|, for every row there may be. There are as many questions as
// cuts that some state makes, thousands, but only sets on a path play a part: they are kept by number, in no table.
//
// What is kept is closed under taking subsets, in the order of need(S) = max_{T ⊇ S} max_c |a_c(T)|, and is written as
// rules, as there.
#pragma once

#include <compare>
#include <vector>

#include "common/lines.hpp"
#include "down/expansion.hpp"
#include "down/question_sets.hpp"
#include "down/set_sum.hpp"

namespace everytree {

// A test with the upper of its cut (table/columns.hpp), as some state offers it.
struct OfferedTest {
  std::uint32_t test, upper;
  auto operator<=>(const OfferedTest&) const = default;
};
// All of them, in order, each once.
std::vector<OfferedTest> offered_tests(const Graph& graph, Control& control);

class LocalExpansion {
 public:
  // question_of[k] is the question that offered_tests()[k] is: several are one where their cuts lie at the same place.
  LocalExpansion(const Posterior& posterior, const std::vector<std::uint32_t>& question_of,
                 std::vector<Question> questions, Control& control);

  // As in Expansion; an item of a rule is question << 1 | outcome.
  Expansion::Point point(double epsilon) const;
  Rules rules(double epsilon, Control& control);

 private:
  using Form = SetSum<std::uint32_t>;
  class Expander;

  void grow(std::size_t held);
  void rank(Control& control);
  std::size_t dropped(double epsilon) const;  // how many of order_ go
  double size_of(std::uint32_t set, std::size_t c) const;
  double largest(std::uint32_t set) const;

  std::size_t n_classes_;
  QuestionSets sets_;
  std::vector<double> sign_;          // of each question: −1 where it mostly holds
  Lines a_;                           // sets × classes but the last
  std::vector<std::uint32_t> order_;  // non-empty sets that play a part, first to go first
  std::vector<double> left_out_;      // the bound when order_[0 … k] are left out
};

}  // namespace everytree
