// What the core throws. It never prints and never exits.
#pragma once

#include <stdexcept>
#include <string>

namespace everytree {

struct InvalidInput : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// A time or memory limit ended the work, or somebody asked it to stop.
struct LimitReached : std::runtime_error {
  enum class Reason { time, memory, stopped };
  LimitReached(Reason reason, const std::string& message) : std::runtime_error(message), reason(reason) {}
  Reason reason;
};

inline const char* name_of(LimitReached::Reason reason) {
  return reason == LimitReached::Reason::time ? "time" : reason == LimitReached::Reason::memory ? "memory" : "stopped";
}

}  // namespace everytree
