#include "sets/near_best.hpp"

#include "bind.hpp"

namespace everytree::bind {

namespace {

nb::bytes little_endian(const Natural& n) {
  std::string bytes(n.limbs().size() * 8, '\0');
  for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<char>(n.limbs()[k / 8] >> (8 * (k % 8)) & 0xff);
  return nb::bytes(bytes.data(), bytes.size());
}

RealMatrix to_matrix(std::vector<double> values, std::size_t n_columns) {
  auto* data = new std::vector<double>(std::move(values));
  nb::capsule owner(data, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return RealMatrix(data->data(), {data->size() / n_columns, n_columns}, owner);
}

template <class R>
std::tuple<RealMatrix, RealMatrix, RealMatrix, RealMatrix> ask(const NearBest& self, R rows,
                                                               const std::vector<double>& a, PyControl& control) {
  const NewRows given = new_rows(rows, self.graph().table());
  NearBest::Rows out = run(control, [&](Control& c) { return self.ask(given, a, c); });
  const std::size_t n = self.graph().table().n_classes();
  return {to_matrix(std::move(out.mean), n), to_matrix(std::move(out.least), n), to_matrix(std::move(out.greatest), n),
          to_matrix(std::move(out.votes), n)};
}

}  // namespace

void bind_near_best(nb::module_& m) {
  nb::class_<NearBest>(m, "NearBest", "Every tree with few enough errors for its number of leaves.")
      .def(
          "__init__",
          [](NearBest* self, std::shared_ptr<Graph> graph, std::size_t most_leaves, std::size_t n_threads,
             PyControl& control) {
            run(control, [&](Control& c) { new (self) NearBest(std::move(graph), most_leaves, n_threads, c); });
          },
          nb::arg("graph"), nb::arg("most_leaves"), nb::arg("n_threads"), nb::arg("control"))
      .def_prop_ro("least", &NearBest::least, "Least errors for 1, 2, … leaves; −1 where there is no tree.")
      .def(
          "keep",
          [](NearBest& self, const std::vector<std::int32_t>& limits, PyControl& control) {
            run(control, [&](Control& c) { self.keep(limits, c); });
          },
          nb::arg("limits"), nb::arg("control"), "Keep the trees with l leaves and at most limits[l − 1] errors.")
      .def(
          "cells",
          [](const NearBest& self, std::size_t v) {
            nb::list out;
            for (const NearBest::Cell& cell : self.cells(v))
              out.append(nb::make_tuple(cell.leaves, cell.errors, little_endian(cell.n_trees)));
            return out;
          },
          nb::arg("node"), nb::sig("def cells(self, node: int) -> list[tuple[int, int, bytes]]"),
          "(leaves, errors, number of trees as little-endian bytes) of a node.")
      .def(
          "node",
          [](const NearBest& self, std::size_t v) {
            const NearSet& set = self.set();
            if (v >= set.size()) throw InvalidInput("the set has no node " + std::to_string(v));
            const NearSet::Node& node = set.node(v);
            const auto tests = [&](std::uint32_t id) {
              const auto span = set.test_set(id);
              return std::vector<std::uint32_t>(span.begin(), span.end());
            };
            std::vector<std::tuple<std::vector<std::uint32_t>, std::uint32_t, std::uint32_t>> splits;
            std::vector<std::pair<std::vector<std::uint32_t>, std::int32_t>> cherries;
            for (const auto& s : set.splits(node)) splits.emplace_back(tests(s.tests), s.child[0], s.child[1]);
            for (const auto& c : set.cherries(node)) cherries.emplace_back(tests(c.tests), c.errors);
            return std::make_tuple(node.leaf_errors, std::move(splits), std::move(cherries));
          },
          nb::arg("node"),
          "Errors of the leaf (−1: none), splits as (tests, child 0, child 1), cherries as (tests, errors); a test is "
          "2 · test + 1 if its outcome 1 leads to child 0.")
      .def(
          "by_split",
          [](const NearBest& self, std::size_t v, std::size_t leaves, std::int32_t errors) {
            nb::list out;
            for (const Natural& n : self.by_split(v, leaves, errors)) out.append(little_endian(n));
            return out;
          },
          nb::arg("node"), nb::arg("leaves"), nb::arg("errors"),
          nb::sig("def by_split(self, node: int, leaves: int, errors: int) -> list[bytes]"),
          "Number of trees of a cell for one test of each split of a node, as little-endian bytes.")
      .def(
          "test_use",
          [](const NearBest& self, PyControl& control) {
            nb::list out;
            for (const Natural& n : run(control, [&](Control& c) { return self.test_use(c); }))
              out.append(little_endian(n));
            return out;
          },
          nb::arg("control"), nb::sig("def test_use(self, control: Control) -> list[bytes]"),
          "Number of trees that use each test, as little-endian bytes.")
      .def("ask", &ask<Rows>, nb::arg("rows").noconvert(), nb::arg("a"), nb::arg("control"),
           "Mean, least and greatest leaf probability, and share of votes, of every class for every row.")
      .def("ask", &ask<Reach>, nb::arg("rows").noconvert(), nb::arg("a"), nb::arg("control"),
           "The same for rows of what each test reaches, where states choose their tests.");
}

}  // namespace everytree::bind
