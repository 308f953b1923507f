#include "grow/option_graph.hpp"

#include <limits>
#include <numeric>

#include "check.hpp"
#include "grow/option_fold.hpp"
#include "grow_twin.hpp"
#include "weights/marginals.hpp"

using namespace everytree;
using namespace everytree::grow;

namespace {

constexpr double kEveryValue = std::numeric_limits<double>::quiet_NaN();

// A random graph over examples: every node offers some of its tests, equal sets of rows at equal depth are one node.
struct World {
  std::size_t n_rows, n_columns;
  Columns columns;
  std::vector<std::vector<std::uint32_t>> rows;  // of every node
  OptionGraph graph;

  World(std::uint64_t seed, std::size_t n, std::size_t d) : n_rows(n), n_columns(d), columns(n), graph(3) {
    Stream stream(seed, 0);
    for (std::size_t j = 0; j < d; ++j) {
      if (j % 2 == 0) {
        std::vector<double> values;
        for (std::size_t i = 0; i < n; ++i)
          values.push_back(stream.uniform() < 0.2 ? kEveryValue : static_cast<double>(stream.below(5)));
        columns.add_numeric(values);
      } else {
        std::vector<std::int32_t> codes;
        for (std::size_t i = 0; i < n; ++i) codes.push_back(static_cast<std::int32_t>(stream.below(4)) - 1);
        columns.add_nominal(codes, 5);
      }
    }
    std::vector<std::int32_t> classes;
    for (std::size_t i = 0; i < n; ++i) classes.push_back(static_cast<std::int32_t>(stream.below(3)));
    columns.set_classes(classes, 3, {});
    std::vector<std::uint32_t> all(n);
    std::iota(all.begin(), all.end(), 0u);
    add(all, 0);
    for (std::uint32_t node = 0; node < rows.size() && rows.size() < 3000; ++node) expand(node, stream);
  }

  std::uint32_t add(const std::vector<std::uint32_t>& part, std::size_t depth) {
    for (std::size_t k = 0; k < rows.size(); ++k)
      if (graph.depth(k) == depth && rows[k] == part) return static_cast<std::uint32_t>(k);
    std::int64_t counts[3] = {0, 0, 0};
    for (const std::uint32_t row : part) ++counts[columns.classes()[row]];
    rows.push_back(part);
    return graph.add_node(depth, counts);
  }

  void expand(std::uint32_t node, Stream& stream) {
    for (std::size_t j = 0; j < n_columns; ++j) {
      if (stream.uniform() < 0.3) continue;
      const bool numeric = columns[j].numeric, every = !numeric && stream.uniform() < 0.5;
      const double at = every ? kEveryValue : static_cast<double>(stream.below(4)) + (numeric ? 0.5 : 0.0);
      const auto parts = grow_twin::parts(columns, j, at, rows[node]);
      std::size_t filled = 0;
      for (const auto& part : parts) filled += !part.empty();
      if (filled < 2) continue;
      graph.set_open(node, true);
      std::vector<std::uint32_t> children;
      const std::size_t depth = graph.depth(node) + 1;
      for (const auto& part : parts) children.push_back(part.empty() ? kNoChild : add(part, depth));
      graph.add_option(node, static_cast<std::int32_t>(j), at, -stream.uniform(), children.data(), children.size());
    }
  }
};

Prior prior_of(double open, double closed) {
  Prior prior;
  prior.log_leaf_open = {open, open / 2};
  prior.log_leaf_closed = {closed};
  return prior;
}

}  // namespace

TEST(predictions_are_those_of_the_recursion) {
  Control control;
  const DirichletParameters a = {{0.3, 1, 2}, {0.5, 0.5, 0.5}};
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const World world(seed, 9 + seed, 2 + seed % 3);
    const OptionGraph graph = OptionGraph::from_arrays(3, world.graph.arrays());  // passes the checks
    graph.check(world.columns);
    CHECK(graph.n_nodes() == world.graph.n_nodes() && graph.n_options() == world.graph.n_options());
    for (const int kind : {0, 1, 2}) {
      const auto folded_by = kind == 1 ? fold<MaxProduct> : fold<SumProduct>;
      const Stops stops = kind == 2 ? Stops::at_ends : Stops::anywhere;
      const Folded folded = folded_by(graph, prior_of(-0.7, -0.1), a, stops, control);
      const Folded same = folded_by(world.graph, prior_of(-0.7, -0.1), a, stops, control);
      CHECK(check::near(folded.log_evidence(), same.log_evidence()));
      const World other(seed + 100, 70, 2 + seed % 3);  // rows that were not there, with other values
      std::vector<double> out(70 * 3), one(3);
      predict(graph, folded, a, other.columns, out.data(), control);
      for (std::size_t row = 0; row < 70; row += kind == 0 ? 7 : 1) {
        std::fill(one.begin(), one.end(), 0.0);
        grow_twin::predict(graph, folded, a, other.columns, row, 0, 1.0, one.data());
        for (std::size_t c = 0; c < 3; ++c) CHECK(check::near(out[row * 3 + c], one[c], 1e-11));
      }
    }
  }
}

TEST(the_most_probable_tree_is_worth_its_fold_and_draws_are_trees) {
  Control control;
  const DirichletParameters a = {{1, 1, 1}};
  for (std::uint64_t seed = 20; seed < 26; ++seed) {
    const World world(seed, 14, 3);
    const Prior prior = prior_of(-0.4, 0);
    const Folded best = fold<MaxProduct>(world.graph, prior, a, Stops::anywhere, control);
    const Folded smooth = fold<SumProduct>(world.graph, prior, a, Stops::anywhere, control);
    CHECK(best.log_evidence() <= smooth.log_evidence());
    const OptionGraph tree = likeliest(world.graph, best, control);
    CHECK(check::near(fold<SumProduct>(tree, prior, a, Stops::at_ends, control).log_evidence(), best.log_evidence()));
    double leaves = 0;
    const std::vector<double> p = reach(world.graph, smooth, control);
    for (std::size_t node = 0; node < p.size(); ++node) leaves += p[node] * smooth.p_leaf[node];
    double mean = 0;
    const auto drawn = draw(world.graph, smooth, 5, 3000, control);
    for (const OptionGraph& each : drawn) {
      std::size_t n = 0;
      for (std::size_t node = 0; node < each.n_nodes(); ++node) {
        CHECK(each.option_end(node) <= each.option_begin(node) + 1);
        n += each.option_end(node) == each.option_begin(node);
      }
      mean += static_cast<double>(n) / 3000;
      OptionGraph::from_arrays(3, each.arrays());
    }
    CHECK(std::abs(mean - leaves) < 0.15 * leaves);
    const OptionGraph light = without_light_options(world.graph, smooth, 0.3, control);
    OptionGraph::from_arrays(3, light.arrays());
    const OptionGraph ordered = in_order(world.graph, control);
    CHECK(ordered.n_nodes() == world.graph.n_nodes());
    CHECK(check::near(fold<SumProduct>(ordered, prior, a, Stops::anywhere, control).log_evidence(),
                      smooth.log_evidence()));
  }
}

TEST(drawn_trees_are_counted_against_the_limit) {
  Control control;
  const World world(20, 14, 3);
  const Folded smooth = fold<SumProduct>(world.graph, prior_of(-0.4, 0), {{1, 1, 1}}, Stops::anywhere, control);
  control.memory_limit = 10 * world.graph.bytes() + (1 << 16);
  CHECK(draw(world.graph, smooth, 5, 3, control).size() == 3);
  bool refused = false;
  try {
    draw(world.graph, smooth, 5, 1000000, control);
  } catch (const LimitReached&) {
    refused = true;
  }
  CHECK(refused);
}

TEST(options_of_one_node_come_together) {
  OptionGraph graph(1);
  const std::int64_t four = 4, two = 2, one = 1;
  const std::uint32_t root = graph.add_node(0, &four), left = graph.add_node(1, &two), right = graph.add_node(1, &two);
  const std::uint32_t below = graph.add_node(2, &one);
  const std::uint32_t children[3] = {left, right, kNoChild}, lower[3] = {below, below, kNoChild};
  graph.add_option(root, 0, 0.5, 0, children, 3);
  graph.add_option(left, 0, 0.5, 0, lower, 3);
  bool refused = false;
  try {
    graph.add_option(root, 1, 0.5, 0, children, 3);
  } catch (const InvalidInput&) {
    refused = true;
  }
  CHECK(refused);
}

TEST(rising_factorials_of_any_size) {
  for (const double a : {1e-100, 0.25, 1.0, 31.0, 33.0, 1e5, 1e12, 1e100}) {
    Rising table(a);
    table.reach(2000);
    for (const std::int64_t n : {1, 2, 17, 300, 2000})
      CHECK(check::near(table(n), log_rising(a, static_cast<double>(n)), 1e-11));
  }
  // Questions do not depend on how far a table reaches.
  Marginals few({{0.5, 2}}), many({{0.5, 2}});
  const std::uint32_t classes[2] = {0, 1};
  const std::int64_t counts[2] = {900, 300};
  for (int k = 0; k < 5000; ++k) many.log_marginal(0, classes, counts, 2);
  CHECK(check::near(few.log_marginal(0, classes, counts, 2), many.log_marginal(7, classes, counts, 2), 1e-11));
}

int main() { return check::run(); }
