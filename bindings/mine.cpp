#include "bind.hpp"
#include "mine/strategies.hpp"

namespace everytree::bind {

void bind_mine(nb::module_& m) {
  m.def(
      "mine",
      [](const CountTable& table, const std::string& strategy, const LeafCost& cost, int max_depth,
         std::int64_t min_leaf, PyControl& control) {
        mine::Found found = run(control, [&](Control& c) {
          mine::Meter meter(c);
          return mine::find_strategy(strategy).run(mine::Lattice(table, cost, max_depth, min_leaf), meter);
        });
        nb::dict report;
        report["itemsets"] = found.report.itemsets;
        report["counted"] = found.report.counted;
        report["states"] = found.report.states;
        report["bytes"] = found.report.bytes;
        report["seconds_mining"] = found.report.seconds_mining;
        report["seconds_total"] = found.report.seconds_total;
        return std::make_tuple(found.cost, std::move(found.key),
                               nb::borrow<nb::typed<nb::dict, nb::str, nb::object>>(report));
      },
      nb::arg("table"), nb::arg("strategy"), nb::arg("cost"), nb::arg("max_depth"), nb::arg("min_leaf"),
      nb::arg("control"), "The tree of least (cost, size) by a strategy of DL8: (cost, key, report).");
}

}  // namespace everytree::bind
