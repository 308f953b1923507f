#include "mine/itemsets.hpp"

#include <algorithm>
#include <string>

#include "mine/eclat.hpp"
#include "mine/on_trie.hpp"

namespace everytree::mine {

Itemsets relevant_itemsets(const Lattice& lattice, Meter& meter) {
  Trie trie(lattice.n_classes(), meter);
  Eclat(lattice, true, trie, meter).run();
  // Breadth first: children are sorted by item, so each length comes in the order of its items.
  struct Place {
    std::uint32_t node, above;  // and where the itemset without the last item stands in the queue
    std::size_t begin, end;     // its items
  };
  Store<Place> queue(meter);
  queue.push_back({0, 0, 0, 0});
  std::size_t n_items = 0;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const Place at = queue[next];
    const std::size_t length = at.end - at.begin + 1;
    for (std::uint32_t c = trie.node(at.node).begin; c < trie.node(at.node).end; ++c, n_items += length)
      queue.push_back({c, static_cast<std::uint32_t>(next), n_items, n_items + length});
    meter.work(8, "writing itemsets", queue.size());
  }
  // What is written is there beside the trie, and all of it is known now.
  Held room(meter, n_items * sizeof(Item) +
                       queue.size() * (sizeof(std::int64_t) + lattice.n_classes() * sizeof(std::int32_t)));
  Itemsets out;
  out.items.resize(n_items);
  out.ends.reserve(queue.size());
  out.counts.reserve(queue.size() * lattice.n_classes());
  for (std::size_t k = 0; k < queue.size(); ++k) {
    const Place at = queue[k], above = queue[at.above];
    out.ends.push_back(static_cast<std::int64_t>(at.end));
    const std::int32_t* counts = trie.counts(at.node);
    out.counts.insert(out.counts.end(), counts, counts + lattice.n_classes());
    if (at.end > at.begin) {
      Item* to = out.items.data() + at.begin;
      to = std::copy(out.items.data() + above.begin, out.items.data() + above.end, to);
      *to = trie.node(at.node).item;
    }
    meter.work(8 + lattice.n_classes() / 2, "writing itemsets", k);
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
