#include "down/row_flow.hpp"

#include <algorithm>

namespace everytree {

RowFlow::RowFlow(const Graph& graph, const Prior& prior) : graph_(&graph), prior_(&prior), shares_(graph, prior) {
  if (!graph.table().local()) slots = make_slots(graph.table(), prior, first_slot);
  stride = (slots.size() + 1 + 7) & ~std::size_t{7};

  place_.assign(graph.size(), 0);
  for (auto it = graph.children_first().rbegin(); it != graph.children_first().rend(); ++it) {
    auto& states = graph.state(*it).inner() ? inner : closed;
    place_[*it] = static_cast<std::uint32_t>(states.size());
    states.push_back(*it);
  }
  unit.resize(inner.size());
  leaf.resize(inner.size());
  edges_begin_.assign(closed.size() + 1, 0);
  for (std::uint32_t id : inner)
    for (const Split& split : graph.splits(graph.state(id)))
      for (std::uint32_t child : split.child)
        if (!graph.state(child).inner()) ++edges_begin_[place_[child] + 1];
  for (std::size_t k = 0; k < closed.size(); ++k) edges_begin_[k + 1] += edges_begin_[k];
  edges_.resize(edges_begin_.back());
  std::vector<std::uint32_t> at(edges_begin_.begin(), edges_begin_.end() - 1);
  for (std::uint32_t id : inner) {
    const auto splits = graph.splits(graph.state(id));
    for (std::uint32_t k = 0; k < splits.size(); ++k)
      for (int side = 0; side < 2; ++side)
        if (const std::uint32_t child = splits[k].child[side]; !graph.state(child).inner())
          edges_[at[place_[child]]++] = {id, k, side};
  }
}

void RowFlow::load(const NewRows& rows, std::size_t from, std::size_t n) {
  const std::size_t n_tests = graph_->table().n_tests(), n_slots = slots.size();
  n_ = n;
  y_.assign(n * stride, 0.0);
  by_slot_.resize(n_slots * n);
  if (graph_->table().local()) {
    reach_.resize(n_tests * n);
    for (std::size_t r = 0; r < n; ++r) {
      const std::uint16_t* row = rows.reach + (from + r) * n_tests;
      for (std::size_t t = 0; t < n_tests; ++t) reach_[t * n + r] = row[t];
    }
  }
  for (std::size_t r = 0; r < n && n_slots > 0; ++r) {
    const std::uint8_t* row = rows.outcomes + (from + r) * n_tests;
    for (std::size_t k = 0; k < n_slots; ++k) {
      double sum = 0;
      for (std::uint32_t member : slots[k].members) sum += (row[member >> 1] != 0) != static_cast<bool>(member & 1);
      y_[r * stride + k] = sum;
      by_slot_[k * n + r] = sum;
    }
    y_[r * stride + n_slots] = 1.0;
  }
  rho_.assign(inner.size() * n, 0.0);
  if (!inner.empty()) std::fill_n(rho_.begin(), n, 1.0);  // the root comes first
}

// Add to ρ of one child what comes over one edge.
void RowFlow::pass(const Split& split, int side, double unit_probability, const InnerShares& shares,
                   const double* parent, double* child) const {
  if (graph_->table().local()) {
    const auto parts = graph_->parts(split), uppers = graph_->uppers(split);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const std::uint32_t test = parts[k] >> 1, upper = uppers[k];
      const double p = prior_->fair ? unit_probability * shares.share(test) : unit_probability;
      const std::uint16_t* reach = reach_.data() + test * n_;
      const double yes = (side == 1) != static_cast<bool>(parts[k] & 1) ? p : 0.0, no = p - yes;
      for (std::size_t r = 0; r < n_; ++r) child[r] += parent[r] * (reach[r] <= upper ? yes : no);
    }
    return;
  }
  for (std::uint32_t part : graph_->parts(split)) {
    for (std::uint32_t k = first_slot[part >> 1]; k < first_slot[(part >> 1) + 1]; ++k) {
      const bool flipped = (part & 1) ^ slots[k].flipped;
      const double p = prior_->fair ? unit_probability * shares.share(slots[k].members[0] >> 1) : unit_probability;
      const double m = slots[k].multiplicity;
      const double* yk = by_slot_.data() + k * n_;
      if ((side == 1) != flipped)
        for (std::size_t r = 0; r < n_; ++r) child[r] += parent[r] * p * yk[r];
      else
        for (std::size_t r = 0; r < n_; ++r) child[r] += parent[r] * p * (m - yk[r]);
    }
  }
}

const double* RowFlow::at_inner(std::size_t k) {
  const State& s = graph_->state(inner[k]);
  const double* here = rho_.data() + k * n_;
  if (prior_->fair) shares_.load(s);
  const auto splits = graph_->splits(s);
  for (std::size_t x = 0; x < splits.size(); ++x)
    for (int side = 0; side < 2; ++side)
      if (const std::uint32_t child = splits[x].child[side]; graph_->state(child).inner())
        pass(splits[x], side, unit[k][x], shares_, here, rho_.data() + place_[child] * n_);
  return here;
}

void RowFlow::at_closed(std::size_t k, const InnerShares& shares, double* out) const {
  std::fill_n(out, n_, inner.empty() ? 1.0 : 0.0);
  for (std::uint32_t e = edges_begin_[k]; e < edges_begin_[k + 1]; ++e) {
    const State& parent = graph_->state(edges_[e].parent);
    if (prior_->fair) shares.load(parent);
    const std::uint32_t at = place_[edges_[e].parent];
    pass(graph_->splits(parent)[edges_[e].split], edges_[e].side, unit[at][edges_[e].split], shares,
         rho_.data() + at * n_, out);
  }
}

void RowFlow::answers(const Frontier& f, const std::vector<std::uint32_t>& active, std::size_t width,
                      std::vector<double>& y) const {
  y.assign(active.size() * width, 0.0);
  const bool single = prior_->fair && !f.apart();
  std::size_t variable = 0;
  for (std::size_t i = 0; i < f.n_groups(); ++i) {
    const std::uint32_t* upper = f.uppers_begin(i);
    for (const std::uint32_t* p = f.parts_begin(i); p != f.parts_end(i); ++p, ++upper) {
      const std::uint16_t* reach = reach_.data() + (*p >> 1) * n_;
      // Single tests are variables as they are; those of a split are counted as the split has them.
      const bool flipped = !single && (*p & 1);
      for (std::size_t k = 0; k < active.size(); ++k)
        y[k * width + variable] += (reach[active[k]] <= *upper) != flipped ? 1.0 : 0.0;
      if (single) ++variable;
    }
    if (!single) ++variable;
  }
  for (std::size_t k = 0; k < active.size(); ++k) y[k * width + variable] = 1.0;
}

}  // namespace everytree
