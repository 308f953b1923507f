#include "down/expansion.hpp"

#include <algorithm>
#include <cmath>

#include "fold/weigh.hpp"

namespace everytree {

namespace {

constexpr std::uint32_t kNone = 0xffffffffu;

}  // namespace

Expansion::Expansion(const Posterior& posterior, Control& control) : n_classes_(posterior.graph().table().n_classes()) {
  expand(posterior, control);
  rank(control);
}

void Expansion::expand(const Posterior& posterior, Control& control) {
  const Graph& graph = posterior.graph();
  const CountTable& table = graph.table();
  const Prior& prior = posterior.weights().prior();
  const Dirichlet& leaf = posterior.weights().leaf();
  const std::size_t n_asked = n_classes_ - 1;  // the last class is what remains of 1
  std::vector<std::uint32_t> first_slot;
  const std::vector<Slot> given = make_slots(table, prior, first_slot);
  const std::size_t stride = (given.size() + 1 + 7) & ~std::size_t{7};

  // Only tests that are feasible for the whole table are in any tree.
  std::vector<std::uint32_t> place(given.size(), kNone);
  for (std::uint32_t k = 0; k < given.size(); ++k) {
    const std::int64_t ones = table.count(table.all().data(), given[k].members[0] >> 1);
    if (std::min(ones, table.total() - ones) < graph.options().min_leaf) continue;
    place[k] = static_cast<std::uint32_t>(slots_.size());
    origin_.push_back(k);
    slots_.push_back(given[k]);
    sign_.push_back(2 * ones > table.total() ? -1.0 : 1.0);
    plain_ = plain_ && given[k].members.size() == 1;
  }

  // The longest path, to know how large a set can be.
  const auto& order = graph.children_first();
  std::vector<std::uint32_t> length(graph.size(), 0);
  std::size_t longest = 0;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const State& s = graph.state(*it);
    longest = std::max<std::size_t>(longest, length[*it] + static_cast<std::size_t>(s.inner() ? 0 : s.levels));
    if (!s.inner()) continue;
    for (const Split& split : graph.splits(s))
      for (std::uint32_t child : split.child) length[child] = std::max(length[child], length[*it] + 1);
  }
  sets_ = Subsets(slots_.size(), longest);
  const std::uint64_t each = 8 * n_asked + 24;  // coefficients, need, order, bound
  control.check_memory(sets_.size() > Subsets::kTooMany / each ? static_cast<std::size_t>(-1)
                                                               : static_cast<std::size_t>(sets_.size() * each));
  const std::size_t fixed = static_cast<std::size_t>(sets_.size() * each);
  a_.assign(n_asked, std::vector<double>(sets_.size(), 0.0));

  // ρ(state, x) as a polynomial, parents first.
  std::vector<SetSum<std::uint64_t>> forms(graph.size());
  forms[0].add(0, 1.0);
  std::size_t pending = 1, done = 0;
  Posterior::InnerNode node;
  InnerShares shares(graph, prior);
  OneLevelFold fold(graph);
  fold.watch(control, true);
  OneLevel level;
  QuadraticForm quadratic;
  const std::vector<LeafValue> means = class_means(n_asked);
  InZ in_z;
  std::vector<std::int32_t> counts(n_classes_);
  std::vector<std::uint32_t> elements(sets_.most() + 1);
  std::vector<std::pair<std::uint32_t, double>> factor;
  for (auto it = order.rbegin(); it != order.rend(); ++it, ++done) {
    if ((done & 15) == 0) control.check(true, "expanding the average", done, order.size());
    const std::uint32_t id = *it;
    const State& s = graph.state(id);
    const auto depth = static_cast<std::size_t>(s.depth);
    SetSum<std::uint64_t> path = std::move(forms[id]);
    pending -= path.terms.size();
    path.tidy();
    const auto add_leaf = [&](double probability) {
      table.class_counts(graph.cover(id), counts.data());
      for (std::size_t c = 0; c < n_asked; ++c) {
        const double theta = probability * (counts[c] + leaf.a(depth, c)) / (s.total + leaf.sum_a(depth));
        for (const SetSum<std::uint64_t>::Term& t : path.terms) a_[c][t.set] += theta * t.value;
      }
    };
    if (!s.inner()) {
      fold.product<SumProduct>(id, posterior.weights(), level);
      if (level.n == 0) {
        add_leaf(1.0);
        continue;
      }
      quadratic.build(fold, posterior.weights(), level, given, first_slot, stride, means);
      for (std::size_t c = 0; c < n_asked; ++c) {
        rewrite(quadratic.matrix(c), stride, given.size(), in_z);
        add_product(path, in_z, a_[c], control);
      }
      continue;
    }
    posterior.inner_node(id, node);
    add_leaf(node.leaf);
    if (prior.fair) shares.load(s);
    const double each_test = prior.fair ? 1.0 : 1.0 / prior.share_divisor(s.n_tests);
    const auto splits = graph.splits(s);
    for (std::size_t k = 0; k < splits.size(); ++k)
      for (int side = 0; side < 2; ++side) {
        // The share of x that goes this way: Σ p · (m ± Z) / 2.
        double constant = 0;
        factor.clear();
        for (std::uint32_t part : graph.parts(splits[k]))
          for (std::uint32_t j = first_slot[part >> 1]; j < first_slot[(part >> 1) + 1]; ++j) {
            const bool flipped = (part & 1) ^ given[j].flipped;
            const double p = node.split[k] * (prior.fair ? shares.share(given[j].members[0] >> 1) : each_test);
            constant += p * given[j].multiplicity / 2;
            factor.emplace_back(place[j], (side == 1) != flipped ? p / 2 : -p / 2);
          }
        control.check(true, "expanding the average", 0, 0);
        control.check_memory(fixed + pending * sizeof(SetSum<std::uint64_t>::Term));
        SetSum<std::uint64_t>& child = forms[splits[k].child[side]];
        const std::size_t before = child.terms.size();
        for (const SetSum<std::uint64_t>::Term& t : path.terms) {
          child.add(t.set, t.value * constant);
          const std::size_t n = sets_.elements(t.set, elements.data());
          for (const auto& [slot, p] : factor) {
            std::size_t at = n;
            for (; at > 0 && elements[at - 1] > slot; --at) elements[at] = elements[at - 1];
            elements[at] = slot;
            child.add(sets_.number(elements.data(), n + 1), t.value * p);
            for (; at < n; ++at) elements[at] = elements[at + 1];
          }
        }
        pending += child.terms.size() - before;
      }
  }
}

// y = (m + Z) / 2 put into const + Σ b_k y_k + Σ_{k<l} A_kl y_k y_l.
void Expansion::rewrite(const double* matrix, std::size_t stride, std::size_t n_given, InZ& out) const {
  const std::size_t n = slots_.size();
  out.linear.assign(n, 0.0);
  out.square.assign(n * n, 0.0);
  out.constant = matrix[n_given * stride + n_given];
  for (std::size_t k = 0; k < n; ++k) {
    const double* row = matrix + origin_[k] * stride;
    const double m = slots_[k].multiplicity, b = row[n_given];
    out.constant += b * m / 2;
    out.linear[k] += b / 2;
    for (std::size_t l = k + 1; l < n; ++l) {
      const double x = row[origin_[l]] / 4, m_l = slots_[l].multiplicity;
      out.square[k * n + l] = x;
      out.constant += x * m * m_l;
      out.linear[k] += x * m_l;
      out.linear[l] += x * m;
    }
  }
}

// a += path · form. No slot of the form is in the path: those are constant on the cover, so they split nothing.
void Expansion::add_product(const SetSum<std::uint64_t>& path, const InZ& form, std::vector<double>& a,
                            Control& control) const {
  const std::size_t n = slots_.size();
  std::vector<std::uint32_t> u(sets_.most() + 1);
  std::size_t done = 0;
  for (const SetSum<std::uint64_t>::Term& t : path.terms) {
    if ((++done & 0xff) == 0) control.check(true, "expanding the average", 0, 0);
    const std::size_t size = sets_.elements(t.set, u.data());
    a[t.set] += t.value * form.constant;
    if (size + 1 > sets_.most()) continue;
    for (std::uint32_t k = 0; k < n; ++k) {
      std::size_t at = size;
      while (at > 0 && u[at - 1] > k) --at;
      if (at > 0 && u[at - 1] == k) continue;
      std::copy_backward(u.begin() + static_cast<std::ptrdiff_t>(at), u.begin() + static_cast<std::ptrdiff_t>(size),
                         u.begin() + static_cast<std::ptrdiff_t>(size) + 1);
      u[at] = k;
      if (form.linear[k] != 0) a[sets_.number(u.data(), size + 1)] += t.value * form.linear[k];
      if (size + 2 <= sets_.most()) {
        // For l between two elements of u, the number of u ∪ {l} is a constant plus C(l, place of l).
        const double* square = form.square.data() + k * n;
        for (std::size_t p = at + 1; p <= size + 1; ++p) {
          std::uint64_t base = sets_.offset(size + 2);
          for (std::size_t i = 0; i < p; ++i) base += sets_.choose(u[i], i + 1);
          for (std::size_t i = p; i <= size; ++i) base += sets_.choose(u[i], i + 2);
          const std::uint64_t* column = sets_.column(p + 1);
          const std::size_t end = p <= size ? u[p] : n;
          for (std::size_t l = u[p - 1] + 1; l < end; ++l) a[base + column[l]] += t.value * square[l];
        }
      }
      std::copy(u.begin() + static_cast<std::ptrdiff_t>(at) + 1, u.begin() + static_cast<std::ptrdiff_t>(size) + 1,
                u.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
}

double Expansion::choices(const std::uint32_t* elements, std::size_t k) const {
  double product = 1;
  if (!plain_)
    for (std::size_t i = 0; i < k; ++i) product *= slots_[elements[i]].multiplicity;
  return product;
}

void Expansion::rank(Control& control) {
  const std::uint64_t total = sets_.size();
  const auto size_of = [&](std::uint64_t set, std::size_t c) {  // |a_c(S)|, the last class from the others
    if (c + 1 < n_classes_) return std::abs(a_[c][set]);
    double sum = 0;
    for (const auto& a : a_) sum += a[set];
    return std::abs(sum);
  };
  const auto largest = [&](std::uint64_t set) {
    double size = 0;
    for (std::size_t c = 0; c < n_classes_; ++c) size = std::max(size, size_of(set, c));
    return size;
  };
  std::vector<double> need(total, 0.0);
  std::vector<std::uint32_t> elements(sets_.most() + 1), smaller(sets_.most() + 1);
  for (std::size_t k = sets_.most(); k > 0; --k) {
    for (std::size_t i = 0; i < k; ++i) elements[i] = static_cast<std::uint32_t>(i);
    for (std::uint64_t set = sets_.offset(k); set < sets_.offset(k + 1); ++set, Subsets::next(elements.data(), k)) {
      if ((set & 0xffff) == 0) control.check(true, "ranking the rules", 0, 0);
      need[set] = std::max(need[set], largest(set) * choices(elements.data(), k));
      if (!(need[set] > 0)) continue;
      order_.push_back(set);
      for (std::size_t i = 0; k > 1 && i < k; ++i) {
        std::copy_n(elements.data(), i, smaller.data());
        std::copy(elements.data() + i + 1, elements.data() + k, smaller.data() + i);
        double& below = need[sets_.number(smaller.data(), k - 1)];
        below = std::max(below, need[set]);
      }
    }
  }
  // Equal needs are common (a set and the one it is needed for): larger sets go first, then those that cost least.
  const auto degree = [&](std::uint64_t set) {
    std::size_t k = 1;
    while (set >= sets_.offset(k + 1)) ++k;
    return k;
  };
  std::sort(order_.begin(), order_.end(), [&](std::uint64_t a, std::uint64_t b) {
    if (need[a] != need[b]) return need[a] < need[b];
    if (const std::size_t x = degree(a), y = degree(b); x != y) return x > y;
    if (const double x = largest(a), y = largest(b); x != y) return x < y;
    return a < b;
  });
  left_out_.reserve(order_.size());
  std::vector<double> sum(n_classes_, 0.0);
  for (std::uint64_t set : order_) {
    const double m = plain_ ? 1.0 : choices(elements.data(), sets_.elements(set, elements.data()));
    for (std::size_t c = 0; c < n_classes_; ++c) sum[c] += m * size_of(set, c);
    left_out_.push_back(*std::max_element(sum.begin(), sum.end()) * (1 + kRounding));
  }
}

std::size_t Expansion::dropped(double epsilon) const {
  return static_cast<std::size_t>(std::upper_bound(left_out_.begin(), left_out_.end(), epsilon) - left_out_.begin());
}

Expansion::Point Expansion::point(double epsilon) const {
  const std::size_t n = dropped(epsilon);
  Point out{order_.size() - n, n == 0 ? 0.0 : left_out_[n - 1]};
  if (plain_) return out;
  out.n_rules = 0;
  std::vector<std::uint32_t> elements(sets_.most() + 1);
  for (std::size_t k = n; k < order_.size(); ++k)
    out.n_rules += static_cast<std::uint64_t>(choices(elements.data(), sets_.elements(order_[k], elements.data())));
  return out;
}

Rules Expansion::rules(double epsilon, Control& control) const {
  const std::size_t n_asked = n_classes_ - 1, gone = dropped(epsilon);
  const Point size = point(epsilon);
  control.check_memory(static_cast<std::size_t>(size.n_rules) * (8 * n_classes_ + 8 + 4 * sets_.most()) +
                       (order_.size() - gone) * 8 * (n_asked + 1));
  std::vector<std::uint64_t> kept(order_.begin() + static_cast<std::ptrdiff_t>(gone), order_.end());
  kept.push_back(0);
  std::sort(kept.begin(), kept.end());
  // Y_k counts the tests of a slot that have their rarer outcome, so Z_k = ±(2 Y_k − m_k): every set gives something to
  // its subsets, and all of these are kept.
  std::vector<double> b(kept.size() * n_asked, 0.0);
  std::vector<std::uint32_t> elements(sets_.most() + 1), part(sets_.most() + 1);
  for (std::size_t at = 0; at < kept.size(); ++at) {
    if ((at & 0xfff) == 0) control.check(true, "writing the rules", at, kept.size());
    const std::size_t k = sets_.elements(kept[at], elements.data());
    for (std::uint64_t mask = 0; mask < std::uint64_t{1} << k; ++mask) {
      double factor = 1;
      std::size_t n = 0;
      for (std::size_t i = 0; i < k; ++i)
        if (mask >> i & 1) {
          part[n++] = elements[i];
          factor *= 2 * sign_[elements[i]];
        } else {
          factor *= -sign_[elements[i]] * slots_[elements[i]].multiplicity;
        }
      const std::uint64_t set = sets_.number(part.data(), n);
      const auto to = static_cast<std::size_t>(
          std::lower_bound(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(at), set) - kept.begin());
      for (std::size_t c = 0; c < n_asked; ++c) b[to * n_asked + c] += factor * a_[c][kept[at]];
    }
  }

  Rules out;
  out.bound = size.bound;
  out.begin.push_back(0);
  std::vector<std::size_t> choice;
  for (std::size_t at = 0; at < kept.size(); ++at) {
    const double* move = b.data() + at * n_asked;
    double rest = 0;
    for (std::size_t c = 0; c < n_asked; ++c) rest += move[c];
    const std::size_t k = sets_.elements(kept[at], elements.data());
    if (k == 0) {
      out.base.assign(move, move + n_asked);
      out.base.push_back(1.0 - rest);
      continue;
    }
    choice.assign(k, 0);
    for (bool more = true; more;) {
      for (std::size_t i = 0; i < k; ++i)
        out.items.push_back(slots_[elements[i]].members[choice[i]] ^ (sign_[elements[i]] > 0 ? 1u : 0u));
      std::sort(out.items.end() - static_cast<std::ptrdiff_t>(k), out.items.end());
      out.begin.push_back(out.items.size());
      out.moves.insert(out.moves.end(), move, move + n_asked);
      out.moves.push_back(-rest);
      more = false;
      for (std::size_t i = 0; i < k && !more; ++i) {
        more = ++choice[i] < slots_[elements[i]].members.size();
        if (!more) choice[i] = 0;
      }
    }
  }
  return out;
}

}  // namespace everytree
