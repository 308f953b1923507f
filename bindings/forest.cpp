#include "down/forest.hpp"

#include <algorithm>
#include <cstring>

#include "bind.hpp"
#include "grow/coded_forest.hpp"
#include "mcmc/predict_draws.hpp"

namespace everytree::bind {

namespace {

// Forests are arrays in Python, so that they can be copied, pickled and joined: a node is a line of four numbers (test,
// upper, where to go if it does not hold, and if it does), a tree one of two (root, depth).
using Lines = nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Theta = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

static_assert(sizeof(ForestNode) == 4 * sizeof(std::uint32_t) && sizeof(ForestTree) == 2 * sizeof(std::uint32_t));

template <class To, class From>
nb::ndarray<nb::numpy, To, nb::ndim<2>> as_lines(const std::vector<From>& values, std::size_t n, std::size_t width) {
  auto* data = new To[n * width + 1];
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<To*>(p); });
  if (n * width > 0) std::memcpy(data, values.data(), n * width * sizeof(To));
  return {data, {n, width}, owner};
}

auto as_arrays(const Forest& forest, std::size_t n_classes) {
  return nb::make_tuple(as_lines<std::uint32_t>(forest.nodes, forest.nodes.size(), 4),
                        as_lines<std::uint32_t>(forest.trees, forest.trees.size(), 2),
                        as_lines<double>(forest.theta, forest.nodes.size(), n_classes));
}

auto forest_of_draws(const CountTable& table, Flat<std::int32_t> keys, Flat<std::uint64_t> ends, Flat<double> weights,
                     const DirichletParameters& dirichlet, PyControl& control, int max_depth) {
  const DrawnTrees trees{
      {keys.data(), keys.size()}, {ends.data(), ends.size()}, {weights.data(), weights.size()}, max_depth};
  if (trees.weights.size() != trees.ends.size()) throw InvalidInput("expected one weight for each tree");
  Forest forest;
  run(control, [&](Control& k) {
    const auto leaf = tabulated(dirichlet, table, k);
    ForestReader reader(table, max_depth, *leaf);
    for (std::size_t t = 0; t < trees.ends.size(); ++t) {
      k.check(true, "reading trees", t, trees.ends.size());
      reader.add(trees.key(t), trees.weights[t], forest);
    }
  });
  return as_arrays(forest, table.n_classes());
}

auto grow_rounds(const ColumnRows& columns, std::size_t n_tests, const UpperTables& uppers,
                 const nb::ndarray<const std::uint16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& codes,
                 const Counts& counts, std::int64_t per_example, const Flat<double>& a, double power,
                 std::size_t n_parts, std::size_t columns_at_node, bool random_cuts, std::uint64_t seed,
                 std::uint64_t first, std::size_t n_rounds,
                 const nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>& left, std::size_t n_threads,
                 PyControl& control) {
  const Columns read = read_columns(columns, n_tests, uppers);
  const coded::CodedExamples examples{
      &read,      {codes.data(), codes.size()}, {counts.data(), counts.size()}, counts.shape(0), counts.shape(1),
      per_example};
  const auto entries = static_cast<std::size_t>(
      std::count_if(counts.data(), counts.data() + counts.size(), [](std::int64_t n) { return n > 0; }));
  if (left.shape(0) != entries || left.shape(1) != counts.shape(1))
    throw InvalidInput("left must have a line for each row and class with examples");
  const coded::ForestSettings settings{n_parts, columns_at_node, random_cuts, power, copied(a), seed};
  const Forest forest = run(control, [&](Control& k) {
    return coded::grow_rounds(examples, settings, first, n_rounds, left.data(), n_threads, k);
  });
  return as_arrays(forest, counts.shape(1));
}

template <class R>
RealMatrix forest_sums(Lines nodes, Lines trees, Theta theta, R rows, std::size_t n_threads, PyControl& control) {
  if (nodes.shape(1) != 4 || trees.shape(1) != 2 || theta.shape(0) != nodes.shape(0))
    throw InvalidInput("expected nodes of four numbers, trees of two, and probabilities of each node");
  const ForestView forest{{reinterpret_cast<const ForestNode*>(nodes.data()), nodes.shape(0)},
                          {reinterpret_cast<const ForestTree*>(trees.data()), trees.shape(0)},
                          theta.data(),
                          theta.shape(1)};
  const std::size_t n = rows.shape(0), c = forest.n_classes;
  NewRows given{nullptr, nullptr, n, rows.shape(1)};
  if constexpr (std::same_as<R, Reach>)
    given.reach = rows.data();
  else
    given.outcomes = rows.data();
  auto* data = new double[n * c + 1];
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  std::fill(data, data + n * c, 0.0);
  run(control, [&](Control& k) {
    forest.check(given.n_tests);
    add_forest(forest, given, n_threads, data, k);
  });
  return RealMatrix(data, {n, c}, owner);
}

}  // namespace

void bind_forest(nb::module_& m) {
  m.def("forest_of_draws", &forest_of_draws, nb::arg("table"), nb::arg("keys").noconvert(), nb::arg("ends").noconvert(),
        nb::arg("weights").noconvert(), nb::arg("dirichlet"), nb::arg("control"), nb::arg("max_depth"),
        nb::sig("def forest_of_draws(table: CountTable, keys: NDArray[numpy.int32], ends: NDArray[numpy.uint64], "
                "weights: NDArray[numpy.float64], dirichlet: Dirichlet, control: Control, max_depth: int) -> "
                "tuple[NDArray[numpy.uint32], NDArray[numpy.uint32], NDArray[numpy.float64]]"),
        "Trees by their keys as arrays: nodes, trees, and weight · P(class) at leaves.");
  m.def("grow_rounds", &grow_rounds, nb::arg("columns").noconvert(), nb::arg("n_tests"), nb::arg("uppers"),
        nb::arg("codes").noconvert(), nb::arg("counts").noconvert(), nb::arg("per_example"), nb::arg("a").noconvert(),
        nb::arg("power"), nb::arg("n_parts"), nb::arg("columns_at_node"), nb::arg("random_cuts"), nb::arg("seed"),
        nb::arg("first"), nb::arg("n_rounds"), nb::arg("left").noconvert(), nb::arg("n_threads"), nb::arg("control"),
        nb::sig("def grow_rounds(columns: NDArray[numpy.int32], n_tests: int, uppers: Sequence[NDArray[numpy.uint16] | "
                "None], codes: NDArray[numpy.uint16], counts: NDArray[numpy.int64], per_example: int, a: "
                "NDArray[numpy.float64], power: float, n_parts: int, columns_at_node: int, random_cuts: bool, seed: "
                "int, first: int, n_rounds: int, left: NDArray[numpy.float64], n_threads: int, control: Control) -> "
                "tuple[NDArray[numpy.uint32], NDArray[numpy.uint32], NDArray[numpy.float64]]"),
        "Trees grown at random on codes (one line of them for each column), in rounds: nodes, trees, and P(class) at "
        "leaves, the mean over all prunings. What is said of left-out examples is added to `left`.");
  m.def("forest_sums", &forest_sums<Rows>, nb::arg("nodes").noconvert(), nb::arg("trees").noconvert(),
        nb::arg("theta").noconvert(), nb::arg("rows").noconvert(), nb::arg("n_threads"), nb::arg("control"),
        "The sum over the trees of a forest: rows × classes.");
  m.def("forest_sums", &forest_sums<Reach>, nb::arg("nodes").noconvert(), nb::arg("trees").noconvert(),
        nb::arg("theta").noconvert(), nb::arg("rows").noconvert(), nb::arg("n_threads"), nb::arg("control"),
        "The same for rows of what each test reaches, where states choose their tests.");
}

}  // namespace everytree::bind
