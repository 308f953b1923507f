#include "down/rule_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

namespace everytree {

namespace {

constexpr std::size_t kWords = 16;  // rows are taken 1024 at a time: their bits and sums stay in the cache

}  // namespace

RuleSum::RuleSum(const Rules& rules, std::size_t n_tests, std::vector<double> floor)
    : n_tests_(n_tests), base_(rules.base), floor_(std::move(floor)) {
  const std::size_t n_classes = base_.size(), n_rules = rules.begin.empty() ? 0 : rules.begin.size() - 1;
  if (n_classes == 0 || floor_.size() != n_classes) throw InvalidInput("rules need a base and a floor for each class");
  if (rules.moves.size() != n_rules * n_classes) throw InvalidInput("rules need one move for each class");
  if (n_rules >= kNone) throw InvalidInput("too many rules");
  for (const std::vector<double>* numbers : {&rules.base, &std::as_const(floor_), &rules.moves})
    for (double x : *numbers)
      if (!std::isfinite(x)) throw InvalidInput("the numbers of rules must be finite");
  for (double x : floor_) {
    if (x < 0) throw InvalidInput("the floor of a probability must not be negative");
    free_ -= x;
  }
  if (free_ < -1e-9) throw InvalidInput("the floors of the probabilities add up to more than one");
  free_ = std::max(0.0, free_);  // rounding
  if (n_rules > 0 && (rules.begin.front() != 0 || rules.begin.back() != rules.items.size()))
    throw InvalidInput("the items of the rules do not fit their number");
  for (std::size_t r = 0; r < n_rules; ++r) {
    if (rules.begin[r] >= rules.begin[r + 1]) throw InvalidInput("a rule needs at least one item");
    for (std::uint64_t k = rules.begin[r]; k < rules.begin[r + 1]; ++k) {
      if (rules.items[k] >> 1 >= n_tests)
        throw InvalidInput("a rule uses test " + std::to_string(rules.items[k] >> 1) + "; there are " +
                           std::to_string(n_tests) + " tests, counted from 0");
      if (k > rules.begin[r] && rules.items[k - 1] >> 1 >= rules.items[k] >> 1)
        throw InvalidInput("the items of a rule must be sorted by test, each test once");
    }
  }

  std::vector<std::uint32_t> order(n_rules);
  std::iota(order.begin(), order.end(), 0u);
  const auto at = [&](std::size_t k) { return rules.items.begin() + static_cast<std::ptrdiff_t>(k); };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::lexicographical_compare(at(rules.begin[a]), at(rules.begin[a + 1]), at(rules.begin[b]),
                                        at(rules.begin[b + 1]));
  });
  moves_.reserve(rules.moves.size());
  std::vector<std::uint32_t> open;  // the nodes on the way to the last rule
  for (std::uint32_t r : order) {
    const std::size_t n = rules.begin[r + 1] - rules.begin[r];
    const std::uint32_t* items = rules.items.data() + rules.begin[r];
    std::size_t common = 0;
    while (common < std::min(n, open.size()) && nodes_[open[common]].item == items[common]) ++common;
    if (common == n) throw InvalidInput("a rule is given twice");
    for (; open.size() > common; open.pop_back()) nodes_[open.back()].skip = static_cast<std::uint32_t>(nodes_.size());
    if (nodes_.size() + n >= kNone) throw InvalidInput("too many rules");
    for (std::size_t k = common; k < n; ++k) {
      open.push_back(static_cast<std::uint32_t>(nodes_.size()));
      nodes_.push_back({items[k], static_cast<std::uint32_t>(k), 0, kNone});
    }
    nodes_.back().moves = static_cast<std::uint32_t>(moves_.size() / n_classes);
    moves_.insert(moves_.end(), rules.moves.begin() + static_cast<std::ptrdiff_t>(r * n_classes),
                  rules.moves.begin() + static_cast<std::ptrdiff_t>((r + 1) * n_classes));
    deepest_ = std::max(deepest_, n);
  }
  for (std::uint32_t node : open) nodes_[node].skip = static_cast<std::uint32_t>(nodes_.size());
}

void RuleSum::predict(const std::uint8_t* rows, std::size_t n_rows, double* out, Control& control) const {
  const std::size_t n_classes = base_.size();
  std::vector<std::uint64_t> bits(2 * n_tests_ * kWords), covers((deepest_ + 1) * kWords);
  // Two classes need one sum, otherwise the last class is what remains of 1.
  const std::size_t n_asked = n_classes - 1;
  std::vector<double> sum(kWords * 64 * std::max<std::size_t>(1, n_asked));
  for (std::size_t from = 0; from < n_rows; from += kWords * 64) {
    control.check(true, "predicting", from, n_rows);
    const std::size_t n = std::min(n_rows - from, kWords * 64), words = (n + 63) / 64;
    std::fill(bits.begin(), bits.end(), 0);
    for (std::size_t r = 0; r < n; ++r) {
      const std::uint8_t* row = rows + (from + r) * n_tests_;
      for (std::size_t t = 0; t < n_tests_; ++t)
        bits[(2 * t + (row[t] != 0)) * kWords + r / 64] |= std::uint64_t{1} << (r % 64);
    }
    for (std::size_t w = 0; w < words; ++w)
      covers[w] = w + 1 < words || n % 64 == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << (n % 64)) - 1;
    for (std::size_t r = 0; r < n; ++r) std::copy_n(base_.data(), n_asked, sum.data() + r * n_asked);
    std::size_t since = 0;
    for (std::size_t k = 0; k < nodes_.size();) {
      if ((++since & 0xffff) == 0) control.check(true, "predicting", 0, 0);
      const Node& node = nodes_[k];
      const std::uint64_t* above = covers.data() + node.depth * kWords;
      std::uint64_t* here = covers.data() + (node.depth + 1) * kWords;
      const std::uint64_t* column = bits.data() + node.item * kWords;
      std::uint64_t any = 0;
      for (std::size_t w = 0; w < words; ++w) any |= here[w] = above[w] & column[w];
      if (any == 0) {
        k = node.skip;
        continue;
      }
      ++k;
      if (node.moves == kNone) continue;
      const double* move = moves_.data() + node.moves * n_classes;
      for (std::size_t w = 0; w < words; ++w)
        for (std::uint64_t left = here[w]; left != 0; left &= left - 1) {
          double* q = sum.data() + (w * 64 + static_cast<std::size_t>(std::countr_zero(left))) * n_asked;
          for (std::size_t c = 0; c < n_asked; ++c) q[c] += move[c];
        }
    }
    for (std::size_t r = 0; r < n; ++r) {
      double* p = out + (from + r) * n_classes;
      double rest = 1;
      for (std::size_t c = 0; c < n_asked; ++c) rest -= p[c] = sum[r * n_asked + c];
      p[n_asked] = rest;
      nearest(p);
    }
  }
}

// Lower the classes above their floor alike until the sum is one; those that reach their floor stay there.
void RuleSum::nearest(double* p) const {
  const std::size_t n = base_.size();
  bool inside = true;
  for (std::size_t c = 0; c < n; ++c) inside = inside && p[c] >= floor_[c];
  if (inside) return;
  if (n == 2) {
    p[0] = std::clamp(p[0], floor_[0], 1.0 - floor_[1]);
    p[1] = 1.0 - p[0];
    return;
  }
  std::vector<double> above(n);
  for (std::size_t c = 0; c < n; ++c) above[c] = p[c] - floor_[c];
  std::vector<double> sorted = above;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double sum = 0, lower = 0;
  for (std::size_t k = 0; k < n; ++k) {
    sum += sorted[k];
    const double t = (sum - free_) / static_cast<double>(k + 1);
    if (sorted[k] >= t) lower = t;
  }
  for (std::size_t c = 0; c < n; ++c) p[c] = floor_[c] + std::max(0.0, above[c] - lower);
}

}  // namespace everytree
