// Vectors that ask before they grow. A vector that is full moves to a place twice as large, and for a moment it is
// there twice: a look at the memory afterwards comes too late.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace everytree {

// Bytes by which the capacity grows if `more` entries are added.
template <class T>
std::size_t growth(const std::vector<T>& v, std::size_t more = 1) {
  if (v.size() + more <= v.capacity()) return 0;
  return (std::max(2 * v.capacity(), v.size() + more) - v.capacity()) * sizeof(T);
}

// Room for `more` entries, after ask(bytes by which the capacity grows).
template <class T, class Ask>
void make_room(std::vector<T>& v, std::size_t more, Ask&& ask) {
  const std::size_t bytes = growth(v, more);
  if (bytes == 0) return;
  ask(bytes);
  v.reserve(v.capacity() + bytes / sizeof(T));
}

}  // namespace everytree
