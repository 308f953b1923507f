// Search: branch and bound for one tree of least cost.
#include "everytree/search/search.hpp"
#include "everytree/search/probable.hpp"

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

  nb::class_<MostProbable>(m, "MostProbable", "The answer of a search for the most probable tree, proved or not.")
      .def_ro("log_joint", &MostProbable::log_joint)
      .def_ro("upper", &MostProbable::upper)
      .def_ro("proved", &MostProbable::proved)
      .def_ro("stopped", &MostProbable::stopped)
      .def_ro("key", &MostProbable::key)
      .def_ro("n_states", &MostProbable::n_states)
      .def_ro("n_opened", &MostProbable::n_opened)
      .def_ro("n_bytes", &MostProbable::n_bytes);

  nb::class_<ProbableSearch>(m, "ProbableSearch", "Best first search for the most probable tree.")
      .def(
          "__init__",
          [](ProbableSearch* self, std::shared_ptr<CountTable> table, std::vector<double> log_split,
             std::vector<double> log_leaf_open, std::vector<double> log_leaf_closed, bool per_test,
             std::vector<std::int32_t> attributes, const std::vector<std::vector<double>>& dirichlet, int max_depth,
             std::int64_t min_leaf, bool by_depth, bool merge, bool look_ahead, bool spread, bool outvoted,
             bool tables) {
            ProbableOptions o{max_depth, min_leaf, by_depth, merge, look_ahead, spread, outvoted, tables};
            const Prior prior = read_prior(std::move(log_split), std::move(log_leaf_open), std::move(log_leaf_closed),
                                           per_test, std::move(attributes), table->n_tests());
            auto leaf = read_dirichlet(dirichlet, *table);
            new (self) ProbableSearch(std::move(table), prior, std::move(leaf), o);
          },
          nb::arg("table"), nb::arg("log_split"), nb::arg("log_leaf_open"), nb::arg("log_leaf_closed"),
          nb::arg("per_test"), nb::arg("attributes"), nb::arg("dirichlet"), nb::arg("max_depth"), nb::arg("min_leaf"),
          nb::arg("by_depth"), nb::arg("merge") = true, nb::arg("look_ahead") = true, nb::arg("spread") = true,
          nb::arg("outvoted") = true, nb::arg("tables") = true)
      .def(
          "run",
          [](ProbableSearch& self, PyControl& control) {
            MostProbable found = run(control, [&](Control& c) { return self.run(c); });
            if (PyErr_Occurred()) throw nb::python_error();
            return found;
          },
          nb::arg("control"), "Search until proved or a limit is reached; a later run goes on from there.");
}

}  // namespace everytree::bind
