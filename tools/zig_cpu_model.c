// What `__builtin_cpu_supports` reads. gcc and clang bring it in their run-time library; the clang in PyPI's
// ziglang comes without, so its link step adds this file. Only the features that choose a kernel are set.
//
// The names, the layout and the bit numbers are those of libgcc's cpuinfo.h; they never change.
#if defined(__x86_64__)
#include <cpuid.h>

// Clang expects these inside the module that is being linked.
#pragma GCC visibility push(hidden)

struct {
  unsigned vendor, type, subtype, features[1];
} __cpu_model;
unsigned __cpu_features2[4];

enum {
  POPCNT = 2,
  AVX2 = 10,
  FMA = 14,
  AVX512F = 15,
  BMI = 16,
  BMI2 = 17,
  AVX512VL = 20,
  AVX512BW = 21,
  AVX512DQ = 22,
  VPOPCNTDQ = 30
};

static unsigned bit(unsigned word, int from, int to) { return ((word >> from) & 1u) << to; }

int __cpu_indicator_init(void) {
  unsigned a, b, c, d, found = 0, vectors = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
  found |= bit(c, 23, POPCNT);
  const unsigned fma = bit(c, 12, FMA);
  // A CPU may have wide registers that the operating system does not save: then they must not be used.
  if (c & (1u << 27)) __asm__("xgetbv" : "=a"(vectors), "=d"(d) : "c"(0));
  const int saves_256 = (vectors & 0x06) == 0x06, saves_512 = (vectors & 0xe6) == 0xe6;
  if (saves_256) found |= fma;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
    found |= bit(b, 3, BMI) | bit(b, 8, BMI2);
    if (saves_256) found |= bit(b, 5, AVX2);
    if (saves_512)
      found |= bit(b, 16, AVX512F) | bit(b, 17, AVX512DQ) | bit(b, 30, AVX512BW) | bit(b, 31, AVX512VL) |
               bit(c, 14, VPOPCNTDQ);
  }
  __cpu_model.features[0] = found;
  return 0;
}
#else
typedef int nothing_to_add;
#endif
