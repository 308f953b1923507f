// Search: branch and bound for one tree of least cost.
#include "search/search.hpp"
#include "search/probable.hpp"

#include <cmath>

#include "bind.hpp"

namespace everytree::bind {

namespace {
// Branches as rows of numbers, which go from process to process: test; lower, upper, cap, fewest of side 0; of side 1.
constexpr std::size_t kColumns = 9;
using Table = nb::ndarray<const double, nb::shape<-1, kColumns>, nb::c_contig, nb::device::cpu>;

RealMatrix write_branches(const std::vector<Branch>& branches) {
  auto* data = new double[branches.size() * kColumns + 1];
  nb::capsule owner(data, [](void* x) noexcept { delete[] static_cast<double*>(x); });
  double* out = data;
  for (const Branch& b : branches) {
    *out++ = b.test;
    for (int a = 0; a < 2; ++a)
      for (double x : {b.lower[a], b.upper[a], b.cap[a], static_cast<double>(b.fewest[a])}) *out++ = x;
  }
  return RealMatrix(data, {branches.size(), kColumns}, owner);
}

std::vector<Branch> read_branches(const Table& rows) {
  std::vector<Branch> branches;
  for (std::size_t k = 0; k < rows.shape(0); ++k) {
    const double* x = rows.data() + k * kColumns;
    for (std::size_t c = 0; c < kColumns; ++c)
      if (!(std::abs(x[c]) <= 4 * kNoCost)) throw InvalidInput("a split has a bound that is no number");
    if (!(x[0] >= 0 && x[0] < 2e9) || !(x[4] >= 0 && x[4] < 4e9) || !(x[8] >= 0 && x[8] < 4e9))
      throw InvalidInput("a split has a test or a number of leaves that is none");
    Branch b;
    b.test = static_cast<std::int32_t>(x[0]);
    for (int a = 0; a < 2; ++a) {
      const double* side = x + 1 + 4 * a;
      b.lower[a] = side[0];
      b.upper[a] = side[1];
      b.cap[a] = side[2];
      b.fewest[a] = static_cast<std::uint32_t>(side[3]);
    }
    branches.push_back(b);
  }
  return branches;
}
}  // namespace

void bind_search(nb::module_& m) {
  nb::class_<Found>(m, "Found", "The answer of a search, proved or not.")
      .def_ro("cost", &Found::cost)
      .def_ro("lower", &Found::lower)
      .def_ro("proved", &Found::proved)
      .def_ro("stopped", &Found::stopped)
      .def_ro("key", &Found::key)
      .def_ro("n_states", &Found::n_states)
      .def_ro("n_bytes", &Found::n_bytes);

  nb::class_<Part>(m, "Part", "What is known of a state and its splits.")
      .def_ro("upper", &Part::upper)
      .def_ro("key", &Part::key)
      .def_prop_ro(
          "branches", [](const Part& part) { return write_branches(part.branches); }, nb::rv_policy::automatic)
      .def_ro("stopped", &Part::stopped)
      .def_ro("n_states", &Part::n_states)
      .def_ro("n_bytes", &Part::n_bytes);

  nb::class_<Search>(m, "Search", "Branch and bound over the states of a table.")
      .def(
          "__init__",
          [](Search* self, std::shared_ptr<CountTable> table, const LeafCost& cost, std::int64_t min_leaf,
             std::size_t n_threads, bool merge, bool identical_rows, bool support, bool similarity, bool siblings) {
            SearchOptions o;
            o.min_leaf = min_leaf;
            o.n_threads = n_threads;
            o.merge = merge;
            o.bounds = {identical_rows, support, similarity, siblings};
            new (self) Search(std::move(table), cost, o);
          },
          nb::arg("table"), nb::arg("cost"), nb::arg("min_leaf"), nb::arg("n_threads") = 1, nb::arg("merge") = true,
          nb::arg("identical_rows") = true, nb::arg("support") = true, nb::arg("similarity") = true,
          nb::arg("siblings") = true)
      .def(
          "run",
          [](Search& self, int max_depth, bool smallest, PyControl& control, std::optional<double> at_most,
             std::optional<std::uint32_t> most_leaves) {
            Found found = run(control, [&](Control& c) {
              return self.run(max_depth, smallest, c, at_most.value_or(kNoCost), most_leaves.value_or(0xfffffffeu));
            });
            // A search that is stopped answers with what it knows; Ctrl-C is still Ctrl-C.
            if (PyErr_Occurred()) throw nb::python_error();
            return found;
          },
          nb::arg("max_depth"), nb::arg("smallest"), nb::arg("control"), nb::arg("at_most") = nb::none(),
          nb::arg("most_leaves") = nb::none(),
          "Search until proved or a limit is reached; a later run goes on from there. A tree that costs at_most, and "
          "one "
          "of those with most_leaves leaves, may be known to exist.")
      .def(
          "greedy",
          [](Search& self, int max_depth, PyControl& control) {
            return run(control, [&](Control& c) { return self.greedy(max_depth, c); });
          },
          nb::arg("max_depth"), nb::arg("control"), "The greedy tree that no answer is worse than.")
      .def(
          "look",
          [](Search& self, const Steps& steps, int max_depth, bool dive, PyControl& control) {
            return run(control, [&](Control& c) { return self.look(steps, max_depth, dive, c); });
          },
          nb::arg("steps"), nb::arg("max_depth"), nb::arg("dive"), nb::arg("control"),
          "The splits of the state at the end of some steps, and a tree of it.")
      .def(
          "work",
          [](Search& self, const Steps& steps, int max_depth, const Table& known,
             const std::vector<std::int32_t>& tests, double cut, std::uint32_t leaves, PyControl& control) {
            const std::vector<Branch> branches = read_branches(known);
            Part part =
                run(control, [&](Control& c) { return self.work(steps, max_depth, branches, tests, cut, leaves, c); });
            if (PyErr_Occurred()) throw nb::python_error();
            return part;
          },
          nb::arg("steps"), nb::arg("max_depth"), nb::arg("known").noconvert(), nb::arg("tests"), nb::arg("cut"),
          nb::arg("leaves"), nb::arg("control"),
          "Work on splits of a state until each is proved, costs at least `cut`, or a limit is reached.")
      .def(
          "learn",
          [](Search& self, const Steps& steps, int max_depth, const Table& known, PyControl& control) {
            const std::vector<Branch> branches = read_branches(known);
            run(control, [&](Control& c) { self.learn(steps, max_depth, branches, c); });
          },
          nb::arg("steps"), nb::arg("max_depth"), nb::arg("known").noconvert(), nb::arg("control"),
          "Believe bounds of splits of a state that were found elsewhere.");

  nb::class_<MostProbable>(m, "MostProbable", "The answer of a search for the most probable tree, proved or not.")
      .def_ro("log_joint", &MostProbable::log_joint)
      .def_ro("upper", &MostProbable::upper)
      .def_ro("proved", &MostProbable::proved)
      .def_ro("stopped", &MostProbable::stopped)
      .def_ro("key", &MostProbable::key)
      .def_ro("n_states", &MostProbable::n_states)
      .def_ro("n_bytes", &MostProbable::n_bytes);

  nb::class_<ProbableSearch>(m, "ProbableSearch", "Best first search for the most probable tree.")
      .def(
          "__init__",
          [](ProbableSearch* self, std::shared_ptr<CountTable> table, const Prior& prior,
             const DirichletParameters& dirichlet, int max_depth, std::int64_t min_leaf, bool by_depth,
             PyControl& control, bool merge, bool look_ahead, bool spread, bool outvoted, bool tables) {
            ProbableOptions o{max_depth, min_leaf, by_depth, merge, look_ahead, spread, outvoted, tables};
            prior.check_tests(table->n_tests());
            run(control, [&](Control& c) {
              std::shared_ptr<const Dirichlet> leaf;
              try {
                leaf = tabulated(dirichlet, *table, c);
              } catch (const LimitReached& limit) {
                // No tables in time, or no room for them: the search has an answer all the same.
                if (limit.reason == LimitReached::Reason::stopped) throw;
                Control none;
                leaf = tabulated(dirichlet, *table, none, 0);
              }
              new (self) ProbableSearch(std::move(table), prior, std::move(leaf), o);
            });
          },
          nb::arg("table"), nb::arg("prior"), nb::arg("dirichlet"), nb::arg("max_depth"), nb::arg("min_leaf"),
          nb::arg("by_depth"), nb::arg("control"), nb::arg("merge") = true, nb::arg("look_ahead") = true,
          nb::arg("spread") = true, nb::arg("outvoted") = true, nb::arg("tables") = true)
      .def(
          "run",
          [](ProbableSearch& self, PyControl& control) {
            MostProbable found = run(control, [&](Control& c) { return self.run(c); });
            if (PyErr_Occurred()) throw nb::python_error();
            return found;
          },
          nb::arg("control"), "Search until proved or a limit is reached; a later run goes on from there.");
}

}  // namespace everytree::bind
