// What a strategy stores, counted byte by byte as it is allocated, and its look at the limits.
//
// Comparing strategies by memory is only fair if all of them are weighed on the same scales: every array that grows
// with the lattice is a Store, and a Store tells the meter before it allocates. While an array moves, its old and its
// new place both count.
// (Study of DL8's strategies: see mine/strategies.hpp.)
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "common/control.hpp"

namespace everytree::mine {

class Meter {
 public:
  explicit Meter(Control& control) : control_(&control) {}
  Meter(const Meter&) = delete;

  void hold(std::size_t bytes) {
    control_->check_memory(now_ + bytes);
    now_ += bytes;
    peak_ = std::max(peak_, now_);
  }
  void drop(std::size_t bytes) { now_ -= bytes; }
  std::size_t peak() const { return peak_; }
  double seconds() const { return control_->seconds(); }
  Control& control() const { return *control_; }

  // So many words were touched; every megabyte or so the limits are looked at. `found` goes to the progress line.
  void work(std::size_t words, const char* stage, std::size_t found) {
    if ((work_ += words) < kStep) return;
    work_ = 0;
    control_->check(true, stage, found, found);
  }

 private:
  static constexpr std::size_t kStep = std::size_t{1} << 17;
  Control* control_;
  std::size_t now_ = 0, peak_ = 0, work_ = 0;
};

// Bytes of what is no Store, as long as this lives.
class Held {
 public:
  Held(Meter& meter, std::size_t bytes) : meter_(&meter), bytes_(bytes) { meter.hold(bytes); }
  Held(const Held&) = delete;
  ~Held() { meter_->drop(bytes_); }

 private:
  Meter* meter_;
  std::size_t bytes_;
};

template <class T>
class Store {
 public:
  explicit Store(Meter& meter) : meter_(&meter) {}
  Store(const Store&) = delete;
  ~Store() { meter_->drop(held_); }

  std::size_t size() const { return data_.size(); }
  bool empty() const { return data_.empty(); }
  T* data() { return data_.data(); }
  const T* data() const { return data_.data(); }
  T& operator[](std::size_t k) { return data_[k]; }
  const T& operator[](std::size_t k) const { return data_[k]; }
  T& back() { return data_.back(); }
  void pop_back() { data_.pop_back(); }

  void push_back(const T& x) {
    if (data_.size() == data_.capacity()) grow(data_.size() + 1);
    data_.push_back(x);
  }
  void append(const T* x, std::size_t n) {
    if (data_.size() + n > data_.capacity()) grow(data_.size() + n);
    data_.insert(data_.end(), x, x + n);
  }
  void resize(std::size_t n, const T& x = T{}) {
    if (n > data_.capacity()) grow(n);
    data_.resize(n, x);
  }
  void swap(Store& other) {
    data_.swap(other.data_);
    std::swap(held_, other.held_);
  }

 private:
  void grow(std::size_t least) {
    const std::size_t room = std::max({least, data_.capacity() + data_.capacity() / 2, std::size_t{16}});
    meter_->hold(room * sizeof(T));
    try {
      data_.reserve(room);
    } catch (...) {
      meter_->drop(room * sizeof(T));
      throw;
    }
    meter_->drop(held_);
    held_ = room * sizeof(T);
  }

  Meter* meter_;
  std::vector<T> data_;
  std::size_t held_ = 0;
};

}  // namespace everytree::mine
