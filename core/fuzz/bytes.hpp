// Bytes of a fuzzer as numbers and tables, and the way a target reports a difference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>

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

}  // namespace fuzz
