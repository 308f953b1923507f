// Any algebra, kept apart by depth: entry d of a value is the fold over the trees of depth at most d (the last entry
// holds for every larger d). "At most" makes join a plain product: both subtrees at most d − 1 deep.
#pragma once

#include <algorithm>
#include <vector>

#include "algebra/concept.hpp"

namespace everytree {

template <Algebra Base>
struct ByDepth {
  using Value = std::vector<typename Base::Value>;
  using Weight = typename Base::Weight;
  static constexpr bool kIdempotent = Base::kIdempotent, kSelective = false;
  static Value zero() { return {}; }
  static Value leaf(const Weight& w) { return {Base::leaf(w)}; }
  static Value cherry(const Weight& w) { return {Base::zero(), Base::cherry(w)}; }
  static Value join(const Weight& w, const Value& a, const Value& b) {
    if (a.empty() || b.empty()) return {};
    Value out(std::max(a.size(), b.size()) + 1, Base::zero());
    for (std::size_t d = 1; d < out.size(); ++d) out[d] = Base::join(w, at(a, d - 1), at(b, d - 1));
    return out;
  }
  static void add(Value& x, const Value& y) {
    if (y.empty()) return;
    if (x.empty()) {
      x = y;
      return;
    }
    while (x.size() < y.size()) x.push_back(x.back());
    for (std::size_t d = 0; d < x.size(); ++d) Base::add(x[d], at(y, d));
  }
  static const typename Base::Value& at(const Value& x, std::size_t d) { return x[std::min(d, x.size() - 1)]; }
};

}  // namespace everytree
