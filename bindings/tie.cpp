#include "algebra/tie.hpp"

#include "bind.hpp"

namespace everytree::bind {

void bind_tie(nb::module_& m) {
  m.def("tied", static_cast<bool (*)(double, double)>(&tied), nb::arg("x"), nb::arg("y"),
        "Whether two scores are the same up to the rounding of sums.");
  m.def("below", &below, nb::arg("x"), "Anything at or above this does not improve on x.");
  m.def("above", &above, nb::arg("x"), "Anything at or above this is worse than x.");
}

}  // namespace everytree::bind
