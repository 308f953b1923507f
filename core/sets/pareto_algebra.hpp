// Lists of trees that no k others replace, as an algebra: sets/pareto.hpp says when a tree may replace another.
//
//     leaf, cherry   the list of that tree, if the bounds let it in
//     join           every pair of a tree on side 1 and one on side 0, below every test of the split
//     ⊕              the trees of one list are offered to the other
// A list with a tree too many could not change the answer, so two lists are the same value if they agree in what the
// query ranks, bounds and requires. What may replace what is a matter of the query, and what the bounds let in one of
// the depth too: weights bring both. All weights of a fold are of one query.
//
// Not idempotent: for the k best, equal trees count one by one.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>
#include <span>
#include <vector>

#include "algebra/concept.hpp"
#include "common/control.hpp"
#include "sets/pareto_list.hpp"

namespace everytree {

struct ParetoTrees {
  // One of the tests that split a node alike: those that differ in the required items they belong to, and for the k
  // best up to k of each kind.
  struct Variant {
    std::int32_t test;
    bool flipped;
    std::uint32_t item;
  };

  // The query as a fold needs it, and how much it holds.
  struct Rule {
    Rule(const ParetoQuery& q, bool states_know_their_depth, Control& c)
        : query(q),
          by_depth(states_know_their_depth),
          control(c),
          replaces(q),
          k(q.k),
          n_costs(q.costs.size()),
          width(q.width()) {
      bound.assign(width, std::numeric_limits<double>::infinity());
      // A cost that may be negative can shrink on the way up: its bound is looked at only in the end.
      for (const auto& [criterion, most] : q.bounds)
        if (criterion >= q.costs.size() || q.costs[criterion]->non_negative())
          bound[criterion] = std::min(bound[criterion], most);
    }
    bool within(const double* value, std::int32_t depth) const {
      const double* most = bound.data();
      for (std::size_t c = 0; c < n_costs; ++c)
        if (value[c] > most[c] && !tied(value[c], most[c])) return false;
      // A node at depth d has d others beside its path, with a leaf below each; and is d tests down.
      const double above = by_depth ? depth : 0;
      return value[n_costs] + above <= most[n_costs] && value[n_costs + 1] + above <= most[n_costs + 1];
    }

    const ParetoQuery& query;
    const bool by_depth;
    Control& control;
    const Replaces replaces;
    const std::size_t k, n_costs, width;
    std::vector<double> bound;
    std::size_t held = 0;                       // bytes beside the lists
    mutable std::atomic<std::size_t> bytes{0};  // of finished lists
  };

  // What one thread has at hand.
  struct Desk {
    std::vector<double> value;
    std::size_t work = 0;  // since the last look at the limits
    bool calling_thread = true;
  };

  struct Value {
    ParetoList trees;
    const Rule* rule = nullptr;  // none: no tree yet
  };
  struct Weight {
    const Rule* rule = nullptr;
    Desk* desk = nullptr;
    std::int32_t depth = 0;             // of the state
    const double* values = nullptr;     // of a leaf or a cherry; null: not allowed
    std::span<const Variant> variants;  // of a split or a cherry
    std::uint32_t split = 0;            // its number
  };
  static constexpr bool kIdempotent = false, kSelective = false;

  static Value zero() { return {}; }
  static Value leaf(const Weight& w) {
    Value out{{}, w.rule};
    if (w.values != nullptr && w.rule->within(w.values, w.depth)) offer(out, w, w.values, 0, {});
    return out;
  }
  static Value cherry(const Weight& w) {
    Value out{{}, w.rule};
    if (w.values != nullptr && w.rule->within(w.values, w.depth))
      for (const Variant& v : w.variants) offer(out, w, w.values, v.item, {v.test, w.split, -1, -1, v.flipped});
    return out;
  }
  static Value join(const Weight& w, const Value& a, const Value& b) {
    Value out{{}, w.rule};
    add_join(out, w, a, b);
    return out;
  }
  static void add(Value& x, const Value& y) {
    if (y.trees.size() == 0) return;
    x.rule = y.rule;
    for (std::size_t k = 0; k < y.trees.size(); ++k)
      x.trees.offer(y.rule->replaces, y.rule->k, y.trees.values(k, y.rule->width), y.rule->width, y.trees.used(k),
                    y.trees.made(k));
  }
  // x ⊕ join(w, a, b), without the list between: a pair is offered once and not twice.
  static void add_join(Value& x, const Weight& w, const Value& a, const Value& b) {
    x.rule = w.rule;
    add_pairs(x.trees, w, a.trees, b.trees, [&w](const Variant& v, std::size_t one, std::size_t zero) {
      return Made{v.test, w.split, static_cast<std::int32_t>(one), static_cast<std::int32_t>(zero), v.flipped};
    });
  }
  // The same where make(variant, one, zero) says how the tree of trees number `one` and `zero` is made.
  template <class Make>
  static void add_pairs(ParetoList& list, const Weight& w, const ParetoList& a, const ParetoList& b, const Make& make) {
    const Rule& rule = *w.rule;
    const std::size_t width = rule.width, n_added = rule.n_costs + 1, depth = rule.n_costs + 1;
    const std::span<const Variant> variants = w.variants;
    const std::int32_t at = w.depth;
    Desk& desk = *w.desk;
    double* value = desk.value.data();
    for (std::size_t one = 0; one < a.size(); ++one)
      for (std::size_t zero = 0; zero < b.size(); ++zero) {
        // An offer looks at the whole list: check the limits every millisecond or so of that.
        if ((desk.work += 8 + list.size()) > (1u << 17)) {
          desk.work = 0;
          rule.control.check(desk.calling_thread, "joining trees", 0, 0);
          rule.control.check_memory(rule.bytes.load(std::memory_order_relaxed) + list.bytes() + rule.held);
        }
        const double *x = a.values(one, width), *y = b.values(zero, width);
        for (std::size_t c = 0; c < n_added; ++c) value[c] = x[c] + y[c];
        value[depth] = 1 + std::max(x[depth], y[depth]);
        if (!rule.within(value, at)) continue;
        for (const Variant& v : variants)
          list.offer(rule.replaces, rule.k, value, width, a.used(one) | b.used(zero) | v.item, make(v, one, zero));
      }
  }

 private:
  static void offer(Value& to, const Weight& w, const double* values, std::uint32_t used, const Made& made) {
    to.trees.offer(w.rule->replaces, w.rule->k, values, w.rule->width, used, made);
  }
};
static_assert(Algebra<ParetoTrees>);

}  // namespace everytree
