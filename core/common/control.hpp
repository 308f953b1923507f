// The limits and the progress of one question, from the moment this object is made: deadline, memory, stop flag.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>

#include "common/errors.hpp"

namespace everytree {

struct Progress {
  const char* stage;
  std::size_t done;
  std::size_t total;
  double seconds;
};

class Control {
 public:
  using Clock = std::chrono::steady_clock;

  std::function<void(const Progress&)> poll;  // called by the calling thread about every 30 ms; may throw
  double time_limit = std::numeric_limits<double>::infinity();
  std::size_t memory_limit = std::numeric_limits<std::size_t>::max();

  void stop() { stop_.store(true, std::memory_order_relaxed); }
  bool stopped() const { return stop_.load(std::memory_order_relaxed) || all_stopped(); }
  // Stops every question of the process, those to come too: it is about to end.
  static void stop_all(bool stop) { stop_all_.store(stop, std::memory_order_relaxed); }
  static bool all_stopped() { return stop_all_.load(std::memory_order_relaxed); }
  // What ended one thread ends those beside it at their next look, until they are joined: only one of them polls, and
  // the others would else work to the end of their item. See common/parallel.hpp.
  void abandon(bool all) { abandoned_.store(all, std::memory_order_relaxed); }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  // Throws when a limit is reached. Any thread may call it; only the calling thread polls. From the inside of a step,
  // which does not know how far the whole is, total = 0: the poll then repeats what was last known.
  void check(bool calling_thread, const char* stage, std::size_t done, std::size_t total) {
    look(calling_thread, stage, done, total, time_limit);
  }
  // The same without the clock: for what must be there at the end, however little time there is.
  void check_stop(bool calling_thread, const char* stage) {
    look(calling_thread, stage, 0, 0, std::numeric_limits<double>::infinity());
  }
  void check_memory(std::size_t bytes) const {
    if (bytes > memory_limit) throw LimitReached(LimitReached::Reason::memory, "memory limit reached");
    if (bytes > most_bytes_.load(std::memory_order_relaxed)) most_bytes_.store(bytes, std::memory_order_relaxed);
  }

 private:
  // Giving memory back takes time, too, after the last look: 0.05 to 0.12 s were measured for a gigabyte. At most a
  // tenth of the limit, as not all that was asked for needs to have been taken.
  double giving_back(double limit) const {
    constexpr double kSecondsPerByte = 1e-10;
    return std::min(kSecondsPerByte * static_cast<double>(most_bytes_.load(std::memory_order_relaxed)), limit / 10);
  }

  void look(bool calling_thread, const char* stage, std::size_t done, std::size_t total, double limit) {
    if (stopped() || abandoned_.load(std::memory_order_relaxed))
      throw LimitReached(LimitReached::Reason::stopped, "stopped");
    const auto now = Clock::now();
    if (std::chrono::duration<double>(now - start_).count() > limit - giving_back(limit))
      throw LimitReached(LimitReached::Reason::time, "time limit reached");
    if (calling_thread && poll && now - last_poll_ > std::chrono::milliseconds(30)) {
      last_poll_ = now;
      if (total > 0) known_ = {stage, done, total, 0};
      poll(Progress{known_.stage, known_.done, known_.total, seconds()});
    } else if (calling_thread && total > 0) {
      known_ = {stage, done, total, 0};
    }
  }

  inline static std::atomic<bool> stop_all_{false};
  std::atomic<bool> stop_{false}, abandoned_{false};
  mutable std::atomic<std::size_t> most_bytes_{0};  // what was told, and no limit of the question
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_poll_ = start_;
  Progress known_{"starting", 0, 0, 0};
};

}  // namespace everytree
