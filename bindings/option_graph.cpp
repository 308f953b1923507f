#include "grow/option_graph.hpp"

#include <string>

#include "bind.hpp"
#include "grow/option_fold.hpp"

namespace everytree::bind {

using grow::Columns;
using grow::Folded;
using grow::OptionGraph;

namespace {

// The algebra and the part of the graph behind a name.
auto fold_of(const std::string& name) {
  struct Chosen {
    decltype(&grow::fold<SumProduct>) fold;
    grow::Stops stops;
  };
  if (name == "smooth") return Chosen{&grow::fold<SumProduct>, grow::Stops::anywhere};
  if (name == "map") return Chosen{&grow::fold<MaxProduct>, grow::Stops::anywhere};
  if (name == "none") return Chosen{&grow::fold<SumProduct>, grow::Stops::at_ends};
  throw InvalidInput("a fold is \"smooth\", \"map\" or \"none\", not \"" + name + "\"");
}

// Numbers of a fold are of one graph; others would be read beyond their end.
void check_pair(const OptionGraph& graph, const Folded& folded) {
  if (folded.p_leaf.size() != graph.n_nodes() || folded.p_option.size() != graph.n_options())
    throw InvalidInput("the fold is not one of this option graph");
}

}  // namespace

void bind_option_graph(nb::module_& m) {
  nb::class_<OptionGraph>(m, "OptionGraph", "States with their options, over whole columns; one option each is a tree.")
      .def(
          "__init__",
          [](OptionGraph* self, std::size_t n_classes, Flat<std::uint32_t> depth, Flat<std::uint8_t> open,
             Flat<std::int64_t> count_begin, Flat<std::uint32_t> count_class, Flat<std::int64_t> count,
             Flat<std::int64_t> option_begin, Flat<std::int32_t> attribute, Flat<double> threshold,
             Flat<double> log_split, Flat<std::int64_t> child_begin, Flat<std::uint32_t> child) {
            const OptionGraph::Arrays arrays{copied(depth),       copied(open),      copied(count_begin),
                                             copied(count_class), copied(count),     copied(option_begin),
                                             copied(attribute),   copied(threshold), copied(log_split),
                                             copied(child_begin), copied(child)};
            new (self) OptionGraph(OptionGraph::from_arrays(n_classes, arrays));
          },
          nb::arg("n_classes"), nb::arg("depth").noconvert(), nb::arg("open").noconvert(),
          nb::arg("count_begin").noconvert(), nb::arg("count_class").noconvert(), nb::arg("count").noconvert(),
          nb::arg("option_begin").noconvert(), nb::arg("attribute").noconvert(), nb::arg("threshold").noconvert(),
          nb::arg("log_split").noconvert(), nb::arg("child_begin").noconvert(), nb::arg("child").noconvert())
      .def_prop_ro("n_nodes", &OptionGraph::n_nodes)
      .def_prop_ro("n_options", &OptionGraph::n_options)
      .def_prop_ro("n_classes", &OptionGraph::n_classes)
      .def_prop_ro("deepest", &OptionGraph::deepest)
      .def(
          "arrays",
          [](const OptionGraph& self) -> nb::typed<nb::dict, nb::str, nb::any> {
            OptionGraph::Arrays a = self.arrays();
            nb::dict out;
            out["depth"] = as_numpy(std::move(a.depth));
            out["open"] = as_numpy(std::move(a.open));
            out["count_begin"] = as_numpy(std::move(a.count_begin));
            out["count_class"] = as_numpy(std::move(a.count_class));
            out["count"] = as_numpy(std::move(a.count));
            out["option_begin"] = as_numpy(std::move(a.option_begin));
            out["attribute"] = as_numpy(std::move(a.attribute));
            out["threshold"] = as_numpy(std::move(a.threshold));
            out["log_split"] = as_numpy(std::move(a.log_split));
            out["child_begin"] = as_numpy(std::move(a.child_begin));
            out["child"] = as_numpy(std::move(a.child));
            return out;
          },
          "The graph as arrays, options in the order of their nodes, as the constructor takes them.")
      .def(
          "in_order",
          [](const OptionGraph& self, PyControl& control) {
            return run(control, [&](Control& c) { return grow::in_order(self, c); });
          },
          nb::arg("control"),
          "The same graph level by level; its folds then have the options in the order of arrays().")
      .def("check", &OptionGraph::check, nb::arg("columns"), "Raise unless the tests fit the columns.")
      .def(
          "fold",
          [](const OptionGraph& self, const Prior& prior, const DirichletParameters& dirichlet, const std::string& kind,
             PyControl& control) {
            const auto how = fold_of(kind);
            return run(control, [&](Control& c) { return how.fold(self, prior, dirichlet, how.stops, c); });
          },
          nb::arg("prior"), nb::arg("dirichlet"), nb::arg("kind"), nb::arg("control"),
          "Shares of leaf and options at every node: \"smooth\" (sum), \"map\" (max) or \"none\".")
      .def(
          "reach",
          [](const OptionGraph& self, const Folded& folded, PyControl& control) {
            check_pair(self, folded);
            return to_numpy(run(control, [&](Control& c) { return grow::reach(self, folded, c); }));
          },
          nb::arg("folded"), nb::arg("control"), "Probability of each node to be in the tree.")
      .def(
          "predict",
          [](const OptionGraph& self, const Folded& folded, const DirichletParameters& dirichlet, const Columns& data,
             PyControl& control) {
            const std::size_t n = data.n_rows(), c = self.n_classes();
            auto* out = new double[n * c + 1];
            nb::capsule owner(out, [](void* x) noexcept { delete[] static_cast<double*>(x); });
            run(control, [&](Control& k) { grow::predict(self, folded, dirichlet, data, out, k); });
            return RealMatrix(out, {n, c}, owner);
          },
          nb::arg("folded"), nb::arg("dirichlet"), nb::arg("columns"), nb::arg("control"),
          "Class probabilities of rows, averaged over all trees of the graph.")
      .def(
          "likeliest",
          [](const OptionGraph& self, const Folded& folded, PyControl& control) {
            check_pair(self, folded);
            return run(control, [&](Control& c) { return grow::likeliest(self, folded, c); });
          },
          nb::arg("folded"), nb::arg("control"), "The tree with the larger share at every node.")
      .def(
          "draw",
          [](const OptionGraph& self, const Folded& folded, std::uint64_t seed, std::size_t n, PyControl& control) {
            check_pair(self, folded);
            return run(control, [&](Control& c) { return grow::draw(self, folded, seed, n, c); });
          },
          nb::arg("folded"), nb::arg("seed"), nb::arg("n"), nb::arg("control"), "Trees drawn with the folded shares.")
      .def(
          "without_light_options",
          [](const OptionGraph& self, const Folded& folded, double least, PyControl& control) {
            check_pair(self, folded);
            return run(control, [&](Control& c) { return grow::without_light_options(self, folded, least, c); });
          },
          nb::arg("folded"), nb::arg("least"), nb::arg("control"),
          "Without the options whose share of their node is below `least`; fold again afterwards.");

  nb::class_<Folded>(m, "OptionFold", "The shares of leaf and options at every node of an option graph.")
      .def_prop_ro("log_evidence", &Folded::log_evidence)
      .def_prop_ro(
          "log_s", [](const Folded& f) { return to_numpy(f.log_s); }, nb::rv_policy::move)
      .def_prop_ro(
          "p_leaf", [](const Folded& f) { return to_numpy(f.p_leaf); }, nb::rv_policy::move)
      .def_prop_ro("p_option", [](const Folded& f) { return to_numpy(f.p_option); }, nb::rv_policy::move);
}

}  // namespace everytree::bind
