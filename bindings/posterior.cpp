#include "down/posterior.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "bind.hpp"
#include "down/bracket.hpp"
#include "down/leave_one_out.hpp"
#include "sets/likeliest.hpp"

namespace everytree::bind {

// Factors and exponents of 2 in turn, as fold_sent writes them; they may come from another machine.
std::vector<Wide> read_wide(const Pairs& pairs) {
  if (pairs.size() % 2 != 0) throw InvalidInput("a part of the frontier must hold pairs of numbers");
  std::vector<Wide> values;
  for (std::size_t k = 0; k + 1 < pairs.size(); k += 2) {
    const double x = pairs.data()[k], exponent = pairs.data()[k + 1];
    if (!(x >= 0 && x < std::numeric_limits<double>::infinity()) || !(exponent > -1e15 && exponent < 1e15))
      throw InvalidInput("a part of the frontier holds a number that is no value of a fold");
    values.emplace_back(x, static_cast<std::int64_t>(exponent));
  }
  return values;
}

Reals write_wide(const std::vector<Wide>& values) {
  std::vector<double> out;
  for (const Wide& x : values) {
    out.push_back(x.scaled(x.exponent()));
    out.push_back(static_cast<double>(x.exponent()));
  }
  return to_numpy(std::move(out));
}

// Predictions or moments of rows, given by their outcomes or by their reach.
template <class R, bool kMoments>
RealMatrix averages(const Posterior& p, R rows, PyControl& control) {
  const NewRows given = new_rows(rows, p.graph().table());
  const std::size_t n = given.n_rows, width = (kMoments ? 3 : 1) * p.graph().table().n_classes();
  control.control.check_memory(p.bytes() + n * width * sizeof(double));
  auto* data = new double[n * width + 1];
  nb::capsule owner(data, [](void* x) noexcept { delete[] static_cast<double*>(x); });
  run(control, [&](Control& k) {
    if constexpr (kMoments)
      p.moments(given, data, k);
    else
      p.predict(given, data, k);
  });
  return RealMatrix(data, {n, width}, owner);
}

void bind_posterior(nb::module_& m) {
  nb::class_<Posterior>(m, "Posterior", "The posterior over every tree of a graph.")
      .def(
          "__init__",
          [](Posterior* self, std::shared_ptr<Graph> graph, const Prior& prior, const DirichletParameters& dirichlet,
             bool linear, std::size_t n_threads, PyControl& control) {
            prior.check_tests(graph->table().n_tests());
            run(control, [&](Control& c) {
              auto leaf = tabulated(dirichlet, graph->table(), c, Dirichlet::kTable, graph->bytes());
              new (self) Posterior(std::move(graph), prior, std::move(leaf), linear, n_threads, c);
            });
          },
          nb::arg("graph"), nb::arg("prior"), nb::arg("dirichlet"), nb::arg("linear"), nb::arg("n_threads"),
          nb::arg("control"))
      .def_prop_ro("n_bytes", &Posterior::bytes, "The bytes it holds, with its graph.")
      .def_prop_ro("n_own_bytes", &Posterior::own_bytes, "The bytes it holds besides its graph.")
      .def_static(
          "from_parts",
          [](std::shared_ptr<Graph> graph, const Prior& prior, const DirichletParameters& dirichlet, bool linear,
             const std::vector<Pairs>& parts, std::size_t n_threads, PyControl& control) {
            prior.check_tests(graph->table().n_tests());
            std::vector<std::vector<Wide>> values;
            for (const Pairs& part : parts) values.push_back(read_wide(part));
            return run(control, [&](Control& c) {
              auto leaf = tabulated(dirichlet, graph->table(), c, Dirichlet::kTable, graph->bytes());
              return new Posterior(std::move(graph), prior, std::move(leaf), linear, values, n_threads, c);
            });
          },
          nb::arg("graph"), nb::arg("prior"), nb::arg("dirichlet"), nb::arg("linear"), nb::arg("parts"),
          nb::arg("n_threads"), nb::arg("control"), "The posterior from parts of the frontier folded elsewhere.")
      .def_static(
          "send_part",
          [](const Graph& graph, std::size_t part, std::size_t n_parts) {
            Posterior::Sent sent;
            {
              const Unlocked unlocked;
              sent = Posterior::send_part(graph, part, n_parts);
            }
            const auto& m = sent.sizes.most;
            return nb::make_tuple(as_numpy(std::move(sent.covers)), as_numpy(std::move(sent.depths)),
                                  std::vector<std::int32_t>{m[0][0], m[0][1], m[1][0], m[1][1], m[2][0], m[2][1]});
          },
          nb::arg("graph"), nb::arg("part"), nb::arg("n_parts"),
          nb::sig("def send_part(graph: Graph, part: int, n_parts: int) -> "
                  "tuple[NDArray[numpy.uint64], NDArray[numpy.int32], list[int]]"),
          "A part of the frontier for another process: covers, depths, and the largest class counts.")
      .def_static(
          "fold_sent",
          [](std::shared_ptr<CountTable> table, int max_depth, std::int64_t min_leaf, bool by_depth, bool frontier,
             const Flat<std::uint64_t>& covers, const Flat<std::int32_t>& depths,
             const std::vector<std::int32_t>& sizes, const Prior& prior, const DirichletParameters& dirichlet,
             bool linear, std::size_t n_threads, PyControl& control) {
            if (sizes.size() != 6) throw InvalidInput("expected six largest class counts");
            prior.check_tests(table->n_tests());
            GraphOptions o;
            o.max_depth = max_depth;
            o.min_leaf = min_leaf;
            o.by_depth = by_depth;
            o.frontier = frontier;
            Posterior::Sent sent{copied(covers), copied(depths), {}};
            for (std::size_t k = 0; k < 6; ++k) sent.sizes.most[k / 2][k % 2] = std::clamp(sizes[k], 0, 1800);
            sent.sizes.single = table->single_tests();
            return write_wide(run(control, [&](Control& c) {
              auto leaf = tabulated(dirichlet, *table, c);
              return Posterior::fold_sent(table, o, sent, prior, std::move(leaf), linear, n_threads, c);
            }));
          },
          nb::arg("table"), nb::arg("max_depth"), nb::arg("min_leaf"), nb::arg("by_depth"), nb::arg("frontier"),
          nb::arg("covers").noconvert(), nb::arg("depths").noconvert(), nb::arg("sizes"), nb::arg("prior"),
          nb::arg("dirichlet"), nb::arg("linear"), nb::arg("n_threads"), nb::arg("control"),
          "Values of the closed states of a part that was sent: factors and exponents of 2 in turn.")
      .def_prop_ro("log_evidence", &Posterior::log_evidence)
      .def(
          "bracket",
          [](const Posterior& p, std::size_t n_threads, PyControl& control) {
            const Bracket b = run(control, [&](Control& c) { return evidence_bracket(p, n_threads, c); });
            return std::make_pair(b.lower, b.upper);
          },
          nb::arg("n_threads"), nb::arg("control"), "Bounds on the log evidence of trees of any depth.")
      .def("log_joint", &Posterior::log_joint, nb::arg("key"), "Log prior + log marginal likelihood of a tree.")
      .def("root_distribution", [](const Posterior& p) { return to_numpy(p.root_distribution()); })
      .def(
          "inclusion",
          [](const Posterior& p, PyControl& c) { return to_numpy(run(c, [&](Control& k) { return p.inclusion(k); })); },
          nb::arg("control"))
      .def(
          "inclusion_of",
          [](const Posterior& p, const std::vector<std::int32_t>& owner, std::size_t n_sets, PyControl& c) {
            return to_numpy(run(c, [&](Control& k) { return p.inclusion_of(owner, n_sets, k); }));
          },
          nb::arg("owner"), nb::arg("n_sets"), nb::arg("control"), "P(some test of set k occurs in the tree).")
      .def(
          "log_prior_total",
          [](const Posterior& p, PyControl& c) { return run(c, [&](Control& k) { return p.log_prior_total(k); }); },
          nb::arg("control"), "Log of the summed prior of all trees.")
      .def_prop_ro("log_single_leaf", &Posterior::log_single_leaf, "Log marginal likelihood of the single leaf.")
      .def(
          "leaves",
          [](const Posterior& p, PyControl& c) {
            return to_numpy(run(c, [&](Control& k) { return p.leaves_distribution(k); }));
          },
          nb::arg("control"))
      .def(
          "depth",
          [](const Posterior& p, PyControl& c) {
            return to_numpy(run(c, [&](Control& k) { return p.depth_distribution(k); }));
          },
          nb::arg("control"))
      .def(
          "expected_leaves",
          [](const Posterior& p, PyControl& c) { return run(c, [&](Control& k) { return p.expected_leaves(k); }); },
          nb::arg("control"))
      .def(
          "sample",
          [](const Posterior& p, std::size_t first, std::size_t n, std::uint64_t seed, PyControl& c) {
            return run(c, [&](Control& k) { return p.sample(first, n, seed, k); });
          },
          nb::arg("first"), nb::arg("n"), nb::arg("seed"), nb::arg("control"))
      .def(
          "map", [](const Posterior& p, PyControl& c) { return run(c, [&](Control& k) { return map_tree(p, k); }); },
          nb::arg("control"), "Key of the most probable tree.")
      .def(
          "log_map", [](const Posterior& p, PyControl& c) { return run(c, [&](Control& k) { return p.log_map(k); }); },
          nb::arg("control"), "Log joint of the most probable tree.")
      .def(
          "top",
          [](const Posterior& p, std::size_t k, PyControl& control) {
            // As arrays: a list for each of 20,000 keys took 0.1 s, in which nobody looks at the clock.
            std::vector<double> log_joint;
            std::vector<std::int32_t> keys;
            std::vector<std::int64_t> ends;
            run(control, [&](Control& c) {
              for (const Ranked& tree : top_trees(p, k, c)) {
                log_joint.push_back(tree.score);
                keys.insert(keys.end(), tree.key.begin(), tree.key.end());
                ends.push_back(static_cast<std::int64_t>(keys.size()));
              }
              return 0;
            });
            return std::tuple(as_numpy(std::move(log_joint)), as_numpy(std::move(keys)), as_numpy(std::move(ends)));
          },
          nb::arg("k"), nb::arg("control"),
          "The k most probable trees: their log joints, their keys one after the other, and where each ends.")
      .def(
          "path_node",
          [](const Posterior& p, const std::vector<std::pair<std::int32_t, int>>& steps) -> nb::object {
            Posterior::PathNode node = p.path_node(steps);
            if (!node.exists) return nb::none();
            return nb::make_tuple(node.leaf, to_numpy(std::move(node.split)), node.counts);
          },
          nb::arg("steps"),
          "P(leaf), P(split by test) and class counts of the node at the end of a path; None if there is none.")
      .def("predict", &averages<Rows, false>, nb::arg("rows").noconvert(), nb::arg("control"),
           "P(class | row), averaged over every tree.")
      .def("predict", &averages<Reach, false>, nb::arg("rows").noconvert(), nb::arg("control"))
      .def("moments", &averages<Rows, true>, nb::arg("rows").noconvert(), nb::arg("control"),
           "Moments of the class probabilities at a row: mean, variance between trees, mean variance within leaves.")
      .def("moments", &averages<Reach, true>, nb::arg("rows").noconvert(), nb::arg("control"))
      .def(
          "leave_one_out",
          [](const Posterior& p, Counts counts, std::size_t n_threads, PyControl& control) {
            const std::size_t n = counts.shape(0), c = p.graph().table().n_classes();
            if (counts.shape(1) != c) throw InvalidInput("counts must have one column per class");
            return to_numpy(run(control, [&](Control& k) { return leave_one_out(p, counts.data(), n, n_threads, k); }));
          },
          nb::arg("counts").noconvert(), nb::arg("n_threads"), nb::arg("control"),
          "E[r p_c] for every row and class of the table that has examples, n_classes numbers each.");
}

}  // namespace everytree::bind
