#include "graph/graph.hpp"

#include <algorithm>

#include "bind.hpp"
#include "fold/estimate.hpp"
#include "sets/query.hpp"

namespace everytree::bind {

Columns read_columns(const ColumnRows& rows, std::size_t n_tests, const UpperTables& tables) {
  std::vector<Column> columns;
  for (std::size_t k = 0; k < rows.shape(0); ++k) {
    const std::int32_t* x = rows.data() + 5 * k;
    if ((x[0] != 0 && x[0] != 1) || x[1] < 0 || x[2] < 0 || x[3] < -1 || x[4] < 0)
      throw InvalidInput("column " + std::to_string(k) + " is not described by kind, tests, missing and bins");
    columns.push_back({x[0] == 0 ? Column::Kind::ordered : Column::Kind::nominal, static_cast<std::uint32_t>(x[1]),
                       static_cast<std::uint32_t>(x[2]), static_cast<std::uint32_t>(x[3]),
                       static_cast<std::uint32_t>(x[4])});
  }
  Uppers uppers;
  for (const auto& table : tables) {
    uppers.emplace_back();
    if (table) uppers.back().assign(table->data(), table->data() + table->size());
  }
  return Columns(std::move(columns), n_tests, std::move(uppers));
}

void bind_graph(nb::module_& m) {
  nb::class_<PyControl>(m, "Control", "Limits of a computation, a way to stop it, and its progress callback.",
                        nb::is_weak_referenceable())
      .def(
          "__init__",
          [](PyControl* self, std::optional<double> time_limit, std::optional<std::size_t> memory_limit,
             nb::object progress) {
            new (self) PyControl();
            if (time_limit) self->control.time_limit = *time_limit;
            if (memory_limit) self->control.memory_limit = *memory_limit;
            self->progress = std::move(progress);
          },
          nb::arg("time_limit") = nb::none(), nb::arg("memory_limit") = nb::none(), nb::arg("progress") = nb::none())
      .def(
          "check", [](PyControl& self) { run(self, [](Control& c) { c.check(true, "", 0, 0); }); },
          "Raise if a limit is reached.")
      .def(
          "check_memory", [](PyControl& self, std::size_t bytes) { self.control.check_memory(bytes); },
          nb::arg("bytes"), "Raise if so many bytes would exceed the memory limit.")
      .def(
          "hold",
          [](PyControl& self, std::size_t bytes) {
            self.control.memory_limit -= std::min(bytes, self.control.memory_limit);
          },
          nb::arg("bytes"),
          "Count bytes that are kept outside of the core: the memory limit is so much less from here on.")
      .def("stop", [](PyControl& self) { self.control.stop(); }, "Stop the running computation, from any thread.");

  nb::class_<CountTable>(m, "CountTable", "Distinct 0/1 rows with class counts, as bit columns.")
      .def(
          "__init__",
          [](CountTable* self, Rows rows, Counts counts, PyControl& control, std::optional<ColumnRows> columns,
             const UpperTables& uppers) {
            if (rows.shape(0) != counts.shape(0)) throw InvalidInput("rows and counts differ in length");
            Columns by_column;
            if (columns) by_column = read_columns(*columns, rows.shape(1), uppers);
            run(control, [&](Control& c) {
              new (self) CountTable(rows.data(), counts.data(), rows.shape(0), rows.shape(1), counts.shape(1), &c,
                                    std::move(by_column));
            });
          },
          nb::arg("rows").noconvert(), nb::arg("counts").noconvert(), nb::arg("control"),
          nb::arg("columns").noconvert() = nb::none(), nb::arg("uppers") = UpperTables(),
          "columns: int32 rows (kind, first test, end of tests, test for missing or -1, bins); states choose their "
          "tests from them. uppers: for each column None, or the upper of each pair of codes, where it is not the "
          "second of them.");

  nb::class_<Graph>(m, "Graph", "The AND/OR graph of all trees of a space.")
      .def(
          "__init__",
          [](Graph* self, std::shared_ptr<CountTable> table, int max_depth, std::int64_t min_leaf, bool by_depth,
             bool merge, bool frontier, std::size_t n_threads, PyControl& control) {
            GraphOptions o;
            o.max_depth = max_depth;
            o.min_leaf = min_leaf;
            o.by_depth = by_depth;
            o.merge = merge;
            o.frontier = frontier;
            o.n_threads = n_threads;
            run(control, [&](Control& c) { new (self) Graph(std::move(table), o, c); });
          },
          nb::arg("table"), nb::arg("max_depth"), nb::arg("min_leaf"), nb::arg("by_depth"), nb::arg("merge"),
          nb::arg("frontier"), nb::arg("n_threads"), nb::arg("control"))
      .def_prop_ro("n_states", &Graph::size)
      .def_prop_ro("n_inner", &Graph::n_inner)
      .def_prop_ro("n_bytes", &Graph::bytes)
      .def_prop_ro("deepest", &Graph::deepest)
      .def(
          "limited",
          [](const Graph& g, PyControl& control) { return run(control, [&](Control& c) { return g.limited(c); }); },
          nb::arg("control"), "Whether a deeper limit would admit more trees.")
      .def(
          "count",
          [](const Graph& g, PyControl& control) {
            const Natural n = run(control, [&](Control& c) { return count_trees(g, c); });
            std::string bytes(n.limbs().size() * 8, '\0');
            for (std::size_t k = 0; k < bytes.size(); ++k)
              bytes[k] = static_cast<char>(n.limbs()[k / 8] >> (8 * (k % 8)) & 0xff);
            return nb::bytes(bytes.data(), bytes.size());
          },
          nb::arg("control"), "Number of trees, little-endian bytes.")
      .def(
          "best",
          [](const Graph& g, const LeafCost& cost, std::size_t k, PyControl& control) {
            std::vector<std::pair<double, Key>> out;
            for (Ranked& tree : run(control, [&](Control& c) { return best_trees(g, cost, k, c); }))
              out.emplace_back(tree.score, std::move(tree.key));
            return out;
          },
          nb::arg("cost"), nb::arg("k"), nb::arg("control"), "The k trees of least cost: (cost, key) pairs.")
      .def(
          "least",
          [](const Graph& g, const LeafCost& cost, PyControl& control) {
            return run(control, [&](Control& c) { return least_cost(g, cost, c); });
          },
          nb::arg("cost"), nb::arg("control"), "The least cost alone.")
      .def(
          "front",
          [](const Graph& g, const LeafCost& cost, PyControl& control) {
            std::vector<std::tuple<std::size_t, double, Key>> out;
            for (FrontPoint& p : run(control, [&](Control& c) { return cost_front(g, cost, c); }))
              out.emplace_back(p.leaves, p.cost, std::move(p.key));
            return out;
          },
          nb::arg("cost"), nb::arg("control"),
          "Least cost for every number of leaves, dominated ones left out: (leaves, cost, key).");

  m.def(
      "estimate",
      [](std::shared_ptr<CountTable> table, int max_depth, std::int64_t min_leaf, double budget, PyControl& control) {
        GraphOptions o;
        o.max_depth = max_depth;
        o.min_leaf = min_leaf;
        const GraphEstimate e =
            run(control, [&](Control& c) { return estimate_graph(std::move(table), o, budget, c); });
        return std::make_tuple(e.states, e.bytes, e.seconds);
      },
      nb::arg("table"), nb::arg("max_depth"), nb::arg("min_leaf"), nb::arg("budget"), nb::arg("control"),
      "About how many states a graph would store, in how many bytes, and the seconds to fold its evidence.");
}

}  // namespace everytree::bind
