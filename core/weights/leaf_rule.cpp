#include "weights/leaf_rule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "algebra/count.hpp"
#include "common/errors.hpp"

namespace everytree {

namespace {
Natural shifted(const Natural& x, int bits) {
  Natural out = x;
  for (; bits >= 32; bits -= 32) out = out * Natural(std::uint64_t{1} << 32);
  return out * Natural(std::uint64_t{1} << bits);
}
int compare(const Natural& x, const Natural& y) {
  const auto &a = x.limbs(), &b = y.limbs();
  // Products of non-zero numbers carry no leading zeros, and sums of them none either.
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  for (std::size_t k = a.size(); k-- > 0;)
    if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
  return 0;
}
}  // namespace

LeafRule::LeafRule(std::int64_t min_support, std::int64_t min_margin, double min_chi2, std::vector<std::int64_t> totals)
    : min_support_(min_support), min_margin_(min_margin), min_chi2_(min_chi2), totals_(std::move(totals)) {
  if (std::isnan(min_chi2)) throw InvalidInput("the threshold of χ² is not a number");
  for (std::int64_t n : totals_) {
    if (n < 0) throw InvalidInput("a class total is negative");
    total_ += n;
  }
}

bool LeafRule::allows(const std::int32_t* counts, std::size_t n_classes, std::size_t stride) const {
  std::int64_t n = 0, first = 0, second = 0;
  for (std::size_t c = 0; c < n_classes; ++c) {
    const std::int64_t x = counts[c * stride];
    n += x;
    second = std::max(second, std::min(first, x));
    first = std::max(first, x);
  }
  if (n < min_support_ || first - second < min_margin_) return false;
  return !(min_chi2_ > 0) || enough_chi2(counts, n_classes, stride, n);
}

bool LeafRule::enough_chi2(const std::int32_t* counts, std::size_t n_classes, std::size_t stride,
                           std::int64_t n) const {
  if (n_classes != totals_.size()) throw InvalidInput("χ² needs the examples of every class");
  if (n == 0 || n == total_ || std::isinf(min_chi2_)) return false;  // χ² = 0, or nothing is enough
  // In doubles first: d_c is exact below 2^58, and every term is right to a few units in the last place.
  double sum = 0;
  for (std::size_t c = 0; c < n_classes; ++c) {
    if (totals_[c] == 0) continue;
    const auto d = static_cast<double>(total_ * counts[c * stride] - n * totals_[c]);
    sum += d * d / static_cast<double>(totals_[c]);
  }
  const double chi2 = sum / static_cast<double>(n) / static_cast<double>(total_ - n);
  if (std::abs(chi2 - min_chi2_) > 1e-12 * min_chi2_ * static_cast<double>(n_classes + 4)) return chi2 > min_chi2_;
  std::vector<std::uint64_t> distance(n_classes, 0);
  for (std::size_t c = 0; c < n_classes; ++c) {
    const std::int64_t d = total_ * counts[c * stride] - n * totals_[c];
    distance[c] = static_cast<std::uint64_t>(d < 0 ? -d : d);
  }
  return exactly_enough(distance, n);
}

// The doubles that round to the threshold t or above begin half-way between t and its neighbour below (half-way itself
// rounds to the even one of the two). So compare, in whole numbers,
//     Σ_c d_c² Π_{k≠c} T_k   with   half-way · n (N − n) Π_k T_k.
bool LeafRule::exactly_enough(const std::vector<std::uint64_t>& distance, std::int64_t n) const {
  Natural left, product(1);
  for (std::size_t c = 0; c < totals_.size(); ++c) {
    if (totals_[c] == 0) continue;
    const Natural t(static_cast<std::uint64_t>(totals_[c])), d(distance[c]);
    left = left * t;
    left += d * d * product;
    product = product * t;
  }
  const double below = std::nextafter(min_chi2_, 0.0);
  int exponent, exponent_below;
  const auto whole = static_cast<std::uint64_t>(std::ldexp(std::frexp(min_chi2_, &exponent), 53));
  const auto whole_below = static_cast<std::uint64_t>(std::ldexp(std::frexp(below, &exponent_below), 53));
  // Both in units of 2^(exponent_below − 54), so that their mean is whole.
  const std::uint64_t mean =
      ((whole << (exponent - exponent_below)) + whole_below);  // of 2·t·2^k and 2·below·2^k, halved
  const int scale = exponent_below - 54;                       // half-way = mean · 2^scale
  Natural right = Natural(mean) *
                  (Natural(static_cast<std::uint64_t>(n)) * Natural(static_cast<std::uint64_t>(total_ - n)) * product);
  if (scale < 0)
    left = shifted(left, -scale);
  else
    right = shifted(right, scale);
  const int order = compare(left, right);
  return order > 0 || (order == 0 && (whole & 1) == 0);
}

std::int64_t LeafRule::least_support() const {
  std::int64_t least = std::max({std::int64_t{1}, min_support_, min_margin_});
  if (!(min_chi2_ > 0)) return least;
  // For n examples χ² is convex in the counts, so largest if all are of one class: n·N·(N − T_c) / (T_c·(N − n)),
  // which grows with n. Solved for n; one example less makes up for rounding.
  double most = std::numeric_limits<double>::infinity();
  const auto total = static_cast<double>(total_);
  for (std::int64_t t : totals_) {
    if (t == 0 || t == total_) continue;
    const double rate = total * (total - static_cast<double>(t)) / static_cast<double>(t);
    most = std::min(most, min_chi2_ * total / (rate + min_chi2_));
  }
  if (!(most < total)) return std::max(least, total_);
  return std::max(least, static_cast<std::int64_t>(most) - 1);
}

}  // namespace everytree
