// Bits of one word by single instructions of x86: count them, and move those under a mask together.
static inline std::uint64_t popcount64(std::uint64_t x) { return static_cast<std::uint64_t>(_mm_popcnt_u64(x)); }

struct Compress {
  const PackStep* steps;
  Compress(const PackStep* steps, std::size_t) : steps(steps) {}
  std::uint64_t operator()(std::uint64_t value, std::size_t step) const { return _pext_u64(value, steps[step].mask); }
};
