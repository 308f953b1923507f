// Tree priors as tables of numbers. Every prior of the library has the form
//     split at depth d with e feasible tests:  exp(log_split[d]) · t
//     leaf at depth d:                         exp(log_leaf_open[d]) or exp(log_leaf_closed[d])
// where t = 1, or e^−w (per_test, w = test_weight, usually 1), or attribute-fair: 1/(attributes with a feasible test ·
// feasible tests of that attribute), times e where the tests weigh 1 otherwise (fair; then w is 1). A leaf is *open* if
// a feasible test could still follow: e > 0 and the depth limit is not reached.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace everytree {

struct Prior {
  std::vector<double> log_split{0.0}, log_leaf_open{0.0}, log_leaf_closed{0.0};  // by depth; the last entry goes on
  bool per_test = false;
  double test_weight = 1;               // how often the choice of a test counts, with per_test
  bool fair = false;                    // attribute-fair tests
  std::vector<std::int32_t> attribute;  // of each original test, when fair
  bool in_runs = false;                 // the tests of each attribute stand together

  Prior() = default;  // every tree weighs the same
  // Checked. With attributes, one for each test, the prior is fair.
  Prior(std::vector<double> split, std::vector<double> leaf_open, std::vector<double> leaf_closed, bool share_per_test,
        std::vector<std::int32_t> attributes = {}, double weight_of_tests = 1);
  void check_tests(std::size_t n_tests) const;  // throws if a fair prior has not the attributes of so many tests

  static double at(const std::vector<double>& table, std::size_t depth) {
    return table[depth < table.size() ? depth : table.size() - 1];
  }
  double log_leaf(std::size_t depth, bool open) const {
    return open ? at(log_leaf_open, depth) : at(log_leaf_closed, depth);
  }
  // Without the share of the test.
  double log_split_base(std::size_t depth) const { return at(log_split, depth); }
  // Log share of one test among e feasible ones (not fair).
  double log_share(double n_tests) const { return per_test ? -test_weight * std::log(n_tests) : 0.0; }
  // What the shares of e feasible tests add up to where they are fair.
  double fair_sum(double n_tests) const { return per_test ? 1.0 : n_tests; }
  // What to divide by for that share: 1, or e^w.
  double share_divisor(double n_tests) const {
    if (!per_test) return 1.0;
    return test_weight == 1 ? n_tests : std::pow(n_tests, test_weight);
  }
};

}  // namespace everytree
