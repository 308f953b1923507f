// Lines of numbers, of one length, that become more and never move. A vector that is full moves to a place twice as
// large: for a moment it is there three times, and afterwards half of it may be empty.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace everytree {

class Lines {
 public:
  explicit Lines(std::size_t width)
      : width_(width),
        per_chunk_(std::max<std::size_t>(1, kChunk / std::max<std::size_t>(1, width * sizeof(double)))) {}
  Lines(Lines&&) = default;
  Lines& operator=(Lines&&) = default;

  std::size_t size() const { return size_; }
  std::size_t bytes() const { return chunks_.size() * chunk_bytes(); }
  double* operator[](std::size_t line) { return chunks_[line / per_chunk_].get() + line % per_chunk_ * width_; }
  const double* operator[](std::size_t line) const {
    return chunks_[line / per_chunk_].get() + line % per_chunk_ * width_;
  }
  // n lines, the new ones 0, after ask(bytes that are added) for every chunk.
  template <class Ask>
  void grow(std::size_t n, Ask&& ask) {
    while (chunks_.size() * per_chunk_ < n) {
      ask(chunk_bytes());
      chunks_.push_back(std::make_unique<double[]>(per_chunk_ * width_));
    }
    size_ = std::max(size_, n);
  }

 private:
  static constexpr std::size_t kChunk = std::size_t{1} << 16;  // bytes, or one line
  std::size_t chunk_bytes() const { return per_chunk_ * width_ * sizeof(double); }

  std::size_t width_, per_chunk_, size_ = 0;
  std::vector<std::unique_ptr<double[]>> chunks_;
};

}  // namespace everytree
