#include "mine/on_trie.hpp"

namespace everytree::mine {

// Recursion is safe here: every subset of a stored itemset is stored, so an itemset of k items has 2^k companions.

OnTrie::OnTrie(const Lattice& lattice, const Trie& trie, Meter& meter)
    : lattice_(&lattice), trie_(&trie), meter_(&meter), tips_(meter) {
  tips_.resize(trie.size());
  for (std::uint32_t t = 0; t < lattice.table().n_tests(); ++t)
    if (trie.child(0, item_of(t, 0)) != kNone && trie.child(0, item_of(t, 1)) != kNone) tests_.push_back(t);
  levels_.push_back({{}, {0}});
}

Tip OnTrie::solve() {
  if (!tips_[0].known()) evaluate(0);
  return tips_[0];
}

std::uint32_t OnTrie::find_with(const Level& level, std::size_t place, Item item) const {
  const std::uint32_t id = trie_->child(level.node[place], item);
  return id == kNone ? kNone : trie_->descend(id, level.items.data() + place, level.items.size() - place);
}

void OnTrie::enter(std::size_t depth, std::size_t place, Item item) {
  if (levels_.size() == depth + 1) levels_.push_back({});
  const Level& from = levels_[depth];
  Level& to = levels_[depth + 1];
  to.items.assign(from.items.begin(), from.items.end());
  to.items.insert(to.items.begin() + static_cast<std::ptrdiff_t>(place), item);
  to.node.assign(from.node.begin(), from.node.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  for (std::size_t k = place; k < to.items.size(); ++k) to.node.push_back(trie_->child(to.node.back(), to.items[k]));
}

void OnTrie::evaluate(std::size_t depth) {
  const std::uint32_t id = levels_[depth].node.back();
  const std::int32_t* counts = trie_->counts(id);
  Tip tip = lattice_->leaf(counts);
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
      for (int side = 0; side < 2; ++side)
        if (!tips_[child[side]].known()) {
          enter(depth, place, item_of(test, side));
          evaluate(depth + 1);
        }
      const Tip &t0 = tips_[child[0]], &t1 = tips_[child[1]];
      tip.offer(t0.cost + t1.cost, t0.leaves + t1.leaves, static_cast<std::int32_t>(test));
    }
  }
  tips_[id] = tip;
}

Key OnTrie::key() {
  Key out;
  write(0, out);
  return out;
}

void OnTrie::write(std::size_t depth, Key& key) {
  const std::int32_t test = tips_[levels_[depth].node.back()].test;
  key.push_back(test);
  if (test < 0) return;
  const auto& items = levels_[depth].items;
  const auto place = static_cast<std::size_t>(
      std::lower_bound(items.begin(), items.end(), item_of(static_cast<std::size_t>(test), 0)) - items.begin());
  for (int side = 0; side < 2; ++side) {
    enter(depth, place, item_of(static_cast<std::size_t>(test), side));
    write(depth + 1, key);
  }
}

}  // namespace everytree::mine
