// Searches against loops: branch and bound and the most probable tree in tiny spaces against every tree, in larger ones
// against the fold of the whole graph; the ordered search against every cut of every column. What a limit leaves must
// be true, and the search must go on from there.
#include "bytes.hpp"
#include "down/posterior.hpp"
#include "naive_trees.hpp"
#include "ordered_twin.hpp"
#include "search/probable.hpp"
#include "search/search.hpp"
#include "sets/likeliest.hpp"
#include "sets/query.hpp"

using namespace everytree;

namespace {

SearchOptions some_options(fuzz::Bytes& in, std::int64_t min_leaf) {
  SearchOptions o;
  o.min_leaf = min_leaf;
  o.merge = in.number(0, 7) != 0;
  o.bounds.identical_rows = in.number(0, 7) != 0;
  o.bounds.support = in.number(0, 7) != 0;
  o.bounds.similarity = in.number(0, 7) != 0;
  o.bounds.siblings = in.number(0, 7) != 0;
  o.n_threads = in.number(0, 15) == 0 ? 2 + in.number(0, 1) : 1;
  if (in.flag()) o.sides_from = 0;
  return o;
}

GraphOptions graph_options(const naive::Space& space) {
  GraphOptions g;
  g.max_depth = space.max_depth;
  g.min_leaf = space.min_leaf;
  return g;
}

// By every tree, or by the fold where there are too many.
naive::Least expected_least(const naive::Space& space, const LeafCost& cost, bool tiny) {
  if (tiny) return naive::least_of_all(space, cost);
  Control control;
  const Ranked best = best_trees(Graph(space.table->core(), graph_options(space), control), cost, 1, control)[0];
  return {best.score, naive::leaves_of(best.key)};
}

// A tree of the space with this cost, and bounds around the least cost; all of it known if it says so.
void check_found(const naive::Space& space, const LeafCost& cost, const naive::Least& least, bool smallest,
                 const Found& found, bool ended) {
  fuzz::require(fuzz::close(naive::cost_of(space, cost, found.key), found.cost), "cost of the tree found");
  const double slack = 1e-9 * std::max(1.0, std::abs(least.cost));
  fuzz::require(found.lower <= least.cost + slack, "lower bound");
  fuzz::require(found.cost >= least.cost - slack, "a tree below the least cost");
  fuzz::require(found.proved == found.stopped.empty(), "proved, or stopped for a reason");
  if (!ended) fuzz::require(found.proved, "the search ends");
  if (!found.proved) return;
  fuzz::require(fuzz::close(found.cost, least.cost) && fuzz::close(found.lower, least.cost), "least cost");
  if (smallest) fuzz::require(naive::leaves_of(found.key) == least.leaves, "fewest leaves");
}

// What another search finds out about splits of the root does not change the tree.
void check_parts(fuzz::Bytes& in, const naive::Space& space, const LeafCost& cost, const SearchOptions& o,
                 const Found& alone, bool smallest) {
  Control control;
  const auto table = space.table->core();
  Search elsewhere(table, cost, o), told(table, cost, o);
  const Part first = elsewhere.look({}, space.max_depth, in.flag(), control);
  std::vector<std::int32_t> tests;
  for (const Branch& branch : first.branches)
    if (in.number(0, 3) != 0) tests.push_back(branch.test);
  if (tests.empty()) return;
  const Part part = elsewhere.work({}, space.max_depth, first.branches, tests, 1e300, smallest ? 1000 : 0, control);
  const double slack = 1e-9 * std::max(1.0, std::abs(alone.cost));
  for (const Part* p : {&first, &part})
    if (!p->key.empty()) fuzz::require(fuzz::close(naive::cost_of(space, cost, p->key), p->upper), "tree of a part");
  for (const Branch& branch : part.branches) {
    fuzz::require(branch.lower[0] + branch.lower[1] >= alone.cost - slack, "bounds of a split below the least cost");
    for (int a = 0; a < 2; ++a) fuzz::require(branch.lower[a] <= branch.upper[a] + slack, "bounds that cross");
  }
  told.learn({}, space.max_depth, part.branches, control);
  const auto leaves = static_cast<std::uint32_t>(naive::leaves_of(alone.key));
  fuzz::require(told.run(space.max_depth, smallest, control, alone.cost, leaves).key == alone.key,
                "the tree with bounds from elsewhere");
}

void branch_and_bound(fuzz::Bytes& in, const naive::Space& space, bool tiny) {
  const naive::Table& d = *space.table;
  const LeafCost cost = naive::search_cost(in.byte(), d.c);
  const auto table = d.core();
  const SearchOptions o = some_options(in, space.min_leaf);
  const bool smallest = in.flag();
  const naive::Least least = expected_least(space, cost, tiny);
  Control free;
  Search search(table, cost, o);
  const Found greedy = search.greedy(space.max_depth, free);
  fuzz::require(fuzz::close(naive::cost_of(space, cost, greedy.key), greedy.cost), "cost of the greedy tree");
  for (std::uint32_t tries = in.number(0, 3); tries > 0; --tries) {
    Control little;
    fuzz::limit(in, little);
    const Found part = search.run(space.max_depth, smallest, little);
    check_found(space, cost, least, smallest, part, true);
    fuzz::require(part.cost <= greedy.cost + 1e-9 * std::max(1.0, std::abs(greedy.cost)), "worse than greedy");
  }
  const Found whole = search.run(space.max_depth, smallest, free);
  check_found(space, cost, least, smallest, whole, false);
  if (in.number(0, 3) == 0) {  // what was proved is kept for other depths
    const naive::Space other{&d, static_cast<int>(in.number(0, 5)) - 1, space.min_leaf};
    check_found(other, cost, expected_least(other, cost, tiny), true, search.run(other.max_depth, true, free), false);
  }
  if (in.number(0, 7) == 0) {
    SearchOptions one = o, more = o;
    one.n_threads = 1;
    more.n_threads = 3;
    const Found alone = Search(table, cost, one).run(space.max_depth, smallest, free);
    fuzz::require(Search(table, cost, more).run(space.max_depth, smallest, free).key == alone.key, "tree of threads");
    check_parts(in, space, cost, one, alone, smallest);
  }
}

void most_probable(fuzz::Bytes& in, const naive::Space& space, bool tiny) {
  const naive::Table& d = *space.table;
  const naive::Weights weights = fuzz::weights(in, d);
  const auto leaf = std::make_shared<const Dirichlet>(weights.a, d.class_counts(d.all()));
  ProbableOptions o;
  o.max_depth = space.max_depth;
  o.min_leaf = space.min_leaf;
  o.by_depth = o.max_depth >= 0 || weights.a.size() > 1 || naive::depends_on_depth(weights.prior) || in.flag();
  o.merge = in.number(0, 7) != 0;
  o.look_ahead = in.number(0, 7) != 0;
  o.spread = in.number(0, 3) != 0;
  o.outvoted = in.number(0, 3) != 0;
  o.tables = in.number(0, 3) != 0;
  Control free;
  double best = 0;
  if (tiny) {
    best = static_cast<double>(naive::fold<naive::Real>(
        space, d.all(), 0,
        [&](const naive::Rows& rows, std::size_t at, bool open) {
          return weights.log_leaf(d.class_counts(rows), at, open);
        },
        [&](const naive::Rows&, std::size_t at, const naive::Tests& tests, std::uint32_t test, naive::Real x,
            naive::Real y) { return weights.log_split(tests, test, at) + x + y; },
        [](naive::Real& x, naive::Real y) { x = std::max(x, y); }));
  } else {
    GraphOptions g = graph_options(space);
    g.by_depth = o.by_depth;
    best =
        Posterior(std::make_shared<const Graph>(d.core(), g, free), weights.prior, leaf, true, 1, free).log_map(free);
  }
  ProbableSearch search(d.core(), weights.prior, leaf, o);
  for (std::uint32_t tries = in.number(0, 3) + 1; tries > 0; --tries) {
    Control control;
    if (tries > 1) fuzz::limit(in, control);
    const MostProbable found = search.run(control);
    const double slack = 1e-9 * std::max(1.0, std::abs(best));
    fuzz::require(fuzz::close(naive::log_joint(space, weights, found.key), found.log_joint), "joint of the tree found");
    fuzz::require(found.log_joint <= best + slack && found.upper >= best - slack, "bounds of the joint");
    fuzz::require(found.proved == found.stopped.empty() && (found.proved || tries > 1), "the search ends");
    if (found.proved) fuzz::require(fuzz::close(found.log_joint, best), "the most probable tree");
  }
}

void every_cut(fuzz::Bytes& in) {
  using namespace everytree::ordered;
  const int depth = static_cast<int>(in.number(0, 3));
  const ordered_twin::Case c =
      ordered_twin::some_case(depth > 2 ? 12 : 24, in.byte(), [&](std::size_t low, std::size_t high) {
        return std::size_t{in.number(static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(high))};
      });
  const Problem problem = c.problem();
  const Value least = ordered_twin::least(c, depth);
  const std::size_t threads = in.number(0, 15) == 0 ? 3 : 1;
  const auto check = [&](const Answer& answer, bool limited) {
    fuzz::require(ordered_twin::cost_of(c, answer.tree, depth) == answer.cost, "cost of the ordered tree");
    fuzz::require(answer.lower <= least && least <= answer.cost, "bounds of the ordered search");
    // Stopped and proved all the same: what was known at that moment was enough.
    fuzz::require(answer.proved || (limited && !answer.stopped.empty()), "the ordered search ends");
    if (answer.proved) fuzz::require(answer.cost == least && answer.lower == least, "least cost over every cut");
  };
  if (in.flag()) {
    Control little;
    fuzz::limit(in, little);
    check(Solver(problem, depth, little, threads).run(), true);
  }
  Control free, other;
  const Answer whole = Solver(problem, depth, free, threads).run();
  check(whole, false);
  if (threads > 1) {
    const Answer alone = Solver(problem, depth, other).run();
    const auto same = [](const Step& x, const Step& y) { return x.column == y.column && x.rank == y.rank; };
    fuzz::require(std::equal(alone.tree.begin(), alone.tree.end(), whole.tree.begin(), whole.tree.end(), same),
                  "the ordered tree of threads");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes in(data, size);
  const auto all = available_kernels();
  use_kernels(all[in.byte() % all.size()]->name);
  const std::uint32_t kind = in.number(0, 3);
  if (kind == 0) {
    every_cut(in);
  } else {
    const bool tiny = in.flag();
    const int depth = static_cast<int>(in.number(0, tiny ? 4 : 5)) - 1;
    const std::uint32_t rows = tiny ? 9 : depth < 0 ? 14 : 40;
    const naive::Table d = fuzz::table_or_columns(in, rows, tiny ? 4 : depth < 0 ? 5 : 7, tiny ? 2 : 3, 4, 3);
    const naive::Space space{&d, depth, in.number(1, 4)};
    if (d.total(d.all()) >= space.min_leaf)
      kind == 1 ? most_probable(in, space, tiny) : branch_and_bound(in, space, tiny);
  }
  use_kernels("");
  return 0;
}
