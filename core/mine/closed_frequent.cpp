#include "mine/closed_frequent.hpp"

#include <algorithm>

namespace everytree::mine {

ClosedFrequent::ClosedFrequent(const Lattice& lattice, Mined& mined, Meter& meter)
    : lattice_(&lattice), table_(&lattice.table()), mined_(&mined), meter_(&meter), counts_(lattice.n_classes()) {}

std::size_t ClosedFrequent::run() {
  Store<std::uint64_t> rows(*meter_);
  rows.append(table_->all().data(), table_->n_words());
  table_->class_counts(rows.data(), counts_.data());
  counted_ = 1;
  Store<Item> items(*meter_);
  close(rows.data(), items);
  keep(items);
  grow(rows, items, kNone, 0);
  return counted_;
}

void ClosedFrequent::grow(const Store<std::uint64_t>& rows, const Store<Item>& items, Item made_by, std::size_t depth) {
  if (lattice_->deep_enough(depth)) return;
  const std::size_t n_words = table_->n_words();
  const Item* const end = items.data() + items.size();
  Store<std::uint64_t> below(*meter_);
  below.resize(n_words);
  for (Item j = made_by == kNone ? 0 : made_by + 1; j < 2 * table_->n_tests(); ++j) {
    const std::size_t test = j >> 1;
    const Item* place = std::lower_bound(items.data(), end, item_of(test, 0));
    if (place != end && *place >> 1 == test) continue;  // the test is constant here
    const std::uint64_t* column = table_->column(test);
    for (std::size_t w = 0; w < n_words; ++w) below[w] = rows[w] & (j & 1 ? column[w] : ~column[w]);
    table_->class_counts(below.data(), counts_.data());
    ++counted_;
    meter_->work(4 * n_words, "mining itemsets", mined_->index.n_results());
    if (!lattice_->frequent(counts_.data())) continue;
    Store<Item> longer(*meter_);
    close(below.data(), longer);
    if (lattice_->depth_matters()) {
      keep(longer);
      grow(below, longer, j, depth + 1);
      continue;
    }
    // The items before j must be those of the parent.
    const auto before = static_cast<std::size_t>(std::lower_bound(items.data(), end, j) - items.data());
    const auto now =
        static_cast<std::size_t>(std::lower_bound(longer.data(), longer.data() + longer.size(), j) - longer.data());
    if (now != before) continue;  // the child of another
    keep(longer);
    grow(below, longer, j, depth + 1);
  }
}

void ClosedFrequent::close(const std::uint64_t* rows, Store<Item>& items) const {
  const std::size_t n_words = table_->n_words();
  for (std::size_t t = 0; t < table_->n_tests(); ++t) {
    const std::uint64_t* column = table_->column(t);
    std::uint64_t ones = 0, zeros = 0;
    std::size_t w = 0;
    for (; w < n_words && (ones == 0 || zeros == 0); ++w) {
      ones |= rows[w] & column[w];
      zeros |= rows[w] & ~column[w];
    }
    meter_->work(w + 1, "mining itemsets", mined_->index.n_results());
    if (ones == 0 || zeros == 0) items.push_back(item_of(t, ones != 0));
  }
}

void ClosedFrequent::keep(const Store<Item>& items) {
  const std::size_t known = mined_->index.n_results();
  if (mined_->index.locate(items.data(), items.size()) == known) mined_->counts.append(counts_.data(), counts_.size());
}

}  // namespace everytree::mine
