#include "mine/eclat.hpp"

namespace everytree::mine {

Eclat::Eclat(const Lattice& lattice, bool relevancy, Trie& trie, Meter& meter)
    : lattice_(&lattice),
      relevancy_(relevancy),
      trie_(&trie),
      meter_(&meter),
      n_words_(lattice.table().n_words()),
      joined_(n_words_),
      counts_(lattice.n_classes()),
      other_(lattice.n_classes()) {}

std::size_t Eclat::run() {
  const CountTable& table = lattice_->table();
  table.class_counts(table.all().data(), counts_.data());
  trie_->add(0, counts_.data());
  counted_ = 1;
  if ((relevancy_ && lattice_->final(counts_.data())) || lattice_->deep_enough(0)) return counted_;
  Store<std::uint64_t> rows(*meter_);
  for (std::size_t t = 0; t < table.n_tests(); ++t)
    for (int outcome = 0; outcome < 2; ++outcome) {
      const std::uint64_t* column = table.column(t);
      for (std::size_t w = 0; w < n_words_; ++w) joined_[w] = table.all()[w] & (outcome ? column[w] : ~column[w]);
      table.class_counts(joined_.data(), counts_.data());
      ++counted_;
      meter_->work(4 * n_words_, "mining itemsets", trie_->size());
      if (relevancy_ ? !relevant(counts_.data(), trie_->counts(0)) : !lattice_->frequent(counts_.data())) continue;
      trie_->add(item_of(t, outcome), counts_.data());
      rows.append(joined_.data(), n_words_);
    }
  trie_->node(0).begin = 1;
  trie_->node(0).end = static_cast<std::uint32_t>(trie_->size());
  grow(0, rows);
  return counted_;
}

void Eclat::grow(std::uint32_t id, const Store<std::uint64_t>& rows) {
  const std::uint32_t begin = trie_->node(id).begin, end = trie_->node(id).end;
  if (lattice_->deep_enough(items_.size() + 1)) return;
  const CountTable& table = lattice_->table();
  for (std::uint32_t a = end; a-- > begin;) {
    const Item item = trie_->node(a).item;
    items_.push_back(item);
    Store<std::uint64_t> below(*meter_);
    const auto first = static_cast<std::uint32_t>(trie_->size());
    for (std::uint32_t b = a + 1; b < end; ++b) {
      const Item other = trie_->node(b).item;
      if (item >> 1 == other >> 1) continue;  // no row satisfies both
      const std::uint64_t *x = rows.data() + (a - begin) * n_words_, *y = rows.data() + (b - begin) * n_words_;
      for (std::size_t w = 0; w < n_words_; ++w) joined_[w] = x[w] & y[w];
      table.class_counts(joined_.data(), counts_.data());
      ++counted_;
      meter_->work(4 * n_words_ + 8 * items_.size(), "mining itemsets", trie_->size());
      if (!lattice_->frequent(counts_.data())) continue;
      items_.push_back(other);
      // The two subsets at hand decide most cases; the rest need a look into the trie.
      if (!relevancy_ || relevant(counts_.data(), trie_->counts(a)) || relevant(counts_.data(), trie_->counts(b)) ||
          relevant_otherwise(counts_.data())) {
        trie_->add(other, counts_.data());
        below.append(joined_.data(), n_words_);
      }
      items_.pop_back();
    }
    const auto last = static_cast<std::uint32_t>(trie_->size());
    trie_->node(a).begin = first;
    trie_->node(a).end = last;
    if (last - first > 1) grow(a, below);
    items_.pop_back();
  }
}

bool Eclat::relevant(const std::int32_t* counts, const std::int32_t* parent) const {
  if (lattice_->final(parent)) return false;
  for (std::size_t c = 0; c < other_.size(); ++c) other_[c] = parent[c] - counts[c];
  return lattice_->frequent(counts) && lattice_->frequent(other_.data());
}

bool Eclat::relevant_otherwise(const std::int32_t* counts) const {
  for (std::size_t k = 0; k + 2 < items_.size(); ++k) {
    const std::uint32_t parent = trie_->find_without(items_.data(), items_.size(), k);
    if (parent != kNone && relevant(counts, trie_->counts(parent))) return true;
  }
  return false;
}

}  // namespace everytree::mine
