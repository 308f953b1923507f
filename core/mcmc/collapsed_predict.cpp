// P(class | row) given tops: every end of every top says what its rows are. A closed state that ends many tops is
// folded once, and asked once for each row that any of them sends there.
#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_map>

#include "common/parallel.hpp"
#include "down/quadratic_form.hpp"
#include "mcmc/collapsed.hpp"
#include "table/node_offers.hpp"
#include "weights/leaf_value.hpp"

namespace everytree {

namespace {

constexpr std::size_t kTipParts =
    8;  // closed states are summed in fixed parts: the same sums for any number of threads
constexpr std::size_t kBytes = std::size_t{1} << 26;

struct Tip {
  Cover cover;
  std::size_t depth;
  int levels;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> in;  // (top, place of its rows)
};

template <class F>
void for_each_bit(const std::uint64_t* words, std::size_t n, F&& f) {
  for (std::size_t w = 0; w < n; ++w)
    for (std::uint64_t x = words[w]; x != 0; x &= x - 1) f(w * 64 + static_cast<std::size_t>(std::countr_zero(x)));
}

// The variables of the form of a closed state that chooses its tests, `width` for each of these rows: the tests of a
// split that lead to its side 1, or single tests where shares differ by attribute.
void answers(const NewRows& rows, std::size_t from, const std::vector<std::uint32_t>& active, const Frontier& f,
             bool fair, std::size_t width, std::vector<double>& y) {
  y.assign(active.size() * width, 0.0);
  for (std::size_t k = 0; k < active.size(); ++k) {
    double* at = y.data() + k * width;
    for (std::size_t i = 0; i < f.n_groups(); ++i) {
      const auto parts = f.parts(i);
      for (std::size_t p = 0; p < parts.size(); ++p) {
        const bool holds = rows.holds(from + active[k], parts[p] >> 1, f.uppers_begin(i)[p]);
        *at += holds != (!fair && (parts[p] & 1)) ? 1.0 : 0.0;
        at += fair;
      }
      at += !fair;
    }
    *at = 1.0;
  }
}

}  // namespace

void Collapsed::predict(const std::vector<Key>& tops, const Counts& in_batch, std::size_t n_batches,
                        const NewRows& rows, double* out, Control& control) const {
  const bool local = table_->local();
  const std::size_t n_rows = rows.n_rows;
  if ((rows.reach != nullptr) != local)
    throw InvalidInput("rows are given by their outcomes, or by their reach where states choose their tests");
  if (in_batch.size() != tops.size()) throw InvalidInput("every top needs its batches");
  for (const auto& batches : in_batch)
    for (const auto& [batch, count] : batches)
      if (batch >= n_batches) throw InvalidInput("a batch beyond the last one");
  const CountTable& table = *table_;
  const Dirichlet& leaf = weights_.leaf();
  const std::size_t n_classes = table.n_classes(), n_tests = table.n_tests(), words = table.n_words();
  const std::size_t n_asked = n_classes - 1;  // the last class is what remains of 1
  std::fill(out, out + n_batches * n_rows * n_classes, 0.0);

  std::vector<std::uint32_t> first_slot;
  const std::vector<Slot> slots = local ? std::vector<Slot>{} : make_slots(table, weights_.prior(), first_slot);
  const std::size_t n_slots = slots.size(), stride = (n_slots + 1 + 7) & ~std::size_t{7};
  const std::vector<LeafValue> means = class_means(n_asked);
  std::size_t n_ends = 1;
  for (const Key& key : tops) n_ends += static_cast<std::size_t>(std::count(key.begin(), key.end(), -1));
  // Rows of a block: their bits at every end, and their sums in every part.
  const std::size_t block = std::clamp<std::size_t>(
      std::min(8 * kBytes / n_ends, kBytes / (8 * kTipParts * std::max<std::size_t>(1, n_batches * n_classes))) &
          ~std::size_t{63},
      64, 2048);
  const std::size_t row_words = block / 64;

  struct Place {
    Cover cover;
    std::vector<std::uint64_t> rows;
    std::int32_t depth;
  };
  std::vector<std::int32_t> counts(n_classes);
  for (std::size_t from = 0; from < n_rows; from += block) {
    const std::size_t n = std::min(block, n_rows - from);
    // Rows for which a test holds, and what closed states ask them: the same wherever rows are of 0/1.
    std::vector<std::uint64_t> holds(local ? row_words : n_tests * row_words, 0);
    std::vector<double> y(local ? 0 : n * stride, 0.0);
    for (std::size_t r = 0; !local && r < n; ++r) {
      const std::uint8_t* row = rows.outcomes + (from + r) * n_tests;
      for (std::size_t t = 0; t < n_tests; ++t)
        if (row[t] != 0) holds[t * row_words + r / 64] |= std::uint64_t{1} << (r % 64);
      for (std::size_t k = 0; k < n_slots; ++k)
        for (std::uint32_t member : slots[k].members)
          y[r * stride + k] += (row[member >> 1] != 0) != static_cast<bool>(member & 1);
      y[r * stride + n_slots] = 1.0;
    }

    // Leaves answer at once; closed states are collected.
    std::vector<Tip> tips;
    std::vector<std::uint64_t> at_tip;  // row_words for each (tip, top)
    std::unordered_multimap<std::uint64_t, std::uint32_t> known;
    std::vector<Place> open;
    for (std::uint32_t k = 0; k < tops.size(); ++k) {
      control.check(true, "predicting", from, n_rows);
      open.clear();
      open.push_back({table.all(), std::vector<std::uint64_t>(row_words, 0), 0});
      for (std::size_t r = 0; r < n; ++r) open[0].rows[r / 64] |= std::uint64_t{1} << (r % 64);
      for (std::int32_t test : tops[k]) {
        if (open.empty() || test < -1 || test >= static_cast<std::int32_t>(n_tests))
          throw InvalidInput("a top's key is not that of a top of this space");
        Place v = std::move(open.back());
        open.pop_back();
        if (test >= 0) {
          Place one{Cover(words), std::vector<std::uint64_t>(row_words), v.depth + 1};
          const std::uint64_t* column = table.column(static_cast<std::size_t>(test));
          const std::uint64_t* held = holds.data() + (local ? 0 : static_cast<std::size_t>(test) * row_words);
          if (local) {
            // A top has tests at inner states only, and these offer their own.
            const auto t = static_cast<std::uint32_t>(test);
            const std::uint32_t upper = upper_of(table, v.cover.data(), t);
            std::fill(holds.begin(), holds.end(), 0);
            for_each_bit(v.rows.data(), row_words, [&](std::size_t r) {
              if (rows.holds(from + r, t, upper)) holds[r / 64] |= std::uint64_t{1} << (r % 64);
            });
          }
          for (std::size_t w = 0; w < words; ++w) {
            one.cover[w] = v.cover[w] & column[w];
            v.cover[w] &= ~column[w];
          }
          for (std::size_t w = 0; w < row_words; ++w) {
            one.rows[w] = v.rows[w] & held[w];
            v.rows[w] &= ~held[w];
          }
          ++v.depth;
          open.push_back(std::move(one));
          open.push_back(std::move(v));
          continue;
        }
        if (std::all_of(v.rows.begin(), v.rows.end(), [](std::uint64_t x) { return x == 0; })) continue;
        const auto depth = static_cast<std::size_t>(v.depth);
        const std::int64_t total = table.count(v.cover.data());
        const int levels = levels_of(table_->local(), max_depth_, min_leaf_, v.depth, total);
        if (levels == State::kInner || levels == 0) {
          table.class_counts(v.cover.data(), counts.data());
          for (const auto& [batch, count] : in_batch[k]) {
            double* sum = out + (batch * n_rows + from) * n_classes;
            for (std::size_t c = 0; c < n_classes; ++c) {
              const double p =
                  count * (counts[c] + leaf.a(depth, c)) / (static_cast<double>(total) + leaf.sum_a(depth));
              for_each_bit(v.rows.data(), row_words, [&](std::size_t r) { sum[r * n_classes + c] += p; });
            }
          }
          continue;
        }
        const std::uint64_t hash = hash_words(v.cover.data(), words, depth);
        auto [begin, end] = known.equal_range(hash);
        while (begin != end && (tips[begin->second].depth != depth || tips[begin->second].cover != v.cover)) ++begin;
        std::uint32_t id;
        if (begin != end) {
          id = begin->second;
        } else {
          id = static_cast<std::uint32_t>(tips.size());
          known.emplace(hash, id);
          tips.push_back({std::move(v.cover), depth, levels, {}});
        }
        tips[id].in.emplace_back(k, static_cast<std::uint32_t>(at_tip.size() / row_words));
        at_tip.insert(at_tip.end(), v.rows.begin(), v.rows.end());
        control.check_memory(at_tip.size() * 8 + tips.size() * (words * 8 + sizeof(Tip) + 64));
      }
      if (!open.empty()) throw InvalidInput("a top's key is not that of a top of this space");
    }

    std::vector<OneLevelFold> folds;
    for (std::size_t k = 0; k < n_threads_; ++k) folds.emplace_back(table, min_leaf_).watch(control, k == 0);
    std::vector<std::vector<double>> partial(kTipParts);
    for_each_parallel(kTipParts, n_threads_, control, nullptr, [&](std::size_t part, std::size_t worker) {
      std::vector<double>& sum = partial[part];
      sum.assign(n_batches * n * n_classes, 0.0);
      OneLevelFold& fold = folds[worker];
      OneLevel level;
      QuadraticForm form;
      std::vector<std::uint32_t> order;  // of the rows of a closed state, where it asks them questions of its own
      std::vector<double> asked;
      std::vector<std::uint64_t> any(row_words);
      std::vector<std::uint32_t> active;
      std::vector<double> value, p(n * n_classes);
      for (std::size_t k = tips.size() * part / kTipParts; k < tips.size() * (part + 1) / kTipParts; ++k) {
        control.check(worker == 0, "predicting", from, n_rows);
        const Tip& tip = tips[k];
        std::fill(any.begin(), any.end(), 0);
        for (const auto& [top, place] : tip.in)
          for (std::size_t w = 0; w < row_words; ++w) any[w] |= at_tip[place * row_words + w];
        active.clear();
        for_each_bit(any.data(), row_words, [&](std::size_t r) { active.push_back(static_cast<std::uint32_t>(r)); });
        fold.product<SumProduct>(ClosedState{tip.cover.data(), tip.depth, tip.levels}, weights_, level);
        const bool splits = level.n > 0;
        if (splits) form.build(fold, weights_, level, slots, first_slot, stride, means);
        if (splits && local) {
          order.resize(active.size());
          std::iota(order.begin(), order.end(), 0u);
          answers(rows, from, active, fold.frontier(), weights_.prior().fair, form.stride(), asked);
        }
        for (std::uint32_t r : active) p[r * n_classes + n_asked] = 1.0;
        value.resize(active.size());
        const Frontier& f = fold.frontier();
        for (std::size_t c = 0; c < n_asked; ++c) {
          if (!splits)
            std::fill(value.begin(), value.end(),
                      (f.totals()[c] + leaf.a(tip.depth, c)) / (f.total() + leaf.sum_a(tip.depth)));
          else if (local)
            f.kernel().quadratic(form.matrix(c), form.stride(), form.size(), asked.data(), form.stride(), order.data(),
                                 order.size(), value.data());
          else
            f.kernel().quadratic(form.matrix(c), stride, n_slots + 1, y.data(), stride, active.data(), active.size(),
                                 value.data());
          for (std::size_t a = 0; a < active.size(); ++a) {
            p[active[a] * n_classes + c] = value[a];
            p[active[a] * n_classes + n_asked] -= value[a];
          }
        }
        for (const auto& [top, place] : tip.in)
          for (const auto& [batch, count] : in_batch[top]) {
            double* to = sum.data() + batch * n * n_classes;
            for_each_bit(at_tip.data() + place * row_words, row_words, [&](std::size_t r) {
              for (std::size_t c = 0; c < n_classes; ++c) to[r * n_classes + c] += count * p[r * n_classes + c];
            });
          }
      }
    });
    for (const auto& sum : partial)
      for (std::size_t b = 0; b < n_batches; ++b)
        for (std::size_t x = 0; x < n * n_classes; ++x)
          out[(b * n_rows + from) * n_classes + x] += sum[b * n * n_classes + x];
  }
}

}  // namespace everytree
