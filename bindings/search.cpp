// Search: branch and bound for one tree of least cost.
#include "everytree/search/search.hpp"

#include "bind.hpp"

namespace everytree::bind {

void bind_search(nb::module_& m) {
  nb::class_<Found>(m, "Found", "The answer of a search, proved or not.")
      .def_ro("cost", &Found::cost)
      .def_ro("lower", &Found::lower)
      .def_ro("proved", &Found::proved)
      .def_ro("stopped", &Found::stopped)
      .def_ro("key", &Found::key)
      .def_ro("n_states", &Found::n_states)
      .def_ro("n_folds", &Found::n_folds)
      .def_ro("n_bytes", &Found::n_bytes);

  nb::class_<Search>(m, "Search", "Branch and bound over the states of a table.")
      .def(
          "__init__",
          [](Search* self, std::shared_ptr<CountTable> table, const LeafCost& cost, std::int64_t min_leaf,
             std::size_t n_threads, bool merge, bool identical_rows, bool support, bool similarity, bool siblings) {
            SearchOptions o;
            o.min_leaf = min_leaf;
            o.n_threads = n_threads;
            o.merge = merge;
            o.bounds = {identical_rows, support, similarity, siblings};
            new (self) Search(std::move(table), cost, o);
          },
          nb::arg("table"), nb::arg("cost"), nb::arg("min_leaf"), nb::arg("n_threads") = 1, nb::arg("merge") = true,
          nb::arg("identical_rows") = true, nb::arg("support") = true, nb::arg("similarity") = true,
          nb::arg("siblings") = true)
      .def(
          "run",
          [](Search& self, int max_depth, bool smallest, PyControl& control) {
            Found found = run(control, [&](Control& c) { return self.run(max_depth, smallest, c); });
            // A search that is stopped answers with what it knows; Ctrl-C is still Ctrl-C.
            if (PyErr_Occurred()) throw nb::python_error();
            return found;
          },
          nb::arg("max_depth"), nb::arg("smallest"), nb::arg("control"),
          "Search until proved or a limit is reached; a later run goes on from there.");
}

}  // namespace everytree::bind
