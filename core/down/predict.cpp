// Averages over every tree of what its leaf says about a row: P(class | row), and the moments of θ.
//
// ρ(s, x), the posterior probability that the path of row x passes through state s, flows down the inner states (see
// row_flow.hpp). At a closed state the row's contribution depends on x only through the outcomes of the two tests
// below, so the average of a leaf value f is a quadratic form in y_k(x) = number of tests of class k that hold for x:
//     f(x) = const + Σ_k b_k y_k + Σ_{k<l} A_kl y_k y_l
// The matrix is built once per state and serves every row that reaches it.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <optional>

#include "common/errors.hpp"
#include "common/parallel.hpp"
#include "down/posterior.hpp"
#include "down/row_flow.hpp"
#include "down/row_polynomial.hpp"
#include "down/row_sums.hpp"
#include "kernels/row_kernels.hpp"

namespace everytree {

namespace {

constexpr std::size_t kFlowBytes = std::size_t{1} << 28;
constexpr std::size_t kWide = 500;  // tests of a state whose form alone takes milliseconds
// Rows that pass a closed state with less probability are not sent there: all together they could not move the last
// digit of a probability.
constexpr double kNothing = 1e-18;

// What is asked of the leaves: the means of all classes but the last, which is what remains of 1; and for the moments
// two more values for each class. With two classes those are the same for both.
struct Asked {
  Asked(std::size_t n_classes, bool moments, double per_example) : means(n_classes - 1) {
    using Kind = LeafValue::Kind;
    values = class_means(means);
    if (!moments || n_classes == 1) return;
    variances = n_classes == 2 ? 1 : n_classes;
    for (std::size_t c = 0; c < variances; ++c) values.push_back({Kind::spread, c, 0, per_example});
    for (std::size_t c = 0; c < variances; ++c) values.push_back({Kind::within, c, 0, per_example});
  }
  std::size_t means, variances = 0;
  std::vector<LeafValue> values;
};

// m, v, u of one leaf for every class.
struct OneLeaf {
  OneLeaf(std::size_t n_classes) : mean(n_classes), between(n_classes, 0.0), within(n_classes) {}
  void set(const std::int32_t* counts, std::int32_t total, const Dirichlet& leaf, std::size_t depth) {
    for (std::size_t c = 0; c < mean.size(); ++c) {
      const double mass = counts[c] + leaf.a(depth, c), sum = total + leaf.sum_a(depth);
      mean[c] = mass / sum;
      within[c] = mean.size() == 1 ? 0.0 : LeafValue::of<LeafValue::Kind::within>(mass, sum, 0, leaf.per_example());
    }
  }
  std::vector<double> mean, between, within;
};

}  // namespace

void Posterior::predict(const NewRows& rows, double* out, Control& control) const {
  average(rows, false, out, control);
}

void Posterior::moments(const NewRows& rows, double* out, Control& control) const { average(rows, true, out, control); }

void Posterior::average(const NewRows& rows, bool moments, double* out, Control& control) const {
  if ((rows.reach != nullptr) != graph_->table().local())
    throw InvalidInput("rows are given by their outcomes, or by their reach where states choose their tests");
  // Equal rows are asked once: a batch often holds many.
  const std::size_t n_rows = rows.n_rows, width_in = rows.row_bytes();
  const std::size_t width = (moments ? 3 : 1) * graph_->table().n_classes();
  // The posterior, and of the rows their order and the answer, `out`.
  std::size_t held = bytes() + n_rows * (width * sizeof(double) + 2 * sizeof(std::uint32_t));
  control.check_memory(held);
  std::vector<std::uint32_t> order(n_rows), distinct(n_rows);
  std::iota(order.begin(), order.end(), 0u);
  // Sorting and copying many rows takes longer than a limit may be missed by.
  std::size_t touched = 0;
  const auto look = [&](std::size_t bytes) {
    if ((touched += bytes) < (std::size_t{1} << 20)) return;
    touched = 0;
    control.check(true, "predicting", 0, 0);
  };
  const auto compare = [&](std::uint32_t a, std::uint32_t b) {
    look(32);
    return width_in == 0 ? 0 : std::memcmp(rows.bytes(a), rows.bytes(b), width_in);
  };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const int c = compare(a, b);
    return c != 0 ? c < 0 : a < b;
  });
  std::size_t n_distinct = 0;
  for (std::size_t k = 0; k < n_rows; ++k) {
    n_distinct += k == 0 || compare(order[k - 1], order[k]) != 0;
    distinct[order[k]] = static_cast<std::uint32_t>(n_distinct - 1);
  }
  if (n_distinct == n_rows) return average_distinct(rows, moments, out, held, control);
  control.check_memory(held += n_distinct * (width_in + width * sizeof(double)));
  std::vector<std::uint8_t> copies(n_distinct * width_in);
  for (std::size_t r = 0; width_in > 0 && r < n_rows; ++r)
    std::memcpy(copies.data() + distinct[r] * width_in, rows.bytes(r), width_in);
  std::vector<double> answers(n_distinct * width);
  NewRows asked{copies.data(), nullptr, n_distinct, rows.n_tests};
  // Vectors are aligned for any type of number.
  if (rows.reach != nullptr)
    asked = {nullptr, reinterpret_cast<const std::uint16_t*>(copies.data()), n_distinct, rows.n_tests};
  average_distinct(asked, moments, answers.data(), held, control);
  for (std::size_t r = 0; r < n_rows; ++r) {
    look(width * sizeof(double));
    std::copy_n(answers.data() + distinct[r] * width, width, out + r * width);
  }
}

void Posterior::average_distinct(const NewRows& rows, bool moments, double* out, std::size_t held,
                                 Control& control) const {
  const std::size_t n_rows = rows.n_rows;
  if (n_rows == 0) return;
  const CountTable& table = graph_->table();
  const std::size_t n_classes = table.n_classes();
  const Prior& prior = weights_.prior();
  const Dirichlet& leaf = weights_.leaf();
  const Asked asked(n_classes, moments, weights_.leaf().per_example());

  control.check_memory(held += RowFlow::bytes_of(*graph_));
  RowFlow flow(*graph_, prior);
  for (std::size_t k = 0; k < flow.inner.size(); ++k) {
    InnerNode node;
    inner_node(flow.inner[k], node);
    flow.leaf[k] = node.leaf;
    flow.unit[k] = std::move(node.split);
    if (prior.fair || !prior.per_test) continue;
    for (double& p : flow.unit[k]) p /= prior.share_divisor(graph_->state(flow.inner[k]).n_tests);
  }
  // Where the kernels that see each pair once do not serve, rows are given by slots.
  const bool with_y = !(weights_.relative() && leaf.tabulated(table.total())) || (prior.fair && !weights_.apart());
  // Of one row in a batch: its flow and outcomes, the sums of all parts; and the values that each thread asks for. As
  // if all parts had a thread, the size of a batch is the same for any number of them: it decides where cells pay, and
  // so the last bit.
  const std::size_t row_bytes = 8 * (flow.inner.size() + 1) + 3 * table.n_tests() + (with_y ? 8 * flow.stride : 0) +
                                8 * (kParts + 2) * (moments ? 3 : 1) * n_classes,
                    asked_bytes = 8 * (asked.values.size() + n_classes + 8);
  const std::size_t batch = std::clamp<std::size_t>(
      std::min(kFlowBytes, (control.memory_limit - held) / 4) / (row_bytes + kParts * asked_bytes), 32, 4096);
  control.check_memory(held += std::min(batch, n_rows) * (row_bytes + n_threads_ * asked_bytes));
  std::vector<OneLevelFold> folds = one_fold_per_thread(*graph_, n_threads_, control);
  const double least = kNothing / static_cast<double>(flow.closed.size() + 1);
  // Of many rows the closed states are asked as one polynomial, where that does not take much memory.
  std::optional<RowPolynomial> polynomial;
  if (!moments && !with_y && !table.local() && n_classes > 1 && !flow.inner.empty()) {
    polynomial.emplace(*graph_, asked.means);
    if (polynomial->pays(n_rows) && polynomial->bytes() <= std::min(kFlowBytes, (control.memory_limit - held) / 4)) {
      control.check_memory(held += static_cast<std::size_t>(polynomial->bytes()));
      polynomial->build(flow, weights_, kept_, least, n_rows, folds, control);
    } else {
      polynomial.reset();
    }
  }

  for (std::size_t from = 0; from < n_rows; from += batch) {
    const std::size_t n = std::min(batch, n_rows - from);
    flow.load(rows, from, n, with_y);
    RowSums sums(n, n_classes, moments);
    std::vector<std::int32_t> counts(n_classes);
    OneLeaf own(n_classes);
    std::vector<double> mass(n_classes);
    for (std::size_t k = 0; k < flow.inner.size(); ++k) {
      control.check(true, "predicting", polynomial ? n_rows : from, n_rows);
      const State& s = graph_->state(flow.inner[k]);
      const double* here = flow.at_inner(k);
      table.class_counts(graph_->cover(flow.inner[k]), counts.data());
      own.set(counts.data(), s.total, leaf, static_cast<std::size_t>(s.depth));
      for (std::size_t r = 0; r < n; ++r) {
        const double w = here[r] * flow.leaf[k];
        if (!(w > 0)) continue;
        for (std::size_t c = 0; c < n_classes; ++c) mass[c] = w * own.mean[c];
        sums.add(r, w, mass.data(), own.mean.data(), own.between.data(), own.within.data());
      }
    }

    if (polynomial) {
      polynomial->load(rows, from, n);
      std::vector<std::vector<double>> said(kParts);
      for_each_parallel(kParts, n_threads_, control, nullptr, [&](std::size_t part, std::size_t worker) {
        said[part].assign(n * asked.means, 0.0);
        polynomial->evaluate(part, control, worker == 0, said[part].data());
      });
      for (std::size_t r = 0; r < n; ++r) {
        // What is left of 1 for the closed states, and of that for the last class.
        double rest = 1;
        for (std::size_t c = 0; c < n_classes; ++c) rest -= sums.mean(r, c);
        for (std::size_t c = 0; c < asked.means; ++c) {
          mass[c] = 0;
          for (const auto& part : said) mass[c] += part[r * asked.means + c];
          rest -= mass[c] = std::max(0.0, mass[c]);  // not below it by rounding
        }
        mass[asked.means] = std::max(0.0, rest);
        sums.add(r, 0.0, mass.data(), nullptr, nullptr, nullptr);
      }
      for (std::size_t r = 0; r < n; ++r)
        for (std::size_t c = 0; c < n_classes; ++c) out[(from + r) * n_classes + c] = sums.mean(r, c);
      continue;
    }

    // Nearly all of the time goes into closed states, whatever the number of rows: they are what progress counts.
    std::atomic<std::size_t> begun{0};
    std::vector<RowSums> partial(kParts, RowSums(0, n_classes, moments));
    for_each_parallel(kParts, n_threads_, control, nullptr, [&](std::size_t part, std::size_t worker) {
      const std::size_t begin = flow.closed.size() * part / kParts, end = flow.closed.size() * (part + 1) / kParts;
      if (begin == end) return;  // sums of thousands of rows and hundreds of classes take longer to make than to use
      RowSums& sum = partial[part] = RowSums(n, n_classes, moments);
      OneLevelFold& fold = folds[worker];
      OneLevel level;
      InnerShares shares(*graph_, prior);
      QuadraticForm form;
      ClosedForm closed;
      Patterns all, patterns;
      std::vector<LeafValue> values = asked.values;
      OneLeaf state(n_classes), mixed(n_classes);
      std::vector<std::int32_t> q(n_classes);
      std::vector<double> here(n), value(n * values.size()), p(n_classes);
      // Means that come from cells, all classes of a row side by side.
      const std::size_t width = ClosedForm::cell_width(asked.means);
      std::vector<double> from_cells(moments ? 0 : n * width, 0.0);
      std::vector<std::uint8_t> cells;
      std::vector<std::uint32_t> active, found(n + 16), in_order(n);
      std::iota(in_order.begin(), in_order.end(), 0u);
      std::vector<double> own_y;
      for (std::size_t k = begin; k < end; ++k) {
        const std::size_t before = begun.fetch_add(1, std::memory_order_relaxed);
        const std::uint32_t id = flow.closed[k];
        const State& s = graph_->state(id);
        flow.at_closed(k, shares, here.data());
        const std::size_t n_passing = row_kernels().passing(here.data(), n, least, found.data());
        active.assign(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(n_passing));
        if (active.empty()) continue;
        if ((k & 15) == 0 || values.size() > 8)  // a form for each of hundreds of classes takes milliseconds
          control.check(worker == 0, "predicting", from + n * before / flow.closed.size(), n_rows);
        fold.again(id, weights_, kept_, level);
        table.class_counts(graph_->cover(id), q.data());
        state.set(q.data(), s.total, leaf, static_cast<std::size_t>(s.depth));
        if (level.n == 0) {
          for (std::uint32_t r : active) {
            for (std::size_t c = 0; c < n_classes; ++c) p[c] = here[r] * state.mean[c];
            sum.add(r, here[r], p.data(), state.mean.data(), state.between.data(), state.within.data());
          }
          continue;
        }
        // A form for each value, and a second one where it is rewritten over slots: with thousands of tests they are
        // what takes memory, and the time between two looks at the clock.
        const std::size_t side = std::max(fold.frontier().n_groups(), with_y ? flow.stride : 0) + 8;
        const std::size_t matrices = with_y ? 2 * values.size() : fold.has_pairs() ? values.size() : 1;
        control.check_memory(held + 8 * n_threads_ * matrices * side * side);
        const auto look = [&] {
          if (side > kWide) control.check(worker == 0, "predicting", from, n_rows);
        };
        // The rows of a state are asked for each value, and hundreds of values take tenths of a second.
        std::size_t asked_rows = 0;
        const auto look_at_rows = [&](std::size_t more) {
          if ((asked_rows += more) < (std::size_t{1} << 13)) return;
          asked_rows = 0;
          control.check(worker == 0, "predicting", from, n_rows);
        };
        look();
        // Spreads are around the state's own leaf: what is subtracted below is small too.
        for (LeafValue& v : values) v.centre = state.mean[v.cls];
        const std::size_t n_active = active.size();
        if (!with_y && fold.begin_masses(weights_, level)) {
          closed.begin(fold, false);
          closed.build(fold, weights_, level, values);
          look();
          flow.outcomes(closed.elements(), active, fold.frontier().kernel(), all, patterns);
          if (!moments && closed.cells_pay(n_active)) {
            ClosedForm::cells_of(patterns, closed.elements().size(), cells);
            row_kernels().add_cells(closed.cell_means(asked.means, row_kernels()), width, cells.data(), active.data(),
                                    here.data(), n_active, from_cells.data());
            continue;
          }
          closed.ask(patterns);
          for (std::size_t f = 0; f < values.size(); ++f) {
            closed.evaluate(f, fold.frontier().kernel(), value.data() + f * n_active);
            look_at_rows(n_active);
          }
        } else {
          form.build(fold, weights_, level, flow.slots, flow.first_slot, flow.stride, values);
          look();
          if (table.local()) flow.answers(fold.frontier(), active, form.stride(), own_y);
          for (std::size_t f = 0; f < values.size(); ++f) {
            if (table.local())
              fold.frontier().kernel().quadratic(form.matrix(f), form.stride(), form.size(), own_y.data(),
                                                 form.stride(), in_order.data(), n_active, value.data() + f * n_active);
            else
              fold.frontier().kernel().quadratic(form.matrix(f), flow.stride, flow.slots.size() + 1, flow.y(),
                                                 flow.stride, active.data(), n_active, value.data() + f * n_active);
            look_at_rows(n_active);
          }
        }
        if (!moments && n_classes == 2) {
          for (std::size_t r = 0; r < n_active; ++r) {
            const double w = here[active[r]], first = w * value[r];
            sum.add_two(active[r], first, w - first);
          }
          continue;
        }
        for (std::size_t r = 0; r < n_active; ++r) {
          look_at_rows(values.size() / 16);
          const double w = here[active[r]];
          double rest = w, remains = 1;
          for (std::size_t c = 0; c < asked.means; ++c) {
            const double m = mixed.mean[c] = value[c * n_active + r];
            rest -= p[c] = w * m;
            remains -= m;
          }
          p[asked.means] = rest;
          mixed.mean[asked.means] = remains;
          for (std::size_t c = 0; c < n_classes && asked.variances > 0; ++c) {
            const std::size_t f = asked.means + std::min(c, asked.variances - 1);
            const double off = mixed.mean[c] - state.mean[c];
            mixed.between[c] = std::max(0.0, value[f * n_active + r] - off * off);
            mixed.within[c] = std::max(0.0, value[(f + asked.variances) * n_active + r]);
          }
          sum.add(active[r], w, p.data(), mixed.mean.data(), mixed.between.data(), mixed.within.data());
        }
      }
      if (!moments)
        for (std::size_t r = 0; r < n; ++r) sum.add(r, 0.0, from_cells.data() + r * width, nullptr, nullptr, nullptr);
    });
    for (const RowSums& sum : partial)
      if (!sum.empty()) sums.add(sum);
    for (std::size_t r = 0; r < n; ++r) {
      double* to = out + (from + r) * (moments ? 3 : 1) * n_classes;
      for (std::size_t c = 0; c < n_classes; ++c) {
        to[c] = sums.mean(r, c);
        if (!moments) continue;
        to[n_classes + c] = sums.between(r, c);
        to[2 * n_classes + c] = sums.within(r, c);
      }
    }
  }
}

}  // namespace everytree
