// Which kernels this CPU can run, and which are in use.
#include <atomic>
#include <cstdlib>
#include <stdexcept>

#include "kernels/cpu_x86.hpp"
#include "kernels/kernels.hpp"
#include "kernels/lanes.hpp"
#include "kernels/row_kernels.hpp"

namespace everytree {

namespace portable {
extern const Kernels table;
extern const LaneKernels lanes;
extern const RowKernels of_rows;
}  // namespace portable
#if defined(__x86_64__)
namespace avx2 {
extern const Kernels table;
extern const LaneKernels lanes;
extern const RowKernels of_rows;
}  // namespace avx2
namespace avx512 {
extern const Kernels table;
extern const LaneKernels lanes;
extern const RowKernels of_rows;
}  // namespace avx512
#elif defined(__aarch64__)
namespace neon {
extern const Kernels table;
extern const LaneKernels lanes;
extern const RowKernels of_rows;
}  // namespace neon
#endif

std::vector<const Kernels*> available_kernels() {
  std::vector<const Kernels*> all{&portable::table};
#if defined(__x86_64__)
#if defined(_MSC_VER)
  const CpuX86 cpu = ask_cpu_x86();
#else
  __builtin_cpu_init();
  CpuX86 cpu;
  cpu.avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("bmi") &&
             __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("fma");
  cpu.avx512 = cpu.avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512vpopcntdq");
#endif
  if (cpu.avx2) all.push_back(&avx2::table);
  if (cpu.avx512) all.push_back(&avx512::table);
#elif defined(__aarch64__)
  all.push_back(&neon::table);
#endif
  return all;
}

const Kernels& find_kernels(const std::string& name) {
  const auto all = available_kernels();
  if (name.empty() || name == "auto") return *all.back();
  std::string known;
  for (const Kernels* k : all) {
    if (name == k->name) return *k;
    known += (known.empty() ? "" : ", ") + std::string(k->name);
  }
  throw std::invalid_argument("kernels \"" + name +
                              "\" are unknown or not supported by this CPU; set EVERYTREE_KERNELS to one of: " + known +
                              ", or unset it to use the fastest");
}

namespace {
std::atomic<const Kernels*> in_use{nullptr};
}

const Kernels& kernels() {
  const Kernels* k = in_use.load(std::memory_order_acquire);
  if (k == nullptr) {
    const char* forced = std::getenv("EVERYTREE_KERNELS");
    k = &find_kernels(forced == nullptr ? "" : forced);
    in_use.store(k, std::memory_order_release);
  }
  return *k;
}

const LaneKernels& lane_kernels() {
  const Kernels* k = &kernels();
#if defined(__x86_64__)
  if (k == &avx512::table) return avx512::lanes;
  if (k == &avx2::table) return avx2::lanes;
#elif defined(__aarch64__)
  if (k == &neon::table) return neon::lanes;
#endif
  static_cast<void>(k);
  return portable::lanes;
}

const RowKernels& row_kernels() {
  const Kernels* k = &kernels();
#if defined(__x86_64__)
  if (k == &avx512::table) return avx512::of_rows;
  if (k == &avx2::table) return avx2::of_rows;
#elif defined(__aarch64__)
  if (k == &neon::table) return neon::of_rows;
#endif
  static_cast<void>(k);
  return portable::of_rows;
}

void use_kernels(const std::string& name) { in_use.store(&find_kernels(name), std::memory_order_release); }

}  // namespace everytree
