// What DL8 keeps beside an itemset (Algorithm 1, lines 27 to 35), as a policy of its recursions.
//
//     OneTree    the one best tree, where the query ranks a cost and then the size, and bounds nothing else
//     ManyTrees  the best tree for every size and depth that may matter higher up: a list in which no tree may replace
//                another (sets/pareto.hpp says when it may; the paper's table of sizes and depths, without its
//                repetitions). It answers every other query: bounds, rankings with size or depth first, several costs,
//                required tests, the k best.
// (Study of DL8's strategies: see mine/strategies.hpp.)
#pragma once

#include <cmath>

#include "mine/lattice.hpp"
#include "sets/pareto_algebra.hpp"

namespace everytree::mine {

class OneTree {
 public:
  using Entry = Tip;
  OneTree(const Lattice& lattice, bool, Meter&) : lattice_(&lattice) {}

  bool known(const Entry& e) const { return e.known(); }
  void leaf(Entry& e, const std::int32_t* counts, std::size_t) const { e = lattice_->leaf(counts); }
  void offer(Entry& e, std::uint32_t test, const Entry& zero, const Entry& one, std::size_t) const {
    e.offer(zero.cost + one.cost, zero.leaves + one.leaves, static_cast<std::int32_t>(test));
  }
  void finish(Entry&) const {}

  std::vector<std::size_t> answers(const Entry& root) const {
    return std::isfinite(root.cost) ? std::vector<std::size_t>{0} : std::vector<std::size_t>{};
  }
  std::vector<double> values(const Entry& root, std::size_t) const { return {root.cost}; }
  Made made(const Entry& e, std::size_t) const { return {e.test, 0, 0, 0, false}; }

 private:
  const Lattice* lattice_;
};

class ManyTrees {
 public:
  struct Entry {
    ParetoList trees;
    bool known = false;
  };
  // depth_known: an entry belongs to one depth, so that bounds on size and depth prune by what stands above.
  ManyTrees(const Lattice& lattice, bool depth_known, Meter& meter)
      : query_(&lattice.query()), rule_(*query_, depth_known, meter.control()), meter_(&meter) {
    desk_.value.resize(query_->width());
  }
  ManyTrees(const ManyTrees&) = delete;
  ~ManyTrees() { meter_->drop(held_); }

  bool known(const Entry& e) const { return e.known; }
  void leaf(Entry& e, const std::int32_t* counts, std::size_t depth) {
    e.trees.clear();
    e.known = false;
    double* value = desk_.value.data();
    for (std::size_t c = 0; c < query_->costs.size(); ++c)
      if (no_cost(value[c] = (*query_->costs[c])(counts))) return;  // no such leaf
    value[query_->leaves()] = 1;
    value[query_->depth()] = 0;
    if (rule_.within(value, static_cast<std::int32_t>(depth)))
      e.trees.offer(rule_.replaces, rule_.k, value, rule_.width, 0, {});
  }
  void offer(Entry& e, std::uint32_t test, const Entry& zero, const Entry& one, std::size_t depth) {
    const ParetoTrees::Variant variant{static_cast<std::int32_t>(test), false,
                                       query_->required.empty() ? 0 : query_->required[test]};
    ParetoTrees::Weight weight;
    weight.rule = &rule_;
    weight.desk = &desk_;
    weight.depth = static_cast<std::int32_t>(depth);
    weight.variants = {&variant, 1};
    ParetoTrees::add_pairs(e.trees, weight, one.trees, zero.trees,
                           [](const ParetoTrees::Variant& v, std::size_t yes, std::size_t no) {
                             return Made{v.test, 0, static_cast<std::int32_t>(yes), static_cast<std::int32_t>(no)};
                           });
  }
  void finish(Entry& e) {
    e.trees.finish();
    e.known = true;
    meter_->hold(e.trees.bytes());
    held_ += e.trees.bytes();
  }

  std::vector<std::size_t> answers(const Entry& root) const { return answers_of(root.trees, *query_); }
  std::vector<double> values(const Entry& root, std::size_t place) const {
    const double* value = root.trees.values(place, rule_.width);
    return {value, value + rule_.width};
  }
  Made made(const Entry& e, std::size_t place) const { return e.trees.made(place); }

 private:
  const ParetoQuery* query_;
  ParetoTrees::Rule rule_;
  ParetoTrees::Desk desk_;
  Meter* meter_;
  std::size_t held_ = 0;
};

}  // namespace everytree::mine
