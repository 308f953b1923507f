#include "kernels/kernels.hpp"

#include "bind.hpp"

namespace everytree::bind {

void bind_kernels(nb::module_& m) {
  m.def("kernels", [] { return std::string(kernels().name); }, "Name of the kernels in use.");
  m.def(
      "available_kernels",
      [] {
        std::vector<std::string> names;
        for (const auto* k : available_kernels()) names.emplace_back(k->name);
        return names;
      },
      "Names of the kernels this CPU can run, portable first.");
  m.def("use_kernels", &use_kernels, nb::arg("name"), "Use these kernels from now on; \"\" picks the fastest.");
}

}  // namespace everytree::bind
