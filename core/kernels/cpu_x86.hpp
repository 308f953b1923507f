// What an x86 CPU and its operating system offer, asked with CPUID and XGETBV.
//
// gcc and clang know this themselves (__builtin_cpu_supports), but from a run-time library that is not there where
// clang builds for Microsoft's linker. The test compares the two where both are there.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>

namespace everytree {

struct CpuX86 {
  bool avx2 = false;    // and BMI, BMI2, FMA, POPCNT: what kernels/avx2.cpp is compiled for
  bool avx512 = false;  // and those above: F, BW, DQ, VL, VPOPCNTDQ
};

inline CpuX86 ask_cpu_x86() {
  const auto bit = [](unsigned word, int k) { return (word >> k & 1u) != 0; };
  unsigned a, b, c, d;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return {};
  const bool fma = bit(c, 12), popcnt = bit(c, 23), saved = bit(c, 27), avx = bit(c, 28);
  if (!saved || !avx || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return {};
  // Registers that the operating system does not save must not be used: XCR0 says which it does.
  unsigned low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  const bool ymm = (low & 0x6u) == 0x6u, zmm = (low & 0xe6u) == 0xe6u;
  CpuX86 found;
  found.avx2 = ymm && bit(b, 5) && bit(b, 3) && bit(b, 8) && popcnt && fma;
  found.avx512 = found.avx2 && zmm && bit(b, 16) && bit(b, 30) && bit(b, 17) && bit(b, 31) && bit(c, 14);
  return found;
}

}  // namespace everytree
#endif
