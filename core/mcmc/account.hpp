// The memory of the draws of all chains: vectors of the core, and what its caller makes of them while they are there.
#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

#include "common/room.hpp"

namespace everytree {

struct DrawAccount {
  std::atomic<std::size_t> drawn{0}, made{0};

  // Room for `more` entries, after ask(bytes that are there beside it for a moment): the vector that it replaces.
  template <class T, class Ask>
  void room(std::vector<T>& v, std::size_t more, Ask&& ask) {
    const std::size_t before = v.capacity() * sizeof(T);
    make_room(v, more, [&](std::size_t bytes) {
      drawn += bytes;
      ask(before);
    });
  }
};

}  // namespace everytree
