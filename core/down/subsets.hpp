// Sets of at most `most` elements out of 0 … n−1, numbered without gaps: smaller sets first, then
//     number({c_1 < … < c_k}) = offset(k) + Σ_i C(c_i, i)
// so a table over all sets is a plain array.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace everytree {

class Subsets {
 public:
  Subsets(std::size_t n, std::size_t most) : n_(n), most_(std::min(n, most)) {
    binomial_.assign((most_ + 1) * (n_ + 1), 0);
    for (std::size_t m = 0; m <= n_; ++m) {
      binomial_[m] = 1;
      for (std::size_t k = 1; k <= std::min(m, most_); ++k) {
        const std::uint64_t a = choose(m - 1, k - 1), b = m > k ? choose(m - 1, k) : 0;
        binomial_[k * (n_ + 1) + m] = a > kTooMany - std::min(b, kTooMany) ? kTooMany : a + b;
      }
    }
    offset_.assign(most_ + 2, 0);
    for (std::size_t k = 0; k <= most_; ++k)
      offset_[k + 1] = std::min(kTooMany, offset_[k] + choose(n_, k));  // both at most 2^62
  }

  static constexpr std::uint64_t kTooMany = std::uint64_t{1} << 62;
  std::size_t n() const { return n_; }
  std::size_t most() const { return most_; }
  std::uint64_t size() const { return offset_[most_ + 1]; }  // kTooMany where there are more
  std::uint64_t offset(std::size_t k) const { return offset_[k]; }
  std::uint64_t choose(std::size_t m, std::size_t k) const { return binomial_[k * (n_ + 1) + m]; }
  // Row k of Pascal's triangle: C(m, k) for m = 0 … n.
  const std::uint64_t* column(std::size_t k) const { return binomial_.data() + k * (n_ + 1); }

  // elements in increasing order
  std::uint64_t number(const std::uint32_t* elements, std::size_t k) const {
    std::uint64_t sum = offset_[k];
    for (std::size_t i = 0; i < k; ++i) sum += choose(elements[i], i + 1);
    return sum;
  }
  // The elements of a set, in increasing order; returns how many. `elements` has room for `most` of them.
  std::size_t elements(std::uint64_t number, std::uint32_t* elements) const {
    std::size_t k = 0;
    while (number >= offset_[k + 1]) ++k;
    number -= offset_[k];
    for (std::size_t i = k; i > 0; --i) {
      const std::uint64_t* c = column(i);
      const auto m = static_cast<std::size_t>(std::upper_bound(c, c + n_ + 1, number) - c) - 1;
      elements[i - 1] = static_cast<std::uint32_t>(m);
      number -= c[m];
    }
    return k;
  }
  // The set after this one among those of k elements, in the order of their numbers; the last one has none.
  static void next(std::uint32_t* elements, std::size_t k) {
    std::size_t i = 0;
    while (i + 1 < k && elements[i] + 1 == elements[i + 1]) {
      elements[i] = static_cast<std::uint32_t>(i);
      ++i;
    }
    if (k > 0) ++elements[i];
  }

 private:
  std::size_t n_, most_;
  std::vector<std::uint64_t> binomial_, offset_;
};

}  // namespace everytree
