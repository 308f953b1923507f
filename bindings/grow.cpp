#include <algorithm>

#include "bind.hpp"
#include "grow/c45.hpp"
#include "grow/columns.hpp"
#include "grow/multiway.hpp"

namespace everytree::bind {

using grow::Columns;
using grow::MultiwayTree;

void bind_grow(nb::module_& m) {
  nb::class_<Columns>(m, "Columns", "Whole columns, nominal and numeric, as greedy growers see them.")
      .def(nb::init<std::size_t>(), nb::arg("n_rows"))
      .def(
          "add_nominal",
          [](Columns& self, Flat<std::int32_t> codes, std::int32_t n_values) {
            self.add_nominal(copied(codes), n_values);
          },
          nb::arg("codes").noconvert(), nb::arg("n_values"), "Codes 0 … n_values − 1; −1 is missing, −2 unseen.")
      .def(
          "add_numeric", [](Columns& self, Flat<double> values) { self.add_numeric(copied(values)); },
          nb::arg("values").noconvert(), "Finite numbers; NaN is missing.")
      .def(
          "set_classes",
          [](Columns& self, Flat<std::int32_t> classes, std::int32_t n_classes,
             std::optional<Flat<std::int64_t>> weights, std::int64_t per_example) {
            self.set_classes(copied(classes), n_classes, weights ? copied(*weights) : std::vector<std::int64_t>(),
                             per_example);
          },
          nb::arg("classes").noconvert(), nb::arg("n_classes"), nb::arg("weights").none(), nb::arg("per_example") = 1,
          "Classes 0 … n_classes − 1 and whole weights of the rows, of which per_example make one example.")
      .def_prop_ro("n_columns", &Columns::n_columns);

  nb::class_<MultiwayTree>(m, "MultiwayTree", "A tree with any number of branches, in flat arrays.")
      .def(
          "__init__",
          [](MultiwayTree* self, Flat<std::int32_t> attribute, Flat<double> threshold, Flat<std::uint32_t> first_child,
             Flat<std::uint32_t> n_children,
             nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> counts) {
            if (counts.shape(0) != attribute.shape(0)) throw InvalidInput("counts must have one row per node");
            new (self) MultiwayTree(counts.shape(1));
            self->attribute = copied(attribute);
            self->threshold = copied(threshold);
            self->first_child = copied(first_child);
            self->n_children = copied(n_children);
            self->counts_ = Stretched(counts.data(), counts.size());
          },
          nb::arg("attribute").noconvert(), nb::arg("threshold").noconvert(), nb::arg("first_child").noconvert(),
          nb::arg("n_children").noconvert(), nb::arg("counts").noconvert())
      // The policy is that of arrays which own what they hold; `move` would copy it once more.
      .def_prop_ro(
          "attribute", [](const MultiwayTree& self) { return as_numpy(self.attribute); }, nb::rv_policy::automatic)
      .def_prop_ro(
          "threshold", [](const MultiwayTree& self) { return as_numpy(self.threshold); }, nb::rv_policy::automatic)
      .def_prop_ro(
          "first_child", [](const MultiwayTree& self) { return as_numpy(self.first_child); }, nb::rv_policy::automatic)
      .def_prop_ro(
          "n_children", [](const MultiwayTree& self) { return as_numpy(self.n_children); }, nb::rv_policy::automatic)
      .def_prop_ro(
          "counts",
          [](nb::handle_t<MultiwayTree> self) {  // no copy: of many classes, they are nearly all of the tree
            auto& counts = nb::cast<MultiwayTree&>(self).counts_;
            return Reals(counts.data(), {counts.size()}, self);
          },
          nb::rv_policy::automatic, "Class counts of the nodes, one after the other.")
      .def(
          "reach",
          [](const MultiwayTree& self, const Columns& data) {
            self.check(data);
            std::vector<std::int64_t> nodes(data.n_rows());
            for (std::size_t row = 0; row < nodes.size(); ++row)
              nodes[row] = static_cast<std::int64_t>(self.reach(data, row));
            return as_numpy(std::move(nodes));
          },
          nb::arg("columns"), "The node at which each row stops.");

  m.def(
      "grow_c45",
      [](Columns& data, double min_leaf, double confidence, double z, double resolution, bool binary_splits,
         bool collapse, bool prune, bool subtree_raising, PyControl& control) {
        const grow::C45Options options{min_leaf,      confidence, z,     resolution,
                                       binary_splits, collapse,   prune, subtree_raising};
        return run(control, [&](Control& c) { return grow::grow_c45(data, options, c); });
      },
      nb::arg("columns"), nb::arg("min_leaf"), nb::arg("confidence"), nb::arg("z"), nb::arg("resolution"),
      nb::arg("binary_splits"), nb::arg("collapse"), nb::arg("prune"), nb::arg("subtree_raising"), nb::arg("control"),
      "A tree of C4.5; z is the normal quantile of 1 − confidence.");
  m.def(
      "predict_c45",
      [](const MultiwayTree& tree, const Columns& data, bool laplace, PyControl& control) {
        const std::size_t n = data.n_rows(), c = tree.n_classes();
        auto* out = new double[n * c + 1];
        nb::capsule owner(out, [](void* x) noexcept { delete[] static_cast<double*>(x); });
        run(control, [&](Control& k) { grow::predict_c45(tree, data, laplace, out, k); });
        return RealMatrix(out, {n, c}, owner);
      },
      nb::arg("tree"), nb::arg("columns"), nb::arg("laplace"), nb::arg("control"), "Class probabilities of rows.");
}

}  // namespace everytree::bind
