#include "table/offers.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace everytree {

void equal_frequency_breaks(std::span<const std::int64_t> filled, std::uint32_t bins,
                            std::vector<std::uint32_t>& breaks) {
  breaks.clear();
  if (filled.size() < 2) return;
  const std::size_t last = filled.size() - 2;  // the last place that a bin may end at
  if (bins == 0) {
    breaks.resize(last + 1);
    std::iota(breaks.begin(), breaks.end(), 0u);
    return;
  }
  const std::int64_t total = filled[last + 1];
  std::int64_t done = 0;
  std::size_t from = 0;  // the first place that has not been looked at
  while (breaks.size() + 1 < bins) {
    const std::int64_t rest = total - done, k = static_cast<std::int64_t>(bins - breaks.size());
    const std::int64_t aim = done + (rest + k - 1) / k;
    std::size_t here = static_cast<std::size_t>(
        std::lower_bound(filled.begin() + static_cast<std::ptrdiff_t>(from), filled.end(), aim) - filled.begin());
    if (here > last) break;
    from = here + 1;
    const std::int64_t held = filled[here] - done, before = here > 0 ? filled[here - 1] - done : 0;
    // One break earlier if that is strictly closer to rest / k, unless the last bin ended there.
    if (before > 0 && 2 * rest < k * (held + before)) --here;
    breaks.push_back(static_cast<std::uint32_t>(here));
    done = filled[here];
  }
  if (breaks.size() + 1 < bins && (breaks.empty() || breaks.back() < last))
    breaks.push_back(static_cast<std::uint32_t>(last));
}

Offers::Offers(const CountTable& table, std::int64_t min_leaf)
    : table_(&table), kernels_(&kernels()), min_leaf_(min_leaf) {
  if (table.by_column().empty()) {
    offered_.resize(table.test_classes().size());
    std::iota(offered_.begin(), offered_.end(), 0u);
    upper_.assign(offered_.size(), 0);
    return;
  }
  examples_.assign(table.by_column().n_places(), 0);
  codes_.resize(table.by_column().n_places());
  filled_.resize(table.by_column().n_places());
}

std::span<const std::uint32_t> Offers::of(const std::uint64_t* cover) {
  const Columns& columns = table_->by_column();
  if (columns.empty()) return offered_;
  count(cover);
  offered_.clear();
  upper_.clear();
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const Column& column = columns[k];
    const std::uint32_t place = columns.place(k), words = (columns.place(k + 1) - place) / 64;
    std::size_t n_present = 0;
    std::int64_t sum = 0;
    for (std::uint32_t w = 0; w < words; ++w) {
      std::int32_t* examples = examples_.data() + place + 64 * w;
      // Found 16 codes at a time: keeping bits while counting took as long as counting itself.
      for (std::uint64_t bits = kernels_->nonzero(examples); bits != 0; bits &= bits - 1) {
        const int code = std::countr_zero(bits);
        codes_[n_present] = 64 * w + static_cast<std::uint32_t>(code);
        filled_[n_present++] = sum += examples[code];
      }
      std::fill_n(examples, 64, 0);
    }
    if (n_present < 2) continue;
    n_present_ = n_present;
    if (column.kind == Column::Kind::ordered)
      ordered(k);
    else
      nominal(column);
  }
  return offered_;
}

// Examples of each place in the cover.
void Offers::count(const std::uint64_t* cover) {
  const std::size_t n_columns = table_->by_column().size();
  total_ = 0;
  for (const Section& s : table_->sections()) {
    const std::int32_t each = s.multiplicity();
    for (std::uint32_t w = s.begin; w < s.end; ++w)
      for (std::uint64_t bits = cover[w]; bits != 0; bits &= bits - 1) {
        const std::size_t slot = 64 * std::size_t{w} + static_cast<std::size_t>(std::countr_zero(bits));
        const std::uint32_t* places = table_->places(slot);
        total_ += each;
        for (std::size_t k = 0; k < n_columns; ++k) examples_[places[k]] += each;
      }
  }
}

void Offers::offer(std::uint32_t test, std::int64_t holds, std::uint32_t upper) {
  if (holds < min_leaf_ || total_ - holds < min_leaf_) return;
  offered_.push_back(test);
  upper_.push_back(upper);
}

void Offers::ordered(std::size_t k) {
  const Columns& columns = table_->by_column();
  const Column& column = columns[k];
  std::size_t n = n_present_;
  std::int64_t missing = 0;
  if (codes_[n - 1] == column.n_codes()) {
    --n;
    missing = filled_[n] - (n > 0 ? filled_[n - 1] : 0);
  }
  equal_frequency_breaks({filled_.data(), n}, column.bins, breaks_);
  for (const std::uint32_t b : breaks_)
    offer(column.begin + codes_[b], filled_[b], columns.upper(k, codes_[b], codes_[b + 1]));
  if (missing > 0) offer(column.missing, missing, 0);
}

void Offers::nominal(const Column& column) {
  const std::size_t n = n_present_;
  const auto examples = [&](std::size_t k) { return filled_[k] - (k > 0 ? filled_[k - 1] : 0); };
  const bool missing = codes_[n - 1] == column.n_codes();
  if (n == 2) {  // the test of the last value; a missing one comes after all values
    const std::size_t k = missing ? 0 : 1;
    offer(column.begin + codes_[k], examples(k), 0);
    return;
  }
  for (std::size_t k = 0; k + (missing ? 1 : 0) < n; ++k) offer(column.begin + codes_[k], examples(k), 0);
  if (missing) offer(column.missing, examples(n - 1), 0);
}

}  // namespace everytree
