#include "grow/path_average.hpp"

#include "bind.hpp"

namespace everytree::bind {

void bind_path_average(nb::module_& m) {
  nb::enum_<grow::Spread>(m, "Spread", "How S is spread over the classes in the scores of a node.")
      .value("uniform", grow::Spread::uniform, "S/C for every class")
      .value("own", grow::Spread::own, "by the classes that the node has")
      .value("parent", grow::Spread::parent, "a split by those of the node, the leaf by those of its parent");
  m.def(
      "grow_path_average",
      [](const grow::Columns& columns, double s, grow::Spread spread, PyControl& control) {
        grow::PathAverageTree grown =
            run(control, [&](Control& c) { return grow::grow_path_average(columns, s, spread, c); });
        return std::make_tuple(std::move(grown.tree), to_numpy(std::move(grown.log_leaf)),
                               to_numpy(std::move(grown.log_b)));
      },
      nb::arg("columns"), nb::arg("s"), nb::arg("spread"), nb::arg("control"),
      "A tree grown by the Bayesian score, with the leaf score and log B of each node.");
}

}  // namespace everytree::bind
