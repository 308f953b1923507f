#include "mine/levelwise.hpp"

#include <algorithm>
#include <bit>

namespace everytree::mine {

Levelwise::Levelwise(const Lattice& lattice, bool relevancy, Trie& trie, Meter& meter)
    : lattice_(&lattice),
      relevancy_(relevancy),
      trie_(&trie),
      meter_(&meter),
      row_words_((lattice.table().n_tests() + 63) / 64),
      rows_(meter),
      kinds_(meter),
      other_(lattice.n_classes()) {}

void Levelwise::read_rows() {
  const CountTable& table = lattice_->table();
  std::vector<std::uint64_t> row(row_words_);
  for (const Section& s : table.sections())
    for (std::size_t w = s.begin; w < s.end; ++w)
      for (std::uint64_t left = table.all()[w]; left != 0; left &= left - 1) {
        const int bit = std::countr_zero(left);
        std::fill(row.begin(), row.end(), 0);
        for (std::size_t t = 0; t < table.n_tests(); ++t) row[t / 64] |= (table.column(t)[w] >> bit & 1) << (t % 64);
        rows_.append(row.data(), row_words_);
        kinds_.push_back({s.cls, s.multiplicity()});
        meter_->work(table.n_tests(), "reading the rows", kinds_.size());
      }
}

std::size_t Levelwise::run(const std::function<bool()>& enough) {
  read_rows();
  std::vector<std::int32_t> all(lattice_->n_classes());
  lattice_->table().class_counts(lattice_->table().all().data(), all.data());
  trie_->add(0, all.data());
  std::size_t counted = 1;
  while (!(enough && enough()) && !lattice_->deep_enough(level_)) {
    const auto before = static_cast<std::uint32_t>(trie_->size());
    items_.clear();
    if (level_ == 0)
      first_candidates();
    else
      extend(0, 0);
    if (trie_->size() == before) break;
    counted += trie_->size() - before;
    ++level_;
    for (std::size_t r = 0; r < kinds_.size(); ++r) count(0, 0, {rows_.data() + r * row_words_, kinds_[r]});
    kept_ = before;
    items_.clear();
    keep(0, 0);
    trie_->truncate(kept_);
    if (kept_ == before) break;
  }
  return counted;
}

void Levelwise::first_candidates() {
  if (relevancy_ && lattice_->final(trie_->counts(0))) return;
  for (std::size_t t = 0; t < lattice_->table().n_tests(); ++t)
    for (int outcome = 0; outcome < 2; ++outcome) trie_->add(item_of(t, outcome), nullptr);
  trie_->node(0).begin = 1;
  trie_->node(0).end = static_cast<std::uint32_t>(trie_->size());
  trie_->node(0).deepest = 1;
}

bool Levelwise::extend(std::uint32_t id, std::size_t depth) {
  const std::uint32_t begin = trie_->node(id).begin, end = trie_->node(id).end;
  bool any = false;
  if (depth + 1 < level_) {
    if (trie_->node(id).deepest < level_) return false;
    for (std::uint32_t c = begin; c < end; ++c) {
      items_.push_back(trie_->node(c).item);
      any |= extend(c, depth + 1);
      items_.pop_back();
    }
  } else {
    for (std::uint32_t a = begin; a < end; ++a) {
      const Item item = trie_->node(a).item;
      items_.push_back(item);
      const auto first = static_cast<std::uint32_t>(trie_->size());
      for (std::uint32_t b = a + 1; b < end; ++b) {
        const Item other = trie_->node(b).item;
        if (item >> 1 == other >> 1) continue;
        items_.push_back(other);
        if (possible(items_)) trie_->add(other, nullptr);
        items_.pop_back();
        meter_->work(8 * items_.size() * items_.size(), "mining itemsets", trie_->size());
      }
      items_.pop_back();
      const auto last = static_cast<std::uint32_t>(trie_->size());
      trie_->node(a).begin = first;
      trie_->node(a).end = last;
      if (last > first) {
        trie_->node(a).deepest = static_cast<std::uint32_t>(level_) + 1;
        any = true;
      }
    }
  }
  if (any) trie_->node(id).deepest = static_cast<std::uint32_t>(level_) + 1;
  return any;
}

bool Levelwise::possible(const std::vector<Item>& items) const {
  bool split = !relevancy_;
  for (std::size_t k = 0; k < items.size(); ++k) {
    const std::uint32_t subset = trie_->find_without(items.data(), items.size(), k);
    if (subset == kNone) return false;
    split = split || !lattice_->final(trie_->counts(subset));
  }
  return split;
}

void Levelwise::count(std::uint32_t id, std::size_t depth, const Transaction& row) {
  const Trie::Node& node = trie_->node(id);
  meter_->work(2 * (node.end - node.begin) + 2, "mining itemsets", trie_->size());
  for (std::uint32_t c = node.begin; c < node.end; ++c) {
    const Trie::Node& child = trie_->node(c);
    if (!row.satisfies(child.item)) continue;
    if (depth + 1 == level_) {
      trie_->counts(c)[row.kind.cls] += row.kind.multiplicity;
    } else if (child.deepest == level_) {  // else no candidate below
      count(c, depth + 1, row);
    }
  }
}

void Levelwise::keep(std::uint32_t id, std::size_t depth) {
  // The walk meets the candidates in the order they were made, so survivors only move to the front.
  const std::uint32_t begin = trie_->node(id).begin, end = trie_->node(id).end;
  if (depth + 1 < level_) {
    for (std::uint32_t c = begin; c < end; ++c) {
      if (trie_->node(c).deepest < level_) continue;
      items_.push_back(trie_->node(c).item);
      keep(c, depth + 1);
      items_.pop_back();
    }
    return;
  }
  const std::uint32_t first = kept_;
  for (std::uint32_t c = begin; c < end; ++c) {
    items_.push_back(trie_->node(c).item);
    if (wanted(items_, trie_->counts(c))) trie_->move(c, kept_++);
    items_.pop_back();
  }
  meter_->work(8 * (end - begin), "mining itemsets", kept_);
  trie_->node(id).begin = first;
  trie_->node(id).end = kept_;
}

bool Levelwise::wanted(const std::vector<Item>& items, const std::int32_t* counts) const {
  if (!lattice_->frequent(counts)) return false;
  if (!relevancy_) return true;
  for (std::size_t k = 0; k < items.size(); ++k) {
    // All subsets are stored and so relevant: they were asked for before counting.
    const std::int32_t* parent = trie_->counts(trie_->find_without(items.data(), items.size(), k));
    if (lattice_->final(parent)) continue;
    for (std::size_t c = 0; c < other_.size(); ++c) other_[c] = parent[c] - counts[c];
    if (lattice_->frequent(other_.data())) return true;
  }
  return false;
}

}  // namespace everytree::mine
