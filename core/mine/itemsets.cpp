#include "mine/itemsets.hpp"

#include <string>

#include "mine/eclat.hpp"
#include "mine/on_trie.hpp"

namespace everytree::mine {

Itemsets relevant_itemsets(const Lattice& lattice, Meter& meter) {
  Trie trie(lattice.n_classes(), meter);
  Eclat(lattice, true, trie, meter).run();
  Itemsets out;
  // Breadth first: children are sorted by item, so each length comes in the order of its items.
  struct Place {
    std::uint32_t node;
    std::size_t begin, end;  // the items of the itemset in `out`
  };
  Store<Place> queue(meter);
  queue.push_back({0, 0, 0});
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const Place at = queue[next];
    out.ends.push_back(static_cast<std::int64_t>(at.end));
    const std::int32_t* counts = trie.counts(at.node);
    out.counts.insert(out.counts.end(), counts, counts + lattice.n_classes());
    for (std::uint32_t c = trie.node(at.node).begin; c < trie.node(at.node).end; ++c) {
      const std::size_t begin = out.items.size();
      for (std::size_t k = at.begin; k < at.end; ++k) {
        const Item item = out.items[k];
        out.items.push_back(item);
      }
      out.items.push_back(trie.node(c).item);
      queue.push_back({c, begin, out.items.size()});
      meter.work(8, "writing itemsets", queue.size());
    }
  }
  return out;
}

Found ask(const Lattice& lattice, const Itemsets& mined, Meter& meter) {
  const std::size_t n_classes = lattice.n_classes();
  if (mined.ends.empty() || mined.ends[0] != 0 || mined.counts.size() != mined.ends.size() * n_classes)
    throw InvalidInput("itemsets must begin with the empty one, and have one count for each class");
  return in_two_steps(lattice, meter, [&](Trie& trie) {
    trie.add(0, mined.counts.data());
    for (std::size_t r = 1; r < mined.ends.size(); ++r) {
      const auto begin = static_cast<std::size_t>(mined.ends[r - 1]), end = static_cast<std::size_t>(mined.ends[r]);
      if (begin >= end || end > mined.items.size())
        throw InvalidInput("itemset " + std::to_string(r) + " has no items");
      const std::uint32_t parent = trie.descend(0, mined.items.data() + begin, end - begin - 1);
      const Item item = mined.items[end - 1];
      if (parent == kNone || item >> 1 >= lattice.n_tests())
        throw InvalidInput("itemset " + std::to_string(r) + " has an unknown item or prefix");
      Trie::Node& above = trie.node(parent);
      if (above.end == 0)
        above.begin = above.end = static_cast<std::uint32_t>(r);
      else if (above.end != r || trie.node(r - 1).item >= item)
        throw InvalidInput("itemset " + std::to_string(r) + " is out of order");
      ++above.end;
      trie.add(item, mined.counts.data() + r * n_classes);
      meter.work(8, "reading itemsets", r);
    }
    return std::size_t{0};
  });
}

}  // namespace everytree::mine
