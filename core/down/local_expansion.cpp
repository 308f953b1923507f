#include "down/local_expansion.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/errors.hpp"
#include "fold/weigh.hpp"
#include "table/offers.hpp"

namespace everytree {

std::vector<OfferedTest> offered_tests(const Graph& graph, Control& control) {
  std::vector<OfferedTest> found;
  std::size_t sorted = 0;
  const auto tidy = [&] {
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    sorted = found.size();
  };
  Offers offers(graph.table(), graph.options().min_leaf);
  for (std::size_t id = 0; id < graph.size(); ++id) {
    if ((id & 63) == 0) control.check(true, "expanding the average", 0, 0);
    if (found.size() > 2 * sorted + 4096) tidy();
    const State& s = graph.state(id);
    if (s.inner()) {
      for (const Split& split : graph.splits(s))
        for (std::size_t k = 0; k < graph.parts(split).size(); ++k)
          found.push_back({graph.parts(split)[k] >> 1, graph.uppers(split)[k]});
    } else if (s.levels > 0) {
      const auto tests = offers.of(graph.cover(id));
      for (std::size_t k = 0; k < tests.size(); ++k) found.push_back({tests[k], offers.upper()[k]});
    }
  }
  tidy();
  return found;
}

// The polynomials of the states, from the root down, and what their leaves add to the answer.
class LocalExpansion::Expander {
 public:
  Expander(LocalExpansion& to, const Posterior& posterior, const std::vector<OfferedTest>& asked,
           const std::vector<std::uint32_t>& question_of, Control& control)
      : to_(to),
        posterior_(posterior),
        graph_(posterior.graph()),
        table_(graph_.table()),
        prior_(posterior.weights().prior()),
        leaf_(posterior.weights().leaf()),
        control_(control),
        asked_(asked),
        question_of_(question_of),
        n_asked_(to.n_classes_ - 1),
        fold_(graph_),
        shares_(graph_, prior_),
        counts_(to.n_classes_) {
    fold_.watch(control, true);
  }

  void run() {
    std::vector<Form> forms(graph_.size());
    forms[0].add(0, 1.0);
    std::size_t pending = 1, done = 0;
    const auto& order = graph_.children_first();
    for (auto it = order.rbegin(); it != order.rend(); ++it, ++done) {
      if ((done & 15) == 0) control_.check(true, "expanding the average", done, order.size());
      // Lists of terms may have room for twice as many.
      of_forms_ = 2 * pending * sizeof(Form::Term) + forms.size() * sizeof(Form);
      to_.sets_.hold(held() + to_.a_.bytes());
      Form path = std::move(forms[*it]);
      pending -= path.terms.size();
      path.tidy();
      if (graph_.state(*it).inner())
        pending += inner(*it, path, forms);
      else
        closed(*it, path);
    }
    to_.grow(held());
  }

 private:
  std::size_t held() const { return of_forms_ + of_matrices_; }
  std::uint32_t question(std::uint32_t test, std::uint32_t upper) const {
    const auto at = std::lower_bound(asked_.begin(), asked_.end(), OfferedTest{test, upper});
    return question_of_[static_cast<std::size_t>(at - asked_.begin())];
  }
  // a_c(set) += value · x_c
  void add(std::uint32_t set, double value, const double* x) {
    if (to_.a_.size() < to_.sets_.size()) to_.grow(held());
    double* a = to_.a_[set];
    for (std::size_t c = 0; c < n_asked_; ++c) a[c] += value * x[c];
  }
  void add_leaf(std::uint32_t id, const Form& path, double probability) {
    const State& s = graph_.state(id);
    const auto depth = static_cast<std::size_t>(s.depth);
    table_.class_counts(graph_.cover(id), counts_.data());
    theta_.resize(n_asked_);
    for (std::size_t c = 0; c < n_asked_; ++c)
      theta_[c] = probability * (counts_[c] + leaf_.a(depth, c)) / (s.total + leaf_.sum_a(depth));
    for (const Form::Term& t : path.terms) add(t.set, t.value, theta_.data());
  }

  // Pass the polynomial on to the children; returns how many terms they have more.
  std::size_t inner(std::uint32_t id, const Form& path, std::vector<Form>& forms) {
    const State& s = graph_.state(id);
    posterior_.inner_node(id, node_);
    add_leaf(id, path, node_.leaf);
    if (prior_.fair) shares_.load(s);
    const double each = prior_.fair ? 1.0 : 1.0 / prior_.share_divisor(s.n_tests);
    const auto splits = graph_.splits(s);
    std::size_t more = 0;
    for (std::size_t k = 0; k < splits.size(); ++k) {
      control_.check(true, "expanding the average", 0, 0);
      const auto parts = graph_.parts(splits[k]), uppers = graph_.uppers(splits[k]);
      for (int side = 0; side < 2; ++side) {
        // The share of x that goes this way: Σ p · (1 ± z) / 2.
        Form& child = forms[splits[k].child[side]];
        const std::size_t before = child.terms.size();
        for (std::size_t j = 0; j < parts.size(); ++j) {
          const std::uint32_t test = parts[j] >> 1, q = question(test, uppers[j]);
          const double p = node_.split[k] * (prior_.fair ? shares_.share(test) : each) / 2;
          const double of_z = (side == 1) != ((parts[j] & 1) != 0) ? p : -p;
          for (const Form::Term& t : path.terms) {
            child.add(t.set, t.value * p);
            to_.sets_.multiply(t.set, q,
                               [&](std::uint32_t set, double sign) { child.add(set, t.value * of_z * sign); });
          }
        }
        more += child.terms.size() - before;  // wraps where terms became one, and so does the sum
      }
    }
    return more;
  }

  // The closed state's average is constant + Σ b_p v_p + Σ_{p<q} A_pq v_p v_q in its variables, each of which is a
  // constant and some ± z/2.
  void closed(std::uint32_t id, const Form& path) {
    fold_.product<SumProduct>(id, posterior_.weights(), level_);
    if (level_.n == 0) {
      add_leaf(id, path, 1.0);
      return;
    }
    // A matrix for each class, over splits or single tests: with hundreds of classes they are megabytes.
    std::size_t side = 8;
    for (std::size_t i = 0; i < fold_.frontier().n_groups(); ++i)
      side += prior_.fair ? fold_.frontier().parts(i).size() : 1;
    of_matrices_ = std::max(of_matrices_, n_asked_ * side * side * sizeof(double));
    to_.sets_.hold(held() + to_.a_.bytes());
    quadratic_.build(fold_, posterior_.weights(), level_, {}, {}, 0, means_);
    load_variables();
    const std::size_t n = quadratic_.size() - 1, stride = quadratic_.stride();
    form_.assign(n_asked_ * (n + 1), 0.0);  // constant and linear parts, once products of constants are in them
    const auto linear = [&](std::size_t p) { return form_.data() + p * n_asked_; };
    for (std::size_t c = 0; c < n_asked_; ++c) {
      const double* m = quadratic_.matrix(c);
      linear(n)[c] = m[n * stride + n];
      for (std::size_t p = 0; p < n; ++p) {
        const double b = m[p * stride + n];
        linear(p)[c] += b;
        linear(n)[c] += b * constant_[p];
        for (std::size_t q = p + 1; q < n; ++q) {
          const double x = m[p * stride + q];
          linear(p)[c] += x * constant_[q];
          linear(q)[c] += x * constant_[p];
          linear(n)[c] += x * constant_[p] * constant_[q];
        }
      }
    }
    square_.resize(n_asked_);
    std::size_t work = 0;
    for (const Form::Term& t : path.terms) {
      add(t.set, t.value, linear(n));
      for (std::size_t p = 0; p < n; ++p)
        for (std::size_t i = first_[p]; i < first_[p + 1]; ++i) {
          to_.sets_.multiply(t.set, parts_[i].question, [&](std::uint32_t one, double sign) {
            const double value = t.value * parts_[i].factor * sign;
            add(one, value, linear(p));
            if ((++work & 0xff) == 0) control_.check(true, "expanding the average", 0, 0);
            for (std::size_t q = p + 1; q < n; ++q) {
              bool any = false;
              for (std::size_t c = 0; c < n_asked_; ++c) {
                square_[c] = quadratic_.matrix(c)[p * stride + q];
                any = any || square_[c] != 0;
              }
              for (std::size_t j = first_[q]; any && j < first_[q + 1]; ++j)
                to_.sets_.multiply(one, parts_[j].question, [&](std::uint32_t two, double again) {
                  add(two, value * parts_[j].factor * again, square_.data());
                });
            }
          });
        }
    }
  }

  // The variables of the last closed state, as RowFlow::answers has them: single tests, or the splits, whose tests are
  // counted where they say what the split says.
  void load_variables() {
    const Frontier& f = fold_.frontier();
    const bool single = prior_.fair && !f.apart();
    parts_.clear();
    constant_.clear();
    first_.assign(1, 0);
    const auto next = [&] { first_.push_back(parts_.size()); };
    for (std::size_t i = 0; i < f.n_groups(); ++i) {
      const std::uint32_t* upper = f.uppers_begin(i);
      if (!single) constant_.push_back(static_cast<double>(f.parts(i).size()) / 2);
      for (const std::uint32_t part : f.parts(i)) {
        parts_.push_back({question(part >> 1, *upper++), !single && (part & 1) != 0 ? -0.5 : 0.5});
        if (!single) continue;
        constant_.push_back(0.5);
        next();
      }
      if (!single) next();
    }
  }

  struct Part {
    std::uint32_t question;
    double factor;
  };
  LocalExpansion& to_;
  const Posterior& posterior_;
  const Graph& graph_;
  const CountTable& table_;
  const Prior& prior_;
  const Dirichlet& leaf_;
  Control& control_;
  const std::vector<OfferedTest>& asked_;
  const std::vector<std::uint32_t>& question_of_;
  std::size_t n_asked_, of_forms_ = 0, of_matrices_ = 0;
  OneLevelFold fold_;
  InnerShares shares_;
  OneLevel level_;
  QuadraticForm quadratic_;
  Posterior::InnerNode node_;
  std::vector<LeafValue> means_ = class_means(n_asked_);
  std::vector<std::int32_t> counts_;
  std::vector<double> theta_, constant_, form_, square_;
  std::vector<Part> parts_;  // of variable p: first_[p] … first_[p + 1]
  std::vector<std::size_t> first_;
};

LocalExpansion::LocalExpansion(const Posterior& posterior, const std::vector<std::uint32_t>& question_of,
                               std::vector<Question> questions, Control& control)
    : n_classes_(posterior.graph().table().n_classes()),
      // Need and bound, its place in the list of its degree, which may have room for twice as many, and in the order.
      sets_(std::move(questions), 2 * 8 + 2 * 4 + 4, control),
      a_(n_classes_ - 1) {
  const CountTable& table = posterior.graph().table();
  const std::vector<OfferedTest> asked = offered_tests(posterior.graph(), control);
  if (asked.size() != question_of.size()) throw InvalidInput("every test that is asked needs its question");
  sign_.assign(sets_.questions().size(), 1.0);
  for (std::size_t k = asked.size(); k > 0; --k) {
    if (question_of[k - 1] >= sign_.size()) throw InvalidInput("a test asks a question that is not there");
    const std::int64_t ones = table.count(table.all().data(), asked[k - 1].test);
    sign_[question_of[k - 1]] = 2 * ones > table.total() ? -1.0 : 1.0;
  }
  for (std::size_t q = 1; q < sign_.size(); ++q)
    if (sets_.questions()[q].column < sets_.questions()[q - 1].column)
      throw InvalidInput("questions must be in the order of their columns");
  Expander(*this, posterior, asked, question_of, control).run();
  rank(control);
}

// A line of coefficients for every set; `held`: bytes of the question besides.
void LocalExpansion::grow(std::size_t held) {
  a_.grow(sets_.size(), [&](std::size_t more) { sets_.hold(held + a_.bytes() + more); });
}

double LocalExpansion::size_of(std::uint32_t set, std::size_t c) const {
  const std::size_t n_asked = n_classes_ - 1;
  const double* a = a_[set];
  if (c < n_asked) return std::abs(a[c]);
  double sum = 0;
  for (std::size_t k = 0; k < n_asked; ++k) sum += a[k];
  return std::abs(sum);
}

double LocalExpansion::largest(std::uint32_t set) const {
  double size = 0;
  for (std::size_t c = 0; c < n_classes_; ++c) size = std::max(size, size_of(set, c));
  return size;
}

void LocalExpansion::rank(Control& control) {
  std::vector<std::vector<std::uint32_t>> by_degree;
  std::vector<double> need(sets_.size(), 0.0);
  const auto listed = [&](std::uint32_t set) {
    if (by_degree.size() <= sets_.degree(set)) by_degree.resize(sets_.degree(set) + 1);
    by_degree[sets_.degree(set)].push_back(set);
  };
  for (std::uint32_t set = 1; set < sets_.size(); ++set) {
    if ((set & 0xffff) == 0) control.check(true, "ranking the rules", 0, 0);
    need[set] = largest(set);
    if (need[set] > 0) listed(set);
  }
  // Subsets that nothing was said of are sets too, from now on. A set is listed when it is first needed.
  std::vector<std::uint32_t> elements(by_degree.size() + 1);
  for (std::size_t k = by_degree.size(); k-- > 2;)
    for (std::size_t at = 0; at < by_degree[k].size(); ++at) {
      if ((at & 0xfff) == 0) control.check(true, "ranking the rules", 0, 0);
      const std::uint32_t set = by_degree[k][at];
      const std::size_t n = sets_.elements(set, elements.data());
      for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t below = sets_.without(set, elements[i]);
        if (below >= need.size()) need.resize(sets_.size(), 0.0);
        if (!(need[below] > 0)) listed(below);
        need[below] = std::max(need[below], need[set]);
      }
    }
  grow(0);
  order_.reserve(std::accumulate(by_degree.begin(), by_degree.end(), std::size_t{0},
                                 [](std::size_t n, const auto& some) { return n + some.size(); }));
  for (std::vector<std::uint32_t>& some : by_degree) order_.insert(order_.end(), some.begin(), some.end());
  by_degree = {};
  // Equal needs are common (a set and the one it is needed for): larger sets go first, then those that cost least.
  std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (need[a] != need[b]) return need[a] < need[b];
    if (const std::size_t x = sets_.degree(a), y = sets_.degree(b); x != y) return x > y;
    if (const double x = largest(a), y = largest(b); x != y) return x < y;
    return a < b;
  });
  left_out_.reserve(order_.size());
  std::vector<double> sum(n_classes_, 0.0);
  for (std::uint32_t set : order_) {
    for (std::size_t c = 0; c < n_classes_; ++c) sum[c] += size_of(set, c);
    left_out_.push_back(*std::max_element(sum.begin(), sum.end()) * (1 + Expansion::kRounding));
  }
}

std::size_t LocalExpansion::dropped(double epsilon) const {
  return static_cast<std::size_t>(std::upper_bound(left_out_.begin(), left_out_.end(), epsilon) - left_out_.begin());
}

Expansion::Point LocalExpansion::point(double epsilon) const {
  const std::size_t n = dropped(epsilon);
  return {order_.size() - n, n == 0 ? 0.0 : left_out_[n - 1]};
}

Rules LocalExpansion::rules(double epsilon, Control& control) {
  sets_.watch(control);
  const std::size_t n_asked = n_classes_ - 1, gone = dropped(epsilon), n_kept = order_.size() - gone;
  std::size_t most = 0, n_items = 0;
  for (std::size_t k = gone; k < order_.size(); ++k) {
    most = std::max(most, sets_.degree(order_[k]));
    n_items += sets_.degree(order_[k]);
  }
  control.check_memory(sets_.bytes() + a_.bytes() + sets_.size() * 4 + 4 * n_items +
                       (n_kept + 1) * (8 * (n_asked + n_classes_) + 8));
  // Where each set stands among those that are kept; the empty one comes first.
  std::vector<std::uint32_t> place(sets_.size(), 0);
  for (std::size_t k = gone; k < order_.size(); ++k) place[order_[k]] = static_cast<std::uint32_t>(k - gone + 1);
  // y is 1 where a question has its rarer outcome, so z = ±(2y − 1): every set gives something to its subsets, and all
  // of these are kept.
  std::vector<double> b((n_kept + 1) * n_asked, 0.0);
  std::vector<std::uint32_t> elements(most + 1);
  for (std::size_t at = 0; at <= n_kept; ++at) {
    if ((at & 0xfff) == 0) control.check(true, "writing the rules", at, n_kept);
    const std::uint32_t set = at == 0 ? 0 : order_[gone + at - 1];
    const std::size_t k = sets_.elements(set, elements.data());
    for (std::uint64_t mask = 0; mask < std::uint64_t{1} << k; ++mask) {
      double factor = 1;
      std::uint32_t part = set;
      for (std::size_t i = 0; i < k; ++i)
        if (mask >> i & 1) {
          factor *= 2 * sign_[elements[i]];
        } else {
          factor *= -sign_[elements[i]];
          part = sets_.without(part, elements[i]);
        }
      for (std::size_t c = 0; c < n_asked; ++c) b[place[part] * n_asked + c] += factor * a_[set][c];
    }
  }
  Rules out;
  out.bound = point(epsilon).bound;
  out.items.reserve(n_items);
  out.begin.reserve(n_kept + 1);
  out.moves.reserve(n_kept * n_classes_);
  out.begin.push_back(0);
  for (std::size_t at = 0; at <= n_kept; ++at) {
    const double* move = b.data() + at * n_asked;
    double rest = 0;
    for (std::size_t c = 0; c < n_asked; ++c) rest += move[c];
    if (at == 0) {
      out.base.assign(move, move + n_asked);
      out.base.push_back(1.0 - rest);
      continue;
    }
    const std::size_t k = sets_.elements(order_[gone + at - 1], elements.data());
    for (std::size_t i = 0; i < k; ++i) out.items.push_back(elements[i] << 1 | (sign_[elements[i]] > 0 ? 1u : 0u));
    out.begin.push_back(out.items.size());
    out.moves.insert(out.moves.end(), move, move + n_asked);
    out.moves.push_back(-rest);
  }
  return out;
}

}  // namespace everytree
