#include "grow/path_average.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <string>

#include "grow/view.hpp"
#include "weights/rising.hpp"

namespace everytree::grow {

namespace {

constexpr double kEveryValue = std::numeric_limits<double>::quiet_NaN();  // a branch for every declared value
constexpr std::size_t kExamplesBetween = std::size_t{1} << 18;  // examples counted between two looks at the limits

class PathGrower {
 public:
  PathGrower(const Columns& columns, double s, Spread spread, Control& control)
      : columns_(columns),
        s_(s),
        spread_(spread),
        control_(control),
        rising_s_(s, columns.per_example()),
        splitter_(columns),
        out_{MultiwayTree(columns.n_classes()), {}, {}} {}
  PathAverageTree grow();

 private:
  struct Task {
    std::size_t node, begin, end;  // the node, and its part of rows_
    std::size_t unseen;            // classes without examples at its parent
    std::size_t depth;
  };

  // The table that the counts of a node give, where this many classes have no example.
  Rising& table_of(std::size_t unseen) {
    const std::size_t n_classes = columns_.n_classes();
    const std::size_t z = spread_ != Spread::uniform && unseen > 1 ? unseen : 1;  // for z = 1 it is S / C
    return tables_.try_emplace(z, s_ / static_cast<double>(n_classes - z + 1), columns_.per_example()).first->second;
  }
  void grow_node(const Task& task);
  void split(const Task& task, std::size_t attribute, std::size_t unseen);
  Sum split_score(std::size_t attribute, const Task& task, const Rising& table);
  std::int64_t weight(std::uint32_t row) const { return columns_.weights()[row]; }
  void check(std::size_t work);

  const Columns& columns_;
  double s_;
  Spread spread_;
  Control& control_;
  std::map<std::size_t, Rising> tables_;
  Rising rising_s_;
  std::vector<std::uint32_t> rows_;
  Splitter splitter_;
  std::vector<char> used_;            // attributes on the current path
  std::vector<std::size_t> path_;     // the same, from the root
  std::vector<std::int64_t> cells_;   // value × class; zero between uses
  std::vector<std::size_t> touched_;  // cells in use, where few are
  std::vector<std::int64_t> counts_;
  std::vector<Task> tasks_;
  PathAverageTree out_;
  std::size_t since_check_ = 0, done_ = 0;
};

void PathGrower::check(std::size_t work) {
  since_check_ += work;
  if (since_check_ < kExamplesBetween) return;
  since_check_ = 0;
  control_.check(true, "growing", done_, rows_.size());
}

// Counts are scanned in the order of the cells, whether few or all of them are looked at, so that a score does not
// depend on the order of the rows.
Sum PathGrower::split_score(std::size_t attribute, const Task& task, const Rising& table) {
  const std::size_t n_classes = columns_.n_classes(), n_values = static_cast<std::size_t>(columns_[attribute].n_values);
  const std::int32_t* codes = columns_[attribute].codes.data();
  const std::int32_t* classes = columns_.classes().data();
  const std::size_t n_rows = task.end - task.begin, n_cells = n_values * n_classes;
  if (cells_.size() < n_cells) cells_.resize(n_cells, 0);
  const auto cell = [&](std::uint32_t row) {
    return static_cast<std::size_t>(codes[row]) * n_classes + static_cast<std::size_t>(classes[row]);
  };
  const bool dense = n_cells <= 4 * n_rows;
  touched_.clear();
  for (std::size_t i = task.begin; i < task.end; ++i) {
    const std::size_t at = cell(rows_[i]);
    if (!dense && cells_[at] == 0) touched_.push_back(at);
    cells_[at] += weight(rows_[i]);
  }
  Sum sum;
  std::size_t value = 0;
  std::int64_t in_branch = 0;
  const auto close = [&] {
    if (in_branch > 0) sum.add(-rising_s_(in_branch));
    in_branch = 0;
  };
  const auto look = [&](std::size_t at) {
    in_branch += cells_[at];
    sum.add(table(cells_[at]));
    cells_[at] = 0;
  };
  if (dense) {
    for (value = 0; value < n_values; ++value, close())
      for (std::size_t at = value * n_classes; at < (value + 1) * n_classes; ++at)
        if (cells_[at] != 0) look(at);
  } else {
    std::sort(touched_.begin(), touched_.end());
    for (const std::size_t at : touched_) {
      if (at / n_classes != value) close();
      value = at / n_classes;
      look(at);
    }
    close();
  }
  check(n_rows);
  return sum;
}

void PathGrower::grow_node(const Task& task) {
  while (path_.size() > task.depth) {
    used_[path_.back()] = 0;
    path_.pop_back();
  }
  std::fill(counts_.begin(), counts_.end(), 0);
  for (std::size_t i = task.begin; i < task.end; ++i)
    counts_[static_cast<std::size_t>(columns_.classes()[rows_[i]])] += weight(rows_[i]);
  std::transform(counts_.begin(), counts_.end(), out_.tree.counts(task.node),
                 [&](std::int64_t n) { return static_cast<double>(n) / static_cast<double>(columns_.per_example()); });
  if (task.begin == task.end) return;  // nothing to score: logM = 0 however it is split

  std::int64_t total = 0, most = 0;
  std::size_t unseen = 0;
  for (const std::int64_t n : counts_) {
    total += n;
    most = std::max(most, n);
    unseen += n == 0;
  }
  Rising& as_leaf = table_of(spread_ == Spread::parent ? task.unseen : unseen);
  as_leaf.reach(most);
  Sum leaf;
  for (const std::int64_t n : counts_)
    if (n > 0) leaf.add(as_leaf(n));
  leaf.add(-rising_s_(total));
  out_.log_leaf[task.node] = leaf.value();

  // Examples of one class are never better apart under the same parameters: M(n)·M(m) ≤ M(n + m).
  Rising& as_split = table_of(unseen);
  as_split.reach(most);
  std::size_t best = columns_.n_columns();
  Sum best_score;
  if (&as_split != &as_leaf || most < total) {
    for (std::size_t attribute = 0; attribute < columns_.n_columns(); ++attribute) {
      if (used_[attribute]) continue;
      const Sum score = split_score(attribute, task, as_split);
      if (best < columns_.n_columns() && (score.value() <= best_score.value() || tied(score, best_score))) continue;
      best = attribute;
      best_score = score;
    }
  }
  if (best == columns_.n_columns() || best_score.value() <= leaf.value() || tied(best_score, leaf)) {
    done_ += task.end - task.begin;
    return;
  }
  out_.log_b[task.node] = best_score.value() - leaf.value();
  split(task, best, unseen);
}

void PathGrower::split(const Task& task, std::size_t attribute, std::size_t unseen) {
  const auto n_values = static_cast<std::size_t>(columns_[attribute].n_values);
  View view{std::span(rows_).subspan(task.begin, task.end - task.begin), {}};
  const Labels& labels = splitter_.label(view.rows, static_cast<std::int32_t>(attribute), kEveryValue);
  splitter_.split(view);

  const std::size_t n_nodes = out_.tree.n_nodes() + n_values;
  control_.check_memory(columns_.bytes() + n_nodes * (columns_.n_classes() * sizeof(double) + 64) +
                        3 * rows_.size() * sizeof(rows_[0]));
  const std::size_t first = out_.tree.split(task.node, static_cast<std::int32_t>(attribute), kEveryValue, n_values);
  out_.log_leaf.resize(n_nodes, 0.0);
  out_.log_b.resize(n_nodes, 0.0);
  path_.push_back(attribute);
  used_[attribute] = 1;
  std::size_t end = task.end, part = labels.n_parts();
  for (std::size_t value = n_values; value-- > 0;) {  // only values that occur have a part
    const std::size_t n = part > 0 && labels.slot[part - 1] == value ? labels.size[--part] : 0;
    tasks_.push_back({first + value, end - n, end, unseen, task.depth + 1});
    end -= n;
  }
}

PathAverageTree PathGrower::grow() {
  rows_.resize(columns_.n_rows());
  std::iota(rows_.begin(), rows_.end(), std::uint32_t{0});
  used_.assign(columns_.n_columns(), 0);
  counts_.assign(columns_.n_classes(), 0);
  out_.tree.add_root();
  out_.log_leaf.assign(1, 0.0);
  out_.log_b.assign(1, 0.0);
  rising_s_.reach(columns_.total());
  tasks_.push_back({0, 0, rows_.size(), 0, 0});
  while (!tasks_.empty()) {
    const Task task = tasks_.back();
    tasks_.pop_back();
    check(1);
    grow_node(task);
  }
  out_.tree.counts_.shrink();
  return std::move(out_);
}

}  // namespace

PathAverageTree grow_path_average(const Columns& columns, double s, Spread spread, Control& control) {
  if (!(s > 0) || !std::isfinite(s)) throw InvalidInput("s must be positive and finite");
  if (columns.n_classes() == 0 || columns.n_rows() == 0) throw InvalidInput("growing needs rows with classes");
  for (std::size_t j = 0; j < columns.n_columns(); ++j) {
    const Column& column = columns[j];
    const bool known =
        std::all_of(column.codes.begin(), column.codes.end(), [](std::int32_t code) { return code >= 0; });
    if (column.numeric || !known)
      throw InvalidInput("column " + std::to_string(j) + " must be nominal, with a declared value in every row");
  }
  return PathGrower(columns, s, spread, control).grow();
}

}  // namespace everytree::grow
