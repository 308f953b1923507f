#include <map>

#include "bind.hpp"
#include "mine/itemsets.hpp"
#include "mine/strategies.hpp"

namespace everytree::bind {

namespace {

using Query = std::tuple<std::vector<const LeafCost*>, std::vector<std::size_t>,
                         std::vector<std::pair<std::size_t, double>>, std::vector<std::uint32_t>, std::size_t>;

// (costs, rank, bounds, required, k), as `pareto` takes them.
ParetoQuery query_of(const Query& given) {
  ParetoQuery query;
  std::tie(query.costs, query.rank, query.bounds, query.required, query.k) = given;
  for (std::uint32_t bits : query.required) query.all_required |= bits;
  return query;
}

// A predicate of Python as a rule for paths. Each vector of counts is asked about once; what the predicate raises ends
// the work, as an exception of a progress callback does.
mine::PathRule rule_of(const nb::object& predicate, std::size_t n_classes) {
  if (predicate.is_none()) return {};
  const auto known = std::make_shared<std::map<std::vector<std::int32_t>, bool>>();
  return [&predicate, n_classes, known](const std::int32_t* counts) {
    const std::vector<std::int32_t> key(counts, counts + n_classes);
    if (const auto it = known->find(key); it != known->end()) return it->second;
    const Locked lock;
    try {
      const nb::tuple asked = nb::make_tuple(key);
      const nb::object answer = nb::steal(call_python(predicate.ptr(), asked.ptr()));
      if (answer.is_valid()) return known->emplace(key, nb::cast<bool>(answer)).first->second;
    } catch (nb::python_error& e) {
      e.restore();
    }
    throw LimitReached(LimitReached::Reason::stopped, "interrupted");
  };
}

using Trees = std::vector<std::pair<std::vector<double>, Key>>;

std::tuple<Trees, nb::typed<nb::dict, nb::str, nb::object>> told(mine::Found found) {
  Trees trees;
  for (Judged& tree : found.trees) trees.emplace_back(std::move(tree.values), std::move(tree.key));
  nb::dict report;
  report["itemsets"] = found.report.itemsets;
  report["counted"] = found.report.counted;
  report["states"] = found.report.states;
  report["bytes"] = found.report.bytes;
  report["seconds_mining"] = found.report.seconds_mining;
  report["seconds_total"] = found.report.seconds_total;
  return {std::move(trees), nb::borrow<nb::typed<nb::dict, nb::str, nb::object>>(report)};
}

}  // namespace

void bind_mine(nb::module_& m) {
  m.def(
      "mine",
      [](const CountTable& table, const std::string& strategy, const Query& query, int max_depth, std::int64_t min_leaf,
         PyControl& control, const nb::object& paths) {
        return told(run(control, [&](Control& c) {
          mine::Meter meter(c);
          return mine::find_strategy(strategy).run(
              mine::Lattice(table, query_of(query), max_depth, min_leaf, rule_of(paths, table.n_classes())), meter);
        }));
      },
      nb::arg("table"), nb::arg("strategy"), nb::arg("query"), nb::arg("max_depth"), nb::arg("min_leaf"),
      nb::arg("control"), nb::arg("paths") = nb::none(),
      "The answers to a query (costs, rank, bounds, required, k) by a strategy of DL8: (trees, report). Trees are "
      "(values, key), best first; values are those of `pareto`, and only the cost where the query ranks one cost, or "
      "one cost and then leaves, and nothing else. `paths` is a predicate over class counts, which must be "
      "anti-monotone.");
  m.def(
      "mine_itemsets",
      [](const CountTable& table, int max_depth, std::int64_t min_leaf, bool extend_pure, PyControl& control,
         const nb::object& paths) {
        const LeafCost cost(CostKind::error, table.n_classes());
        ParetoQuery query;
        query.costs = {&cost};
        query.rank = {0, query.leaves()};
        query.k = extend_pure ? 2 : 1;  // the second best tree may split what is pure
        mine::Itemsets found = run(control, [&](Control& c) {
          mine::Meter meter(c);
          return mine::relevant_itemsets(
              mine::Lattice(table, query, max_depth, min_leaf, rule_of(paths, table.n_classes())), meter);
        });
        return std::make_tuple(as_numpy(std::move(found.items)), as_numpy(std::move(found.ends)),
                               as_numpy(std::move(found.counts)));
      },
      nb::arg("table"), nb::arg("max_depth"), nb::arg("min_leaf"), nb::arg("extend_pure"), nb::arg("control"),
      nb::arg("paths") = nb::none(),
      "The relevant itemsets by length and items: (items of all, where each ends, class counts of all).");
  m.def(
      "ask_itemsets",
      [](const Flat<std::uint32_t>& items, const Flat<std::int64_t>& ends, const Flat<std::int32_t>& counts,
         std::size_t n_tests, std::size_t n_classes, const Query& query, int max_depth, std::int64_t min_leaf,
         PyControl& control) {
        const mine::Itemsets mined{copied(items), copied(ends), copied(counts)};
        return told(run(control, [&](Control& c) {
          mine::Meter meter(c);
          return mine::ask(mine::Lattice(n_tests, n_classes, query_of(query), max_depth, min_leaf), mined, meter);
        }));
      },
      nb::arg("items"), nb::arg("ends"), nb::arg("counts"), nb::arg("n_tests"), nb::arg("n_classes"), nb::arg("query"),
      nb::arg("max_depth"), nb::arg("min_leaf"), nb::arg("control"),
      "The answers to a query on itemsets that were mined before, as `mine` gives them.");
}

}  // namespace everytree::bind
