#include "mine/on_trie.hpp"

namespace everytree::mine {

// Recursion is safe here: every subset of a stored itemset is stored, so an itemset of k items has 2^k companions.

template <class Keep>
OnTrie<Keep>::OnTrie(const Lattice& lattice, const Trie& trie, Meter& meter)
    : lattice_(&lattice), trie_(&trie), meter_(&meter), keep_(lattice, true, meter), entries_(meter) {
  entries_.resize(trie.size());
  for (std::uint32_t t = 0; t < lattice.n_tests(); ++t)
    if (trie.child(0, item_of(t, 0)) != kNone && trie.child(0, item_of(t, 1)) != kNone) tests_.push_back(t);
  levels_.push_back({{}, {0}});
}

template <class Keep>
std::vector<Judged> OnTrie<Keep>::trees() {
  if (!keep_.known(entries_[0])) evaluate(0);
  std::vector<Judged> out;
  for (std::size_t place : keep_.answers(entries_[0])) {
    out.push_back({keep_.values(entries_[0], place), {}});
    write(0, place, out.back().key);
  }
  return out;
}

template <class Keep>
std::uint32_t OnTrie<Keep>::find_with(const Level& level, std::size_t place, Item item) const {
  const std::uint32_t id = trie_->child(level.node[place], item);
  return id == kNone ? kNone : trie_->descend(id, level.items.data() + place, level.items.size() - place);
}

template <class Keep>
void OnTrie<Keep>::enter(std::size_t depth, std::size_t place, Item item) {
  if (levels_.size() == depth + 1) levels_.push_back({});
  const Level& from = levels_[depth];
  Level& to = levels_[depth + 1];
  to.items.assign(from.items.begin(), from.items.end());
  to.items.insert(to.items.begin() + static_cast<std::ptrdiff_t>(place), item);
  to.node.assign(from.node.begin(), from.node.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  for (std::size_t k = place; k < to.items.size(); ++k) to.node.push_back(trie_->child(to.node.back(), to.items[k]));
}

template <class Keep>
void OnTrie<Keep>::evaluate(std::size_t depth) {
  const std::uint32_t id = levels_[depth].node.back();
  const std::int32_t* counts = trie_->counts(id);
  typename Keep::Entry entry;
  keep_.leaf(entry, counts, depth);
  ++states_;
  if (!lattice_->final(counts) && !lattice_->deep_enough(depth) &&
      lattice_->total(counts) >= 2 * lattice_->min_leaf()) {
    std::size_t place = 0;
    for (std::uint32_t test : tests_) {
      const Level& level = levels_[depth];
      while (place < depth && level.items[place] >> 1 < test) ++place;
      if (place < depth && level.items[place] >> 1 == test) continue;
      meter_->work(8 * (depth + 1), "building the tree", states_);
      std::uint32_t child[2];
      child[0] = find_with(level, place, item_of(test, 0));
      if (child[0] == kNone) continue;
      child[1] = find_with(level, place, item_of(test, 1));
      if (child[1] == kNone) continue;
      // Itemsets may have been mined for smaller leaves than the query allows.
      if (lattice_->total(trie_->counts(child[0])) < lattice_->min_leaf() ||
          lattice_->total(trie_->counts(child[1])) < lattice_->min_leaf())
        continue;
      for (int side = 0; side < 2; ++side)
        if (!keep_.known(entries_[child[side]])) {
          enter(depth, place, item_of(test, side));
          evaluate(depth + 1);
        }
      keep_.offer(entry, test, entries_[child[0]], entries_[child[1]], depth);
    }
  }
  keep_.finish(entry);
  entries_[id] = std::move(entry);
}

template <class Keep>
void OnTrie<Keep>::write(std::size_t depth, std::size_t place, Key& key) {
  const Made made = keep_.made(entries_[levels_[depth].node.back()], place);
  key.push_back(made.test);
  if (made.test < 0) return;
  const auto test = static_cast<std::size_t>(made.test);
  const auto& items = levels_[depth].items;
  const auto where =
      static_cast<std::size_t>(std::lower_bound(items.begin(), items.end(), item_of(test, 0)) - items.begin());
  for (int side = 0; side < 2; ++side) {
    enter(depth, where, item_of(test, side));
    write(depth + 1, static_cast<std::size_t>(side ? made.yes : made.no), key);
  }
}

template class OnTrie<OneTree>;
template class OnTrie<ManyTrees>;

}  // namespace everytree::mine
