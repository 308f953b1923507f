// What leaves of a folded graph say of a row when one of its examples is left out: see down/leave_one_out.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/control.hpp"
#include "weights/dirichlet.hpp"
#include "weights/rising.hpp"

namespace everytree {

// What is left out together: `removed` counts of class y. Rows of one kind have the same values in every leaf.
struct Kind {
  std::size_t y;
  std::int32_t removed;
};

// r · p_c in counts, with f of them for one example (a is f times as large, too) and d of them left out:
//     d = f   (n_y − d + a_y)^−η · (n − d + Σa)^(η − 1) · (n_c − d [c = y] + a_c)
//     d < f   (Γ(n_y + a_y) / Γ(n_y − d + a_y))^−η · (Γ(n + Σa) / Γ(n − d + Σa))^η / (n − d + Σa) · (n_c − d [c = y] +
//     a_c)
// The first two factors are tabulated, where there are few kinds of rows.
class Removed {
 public:
  // The memory is looked at before there are tables; `held`: bytes that the question has already.
  Removed(const Dirichlet& leaf, const std::vector<Kind>& kinds, const std::vector<std::int32_t>& totals,
          std::int64_t total, const Control& control, std::size_t held)
      : leaf_(&leaf),
        kinds_(&kinds),
        complete_(total <= kTable && kinds.size() == leaf.n_classes() && leaf.per_example() == 1) {
    const auto entries = [&](std::int64_t n) {
      return kinds.size() > std::max(kFew, leaf.n_classes()) ? 0 : static_cast<std::size_t>(std::min(n, kTable)) + 1;
    };
    const auto fill = [](std::vector<double>& table, std::int32_t d, const auto& value) {
      for (std::size_t n = static_cast<std::size_t>(d); n < table.size(); ++n) table[n] = value(n);
    };
    for (const Kind& kind : kinds) {
      const auto same =
          std::find_if(kinds.begin(), kinds.end(), [&](const Kind& x) { return x.removed == kind.removed; });
      all_of_.push_back(static_cast<std::size_t>(same - kinds.begin()));
    }
    std::size_t in_tables = 0;
    for (std::size_t k = 0; k < kinds.size(); ++k)
      in_tables += entries(totals[kinds[k].y]) + (all_of_[k] == k ? entries(total) : 0);
    bytes_ = leaf.n_variants() * (in_tables * sizeof(double) + 2 * kinds.size() * sizeof(std::vector<double>));
    control.check_memory(held + bytes_);
    for (std::size_t v = 0; v < leaf.n_variants(); ++v) {
      own_.emplace_back(kinds.size());
      all_.emplace_back(kinds.size());
      for (std::size_t k = 0; k < kinds.size(); ++k) {
        own_[v][k].assign(entries(totals[kinds[k].y]), 0.0);
        fill(own_[v][k], kinds[k].removed,
             [&](std::size_t n) { return far_own(v, kinds[k], static_cast<std::int64_t>(n)); });
        if (all_of_[k] != k) continue;  // it does not depend on the class
        all_[v][k].assign(entries(total), 0.0);
        fill(all_[v][k], kinds[k].removed,
             [&](std::size_t n) { return far_all(v, kinds[k], static_cast<std::int64_t>(n)); });
      }
    }
  }

  const std::vector<Kind>& kinds() const { return *kinds_; }
  // Whether every row loses one count, so that its kind is its class, and the tables hold every count.
  bool complete() const { return complete_; }
  std::size_t bytes() const { return bytes_; }

  // What the leaves of one depth give to the rows of a kind.
  class At {
   public:
    At(const Removed& removed, std::size_t depth, std::size_t kind)
        : removed_(&removed), variant_(removed.leaf_->variant(depth)), kind_((*removed.kinds_)[kind]) {
      own_ = removed.own_[variant_][kind];
      all_ = removed.all_[variant_][removed.all_of_[kind]];
      for (std::size_t c = 0; c < removed.leaf_->n_classes(); ++c) added_.push_back(removed.leaf_->a(depth, c));
    }
    // The factor before n_c − d [c = y] + a_c; zero where the class has not so many counts.
    double factor(std::int32_t n_y, std::int32_t n) const {
      if (n_y < kind_.removed) return 0;
      const auto k = static_cast<std::size_t>(n_y), l = static_cast<std::size_t>(n);
      return (k < own_.size() ? own_[k] : removed_->far_own(variant_, kind_, n_y)) *
             (l < all_.size() ? all_[l] : removed_->far_all(variant_, kind_, n));
    }
    // Both factors as tables, where complete().
    const double* own() const { return own_.data(); }
    const double* all() const { return all_.data(); }
    double mass(std::size_t c, std::int32_t n_c) const {
      return static_cast<double>(n_c - (c == kind_.y ? kind_.removed : 0)) + added_[c];
    }

   private:
    const Removed* removed_;
    std::size_t variant_;
    Kind kind_;
    std::span<const double> own_, all_;
    std::vector<double> added_;
  };

 private:
  static constexpr std::int64_t kTable = std::int64_t{1} << 16;
  static constexpr std::size_t kFew = 64;
  bool whole(const Kind& kind) const { return kind.removed == leaf_->per_example(); }
  // η · log Γ(from + d) / Γ(from), of examples; `from` is in counts.
  double log_ratio(double from, const Kind& kind) const {
    return leaf_->power() * log_rising(from / leaf_->per_example(), kind.removed / leaf_->per_example());
  }
  double far_own(std::size_t v, const Kind& kind, std::int64_t n) const {
    const double left = static_cast<double>(n - kind.removed) + leaf_->a(v, kind.y);
    return whole(kind) ? std::pow(left, -leaf_->power()) : std::exp(-log_ratio(left, kind));
  }
  double far_all(std::size_t v, const Kind& kind, std::int64_t n) const {
    const double left = static_cast<double>(n - kind.removed) + leaf_->sum_a(v);
    return whole(kind) ? std::pow(left, leaf_->power() - 1) : std::exp(log_ratio(left, kind)) / left;
  }

  const Dirichlet* leaf_;
  const std::vector<Kind>* kinds_;
  bool complete_;
  std::size_t bytes_ = 0;
  std::vector<std::size_t> all_of_;                          // the first kind with as much left out
  std::vector<std::vector<std::vector<double>>> own_, all_;  // by variant, kind and count
};

}  // namespace everytree
