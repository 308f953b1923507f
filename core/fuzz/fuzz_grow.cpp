// Growers: what they install against every test of a node listed, folds and predictions of option graphs against
// recursion, paths and C4.5 by what must hold of their counts, and deep trees against all their prunings.
#include <functional>

#include "bytes.hpp"
#include "forest_twin.hpp"
#include "grow/c45.hpp"
#include "grow/path_average.hpp"
#include "grow_twin.hpp"

using namespace everytree;
using namespace everytree::grow;
using fuzz::require;
using grow_twin::Data;
using grow_twin::kNaN;
using grow_twin::Law;
using grow_twin::Real;
using grow_twin::Rows;

namespace {

using grow::Columns;  // not those of a table

bool close(Real x, Real y) {
  return x == y || std::abs(x - y) <= 1e-7L * std::max({Real{1}, std::abs(x), std::abs(y)});
}

// Few values, so that there are ties; `known`: every value.
Data some_data(fuzz::Bytes& in, std::uint32_t most_rows, bool numeric, bool known) {
  Data out;
  out.n_classes = static_cast<std::int32_t>(in.number(1, 4));
  if (numeric) out.numeric.resize(in.number(0, 3));
  out.nominal.resize(in.number(out.numeric.empty() ? 1 : 0, 3));
  for (std::size_t j = 0; j < out.nominal.size(); ++j)
    out.n_values.push_back(static_cast<std::int32_t>(in.number(0, 7) == 0 ? 200 : in.number(1, 5)));
  const std::uint32_t values = in.number(1, 12), heavy = in.number(0, 7) == 0 ? 3000 : 3, n = in.number(1, most_rows);
  for (std::uint32_t row = 0; row < n; ++row) {
    for (auto& column : out.numeric)
      column.push_back(!known && in.number(0, 7) == 0 ? kNaN : 0.25 * in.number(0, values));
    for (std::size_t j = 0; j < out.nominal.size(); ++j) {
      const auto most = static_cast<std::uint32_t>(std::min(out.n_values[j], 6)) - 1;
      const auto code = static_cast<std::int32_t>(in.number(0, most));
      out.nominal[j].push_back(!known && in.number(0, 7) == 0 ? kMissing : out.n_values[j] - 1 - code);
    }
    out.classes.push_back(static_cast<std::int32_t>(in.number(0, static_cast<std::uint32_t>(out.n_classes) - 1)));
    out.weights.push_back(in.number(1, heavy));
  }
  return out;
}

// Other rows of the same columns, with values that no row had.
Columns other_rows(fuzz::Bytes& in, const Data& data, std::size_t n) {
  Columns out(n);
  for (std::size_t j = 0; j < data.numeric.size(); ++j) {
    std::vector<double> values;
    for (std::size_t r = 0; r < n; ++r) values.push_back(in.number(0, 5) == 0 ? kNaN : 0.2 * in.number(0, 18));
    out.add_numeric(values);
  }
  for (const std::int32_t n_values : data.n_values) {
    std::vector<std::int32_t> codes;
    for (std::size_t r = 0; r < n; ++r)
      codes.push_back(static_cast<std::int32_t>(in.number(0, static_cast<std::uint32_t>(n_values) + 1)) - 2);
    out.add_nominal(codes, n_values);
  }
  return out;
}

GrowSettings some_settings(fuzz::Bytes& in) {
  GrowSettings s;
  s.min_leaf = in.number(1, 5);
  s.max_depth = static_cast<std::int64_t>(in.number(0, 4)) - 1;
  s.stop_factor = std::array{1.0, 0.1, 0.0, 5.0}[in.number(0, 3)];
  s.split_pure = in.number(0, 3) == 0;
  s.binary_nominal = in.flag();
  s.each_cut = in.number(0, 3) == 0;
  s.max_nodes = in.number(0, 3) == 0 ? in.number(1, 40) : 0;
  s.option_factor = std::array{1.0, 0.5, 0.01, 0.0}[in.number(0, 3)];
  if (s.option_factor < 1) {
    s.max_options = in.number(0, 3);
    if (s.max_depth < 0 || s.max_depth > 2) s.max_depth = 2;
  }
  switch (in.number(0, 9)) {
    case 0:
      s.score = GrowScore::bayes;
      break;
    case 1:
      s.score = GrowScore::gain_ratio;
      s.option_factor = 1;
      break;
    case 2:
      s.random = true;
      s.seed = in.byte();
      break;
    case 3:
      s.lookahead = 2;
      s.beam = in.number(0, 2);
      s.n_cuts = in.number(2, 5);
      break;
    case 4:
      s.subsample_lead = 1 + in.number(0, 20);
      s.subsample_first = in.number(1, 20);
      break;
    default:
      break;
  }
  return s;
}

// The rows of every node: those of its parent that take the branch.
std::vector<Rows> rows_of(const OptionGraph& graph, const Columns& data) {
  std::vector<Rows> out(graph.n_nodes());
  std::vector<char> known(graph.n_nodes(), 0);
  out[0] = grow_twin::all_rows(data);
  known[0] = 1;
  for (const std::uint32_t node : graph.by_depth()) {
    require(known[node] != 0, "a node that nothing reaches");
    for (std::size_t o = graph.option_begin(node); o < graph.option_end(node); ++o) {
      const auto parts =
          grow_twin::parts(data, static_cast<std::size_t>(graph.attribute(o)), graph.threshold(o), out[node]);
      require(parts.size() == graph.n_children(o), "slots of an option");
      for (std::size_t k = 0; k < parts.size(); ++k) {
        const std::uint32_t child = graph.children(o)[k];
        require((child == kNoChild) == parts[k].empty(), "a branch without a child, or a child without examples");
        if (child == kNoChild) continue;
        require(graph.depth(child) == graph.depth(node) + 1, "depth of a child");
        require(known[child] == 0 || out[child] == parts[k], "two sets of rows at one node");
        out[child] = parts[k];
        known[child] = 1;
      }
    }
  }
  return out;
}

// By one ply and quality the options are the columns, or tests, within a factor of the best, if that beats the leaf.
void check_choice(const OptionGraph& graph, const Law& law, std::size_t node, const Rows& rows) {
  const GrowSettings& s = law.settings;
  const std::size_t depth = graph.depth(node), begin = graph.option_begin(node), end = graph.option_end(node);
  const auto judged = law.judge(rows, depth);
  // The quality of each test where every cut is an option, of each column where not.
  const auto quality = [&](std::size_t j, double at) {
    return s.each_cut ? law.branches(j, at, rows, depth) + judged[j].log_test : judged[j].quality;
  };
  Real best = grow_twin::kNever;
  for (const auto& column : judged) best = std::max(best, s.each_cut ? column.best + column.log_test : column.quality);
  const Real leaf = law.prior.log_leaf(depth, true) + law.log_marginal(rows, depth),
             floor = leaf + std::log(static_cast<Real>(s.stop_factor)),
             least = best + std::log(static_cast<Real>(s.option_factor));
  const bool tied = close(best, floor);
  if (begin == end) return require(tied || best <= floor, "a node that should be split");
  require(tied || best > floor, "a node that should be a leaf");
  std::vector<std::size_t> installed(law.data.n_columns(), 0);
  for (std::size_t o = begin; o < end; ++o) {
    const auto j = static_cast<std::size_t>(graph.attribute(o));
    ++installed[j];
    const Real here = quality(j, graph.threshold(o)), branches = law.branches(j, graph.threshold(o), rows, depth);
    require(here >= least || close(here, least), "an option that is too far from the best");
    require(close(graph.log_split(o), here - branches), "what an option weighs");
    if (!s.each_cut) require(close(branches, judged[j].best), "not the best test of its column");
  }
  if (s.max_options > 0 || s.option_factor >= 1) return;
  for (std::size_t j = 0; j < judged.size(); ++j) {
    std::size_t wanted = 0, perhaps = 0;
    const auto tests = law.tests(j, rows);
    for (const double at : s.each_cut ? tests : std::vector<double>(tests.empty() ? 0 : 1, kNaN)) {
      const Real here = quality(j, at);
      perhaps += here >= least || close(here, least);
      wanted += here >= least && !close(here, least);
    }
    require(wanted <= installed[j] && installed[j] <= perhaps, "options that are missing");
  }
}

void check_folds(fuzz::Bytes& in, const OptionGraph& graph, const Prior& prior, const DirichletParameters& a,
                 const Data& data) {
  Control control;
  const bool largest = in.flag(), at_ends = in.flag();
  const Stops stops = at_ends ? Stops::at_ends : Stops::anywhere;
  const Folded folded =
      largest ? fold<MaxProduct>(graph, prior, a, stops, control) : fold<SumProduct>(graph, prior, a, stops, control);
  if (graph.n_nodes() < 400)
    require(close(folded.log_evidence(), grow_twin::log_s(graph, prior, a, largest, at_ends, 0)), "fold of the graph");
  const Columns rows = other_rows(in, data, 5);
  std::vector<double> got(5 * graph.n_classes()), want(graph.n_classes());
  predict(graph, folded, a, rows, got.data(), control);
  for (std::size_t r = 0; r < 5; ++r) {
    std::fill(want.begin(), want.end(), 0.0);
    grow_twin::predict(graph, folded, a, rows, r, 0, 1.0, want.data());
    for (std::size_t c = 0; c < want.size(); ++c)
      require(close(got[r * want.size() + c], want[c]), "prediction of the graph");
  }
  if (largest) {
    const OptionGraph tree = likeliest(graph, folded, control);
    require(close(fold<SumProduct>(tree, prior, a, Stops::at_ends, control).log_evidence(), folded.log_evidence()),
            "weight of the most probable tree");
  }
}

// Arrays that a stranger may have made: refused, or a graph that can be folded.
void check_made_up(fuzz::Bytes& in, const OptionGraph& graph, const Prior& prior, const DirichletParameters& a,
                   const Data& data) {
  OptionGraph::Arrays arrays = graph.arrays();
  const auto change = [&](auto& values) {
    if (values.empty()) return;
    auto& x = values[in.number(0, static_cast<std::uint32_t>(std::min<std::size_t>(values.size(), 256)) - 1)];
    using Entry = std::remove_reference_t<decltype(x)>;
    x = in.flag() ? static_cast<Entry>(x + static_cast<Entry>(1)) : static_cast<Entry>(in.number(0, 12));
    if (in.number(0, 15) == 0) values.pop_back();
  };
  for (std::uint32_t times = in.number(1, 3); times > 0; --times) switch (in.number(0, 7)) {
      case 0:
        change(arrays.depth);
        break;
      case 1:
        change(arrays.count_begin);
        break;
      case 2:
        change(arrays.count_class);
        break;
      case 3:
        change(arrays.count);
        break;
      case 4:
        change(arrays.option_begin);
        break;
      case 5:
        change(arrays.attribute);
        break;
      case 6:
        change(arrays.child_begin);
        break;
      default:
        change(arrays.child);
    }
  try {
    const OptionGraph made = OptionGraph::from_arrays(graph.n_classes(), arrays);
    made.check(data.columns());
    check_folds(in, made, prior, a, data);
  } catch (const InvalidInput&) {
  }
}

void options(fuzz::Bytes& in) {
  const Data data = some_data(in, 24, true, false);
  const GrowSettings s = some_settings(in);
  Prior prior = naive::some_prior(in.number(0, 4), 0);
  std::vector<std::vector<double>> rows(in.number(1, 2));
  for (auto& row : rows)
    for (std::int32_t c = 0; c < data.n_classes; ++c) row.push_back(0.01 * in.number(1, 250));
  const DirichletParameters a(rows);
  Columns columns = data.columns();
  Control free, little;
  if (in.number(0, 3) == 0) {
    fuzz::limit(in, little);
    try {
      Columns again = data.columns();
      grow_options(again, s, prior, a, little);
    } catch (const LimitReached&) {
    }
  }
  const Grown grown = grow_options(columns, s, prior, a, free);
  const OptionGraph& graph = grown.graph;
  graph.check(columns);
  OptionGraph::from_arrays(graph.n_classes(), graph.arrays());
  require(s.max_nodes == 0 || graph.n_nodes() <= s.max_nodes, "more nodes than asked for");
  const Law law{columns, s, prior, a};
  const auto of_node = rows_of(graph, columns);
  const bool one_ply =
      s.score == GrowScore::quality && s.lookahead == 1 && !s.random && s.subsample_lead == 0 && s.max_nodes == 0;
  for (std::size_t node = 0; node < graph.n_nodes(); ++node) {
    std::vector<std::int64_t> counts(graph.n_classes());
    graph.counts(node, counts.data());
    require(counts == grow_twin::class_counts(columns, of_node[node]), "class counts of a node");
    const bool split = graph.option_begin(node) < graph.option_end(node),
               open = law.open(of_node[node], graph.depth(node));
    require(graph.open(node) == open && (open || !split), "an open node");
    const bool pure = *std::max_element(counts.begin(), counts.end()) == graph.total(node);
    if (pure && !s.split_pure) require(!split, "a node of one class that was split");
    for (std::size_t o = graph.option_begin(node); o < graph.option_end(node); ++o)
      require(law.feasible(grow_twin::parts(columns, static_cast<std::size_t>(graph.attribute(o)), graph.threshold(o),
                                            of_node[node])),
              "an option with branches that are too small");
    if (one_ply && open && (s.split_pure || !pure)) check_choice(graph, law, node, of_node[node]);
  }
  check_folds(in, graph, prior, a, data);
  if (in.flag()) check_made_up(in, graph, prior, a, data);
  if (one_ply && s.option_factor >= 1 && !s.each_cut) {
    Columns again = data.columns();
    const Grown same =
        restructure(again, graph, 1, s, prior, a, free, in.flag() ? grown.rivals : std::vector<double>{});
    require(same.graph.n_nodes() == graph.n_nodes() && same.report.n_regrown == 0, "restructured without news");
  }
}

// C4.5: nodes share out their examples, tests have two branches of min_leaf, rows without missing values meet their
// leaf.
void c45(fuzz::Bytes& in) {
  const Data data = some_data(in, 60, true, in.flag());
  Columns columns = data.columns();
  C45Options o;
  o.min_leaf = in.flag() ? in.number(1, 5) : 0.5 * in.number(1, 8);
  o.z = 0.1 * in.number(0, 20);
  o.binary_splits = in.flag();
  o.collapse = in.flag();
  o.prune = in.flag();
  o.subtree_raising = in.flag();
  Control control;
  const MultiwayTree tree = grow_c45(columns, o, control);
  tree.check(columns);
  const auto counts = grow_twin::class_counts(columns, grow_twin::all_rows(columns));
  for (std::size_t c = 0; c < counts.size(); ++c)
    require(close(tree.counts(0)[c], static_cast<double>(counts[c])), "class counts of the root");
  const auto total = static_cast<double>(columns.total());
  for (std::size_t node = 0; node < tree.n_nodes(); ++node) {
    if (tree.is_leaf(node)) continue;
    double below = 0;
    int large = 0;
    for (std::size_t k = 0; k < tree.n_children[node]; ++k) {
      below += tree.total(tree.first_child[node] + k);
      large += tree.total(tree.first_child[node] + k) >= o.min_leaf - 1e-6 * total;
    }
    // Shares below one in a million are dropped.
    require(std::abs(below - tree.total(node)) <= 1e-4 * total, "examples of the branches");
    if (!o.prune) require(large >= 2, "branches that are too small");
  }
  const Columns rows = other_rows(in, data, 6);
  std::vector<double> said(6 * counts.size());
  const bool laplace = in.flag();
  predict_c45(tree, rows, laplace, said.data(), control);
  for (std::size_t r = 0; r < 6; ++r) {
    double sum = 0;
    for (std::size_t c = 0; c < counts.size(); ++c) {
      const double x = said[r * counts.size() + c];
      require(x >= 0 && x <= 1 + 1e-9, "a probability of C4.5");
      sum += x;
    }
    require(close(sum, 1), "probabilities of C4.5");
    const std::size_t leaf = tree.reach(rows, r);
    if (!tree.is_leaf(leaf) || tree.total(leaf) <= 0) continue;
    for (std::size_t c = 0; c < counts.size(); ++c) {
      const auto k = static_cast<double>(counts.size());
      const double want =
          laplace ? (tree.counts(leaf)[c] + 1) / (tree.total(leaf) + k) : tree.counts(leaf)[c] / tree.total(leaf);
      require(close(said[r * counts.size() + c], want), "what a leaf of C4.5 says");
    }
  }
}

// The scores of the paper from their definition, at every node.
void paths(fuzz::Bytes& in) {
  const Data data = some_data(in, 40, false, true);
  const Columns columns = data.columns();
  const double s = 0.1 * in.number(1, 60);
  const Spread spread = std::array{Spread::uniform, Spread::own, Spread::parent}[in.number(0, 2)];
  Control control;
  const PathAverageTree grown = grow_path_average(columns, s, spread, control);
  const MultiwayTree& tree = grown.tree;
  tree.check(columns);
  const auto unseen = [](const grow_twin::Counts& n) { return std::count(n.begin(), n.end(), 0); };
  const auto score = [&](const grow_twin::Counts& n, std::ptrdiff_t z) {
    const Real a =
        static_cast<Real>(s) / static_cast<Real>(n.size() - (spread == Spread::uniform || z <= 1 ? 0 : z - 1));
    Real sum = 0, all = 0;
    for (const std::int64_t x : n) {
      if (x > 0) sum += std::lgamma(a + static_cast<Real>(x)) - std::lgamma(a);
      all += static_cast<Real>(x);
    }
    return sum + std::lgamma(static_cast<Real>(s)) - std::lgamma(static_cast<Real>(s) + all);
  };
  const std::function<void(std::size_t, const Rows&, std::vector<char>, std::ptrdiff_t)> check =
      [&](std::size_t node, const Rows& rows, std::vector<char> used, std::ptrdiff_t above) {
        const auto counts = grow_twin::class_counts(columns, rows);
        for (std::size_t c = 0; c < counts.size(); ++c)
          require(close(tree.counts(node)[c], static_cast<double>(counts[c])), "counts of a path");
        if (rows.empty()) return require(tree.is_leaf(node), "a split without examples");
        const Real leaf = score(counts, spread == Spread::parent ? above : unseen(counts));
        require(close(grown.log_leaf[node], leaf), "score of a leaf");
        std::vector<Real> of_column(columns.n_columns(), grow_twin::kNever);
        for (std::size_t j = 0; j < columns.n_columns(); ++j) {
          if (used[j] != 0) continue;
          of_column[j] = 0;
          for (const Rows& part : grow_twin::parts(columns, j, kNaN, rows))
            of_column[j] += score(grow_twin::class_counts(columns, part), unseen(counts));
        }
        const Real best = *std::max_element(of_column.begin(), of_column.end());
        if (tree.is_leaf(node)) return require(best <= leaf || close(best, leaf), "a path that should go on");
        const auto j = static_cast<std::size_t>(tree.attribute[node]);
        require(used[j] == 0 && close(of_column[j], best) && best > leaf - 1e-9L, "the split of a path");
        require(close(grown.log_b[node], of_column[j] - leaf), "Bayes factor of a split");
        used[j] = 1;
        const auto parts = grow_twin::parts(columns, j, kNaN, rows);
        require(tree.n_children[node] + 1 == parts.size(), "a branch for every value");
        for (std::size_t k = 0; k + 1 < parts.size(); ++k)
          check(tree.first_child[node] + k, parts[k], used, unseen(counts));
      };
  check(0, grow_twin::all_rows(columns), std::vector<char>(columns.n_columns(), 0), 0);
}

// Deep trees: leaves say the average of all prunings, and of an example left out what some tree of the round says
// without it.
void deep_trees(fuzz::Bytes& in) {
  std::vector<everytree::Column> columns;
  std::uint32_t t = 0;
  for (std::uint32_t k = in.number(1, 4); k > 0; --k) {
    everytree::Column column;
    column.kind = in.flag() ? everytree::Column::Kind::ordered : everytree::Column::Kind::nominal;
    column.begin = t;
    column.end = t += in.number(1, in.number(0, 3) == 0 ? 200 : 6);
    if (in.number(0, 2) == 0) column.missing = t++;
    columns.push_back(column);
  }
  const everytree::Columns all(columns, t);
  const std::size_t n = in.number(1, 24), classes = in.number(1, 4);
  std::vector<std::uint16_t> codes;
  for (const everytree::Column& column : columns)
    for (std::size_t r = 0; r < n; ++r)
      codes.push_back(static_cast<std::uint16_t>(
          in.number(0, column.n_codes() - (column.missing == everytree::Column::kNone ? 1 : 0))));
  std::vector<std::int64_t> counts(n * classes, 0);
  std::size_t entries = 0;
  for (auto& x : counts) {
    if (in.number(0, 2) == 0) x = in.number(1, 4);
    entries += x > 0;
  }
  const coded::CodedExamples d{&all, codes, counts, n, classes, in.number(1, 3)};
  coded::ForestSettings s;
  s.n_parts = in.number(2, 5);
  s.columns_at_node = in.number(1, 4);
  s.random_cuts = in.flag();
  s.power = in.flag() ? 1.0 : 0.1 * in.number(1, 10);
  for (std::size_t c = 0; c < classes; ++c) s.a.push_back(0.05 * in.number(1, 40));
  s.seed = in.byte();
  Control free, little;
  std::vector<double> left(entries * classes, 0.0), again = left;
  const std::uint64_t round = in.number(0, 3);
  const Forest forest = coded::grow_rounds(d, s, round, 1, left.data(), in.number(0, 15) == 0 ? 2 : 1, free);
  fuzz::limit(in, little);
  try {
    const Forest same = coded::grow_rounds(d, s, round, 1, again.data(), 1, little);
    require(again == left && same.theta == forest.theta, "the same trees within a limit");
  } catch (const LimitReached&) {
  }
  ForestView{forest.nodes, forest.trees, forest.theta.data(), classes}.check(t);
  require(forest.trees.size() == s.n_parts, "a tree for each part");
  Rows rows(n);
  std::iota(rows.begin(), rows.end(), 0u);
  const forest_twin::Average average{d, s, forest};
  for (const ForestTree& tree : forest.trees)
    for (std::uint32_t row = 0; row < n; ++row) {
      std::uint32_t at = tree.root, depth = 0;
      for (; forest.nodes[at].next[0] != at; ++depth)
        at = forest.nodes[at].next[forest_twin::holds(d, forest.nodes[at].test, row) ? 1 : 0];
      require(depth <= tree.depth && depth <= coded::kDeepest, "depth of a tree");
      const auto says = average.below(tree.root, rows, row).says;
      for (std::size_t c = 0; c < classes; ++c)
        require(close(forest.theta[at * classes + c], says[c]), "the average of all prunings");
    }
  std::size_t entry = 0;
  for (std::uint32_t row = 0; row < n; ++row) {
    std::vector<char> judge(forest.trees.size(), 1);  // the tree that did not see the row, the same for all its classes
    for (std::size_t y = 0; y < classes; ++y) {
      if (counts[row * classes + y] == 0) continue;
      const Real part = static_cast<Real>(counts[row * classes + y]) / static_cast<Real>(d.per_example);
      const forest_twin::Average without{d, s, forest, {row, y, std::min(Real{1}, part)}};
      for (std::size_t k = 0; k < judge.size(); ++k) {
        const auto says = without.below(forest.trees[k].root, rows, row).says;
        for (std::size_t c = 0; c < classes; ++c)
          if (!close(left[entry * classes + c], says[c])) judge[k] = 0;
      }
      ++entry;
    }
    require(std::count(judge.begin(), judge.end(), 1) > 0, "what is said of an example left out");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes in(data, size);
  switch (in.number(0, 5)) {
    case 0:
      c45(in);
      break;
    case 1:
      paths(in);
      break;
    case 2:
      deep_trees(in);
      break;
    default:
      options(in);
  }
  return 0;
}
