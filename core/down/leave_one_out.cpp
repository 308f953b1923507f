#include "down/leave_one_out.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "common/parallel.hpp"
#include "down/closed_form.hpp"
#include "down/removed.hpp"
#include "fold/weigh.hpp"

namespace everytree {

namespace {

constexpr std::size_t kMatrices = std::size_t{1} << 25;  // bytes of matrices that are filled at once

// Bits of four columns to patterns, eight rows at a time.
class Spread {
 public:
  Spread() {
    for (std::size_t b = 0; b < 256; ++b)
      for (std::size_t k = 0; k < 8; ++k) lanes_[b][k] = static_cast<std::uint16_t>((b >> k & 1) * Patterns::bit(0));
  }
  // to[k] has the bits of row `from` + k in the four words.
  void patterns(const std::uint32_t* words, std::size_t from, std::uint16_t* to) const {
    const std::uint16_t* const of[4] = {lanes_[words[0] >> from & 255], lanes_[words[1] >> from & 255],
                                        lanes_[words[2] >> from & 255], lanes_[words[3] >> from & 255]};
    for (std::size_t k = 0; k < 8; ++k)
      to[k] = static_cast<std::uint16_t>(of[0][k] | of[1][k] << 1 | of[2][k] << 2 | of[3][k] << 3);
  }

 private:
  std::uint16_t lanes_[256][8];
};

// π(s) of every state, and of its leaf for inner ones.
struct Passing {
  Passing(const Posterior& posterior, Control& control)
      : state(posterior.graph().size(), 0.0), leaf(posterior.graph().size(), 0.0) {
    const Graph& graph = posterior.graph();
    const Prior& prior = posterior.weights().prior();
    const std::vector<Wide>& u = posterior.values();
    const InnerShares shares(graph, prior);
    std::vector<std::int32_t> counts(graph.table().n_classes());
    state[0] = 1;  // the root
    for (auto it = graph.children_first().rbegin(); it != graph.children_first().rend(); ++it) {
      const State& s = graph.state(*it);
      if (!s.inner()) continue;
      control.check(true, "leaving out", 0, 0);
      const auto depth = static_cast<std::size_t>(s.depth);
      graph.table().class_counts(graph.cover(*it), counts.data());
      const Wide own = posterior.weights().wide_leaf(counts.data(), depth, s.n_tests > 0);
      leaf[*it] = state[*it] * (own / u[*it]).scaled(0);
      const Wide base = Wide::from_log(prior.log_split_base(depth)) / u[*it];
      shares.load(s);
      for (const Split& split : graph.splits(s)) {
        const double p =
            state[*it] * shares.share<SumProduct>(split) * (base * u[split.child[1]] * u[split.child[0]]).scaled(0);
        for (std::uint32_t child : split.child) state[child] += p;
      }
    }
  }
  std::vector<double> state, leaf;
};

// Adds up E[r · p_c] over the closed states that it is given. Owns the buffers: one object per thread.
class ClosedLeaves {
 public:
  ClosedLeaves(const Posterior& posterior, const Removed& removed, const std::vector<std::uint32_t>& kind_of_bit,
               const std::vector<std::uint32_t>& line_of_bit, Control& control, bool calling_thread,
               std::size_t n_threads, std::size_t held)
      : control_(&control),
        calling_(calling_thread),
        n_threads_(n_threads),
        held_(held),
        graph_(&posterior.graph()),
        weights_(&posterior.weights()),
        removed_(&removed),
        kind_of_bit_(&kind_of_bit),
        line_of_bit_(&line_of_bit),
        n_classes_(graph_->table().n_classes()),
        n_kinds_(removed.kinds().size()),
        fold_(*graph_),
        rows_(n_kinds_) {
    fold_.watch(control, calling_thread);
  }

  // `pi`: the probability that a tree has the state. sums: a line of n_classes for each bit that a cover can have.
  void run(std::uint32_t id, double pi, double* sums) {
    control_->check(calling_, "leaving out", 0, 0);
    fold_.product<SumProduct>(id, *weights_, level_);
    find_rows(graph_->cover(id));
    counts_.resize(n_classes_);
    graph_->table().class_counts(graph_->cover(id), counts_.data());
    const State& s = graph_->state(id);
    depth_ = static_cast<std::size_t>(s.depth);
    total_ = level_.state_leaf;
    for (std::size_t i = 0; i < level_.n; ++i)
      total_ += level_.weight[i] * (level_.leaf[1][i] + level_.split[1][i]) * (level_.leaf[0][i] + level_.split[0][i]);
    add_leaf(counts_.data(), s.total, depth_, pi * level_.state_leaf / total_, sums);
    if (level_.n == 0) return;
    scale_ = pi / total_;
    std::vector<Pair> asked, again;
    if (removed_->complete() && fold_.begin_masses(*weights_, level_)) {
      by_patterns(pi, sums, again);
      if (!again.empty()) find_masses();
    } else {
      find_masses();
      for (std::size_t k = 0; k < n_kinds_; ++k)
        for (std::size_t c = 0; c < n_classes_ && !rows_[k].empty(); ++c) asked.push_back({k, c});
      evaluate(asked, false, sums, again);
    }
    // By kind where that pays, because the runs of tests are those of its rows.
    std::vector<Pair> rest;
    for (auto from = again.begin(), to = from; from != again.end(); from = to) {
      to = std::find_if(from, again.end(), [&](const Pair& pair) { return pair.kind != from->kind; });
      by_runs_ = find_runs(from->kind);
      if (by_runs_)
        evaluate({from, to}, true, sums, again);
      else
        rest.insert(rest.end(), from, to);
    }
    by_runs_ = false;
    if (!rest.empty()) evaluate(rest, true, sums, again);
  }

  // One leaf with these counts and this probability, for every row of the last cover.
  void add_leaf(const std::int32_t* counts, std::int32_t total, std::size_t depth, double probability, double* sums) {
    for (std::size_t k = 0; k < n_kinds_; ++k) {
      if (rows_[k].empty()) continue;
      const Removed::At at(*removed_, depth, k);
      const double factor = probability * at.factor(counts[removed_->kinds()[k].y], total);
      for (std::size_t c = 0; c < n_classes_; ++c) {
        const double value = factor * at.mass(c, counts[c]);
        for (std::uint32_t bit : rows_[k]) line(sums, bit)[c] += value;
      }
    }
  }

  void find_rows(const std::uint64_t* cover) {
    for (auto& rows : rows_) rows.clear();
    for (std::size_t w = 0; w < graph_->table().n_words(); ++w)
      for (std::uint64_t left = cover[w]; left != 0; left &= left - 1) {
        const std::uint32_t bit =
            static_cast<std::uint32_t>(w * 64) + static_cast<std::uint32_t>(std::countr_zero(left));
        rows_[(*kind_of_bit_)[bit]].push_back(bit);
      }
  }

 private:
  struct Pair {
    std::size_t kind, c;  // kind of the row, class of the probability
  };
  using Asked = std::span<const Pair>;
  // With thousands of tests the matrices of a state are what takes memory, and the time between two looks at the clock.
  // They stay for the next state; every thread may have as many.
  void look(std::size_t more) const {
    const std::size_t doubles = in_forms_ + mass_[0].size() + mass_[1].size() + matrix_.size() + outcome_.size() + more;
    control_->check_memory(held_ + n_threads_ * (sizeof(double) * doubles + in_asking_));
  }
  // The same of the rows that are asked at once.
  void look_at_rows(std::size_t n_rows) {
    in_asking_ = std::max(in_asking_, ClosedForm::bytes_to_ask(level_.n, n_rows) + n_rows * sizeof(double));
    look(0);
  }
  // With hundreds of classes one state takes seconds: the clock is looked at after so much work inside it.
  void tick(std::size_t work) {
    if ((work_ += work) < kWork) return;
    work_ = 0;
    control_->check(calling_, "leaving out", 0, 0);
  }
  static constexpr std::size_t kWork = std::size_t{1} << 22;  // numbers that are added: a few milliseconds
  double* line(double* sums, std::uint32_t bit) const { return sums + std::size_t{(*line_of_bit_)[bit]} * n_classes_; }
  static constexpr double kShare = 1.0 / 2048;

  // The short form of all pairs of classes, each pair of tests seen once, for rows by the patterns of their outcomes.
  void by_patterns(double pi, double* sums, std::vector<Pair>& again) {
    const Frontier& f = fold_.frontier();
    form_.begin(fold_, true);
    const std::size_t of_class = n_classes_ * level_.n * ((level_.n + 7) & ~std::size_t{7}) * sizeof(double);
    const std::size_t at_once = std::clamp<std::size_t>(kMatrices / of_class, 1, n_classes_);
    std::vector<ClosedForm::LeftOut> left_out;
    for (std::size_t from = 0; from < n_classes_;) {
      left_out.clear();
      for (; from < n_classes_ && left_out.size() < at_once; ++from) {
        if (rows_[from].empty()) continue;
        const Removed::At one(*removed_, depth_ + 1, from), two(*removed_, depth_ + 2, from);
        left_out.push_back({from, {one.own(), two.own()}, {one.all(), two.all()}});
      }
      if (left_out.empty()) continue;
      const std::size_t in_forms = left_out.size() * of_class / sizeof(double);
      look(in_forms - std::min(in_forms, in_forms_));
      in_forms_ = std::max(in_forms_, in_forms);
      form_.build(fold_, *weights_, level_, left_out);
      tick(in_forms);
      for (std::size_t k = 0; k < left_out.size(); ++k) {
        const std::size_t y = left_out[k].y, n_rows = rows_[y].size();
        look_at_rows(n_rows);
        find_patterns(y);
        form_.ask(patterns_);
        value_.resize(n_rows);
        for (std::size_t c = 0; c < n_classes_; ++c) {
          tick((n_rows / 8 + 1) * level_.n * level_.n);
          form_.evaluate(k * n_classes_ + c, f.kernel(), value_.data());
          if (*std::min_element(value_.begin(), value_.end()) < kShare * form_.size_of(k * n_classes_ + c)) {
            again.push_back({y, c});
            continue;
          }
          for (std::size_t r = 0; r < n_rows; ++r) line(sums, rows_[y][r])[c] += pi * value_[r];
        }
      }
    }
  }

  // The outcomes of the splits for the rows of a class, from the packed columns of the frontier.
  void find_patterns(std::size_t y) {
    const Frontier& f = fold_.frontier();
    patterns_.begin(level_.n, rows_[y].size());
    for (std::size_t i = 0; i < level_.n; i += 4) {
      std::uint16_t* to = patterns_.run_of(i);
      for (const Section& s : f.sections()) {
        if (s.cls != y) continue;
        for (std::size_t chunk = s.begin; chunk < s.end; ++chunk) {
          const std::uint32_t* words = f.words(chunk, i);
          const auto n = static_cast<std::size_t>(std::popcount(f.valid(chunk)));
          // Eight rows at a time; what is written past the last of a chunk is overwritten by the next one.
          for (std::size_t r = 0; r < n; r += 8) spread_.patterns(words, r, to + r);
          to += n;
        }
      }
    }
  }

  // Whether the rows of a kind, which is a class then, are asked by their runs in the form without differences.
  bool find_runs(std::size_t kind) {
    if (!removed_->complete()) return false;
    look_at_rows(3 * rows_[kind].size());  // their places, and again of both outcomes
    find_patterns(kind);
    if (!runs_.find(patterns_, level_.n)) return false;
    doubled_.find_doubled(runs_);
    return true;
  }

  // Add the values of all rows of the cover to their sums. The short form subtracts: where a value is a small part of
  // what was added up, and so lacks digits, its pair of classes is asked again, in the form without differences.
  void evaluate(const std::vector<Pair>& asked, bool literal, double* sums, std::vector<Pair>& again) {
    find_outcomes(literal);
    const std::size_t size = n_variables_ * stride_;
    const std::size_t at_once = std::clamp<std::size_t>(kMatrices / (size * sizeof(double)), 1, asked.size());
    for (std::size_t from = 0; from < asked.size(); from += at_once) {
      const std::size_t n = std::min(at_once, asked.size() - from);
      look(n * size - std::min(n * size, matrix_.size()));
      matrix_.assign(n * size, 0.0);
      size_.assign(n, 0.0);
      fill({asked.data() + from, n}, size, literal);
      for (std::size_t k = 0; k < n; ++k) {
        const auto [kind, c] = asked[from + k];
        tick(size + rows_[kind].size() * size / 8);  // several numbers at a time
        value_.resize(rows_[kind].size());
        double* matrix = matrix_.data() + k * size;
        if (literal && by_runs_) {
          linear_.resize(n_variables_ - 1);
          for (std::size_t v = 0; v + 1 < n_variables_; ++v) linear_[v] = matrix[v * stride_ + n_variables_ - 1];
          grid_sums(doubled_, matrix, stride_, linear_.data(), value_.data());
        } else {
          fold_.frontier().kernel().quadratic(matrix, stride_, n_variables_, outcome_.data(), stride_,
                                              place_.data() + first_[kind], rows_[kind].size(), value_.data());
        }
        if (!literal && *std::min_element(value_.begin(), value_.end()) < kShare * size_[k]) {
          again.push_back({kind, c});
          continue;
        }
        for (std::size_t r = 0; r < rows_[kind].size(); ++r) line(sums, rows_[kind][r])[c] += value_[r];
      }
    }
  }

  // mass_[a][i * n + j]: the probability of the leaves at (i = a, j), reached by i first.
  void find_masses() {
    const std::size_t n = level_.n, stride = fold_.frontier().stride();
    pairs_ = false;
    for (auto& t : term_) t.resize(stride);
    look(2 * n * n - std::min(2 * n * n, mass_[0].size() + mass_[1].size()));
    for (auto& m : mass_) m.resize(n * n);
    double* const term[2] = {term_[0].data(), term_[1].data()};
    for (std::size_t i = 0; i < n; ++i) {
      fold_.terms(*weights_, level_, i, term);
      for (int a = 0; a < 2; ++a) {
        const double other = scale_ * level_.weight[i] * (level_.leaf[1 - a][i] + level_.split[1 - a][i]);
        for (std::size_t j = 0; j < n; ++j) {
          mass_[a][i * n + j] = other * term[a][j];
          pairs_ = pairs_ || term[a][j] > 0;
        }
      }
    }
  }

  // Where the form without differences has the variable that is 1 if test i has this outcome.
  std::size_t literal_variable(std::size_t i, std::size_t outcome) const {
    return by_runs_ ? doubled_.doubled(i, outcome == 1) : 2 * i + outcome;
  }

  // The outcomes of the splits for the rows of the cover. Short: test i is 1, at i. Literal: it is 0 at 2i, it is 1 at
  // 2i + 1. The last is the 1. Rows that are asked by their runs need none.
  void find_outcomes(bool literal) {
    const CountTable& table = graph_->table();
    const Frontier& f = fold_.frontier();
    n_variables_ = (literal ? 2 : 1) * level_.n + 1;
    stride_ = (n_variables_ + 7) & ~std::size_t{7};
    if (literal && by_runs_) return;
    first_.assign(n_kinds_ + 1, 0);
    for (std::size_t k = 0; k < n_kinds_; ++k) first_[k + 1] = first_[k] + rows_[k].size();
    look(first_[n_kinds_] * stride_ - std::min(first_[n_kinds_] * stride_, outcome_.size()));
    outcome_.assign(first_[n_kinds_] * stride_, 0.0);
    place_.resize(first_[n_kinds_]);
    for (std::size_t k = 0; k < place_.size(); ++k) place_[k] = static_cast<std::uint32_t>(k);
    for (std::size_t i = 0; i < level_.n; ++i) {
      const std::uint32_t part = *f.parts_begin(i);
      const std::uint64_t* column = table.column(table.test_classes()[part >> 1].test);
      double* to = outcome_.data();
      for (const auto& rows : rows_)
        for (std::uint32_t bit : rows) {
          const std::size_t holds = (column[bit / 64] >> (bit % 64) & 1) ^ (part & 1);
          if (literal)
            to[2 * i + holds] = 1.0;
          else
            to[i] = static_cast<double>(holds);
          to += stride_;
        }
    }
    for (std::size_t k = 0; k < place_.size(); ++k) outcome_[k * stride_ + n_variables_ - 1] = 1.0;
  }

  void fill(Asked asked, std::size_t size, bool literal) {
    const Frontier& f = fold_.frontier();
    const std::size_t n = level_.n, last = n_variables_ - 1;
    std::vector<Removed::At> one, two;  // by kind of the row
    for (std::size_t k = 0; k < n_kinds_; ++k) {
      one.emplace_back(*removed_, depth_ + 1, k);
      two.emplace_back(*removed_, depth_ + 2, k);
    }
    // The class counts and the total of up to four leaves, and how probable each is.
    std::vector<std::int32_t> q[4];
    for (auto& counts : q) counts.resize(n_classes_);
    std::int32_t total[4];
    double probability[4], factor[4] = {}, value[4];
    // use(k, matrix) for every value that is asked for; `value` holds r · p_c of the leaves, times their probability.
    const auto each = [&](const std::vector<Removed::At>& at, std::size_t leaves, const auto& use) {
      for (std::size_t k = 0; k < asked.size(); ++k) {
        const auto [kind, c] = asked[k];
        const std::size_t y = removed_->kinds()[kind].y;
        if (k == 0 || asked[k - 1].kind != kind)
          for (std::size_t x = 0; x < leaves; ++x)
            factor[x] = probability[x] > 0 ? probability[x] * at[kind].factor(q[x][y], total[x]) : 0.0;
        double sum = 0;
        for (std::size_t x = 0; x < leaves; ++x) sum += value[x] = factor[x] * at[kind].mass(c, q[x][c]);
        size_[k] += sum;
        use(matrix_.data() + k * size);
      }
    };
    for (std::size_t i = 0; i < n; ++i) {
      tick((n - i) * (n_classes_ + 4 * asked.size()));
      for (std::size_t a = 0; a < 2; ++a) {
        for (std::size_t c = 0; c < n_classes_; ++c) q[a][c] = a == 1 ? f.count(c, i) : f.totals()[c] - f.count(c, i);
        total[a] = a == 1 ? f.total(i) : f.total() - f.total(i);
        probability[a] =
            scale_ * level_.weight[i] * (level_.leaf[1 - a][i] + level_.split[1 - a][i]) * level_.leaf[a][i];
      }
      each(one, 2, [&](double* matrix) {
        if (literal) {
          for (std::size_t a = 0; a < 2; ++a) matrix[literal_variable(i, a) * stride_ + last] = value[a];
        } else {
          matrix[i * stride_ + last] += value[1] - value[0];
          matrix[last * stride_ + last] += value[0];
        }
      });
      if (!pairs_) continue;
      fold_.load_pairs(i);
      for (std::size_t j = i + 1; j < n; ++j) {
        bool any = false;
        for (std::size_t x = 0; x < 4; ++x) {  // (i = x / 2, j = x % 2)
          probability[x] = mass_[x >> 1][i * n + j] + mass_[x & 1][j * n + i];
          any = any || probability[x] > 0;
        }
        if (!any) continue;
        fold_.quadrant(j, 1, 1, q[3].data());
        total[3] = fold_.quadrant_total(j, 1, 1);
        for (std::size_t c = 0; c < n_classes_; ++c) {
          q[2][c] = f.count(c, i) - q[3][c];
          q[1][c] = f.count(c, j) - q[3][c];
          q[0][c] = f.totals()[c] - f.count(c, i) - q[1][c];
        }
        total[2] = f.total(i) - total[3];
        total[1] = f.total(j) - total[3];
        total[0] = f.total() - f.total(i) - total[1];
        each(two, 4, [&](double* matrix) {
          if (literal) {
            for (std::size_t x = 0; x < 4; ++x) {
              const auto [u, v] = std::minmax({literal_variable(i, x >> 1), literal_variable(j, x & 1)});
              matrix[u * stride_ + v] = value[x];
            }
          } else {
            matrix[i * stride_ + j] = (value[3] - value[2]) - (value[1] - value[0]);
            matrix[i * stride_ + last] += value[2] - value[0];
            matrix[j * stride_ + last] += value[1] - value[0];
            matrix[last * stride_ + last] += value[0];
          }
        });
      }
    }
  }

  Control* control_;
  bool calling_;
  std::size_t n_threads_, held_, in_forms_ = 0, in_asking_ = 0, work_ = 0;
  const Graph* graph_;
  const ProductWeights* weights_;
  const Removed* removed_;
  const std::vector<std::uint32_t>*kind_of_bit_, *line_of_bit_;
  std::size_t n_classes_, n_kinds_, depth_ = 0, stride_ = 0, n_variables_ = 0;
  double total_ = 0, scale_ = 0;
  bool pairs_ = false;
  OneLevelFold fold_;
  OneLevel level_;
  ClosedForm form_;
  Patterns patterns_;
  TestRuns runs_, doubled_;
  bool by_runs_ = false;
  Spread spread_;
  std::vector<std::vector<std::uint32_t>> rows_;  // bits of the cover by kind
  std::vector<std::size_t> first_;
  std::vector<std::uint32_t> place_;
  std::vector<std::int32_t> counts_;
  std::vector<double> term_[2], mass_[2], outcome_, matrix_, linear_, value_, size_;
};

}  // namespace

std::vector<double> leave_one_out(const Posterior& posterior, const std::int64_t* counts, std::size_t n_rows,
                                  std::size_t n_threads, Control& control) {
  const Graph& graph = posterior.graph();
  const CountTable& table = graph.table();
  const std::size_t n_classes = table.n_classes(), n_bits = table.n_words() * 64;
  std::vector<std::int32_t> totals(n_classes);
  table.class_counts(table.all().data(), totals.data());
  for (std::size_t c = 0; c < n_classes; ++c) {
    std::int64_t n = 0;
    for (std::size_t r = 0; r < n_rows; ++r) n += counts[r * n_classes + c];
    if (n != totals[c])
      throw InvalidInput("the counts hold " + std::to_string(n) + " examples of class " + std::to_string(c) +
                         "; the table of the graph holds " + std::to_string(totals[c]));
  }
  // One example is left out, or all that a row has of its class where that is less: the kinds of rows are few.
  const Dirichlet& leaf = posterior.weights().leaf();
  const auto example = static_cast<std::int32_t>(leaf.per_example());
  std::vector<Kind> kinds;
  for (std::size_t c = 0; c < n_classes; ++c) kinds.push_back({c, example});
  std::map<std::pair<std::size_t, std::int64_t>, std::uint32_t> less;
  const auto kind_of = [&](std::size_t c, std::int64_t n) {
    if (n >= example) return static_cast<std::uint32_t>(c);
    const auto [known, added] = less.try_emplace({c, n}, static_cast<std::uint32_t>(kinds.size()));
    if (added) kinds.push_back({c, static_cast<std::int32_t>(n)});
    return known->second;
  };
  // A row stands in a section of its class for every bit of its count: all have the same sums, and one is read.
  // Sections end at whole words; with many classes most of their bits belong to no row, and have no line of sums.
  const std::size_t n_states = graph.size() * 2 * (sizeof(double) + sizeof(std::uint32_t));  // Passing, and their order
  std::size_t held = posterior.bytes() + n_states + (n_rows * n_classes + 2 * n_bits) * sizeof(std::uint32_t);
  control.check_memory(held);
  std::vector<std::uint32_t> first(n_rows * n_classes, 0), kind_of_bit(n_bits, 0), line_of_bit(n_bits, 0);
  std::uint32_t n_lines = 0;
  for (const Section& s : table.sections()) {
    control.check(true, "leaving out", 0, 0);
    std::uint32_t bit = s.begin * 64;
    for (std::size_t r = 0; r < n_rows; ++r) {
      const std::int64_t n = counts[r * n_classes + s.cls];
      if ((n >> s.shift & 1) == 0) continue;
      first[r * n_classes + s.cls] = n_lines;
      line_of_bit[bit] = n_lines++;
      kind_of_bit[bit++] = kind_of(s.cls, n);
    }
  }

  // The sums, those of parts that are not added yet, and the answer; `live` counts them all.
  const std::size_t sums_bytes = std::size_t{n_lines} * n_classes * sizeof(double);
  std::size_t live = 2;
  n_threads = std::max<std::size_t>(1, n_threads);
  control.check_memory(held + (live + 1) * sums_bytes);
  const Removed removed(leaf, kinds, totals, table.total(), control, held + (live + 1) * sums_bytes);
  held += removed.bytes() + n_threads * n_lines * sizeof(std::uint32_t);  // the rows of a cover, by kind
  const Passing passing(posterior, control);
  std::vector<std::uint32_t> inner, closed;
  for (std::uint32_t id : graph.children_first()) (graph.state(id).inner() ? inner : closed).push_back(id);

  std::vector<ClosedLeaves> workers;
  workers.reserve(n_threads);
  for (std::size_t k = 0; k < n_threads; ++k)
    workers.emplace_back(posterior, removed, kind_of_bit, line_of_bit, control, k == 0, n_threads,
                         held + (live + n_threads) * sums_bytes);
  std::vector<double> sums(std::size_t{n_lines} * n_classes, 0.0);
  std::vector<std::int32_t> own(n_classes);
  for (std::uint32_t id : inner) {
    control.check(true, "leaving out", 0, 0);
    workers[0].find_rows(graph.cover(id));
    table.class_counts(graph.cover(id), own.data());
    const State& s = graph.state(id);
    workers[0].add_leaf(own.data(), s.total, static_cast<std::size_t>(s.depth), passing.leaf[id], sums.data());
  }
  std::atomic<std::size_t> begun{0};
  // Parts are added in their order, whichever thread took them, as soon as those before them are: few wait at a time.
  std::vector<std::vector<double>> partial(kParts);
  std::vector<bool> ready(kParts, false);
  std::size_t added = 0;
  std::mutex adding;
  for_each_parallel(kParts, n_threads, control, nullptr, [&](std::size_t part, std::size_t worker) {
    {
      const std::lock_guard lock(adding);
      control.check_memory(held + (live + 1) * sums_bytes);
      ++live;
    }
    partial[part].assign(sums.size(), 0.0);
    for (std::size_t k = closed.size() * part / kParts; k < closed.size() * (part + 1) / kParts; ++k) {
      const std::size_t before = begun.fetch_add(1, std::memory_order_relaxed);
      if ((k & 15) == 0) control.check(worker == 0, "leaving out", before, closed.size());
      if (passing.state[closed[k]] > 0) workers[worker].run(closed[k], passing.state[closed[k]], partial[part].data());
    }
    const std::lock_guard lock(adding);
    ready[part] = true;
    for (; added < kParts && ready[added]; ++added, --live) {
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += partial[added][k];
      std::vector<double>().swap(partial[added]);
    }
  });

  std::vector<double> out;
  out.reserve(static_cast<std::size_t>(std::count_if(counts, counts + first.size(), [](auto n) { return n != 0; })) *
              n_classes);
  for (std::size_t k = 0; k < first.size(); ++k) {
    if (counts[k] == 0) continue;
    const double* from = sums.data() + std::size_t{first[k]} * n_classes;
    out.insert(out.end(), from, from + n_classes);
  }
  return out;
}

}  // namespace everytree
