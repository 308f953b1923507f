// The strategies of DL8 for building the lattice. All of them give the same answers to a query.
//
//     simple    one step, results kept by itemset                    stores the relevant itemsets
//     frequent  Apriori, then DL8 on its trie                        stores the frequent itemsets
//     apriori   Apriori with relevancy inside, then DL8 on its trie  stores the relevant itemsets
//     eclat     Eclat with relevancy inside, then DL8 on its trie    stores the relevant itemsets
//     closed    one step, results kept by closure                    stores the closures of relevant itemsets
//     eclat_frequent   Eclat without relevancy, then DL8 on its trie        stores the frequent itemsets
//     closed_frequent  LCM first, then DL8 with the class counts it found   stores the closed frequent itemsets
// Where depth ranks first, apriori runs DL8 after every level and stops at the first that meets the query.
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
Found eclat_frequent(const Lattice& lattice, Meter& meter);
Found closed_frequent(const Lattice& lattice, Meter& meter);

}  // namespace everytree::mine
