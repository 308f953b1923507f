// The k least costs over trees, each tree counted once: ascending lists of at most K numbers.
//     x ⊕ y = the K least of both lists;   join = the K least sums.
// A cost that several trees share stands in the list once for each of them.
#pragma once

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "everytree/algebra/concept.hpp"

namespace everytree {

template <std::size_t K>
struct KBest {
  using Value = std::vector<double>;
  using Weight = double;
  static constexpr bool kIdempotent = false, kSelective = false;
  static Value zero() { return {}; }
  static Value leaf(const Weight& w) { return {w}; }
  static Value cherry(const Weight& w) { return {w}; }
  static Value join(const Weight& w, const Value& a, const Value& b) {
    // Walk the sorted matrix a[i] + b[j] from its least corner.
    using Item = std::tuple<double, std::size_t, std::size_t>;
    std::priority_queue<Item, std::vector<Item>, std::greater<>> heap;
    Value out;
    for (std::size_t i = 0; i < std::min(a.size(), K) && !b.empty(); ++i) heap.emplace(w + a[i] + b[0], i, 0);
    while (!heap.empty() && out.size() < K) {
      const auto [cost, i, j] = heap.top();
      heap.pop();
      out.push_back(cost);
      if (j + 1 < b.size()) heap.emplace(w + a[i] + b[j + 1], i, j + 1);
    }
    return out;
  }
  static void add(Value& x, const Value& y) {
    Value out(x.size() + y.size());
    std::merge(x.begin(), x.end(), y.begin(), y.end(), out.begin());
    if (out.size() > K) out.resize(K);
    x = std::move(out);
  }
};

}  // namespace everytree
