// Lower bounds on the least cost below a cover, each used only where the cost has the property that makes it sound.
//
// identical rows   Examples with equal rows and different classes end in the same leaf: all but the largest class of
//                  each distinct row are errors of any tree. Holds for errors, and for what is never less than them.
// support          A class with fewer examples than min_leaf is outvoted everywhere, or rules a leaf in which at least
//                  min_leaf − n examples are of other classes: min(n, min_leaf − n) errors either way.
// cost matrix      No example costs less than its cheapest answer (which may be negative).
// penalty          A tree is a leaf, or has two leaves at least, each with its price.
// similarity       Let D be a cover whose bound is known, and T the best tree of D'. On D, T makes at most |D \ D'|
//                  errors more, so   least(D') ≥ least(D) − |D \ D'|   if T is allowed on D. With min_leaf = 1 it is
//                  (tests that no longer split are left out); with a larger min_leaf only if D' ⊆ D, because then no
//                  leaf of T loses an example. Holds for errors (with or without a price of leaves), and where D offers
//                  whatever splits a part of D': not where states choose among their cuts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "table/count_table.hpp"
#include "weights/leaf_cost.hpp"

namespace everytree {

struct BoundSwitches {
  bool identical_rows = true, support = true, similarity = true, siblings = true;
};

class Bounds {
 public:
  // `choose`: see children_choose in search/space.hpp.
  Bounds(const CountTable& table, const LeafCost& cost, std::int64_t min_leaf, const BoundSwitches& switches,
         bool choose)
      : table_(&table),
        cost_(&cost),
        per_leaf_(cost.per_leaf()),
        min_leaf_(static_cast<std::int32_t>(std::min<std::int64_t>(min_leaf, CountTable::kMaxTotal))),
        any_subset_(min_leaf <= 1),
        errors_(switches.identical_rows && cost.at_least_errors() &&
                std::any_of(table.outvoted().begin(), table.outvoted().end(), [](auto w) { return w != 0; })),
        support_(switches.support && min_leaf > 1 && cost.at_least_errors()),
        similar_(switches.similarity && cost.plain_error() && !choose) {}

  // Of any tree with at least two leaves. `counts` are the classes of the cover.
  double split(const std::uint64_t* cover, const std::int32_t* counts) const {
    return split(counts, errors_ ? table_->count_both(cover, table_->outvoted().data()) : 0);
  }
  // The same without a look at the cover, of which so many examples are known to be outvoted.
  double split(const std::int32_t* counts, std::int64_t errors = 0) const {
    if (support_)
      for (std::size_t c = 0; c < table_->n_classes(); ++c) {
        const std::int32_t n = counts[c];
        if (n < min_leaf_) errors = std::max<std::int64_t>(errors, std::min(n, min_leaf_ - n));
      }
    return 2 * per_leaf_ + cost_->least(counts) + static_cast<double>(errors);
  }
  bool similar() const { return similar_; }
  // Of `cover`, from a bound of `known`.
  double similar(const std::uint64_t* cover, std::int32_t total, const std::uint64_t* known, std::int32_t known_total,
                 double known_lower) const {
    const auto both = static_cast<std::int32_t>(table_->count_both(cover, known));
    if (!any_subset_ && both != total) return -kNoCost;
    return known_lower - (known_total - both);
  }

 private:
  const CountTable* table_;
  const LeafCost* cost_;
  double per_leaf_;
  std::int32_t min_leaf_;
  bool any_subset_, errors_, support_, similar_;
};

}  // namespace everytree
