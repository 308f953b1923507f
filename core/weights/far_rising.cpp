#include "weights/far_rising.hpp"

#include <array>
#include <cmath>

namespace everytree {

namespace {

// A number as an unevaluated sum, |low| ≤ half a unit in the last place of high: about 106 bits.
struct Twofold {
  double high = 0, low = 0;
};

Twofold sum_of(double a, double b) {
  const double s = a + b, part = s - a;
  return {s, (a - (s - part)) + (b - part)};
}
Twofold operator+(Twofold x, Twofold y) {
  const Twofold s = sum_of(x.high, y.high);
  return sum_of(s.high, s.low + (x.low + y.low));
}
Twofold operator*(Twofold x, Twofold y) {
  const double p = x.high * y.high;
  return sum_of(p, std::fma(x.high, y.high, -p) + (x.high * y.low + x.low * y.high));
}
Twofold operator-(Twofold x) { return {-x.high, -x.low}; }
Twofold operator/(Twofold x, Twofold y) {
  const double q = x.high / y.high;
  const Twofold rest = x + -(Twofold{q} * y);
  return sum_of(q, (rest.high + rest.low) / y.high);
}

// log (1+z)/(1−z) = 2 (z + z³/3 + z⁵/5 + …), for |z| ≤ 0.18: the first term that is left out is below 2^−86 of the sum.
Twofold log_ratio(Twofold z) {
  constexpr int kTerms = 17;
  static const std::array<Twofold, kTerms> inverse = [] {
    std::array<Twofold, kTerms> made;
    for (int k = 0; k < kTerms; ++k) made[static_cast<std::size_t>(k)] = Twofold{1.0} / Twofold{2.0 * k + 1};
    return made;
  }();
  const Twofold square = z * z;
  Twofold sum = inverse[kTerms - 1];
  for (std::size_t k = kTerms - 1; k-- > 0;) sum = sum * square + inverse[k];
  return Twofold{2.0} * z * sum;
}

Twofold log_of(Twofold x) {
  constexpr Twofold kLn2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
  int e;
  if (std::frexp(x.high, &e) < 0.70710678) --e;
  const Twofold m{std::ldexp(x.high, -e), std::ldexp(x.low, -e)};  // within a factor of √2 of 1
  return Twofold{static_cast<double>(e)} * kLn2 + log_ratio((m + Twofold{-1.0}) / (m + Twofold{1.0}));
}

// log(1 + u) for u ≥ 0, of which nothing is lost where it is tiny.
Twofold log_one_and(Twofold u) { return u.high < 0.4 ? log_ratio(u / (u + Twofold{2.0})) : log_of(u + Twofold{1.0}); }

// The difference of Stirling's series, as log_rising has it; x ≥ 32.
Twofold by_stirling(Twofold x, double n) {
  const auto tail = [](double t) {
    const double y = 1 / (t * t);
    return (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y / 1680))) / t;
  };
  const Twofold m{n};
  return m * (log_of(x) + Twofold{-1.0}) + (x + m + Twofold{-0.5}) * log_one_and(m / x) +
         Twofold{tail(x.high + n) - tail(x.high)};
}

// From a + begin on; small a are moved up by Γ(x + 1) = x Γ(x).
Twofold rising_from(double a, double begin, double n) {
  Twofold x = sum_of(a, begin), low{};
  if (n < 64 && x.high < 32) return {log_rising(x.high, n)};
  for (; x.high < 32; x = x + Twofold{1.0}, n -= 1) low = low + Twofold{std::log(x.high)};
  return low + by_stirling(x, n);
}

}  // namespace

LongLog long_rising(double a, double n) {
  const Twofold found = rising_from(a, 0, n);
  return {found.high, found.low};
}

FarRising::FarRising(double a, double per_example, double power, std::int64_t first, std::int64_t last,
                     LongLog at_first, Control* control)
    : a_(a), per_example_(per_example), power_(power), first_(first), shift_(shift(first, last)) {
  const double begin = static_cast<double>(first) / per_example;
  anchors_.reserve(n_anchors(first, last));
  for (std::size_t k = 0; k < n_anchors(first, last); ++k) {
    const double n = static_cast<double>(static_cast<std::int64_t>(k) << shift_) / per_example;
    const Twofold here = Twofold{power} * rising_from(a, begin, n);
    LongLog value = at_first;
    value += LongLog(here.high, here.low);
    anchors_.push_back(value);
    if (control != nullptr && (k & 0xfff) == 0xfff) control->check(true, "starting", 0, 0);
  }
}

}  // namespace everytree
