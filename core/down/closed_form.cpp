#include "down/closed_form.hpp"

#include <algorithm>
#include <utility>

namespace everytree {

namespace {

// RowKernels::mean_sums multiplies four sums of parameters and counts.
constexpr double kLeastSum = 1e-50, kGreatestSum = 1e50;

}  // namespace

void ClosedForm::begin(const OneLevelFold& fold, bool by_group) {
  const Frontier& f = fold.frontier();
  const auto& classes = f.table().test_classes();
  elements_.clear();
  for (std::uint32_t g = 0; g < f.n_groups(); ++g) {
    if (by_group) {
      elements_.push_back({g, 0, 0, false});
      continue;
    }
    const std::uint32_t* upper = f.uppers_begin(g);
    for (const std::uint32_t* p = f.parts_begin(g); p != f.parts_end(g); ++p, ++upper)
      for (std::uint32_t member : classes[*p >> 1].members)
        elements_.push_back({g, member >> 1, *upper, ((*p ^ member) & 1) != 0});
  }
  plain_ = elements_.size() == f.n_groups();
  multiplicity_.clear();
  if (by_group) multiplicity_.assign(f.multiplicities(), f.multiplicities() + f.n_groups());
}

void ClosedForm::reset(std::size_t n_values, const OneLevelFold& fold) {
  const Frontier& f = fold.frontier();
  if (forms_.size() < n_values) forms_.resize(n_values);
  stride_ = (f.n_groups() + 7) & ~std::size_t{7};
  pairs_ = fold.has_pairs();
  for (std::size_t v = 0; v < n_values; ++v) {
    forms_[v].matrix.resize(pairs_ ? f.n_groups() * stride_ : 0);
    forms_[v].linear.assign(stride_, 0.0);
    forms_[v].constant = forms_[v].size = 0;
  }
  for (auto& factor : factor_) factor.resize(f.stride());
}

PairSums ClosedForm::sums(std::size_t value, std::size_t i, const Frontier& f) {
  Form& form = forms_[value];
  return {f.multiplicity(i), form.matrix.data() + i * stride_, form.linear.data(), &form.constant, &form.size};
}

void ClosedForm::build(OneLevelFold& fold, const ProductWeights& weights, const OneLevel& level,
                       const std::vector<LeafValue>& values) {
  const Frontier& f = fold.frontier();
  const Dirichlet& leaf = weights.leaf();
  const std::size_t n = f.n_groups(), depth = fold.depth();
  const PairCounts counts = fold.pair_counts();
  reset(values.size(), fold);
  for (std::size_t v = 0; v < values.size(); ++v) {
    const std::size_t c = values[v].cls;
    Form& form = forms_[v];
    form.constant = fold.state_mass(level) * values[v](f.totals()[c] + leaf.a(depth, c), f.total() + leaf.sum_a(depth));
    for (std::size_t i = 0; i < n; ++i) {
      double own[2];
      for (int a = 0; a < 2; ++a) {
        const std::int32_t n_c = a == 1 ? f.count(c, i) : f.totals()[c] - f.count(c, i);
        const std::int32_t n_side = a == 1 ? f.total(i) : f.total() - f.total(i);
        own[a] = fold.leaf_mass(level, i, a) * values[v](n_c + leaf.a(depth + 1, c), n_side + leaf.sum_a(depth + 1));
      }
      form.constant += f.multiplicity(i) * own[0];
      form.linear[i] += own[1] - own[0];
    }
  }
  const bool means = std::any_of(values.begin(), values.end(),
                                 [](const LeafValue& value) { return value.kind == LeafValue::Kind::mean; });
  double* const factor[4] = {factor_[0].data(), factor_[1].data(), factor_[2].data(), factor_[3].data()};
  const double sum_a = leaf.sum_a(depth + 2);
  const bool only_means = std::all_of(values.begin(), values.end(),
                                      [](const LeafValue& value) { return value.kind == LeafValue::Kind::mean; });
  if (only_means && sum_a > kLeastSum && sum_a < kGreatestSum) {
    const RowKernels& kernels = row_kernels();
    for (std::size_t i = 0; i < n && fold.has_pairs(); ++i) {
      const OneLevelFold::PairRow row = fold.next_masses(weights, i);
      terms_.clear();
      for (std::size_t v = 0; v < values.size(); ++v)
        terms_.push_back({values[v].cls, leaf.a(depth + 2, values[v].cls), sums(v, i, f)});
      kernels.mean_sums(counts, row.pair, row.total, i, n, sum_a, row.mass, f.multiplicities(), terms_.data(),
                        terms_.size());
    }
    spread(values.size());
    return;
  }
  for (std::size_t i = 0; i < n && fold.has_pairs(); ++i) {
    const OneLevelFold::PairRow row = fold.next_masses(weights, i);
    if (means)
      f.kernel().mass_factors(counts, row.pair, row.total, i, n, {sum_a, 0, nullptr, nullptr}, row.mass, factor);
    for (std::size_t v = 0; v < values.size(); ++v) {
      const LeafTerm term{static_cast<std::int32_t>(values[v].kind),
                          values[v].cls,
                          leaf.a(depth + 2, values[v].cls),
                          sum_a,
                          values[v].centre,
                          1 / values[v].per_example};
      f.kernel().leaf_sums(counts, row.pair, row.total, i, n, term, term.kind == 0 ? factor : row.mass,
                           f.multiplicities(), sums(v, i, f));
    }
  }
  spread(values.size());
}

void ClosedForm::build(OneLevelFold& fold, const ProductWeights& weights, const OneLevel& level,
                       const std::vector<LeftOut>& left_out) {
  const Frontier& f = fold.frontier();
  const Dirichlet& leaf = weights.leaf();
  const std::size_t n = f.n_groups(), n_classes = f.table().n_classes(), depth = fold.depth();
  const PairCounts counts = fold.pair_counts();
  reset(left_out.size() * n_classes, fold);
  const auto taken = [](std::size_t c, std::size_t y) { return c == y ? std::int32_t{1} : std::int32_t{0}; };
  for (std::size_t k = 0; k < left_out.size(); ++k) {
    const LeftOut& out = left_out[k];
    for (std::size_t i = 0; i < n; ++i) {
      double weight[2];
      for (int a = 0; a < 2; ++a) {
        const std::int32_t n_y = a == 1 ? f.count(out.y, i) : f.totals()[out.y] - f.count(out.y, i);
        const std::int32_t n_side = a == 1 ? f.total(i) : f.total() - f.total(i);
        weight[a] = fold.leaf_mass(level, i, a) * out.own[0][n_y] * out.all[0][n_side];
      }
      for (std::size_t c = 0; c < n_classes; ++c) {
        Form& form = forms_[k * n_classes + c];
        const std::int32_t less = taken(c, out.y), n_c = f.count(c, i);  // first, so that a small a keeps its digits
        const double more = leaf.a(depth + 1, c);
        const double own[2] = {weight[0] * (f.totals()[c] - n_c - less + more), weight[1] * (n_c - less + more)};
        form.constant += f.multiplicity(i) * own[0];
        form.linear[i] += own[1] - own[0];
        form.size += f.multiplicity(i) * (own[0] + own[1]);
      }
    }
  }
  double* const factor[4] = {factor_[0].data(), factor_[1].data(), factor_[2].data(), factor_[3].data()};
  for (std::size_t i = 0; i < n && fold.has_pairs(); ++i) {
    const OneLevelFold::PairRow row = fold.next_masses(weights, i);
    for (std::size_t k = 0; k < left_out.size(); ++k) {
      const LeftOut& out = left_out[k];
      f.kernel().mass_factors(counts, row.pair, row.total, i, n, {0.0, out.y, out.own[1], out.all[1]}, row.mass,
                              factor);
      for (std::size_t c = 0; c < n_classes; ++c)
        f.kernel().leaf_sums(counts, row.pair, row.total, i, n,
                             {0, c, leaf.a(depth + 2, c), 0.0, 0.0, 1.0, taken(c, out.y)}, factor, f.multiplicities(),
                             sums(k * n_classes + c, i, f));
    }
  }
  spread(left_out.size() * n_classes);
}

void ClosedForm::spread(std::size_t n_values) {
  // A split whose tests agree is one element that counts as often as there are tests.
  for (std::size_t v = 0; v < n_values; ++v)
    for (std::size_t i = 0; i < multiplicity_.size(); ++i) {
      forms_[v].linear[i] *= multiplicity_[i];
      if (!pairs_) continue;
      double* row = forms_[v].matrix.data() + i * stride_;
      for (std::size_t j = i + 1; j < multiplicity_.size(); ++j) row[j] *= multiplicity_[i] * multiplicity_[j];
    }
  const std::size_t n = elements_.size(), stride = plain_ ? stride_ : (n + 7) & ~std::size_t{7};
  if (!pairs_) zeros_.assign(n * stride, 0.0);
  if (plain_) return;
  for (std::size_t v = 0; v < n_values; ++v) {
    Form& form = forms_[v];
    if (pairs_) {
      wide_.assign(n * stride, 0.0);
      for (std::size_t e = 0; e < n; ++e)
        for (std::size_t x = e + 1; x < n; ++x)
          if (elements_[x].group != elements_[e].group)
            wide_[e * stride + x] = form.matrix[elements_[e].group * stride_ + elements_[x].group];
      std::swap(form.matrix, wide_);
    }
    wide_.assign(stride, 0.0);
    for (std::size_t e = 0; e < n; ++e) wide_[e] = form.linear[elements_[e].group];
    std::swap(form.linear, wide_);
  }
  stride_ = stride;
}

const double* ClosedForm::cell_means(std::size_t n_means, const RowKernels& kernels) {
  const std::size_t n = elements_.size(), width = cell_width(n_means);
  // In the order of RowKernels::cell_table; what the last class has is what remains of 1.
  coefficients_.assign(width * (1 + n * (n + 1) / 2), 0.0);
  double* to = coefficients_.data();
  const auto put = [&](double whole, auto&& of) {
    for (std::size_t v = 0; v < n_means; ++v) whole -= to[v] = of(forms_[v]);
    to[n_means] = whole;
    to += width;
  };
  put(1.0, [](const Form& form) { return form.constant; });
  for (std::size_t i = 0; i < n; ++i) {
    put(0.0, [i](const Form& form) { return form.linear[i]; });
    for (std::size_t j = i + 1; j < n; ++j)
      put(0.0, [this, at = i * stride_ + j](const Form& form) { return matrix_of(form)[at]; });
  }
  cells_.resize(width << n);
  kernels.cell_table(coefficients_.data(), n, width, cells_.data());
  return cells_.data();
}

void ClosedForm::cells_of(const Patterns& patterns, std::size_t n_tests, std::vector<std::uint8_t>& cells) {
  cells.resize(patterns.n_rows);
  const std::uint16_t *low = patterns.run_of(0), *high = n_tests > 4 ? patterns.run_of(4) : nullptr;
  for (std::size_t r = 0; r < patterns.n_rows; ++r)
    cells[r] = static_cast<std::uint8_t>(low[r] >> 3 | (high == nullptr ? 0 : high[r] << 1));
}

void ClosedForm::ask(const Patterns& patterns) {
  patterns_ = &patterns;
  by_runs_ = pairs_ && runs_.find(patterns, elements_.size());
}

// Four elements at a time: their sixteen sums, of which a row takes that of its outcomes.
void ClosedForm::singles(const Form& form, double* out) const {
  const Patterns& patterns = *patterns_;
  std::fill_n(out, patterns.n_rows, 0.0);
  for (std::size_t e = 0; e < elements_.size(); e += 4) {
    double sum[16] = {};
    for (std::size_t pattern = 1; pattern < 16; ++pattern)
      for (std::size_t b = 0; b < 4; ++b)
        if (8 * pattern & Patterns::bit(b)) sum[pattern] += form.linear[e + b];
    const std::uint16_t* run = patterns.run_of(e);
    for (std::size_t r = 0; r < patterns.n_rows; ++r) out[r] += sum[run[r] / 8];
  }
}

void ClosedForm::evaluate(std::size_t value, const Kernels& kernels, double* out) {
  Form& form = forms_[value];
  const Patterns& patterns = *patterns_;
  if (!pairs_) {
    singles(form, out);
  } else if (by_runs_) {
    grid_sums(runs_, form.matrix.data(), stride_, form.linear.data(), out);
  } else {
    const std::size_t n = elements_.size();
    const std::size_t wanted = 16 * patterns.pitch + n + 16;
    if (scratch_.capacity() < wanted) std::vector<double>().swap(scratch_);  // not the old one beside the new one
    scratch_.resize(wanted);
    double* scratch = scratch_.data();
    while (reinterpret_cast<std::uintptr_t>(scratch) % 64 != 0) ++scratch;
    kernels.pattern_sums(form.matrix.data(), stride_, n, form.linear.data(), patterns.bits.data(), patterns.pitch,
                         patterns.n_rows, scratch, out);
  }
  for (std::size_t r = 0; r < patterns.n_rows; ++r) out[r] += form.constant;
}

}  // namespace everytree
