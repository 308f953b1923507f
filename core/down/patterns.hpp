// The outcomes of tests for some rows, four tests to a number: see Kernels::pattern_sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace everytree {

struct Patterns {
  std::vector<std::uint16_t> bits;
  std::size_t pitch = 0;  // numbers of a run of four tests: one for each row, up to a multiple of 8
  std::size_t n_rows = 0;

  static constexpr std::uint32_t bit(std::size_t test) { return 8u << test % 4; }
  // The numbers of the rows are to be written; those of the padding are 0.
  void begin(std::size_t n_tests, std::size_t rows) {
    n_rows = rows;
    pitch = (rows + 7) & ~std::size_t{7};
    const std::size_t runs = (n_tests + 3) / 4;
    bits.resize(runs * pitch + 8);  // whoever writes eight at a time may go past the last
    for (std::size_t k = 0; k < runs; ++k)
      for (std::size_t r = rows; r < pitch; ++r) bits[k * pitch + r] = 0;
  }
  std::uint16_t* run_of(std::size_t test) { return bits.data() + test / 4 * pitch; }
  const std::uint16_t* run_of(std::size_t test) const { return bits.data() + test / 4 * pitch; }
};

}  // namespace everytree
