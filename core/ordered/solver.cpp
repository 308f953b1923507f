#include "ordered/solver.hpp"

#include <algorithm>
#include <limits>
#include <queue>

#include "common/errors.hpp"
#include "common/parallel.hpp"

namespace everytree::ordered {

namespace {
// Of a queue the eighth part is solved at once, up to so many intervals.
constexpr std::size_t kPart = 8, kMost = 64;
constexpr double kNoLimit = std::numeric_limits<double>::infinity();
// Cells of a table, at every depth, of which a greedy tree takes no more than 10 ms.
constexpr std::size_t kSmall = 1000000;
}  // namespace

// Cuts a … b of a column between two solved ones.
struct Solver::Interval {
  Value least, near, width;  // no cut costs less; what the better of the ends costs; what its rows can cost
  std::uint32_t place;       // of the column among those searched: the last to decide
  std::ptrdiff_t a, b;
  const Node *i, *j;
  bool operator<(const Interval& o) const {  // the first of a queue is the greatest
    if (least != o.least) return least > o.least;
    if (near != o.near) return near > o.near;
    if (width != o.width) return width < o.width;
    return place != o.place ? place > o.place : a > o.a;
  }
};

// A cut to be solved, and what comes of it: a tree if it costs less than the best one before.
struct Solver::Task {
  Interval at;
  const CutList* cuts;
  Node* node;
  Value leaf[2];
  Within within;
  Value best = 0;
  Steps tree;
};

// What a level of the recursion works with, kept from call to call.
struct Solver::Level {
  explicit Level(const Problem& problem) : frame(problem), whole(frame), part(frame) {}
  std::vector<CutList> cuts;  // of each column
  std::vector<std::uint32_t> rows[2];
  Cover sides[2];
  std::vector<std::uint8_t> ghosts[2];
  std::vector<Bound> asked;
  std::vector<std::int64_t> counts[2];
  NodeStack nodes;
  Node low;
  std::vector<Node> high;  // of each column
  std::vector<Bound> firsts, columns;
  std::vector<Interval> waiting;
  std::size_t done = 0;
  Steps tree[2], other;
  Frame frame;
  Part whole, part;
};

Solver::Solver(const Problem& problem, int max_depth, Control& control, std::size_t n_threads)
    : Solver(problem, max_depth, control, n_threads, problem.min_leaf, true) {
  if (min_leaf_ > 1 && max_depth > 2) loose_.reset(new Solver(problem, max_depth, control, n_threads, 1, true));
}

Solver::Solver(const Problem& problem, int max_depth, Control& control, std::size_t n_threads, std::int64_t min_leaf,
               bool calling)
    : p_(problem),
      control_(control),
      depth_(max_depth),
      min_leaf_(min_leaf),
      n_threads_(std::max<std::size_t>(1, n_threads)),
      calling_(calling),
      in_task_(!calling),
      two_(problem, control, min_leaf, calling),
      walked_(problem, control, min_leaf, calling) {
  if (max_depth < 0) throw InvalidInput("a search over cut-points needs a bound on the depth");
  for (int k = 0; k <= max_depth; ++k) levels_.push_back(std::make_unique<Level>(problem));
  all_.n = p_.n_rows;
  all_.rows = p_.order.data();
  all_.counts.assign(p_.n_classes, 0);
  for (std::size_t r = 0; r < p_.n_rows; ++r) {
    all_.counts[p_.classes[r]] += p_.weights[r];
    all_.weight += p_.weights[r];
  }
  all_.leaf = p_.leaf(all_.counts.data());
}

Solver::~Solver() = default;

Bound Solver::solve(const Cover& cover, int depth, Value limit, std::vector<Bound>& known, Steps& tree) {
  tree.assign(1, Step{});
  const Bound leaf{cover.leaf, cover.leaf};
  if (depth == 0 || cover.leaf <= 2 * p_.price || cover.n < 2) return leaf;
  if (depth > 2) return more_levels(cover, depth, limit, known, tree);
  if (!p_.plain()) {
    if (depth == 2) return walked_.solve(cover, limit, known, tree);
    tree[0].column = -2;
    return walked_.one_level(cover, known);
  }
  Level& level = *levels_[static_cast<std::size_t>(depth)];
  level.frame.open(cover);
  level.whole.all(cover);
  if (depth == 2) return two_.solve(level.whole, limit, known, tree);
  tree[0].column = -2;
  return two_.one_level(level.whole, known);
}

Bound Solver::more_levels(const Cover& cover, int depth, Value limit, std::vector<Bound>& known, Steps& tree) {
  Level& level = *levels_[static_cast<std::size_t>(depth)];
  level.firsts = known;
  // One level less is a first tree, and a bound of the ends of every column.
  const Value room = limit >= kNever ? kNever : limit + cover.leaf / 8;
  Bound whole;
  if (depth == 3 && p_.plain()) {
    level.frame.open(cover);
    level.whole.all(cover);
    whole = two_.solve(level.whole, room, level.firsts, level.other);
  } else {
    whole = solve(cover, depth - 1, room, level.firsts, level.other);
  }
  const bool tied = min_leaf_ == 1;
  if (tied) tie(whole);
  Value best = std::min(limit, cover.leaf);
  Bound found{cover.leaf, std::min(cover.leaf, whole.relaxed)};
  if (whole.cost < room) {
    found.cost = std::min(found.cost, whole.cost);
    if (whole.cost < best) {
      best = whole.cost;
      tree = level.other;
    }
  }
  const std::size_t d = p_.n_columns;
  level.cuts.resize(d);
  level.high.resize(d);
  level.columns.assign(d, Bound{kNever, kNever});
  for (Node& high : level.high) high.first[0].clear();  // not searched
  level.nodes.clear();
  auto& waiting = level.waiting;
  waiting.clear();
  const bool root = depth == depth_;
  const auto put = [&](std::size_t f, const Node& i, const Node& j, std::ptrdiff_t a, std::ptrdiff_t b) {
    if (!narrow(level.cuts[f], best, known[f], level.columns[f], i, j, a, b)) return;
    waiting.push_back({least_between(i, j), std::min(cost_of(i).cost, cost_of(j).cost),
                       level.cuts[f].reach(b) - level.cuts[f].reach(a), static_cast<std::uint32_t>(f), a, b, &i, &j});
    std::push_heap(waiting.begin(), waiting.end());
  };
  for (std::size_t f = 0; f < d; ++f) {
    level.columns[f] = known[f];
    if (known[f].cost >= best) continue;
    Node& high = level.high[f];
    level.cuts[f].find(p_, cover, f);
    set_ends(level.low, high, whole, level.firsts, p_.price, reach_of(p_, cover));
    high.cut = level.cuts[f].size();
    std::ptrdiff_t a, b;
    level.columns[f] = begin_column(level.cuts[f], p_.price, min_leaf_, cover.weight, level.low, high, a, b);
    put(f, level.low, high, a, b);
  }
  if (!in_task_)
    for (const auto& other : crew_) other->opened_ = nullptr;
  std::vector<Task> tasks;
  while (!waiting.empty() && !(root && best <= root_lower_)) {
    const std::size_t at_once = in_task_ ? 1 : std::clamp<std::size_t>(waiting.size() / kPart, 1, kMost);
    tasks.clear();
    if (root) {
      root_lower_ = std::max(root_lower_, std::min(best, waiting.front().least));
      control_.check(true, kStage, level.done, level.done + waiting.size());
      control_.check_memory(p_.bytes() + bytes());
    }
    while (!waiting.empty() && tasks.size() < at_once) {
      std::pop_heap(waiting.begin(), waiting.end());
      const Interval at = waiting.back();
      waiting.pop_back();
      if (root) ++level.done;
      const CutList& cuts = level.cuts[at.place];
      std::ptrdiff_t a = at.a, b = at.b;
      if (!narrow(cuts, best, known[at.place], level.columns[at.place], *at.i, *at.j, a, b))
        continue;  // the best may be better by now
      Node& t = level.nodes.push(d);
      t.cut = middle(cuts, a, b);
      t.reach = cuts.reach(t.cut);
      cuts.counts(t.cut, cover, level.counts);
      Task task{at, &cuts, &t, {p_.leaf(level.counts[0].data()), p_.leaf(level.counts[1].data())}, {}, best, {}};
      set_between(t, *at.i, *at.j, task.leaf, tied);
      task.within = {a, b, std::max(cuts.reach(b) - t.reach, t.reach - cuts.reach(a)) / 2};
      tasks.push_back(std::move(task));
    }
    const Value before = best;
    const auto take_best = [&] {
      for (Task& task : tasks)
        if (task.best < best) {
          best = task.best;
          tree = std::move(task.tree);
        }
    };
    try {
      run_tasks(cover, depth, tasks);
    } catch (const LimitReached&) {
      take_best();  // what was found until then
      throw;
    }
    take_best();
    for (const Task& task : tasks)
      level.columns[task.at.place] = lower(level.columns[task.at.place], cost_of(*task.node));
    if (root && best < before) polish(cover, depth, level, best, tree);
    for (const Task& task : tasks) {
      put(task.at.place, *task.at.i, *task.node, task.within.a, task.node->cut - 1);
      put(task.at.place, *task.node, *task.at.j, task.node->cut + 1, task.within.b);
    }
  }
  for (std::size_t f = 0; f < d; ++f) {
    raise(known[f], level.columns[f], tied, whole.relaxed + p_.price);
    found = lower(found, known[f]);
  }
  if (tied) tie(found);
  return found;
}

// Each task on a solver of its own thread; this one is that of the calling thread.
void Solver::run_tasks(const Cover& cover, int depth, std::vector<Task>& tasks) {
  const auto solved_by = [&](Solver& solver, Task& task) {
    Level& level = *solver.levels_[static_cast<std::size_t>(depth)];
    solver.solve_sides(cover, depth, level, *task.cuts, task.best, *task.node, task.leaf, task.within, task.tree);
  };
  if (in_task_) {
    for (Task& task : tasks) solved_by(*this, task);
    return;
  }
  const std::size_t n_threads = std::min(n_threads_, tasks.size());
  while (crew_.size() + 1 < n_threads) crew_.emplace_back(new Solver(p_, depth_, control_, 1, min_leaf_, false));
  in_task_ = true;
  try {
    for_each_parallel(tasks.size(), n_threads, control_, nullptr, [&](std::size_t k, std::size_t worker) {
      Solver& solver = worker == 0 ? *this : *crew_[worker - 1];
      if (worker > 0 && solver.opened_ != &cover && depth == 3 && p_.plain()) {
        solver.levels_[3]->frame.open(cover);
        solver.opened_ = &cover;
      }
      solver.two_.forget();
      solved_by(solver, tasks[k]);
    });
  } catch (...) {
    in_task_ = false;
    throw;
  }
  in_task_ = false;
}

// A better tree near the best one: the best cut for its sides' trees as they are, and the best trees of its sides, as
// long as that helps.
void Solver::polish(const Cover& cover, int depth, Level& level, Value& best, Steps& tree) {
  for (Value before = kNever; best < before && best > 2 * p_.price;) {
    before = best;
    Steps whole;
    std::size_t at = 0, column = p_.n_columns;
    std::ptrdiff_t cut = 0;
    complete(cover, tree, at, whole);
    if (whole[0].column < 0) return;
    better_cut(cover, whole, column, cut);
    if (column == p_.n_columns || level.high[column].first[0].empty()) return;
    const CutList& cuts = level.cuts[column];
    if (static_cast<std::int32_t>(column) == whole[0].column && cuts.rank(cut) == whole[0].rank) return;
    Node& t = level.nodes.push(p_.n_columns);
    t.cut = cut;
    t.reach = cuts.reach(cut);
    cuts.counts(cut, cover, level.counts);
    const Value leaf[2] = {p_.leaf(level.counts[0].data()), p_.leaf(level.counts[1].data())};
    set_between(t, level.low, level.high[column], leaf, min_leaf_ == 1);
    solve_sides(cover, depth, level, cuts, best, t, leaf, {cut, cut, 0}, tree);
    level.nodes.pop();
  }
}

// The smaller side first, which is quicker, then the other as far as it can matter.
//
// Leaves with a least size: first both sides with leaves that are large enough at the ends of the interval, for that
// bounds neighbours; then exactly, but only if the cut may be better than the best tree. (Each side exactly before the
// other is begun, and as far as neighbours can use it: 300 rows of raisin at depth 4 with min_leaf = 5 took 1.85 times
// as many cuts.)
void Solver::solve_sides(const Cover& cover, int depth, Level& level, const CutList& cuts, Value& best, Node& t,
                         const Value leaf[2], const Within& within, Steps& tree) {
  const int first = 2 * cuts.rows(t.cut) <= cover.n ? 1 : 0;
  const Value most = best + within.slack;
  bool done[2] = {false, false};  // whether level.tree has the best tree of the side
  const auto room = [&](Value all, int side) {
    const Value limit = all - t.side[1 - side].cost;
    if (leaf[side] <= t.side[side].cost) {  // no tree is better than the leaf
      t.side[side].cost = leaf[side];
      level.tree[side].assign(1, Step{});
      done[side] = true;
    }
    return done[side] || t.side[side].cost >= limit ? 0 : limit;
  };
  if (min_leaf_ > 1)
    for (const int side : {first, 1 - first}) {
      const std::ptrdiff_t wide = side == 1 ? within.b : within.a;
      const Value limit = room(most, side);
      if (limit > 0 && wide != t.cut) done[side] = solved_widely(cover, depth, level, cuts, t, wide, side, limit);
    }
  for (const int side : {first, 1 - first}) {
    const Value limit = room(min_leaf_ > 1 ? best : most, side);
    if (limit == 0) continue;
    const Bound found =
        solve_side(cover, depth, level, cuts, t.cut, t.cut, side, limit, t.first[side], level.tree[side]);
    done[side] = found.cost < limit;
    t.side[side].cost = std::max(t.side[side].cost, found.cost);
    if (min_leaf_ > 1) continue;
    t.side[side].relaxed = std::max(t.side[side].relaxed, found.relaxed);
    tie(t.side[side]);
  }
  const Value cost = t.side[0].cost + t.side[1].cost;
  if (!done[0] || !done[1] || cost >= best) return;
  best = cost;
  tree.assign(1, Step{static_cast<std::int32_t>(cuts.column()), cuts.rank(t.cut)});
  for (const int side : {0, 1}) tree.insert(tree.end(), level.tree[side].begin(), level.tree[side].end());
}

// A side of cut t, with the further rows of that side of `wide` as ghosts.
Bound Solver::solve_side(const Cover& cover, int depth, Level& level, const CutList& cuts, std::ptrdiff_t t,
                         std::ptrdiff_t wide, int side, Value limit, std::vector<Bound>& known, Steps& tree) {
  if (depth == 3 && p_.plain()) {
    cuts.counts(t, cover, level.counts);
    level.part.side(cuts.column(), cuts.rank(t), cuts.rank(wide), side, level.counts[side].data(),
                    side == 1 ? cuts.weight(wide) : cover.weight - cuts.weight(wide));
    return two_.solve(level.part, limit, known, tree);
  }
  cuts.wide_side(p_, cover, t, wide, side, level.rows[side], level.ghosts[side], level.sides[side]);
  return solve(level.sides[side], depth - 1, limit, known, tree);
}

// A side with leaves that are large enough at the end of the interval. Whether its tree has no leaf too small: then
// that is all there is to know of the side. (Leaves of any size before that, with the solver of these, were tried:
// raisin with min_leaf = 20 took 1.2 times as long, rice 0.8.)
bool Solver::solved_widely(const Cover& cover, int depth, Level& level, const CutList& cuts, Node& t,
                           std::ptrdiff_t wide, int side, Value limit) {
  std::vector<Bound>& known = t.first[side];
  level.asked = known;
  Steps open;
  const Value found = solve_side(cover, depth, level, cuts, t.cut, wide, side, limit, level.asked, open).cost;
  for (std::size_t g = 0; g < known.size(); ++g)
    known[g] = higher(known[g], {level.asked[g].cost, level.asked[g].cost});
  t.side[side] = higher(t.side[side], {found, found});
  if (found >= limit) return false;
  cuts.side(p_, cover, t.cut, side, level.rows[side], level.sides[side]);
  Steps whole;
  std::size_t at = 0;
  if (complete(level.sides[side], open, at, whole) > t.side[side].cost) return false;
  level.tree[side] = std::move(whole);
  return true;
}

Value Solver::complete(const Cover& cover, const Steps& tree, std::size_t& at, Steps& out) {
  Step step = tree[at++];
  if (step.column == -2 && cover.weight >= min_leaf_) {
    step.column = -1;
    Value best = cover.leaf;
    for (std::size_t g = 0; g < p_.n_columns; ++g) {
      const WalkedLevels::Best found = walked_.best_cut(cover, g);
      if (found.cost < best) {
        best = found.cost;
        step = {static_cast<std::int32_t>(g), found.rank};
      }
    }
    out.push_back(step);
    if (step.column >= 0) out.insert(out.end(), 2, Step{});
    return best;
  }
  out.push_back(step);
  CutList cuts;
  std::ptrdiff_t k = -1;
  if (step.column >= 0 && cover.weight >= min_leaf_) {
    // A cut between ghosts may lie between two cuts of the rows without them, or beyond their last one.
    const auto f = static_cast<std::size_t>(step.column);
    cuts.find(p_, cover, f);
    if (step.rank < p_.column(f)[cover.order(f)[cover.n - 1]])
      k = first_not(0, cuts.size() - 1, [&](std::ptrdiff_t c) { return cuts.rank(c) <= step.rank; }) - 1;
  }
  if (cover.weight < min_leaf_ || (step.column >= 0 && k < 0)) {  // the rest of it has no place here
    for (std::size_t open = step.column < 0 ? 0 : 2; open > 0; --open)
      if (tree[at++].column >= 0) open += 2;
    return kNever;
  }
  if (step.column < 0) return cover.leaf;
  Value cost = 0;
  for (const int side : {0, 1}) {
    std::vector<std::uint32_t> rows;
    Cover part;
    cuts.side(p_, cover, k, side, rows, part);
    cost = std::min(kNever, cost + complete(part, tree, at, out));
  }
  return cost;
}

Solver::Found Solver::finished(const Steps& open) {
  Found found;
  std::size_t at = 0;
  found.cost = complete(all_, open, at, found.tree);
  return found;
}

// A tree that is known, if it costs less than the answer.
void Solver::offer(Found&& found, Answer& answer) {
  if (found.cost >= answer.cost) return;
  answer.cost = found.cost;
  answer.tree = std::move(found.tree);
}

// A greedy tree; of a small table all of it, however late it is.
void Solver::grow(Measure measure, double until, Answer& answer) const {
  if (p_.n_rows * p_.n_columns * static_cast<std::size_t>(depth_) <= kSmall) until = kNoLimit;
  Found grown;
  grown.cost = greedy(all_, depth_, measure, until, grown.tree);
  offer(std::move(grown), answer);
}

// With a limit of time greedy trees come first, for it may end the search before there is any other tree, and what is
// left to do after it, to finish the tree that was found, takes about as long as to grow one.
Answer Solver::run() {
  Answer answer, grown;
  answer.tree.assign(1, Step{});
  answer.cost = all_.leaf;
  root_lower_ = std::min(all_.leaf, p_.price);
  std::vector<Bound> known(p_.n_columns);
  Steps tree(1);
  Found first{all_.leaf, Steps(1)};
  const bool strict = min_leaf_ == p_.min_leaf;  // the solver of the relaxed problem gives bounds: its trees need none
  const double limit = control_.time_limit;
  bool all_grown = false;
  try {
    control_.check(true, kStage, 0, 0);
    if (p_.plain()) control_.check_memory(p_.bytes() + n_threads_ * levels_[0]->frame.most_bytes(p_.n_rows));
    if (strict && limit < kNoLimit) {
      const double begun = control_.seconds();
      grow(Measure::gini, limit, grown);
      const double left = std::max(0.0, limit - control_.seconds());
      control_.time_limit = limit - std::min(control_.seconds() - begun, left / 4);
      for (const Measure measure : {Measure::entropy, Measure::cost}) grow(measure, control_.time_limit, grown);
      all_grown = true;
    }
    if (depth_ > 2) {
      dive(all_, depth_, first);
      offer(Found(first), answer);
      if (loose_) {
        const Answer any = loose_->run();
        root_lower_ = std::max(root_lower_, any.lower);
        offer(finished(any.tree), answer);
        // Of a Ctrl-C one hears but once.
        if (loose_->ended_) throw LimitReached(*loose_->ended_, "limit reached");
      }
      if (answer.cost > root_lower_) refine(all_, depth_, answer);
    }
    if (answer.cost > root_lower_) solve(all_, depth_, answer.cost, known, tree);
    answer.proved = true;
  } catch (const LimitReached& reached) {
    answer.stopped = name_of(reached.reason);
    ended_ = reached.reason;
    // However little memory there was, the answer is no worse than a greedy tree.
    if (strict && !all_grown) try {
        for (const Measure measure : {Measure::gini, Measure::entropy, Measure::cost}) grow(measure, limit, grown);
      } catch (const LimitReached&) {  // no clock ends it, and who stops a search gets what it knows
        answer.stopped = name_of(LimitReached::Reason::stopped);
      }
    offer({grown.cost, std::move(grown.tree)}, answer);
  }
  control_.time_limit = limit;
  offer(std::move(first), answer);
  if (tree[0].column != -1) offer(finished(tree), answer);
  answer.lower = answer.proved ? answer.cost : std::min(answer.cost, root_lower_);
  answer.proved = answer.proved || answer.lower >= answer.cost;
  count(answer);
  answer.n_bytes = p_.bytes() + bytes();
  return answer;
}

void Solver::count(Answer& answer) const {
  answer.n_solved += two_.n_solved + walked_.n_solved;
  answer.n_cuts += two_.n_cuts + walked_.n_cuts;
  answer.n_scans += two_.n_scans + walked_.n_scans;
  for (const auto& other : crew_) other->count(answer);
  if (loose_) loose_->count(answer);
}

std::size_t Solver::bytes() const {
  std::size_t sum = loose_ ? loose_->bytes() : 0;
  for (const auto& other : crew_) sum += other->bytes();
  for (const auto& level : levels_) {
    for (const auto& rows : level->rows) sum += 4 * rows.size();
    for (const auto& cuts : level->cuts) sum += cuts.bytes();
    sum += level->nodes.bytes(p_.n_columns) + level->frame.bytes() + level->whole.bytes() + level->part.bytes();
    sum += level->high.size() * (sizeof(Node) + 2 * p_.n_columns * sizeof(Bound));
    sum += level->waiting.capacity() * sizeof(Interval);
  }
  return sum;
}

}  // namespace everytree::ordered
