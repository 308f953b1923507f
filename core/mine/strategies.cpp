#include "mine/strategies.hpp"

#include "common/errors.hpp"
#include "mine/eclat.hpp"
#include "mine/levelwise.hpp"
#include "mine/on_trie.hpp"
#include "mine/single_step.hpp"

namespace everytree::mine {

Found simple(const Lattice& lattice, Meter& meter) { return SingleStep(lattice, KeyOf::itemset, meter).run(); }

Found closed(const Lattice& lattice, Meter& meter) { return SingleStep(lattice, KeyOf::closure, meter).run(); }

Found frequent(const Lattice& lattice, Meter& meter) {
  return in_two_steps(lattice, meter, [&](Trie& trie) { return Levelwise(lattice, false, trie, meter).run(); });
}

Found apriori(const Lattice& lattice, Meter& meter) {
  return in_two_steps(lattice, meter, [&](Trie& trie) { return Levelwise(lattice, true, trie, meter).run(); });
}

Found eclat(const Lattice& lattice, Meter& meter) {
  return in_two_steps(lattice, meter, [&](Trie& trie) { return Eclat(lattice, trie, meter).run(); });
}

const std::vector<Strategy>& strategies() {
  static const std::vector<Strategy> all{
      {"simple", simple}, {"frequent", frequent}, {"apriori", apriori}, {"eclat", eclat}, {"closed", closed}};
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
