// Natural numbers of any size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace everytree {

__extension__ typedef unsigned __int128 Limb2;

// A natural number, little-endian in base 2^64. Only what counting needs.
class Natural {
 public:
  Natural() = default;
  explicit Natural(std::uint64_t x) {
    if (x != 0) limbs_.push_back(x);
  }
  const std::vector<std::uint64_t>& limbs() const { return limbs_; }
  friend bool operator==(const Natural&, const Natural&) = default;

  Natural& operator+=(const Natural& y) {
    if (limbs_.size() < y.limbs_.size()) limbs_.resize(y.limbs_.size());
    Limb2 carry = 0;
    for (std::size_t k = 0; k < limbs_.size(); ++k) {
      carry += limbs_[k];
      if (k < y.limbs_.size()) carry += y.limbs_[k];
      limbs_[k] = static_cast<std::uint64_t>(carry);
      carry >>= 64;
    }
    if (carry != 0) limbs_.push_back(static_cast<std::uint64_t>(carry));
    return *this;
  }
  friend Natural operator*(const Natural& x, const Natural& y) {
    Natural out;
    if (x.limbs_.empty() || y.limbs_.empty()) return out;
    out.limbs_.assign(x.limbs_.size() + y.limbs_.size(), 0);
    for (std::size_t i = 0; i < x.limbs_.size(); ++i) {
      Limb2 carry = 0;
      for (std::size_t j = 0; j < y.limbs_.size() || carry != 0; ++j) {
        carry += out.limbs_[i + j];
        if (j < y.limbs_.size()) carry += static_cast<Limb2>(x.limbs_[i]) * y.limbs_[j];
        out.limbs_[i + j] = static_cast<std::uint64_t>(carry);
        carry >>= 64;
      }
    }
    while (!out.limbs_.empty() && out.limbs_.back() == 0) out.limbs_.pop_back();
    return out;
  }

 private:
  std::vector<std::uint64_t> limbs_;
};

}  // namespace everytree
