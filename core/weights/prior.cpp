#include "weights/prior.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "common/errors.hpp"

namespace everytree {

Prior::Prior(std::vector<double> split, std::vector<double> leaf_open, std::vector<double> leaf_closed,
             bool share_per_test, std::vector<std::int32_t> attributes, double weight_of_tests)
    : log_split(std::move(split)),
      log_leaf_open(std::move(leaf_open)),
      log_leaf_closed(std::move(leaf_closed)),
      per_test(share_per_test),
      test_weight(weight_of_tests),
      fair(!attributes.empty()),
      attribute(std::move(attributes)) {
  if (log_split.empty() || log_leaf_open.empty() || log_leaf_closed.empty())
    throw InvalidInput("the tables of a prior must not be empty");
  for (const auto* table : {&log_split, &log_leaf_open, &log_leaf_closed})
    for (double x : *table)
      if (!(x < std::numeric_limits<double>::infinity()))
        throw InvalidInput("the tables of a prior must hold logarithms below infinity; one entry is " +
                           std::to_string(x));
  if (!(test_weight >= 0 && test_weight <= 10)) throw InvalidInput("the weight of tests must be from 0 to 10");
  if (fair && test_weight != 1) throw InvalidInput("the tests of an attribute-fair prior have the weight 1");
  for (std::int32_t a : attribute)
    if (a < 0) throw InvalidInput("attribute numbers must not be negative");
  std::vector<std::int32_t> first;  // of each run
  for (std::size_t t = 0; t < attribute.size(); ++t)
    if (t == 0 || attribute[t] != attribute[t - 1]) first.push_back(attribute[t]);
  std::sort(first.begin(), first.end());
  in_runs = fair && std::adjacent_find(first.begin(), first.end()) == first.end();
}

void Prior::check_tests(std::size_t n_tests) const {
  if (fair && attribute.size() != n_tests)
    throw InvalidInput("attribute-fair priors need one attribute number per test");
}

}  // namespace everytree
