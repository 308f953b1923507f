#include "grow/path_average.hpp"

#include "bind.hpp"

namespace everytree::bind {

void bind_path_average(nb::module_& m) {
  m.def(
      "grow_path_average",
      [](const grow::Columns& columns, double s, bool nonuniform, PyControl& control) {
        grow::PathAverageTree grown =
            run(control, [&](Control& c) { return grow::grow_path_average(columns, s, nonuniform, c); });
        return std::make_tuple(std::move(grown.tree), to_numpy(std::move(grown.log_leaf)),
                               to_numpy(std::move(grown.log_b)));
      },
      nb::arg("columns"), nb::arg("s"), nb::arg("nonuniform"), nb::arg("control"),
      "A tree grown by the Bayesian score, with the leaf score and log B of each node.");
}

}  // namespace everytree::bind
