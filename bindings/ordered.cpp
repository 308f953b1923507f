// The best tree over every cut-point of ordered columns.
#include "bind.hpp"
#include "ordered/solver.hpp"

namespace everytree::bind {

void bind_ordered(nb::module_& m) {
  using ordered::Answer;
  nb::class_<Answer>(m, "OrderedAnswer", "The best tree over every cut-point, proved or not.")
      .def_ro("cost", &Answer::cost)
      .def_ro("lower", &Answer::lower)
      .def_ro("proved", &Answer::proved)
      .def_ro("stopped", &Answer::stopped)
      .def_prop_ro("columns",
                   [](const Answer& a) {
                     std::vector<std::int32_t> out;
                     for (const ordered::Step& step : a.tree) out.push_back(step.column);
                     return out;
                   })
      .def_prop_ro("ranks",
                   [](const Answer& a) {
                     std::vector<std::uint32_t> out;
                     for (const ordered::Step& step : a.tree) out.push_back(step.rank);
                     return out;
                   })
      .def_ro("n_solved", &Answer::n_solved)
      .def_ro("n_bytes", &Answer::n_bytes);

  m.def(
      "best_ordered",
      [](const std::vector<Flat<std::uint32_t>>& columns, const Flat<std::uint16_t>& classes,
         const Flat<std::int32_t>& weights,
         const nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& costs, std::int64_t price,
         std::int64_t min_leaf, int max_depth, std::size_t n_threads, PyControl& control) {
        if (costs.shape(0) != costs.shape(1)) throw InvalidInput("costs must have a number for each class and label");
        // Columns come one by one, so that they are copied once: of large data every copy is a tenth of the memory.
        const std::size_t n_rows = classes.shape(0);
        std::vector<std::uint32_t> ranks;
        ranks.reserve(columns.size() * n_rows);
        for (const auto& column : columns) {
          if (column.shape(0) != n_rows) throw InvalidInput("ranks and classes differ in length");
          ranks.insert(ranks.end(), column.data(), column.data() + n_rows);
        }
        const ordered::Problem problem(
            n_rows, columns.size(), std::move(ranks), copied(classes), copied(weights), costs.shape(0),
            std::vector<std::int64_t>(costs.data(), costs.data() + costs.shape(0) * costs.shape(1)), price, min_leaf);
        Answer answer =
            run(control, [&](Control& c) { return ordered::Solver(problem, max_depth, c, n_threads).run(); });
        // A search that is stopped answers with what it knows; Ctrl-C is still Ctrl-C.
        if (PyErr_Occurred()) throw nb::python_error();
        return answer;
      },
      nb::arg("ranks"), nb::arg("classes").noconvert(), nb::arg("weights").noconvert(), nb::arg("costs").noconvert(),
      nb::arg("price"), nb::arg("min_leaf"), nb::arg("max_depth"), nb::arg("n_threads"), nb::arg("control"),
      "The best tree with tests `rank of a column <= r`, over every column and r; ranks has an array for each column. "
      "Columns and ranks of the answer are those of its nodes in preorder, the rows above a cut first, −1 for leaves.");
}

}  // namespace everytree::bind
