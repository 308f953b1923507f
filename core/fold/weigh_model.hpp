// Product weights for any leaf model, from the definition: prior × exp(log marginal of the statistic of each leaf).
//
// The statistic of a cover is the sum over its slots (one bit of the cover each; with one class and without weights,
// slot k is row k). Closed states are folded test by test: simple, and the way in for a new model. Class counts have
// the kernels of the frontier instead (WeighProduct).
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "algebra/product.hpp"
#include "common/errors.hpp"
#include "fold/weigh.hpp"
#include "table/offers.hpp"
#include "weights/leaf_model.hpp"

namespace everytree {

template <ProductAlgebra A, LeafModel M>
class WeighModel {
 public:
  using Entry = typename M::Entry;
  struct Inner {
    Wide leaf;
    std::vector<Wide> split;
  };
  // slots[64·word + bit][entry]: what each slot adds to the statistic.
  WeighModel(const Graph& graph, const Prior& prior, const M& model, std::vector<Entry> slots)
      : graph_(&graph), prior_(&prior), model_(&model), slots_(std::move(slots)), shares_(graph, prior) {
    if (slots_.size() != 64 * graph.table().n_words() * model.width())
      throw InvalidInput("a statistic needs one row for each slot of the table");
  }

  typename A::Value closed(std::size_t id, OneLevelFold&, OneLevel&) const {
    const State& s = graph_->state(id);
    // Both levels use the tests that the state offers.
    Offers offers(graph_->table(), graph_->options().min_leaf);
    const std::span<const std::uint32_t> offered =
        s.levels > 0 ? offers.of(graph_->cover(id)) : std::span<const std::uint32_t>{};
    return subtree(graph_->cover(id), static_cast<std::size_t>(s.depth), s.levels, offered);
  }
  void inner(std::size_t id, Inner& out) const {
    const State& s = graph_->state(id);
    const auto depth = static_cast<std::size_t>(s.depth);
    out.leaf = leaf(graph_->cover(id), depth, s.n_tests > 0);
    const Wide base = Wide::from_log(prior_->log_split_base(depth));
    shares_.load(s);
    out.split.clear();
    for (const Split& split : graph_->splits(s)) out.split.push_back(base * Wide(shares_.share<PlainOf<A>>(split)));
  }

 private:
  Wide leaf(const std::uint64_t* cover, std::size_t depth, bool open) const {
    std::vector<Entry> s(model_->width(), Entry(0));
    for (std::size_t w = 0; w < graph_->table().n_words(); ++w)
      for (std::uint64_t bits = cover[w]; bits != 0; bits &= bits - 1) {
        const std::size_t slot = 64 * w + static_cast<std::size_t>(std::countr_zero(bits));
        for (std::size_t k = 0; k < s.size(); ++k) s[k] += slots_[slot * s.size() + k];
      }
    return Wide::from_log(prior_->log_leaf(depth, open) + model_->log_marginal(depth, s.data()));
  }

  // The fold over all trees of so many levels, with the tests of these classes that are feasible.
  typename A::Value subtree(const std::uint64_t* cover, std::size_t depth, int levels,
                            std::span<const std::uint32_t> offered) const {
    const CountTable& table = graph_->table();
    const std::int64_t total = table.count(cover), min_leaf = graph_->options().min_leaf;
    std::vector<std::uint32_t> feasible;
    Shares shares;
    shares.begin(*prior_);
    for (const std::uint32_t c : offered) {
      if (levels == 0) break;
      const std::int64_t holds = table.count(cover, table.test_classes()[c].test);
      if (holds < min_leaf || total - holds < min_leaf) continue;
      feasible.push_back(c << 1);
      shares.add(table, std::vector<std::uint32_t>{c << 1});
    }
    typename A::Value value = A::leaf(leaf(cover, depth, !feasible.empty()));
    const Wide base = Wide::from_log(prior_->log_split_base(depth));
    Cover side[2] = {Cover(table.n_words()), Cover(table.n_words())};
    for (std::uint32_t part : feasible) {
      const std::uint64_t* column = table.column(table.test_classes()[part >> 1].test);
      for (std::size_t w = 0; w < table.n_words(); ++w) {
        side[1][w] = cover[w] & column[w];
        side[0][w] = cover[w] & ~column[w];
      }
      const double share = shares.share<PlainOf<A>>(table, std::vector<std::uint32_t>{part});
      A::add(value, A::join(base * Wide(share), subtree(side[1].data(), depth + 1, levels - 1, offered),
                            subtree(side[0].data(), depth + 1, levels - 1, offered)));
    }
    return value;
  }

  const Graph* graph_;
  const Prior* prior_;
  const M* model_;
  std::vector<Entry> slots_;
  InnerShares shares_;
};

}  // namespace everytree
