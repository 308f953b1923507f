// The strategies of DL8 for building the lattice. All of them return a tree of the same least (cost, size).
//
//     simple    one step, results kept by itemset                    stores the relevant itemsets
//     frequent  Apriori, then DL8 on its trie                        stores the frequent itemsets
//     apriori   Apriori with relevancy inside, then DL8 on its trie  stores the relevant itemsets
//     eclat     Eclat with relevancy inside, then DL8 on its trie    stores the relevant itemsets
//     closed    one step, results kept by closure                    stores the closures of relevant itemsets
//
// The folder is the study of DL8's strategies, to compare their work and memory; best trees are found by search/.
#pragma once

#include <string>
#include <vector>

#include "mine/lattice.hpp"

namespace everytree::mine {

struct Strategy {
  const char* name;
  Found (*run)(const Lattice& lattice, Meter& meter);
};

const std::vector<Strategy>& strategies();
// Throws InvalidInput for a name that is none of them.
const Strategy& find_strategy(const std::string& name);

Found simple(const Lattice& lattice, Meter& meter);
Found frequent(const Lattice& lattice, Meter& meter);
Found apriori(const Lattice& lattice, Meter& meter);
Found eclat(const Lattice& lattice, Meter& meter);
Found closed(const Lattice& lattice, Meter& meter);

}  // namespace everytree::mine
