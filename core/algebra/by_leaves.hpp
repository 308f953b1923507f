// Any algebra, kept apart by the number of leaves: entry k of a value is the fold over the trees with k + 1 leaves.
// join is a convolution. With MinPlus this is the size–error front; with SumProduct the distribution of size.
#pragma once

#include <algorithm>
#include <vector>

#include "algebra/concept.hpp"

namespace everytree {

template <Algebra Base>
struct ByLeaves {
  using Value = std::vector<typename Base::Value>;
  using Weight = typename Base::Weight;
  static constexpr bool kIdempotent = Base::kIdempotent, kSelective = false;
  static Value zero() { return {}; }
  static Value leaf(const Weight& w) { return {Base::leaf(w)}; }
  static Value cherry(const Weight& w) { return {Base::zero(), Base::cherry(w)}; }
  static Value join(const Weight& w, const Value& a, const Value& b) {
    if (a.empty() || b.empty()) return {};
    Value out(a.size() + b.size(), Base::zero());
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t j = 0; j < b.size(); ++j) Base::add(out[i + j + 1], Base::join(w, a[i], b[j]));
    return out;
  }
  static void add(Value& x, const Value& y) {
    if (x.size() < y.size()) x.resize(y.size(), Base::zero());
    for (std::size_t k = 0; k < y.size(); ++k) Base::add(x[k], y[k]);
  }
};

}  // namespace everytree
