#include "mine/strategies.hpp"

#include "common/errors.hpp"
#include "mine/closed_frequent.hpp"
#include "mine/eclat.hpp"
#include "mine/levelwise.hpp"
#include "mine/on_trie.hpp"
#include "mine/single_step.hpp"

namespace everytree::mine {

namespace {

Found in_one_step(const Lattice& lattice, KeyOf key, Meter& meter, const Mined* mined = nullptr) {
  return lattice.one_tree() ? SingleStep<OneTree>(lattice, key, meter, mined).run()
                            : SingleStep<ManyTrees>(lattice, key, meter, mined).run();
}

// Where depth ranks first, DL8 runs after every level: the first level with a tree that meets the query is the last
// that is mined, since its trees are the shallowest there are.
Found level_by_level(const Lattice& lattice, Meter& meter) {
  const double start = meter.seconds();
  double building = 0;
  Found found;
  Trie trie(lattice.n_classes(), meter);
  found.report.counted = Levelwise(lattice, true, trie, meter).run([&] {
    const double before = meter.seconds();
    OnTrie<ManyTrees> dl8(lattice, trie, meter);
    found.trees = dl8.trees();
    found.report.states = dl8.states();
    building += meter.seconds() - before;
    return found.trees.size() >= lattice.query().k;
  });
  found.report.itemsets = trie.size();
  found.report.bytes = meter.peak();
  found.report.seconds_total = meter.seconds() - start;
  found.report.seconds_mining = found.report.seconds_total - building;
  return found;
}

}  // namespace

Found simple(const Lattice& lattice, Meter& meter) { return in_one_step(lattice, KeyOf::itemset, meter); }

Found closed(const Lattice& lattice, Meter& meter) { return in_one_step(lattice, KeyOf::closure, meter); }

Found frequent(const Lattice& lattice, Meter& meter) {
  return in_two_steps(lattice, meter, [&](Trie& trie) { return Levelwise(lattice, false, trie, meter).run(); });
}

Found apriori(const Lattice& lattice, Meter& meter) {
  if (lattice.depth_first()) return level_by_level(lattice, meter);
  return in_two_steps(lattice, meter, [&](Trie& trie) { return Levelwise(lattice, true, trie, meter).run(); });
}

Found eclat(const Lattice& lattice, Meter& meter) {
  return in_two_steps(lattice, meter, [&](Trie& trie) { return Eclat(lattice, true, trie, meter).run(); });
}

Found eclat_frequent(const Lattice& lattice, Meter& meter) {
  return in_two_steps(lattice, meter, [&](Trie& trie) { return Eclat(lattice, false, trie, meter).run(); });
}

Found closed_frequent(const Lattice& lattice, Meter& meter) {
  const double start = meter.seconds();
  Mined mined(lattice.n_classes(), meter);
  const std::size_t counted = ClosedFrequent(lattice, mined, meter).run();
  const double mining = meter.seconds() - start;
  Found found = in_one_step(lattice, KeyOf::closure, meter, &mined);
  found.report.itemsets = mined.index.n_itemsets();
  found.report.counted += counted;
  found.report.seconds_mining = mining;
  found.report.seconds_total += mining;
  return found;
}

const std::vector<Strategy>& strategies() {
  static const std::vector<Strategy> all{{"simple", simple},
                                         {"frequent", frequent},
                                         {"apriori", apriori},
                                         {"eclat", eclat},
                                         {"closed", closed},
                                         {"eclat_frequent", eclat_frequent},
                                         {"closed_frequent", closed_frequent}};
  return all;
}

const Strategy& find_strategy(const std::string& name) {
  std::string names;
  for (const Strategy& s : strategies()) {
    if (s.name == name) return s;
    names += (names.empty() ? "" : ", ") + std::string(s.name);
  }
  throw InvalidInput("unknown strategy \"" + name + "\"; expected one of " + names);
}

}  // namespace everytree::mine
