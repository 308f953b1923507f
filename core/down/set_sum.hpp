// A polynomial in 0/1 or ±1 variables: numbers of sets (down/subsets.hpp, down/question_sets.hpp) and their
// coefficients, sorted and summed from time to time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace everytree {

template <class Number>
struct SetSum {
  struct Term {
    Number set;
    double value;
  };
  std::vector<Term> terms;

  void add(Number set, double value) {
    terms.push_back({set, value});
    if (terms.size() > 2 * sorted_ + 64) tidy();
  }
  void tidy() {
    std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.set < b.set; });
    std::size_t n = 0;
    for (std::size_t k = 0; k < terms.size(); ++k)
      if (n > 0 && terms[n - 1].set == terms[k].set)
        terms[n - 1].value += terms[k].value;
      else
        terms[n++] = terms[k];
    terms.resize(n);
    sorted_ = n;
  }

 private:
  std::size_t sorted_ = 0;
};

}  // namespace everytree
