// Bytes of a fuzzer as numbers and tables, and the way a target reports a difference.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>

#include "common/control.hpp"
#include "naive.hpp"

namespace fuzz {

// A difference between the core and the naive twin. libFuzzer keeps the input that threw; the driver prints it.
struct Difference : std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline void require(bool ok, const std::string& what) {
  if (!ok) throw Difference(what);
}

// Reads bytes; past the end it goes on with a generator seeded by the first four, so that short inputs, too, make large
// tables and every bit of the input can matter.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {
    std::uint32_t seed = 1;
    for (std::size_t k = 0; k < 4 && k < size; ++k) seed = seed * 257 + data[k];
    random_.seed(seed);
  }
  std::uint32_t byte() { return at_ < size_ ? data_[at_++] : random_() & 255; }
  // In [low, high].
  std::uint32_t number(std::uint32_t low, std::uint32_t high) {
    const std::uint32_t width = high - low + 1;
    return low + (width <= 256 ? byte() : byte() << 8 | byte()) % width;
  }
  bool flag() { return byte() & 1; }
  // As a source of random numbers for the tables of the tests.
  std::uint32_t operator()() { return byte(); }

 private:
  const std::uint8_t* data_;
  std::size_t size_, at_ = 0;
  std::mt19937 random_;
};

// Rows with equal, complementary and constant columns among them; counts of up to `most`.
inline naive::Table table(Bytes& in, std::uint32_t most_rows, std::uint32_t most_tests, std::uint32_t most_classes,
                          std::uint32_t most) {
  const std::uint32_t n = in.number(1, most_rows), t = in.number(0, most_tests), c = in.number(1, most_classes);
  naive::Table out(n, t, c);
  for (std::size_t j = 0; j < t; ++j) {
    const std::uint32_t kind = in.number(0, 7), from = j == 0 ? 0 : in.number(0, static_cast<std::uint32_t>(j) - 1);
    std::uint32_t bits = 0;
    for (std::size_t r = 0; r < n; ++r) {
      if (r % 8 == 0) bits = in.byte();
      std::uint8_t& x = out.rows[r * t + j];
      if (kind <= 1 && j > 0)
        x = out.rows[r * t + from] ^ static_cast<std::uint8_t>(kind);
      else if (kind == 2)
        x = bits == 7;
      else
        x = bits >> (r % 8) & 1;
    }
  }
  const std::uint32_t spread = in.number(1, most);
  for (std::size_t r = 0; r < n; ++r)
    for (std::uint32_t times = in.number(0, 2); times > 0; --times)
      out.counts[r * c + in.number(0, c - 1)] += in.number(1, spread);
  return out;
}

// The same, or columns of every kind from which states choose their tests.
inline naive::Table table_or_columns(Bytes& in, std::uint32_t most_rows, std::uint32_t most_tests,
                                     std::uint32_t most_columns, std::uint32_t most_classes, std::uint32_t most) {
  if (in.flag()) return table(in, most_rows, most_tests, most_classes, most);
  const std::uint32_t bins[] = {0, 2, 3, 4};
  const std::size_t classes = in.number(1, most_classes);
  naive::Table d = naive::random_columns(in, {1, most_rows}, {0, most_columns}, classes, bins[in.number(0, 3)],
                                         {1, std::min(most, 255u)});
  if (in.flag())
    for (everytree::Column& c : d.columns) c.bins = bins[in.number(0, 3)];
  return d;
}

// A prior; where it is fair, a column may be an attribute.
inline naive::Weights weights(Bytes& in, const naive::Table& d) {
  naive::Weights out{naive::some_prior(in.byte(), d.t), {}};
  if (out.prior.fair && in.flag())
    for (std::size_t j = 0; j < d.columns.size(); ++j)
      for (std::uint32_t t = d.columns[j].begin; t < d.t; ++t) out.prior.attribute[t] = static_cast<std::int32_t>(j);
  out.a.resize(in.number(0, 3) == 0 ? 2 : 1);
  for (auto& row : out.a)
    for (std::size_t c = 0; c < d.c; ++c) row.push_back(0.01 * in.number(1, 250));
  return out;
}

inline bool close(double x, double y, double slack = 1e-9) {
  return x == y || std::abs(x - y) <= slack * std::max({1.0, std::abs(x), std::abs(y)});
}

// A limit that ends many a question on its way: of time, of memory, or a stop before the first step.
inline void limit(Bytes& in, everytree::Control& control) {
  switch (in.number(0, 3)) {
    case 0:
      control.time_limit = 1e-7 * (1 << in.number(0, 16));
      break;
    case 1:
      control.stop();
      break;
    default:
      control.memory_limit = std::size_t{1} << in.number(0, 22);
  }
}

}  // namespace fuzz
