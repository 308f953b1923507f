#include "grow/grow_options.hpp"

#include "bind.hpp"

namespace everytree::bind {

using grow::GrowReport;
using grow::GrowScore;
using grow::GrowSettings;

namespace {

nb::dict as_dict(grow::Grown& grown) {
  const GrowReport& report = grown.report;
  nb::dict out;
  out["n_merged"] = report.n_merged;
  out["budget_reached"] = report.budget_reached;
  out["cells_all"] = report.cells_all;
  out["cells_seen"] = report.cells_seen;
  out["n_kept"] = report.n_kept;
  out["n_regrown"] = report.n_regrown;
  out["n_unlooked"] = report.n_unlooked;
  out["rivals"] = as_numpy(std::move(grown.rivals));
  return out;
}

const char* const kNames[] = {"quality", "bayes", "gain_ratio"};

}  // namespace

void bind_grow_options(nb::module_& m) {
  nb::class_<GrowSettings>(m, "GrowSettings", "How trees and option trees are grown on whole columns.")
      .def(nb::init<>())
      .def_prop_rw(
          "score", [](const GrowSettings& self) { return kNames[static_cast<int>(self.score)]; },
          [](GrowSettings& self, const std::string& name) {
            for (int k = 0; k < 3; ++k)
              if (name == kNames[k]) {
                self.score = static_cast<GrowScore>(k);
                return;
              }
            throw InvalidInput("score \"" + name + "\"; expected \"quality\", \"bayes\" or \"gain_ratio\"");
          })
      .def_rw("lookahead", &GrowSettings::lookahead)
      .def_rw("beam", &GrowSettings::beam, "0: all columns")
      .def_rw("n_cuts", &GrowSettings::n_cuts)
      .def_rw("min_leaf", &GrowSettings::min_leaf)
      .def_rw("max_depth", &GrowSettings::max_depth, "-1: none")
      .def_rw("stop_factor", &GrowSettings::stop_factor)
      .def_rw("split_pure", &GrowSettings::split_pure)
      .def_rw("binary_nominal", &GrowSettings::binary_nominal)
      .def_rw("each_cut", &GrowSettings::each_cut)
      .def_rw("option_factor", &GrowSettings::option_factor)
      .def_rw("max_options", &GrowSettings::max_options, "0: no limit")
      .def_rw("max_nodes", &GrowSettings::max_nodes, "0: no limit")
      .def_rw("random", &GrowSettings::random)
      .def_rw("seed", &GrowSettings::seed)
      .def_rw("number", &GrowSettings::number)
      .def_rw("subsample_lead", &GrowSettings::subsample_lead, "0: all examples are looked at")
      .def_rw("subsample_first", &GrowSettings::subsample_first)
      .def_rw("subsample_growth", &GrowSettings::subsample_growth);

  m.def(
      "grow_options",
      [](grow::Columns& columns, const GrowSettings& settings, const Prior& prior, const DirichletParameters& dirichlet,
         PyControl& control) {
        grow::Grown grown =
            run(control, [&](Control& c) { return grow::grow_options(columns, settings, prior, dirichlet, c); });
        const nb::dict report = as_dict(grown);
        return nb::make_tuple(std::move(grown.graph), report);
      },
      nb::arg("columns"), nb::arg("settings"), nb::arg("prior"), nb::arg("dirichlet"), nb::arg("control"),
      nb::sig("def grow_options(columns: Columns, settings: GrowSettings, prior: Prior, dirichlet: "
              "Dirichlet, control: Control) -> tuple[OptionGraph, dict[str, Any]]"),
      "The option graph that these settings grow, and how it was grown.");
  m.def(
      "restructure",
      [](grow::Columns& columns, const grow::OptionGraph& graph, double lead, const GrowSettings& settings,
         const Prior& prior, const DirichletParameters& dirichlet, PyControl& control,
         const std::vector<double>& rivals) {
        grow::Grown grown = run(control, [&](Control& c) {
          return grow::restructure(columns, graph, lead, settings, prior, dirichlet, c, rivals);
        });
        const nb::dict report = as_dict(grown);
        return nb::make_tuple(std::move(grown.graph), report);
      },
      nb::arg("columns"), nb::arg("graph"), nb::arg("lead"), nb::arg("settings"), nb::arg("prior"),
      nb::arg("dirichlet"), nb::arg("control"), nb::arg("rivals") = std::vector<double>{},
      nb::sig("def restructure(columns: Columns, graph: OptionGraph, lead: float, settings: GrowSettings, prior: "
              "Prior, dirichlet: Dirichlet, control: Control, rivals: Sequence[float] = ()) -> tuple[OptionGraph, "
              "dict[str, Any]]"),
      "A tree grown on earlier examples, brought up to date with these; rivals are those of its report, or none.");
}

}  // namespace everytree::bind
