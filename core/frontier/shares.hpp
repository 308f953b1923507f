// What the prior gives each test of a node.
#pragma once

#include <cstdint>
#include <vector>

#include "algebra/product.hpp"
#include "table/count_table.hpp"
#include "weights/prior.hpp"

namespace everytree {

// The share of each test among the feasible tests of one node: 1, e^−w, or attribute-fair.
class Shares {
 public:
  void begin(const Prior& prior);
  void add(std::uint32_t test);  // every feasible original test of the node
  double share(std::uint32_t test) const;
  // The same for all the tests of a split, given by its parts: their sum, or the best one.
  template <class Parts>
  void add(const CountTable& table, const Parts& parts) {
    table.for_each_test(parts, [this](std::uint32_t test, bool) { add(test); });
  }
  template <PlainProduct A, class Parts>
  double share(const CountTable& table, const Parts& parts) const {
    double result = 0;
    table.for_each_test(parts, [&](std::uint32_t test, bool) { result = plus<A>(result, share(test)); });
    return result;
  }

 private:
  const Prior* prior_ = nullptr;
  double n_tests_ = 0, n_attributes_ = 0;
  std::vector<std::int32_t> per_attribute_, touched_;
};

}  // namespace everytree
