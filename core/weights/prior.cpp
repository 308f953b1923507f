#include "weights/prior.hpp"

#include <limits>
#include <string>
#include <utility>

#include "common/errors.hpp"

namespace everytree {

Prior::Prior(std::vector<double> split, std::vector<double> leaf_open, std::vector<double> leaf_closed,
             bool share_per_test, std::vector<std::int32_t> attributes)
    : log_split(std::move(split)),
      log_leaf_open(std::move(leaf_open)),
      log_leaf_closed(std::move(leaf_closed)),
      per_test(share_per_test),
      fair(!attributes.empty()),
      attribute(std::move(attributes)) {
  if (log_split.empty() || log_leaf_open.empty() || log_leaf_closed.empty())
    throw InvalidInput("the tables of a prior must not be empty");
  for (const auto* table : {&log_split, &log_leaf_open, &log_leaf_closed})
    for (double x : *table)
      if (!(x < std::numeric_limits<double>::infinity()))
        throw InvalidInput("the tables of a prior must hold logarithms below infinity; one entry is " +
                           std::to_string(x));
  for (std::int32_t a : attribute)
    if (a < 0) throw InvalidInput("attribute numbers must not be negative");
}

void Prior::check_tests(std::size_t n_tests) const {
  if (fair && attribute.size() != n_tests)
    throw InvalidInput("attribute-fair priors need one attribute number per test");
}

}  // namespace everytree
