#include "bind.hpp"
#include "sets/pareto.hpp"

namespace everytree::bind {

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
