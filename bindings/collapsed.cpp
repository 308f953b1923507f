#include "mcmc/collapsed.hpp"

#include "bind.hpp"

namespace everytree::bind {

namespace {

template <class R>
RealMatrix predict_tops(const Collapsed& self, const std::vector<Key>& tops, const Collapsed::Counts& in_batch,
                        std::size_t n_batches, R rows, PyControl& control) {
  const NewRows given = new_rows(rows, self.table());
  const std::size_t n = given.n_rows, c = self.table().n_classes();
  auto* data = new double[n_batches * n * c + 1];
  nb::capsule owner(data, [](void* x) noexcept { delete[] static_cast<double*>(x); });
  run(control, [&](Control& k) { self.predict(tops, in_batch, n_batches, given, data, k); });
  return RealMatrix(data, {n_batches, n * c}, owner);
}

}  // namespace

void bind_collapsed(nb::module_& m) {
  nb::class_<Collapsed>(m, "Collapsed", "Metropolis–Hastings over tops of trees, the levels below summed exactly.")
      .def(
          "__init__",
          [](Collapsed* self, std::shared_ptr<CountTable> table, int max_depth, std::int64_t min_leaf,
             const Prior& prior, const DirichletParameters& dirichlet, bool linear, std::size_t n_threads,
             PyControl& control) {
            prior.check_tests(table->n_tests());
            run(control, [&](Control& c) {
              auto leaf = tabulated(dirichlet, *table, c);
              new (self)
                  Collapsed(std::move(table), max_depth, min_leaf, prior, std::move(leaf), linear, n_threads, &c);
            });
          },
          nb::arg("table"), nb::arg("max_depth"), nb::arg("min_leaf"), nb::arg("prior"), nb::arg("dirichlet"),
          nb::arg("linear"), nb::arg("n_threads"), nb::arg("control"))
      .def_prop_ro("ends_at_root", &Collapsed::ends_at_root)
      .def(
          "run",
          [](const Collapsed& self, std::size_t n_chains, std::size_t n_draws, std::size_t burn_in, std::size_t thin,
             std::size_t least, std::uint64_t seed, PyControl& control) {
            CollapsedRun drawn =
                run(control, [&](Control& c) { return self.run({n_chains, n_draws, burn_in, thin, least, seed}, c); });
            using Tried = std::vector<std::uint64_t>;
            nb::list chains;
            // The arrays are the core's own: lists of numbers would take ten times as much.
            for (ChainDraws& chain : drawn.chains)
              chains.append(nb::make_tuple(as_numpy(std::move(chain.keys)), as_numpy(std::move(chain.ends)),
                                           as_numpy(std::move(chain.which)), to_numpy(std::move(chain.log_joint)),
                                           Tried(chain.proposed.begin(), chain.proposed.end()),
                                           Tried(chain.accepted.begin(), chain.accepted.end())));
            return nb::make_tuple(chains, drawn.stopped);
          },
          nb::arg("n_chains"), nb::arg("n_draws"), nb::arg("burn_in"), nb::arg("thin"), nb::arg("least"),
          nb::arg("seed"), nb::arg("control"),
          nb::sig("def run(self, n_chains: int, n_draws: int, burn_in: int, thin: int, least: int, seed: int, "
                  "control: Control) -> tuple[list[tuple[Any, ...]], str]"),
          "Chains as (keys of their tops, where each ends, top of each draw, log joint of each draw, proposed, "
          "accepted), and "
          "why they were stopped.")
      .def("log_joint", &Collapsed::log_joint, nb::arg("top"), "Log weight of all trees with this top together.")
      .def(
          "propose",
          [](const Collapsed& self, const Key& top, std::size_t kind, std::uint64_t seed, std::size_t n,
             PyControl& control) {
            if (kind >= kMoveKinds) throw InvalidInput("no such kind of move");
            const auto moves =
                run(control, [&](Control& c) { return self.propose(top, static_cast<MoveKind>(kind), seed, n, c); });
            std::vector<std::optional<std::tuple<Key, std::size_t, double, double, double>>> out;
            for (const auto& [move, key] : moves) {
              out.emplace_back();
              if (move.proposed)
                out.back().emplace(key, move.place, move.log_target, move.log_forward, move.log_reverse);
            }
            return out;
          },
          nb::arg("top"), nb::arg("kind"), nb::arg("seed"), nb::arg("n"), nb::arg("control"),
          "n proposals of one kind: None, or (key, place, log target ratio, log forward, log reverse).")
      .def("predict", &predict_tops<Rows>, nb::arg("tops"), nb::arg("in_batch"), nb::arg("n_batches"),
           nb::arg("rows").noconvert(), nb::arg("control"),
           "Σ count · P(class | row, top) by batch: n_batches × (rows · classes).")
      .def("predict", &predict_tops<Reach>, nb::arg("tops"), nb::arg("in_batch"), nb::arg("n_batches"),
           nb::arg("rows").noconvert(), nb::arg("control"),
           "The same for rows of what each test reaches, where states choose their tests.");
}

}  // namespace everytree::bind
