// The last two levels of a state that chooses its tests: both use those that the state offers, so its children are no
// states of their own, and the most probable tree of the two levels is found at once.
#pragma once

#include <cstdint>
#include <memory>

#include "common/key.hpp"
#include "frontier/one_level.hpp"

namespace everytree {

class LastLevels {
 public:
  LastLevels(const CountTable& table, std::int64_t min_leaf, const Prior& prior, std::shared_ptr<const Dirichlet> leaf)
      : weights_(table, min_leaf, prior, std::move(leaf)), fold_(table, min_leaf) {}
  void watch(Control& control) { fold_.watch(control, true); }

  struct Best {
    double cost, leaf;     // −log(prior · likelihood): of the best tree; of the leaf
    std::uint32_t leaves;  // of the smallest of the best trees
  };
  // Of a cover at this depth that two tests may follow on a path.
  Best best(const std::uint64_t* cover, std::size_t depth);
  // That tree: of those that tie, the smallest, then the one with the lowest tests.
  void write(const std::uint64_t* cover, std::size_t depth, Key& key);

 private:
  struct Found {
    double cost;
    std::uint32_t leaves;
    std::int32_t test;      // −1: a leaf
    std::size_t group = 0;  // of the test
    bool flipped = false;
    void improve(double cost, std::uint32_t leaves, std::int32_t test, std::size_t group, bool flipped);
  };
  Found side(std::size_t i, int a, std::size_t depth);

  ProductWeights weights_;
  OneLevelFold fold_;
  OneLevel level_;
  Shares shares_;
  std::vector<std::int32_t> counts_, other_;
};

}  // namespace everytree
