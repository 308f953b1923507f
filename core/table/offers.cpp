#include "table/offers.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace everytree {

namespace {

// The examples of one ordered column by code, their running sums by blocks of 16 codes, and which codes there are, as
// bits: to find the few breaks of a column most codes need no look of their own. Where a sum is reached is counted, not
// searched, 16 sums at a time: a loop that ends there ends at another place every time, which no processor foresees.
class BlockSums {
 public:
  static constexpr std::size_t kBlock = 16;

  BlockSums(const std::int32_t* examples, std::size_t n_codes, const Kernels& kernels, std::int32_t* sums,
            std::uint64_t* present)
      : examples_(examples), sums_(sums), present_(present) {
    n_words_ = n_codes / 64 + 1;
    std::int32_t before = 0;
    for (std::size_t b = 0; b < n_words_ * (64 / kBlock); ++b) {
      std::int32_t sum = 0;
      for (std::size_t k = 0; k < kBlock; ++k) sum += examples[b * kBlock + k];
      sums_[b] = before += sum;
    }
    for (std::size_t w = 0; w < n_words_; ++w) present_[w] = kernels.nonzero(examples + 64 * w);
  }
  std::int64_t of(std::size_t code) const { return examples_[code]; }
  // The first code at which `aim` > 0 examples have come; `sum` becomes what came before it. There is one.
  std::size_t reaching(std::int64_t aim, std::int64_t& sum) const {
    const auto wanted = static_cast<std::int32_t>(aim);
    std::size_t block = 0;
    for (std::size_t w = 0; w < n_words_; ++w)
      for (std::size_t k = 0; k < 64 / kBlock; ++k) block += sums_[w * (64 / kBlock) + k] < wanted;
    std::int32_t upto = block > 0 ? sums_[block - 1] : 0, before = upto;
    std::size_t code = 0;
    for (std::size_t k = 0; k < kBlock; ++k) {
      upto += examples_[block * kBlock + k];
      const bool short_of = upto < wanted;
      code += short_of;
      before = short_of ? upto : before;
    }
    sum = before;
    return block * kBlock + code;
  }
  // The last code of the cover before `code`, and the first one after it; there are such codes.
  std::size_t before(std::size_t code) const {
    std::size_t w = code / 64;
    std::uint64_t bits = present_[w] & ((std::uint64_t{1} << code % 64) - 1);
    while (bits == 0) bits = present_[--w];
    return 64 * w + 63 - static_cast<std::size_t>(std::countl_zero(bits));
  }
  std::size_t after(std::size_t code) const {
    std::size_t w = code / 64;
    std::uint64_t bits = present_[w] & ~std::uint64_t{1} << code % 64;
    while (bits == 0) bits = present_[++w];
    return 64 * w + static_cast<std::size_t>(std::countr_zero(bits));
  }
  // The last code of the cover.
  std::size_t last() const {
    std::size_t w = n_words_ - 1;
    while (present_[w] == 0) --w;
    return 64 * w + 63 - static_cast<std::size_t>(std::countl_zero(present_[w]));
  }

 private:
  const std::int32_t* examples_;
  std::size_t n_words_;
  std::int32_t* sums_;
  std::uint64_t* present_;
};

// The breaks of equal_frequency_breaks for bins > 0, without a list of codes: use(code, next code, examples with a code
// up to it) for each, in order.
template <class Use>
void breaks_of_codes(const BlockSums& codes, std::int64_t total, std::uint32_t bins, Use&& use) {
  const std::size_t last = codes.last();
  if (codes.of(last) == total) return;  // one value
  std::int64_t done = 0, smaller = 0;   // examples up to the last break, and before `here`
  std::size_t n_breaks = 0, end = 0;
  for (; n_breaks + 1 < bins; ++n_breaks) {
    const std::int64_t rest = total - done, k = static_cast<std::int64_t>(bins - n_breaks);
    // Both fit into 32 bits, in which a division takes half the time.
    const std::int64_t aim = done + static_cast<std::uint32_t>(rest + k - 1) / static_cast<std::uint32_t>(k);
    const std::size_t here = codes.reaching(aim, smaller);
    if (here == last) break;
    const std::int64_t upto = smaller + codes.of(here), before = smaller - done, held = upto - done;
    // One break earlier if that is strictly closer to rest / k, unless the last bin ended there.
    if (before > 0 && 2 * rest < k * (held + before)) {
      end = codes.before(here);
      use(end, here, smaller);
      done = smaller;
    } else {
      end = here;
      use(end, codes.after(here), upto);
      done = upto;
    }
  }
  if (n_breaks + 1 >= bins) return;
  const std::size_t last_break = codes.before(last);
  if (n_breaks == 0 || end < last_break) use(last_break, last, total - codes.of(last));
}

}  // namespace

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
  sums_.resize(table.by_column().n_places() / BlockSums::kBlock + 1);
  present_.resize(table.by_column().n_places() / 64 + 1);
}

std::span<const std::uint32_t> Offers::of(const std::uint64_t* cover) {
  const Columns& columns = table_->by_column();
  if (columns.empty()) return offered_;
  count(cover);
  offered_.clear();
  upper_.clear();
  for (std::size_t k = 0; k < columns.size(); ++k) of_column(k);
  return offered_;
}

bool Offers::any(const std::uint64_t* cover) {
  const std::size_t n_columns = table_->by_column().size();
  offered_.clear();
  upper_.clear();
  for (std::size_t n = 0; n < n_columns && offered_.empty(); ++n) {
    const std::size_t k = n == 0 ? last_ : n - (n <= last_ ? 1 : 0);
    count_column(cover, k);
    of_column(k);
    if (!offered_.empty()) last_ = k;
  }
  return !offered_.empty();
}

// The tests of a column, once its examples are counted; the counts are zero again then.
void Offers::of_column(std::size_t k) {
  const Columns& columns = table_->by_column();
  const Column& column = columns[k];
  const std::uint32_t place = columns.place(k), words = (columns.place(k + 1) - place) / 64;
  if (column.kind == Column::Kind::ordered && column.bins > 0) {
    std::int32_t* examples = examples_.data() + place;
    const std::int64_t missing = examples[column.n_codes()], present = total_ - missing;
    examples[column.n_codes()] = 0;
    if (present > 0)
      breaks_of_codes(BlockSums(examples, column.n_codes(), *kernels_, sums_.data(), present_.data()), present,
                      column.bins, [&](std::size_t code, std::size_t next, std::int64_t holds) {
                        const auto lower = static_cast<std::uint32_t>(code);
                        offer(column.begin + lower, holds, columns.upper(k, lower, static_cast<std::uint32_t>(next)));
                      });
    if (missing > 0) offer(column.missing, missing, 0);
    std::fill_n(examples, 64 * words, 0);
    return;
  }
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
  if (n_present < 2) return;
  n_present_ = n_present;
  if (column.kind == Column::Kind::ordered)
    ordered(k);
  else
    nominal(column);
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

// The same of one column.
void Offers::count_column(const std::uint64_t* cover, std::size_t k) {
  total_ = 0;
  for (const Section& s : table_->sections()) {
    const std::int32_t each = s.multiplicity();
    for (std::uint32_t w = s.begin; w < s.end; ++w)
      for (std::uint64_t bits = cover[w]; bits != 0; bits &= bits - 1) {
        total_ += each;
        examples_[table_->places(64 * std::size_t{w} + static_cast<std::size_t>(std::countr_zero(bits)))[k]] += each;
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
