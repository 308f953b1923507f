#include "fold/joint.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "frontier/one_level.hpp"
#include "table/node_offers.hpp"

namespace everytree {

double log_joint(const CountTable& table, int max_depth, std::int64_t min_leaf, const Prior& prior,
                 const Dirichlet& leaf, const Key& key) {
  const std::size_t words = table.n_words();
  struct Open {
    Cover cover, above;  // above: that of the parent, where the tests depend on it
    std::size_t depth;
  };
  std::vector<Open> open{{table.all(), {}, 0}};
  NodeOffers offers(table, max_depth, min_leaf);
  std::vector<std::int32_t> counts(table.n_classes());
  Shares shares;
  double sum = 0;
  for (std::int32_t test : key) {
    if (open.empty()) throw InvalidInput("the tree's key goes on after the tree is complete");
    if (test < -1 || test >= static_cast<std::int32_t>(table.n_tests()))
      throw InvalidInput("the tree uses test " + std::to_string(test) + "; the space has " +
                         std::to_string(table.n_tests()) + " tests, counted from 0");
    Open node = std::move(open.back());
    open.pop_back();
    bool any = false, chosen = false;
    shares.begin(prior);
    for (const std::uint32_t k : offers.of(node.cover.data(), node.depth, node.above.data()))
      for (const std::uint32_t member : table.test_classes()[k].members) {
        any = true;
        chosen = chosen || static_cast<std::int32_t>(member >> 1) == test;
        shares.add(member >> 1);
      }
    if (test < 0) {
      table.class_counts(node.cover.data(), counts.data());
      sum += prior.log_leaf(node.depth, any) + leaf.log_marginal(node.depth, counts.data());
      continue;
    }
    if (!chosen) return -std::numeric_limits<double>::infinity();
    sum += prior.log_split_base(node.depth) + std::log(shares.share(static_cast<std::uint32_t>(test)));
    const std::uint64_t* column = table.column(static_cast<std::size_t>(test));
    Open one{Cover(words), {}, node.depth + 1};
    if (offers.from_above(node.depth + 1)) one.above = node.above = node.cover;
    for (std::size_t w = 0; w < words; ++w) {
      one.cover[w] = node.cover[w] & column[w];
      node.cover[w] &= ~column[w];
    }
    ++node.depth;
    open.push_back(std::move(one));  // the 0 side comes first in the key
    open.push_back(std::move(node));
  }
  if (!open.empty()) throw InvalidInput("the tree's key ends before the tree is complete");
  return sum;
}

}  // namespace everytree
