#include "weights/dirichlet.hpp"

#include "bind.hpp"
#include "weights/dirichlet_parameters.hpp"
#include "weights/leaf_cost.hpp"
#include "weights/leaf_rule.hpp"
#include "weights/prior.hpp"

namespace everytree::bind {

std::shared_ptr<const Dirichlet> tabulated(const DirichletParameters& a, const CountTable& table, Control& control,
                                           std::int64_t longest, std::size_t held) {
  std::vector<std::int32_t> totals(table.n_classes());
  table.class_counts(table.all().data(), totals.data());
  return std::make_shared<Dirichlet>(a, totals, &control, longest, held);
}

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

void bind_weights(nb::module_& m) {
  // Objects of both are checked once, here, and never change; they travel to other processes as what they were made of.
  using Table = std::vector<double>;
  using Attributes = std::vector<std::int32_t>;
  nb::class_<Prior>(m, "Prior", "A prior over trees as tables by depth, whose last entries go on; checked.")
      .def(nb::init<Table, Table, Table, bool, Attributes, double>(), nb::arg("log_split"), nb::arg("log_leaf_open"),
           nb::arg("log_leaf_closed"), nb::arg("per_test"), nb::arg("attributes") = Attributes{},
           nb::arg("test_weight") = 1.0)
      .def("__getstate__",
           [](const Prior& p) {
             return std::make_tuple(p.log_split, p.log_leaf_open, p.log_leaf_closed, p.per_test, p.attribute,
                                    p.test_weight);
           })
      .def("__setstate__", [](Prior& self, const std::tuple<Table, Table, Table, bool, Attributes, double>& state) {
        std::apply([&](const auto&... parts) { new (&self) Prior(parts...); }, state);
      });

  using ByDepth = std::vector<DirichletParameters::Row>;
  nb::class_<DirichletParameters>(m, "Dirichlet", "Dirichlet parameters of leaves, by depth and class; checked.")
      .def(nb::init<ByDepth, double, std::int64_t, double>(), nb::arg("rows"), nb::arg("power") = 1.0,
           nb::arg("per_example") = 1, nb::arg("kappa") = 0.0)
      .def("__getstate__",
           [](const DirichletParameters& a) {
             return std::make_tuple(ByDepth(a.begin(), a.end()), a.power(), a.per_example(), a.kappa());
           })
      .def("__setstate__",
           [](DirichletParameters& self, const std::tuple<ByDepth, double, std::int64_t, double>& state) {
             std::apply([&](const auto&... parts) { new (&self) DirichletParameters(parts...); }, state);
           });

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
             double confidence, double per_leaf, const LeafRule& rule, std::int64_t per_example) {
            new (self) LeafCost(cost_kind(kind), n_classes, std::move(matrix), confidence, per_leaf, rule, per_example);
          },
          nb::arg("kind"), nb::arg("n_classes"), nb::arg("matrix") = std::vector<double>{},
          nb::arg("confidence") = 0.25, nb::arg("per_leaf") = 0.0, nb::arg("rule") = LeafRule(),
          nb::arg("per_example") = 1)
      .def("same", &LeafCost::same, nb::arg("other"), "Whether both give the same number for every leaf.");
}

}  // namespace everytree::bind
