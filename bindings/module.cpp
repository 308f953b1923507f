#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "everytree/kernels/kernels.hpp"

namespace nb = nanobind;

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of everytree.";
  m.def("kernels", [] { return std::string(everytree::kernels().name); }, "Name of the kernels in use.");
  m.def(
      "available_kernels",
      [] {
        std::vector<std::string> names;
        for (const auto* k : everytree::available_kernels()) names.emplace_back(k->name);
        return names;
      },
      "Names of the kernels this CPU can run, portable first.");
  m.def("use_kernels", &everytree::use_kernels, nb::arg("name"), "Use these kernels from now on; \"\" picks the fastest.");
}
