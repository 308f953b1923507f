// Rows that were not learned from, as questions of the posterior take them.
//
// Where tests are fixed for the whole table a row is its outcomes, 0 or 1 for each test. Where states choose their
// tests a cut lies midway between two codes of the cover, so its outcome depends on both; the *upper* of the cut says
// where it lies above the lower one (table/columns.hpp). A row is its *reach* then, for each test the least upper with
// which the test holds; 0: always, 65535: never.
#pragma once

#include <cstdint>

namespace everytree {

struct NewRows {
  const std::uint8_t* outcomes = nullptr;
  const std::uint16_t* reach = nullptr;  // one of the two is given
  std::size_t n_rows = 0, n_tests = 0;

  bool holds(std::size_t row, std::size_t test, std::uint32_t upper) const {
    return reach != nullptr ? reach[row * n_tests + test] <= upper : outcomes[row * n_tests + test] != 0;
  }
  std::size_t row_bytes() const { return n_tests * (reach != nullptr ? 2 : 1); }
  const std::uint8_t* bytes(std::size_t row) const {
    return (reach != nullptr ? reinterpret_cast<const std::uint8_t*>(reach) : outcomes) + row * row_bytes();
  }
};

}  // namespace everytree
