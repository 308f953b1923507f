// What leaves and splits weigh, for each family of algebras: the bridge between weights (data) and algebra (type).
#pragma once

#include <algorithm>
#include <limits>

#include "algebra/by_leaves.hpp"
#include "algebra/count.hpp"
#include "algebra/max_product.hpp"
#include "algebra/min_plus.hpp"
#include "algebra/product.hpp"
#include "algebra/sum_product.hpp"
#include "algebra/tie.hpp"
#include "common/infinity.hpp"
#include "fold/up.hpp"

namespace everytree {

// Shares of an inner state's splits: Σ over the tests of a split, or the best one.
class InnerShares {
 public:
  InnerShares(const Graph& graph, const Prior& prior) : graph_(&graph), prior_(&prior) {}
  void load(const State& s) const;
  template <PlainProduct A>
  double share(const Split& split) const;
  double share(std::uint32_t test) const { return shares_.share(test); }

 private:
  const Graph* graph_;
  const Prior* prior_;
  mutable Shares shares_;
};

// Product weights (marginal likelihood × prior) for SumProduct, MaxProduct and what is built on them.
template <ProductAlgebra A>
class WeighProduct {
 public:
  struct Inner {
    Wide leaf;
    std::vector<Wide> split;
    std::vector<std::int32_t> counts;
  };
  // `kept`: where the second levels of closed states are to be kept, if anywhere.
  WeighProduct(const Graph& graph, const ProductWeights& weights, SecondLevels* kept = nullptr)
      : graph_(&graph), weights_(&weights), shares_(graph, weights.prior()), kept_(kept) {}
  std::size_t bytes() const { return weights_->bytes() + (kept_ == nullptr ? 0 : kept_->bytes()); }

  typename A::Value closed(std::size_t id, OneLevelFold& fold, OneLevel& level) const {
    fold.product<PlainOf<A>>(id, *weights_, level);
    if constexpr (std::same_as<A, SumProduct>) {
      if (kept_ != nullptr) fold.keep(id, *weights_, level, *kept_);
      // The common case in plain doubles: one Wide at the end.
      double value = level.state_leaf;
      for (std::size_t i = 0; i < level.n; ++i)
        value += level.weight[i] * ((level.leaf[1][i] + level.split[1][i]) * (level.leaf[0][i] + level.split[0][i]));
      return Wide(value) * Wide::from_log(level.log_scale, level.log_scale_low);
    } else if constexpr (std::same_as<A, MaxProduct>) {
      double value = level.state_leaf, leaves = 1;
      const auto better = [](double y, double y_leaves, double& x, double& x_leaves) {
        if (product_improves(y, x, y_leaves < x_leaves)) {
          x = y;
          x_leaves = y_leaves;
        }
      };
      for (std::size_t i = 0; i < level.n; ++i) {
        double side[2], side_leaves[2];
        for (int a = 0; a < 2; ++a) {
          side[a] = level.leaf[a][i];
          side_leaves[a] = 1;
          better(level.split[a][i], 2, side[a], side_leaves[a]);
        }
        better(level.weight[i] * (side[1] * side[0]), side_leaves[0] + side_leaves[1], value, leaves);
      }
      return {Wide(value) * Wide::from_log(level.log_scale, level.log_scale_low), leaves};
    } else {
      // exp(log_scale) belongs to every tree of the state once: give it to the leaf and to each split.
      const Wide scale = Wide::from_log(level.log_scale, level.log_scale_low);
      OneLevel& l = level;
      typename A::Value value = A::leaf(Wide(l.state_leaf) * scale);
      for (std::size_t i = 0; i < l.n; ++i) {
        typename A::Value side[2];
        for (int a = 0; a < 2; ++a) {
          side[a] = A::leaf(Wide(l.leaf[a][i]));
          if (l.tests[a][i] > 0) A::add(side[a], A::cherry(Wide(l.split[a][i])));
        }
        A::add(value, A::join(Wide(l.weight[i]) * scale, side[1], side[0]));
      }
      return value;
    }
  }

  void inner(std::size_t id, Inner& out) const {
    const State& s = graph_->state(id);
    const auto depth = static_cast<std::size_t>(s.depth);
    out.counts.resize(graph_->table().n_classes());
    graph_->table().class_counts(graph_->cover(id), out.counts.data());
    out.leaf = weights_->wide_leaf(out.counts.data(), depth, s.n_tests > 0);
    const Wide base = Wide::from_log(weights_->prior().log_split_base(depth));
    shares_.load(s);
    out.split.clear();
    for (const Split& split : graph_->splits(s)) out.split.push_back(base * Wide(shares_.share<PlainOf<A>>(split)));
  }

 private:
  const Graph* graph_;
  const ProductWeights* weights_;
  InnerShares shares_;
  SecondLevels* kept_;
};

// Additive leaf costs for MinPlus, Lexicographic and what is built on them. Splits cost nothing; what has no cost is
// the algebra's infinity.
template <Algebra A>
class WeighCost {
 public:
  struct Inner {
    double leaf;
    std::vector<double> split;
    std::vector<std::int32_t> counts;
  };
  WeighCost(const Graph& graph, const LeafCost& cost) : graph_(&graph), cost_(&cost) {}
  typename A::Value closed(std::size_t id, OneLevelFold& fold, OneLevel& level) const {
    fold.cost(id, *cost_, level);
    if constexpr (std::same_as<A, ByLeaves<MinPlus>>) {
      // One to four leaves: plain minima, without a vector per split.
      double best[4] = {level.state_leaf, kInf, kInf, kInf};
      for (std::size_t i = 0; i < level.n; ++i) {
        const double l1 = level.leaf[1][i], l0 = level.leaf[0][i], s1 = level.split[1][i], s0 = level.split[0][i];
        best[1] = std::min(best[1], l1 + l0);
        best[2] = std::min(best[2], std::min(l1 + s0, s1 + l0));
        best[3] = std::min(best[3], s1 + s0);
      }
      std::size_t n = 4;
      while (n > 1 && no_cost(best[n - 1])) --n;
      for (double& x : best) x = no_cost(x) ? kInf : x;
      return {best, best + n};
    } else {
      typename A::Value value = no_cost(level.state_leaf) ? A::zero() : A::leaf(level.state_leaf);
      for (std::size_t i = 0; i < level.n; ++i) {
        typename A::Value side[2];
        for (int a = 0; a < 2; ++a) {
          side[a] = no_cost(level.leaf[a][i]) ? A::zero() : A::leaf(level.leaf[a][i]);
          if (!no_cost(level.split[a][i])) A::add(side[a], A::cherry(level.split[a][i]));
        }
        A::add(value, A::join(0.0, side[1], side[0]));
      }
      return value;
    }
  }
  void inner(std::size_t id, Inner& out) const {
    const State& s = graph_->state(id);
    out.counts.resize(graph_->table().n_classes());
    graph_->table().class_counts(graph_->cover(id), out.counts.data());
    out.leaf = (*cost_)(out.counts.data());
    if (no_cost(out.leaf)) out.leaf = std::numeric_limits<double>::infinity();
    out.split.assign(s.splits_end - s.splits_begin, 0.0);
  }

 private:
  const Graph* graph_;
  const LeafCost* cost_;
};

// Every tree weighs one.
class WeighCount {
 public:
  struct Inner {
    Natural leaf;
    std::vector<Natural> split;
  };
  explicit WeighCount(const Graph& graph) : graph_(&graph) {}
  Natural closed(std::size_t id, OneLevelFold& fold, OneLevel& level) const {
    fold.tests(id, level);
    Natural value(1);
    // (1 + tests)² · multiplicity stays below 2^63 for up to a million tests: add in 128 bits, then once as Natural.
    Limb2 sum = 0;
    for (std::size_t i = 0; i < level.n; ++i)
      sum += static_cast<Limb2>(level.weight[i]) * static_cast<std::uint64_t>(1 + level.tests[1][i]) *
             static_cast<std::uint64_t>(1 + level.tests[0][i]);
    Natural high(static_cast<std::uint64_t>(sum >> 64));
    value += Natural(static_cast<std::uint64_t>(sum));
    if (sum >> 64) {
      Natural shift = Natural(std::uint64_t{1} << 63) * Natural(2);
      value += high * shift;
    }
    return value;
  }
  void inner(std::size_t id, Inner& out) const {
    out.leaf = Natural(1);
    out.split.clear();
    const auto& classes = graph_->table().test_classes();
    for (const Split& split : graph_->splits(graph_->state(id))) {
      std::uint64_t tests = 0;
      for (std::uint32_t part : graph_->parts(split)) tests += classes[part >> 1].members.size();
      out.split.emplace_back(tests);
    }
  }

 private:
  const Graph* graph_;
};

// The prior alone, for SumProduct: leaves weigh what the prior gives them, whatever their examples. Below a split the
// shares of all feasible tests add up to 1, or to e^(1−w), or to their number where every test weighs 1: no pair has to
// be visited but to see whether any test is feasible.
class WeighPrior {
 public:
  struct Inner {
    Wide leaf;
    std::vector<Wide> split;
  };
  WeighPrior(const Graph& graph, const Prior& prior) : graph_(&graph), prior_(&prior) {}

  Wide closed(std::size_t id, OneLevelFold& fold, OneLevel& level) const {
    const State& s = graph_->state(id);
    const auto depth = static_cast<std::size_t>(s.depth);
    fold.tests(id, level);
    Wide value = Wide::from_log(prior_->log_leaf(depth, level.n > 0));
    if (level.n == 0) return value;
    const Wide open = Wide::from_log(prior_->log_leaf(depth + 1, true)),
               shut = Wide::from_log(prior_->log_leaf(depth + 1, false)),
               cherry = Wide::from_log(prior_->log_split_base(depth + 1) + 2 * prior_->log_leaf(depth + 2, false));
    const auto side = [&](double tests) {
      if (tests == 0) return shut;
      return open + cherry * Wide(prior_->fair ? prior_->fair_sum(tests) : tests / prior_->share_divisor(tests));
    };
    // Shares of the splits by their tests.
    const Frontier& f = fold.frontier();
    Shares shares;
    shares.begin(*prior_);
    for (std::size_t i = 0; i < level.n; ++i) shares.add(graph_->table(), f.parts(i));
    const Wide base = Wide::from_log(prior_->log_split_base(depth));
    for (std::size_t i = 0; i < level.n; ++i) {
      const double share = shares.share<SumProduct>(graph_->table(), f.parts(i));
      value += base * Wide(share) * side(level.tests[1][i]) * side(level.tests[0][i]);
    }
    return value;
  }

  void inner(std::size_t id, Inner& out) const {
    const State& s = graph_->state(id);
    const auto depth = static_cast<std::size_t>(s.depth);
    const InnerShares shares(*graph_, *prior_);
    shares.load(s);
    out.leaf = Wide::from_log(prior_->log_leaf(depth, s.n_tests > 0));
    const Wide base = Wide::from_log(prior_->log_split_base(depth));
    out.split.clear();
    for (const Split& split : graph_->splits(s)) out.split.push_back(base * Wide(shares.share<SumProduct>(split)));
  }

 private:
  const Graph* graph_;
  const Prior* prior_;
};

inline void InnerShares::load(const State& s) const {
  shares_.begin(*prior_);
  for (const Split& split : graph_->splits(s)) shares_.add(graph_->table(), graph_->parts(split));
}

template <PlainProduct A>
double InnerShares::share(const Split& split) const {
  return shares_.share<A>(graph_->table(), graph_->parts(split));
}

}  // namespace everytree
