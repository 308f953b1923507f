#include "mine/trie.hpp"

#include <algorithm>

#include "common/errors.hpp"

namespace everytree::mine {

std::uint32_t Trie::add(Item item, const std::int32_t* counts) {
  if (nodes_.size() >= kNone - 1) throw LimitReached(LimitReached::Reason::memory, "more than 4·10^9 itemsets");
  const auto id = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({item});
  if (id % kBlock == 0) counts_.emplace_back(*meter_);
  if (counts != nullptr)
    counts_.back().append(counts, n_classes_);
  else
    counts_.back().resize(counts_.back().size() + n_classes_, 0);
  return id;
}

void Trie::move(std::uint32_t from, std::uint32_t to) {
  if (from == to) return;
  nodes_[to] = nodes_[from];
  std::copy_n(counts(from), n_classes_, counts(to));
}

void Trie::truncate(std::size_t n) {
  nodes_.resize(n);
  while (counts_.size() * kBlock >= n + kBlock) counts_.pop_back();
  if (n % kBlock != 0) counts_.back().resize(n % kBlock * n_classes_);
}

std::uint32_t Trie::child(std::uint32_t id, Item item) const {
  const Node* begin = nodes_.data() + nodes_[id].begin;
  const Node* end = nodes_.data() + nodes_[id].end;
  const Node* at = std::lower_bound(begin, end, item, [](const Node& n, Item i) { return n.item < i; });
  return at != end && at->item == item ? static_cast<std::uint32_t>(at - nodes_.data()) : kNone;
}

std::uint32_t Trie::descend(std::uint32_t id, const Item* items, std::size_t n) const {
  for (std::size_t k = 0; k < n && id != kNone; ++k) id = child(id, items[k]);
  return id;
}

std::uint32_t Trie::find_without(const Item* items, std::size_t n, std::size_t k) const {
  const std::uint32_t prefix = descend(0, items, k);
  return prefix == kNone ? kNone : descend(prefix, items + k + 1, n - k - 1);
}

}  // namespace everytree::mine
