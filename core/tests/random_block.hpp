// A block of random rows, and its pairs counted one by one.
#pragma once

#include <bit>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/kernels.hpp"

namespace everytree {

struct RandomBlock {
  std::vector<std::vector<bool>> column;  // [test][row slot]
  std::vector<std::uint32_t> bits;
  std::vector<Section> sections;
  std::size_t stride, n, n_chunks;

  RowBlock block() const { return {bits.data(), n_chunks, sections.data(), sections.size()}; }
  std::uint32_t& at(std::size_t k, std::size_t j) { return bits[RowBlock::word(n_chunks, k, j)]; }
  std::uint32_t at(std::size_t k, std::size_t j) const { return bits[RowBlock::word(n_chunks, k, j)]; }

  RandomBlock(std::mt19937& r, std::size_t tests, std::vector<std::size_t> rows, std::size_t n_classes, int shift = 0)
      : n(tests) {
    stride = (tests + 16) / 16 * 16;
    std::uint32_t chunk = 0;
    for (std::size_t s = 0; s < rows.size(); ++s) {
      const auto chunks = static_cast<std::uint32_t>((rows[s] + 31) / 32);
      const auto cls = static_cast<std::uint32_t>(s * n_classes / rows.size());
      sections.push_back({chunk, chunk + chunks, cls, static_cast<std::uint8_t>(r() % 3), 0});
      sections.back().index_shift = static_cast<std::uint8_t>(sections.back().shift + (cls == 0 ? shift : 0));
      chunk += chunks;
    }
    n_chunks = chunk;
    bits.assign(chunk * stride, 0);
    for (std::size_t s = 0; s < rows.size(); ++s)
      for (std::size_t k = 0; k < rows[s]; ++k)
        for (std::size_t j = 0; j < tests; ++j)
          if (r() & 1) at(sections[s].begin + k / 32, j) |= 1u << (k % 32);
  }
  // Examples of a class, or the index (cls = −1), or all examples (cls = −2), with both tests.
  std::int32_t pair(std::size_t i, std::size_t j, int cls) const {
    std::int32_t sum = 0;
    for (const Section& s : sections)
      for (std::uint32_t k = s.begin; k < s.end; ++k)
        if (cls < 0 || s.cls == static_cast<std::uint32_t>(cls))
          sum += (1 << (cls == -1 ? s.index_shift : s.shift)) * std::popcount(at(k, i) & at(k, j));
    return sum;
  }
};

}  // namespace everytree
