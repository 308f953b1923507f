// Numbers in one block that grows and shrinks where it is.
//
// A vector that is full is there twice while it moves. The C library moves a large block without copying it where the
// system lets it (glibc, musl: mremap), so that growing never takes more than what is there in the end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <utility>

namespace everytree {

class Stretched {
 public:
  Stretched() = default;
  Stretched(const double* first, std::size_t n) {
    move_to(std::max<std::size_t>(n, 1));
    std::copy_n(first, n, data());
    size_ = n;
  }
  Stretched(const Stretched& other) : Stretched(other.data(), other.size()) {}
  Stretched(Stretched&& other) noexcept { swap(other); }
  Stretched& operator=(Stretched other) noexcept {
    swap(other);
    return *this;
  }
  ~Stretched() = default;

  std::size_t size() const { return size_; }
  double* data() { return data_.get(); }
  const double* data() const { return data_.get(); }
  double& operator[](std::size_t i) { return data_.get()[i]; }
  const double& operator[](std::size_t i) const { return data_.get()[i]; }

  friend bool operator==(const Stretched& a, const Stretched& b) {
    return std::equal(a.data(), a.data() + a.size(), b.data(), b.data() + b.size());
  }
  // New numbers are 0.
  void resize(std::size_t n) {
    if (n > capacity_) move_to(std::max({n, 2 * capacity_, kFirst}));
    if (n > size_) std::fill(data_.get() + size_, data_.get() + n, 0.0);
    size_ = n;
  }
  // Give back what is not in use.
  void shrink() {
    if (size_ < kSmall) {  // a small block that was a large one would keep a mapping of its own
      *this = Stretched(data(), size_);
    } else {
      move_to(size_);
    }
  }

 private:
  // The first block is large enough to be a mapping, which can be moved; pages that nobody writes take no memory.
  static constexpr std::size_t kFirst = std::size_t{1} << 22, kSmall = std::size_t{1} << 17;
  struct Free {
    void operator()(double* p) const { std::free(p); }
  };

  void move_to(std::size_t n) {
    if (n > std::numeric_limits<std::size_t>::max() / sizeof(double)) throw std::bad_alloc();
    void* moved = std::realloc(data_.get(), n * sizeof(double));
    if (moved == nullptr) throw std::bad_alloc();
    static_cast<void>(data_.release());
    data_.reset(static_cast<double*>(moved));
    capacity_ = n;
  }
  void swap(Stretched& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  std::unique_ptr<double, Free> data_;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace everytree
