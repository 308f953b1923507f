#include "fold/joint.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "frontier/one_level.hpp"

namespace everytree {

double log_joint(const CountTable& table, int max_depth, std::int64_t min_leaf, const Prior& prior,
                 const Dirichlet& leaf, const Key& key) {
  const std::size_t words = table.n_words();
  struct Open {
    Cover cover;
    std::size_t depth;
  };
  std::vector<Open> open{{table.all(), 0}};
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
    const std::int64_t total = table.count(node.cover.data());
    const bool at_limit = max_depth >= 0 && node.depth >= static_cast<std::size_t>(max_depth);
    bool any = false, chosen = false;
    shares.begin(prior);
    if (!at_limit)
      for (std::uint32_t t = 0; t < table.n_tests(); ++t) {
        const std::int64_t ones = table.count(node.cover.data(), t);
        if (ones < min_leaf || total - ones < min_leaf) continue;
        any = true;
        chosen = chosen || static_cast<std::int32_t>(t) == test;
        shares.add(t);
      }
    if (test < 0) {
      table.class_counts(node.cover.data(), counts.data());
      sum += prior.log_leaf(node.depth, any) + leaf.log_marginal(node.depth, counts.data());
      continue;
    }
    if (!chosen) return -std::numeric_limits<double>::infinity();
    sum += prior.log_split_base(node.depth) + std::log(shares.share(static_cast<std::uint32_t>(test)));
    const std::uint64_t* column = table.column(static_cast<std::size_t>(test));
    Open one{Cover(words), node.depth + 1};
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
