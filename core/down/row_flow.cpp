#include "down/row_flow.hpp"

#include <algorithm>

namespace everytree {

RowFlow::RowFlow(const Graph& graph, const Prior& prior)
    : graph_(&graph), prior_(&prior), kernels_(&kernels()), shares_(graph, prior) {
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

void RowFlow::load(const NewRows& rows, std::size_t from, std::size_t n, bool with_y) {
  const std::size_t n_tests = graph_->table().n_tests(), n_slots = slots.size();
  n_ = n;
  reach_.resize(n_tests * n);
  constexpr std::size_t kTile = 32;  // rows and tests that are turned at a time
  for (std::size_t r0 = 0; r0 < n; r0 += kTile)
    for (std::size_t t0 = 0; t0 < n_tests; t0 += kTile)
      for (std::size_t r = r0; r < std::min(n, r0 + kTile); ++r)
        for (std::size_t t = t0; t < std::min(n_tests, t0 + kTile); ++t) {
          const std::size_t at = (from + r) * n_tests + t;
          reach_[t * n + r] =
              rows.reach != nullptr ? rows.reach[at] : static_cast<std::uint16_t>(rows.outcomes[at] != 0 ? 0 : 65535);
        }
  y_.clear();
  if (with_y) y_.assign(n * stride, 0.0);
  for (std::size_t r = 0; r < n && with_y && n_slots > 0; ++r) {
    const std::uint8_t* row = rows.outcomes + (from + r) * n_tests;
    for (std::size_t k = 0; k < n_slots; ++k) {
      double sum = 0;
      for (std::uint32_t member : slots[k].members) sum += (row[member >> 1] != 0) != static_cast<bool>(member & 1);
      y_[r * stride + k] = sum;
    }
    y_[r * stride + n_slots] = 1.0;
  }
  rho_.assign(inner.size() * n, 0.0);
  if (!inner.empty()) std::fill_n(rho_.begin(), n, 1.0);  // the root comes first
}

// Add to ρ of one child what comes over one edge.
void RowFlow::pass(const Split& split, int side, double unit_probability, const InnerShares& shares,
                   const double* parent, double* child) const {
  const auto& classes = graph_->table().test_classes();
  const auto parts = graph_->parts(split), uppers = graph_->uppers(split);
  for (std::size_t k = 0; k < parts.size(); ++k)
    for (std::uint32_t member : classes[parts[k] >> 1].members) {
      const std::uint32_t test = member >> 1;
      const double p = prior_->fair ? unit_probability * shares.share(test) : unit_probability;
      const bool flipped = ((parts[k] ^ member) & 1) != 0;
      const double yes = (side == 1) != flipped ? p : 0.0, no = p - yes;
      kernels_->pass_on(parent, reach_.data() + test * n_, uppers[k], yes, no, n_, child);
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

void RowFlow::outcomes(const std::vector<ClosedForm::Element>& tests, const std::vector<std::uint32_t>& active,
                       const Kernels& kernels, Patterns& all, Patterns& out) const {
  // Of all rows, many at a time; then those that are active are picked.
  all.begin(tests.size(), n_);
  for (std::size_t e = 0; e < tests.size(); e += 4) {
    FourTests four{};
    for (std::size_t b = 0; b < 4; ++b) {
      const ClosedForm::Element& test = tests[std::min(e + b, tests.size() - 1)];
      const auto bit = static_cast<std::uint16_t>(e + b < tests.size() ? Patterns::bit(b) : 0);
      four.reach[b] = reach_.data() + test.test * n_;
      four.upper[b] = static_cast<std::uint16_t>(test.upper);
      (test.flipped ? four.no : four.yes)[b] = bit;
    }
    kernels.four_outcomes(four, n_, all.run_of(e));
  }
  if (active.size() == n_) {
    std::swap(all, out);
    return;
  }
  out.begin(tests.size(), active.size());
  for (std::size_t e = 0; e < tests.size(); e += 4) {
    const std::uint16_t* from = all.run_of(e);
    std::uint16_t* to = out.run_of(e);
    for (std::size_t k = 0; k < active.size(); ++k) to[k] = from[active[k]];
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
