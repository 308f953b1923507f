// A number that a leaf holds, whose average over every tree is asked for.
//
// Given the tree, θ in a leaf with class counts n is Dirichlet(n + a); with B = Σ(n + a) and m_c = (n_c + a_c) / B
//     mean:    E θ_c          = m_c
//     spread:  (m_c − centre)²
//     within:  Var θ_c        = m_c (1 − m_c) / (B + 1)
// where n and a may be counts, of which `per_example` make one example: then B is divided by it.
// Nothing but arithmetic: these are computed for every pair of tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace everytree {

struct LeafValue {
  enum class Kind { mean, spread, within };
  Kind kind = Kind::mean;
  std::size_t cls = 0;
  double centre = 0;  // of a spread
  double per_example = 1;

  template <Kind kKind>
  static double of(double mass, double total, double centre, double per_example) {  // n_c + a_c, and B
    const double m = mass / total;
    if constexpr (kKind == Kind::mean) return m;
    if constexpr (kKind == Kind::spread) return (m - centre) * (m - centre);
    return m * ((total - mass) / total) / (total / per_example + 1);
  }
  double operator()(double mass, double total) const {
    switch (kind) {
      case Kind::mean:
        return of<Kind::mean>(mass, total, centre, per_example);
      case Kind::spread:
        return of<Kind::spread>(mass, total, centre, per_example);
      default:
        return of<Kind::within>(mass, total, centre, per_example);
    }
  }
};

// The means of the first n classes.
inline std::vector<LeafValue> class_means(std::size_t n) {
  std::vector<LeafValue> values;
  for (std::size_t c = 0; c < n; ++c) values.push_back({LeafValue::Kind::mean, c, 0, 1});
  return values;
}

}  // namespace everytree
