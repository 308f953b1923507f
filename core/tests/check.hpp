// A test framework in one page: CHECK records a failure with its place and goes on; main() returns their number.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace check {

inline int failures = 0;
inline int checks = 0;
inline std::vector<std::pair<std::string, std::function<void()>>>& tests() {
  static std::vector<std::pair<std::string, std::function<void()>>> all;
  return all;
}
struct Register {
  Register(const char* name, std::function<void()> f) { tests().emplace_back(name, std::move(f)); }
};
inline void report(bool ok, const char* what, const char* file, int line) {
  ++checks;
  if (!ok && ++failures <= 20) std::printf("%s:%d: failed: %s\n", file, line, what);
}
inline bool near(double a, double b, double relative = 1e-12) {
  return a == b || std::abs(a - b) <= relative * std::max({std::abs(a), std::abs(b), 1e-300});
}
inline int run() {
  std::setvbuf(stdout, nullptr, _IOLBF, 4096);  // a crash must not take the earlier lines with it
  for (auto& [name, f] : tests()) {
    const int before = failures;
    try {
      f();
    } catch (const std::exception& e) {
      ++failures;
      std::printf("%s threw: %s\n", name.c_str(), e.what());
    }
    std::printf("%s %s\n", failures == before ? "ok  " : "FAIL", name.c_str());
  }
  std::printf("%d checks, %d failures\n", checks, failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace check

#define CHECK(condition) check::report(static_cast<bool>(condition), #condition, __FILE__, __LINE__)
#define TEST(name)                                           \
  static void name();                                        \
  static const check::Register register_##name(#name, name); \
  static void name()
