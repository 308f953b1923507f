#include "mcmc/tree_chains.hpp"

#include "bind.hpp"
#include "mcmc/predict_draws.hpp"

namespace everytree::bind {

namespace {

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> array(std::vector<T> values) {
  auto* data = new std::vector<T>(std::move(values));
  nb::capsule owner(data, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return {data->data(), {data->size()}, owner};
}

using Answer = nb::typed<nb::dict, nb::str, nb::any>;

Answer to_python(TreeDraws draws) {
  using Tried = std::vector<std::uint64_t>;
  Answer out;
  out["keys"] = array(std::move(draws.keys));
  out["orders"] = array(std::move(draws.orders));
  out["ends"] = array(std::move(draws.ends));
  out["leaves"] = array(std::move(draws.leaves));
  out["depths"] = array(std::move(draws.depths));
  out["which"] = array(std::move(draws.which));
  out["log_prior"] = array(std::move(draws.log_prior));
  out["log_data"] = array(std::move(draws.log_data));
  out["proposed"] = array(Tried(draws.proposed.begin(), draws.proposed.end()));
  out["accepted"] = array(Tried(draws.accepted.begin(), draws.accepted.end()));
  out["exchanges"] = array(std::move(draws.exchanges));
  out["exchanged"] = array(std::move(draws.exchanged));
  out["best"] = draws.best;
  out["best_log_target"] = draws.best_log_target;
  return out;
}

using Placed = std::tuple<Key, Key, Key, Key, Key, double>;
using Where = std::tuple<std::uint64_t, std::size_t, std::vector<Placed>, Key, double>;

Where to_python(const ChainState& state) {
  std::vector<Placed> trees;
  for (const ChainState::Tree& tree : state.trees)
    trees.emplace_back(tree.key, tree.order, tree.places[0], tree.places[1], tree.places[2], tree.log_target);
  return {state.random, state.proposals, trees, state.best, state.best_log_target};
}

ChainState read_state(const Where& given) {
  ChainState out{std::get<0>(given), std::get<1>(given), {}, std::get<3>(given), std::get<4>(given)};
  for (const auto& [key, order, growable, cherries, splits, log_target] : std::get<2>(given))
    out.trees.push_back({key, order, {growable, cherries, splits}, log_target});
  return out;
}

ChainKernel read_kernel(const std::string& name) {
  if (name == "chipman") return ChainKernel::chipman;
  if (name == "stack") return ChainKernel::stack;
  throw InvalidInput("kernel='" + name + "'; expected 'chipman' or 'stack'");
}

Orders read_orders(const std::string& name) {
  if (name == "counted") return Orders::counted;
  if (name == "once") return Orders::once;
  throw InvalidInput("orders='" + name + "'; expected 'counted' or 'once'");
}

CostKind read_phi(const std::string& name) {
  if (name == "misclassification") return CostKind::error;
  if (name == "gini") return CostKind::gini;
  if (name == "entropy") return CostKind::entropy;
  throw InvalidInput("phi='" + name + "'; expected 'misclassification', 'gini' or 'entropy'");
}

template <class T>
using Values = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

MoveOdds read_odds(const std::vector<double>& p) {
  if (p.size() != kMoveKinds)
    throw InvalidInput("expected probabilities of " + std::to_string(kMoveKinds) + " kinds of moves, not " +
                       std::to_string(p.size()));
  MoveOdds odds;
  std::copy(p.begin(), p.end(), odds.p.begin());
  return odds;
}

template <class R>
RealMatrix average_draws(const CountTable& table, Values<std::int32_t> keys, Values<std::uint64_t> ends,
                         Values<double> weights, const DirichletParameters& dirichlet, R rows, std::size_t n_threads,
                         PyControl& control, int max_depth) {
  const NewRows given = new_rows(rows, table);
  const std::size_t n = given.n_rows, c = table.n_classes();
  const DrawnTrees trees{
      {keys.data(), keys.size()}, {ends.data(), ends.size()}, {weights.data(), weights.size()}, max_depth};
  auto* data = new double[n * c + 1];
  nb::capsule owner(data, [](void* x) noexcept { delete[] static_cast<double*>(x); });
  run(control, [&](Control& k) {
    const auto leaf = tabulated(dirichlet, table, k);
    predict_draws(table, trees, *leaf, given, n_threads, data, k);
  });
  return RealMatrix(data, {n, c}, owner);
}

}  // namespace

void bind_mcmc(nb::module_& m) {
  nb::class_<TreeTarget>(m, "TreeTarget", "What chains over trees sample from.")
      .def_static(
          "posterior",
          [](const CountTable& table, const Prior& prior, const DirichletParameters& dirichlet, PyControl& control) {
            prior.check_tests(table.n_tests());
            return run(control,
                       [&](Control& c) { return TreeTarget::posterior(prior, tabulated(dirichlet, table, c)); });
          },
          nb::arg("table"), nb::arg("prior"), nb::arg("dirichlet"), nb::arg("control"))
      .def_static(
          "risk",
          [](const CountTable& table, const std::string& phi, double scale, double alpha) {
            if (!(std::isfinite(scale) && std::isfinite(alpha)))
              throw InvalidInput("scale and alpha of a risk must be finite");
            return TreeTarget::risk(read_phi(phi), table.n_classes(), scale / static_cast<double>(table.total()),
                                    alpha);
          },
          nb::arg("table"), nb::arg("phi"), nb::arg("scale"), nb::arg("alpha"),
          "exp(−E), E = scale · R + alpha · leaves.");
  nb::class_<TreeChains>(m, "TreeChains", "Metropolis–Hastings chains over whole trees.")
      .def(
          "__init__",
          [](TreeChains* self, std::shared_ptr<CountTable> table, int max_depth, std::int64_t min_leaf,
             const TreeTarget& target, const std::string& kernel, const std::vector<double>& odds, double blind,
             std::size_t n_chains, std::uint64_t seed, std::size_t n_threads, PyControl& control,
             std::vector<double> density, std::vector<double> ladder, std::size_t exchange_every,
             std::size_t state_bytes, const std::string& orders, bool density_outright) {
            ChainSettings settings;
            settings.kernel = read_kernel(kernel);
            settings.orders = read_orders(orders);
            settings.odds = read_odds(odds);
            settings.blind = blind;
            settings.density = std::move(density);
            settings.density_outright = density_outright;
            settings.ladder = std::move(ladder);
            settings.exchange_every = exchange_every;
            settings.n_chains = n_chains;
            settings.seed = seed;
            settings.n_threads = n_threads;
            settings.state_bytes = state_bytes;
            run(control, [&](Control& c) {
              new (self) TreeChains(std::move(table), max_depth, min_leaf, target, std::move(settings), c);
            });
          },
          nb::arg("table"), nb::arg("max_depth"), nb::arg("min_leaf"), nb::arg("target"), nb::arg("kernel"),
          nb::arg("odds"), nb::arg("blind"), nb::arg("n_chains"), nb::arg("seed"), nb::arg("n_threads"),
          nb::arg("control"), nb::arg("density") = std::vector<double>(), nb::arg("ladder") = std::vector<double>{1.0},
          nb::arg("exchange_every") = ChainSettings{}.exchange_every,
          nb::arg("state_bytes") = ChainSettings{}.state_bytes, nb::arg("orders") = "counted",
          nb::arg("density_outright") = false)
      .def_prop_ro("n_chains", &TreeChains::n_chains)
      .def("start", &TreeChains::start, nb::arg("chain"), nb::arg("key"), "Put a chain at a tree.")
      .def(
          "state", [](const TreeChains& self, std::size_t chain) { return to_python(self.state(chain)); },
          nb::arg("chain"), "All that the draws to come depend on.")
      .def(
          "restore",
          [](TreeChains& self, std::size_t chain, const Where& state) { self.restore(chain, read_state(state)); },
          nb::arg("chain"), nb::arg("state"), "Put a chain where a chain was, of the same table and settings.")
      .def(
          "run",
          [](TreeChains& self, std::size_t n_draws, std::size_t burn_in, std::size_t thin, std::vector<double> powers,
             PyControl& control) {
            for (double p : powers)
              if (!(p >= 0 && std::isfinite(p))) throw InvalidInput("powers must be finite and at least 0");
            TreeRun out =
                run(control, [&](Control& c) { return self.run({n_draws, burn_in, thin, std::move(powers)}, c); });
            std::vector<Answer> chains;
            for (TreeDraws& draws : out.chains) chains.push_back(to_python(std::move(draws)));
            return std::make_pair(chains, out.stopped);
          },
          nb::arg("n_draws"), nb::arg("burn_in"), nb::arg("thin"), nb::arg("powers"), nb::arg("control"),
          "Go on from where the chains are: one dict of arrays for each, and why they were stopped.")
      .def("log_target", &TreeChains::log_target, nb::arg("key"), "The two parts of log π: of nodes, and of the data.")
      .def(
          "propose",
          [](const TreeChains& self, const Key& key, std::size_t kind, std::uint64_t seed, std::size_t n,
             PyControl& control) {
            if (kind >= kMoveKinds) throw InvalidInput("no such kind of move");
            const auto moves =
                run(control, [&](Control& c) { return self.propose(key, static_cast<MoveKind>(kind), seed, n, c); });
            std::vector<std::optional<std::tuple<Key, std::size_t, double, double, double>>> out;
            for (const auto& [move, after] : moves) {
              out.emplace_back();
              if (move.proposed)
                out.back().emplace(after, move.place, move.log_target, move.log_forward, move.log_reverse);
            }
            return out;
          },
          nb::arg("key"), nb::arg("kind"), nb::arg("seed"), nb::arg("n"), nb::arg("control"),
          "n proposals of one kind: None, or (key, place, log target ratio, log forward, log reverse).");
  m.def("predict_draws", &average_draws<Rows>, nb::arg("table"), nb::arg("keys").noconvert(),
        nb::arg("ends").noconvert(), nb::arg("weights").noconvert(), nb::arg("dirichlet"), nb::arg("rows").noconvert(),
        nb::arg("n_threads"), nb::arg("control"), nb::arg("max_depth") = -1,
        "Σ weight · P(class | row, tree): rows × classes.");
  m.def("predict_draws", &average_draws<Reach>, nb::arg("table"), nb::arg("keys").noconvert(),
        nb::arg("ends").noconvert(), nb::arg("weights").noconvert(), nb::arg("dirichlet"), nb::arg("rows").noconvert(),
        nb::arg("n_threads"), nb::arg("control"), nb::arg("max_depth"),
        "The same for rows of what each test reaches, where states choose their tests.");
}

}  // namespace everytree::bind
