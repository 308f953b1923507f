#include "weights/dirichlet_parameters.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "common/errors.hpp"

namespace everytree {

DirichletParameters::DirichletParameters(std::vector<Row> rows, double power, std::int64_t per_example, double kappa)
    : rows_(std::move(rows)), power_(power), per_example_(per_example), kappa_(kappa) {
  if (per_example < 1) throw InvalidInput("per_example is " + std::to_string(per_example) + "; expected at least 1");
  if (!(power >= 0 && power <= 1))
    throw InvalidInput("power is " + std::to_string(power) + "; expected 0 <= power <= 1");
  if (!(kappa >= 0 && kappa <= kMostKappa))
    throw InvalidInput("kappa is " + std::to_string(kappa) + "; expected 0 <= kappa <= 10");
  if (rows_.empty()) throw InvalidInput("dirichlet has no parameters");
  for (const Row& row : rows_) {
    if (row.size() != rows_[0].size()) throw InvalidInput("dirichlet needs one parameter per class");
    for (const double x : row)
      if (!(x > 0) || !std::isfinite(x)) throw InvalidInput("dirichlet parameters must be positive and finite");
  }
}

void DirichletParameters::check_classes(std::size_t n_classes) const {
  if (n_classes != rows_[0].size()) throw InvalidInput("dirichlet needs one parameter per class");
}

}  // namespace everytree
