#include "down/quadratic_form.hpp"

#include <algorithm>

namespace everytree {

std::vector<Slot> make_slots(const CountTable& table, const Prior& prior, std::vector<std::uint32_t>& first_slot) {
  const auto& classes = table.test_classes();
  std::vector<Slot> slots;
  first_slot.assign(classes.size() + 1, 0);
  for (std::uint32_t k = 0; k < classes.size(); ++k) {
    first_slot[k] = static_cast<std::uint32_t>(slots.size());
    if (prior.fair)
      for (std::uint32_t member : classes[k].members) slots.push_back({k, member & 1, 1.0, {member & ~1u}});
    else
      slots.push_back({k, 0, static_cast<double>(classes[k].members.size()), classes[k].members});
  }
  first_slot[classes.size()] = static_cast<std::uint32_t>(slots.size());
  return slots;
}

void QuadraticForm::build(OneLevelFold& fold, const ProductWeights& weights, const OneLevel& level,
                          const std::vector<Slot>& slots, const std::vector<std::uint32_t>& first_slot,
                          std::size_t stride, const std::vector<LeafValue>& values) {
  const Frontier& f = fold.frontier();
  const Prior& prior = weights.prior();
  const Dirichlet& leaf = weights.leaf();
  const std::size_t n = level.n, n_slots = slots.size();
  const std::size_t depth = fold.depth();
  const std::size_t n_values = values.size();
  const bool local = f.table().local();
  // use(slot, test, flipped) for every single test of a split.
  const auto for_each_test = [&](std::size_t i, auto&& use) {
    for (const std::uint32_t* p = f.parts_begin(i); p != f.parts_end(i); ++p)
      if (local)
        use(0u, *p >> 1, *p & 1);
      else
        for (std::uint32_t k = first_slot[*p >> 1]; k < first_slot[(*p >> 1) + 1]; ++k)
          use(k, slots[k].members[0] >> 1, (*p & 1) ^ slots[k].flipped);
  };

  double total = level.state_leaf;
  for (std::size_t i = 0; i < n; ++i)
    total += level.weight[i] * (level.leaf[1][i] + level.split[1][i]) * (level.leaf[0][i] + level.split[0][i]);

  // The variables: splits, or single tests where shares differ within a split. Tests that the frontier keeps apart are
  // splits of their own, whose shares are in the weights and terms: german-credit's 1,000 predictions took half as long
  // again with shares looked up once more.
  const bool single = prior.fair && !weights.apart();
  elements_.clear();
  first_.assign(n + 1, 0);
  if (single) {
    shares_.begin(prior);
    for (std::size_t i = 0; i < n; ++i)
      for_each_test(i, [&](std::uint32_t, std::uint32_t test, std::uint32_t) { shares_.add(test); });
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    first_[i] = static_cast<std::uint32_t>(elements_.size());
    if (!single) {
      elements_.push_back({i, 0, 0, 0, f.multiplicity(i), level.weight[i] / (f.multiplicity(i) * total)});
      continue;
    }
    double mass = 0;
    for_each_test(i, [&](std::uint32_t k, std::uint32_t test, std::uint32_t flipped) {
      const double share = shares_.share(test);
      mass += share;
      elements_.push_back({i, k, test, flipped, 1.0, share});
    });
    for (std::size_t e = first_[i]; e < elements_.size(); ++e) elements_[e].unit *= level.weight[i] / (mass * total);
  }
  const std::size_t n_elements = elements_.size();
  if (local) stride = this->stride();
  matrix_size_ = (local ? size() : n_slots + 1) * stride;
  matrix_.assign(n_values * matrix_size_, 0.0);
  if (n_values == 0) return;
  first_[n] = static_cast<std::uint32_t>(n_elements);

  for (auto& t : term_) t.resize(f.stride());
  double* const term[2] = {term_[0].data(), term_[1].data()};
  a_.assign(n_values * n_elements * n_elements, 0.0);
  b_.assign(n_values * (n_elements + 1), 0.0);  // last entry: the constant
  factor_.assign(2 * n_elements, 0.0);
  per_test_.resize(n);
  for (std::size_t j = 0; j < n; ++j) per_test_[j] = 1 / f.multiplicity(j);
  const Kernels& kernel = f.kernel();
  zero_.resize(n);
  both_.resize(n);
  each_.assign(n, 1.0);
  for (auto& d : difference_) d.resize(n_elements);
  for (std::size_t v = 0; v < n_values; ++v)
    b_[v * (n_elements + 1) + n_elements] =
        level.state_leaf / total *
        values[v](f.totals()[values[v].cls] + leaf.a(depth, values[v].cls), f.total() + leaf.sum_a(depth));

  for (std::size_t i = 0; i < n; ++i) {
    fold.terms(weights, level, i, term);
    fold.load_pairs(i);
    const double full[2] = {level.leaf[0][i] + level.split[0][i], level.leaf[1][i] + level.split[1][i]};
    // factor[a][e]: the share of element e in the term of its split at child a.
    for (int a = 0; a < 2; ++a) {
      double* factor = factor_.data() + static_cast<std::size_t>(a) * n_elements;
      if (!single) {
        for (std::size_t j = 0; j < n; ++j) factor[j] = full[1 - a] * per_test_[j];
        continue;
      }
      shares_.begin(prior);
      for (const Element& e : elements_)
        if (e.split != i && fold.feasible(e.split, a)) shares_.add(e.test);
      for (std::size_t j = 0; j < n; ++j) {
        if (j == i || !fold.feasible(j, a)) continue;
        double mass = 0;
        for (std::size_t e = first_[j]; e < first_[j + 1]; ++e) mass += factor[e] = shares_.share(elements_[e].test);
        for (std::size_t e = first_[j]; e < first_[j + 1]; ++e) factor[e] *= full[1 - a] / mass;
      }
    }
    for (std::size_t v = 0; v < n_values; ++v) {
      const std::size_t c = values[v].cls;
      double at_zero[2];  // K_a: the child's value when every second test says 0
      for (int a = 0; a < 2; ++a) {
        const std::int32_t n_c = a == 1 ? f.count(c, i) : f.totals()[c] - f.count(c, i);
        const std::int32_t n_side = a == 1 ? f.total(i) : f.total() - f.total(i);
        at_zero[a] =
            full[1 - a] * level.leaf[a][i] * values[v](n_c + leaf.a(depth + 1, c), n_side + leaf.sum_a(depth + 1));
        double* difference = difference_[a].data();
        if (!(level.tests[a][i] > 0)) {
          std::fill(difference, difference + n_elements, 0.0);
          continue;
        }
        const PairValues pairs = fold.pair_values(values[v], leaf.a(depth + 2, c), leaf.sum_a(depth + 2));
        const double* factor = factor_.data() + static_cast<std::size_t>(a) * n_elements;
        if (!single) {  // elements are splits, and factor · m is the same for all
          at_zero[a] += full[1 - a] * kernel.pair_values(pairs, a, term[a], factor, n, difference, zero_.data());
          continue;
        }
        kernel.pair_values(pairs, a, term[a], each_.data(), n, both_.data(), zero_.data());
        for (std::size_t e = 0; e < n_elements; ++e) {
          const Element& x = elements_[e];
          const double change = factor[e] * both_[x.split];
          difference[e] = x.flipped ? -change : change;
          at_zero[a] += factor[e] * zero_[x.split] + (x.flipped ? change : 0.0);
        }
      }
      double* linear = b_.data() + v * (n_elements + 1);
      for (std::size_t p = first_[i]; p < first_[i + 1]; ++p) {
        // Outcome 1 of the element leads to side 1, or to side 0 if it is flipped.
        const Element& x = elements_[p];
        const int one = x.flipped ? 0 : 1, zero = 1 - one;
        linear[n_elements] += x.unit * x.m * at_zero[zero];
        linear[p] += x.unit * (at_zero[one] - at_zero[zero]);
        double* row = a_.data() + (v * n_elements + p) * n_elements;
        const double *d1 = difference_[one].data(), *d0 = difference_[zero].data();
        kernel.add_row(d1, d0, x.unit * x.m, x.unit, n_elements, linear, row);
      }
    }
  }

  // Rewrite over the slots. A split's variable is Σ_parts (y_k, or m_k − y_k where the part is flipped).
  const auto add = [&](double* matrix, std::size_t k, std::size_t l, double x) {
    matrix[std::min(k, l) * stride + std::max(k, l)] += x;
  };
  for (std::size_t v = 0; v < n_values; ++v) {
    double* matrix = matrix_.data() + v * matrix_size_;
    const double* a = a_.data() + v * n_elements * n_elements;
    const double* linear = b_.data() + v * (n_elements + 1);
    double constant = linear[n_elements];
    if (local) {
      for (std::size_t p = 0; p < n_elements; ++p) {
        double* row = matrix + p * stride;
        for (std::size_t q = p + 1; q < n_elements; ++q) row[q] = a[p * n_elements + q] + a[q * n_elements + p];
        row[n_elements] = linear[p];
      }
      matrix[n_elements * stride + n_elements] = constant;
      continue;
    }
    if (single) {
      for (std::size_t p = 0; p < n_elements; ++p) {
        add(matrix, elements_[p].slot, n_slots, linear[p]);
        for (std::size_t q = 0; q < n_elements; ++q)
          add(matrix, elements_[p].slot, elements_[q].slot, a[p * n_elements + q]);
      }
    } else {
      // Most splits are a single class in its own orientation: then the variable is the slot.
      offset_.assign(n, 0.0);
      bool plain = true;
      for (std::size_t i = 0; i < n; ++i) {
        plain = plain && f.parts_end(i) - f.parts_begin(i) == 1 && !(*f.parts_begin(i) & 1);
        for (const std::uint32_t* p = f.parts_begin(i); p != f.parts_end(i); ++p)
          if (*p & 1) offset_[i] += slots[*p >> 1].multiplicity;
      }
      if (plain) {
        slot_of_.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
          slot_of_[i] = *f.parts_begin(i) >> 1;
          matrix[slot_of_[i] * stride + n_slots] = linear[i];
        }
        // Splits are in the order of their slots, so i < j is the upper triangle. In tiles of a cache line: whole
        // columns of a_ would be read a line for every number.
        for (std::size_t from_i = 0; from_i < n; from_i += 8)
          for (std::size_t from_j = from_i; from_j < n; from_j += 8)
            for (std::size_t i = from_i; i < std::min(n, from_i + 8); ++i)
              for (std::size_t j = std::max(i + 1, from_j); j < std::min(n, from_j + 8); ++j)
                matrix[slot_of_[i] * stride + slot_of_[j]] = a[i * n + j] + a[j * n + i];
      }
      for (std::size_t i = 0; i < n && !plain; ++i) {
        double b = linear[i];
        for (std::size_t j = 0; j < n; ++j)
          if (offset_[j] != 0) b += (a[i * n + j] + a[j * n + i]) * offset_[j];
        for (const std::uint32_t* p = f.parts_begin(i); p != f.parts_end(i); ++p)
          matrix[(*p >> 1) * stride + n_slots] += *p & 1 ? -b : b;
        constant += linear[i] * offset_[i];
        for (std::size_t j = i + 1; j < n; ++j) {
          const double x = a[i * n + j] + a[j * n + i];
          constant += x * offset_[i] * offset_[j];
          for (const std::uint32_t* p = f.parts_begin(i); p != f.parts_end(i); ++p)
            for (const std::uint32_t* q = f.parts_begin(j); q != f.parts_end(j); ++q)
              add(matrix, *p >> 1, *q >> 1, (*p ^ *q) & 1 ? -x : x);
        }
      }
    }
    matrix[n_slots * stride + n_slots] = constant;
  }
}

}  // namespace everytree
