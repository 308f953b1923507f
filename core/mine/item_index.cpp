#include "mine/item_index.hpp"

#include "common/errors.hpp"

namespace everytree::mine {

namespace {
constexpr std::uint32_t kMarked = kNone - 1;  // an itemset that was asked for, with results behind `last` edges

std::size_t mix(std::uint32_t from, std::uint32_t item) {
  std::uint64_t x = (std::uint64_t{from} << 32 | item) * 0x9e3779b97f4a7c15ULL;
  x ^= x >> 32;
  return static_cast<std::size_t>(x * 0xff51afd7ed558ccdULL >> 16);
}
}  // namespace

ItemIndex::ItemIndex(Meter& meter) : edges_(meter), result_(meter), meter_(&meter) {
  edges_.resize(64);
  result_.push_back(kNone);
}

std::uint32_t ItemIndex::locate(const Item* items, std::size_t n, std::uint32_t last) {
  std::uint32_t node = 0;
  for (std::size_t k = 0; k < n; ++k) node = step(node, items[k]);
  if (last != kNone) {
    if (result_[node] == kNone) {
      result_[node] = kMarked;
      ++n_itemsets_;
    }
    node = step(node, last);
  }
  if (result_[node] == kNone) {
    if (last == kNone) ++n_itemsets_;
    result_[node] = n_results_++;
  }
  return result_[node];
}

std::uint32_t ItemIndex::find(const Item* items, std::size_t n) const {
  std::uint32_t node = 0;
  const std::size_t mask = edges_.size() - 1;
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t k = mix(node, items[i]) & mask;
    while (edges_[k].from != kNone && (edges_[k].from != node || edges_[k].item != items[i])) k = (k + 1) & mask;
    if (edges_[k].from == kNone) return kNone;
    node = edges_[k].to;
  }
  return result_[node] == kMarked ? kNone : result_[node];
}

std::uint32_t ItemIndex::step(std::uint32_t from, std::uint32_t item) {
  std::size_t mask = edges_.size() - 1, k = mix(from, item) & mask;
  for (; edges_[k].from != kNone; k = (k + 1) & mask)
    if (edges_[k].from == from && edges_[k].item == item) return edges_[k].to;
  if (used_ * 8 >= edges_.size() * 5) {
    grow();
    mask = edges_.size() - 1;
    for (k = mix(from, item) & mask; edges_[k].from != kNone;) k = (k + 1) & mask;
  }
  if (result_.size() >= kMarked) throw LimitReached(LimitReached::Reason::memory, "more than 4·10^9 itemsets");
  const auto to = static_cast<std::uint32_t>(result_.size());
  result_.push_back(kNone);
  edges_[k] = {from, item, to};
  ++used_;
  return to;
}

void ItemIndex::grow() {
  Store<Edge> larger(*meter_);
  larger.resize(edges_.size() * 2);
  const std::size_t mask = larger.size() - 1;
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    meter_->work(4, "building the tree", n_results_);
    if (edges_[e].from == kNone) continue;
    std::size_t k = mix(edges_[e].from, edges_[e].item) & mask;
    while (larger[k].from != kNone) k = (k + 1) & mask;
    larger[k] = edges_[e];
  }
  edges_.swap(larger);
}

}  // namespace everytree::mine
