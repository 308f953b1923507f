#include "bind.hpp"
#include "sets/pareto.hpp"

namespace everytree::bind {

namespace {

CostKind cost_kind(const std::string& name) {
  if (name == "error") return CostKind::error;
  if (name == "expected_error") return CostKind::expected_error;
  if (name == "gini") return CostKind::gini;
  if (name == "entropy") return CostKind::entropy;
  if (name == "cost") return CostKind::matrix;
  throw InvalidInput("unknown leaf cost \"" + name + "\"; expected error, expected_error, gini, entropy or cost");
}

}  // namespace

void bind_leaves(nb::module_& m) {
  nb::class_<LeafRule>(m, "LeafRule", "Which nodes may be leaves, by their class counts.")
      .def(
          "__init__",
          [](LeafRule* self, std::int64_t min_support, std::int64_t min_margin, double min_chi2,
             std::vector<std::int64_t> totals) {
            new (self) LeafRule(min_support, min_margin, min_chi2, std::move(totals));
          },
          nb::arg("min_support") = 0, nb::arg("min_margin") = 0, nb::arg("min_chi2") = 0.0,
          nb::arg("totals") = std::vector<std::int64_t>{})
      .def("least_support", &LeafRule::least_support, "No leaf with fewer examples is allowed.")
      .def(
          "allows",
          [](const LeafRule& rule, const std::vector<std::int32_t>& counts) {
            return rule.allows(counts.data(), counts.size());
          },
          nb::arg("counts"), "Whether a node with these class counts may be a leaf.");

  nb::class_<LeafCost>(m, "LeafCost", "An additive cost of leaves.")
      .def(
          "__init__",
          [](LeafCost* self, const std::string& kind, std::size_t n_classes, std::vector<double> matrix,
             double confidence, double per_leaf, const LeafRule& rule) {
            new (self) LeafCost(cost_kind(kind), n_classes, std::move(matrix), confidence, per_leaf, rule);
          },
          nb::arg("kind"), nb::arg("n_classes"), nb::arg("matrix") = std::vector<double>{},
          nb::arg("confidence") = 0.25, nb::arg("per_leaf") = 0.0, nb::arg("rule") = LeafRule())
      .def("same", &LeafCost::same, nb::arg("other"), "Whether both give the same number for every leaf.");
}

void bind_query(nb::module_& m) {
  m.def(
      "pareto",
      [](const Graph& graph, const std::vector<const LeafCost*>& costs, std::vector<std::size_t> rank,
         std::vector<std::pair<std::size_t, double>> bounds, bool front, std::vector<std::uint32_t> required,
         std::size_t k, PyControl& control) {
        ParetoQuery query;
        query.costs = costs;
        query.rank = std::move(rank);
        query.bounds = std::move(bounds);
        query.front = front;
        for (std::uint32_t bits : required) query.all_required |= bits;
        query.required = std::move(required);
        query.k = k;
        std::vector<std::pair<std::vector<double>, Key>> out;
        for (Judged& tree : run(control, [&](Control& c) { return pareto_trees(graph, query, c); }))
          out.emplace_back(std::move(tree.values), std::move(tree.key));
        return out;
      },
      nb::arg("graph"), nb::arg("costs"), nb::arg("rank"), nb::arg("bounds"), nb::arg("front"), nb::arg("required"),
      nb::arg("k"), nb::arg("control"),
      "The k best trees of a query, or its front: (values of the costs, leaves, depth; key) pairs. Criteria are "
      "numbers "
      "in that order; `required` has one bit for every required item that a test belongs to.");
}

}  // namespace everytree::bind
