#include "grow/score.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "weights/rising.hpp"

namespace everytree::grow {

namespace {

constexpr std::int64_t kLongest = std::int64_t{1} << 22;  // entries of a table: 32 MiB
constexpr std::int64_t kHeavy = std::int64_t{1} << 18;    // where the weights exceed that: few counts repeat then

// The last entry of a table for counts up to n, of so many examples.
std::int64_t last_entry(std::int64_t n, std::int64_t total) {
  return std::min(n, total > kLongest ? kHeavy : kLongest);
}

std::int64_t rounded(double x) { return std::llround(x); }

// The unit is a power of two: 2^61 of them cover every sum of so many examples, each of which adds at most `most` nats
// to one table and takes as much from another.
double unit_of(double most, std::int64_t n_examples) {
  int exponent = 0;
  std::frexp(4.0 * most * static_cast<double>(std::max<std::int64_t>(n_examples, 1)), &exponent);
  return std::ldexp(1.0, exponent - 61);
}

}  // namespace

Climb::Climb(double a, double scale, std::int64_t upto, Control* control, double per_example)
    : a_(a), scale_(scale), per_example_(per_example) {
  const auto n = static_cast<std::size_t>(upto) + 1;
  table_.reserve(n);
  double sum = 0, carry = 0;  // what rounding took from the sum
  table_.push_back(0);
  if (per_example != 1) {
    for (std::size_t k = 1; k < n; ++k) {
      table_.push_back(far(static_cast<std::int64_t>(k)));
      if (control != nullptr && (k & 0xffff) == 0) control->check(true, "growing", 0, 0);
    }
    return;
  }
  for (std::size_t k = 1; k < n; ++k) {
    const double x = std::log(a + static_cast<double>(k - 1)), t = sum + x;
    carry += std::abs(sum) >= std::abs(x) ? (sum - t) + x : (x - t) + sum;
    sum = t;
    table_.push_back(rounded(sum * scale) + rounded(carry * scale));
    if (control != nullptr && (k & 0xffff) == 0) control->check(true, "growing", 0, 0);
  }
}

Climb Climb::entropy(double scale, std::int64_t upto, Control* control) {
  Climb climb;
  climb.scale_ = scale;
  climb.entropy_ = true;
  const auto n = static_cast<std::size_t>(upto) + 1;
  climb.table_.reserve(n);
  for (std::size_t k = 0; k < n; ++k) {
    climb.table_.push_back(climb.far(static_cast<std::int64_t>(k)));
    if (control != nullptr && (k & 0xffff) == 0) control->check(true, "growing", 0, 0);
  }
  return climb;
}

std::int64_t Climb::far(std::int64_t n) const {
  const auto x = static_cast<double>(n);
  if (entropy_) return n < 2 ? 0 : rounded(x * std::log(x) * scale_);
  return rounded(log_rising(a_, x / per_example_) * scale_);
}

double Score::unit_for(const DirichletParameters& a, std::int64_t n_examples) {
  double most = 1;
  for (const std::vector<double>& row : a) {
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    most = std::max(most, std::abs(std::log(sum + static_cast<double>(n_examples))));
    for (const double x : row) most = std::max(most, std::abs(std::log(x)));
  }
  return unit_of(most, n_examples);
}

Score Score::dirichlet(const std::vector<double>& a, const std::vector<std::int64_t>& class_totals, double unit,
                       Control* control, std::size_t held, std::int64_t per_example) {
  const std::int64_t all = std::accumulate(class_totals.begin(), class_totals.end(), std::int64_t{0});
  const auto climb = [&](double x, std::int64_t n) {
    n = last_entry(n, all);
    held += static_cast<std::size_t>(n + 1) * sizeof(std::int64_t);
    if (control != nullptr) {
      control->check_memory(held);
      control->check(true, "growing", 0, 0);
    }
    return std::make_shared<const Climb>(x, 1 / unit, n, control, static_cast<double>(per_example));
  };
  Score score;
  score.unit_ = unit;
  std::map<double, std::int64_t> upto;  // for each a the largest count
  for (std::size_t c = 0; c < a.size(); ++c) upto[a[c]] = std::max(upto[a[c]], class_totals[c]);
  std::map<double, std::shared_ptr<const Climb>> climbs;
  for (const auto& [x, n] : upto) climbs[x] = climb(x, n);
  for (const double x : a) score.up_.push_back(climbs[x]);
  score.total_ = climb(std::accumulate(a.begin(), a.end(), 0.0), all);
  return score;
}

Score Score::entropy(const std::vector<std::int64_t>& class_totals, Control* control, std::size_t held) {
  const std::int64_t total = std::accumulate(class_totals.begin(), class_totals.end(), std::int64_t{0});
  Score score;
  score.unit_ = unit_of(std::log(static_cast<double>(total) + 2), total);
  const std::int64_t n = last_entry(total, total);
  if (control != nullptr) control->check_memory(held + static_cast<std::size_t>(n + 1) * sizeof(std::int64_t));
  score.total_ = std::make_shared<const Climb>(Climb::entropy(1 / score.unit_, n, control));
  score.up_.assign(class_totals.size(), score.total_);
  return score;
}

std::size_t Score::bytes() const {
  std::size_t sum = total_ ? total_->bytes() : 0;
  const Climb* last = total_.get();
  for (const auto& climb : up_) {
    if (climb.get() != last) sum += climb->bytes();
    last = climb.get();
  }
  return sum;
}

}  // namespace everytree::grow
