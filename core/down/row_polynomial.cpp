#include "down/row_polynomial.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "common/parallel.hpp"

namespace everytree {

namespace {

constexpr std::uint32_t kInNoTree = 0xffffffffu;
constexpr const char* kAsking = "predicting";
// Rows that a closed state must have on the mean, for its sums to take longer than adding what it says.
constexpr std::size_t kRowsOfState = 64;
constexpr std::size_t kSaidBytes = std::size_t{1} << 22, kSaid = 256;  // of states that are built beside each other

}  // namespace

// A row of the matrix at a time, and the rows that have all of Q.
struct RowPolynomial::Work {
  std::vector<Patterns> patterns;
  std::vector<std::vector<std::uint32_t>> rows;
  std::vector<double> matrix, linear, scratch, out;
};

RowPolynomial::RowPolynomial(const Graph& graph, std::size_t n_means) : graph_(&graph), n_means_(n_means) {
  const CountTable& table = graph.table();
  // A test that does not split the whole table is in no tree.
  variable_.assign(table.n_tests(), kInNoTree);
  for (std::size_t t = table.n_tests(); t-- > 0;) {
    const std::int64_t ones = table.count(table.all().data(), t);
    if (std::min(ones, table.total() - ones) < graph.options().min_leaf) continue;
    variable_[t] = static_cast<std::uint32_t>(tests_.size());
    tests_.push_back(static_cast<std::uint32_t>(t));
  }
  const auto& order = graph.children_first();
  std::vector<std::uint32_t> length(graph.size(), 0);
  std::size_t longest = 0;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const State& s = graph.state(*it);
    if (!s.inner()) {
      above_ = std::max<std::size_t>(above_, length[*it]);
      longest = std::max(longest, length[*it] + static_cast<std::size_t>(s.levels));
      continue;
    }
    for (const Split& split : graph.splits(s))
      for (std::uint32_t child : split.child) length[child] = std::max(length[child], length[*it] + 1);
  }
  sets_ = Subsets(tests_.size(), longest);
}

bool RowPolynomial::pays(std::size_t n_rows) const {
  return above_ > 0 && above_ < 16 && n_rows >> above_ >= kRowsOfState;
}

std::size_t RowPolynomial::form_bytes() const {
  return sizeof(double) * n_means_ * (tests_.size() * (tests_.size() + 1) / 2 + 1);
}

std::uint64_t RowPolynomial::bytes() const {
  const std::uint64_t each = sizeof(double) * n_means_;
  if (sets_.size() > Subsets::kTooMany / each / 2) return Subsets::kTooMany;
  return sets_.size() * each + (sets_.offset(above_) + 1 + said_at_once(kParts)) * form_bytes();
}

std::size_t RowPolynomial::said_at_once(std::size_t n_threads) const {
  return std::clamp<std::size_t>(kSaidBytes / form_bytes(), n_threads, kSaid);
}

// ρ of every closed state that rows pass, parents first; the same edges as in RowFlow::pass.
std::vector<std::uint32_t> RowPolynomial::find_paths(const RowFlow& flow, const Prior& prior, double least,
                                                     Control& control) {
  const auto& classes = graph_->table().test_classes();
  std::vector<SetSum<std::uint64_t>> forms(graph_->size());
  forms[0].add(0, 1.0);
  std::vector<double> most(graph_->size(), 0.0);  // probability that any row can have of passing
  most[0] = 1;
  InnerShares shares(*graph_, prior);
  std::vector<std::uint32_t> u(sets_.most() + 1);
  std::size_t n_terms = 0;
  for (std::size_t k = 0; k < flow.inner.size(); ++k) {
    control.check(true, kAsking, 0, n_asked_);
    const State& s = graph_->state(flow.inner[k]);
    const double here = most[flow.inner[k]];
    if (!(here > least)) continue;
    SetSum<std::uint64_t> path = std::move(forms[flow.inner[k]]);
    path.tidy();
    if (prior.fair) shares.load(s);
    const auto splits = graph_->splits(s);
    for (std::size_t x = 0; x < splits.size(); ++x)
      for (std::uint32_t part : graph_->parts(splits[x]))
        for (std::uint32_t member : classes[part >> 1].members) {
          const std::uint32_t test = member >> 1, variable = variable_[test];
          const double p = prior.fair ? flow.unit[k][x] * shares.share(test) : flow.unit[k][x];
          for (const std::uint32_t child : splits[x].child) most[child] += here * p;
          for (const SetSum<std::uint64_t>::Term& t : path.terms) {
            const std::size_t n = sets_.elements(t.set, u.data());
            std::size_t at = n;
            for (; at > 0 && u[at - 1] > variable; --at) u[at] = u[at - 1];
            u[at] = variable;
            const std::uint64_t larger = sets_.number(u.data(), n + 1);
            for (std::uint32_t side = 0; side < 2; ++side) {
              SetSum<std::uint64_t>& child = forms[splits[x].child[side]];
              const bool holds = (side == 1) != (((part ^ member) & 1) != 0);  // v, else 1 − v
              child.add(larger, holds ? p * t.value : -p * t.value);
              if (!holds) child.add(t.set, p * t.value);
              n_terms += 2;
            }
          }
        }
    control.check_memory(n_terms * sizeof(SetSum<std::uint64_t>::Term));
  }
  paths_.resize(flow.closed.size());
  std::vector<std::uint32_t> passed;
  for (std::uint32_t k = 0; k < paths_.size(); ++k) {
    if (!(most[flow.closed[k]] > least)) continue;
    paths_[k] = std::move(forms[flow.closed[k]]);
    paths_[k].tidy();
    passed.push_back(k);
  }
  return passed;
}

// The form over variables. An element may be turned: y = 1 − v, put into constant + Σ linear_e y_e + Σ_{e < x}
// matrix_ex y_e y_x.
void RowPolynomial::say(const ClosedForm& form, Said& out) const {
  const auto& elements = form.elements();
  const std::size_t n = elements.size();
  out.at.resize(n);
  out.turned.resize(n);
  bool plain = true;  // no element is turned, and variables fall
  for (std::size_t e = 0; e < n; ++e) {
    out.at[e] = variable_[elements[e].test];
    out.turned[e] = elements[e].flipped ? 1.0 : 0.0;
    plain = plain && !elements[e].flipped && (e == 0 || out.at[e] < out.at[e - 1]);
  }
  out.forms.resize(n_means_);
  for (std::size_t c = 0; c < n_means_; ++c) {
    const ClosedForm::View f = form.view(c);
    Form& to = out.forms[c];
    to.clear(tests_.size());
    to.constant = f.constant;
    for (std::size_t e = 0; e < n && plain; ++e) {
      const double* from = f.matrix + e * f.stride;
      double* row = to.row(out.at[e]);
      to.linear[out.at[e]] = f.linear[e];
      for (std::size_t x = e + 1; x < n; ++x) row[out.at[x]] = from[x];
    }
    for (std::size_t e = 0; e < n && !plain; ++e) {
      const double* from = f.matrix + e * f.stride;
      const double sign = 1 - 2 * out.turned[e];
      double own = f.linear[e];
      for (std::size_t x = e + 1; x < n; ++x) {
        const std::size_t k = std::min(out.at[e], out.at[x]), l = std::max(out.at[e], out.at[x]);
        to.row(l)[k] = sign * (1 - 2 * out.turned[x]) * from[x];
        own += out.turned[x] * from[x];
        to.linear[out.at[x]] += (1 - 2 * out.turned[x]) * out.turned[e] * from[x];
      }
      to.linear[out.at[e]] += sign * own;
      to.constant += out.turned[e] * own;
    }
  }
}

void RowPolynomial::Form::clear(std::size_t n) {
  constant = 0;
  linear.assign(n, 0.0);
  square.assign(n * (n - 1) / 2, 0.0);
}

void RowPolynomial::Form::add(double weight, const Form& other) {
  constant += weight * other.constant;
  for (std::size_t k = 0; k < linear.size(); ++k) linear[k] += weight * other.linear[k];
  for (std::size_t k = 0; k < square.size(); ++k) square[k] += weight * other.square[k];
}

// b += form · Π_{t ∈ set} v_t. No variable of the form is in the set: those are constant on the cover.
void RowPolynomial::spread(std::uint64_t set, const Form& form, std::vector<double>& b) const {
  std::vector<std::uint32_t> u(sets_.most() + 2), given(sets_.most() + 1);
  const std::size_t n = sets_.elements(set, given.data());
  b[set] += form.constant;
  for (std::uint32_t l = 0; l < tests_.size() && n < sets_.most(); ++l) {
    std::size_t at = n;
    std::copy_n(given.begin(), n, u.begin());
    for (; at > 0 && u[at - 1] > l; --at) u[at] = u[at - 1];
    if (at > 0 && u[at - 1] == l) continue;
    u[at] = l;
    b[sets_.number(u.data(), n + 1)] += form.linear[l];
    if (n + 2 > sets_.most()) continue;
    // For k between two elements of u, the number of u ∪ {k} is a constant plus C(k, place of k).
    const double* row = form.row(l);
    for (std::size_t place = 0; place <= at; ++place) {
      std::uint64_t base = sets_.offset(n + 2);
      for (std::size_t i = 0; i < place; ++i) base += sets_.choose(u[i], i + 1);
      for (std::size_t i = place; i <= n; ++i) base += sets_.choose(u[i], i + 2);
      const std::uint64_t* column = sets_.column(place + 1);
      for (std::size_t k = place == 0 ? 0 : u[place - 1] + 1; k < u[place]; ++k) b[base + column[k]] += row[k];
    }
  }
}

void RowPolynomial::build(const RowFlow& flow, const ProductWeights& weights, const SecondLevels& kept, double least,
                          std::size_t n_rows, std::vector<OneLevelFold>& folds, Control& control) {
  n_asked_ = n_rows;
  std::vector<std::uint32_t> order = find_paths(flow, weights.prior(), least, control);
  b_.resize(n_means_);
  for (auto& b : b_) {  // with looks at the clock: new memory takes half a second a gigabyte
    b.reserve(sets_.size());
    while (b.size() < sets_.size()) {
      control.check(true, kAsking, 0, n_asked_);
      b.resize(std::min<std::size_t>(sets_.size(), b.size() + (1 << 20)), 0.0);
    }
  }
  const CountTable& table = graph_->table();
  const Dirichlet& leaf = weights.leaf();
  const std::vector<LeafValue> values = class_means(n_means_);
  // States with the same tests above them follow each other: what they say together is spread once. (State by state it
  // took a quarter of the time.)
  const auto last_set = [&](std::uint32_t k) { return paths_[k].terms.back().set; };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return last_set(a) < last_set(b); });
  std::vector<Form> here(n_means_), above(n_means_ * sets_.offset(above_));  // of the last set, and of smaller ones
  for (Form& form : here) form.clear(tests_.size());
  for (Form& form : above) form.clear(tests_.size());

  std::vector<Said> said(said_at_once(folds.size()));
  struct Worker {
    OneLevel level;
    ClosedForm closed;
    std::vector<std::int32_t> counts;
  };
  std::vector<Worker> workers(folds.size());
  for (std::size_t from = 0; from < order.size(); from += said.size()) {
    const std::size_t n = std::min(said.size(), order.size() - from);
    control.check(true, kAsking, n_asked_ * from / order.size(), n_asked_);
    for_each_parallel(n, folds.size(), control, nullptr, [&](std::size_t k, std::size_t worker) {
      OneLevelFold& fold = folds[worker];
      auto& [level, closed, counts] = workers[worker];
      const std::uint32_t id = flow.closed[order[from + k]];
      fold.again(id, weights, kept, level);
      if (level.n > 0) {
        if (!fold.begin_masses(weights, level)) throw std::logic_error("no masses for these weights");
        closed.begin(fold, false);
        closed.build(fold, weights, level, values);
        say(closed, said[k]);
        return;
      }
      const State& s = graph_->state(id);
      const auto depth = static_cast<std::size_t>(s.depth);
      counts.resize(table.n_classes());
      table.class_counts(graph_->cover(id), counts.data());
      said[k].forms.resize(n_means_);
      for (std::size_t c = 0; c < n_means_; ++c) {
        said[k].forms[c].clear(tests_.size());
        said[k].forms[c].constant = (counts[c] + leaf.a(depth, c)) / (s.total + leaf.sum_a(depth));
      }
    });
    for (std::size_t k = 0; k < n; ++k) {  // in order: the same for any number of threads
      const std::uint64_t last = last_set(order[from + k]);
      for (const SetSum<std::uint64_t>::Term& t : paths_[order[from + k]].terms)
        for (std::size_t c = 0; c < n_means_; ++c) {
          const Form& form = said[k].forms[c];
          if (t.set == last) {
            here[c].add(t.value, form);
          } else if (t.set < sets_.offset(above_)) {
            above[t.set * n_means_ + c].add(t.value, form);
          } else {  // the same examples by other tests
            spare_.clear(tests_.size());
            spare_.add(t.value, form);
            spread(t.set, spare_, b_[c]);
          }
        }
      const std::size_t next = from + k + 1;
      if (next < order.size() && last_set(order[next]) == last) continue;
      for (std::size_t c = 0; c < n_means_; ++c) {
        spread(last, here[c], b_[c]);
        here[c].clear(tests_.size());
      }
    }
  }
  for (std::size_t set = 0; set < sets_.offset(above_); ++set)
    for (std::size_t c = 0; c < n_means_; ++c) spread(set, above[set * n_means_ + c], b_[c]);
  paths_.clear();
}

void RowPolynomial::load(const NewRows& rows, std::size_t from, std::size_t n) {
  rows_.begin(tests_.size(), n);
  std::fill(rows_.bits.begin(), rows_.bits.end(), std::uint16_t{0});
  for (std::size_t r = 0; r < n; ++r) {
    const std::uint8_t* outcomes = rows.outcomes + (from + r) * rows.n_tests;
    for (std::size_t v = 0; v < tests_.size(); ++v)
      if (outcomes[tests_[v]] != 0) rows_.run_of(v)[r] |= static_cast<std::uint16_t>(Patterns::bit(v));
  }
}

void RowPolynomial::evaluate(std::size_t part, Control& control, bool calling, double* out) const {
  const std::size_t most = sets_.most() < 2 ? 0 : sets_.most() - 2;
  Work work;
  work.patterns.resize(most + 1);
  work.rows.resize(most + 1);
  std::vector<std::uint32_t> all(rows_.n_rows);
  std::iota(all.begin(), all.end(), 0u);
  if (part == 0) {
    for (std::size_t k = 0; k < all.size(); ++k)
      for (std::size_t c = 0; c < n_means_; ++c) out[k * n_means_ + c] += b_[c][0];
    block(sets_.most() < 2 ? 0 : sets_.offset(2), tests_.size(), true, rows_, all, work, out);
  }
  // Sizes of Q; its greatest elements are dealt to the parts.
  for (std::size_t size = 1; size <= most; ++size)
    for (std::size_t q = size + 1; q < tests_.size(); ++q) {
      if (q % kParts != part) continue;
      control.check(calling, kAsking, n_asked_, n_asked_);
      descend(size, static_cast<std::uint32_t>(q), sets_.offset(size + 2), rows_, all, work, out);
    }
}

// Q gets q, with so many elements to choose, q among them.
void RowPolynomial::descend(std::size_t level, std::uint32_t q, std::uint64_t base, const Patterns& patterns,
                            const std::vector<std::uint32_t>& rows, Work& work, double* out) const {
  base += sets_.choose(q, level + 2);
  std::vector<std::uint32_t>& mine = work.rows[level];
  Patterns& kept = work.patterns[level];
  const std::uint16_t* own = patterns.run_of(q);
  mine.clear();
  for (std::uint32_t k = 0; k < rows.size(); ++k)
    if (own[k] & Patterns::bit(q)) mine.push_back(k);
  if (mine.empty()) return;
  kept.begin(q, mine.size());
  for (std::size_t t = 0; t < q; t += 4) {
    const std::uint16_t* from = patterns.run_of(t);
    std::uint16_t* to = kept.run_of(t);
    const auto below = static_cast<std::uint16_t>(t + 4 <= q ? 0x78 : (8u << (q - t)) - 8u);
    for (std::size_t k = 0; k < mine.size(); ++k) to[k] = from[mine[k]] & below;
  }
  for (std::uint32_t& k : mine) k = rows[k];
  if (level == 1) {
    block(base, q, false, kept, mine, work, out);
    return;
  }
  for (std::uint32_t next = static_cast<std::uint32_t>(level); next < q; ++next)
    descend(level - 1, next, base, kept, mine, work, out);
}

// The pairs below Q, of n variables; without Q the single ones too.
void RowPolynomial::block(std::uint64_t base, std::size_t n, bool with_linear, const Patterns& patterns,
                          const std::vector<std::uint32_t>& rows, Work& work, double* out) const {
  const std::size_t stride = (n + 7) & ~std::size_t{7};
  work.matrix.resize(stride * stride);
  work.linear.resize(stride);
  work.out.resize(rows.size());
  work.scratch.resize(16 * patterns.pitch + n + 16);
  double* scratch = work.scratch.data();
  while (reinterpret_cast<std::uintptr_t>(scratch) % 64 != 0) ++scratch;
  for (std::size_t c = 0; c < n_means_; ++c) {
    std::fill(work.linear.begin(), work.linear.end(), 0.0);
    for (std::size_t t = 0; with_linear && sets_.most() > 0 && t < n; ++t) work.linear[t] = b_[c][sets_.offset(1) + t];
    // Columns of eight, as pattern_sums wants them: 0 on and below the diagonal, and beyond the last.
    const double* packed = b_[c].data() + base;
    for (std::size_t l = 0; l < stride; ++l) {
      const std::size_t end = sets_.most() < 2 || l >= n ? 0 : l;
      for (std::size_t k = 0; k < end; ++k) work.matrix[k * stride + l] = packed[k];
      for (std::size_t k = end; k < std::min(n, (l | 7) + 1); ++k) work.matrix[k * stride + l] = 0;
      packed += end;
    }
    kernels().pattern_sums(work.matrix.data(), stride, n, work.linear.data(), patterns.bits.data(), patterns.pitch,
                           rows.size(), scratch, work.out.data());
    for (std::size_t k = 0; k < rows.size(); ++k) out[rows[k] * n_means_ + c] += work.out[k];
  }
}

}  // namespace everytree
