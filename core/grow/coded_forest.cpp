#include "grow/coded_forest.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "common/errors.hpp"
#include "common/parallel.hpp"
#include "common/stream.hpp"
#include "weights/rising.hpp"

namespace everytree::coded {

namespace {

using Counts = std::vector<std::int64_t>;

// What all trees share: the classes of each row with examples, and logΓ of whole examples.
struct Shared {
  struct Entry {
    std::uint32_t cls;
    std::int64_t count;
  };
  const CodedExamples& data;
  const ForestSettings& settings;
  std::vector<std::size_t> begin;  // entries of each row: begin[row] … begin[row + 1] − 1
  std::vector<Entry> entries;
  double sum_a = 0, part = 1;  // part: examples of one count

  std::size_t n_bytes() const {
    return begin.capacity() * sizeof(begin[0]) + entries.capacity() * sizeof(Entry) +
           tables_.capacity() * sizeof(tables_[0]);
  }
  Shared(const CodedExamples& d, const ForestSettings& s) : data(d), settings(s), begin(d.n_rows + 1, 0) {
    for (std::size_t r = 0; r < d.n_rows; ++r) {
      for (std::size_t c = 0; c < d.n_classes; ++c)
        if (const std::int64_t n = d.counts[r * d.n_classes + c]; n > 0)
          entries.push_back({static_cast<std::uint32_t>(c), n});
      begin[r + 1] = entries.size();
    }
    for (double a : s.a) sum_a += a;
    part = 1.0 / static_cast<double>(d.per_example);
    tables();
  }
  std::span<const Entry> of(std::size_t row) const {
    return {entries.data() + begin[row], entries.data() + begin[row + 1]};
  }
  // log Γ(a_c + n) − log Γ(a_c), and the same of Σa: c = n_classes.
  double rising(std::size_t c, std::int64_t count) const {
    if (!tables_.empty()) return tables_[offset_[c] + static_cast<std::size_t>(count)];
    const double a = c < settings.a.size() ? settings.a[c] : sum_a;
    return log_rising(a, static_cast<double>(count) * part);
  }

 private:
  // A look-up instead of log Γ, where there are not very many examples: it was a third of the time of letter.
  void tables() {
    constexpr std::size_t kMost = 2'000'000;
    const std::size_t classes = data.n_classes;
    Counts totals(classes + 1, 0);
    for (const Entry& e : entries) {
      totals[e.cls] += e.count;
      totals[classes] += e.count;
    }
    if (data.per_example != 1 || static_cast<std::size_t>(totals[classes]) > kMost) return;
    for (std::size_t c = 0; c <= classes; ++c) {
      offset_.push_back(tables_.size());
      const double a = c < classes ? settings.a[c] : sum_a;
      double sum = 0;
      for (std::int64_t n = 0; n <= totals[c]; ++n) {
        tables_.push_back(sum);
        sum += std::log(a + static_cast<double>(n));
      }
    }
  }
  std::vector<std::size_t> offset_;
  std::vector<double> tables_;
};

// The bytes that all threads hold together.
class Held {
 public:
  explicit Held(Control& control) : control_(control) {}
  // Counts what becomes of `before` bytes; throws where that is beyond the limit.
  void change(std::size_t& before, std::size_t now) {
    const std::size_t all = total_.fetch_add(now - before, std::memory_order_relaxed) + (now - before);
    before = now;
    control_.check_memory(all);
  }

 private:
  Control& control_;
  std::atomic<std::size_t> total_{0};
};

template <class... V>
std::size_t bytes_of(const V&... vectors) {
  return (0 + ... + (vectors.capacity() * sizeof(vectors[0])));
}
std::size_t bytes_of(const Forest& forest) { return bytes_of(forest.nodes, forest.trees, forest.theta); }
std::size_t written_bytes(std::size_t n_nodes, std::size_t n_classes) {
  return n_nodes * (sizeof(ForestNode) + n_classes * sizeof(double));
}

// A tree of a round, and how many bytes are counted for it.
struct Made {
  Forest forest;
  std::size_t n_bytes = 0;
};

// The part of each row in a round: rows by their most frequent class, in random order, take turns.
std::vector<std::uint32_t> dealt(const Shared& shared, Stream random) {
  const std::size_t n = shared.data.n_rows;
  std::vector<std::uint32_t> order(n), part(n);
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t k = n; k > 1; --k) std::swap(order[k - 1], order[random.below(k)]);
  std::vector<std::vector<std::uint32_t>> by_class(shared.data.n_classes);
  for (std::uint32_t row : order) {
    std::uint32_t largest = 0;
    std::int64_t most = -1;
    for (const auto& e : shared.of(row))
      if (e.count > most) largest = e.cls, most = e.count;
    by_class[largest].push_back(row);
  }
  std::size_t turn = 0;
  for (const auto& rows : by_class)
    for (std::uint32_t row : rows) part[row] = static_cast<std::uint32_t>(turn++ % shared.settings.n_parts);
  return part;
}

struct Test {
  double score = -1;
  std::size_t column = 0;
  std::uint32_t code = 0;  // an ordered column: code ≤ this; a nominal one: code == this; missing: code == n_codes
  bool missing = false;
};

// Grows one tree. Owns the buffers: one object per thread.
class Grower {
 public:
  Grower(const Shared& shared, Held& held)
      : s_(shared),
        held_(&held),
        d_(shared.data),
        classes_(d_.n_classes),
        rows_(d_.n_rows),
        side_(d_.n_rows),
        all_(classes_),
        left_(classes_),
        by_code_(kCells),
        columns_(d_.columns->size()),
        leaf_(d_.n_rows) {}

  // Makes the tree all of `made`, and adds what is said of the rows of `hidden` to `left`.
  void grow(const std::vector<std::uint32_t>& part, std::uint32_t hidden, Stream random, Made& made, double* left,
            bool calling_thread, Control& control) {
    nodes_.clear();
    counts_.clear();
    std::iota(columns_.begin(), columns_.end(), 0u);
    // Rows that are seen first, each in their order.
    std::size_t seen = 0;
    for (std::uint32_t r = 0; r < d_.n_rows; ++r)
      if (part[r] != hidden) rows_[seen++] = r;
    for (std::uint32_t r = 0, at = static_cast<std::uint32_t>(seen); r < d_.n_rows; ++r)
      if (part[r] == hidden) rows_[at++] = r;
    open_.assign(1, {0, static_cast<std::uint32_t>(seen), static_cast<std::uint32_t>(d_.n_rows), 0, kNobody, 0});
    std::uint32_t depth = 0;
    while (!open_.empty()) {
      const Open o = open_.back();
      open_.pop_back();
      const auto at = static_cast<std::uint32_t>(nodes_.size());
      if (at % kLook == 0) {
        control.check(calling_thread, "growing trees", 0, 1);
        held_->change(counted_, own_bytes());
      }
      if (o.parent != kNobody) nodes_[o.parent].child[o.which] = at;
      nodes_.push_back({{at, at}, 0, 0, o.parent, o.depth, 0, 1, 0});
      count(o);
      depth = std::max(depth, o.depth);
      const Test test = o.depth < kDeepest && impure(o) ? choose(o, random) : Test{};
      if (test.score < 0) {
        for (std::uint32_t k = o.seen; k < o.end; ++k) leaf_[rows_[k]] = at;
        continue;
      }
      split(o, at, test);
    }
    fold();
    held_->change(counted_, own_bytes());
    made.forest.clear();
    held_->change(made.n_bytes, std::max(bytes_of(made.forest), written_bytes(nodes_.size(), classes_)));
    write(depth, made.forest);
    judge(part, hidden, left);
  }

 private:
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  static constexpr std::size_t kCells = 1 << 14;
  static constexpr std::uint32_t kLook = 64;  // nodes between two looks at the limits
  struct Open {
    std::uint32_t begin, seen, end;  // rows_[begin … seen − 1] are seen, up to `end` hidden
    std::uint32_t depth, parent, which;
  };
  struct Node {
    std::uint32_t child[2];  // where the test does not hold, where it does; both itself at a leaf
    std::uint32_t test, upper, parent, depth;
    double log_fold, stops;  // stops: P(leaf here | reached)
    double weight;           // P(leaf here) for rows that come by
  };

  // Class counts of all rows of a node: kept for every node, of the classes it has.
  void count(const Open& o) {
    std::fill(all_.begin(), all_.end(), 0);
    for (std::uint32_t k = o.begin; k < o.end; ++k)
      for (const auto& e : s_.of(rows_[k])) all_[e.cls] += e.count;
    begin_.resize(nodes_.size() + 1);
    for (std::uint32_t c = 0; c < classes_; ++c)
      if (all_[c] > 0) counts_.push_back({c, all_[c]});
    begin_[nodes_.size()] = counts_.size();
    begin_[0] = 0;
  }
  // The counts of the seen rows, into all_; whether they have two classes.
  bool impure(const Open& o) {
    std::fill(all_.begin(), all_.end(), 0);
    for (std::uint32_t k = o.begin; k < o.seen; ++k)
      for (const auto& e : s_.of(rows_[k])) all_[e.cls] += e.count;
    total_ = squares_ = 0;
    std::size_t present = 0;
    for (std::int64_t n : all_) {
      present += n > 0;
      total_ += n;
      squares_ += n * n;
    }
    return present > 1;
  }

  std::uint16_t code(std::size_t column, std::uint32_t row) const { return d_.codes[column * d_.n_rows + row]; }

  Test choose(const Open& o, Stream& random) {
    Test best;
    const std::size_t wanted = s_.settings.columns_at_node;
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      if (k >= wanted && best.score >= 0) break;
      std::swap(columns_[k], columns_[k + random.below(columns_.size() - k)]);
      look(o, columns_[k], random, best);
    }
    return best;
  }

  // The tests of one column: better ones go to `best`.
  void look(const Open& o, std::size_t k, Stream& random, Test& best) {
    const Column& column = (*d_.columns)[k];
    std::uint32_t least = ~0u, greatest = 0;
    const std::uint32_t n_codes = column.n_codes();
    std::size_t known = 0;
    for (std::uint32_t i = o.begin; i < o.seen; ++i) {
      const std::uint32_t c = code(k, rows_[i]);
      if (c >= n_codes) continue;
      ++known;
      least = std::min(least, c);
      greatest = std::max(greatest, c);
    }
    const std::size_t n = o.seen - o.begin;
    if (known == 0 || (known == n && least == greatest)) return;
    const bool ordered = column.kind == Column::Kind::ordered;
    if (s_.settings.random_cuts) {
      // With missing values there is one candidate more: to ask for them.
      const std::size_t cuts = ordered ? greatest - least : greatest - least + 1;
      const std::size_t drawn = random.below(cuts + (known < n ? 1 : 0));
      if (drawn >= cuts) return one(o, k, n_codes, false, best);
      return one(o, k, least + static_cast<std::uint32_t>(drawn), ordered, best);
    }
    if (known < n) one(o, k, n_codes, false, best);
    if (least == greatest) return;
    const std::size_t width = greatest - least + 1;
    if (width * classes_ <= std::min(kCells, 8 * n))
      by_table(o, k, least, width, ordered, best);
    else
      by_sorting(o, k, n_codes, ordered, best);
  }

  // Σ_c l_c² / l + Σ_c r_c² / r from sums that are kept while examples change sides.
  struct Sides {
    std::int64_t left = 0, right, left_squares = 0, right_squares;
    double score() const {
      return static_cast<double>(left_squares) / static_cast<double>(left) +
             static_cast<double>(right_squares) / static_cast<double>(right);
    }
  };
  Sides start() {
    std::fill(left_.begin(), left_.end(), 0);
    return {0, total_, 0, squares_};
  }
  void move(Sides& sides, std::size_t cls, std::int64_t n) {
    const std::int64_t l = left_[cls], r = all_[cls] - l;
    sides.left_squares += n * (2 * l + n);
    sides.right_squares -= n * (2 * r - n);
    sides.left += n;
    sides.right -= n;
    left_[cls] = l + n;
  }

  void offer(double score, std::size_t k, std::uint32_t code, bool missing, Test& best) {
    if (score > best.score) best = {score, k, code, missing};
  }

  // One test alone; `upto`: code ≤ at, else code == at.
  void one(const Open& o, std::size_t k, std::uint32_t at, bool upto, Test& best) {
    Sides sides = start();
    for (std::uint32_t i = o.begin; i < o.seen; ++i) {
      const std::uint32_t c = code(k, rows_[i]);
      if (upto ? c > at : c != at) continue;
      for (const auto& e : s_.of(rows_[i])) move(sides, e.cls, e.count);
    }
    if (sides.left > 0 && sides.right > 0) offer(sides.score(), k, at, at == (*d_.columns)[k].n_codes(), best);
  }

  // By a table of counts for each code and class: for many rows of few codes.
  void by_table(const Open& o, std::size_t k, std::uint32_t least, std::size_t width, bool ordered, Test& best) {
    std::fill_n(by_code_.begin(), width * classes_, 0);
    const std::uint32_t n_codes = (*d_.columns)[k].n_codes();
    for (std::uint32_t i = o.begin; i < o.seen; ++i) {
      const std::uint32_t c = code(k, rows_[i]);
      if (c >= n_codes) continue;
      for (const auto& e : s_.of(rows_[i])) by_code_[(c - least) * classes_ + e.cls] += e.count;
    }
    Sides sides = start();
    std::uint32_t before = ~0u;
    for (std::size_t j = 0; j < width; ++j) {
      const std::int64_t* line = by_code_.data() + j * classes_;
      if (std::all_of(line, line + classes_, [](std::int64_t n) { return n == 0; })) continue;
      const auto here = least + static_cast<std::uint32_t>(j);
      if (ordered && before != ~0u) offer(sides.score(), k, (before + here - 1) / 2, false, best);
      if (!ordered) sides = start();
      for (std::size_t c = 0; c < classes_; ++c)
        if (line[c] > 0) move(sides, c, line[c]);
      if (!ordered && sides.right > 0) offer(sides.score(), k, here, false, best);
      before = here;
    }
  }

  // By the rows in the order of their codes: for few rows.
  void by_sorting(const Open& o, std::size_t k, std::uint32_t n_codes, bool ordered, Test& best) {
    sorted_.clear();
    for (std::uint32_t i = o.begin; i < o.seen; ++i)
      if (const std::uint32_t c = code(k, rows_[i]); c < n_codes) sorted_.push_back(std::uint64_t{c} << 32 | rows_[i]);
    std::sort(sorted_.begin(), sorted_.end());
    Sides sides = start();
    for (std::size_t i = 0; i < sorted_.size();) {
      const auto here = static_cast<std::uint32_t>(sorted_[i] >> 32);
      if (ordered && i > 0)
        offer(sides.score(), k, (static_cast<std::uint32_t>(sorted_[i - 1] >> 32) + here - 1) / 2, false, best);
      if (!ordered) sides = start();
      for (; i < sorted_.size() && sorted_[i] >> 32 == here; ++i)
        for (const auto& e : s_.of(static_cast<std::uint32_t>(sorted_[i]))) move(sides, e.cls, e.count);
      if (!ordered && sides.right > 0) offer(sides.score(), k, here, false, best);
    }
  }

  // Divides the rows of a node: first those where the test does not hold. The cut is named by the greatest code of all
  // rows of the node below it, and the least above: see table/columns.hpp.
  void split(const Open& o, std::uint32_t at, const Test& test) {
    const Column& column = (*d_.columns)[test.column];
    const bool upto = column.kind == Column::Kind::ordered && !test.missing;
    std::uint32_t lower = 0, next = column.n_codes();
    const auto holds = [&](std::uint32_t row) {
      const std::uint32_t c = code(test.column, row);
      return upto ? c <= test.code : c == test.code;
    };
    std::uint32_t no = o.begin, held = 0, no_seen = 0;
    for (std::uint32_t i = o.begin; i < o.end; ++i) {
      const std::uint32_t row = rows_[i], c = code(test.column, row);
      const bool yes = holds(row);
      if (upto && yes) lower = std::max(lower, c);
      if (upto && !yes) next = std::min(next, c);
      if (i == o.seen) no_seen = no;
      if (yes)
        side_[held++] = row;
      else
        rows_[no++] = row;
    }
    if (o.seen == o.end) no_seen = no;
    std::copy_n(side_.begin(), held, rows_.begin() + no);
    const std::uint32_t yes_seen = no + (o.seen - o.begin) - (no_seen - o.begin);
    Node& node = nodes_[at];
    if (test.missing) {
      node.test = column.missing;
    } else {
      node.test = column.begin + (upto ? lower : test.code);
      node.upper = upto ? d_.columns->upper(test.column, lower, next) : 0;
    }
    open_.push_back({no, yes_seen, o.end, o.depth + 1, at, 1});
    open_.push_back({o.begin, no_seen, no, o.depth + 1, at, 0});
  }

  std::span<const Shared::Entry> counts_of(std::size_t node) const {
    return {counts_.data() + begin_[node], counts_.data() + begin_[node + 1]};
  }
  double log_marginal(std::size_t node) const {
    double sum = 0;
    std::int64_t total = 0;
    for (const auto& e : counts_of(node)) {
      sum += s_.rising(e.cls, e.count);
      total += e.count;
    }
    return s_.settings.power * (sum - s_.rising(classes_, total));
  }
  // Children come after their parent: upwards from the last node, downwards from the first.
  void fold() {
    constexpr double kHalf = -0.69314718055994531;
    for (std::size_t at = nodes_.size(); at-- > 0;) {
      Node& node = nodes_[at];
      const double leaf = log_marginal(at);
      if (node.child[0] == at) {
        node.log_fold = leaf;
        continue;
      }
      const double split = kHalf + nodes_[node.child[0]].log_fold + nodes_[node.child[1]].log_fold;
      const double stop = kHalf + leaf, most = std::max(split, stop);
      node.log_fold = most + std::log(std::exp(split - most) + std::exp(stop - most));
      node.stops = std::exp(stop - node.log_fold);
    }
    reach_.resize(nodes_.size());
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
      const std::uint32_t above = nodes_[at].parent;
      reach_[at] = above == kNobody ? 1.0 : reach_[above] * (1 - nodes_[above].stops);
      nodes_[at].weight = nodes_[at].stops * reach_[at];
    }
  }

  // Nodes are in preorder: the line of the depth above still holds the sums of the parent.
  void write(std::uint32_t depth, Forest& forest) {
    const auto root = static_cast<std::uint32_t>(forest.nodes.size());
    forest.trees.push_back({root, depth});
    forest.nodes.reserve(root + nodes_.size());
    forest.theta.resize((root + nodes_.size()) * classes_, 0.0);
    sums_.assign((std::size_t{depth} + 1) * classes_, 0.0);
    for (std::uint32_t at = 0; at < nodes_.size(); ++at) {
      const Node& node = nodes_[at];
      double* sum = sums_.data() + node.depth * classes_;
      if (node.parent != kNobody)
        std::copy_n(sum - classes_, classes_, sum);
      else
        std::fill_n(sum, classes_, 0.0);
      double total = s_.sum_a;
      for (const auto& e : counts_of(at)) total += static_cast<double>(e.count) * s_.part;
      const double each = node.weight / total;
      for (std::size_t c = 0; c < classes_; ++c) sum[c] += each * s_.settings.a[c];
      for (const auto& e : counts_of(at)) sum[e.cls] += each * static_cast<double>(e.count) * s_.part;
      const bool is_leaf = node.child[0] == at;
      forest.nodes.push_back(
          {is_leaf ? 0 : node.test, is_leaf ? 0 : node.upper, {root + node.child[0], root + node.child[1]}});
      if (is_leaf) std::copy_n(sum, classes_, forest.theta.data() + (root + at) * classes_);
    }
  }

  // What is said of the hidden rows without one of their examples.
  void judge(const std::vector<std::uint32_t>& part, std::uint32_t hidden, double* left) {
    said_.resize(classes_);
    const double power = s_.settings.power;
    for (std::uint32_t row = 0; row < d_.n_rows; ++row) {
      if (part[row] != hidden) continue;
      for (std::size_t entry = s_.begin[row]; entry < s_.begin[row + 1]; ++entry) {
        const auto [y, own] = s_.entries[entry];
        const double gone = std::min(1.0, static_cast<double>(own) * s_.part), a_y = s_.settings.a[y];
        std::fill(said_.begin(), said_.end(), 0.0);
        double rest = 0;  // what every class gets in proportion to its a
        for (std::uint32_t at = leaf_[row]; at != kNobody; at = nodes_[at].parent) {
          double total = s_.sum_a, mine = a_y;
          for (const auto& e : counts_of(at)) {
            total += static_cast<double>(e.count) * s_.part;
            if (e.cls == y) mine += static_cast<double>(e.count) * s_.part;
          }
          const double without = total - gone;
          const double factor = gone == 1.0
                                    ? std::pow((mine - 1) / without, -power)
                                    : std::exp(power * (log_rising(without, gone) - log_rising(mine - gone, gone)));
          const double each = nodes_[at].weight * factor / without;
          rest += each;
          for (const auto& e : counts_of(at))
            said_[e.cls] += each * (static_cast<double>(e.count) * s_.part - (e.cls == y ? gone : 0.0));
        }
        double sum = 0;
        for (std::size_t c = 0; c < classes_; ++c) sum += said_[c] += rest * s_.settings.a[c];
        for (std::size_t c = 0; c < classes_; ++c) left[entry * classes_ + c] += said_[c] / sum;
      }
    }
  }

  std::size_t own_bytes() const {
    return bytes_of(rows_, side_, all_, left_, by_code_, columns_, leaf_, sorted_, open_, begin_, counts_, reach_,
                    sums_) +
           bytes_of(nodes_);
  }

  const Shared& s_;
  Held* held_;
  std::size_t counted_ = 0;  // of its own buffers
  const CodedExamples& d_;
  std::size_t classes_;
  std::vector<std::uint32_t> rows_, side_;
  Counts all_, left_, by_code_;
  std::vector<std::uint32_t> columns_, leaf_;  // columns in the order that they are drawn in; the leaf of a hidden row
  std::int64_t total_ = 0, squares_ = 0;
  std::vector<std::uint64_t> sorted_;
  std::vector<Open> open_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> begin_;
  std::vector<Shared::Entry> counts_;
  std::vector<double> reach_, sums_, said_;
};

void check(const CodedExamples& data, const ForestSettings& settings) {
  const Columns& columns = *data.columns;
  if (data.codes.size() != columns.size() * data.n_rows) throw InvalidInput("codes must have a number for each column");
  if (data.counts.size() != data.n_rows * data.n_classes)
    throw InvalidInput("counts must have a number for each class");
  if (settings.a.size() != data.n_classes) throw InvalidInput("there must be a parameter for each class");
  for (double a : settings.a)
    if (!(a > 0) || !std::isfinite(a)) throw InvalidInput("parameters must be positive and finite");
  if (settings.n_parts < 2 || settings.columns_at_node < 1) throw InvalidInput("a round needs two parts and a column");
  if (!(settings.power > 0) || settings.power > 1) throw InvalidInput("the power must lie in (0, 1]");
  if (data.per_example < 1) throw InvalidInput("an example must have a count");
  std::int64_t total = 0;
  for (std::int64_t n : data.counts) {
    if (n < 0 || n > kMostCounts || (total += n) > kMostCounts) throw InvalidInput("counts are negative or too large");
  }
  for (std::size_t k = 0; k < columns.size(); ++k)
    for (std::size_t r = 0; r < data.n_rows; ++r) {
      const std::uint32_t code = data.codes[k * data.n_rows + r], n = columns[k].n_codes();
      if (code > n || (code == n && columns[k].missing == Column::kNone))
        throw InvalidInput("a row has a code that its column does not have");
    }
}

void append(Forest& to, const Forest& from) {
  const auto shift = static_cast<std::uint32_t>(to.nodes.size());
  for (ForestNode node : from.nodes) {
    node.next[0] += shift;
    node.next[1] += shift;
    to.nodes.push_back(node);
  }
  for (ForestTree tree : from.trees) to.trees.push_back({tree.root + shift, tree.depth});
  to.theta.insert(to.theta.end(), from.theta.begin(), from.theta.end());
}

// Adds the trees of a round; while the arrays grow the old ones are there, too.
void append(Forest& to, std::size_t& n_bytes, const std::vector<Made>& round, std::size_t n_classes, Held& held) {
  std::size_t nodes = to.nodes.size();
  for (const Made& one : round) nodes += one.forest.nodes.size();
  held.change(n_bytes, n_bytes + written_bytes(nodes, n_classes));
  to.nodes.reserve(nodes);
  to.theta.reserve(nodes * n_classes);
  for (const Made& one : round) append(to, one.forest);
  held.change(n_bytes, bytes_of(to));
}

}  // namespace

Forest grow_rounds(const CodedExamples& data, const ForestSettings& settings, std::uint64_t first, std::size_t n_rounds,
                   double* left, std::size_t n_threads, Control& control) {
  check(data, settings);
  const Shared shared(data, settings);
  const std::size_t parts = settings.n_parts;
  n_threads = std::clamp<std::size_t>(n_threads, 1, parts);
  std::vector<Grower> growers;
  Held held(control);
  for (std::size_t t = 0; t < n_threads; ++t) growers.emplace_back(shared, held);
  std::size_t shared_bytes = 0;
  held.change(shared_bytes, shared.n_bytes());
  Forest forest;
  std::size_t forest_bytes = 0;
  std::vector<Made> made(parts);
  for (std::uint64_t round = first; round < first + n_rounds; ++round) {
    // Each round and each of its trees has a stream of its own.
    const std::uint64_t number = round * (parts + 1);
    const std::vector<std::uint32_t> part = dealt(shared, Stream(settings.seed, number));
    for_each_parallel(parts, n_threads, control, nullptr, [&](std::size_t p, std::size_t worker) {
      // The hidden parts of a round share no row, so that no two threads write to one line of `left`.
      growers[worker].grow(part, static_cast<std::uint32_t>(p), Stream(settings.seed, number + 1 + p), made[p], left,
                           worker == 0, control);
    });
    append(forest, forest_bytes, made, data.n_classes, held);
  }
  return forest;
}

}  // namespace everytree::coded
