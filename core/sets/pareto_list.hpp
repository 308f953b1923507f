// Trees of one state that no k others replace: values, required items used, and how each tree is made.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "algebra/tie.hpp"
#include "sets/pareto.hpp"

namespace everytree {

// How a tree is made: a leaf, or a test above two trees. At an inner state `yes` and `no` are places in the lists of
// the split's children 1 and 0; at a closed state they are second tests, or −1 for a leaf. `flipped`: the test is 0
// where the split's child 1 is.
struct Made {
  std::int32_t test = -1;
  std::uint32_t split = 0;
  std::int32_t yes = -1, no = -1;
  bool flipped = false;
};

// When a tree may replace another.
class Replaces {
 public:
  explicit Replaces(const ParetoQuery& query) {
    std::size_t place = 0;
    for (; !query.front && place < query.rank.size() && query.rank[place] != query.depth(); ++place)
      in_order_.push_back(query.rank[place]);
    each_.assign(query.rank.begin() + static_cast<std::ptrdiff_t>(place), query.rank.end());
    for (const auto& [criterion, bound] : query.bounds) bounded_.push_back(criterion);
  }
  struct Verdict {
    bool left, right;  // left may replace right; right may replace left
  };
  Verdict compare(const double* a, std::uint32_t used_a, const double* b, std::uint32_t used_b) const {
    Verdict v{(used_a & used_b) == used_b, (used_a & used_b) == used_a};
    for (std::size_t c : bounded_)
      if (!narrow(a[c], b[c], v)) return v;
    for (std::size_t c : in_order_) {
      if (a[c] == b[c] || tied(a[c], b[c])) continue;
      (a[c] < b[c] ? v.right : v.left) = false;
      return v;
    }
    for (std::size_t c : each_)
      if (!narrow(a[c], b[c], v)) return v;
    return v;
  }

 private:
  static bool narrow(double a, double b, Verdict& v) {
    if (a != b && !tied(a, b)) (a < b ? v.right : v.left) = false;
    return v.left || v.right;
  }
  std::vector<std::size_t> in_order_, each_, bounded_;
};

class ParetoList {
 public:
  std::size_t size() const { return made_.size(); }
  const double* values(std::size_t k, std::size_t width) const { return values_.data() + k * width; }
  std::uint32_t used(std::size_t k) const { return used_[k]; }
  const Made& made(std::size_t k) const { return made_[k]; }
  void clear() {
    values_.clear();
    used_.clear();
    made_.clear();
    replaced_by_.clear();
  }
  std::size_t bytes() const { return sizeof *this + values_.size() * 8 + made_.size() * (sizeof(Made) + 8); }
  // What only building needs, and room to spare, is given back.
  void finish() {
    replaced_by_ = {};
    values_.shrink_to_fit();
    used_.shrink_to_fit();
    made_.shrink_to_fit();
  }

  // Take the tree in unless k others may replace it, and drop what it makes superfluous. Of trees that may replace each
  // other the earlier one counts as better. False if it was not taken.
  bool offer(const Replaces& replaces, std::size_t k, const double* values, std::size_t width, std::uint32_t used,
             const Made& made) {
    std::uint32_t better = 0;
    bool worse = false;
    for (std::size_t x = 0; x < size(); ++x) {
      const auto v = replaces.compare(this->values(x, width), used_[x], values, used);
      if (v.left && ++better >= k) return false;
      worse = worse || v.right;
    }
    if (worse) drop_worse(replaces, k, values, width, used);
    values_.insert(values_.end(), values, values + width);
    used_.push_back(used);
    made_.push_back(made);
    replaced_by_.push_back(better);
    return true;
  }

 private:
  void drop_worse(const Replaces& replaces, std::size_t k, const double* values, std::size_t width,
                  std::uint32_t used) {
    std::size_t kept = 0;
    for (std::size_t x = 0; x < size(); ++x) {
      const auto v = replaces.compare(this->values(x, width), used_[x], values, used);
      if (v.right && !v.left && ++replaced_by_[x] >= k) continue;
      if (kept != x) {
        std::copy_n(values_.begin() + static_cast<std::ptrdiff_t>(x * width), width,
                    values_.begin() + static_cast<std::ptrdiff_t>(kept * width));
        used_[kept] = used_[x];
        made_[kept] = made_[x];
        replaced_by_[kept] = replaced_by_[x];
      }
      ++kept;
    }
    values_.resize(kept * width);
    used_.resize(kept);
    made_.resize(kept);
    replaced_by_.resize(kept);
  }

  std::vector<double> values_;
  std::vector<std::uint32_t> used_, replaced_by_;
  std::vector<Made> made_;
};

// The places of the answers in the list of the root, best first: those that use what is required and meet the bounds.
inline std::vector<std::size_t> answers_of(const ParetoList& root, const ParetoQuery& query) {
  const std::size_t width = query.width();
  std::vector<std::size_t> order;
  for (std::size_t x = 0; x < root.size(); ++x) {
    bool good = (root.used(x) & query.all_required) == query.all_required;
    for (const auto& [criterion, bound] : query.bounds) {
      const double value = root.values(x, width)[criterion];
      good = good && (value <= bound || tied(value, bound));
    }
    if (good) order.push_back(x);
  }
  const auto before = [&](std::size_t x, std::size_t y) {
    for (std::size_t c : query.rank) {
      const double a = root.values(x, width)[c], b = root.values(y, width)[c];
      if (a != b && !tied(a, b)) return a < b;
    }
    return x < y;
  };
  // By selection: "tied" is no equivalence, and std::sort may not be given such an order.
  const std::size_t wanted = query.front ? order.size() : std::min(query.k, order.size());
  for (std::size_t n = 0; n < wanted; ++n) {
    std::size_t best = n;
    for (std::size_t x = n + 1; x < order.size(); ++x)
      if (before(order[x], order[best])) best = x;
    std::rotate(order.begin() + static_cast<std::ptrdiff_t>(n), order.begin() + static_cast<std::ptrdiff_t>(best),
                order.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  order.resize(wanted);
  return order;
}

}  // namespace everytree
