// for_each_parallel: run f(item, worker) for every item, on `n_threads` threads. Which thread takes which item is
// free, so f must write only to what belongs to its item: results are then the same for any number of threads.
// With a stage of nullptr no progress is reported here; f may report it itself. What an item throws ends the items
// beside it too, when they next look at `control`, and is thrown here: of a Ctrl-C only the calling thread hears.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "common/control.hpp"

namespace everytree {

template <class F>
void for_each_parallel(std::size_t n, std::size_t n_threads, Control& control, const char* stage, F&& f) {
  n_threads = std::max<std::size_t>(1, std::min(n_threads, n));
  const std::size_t grain = std::clamp<std::size_t>(n / (n_threads * 64), 1, 256);
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex guard;
  std::atomic<bool> failed{false};
  const auto work = [&](std::size_t worker) {
    try {
      while (!failed.load(std::memory_order_relaxed)) {
        const std::size_t begin = next.fetch_add(grain, std::memory_order_relaxed);
        if (begin >= n) break;
        const std::size_t end = std::min(n, begin + grain);
        for (std::size_t item = begin; item < end; ++item) f(item, worker);
        control.check(worker == 0, stage, begin, stage == nullptr ? 0 : n);
      }
    } catch (...) {
      const std::lock_guard lock(guard);
      if (!failure) failure = std::current_exception();
      failed = true;
      control.abandon(true);
    }
  };
  std::vector<std::thread> helpers;
  try {
    for (std::size_t worker = 1; worker < n_threads; ++worker) helpers.emplace_back(work, worker);
  } catch (...) {  // no more threads to be had: go on with those that started
  }
  work(0);
  for (auto& helper : helpers) helper.join();
  control.abandon(false);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace everytree
