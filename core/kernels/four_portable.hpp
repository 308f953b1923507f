// Three operations on four doubles that compilers do not find by themselves, for any machine.
typedef double Real4 __attribute__((vector_size(32)));
typedef std::int32_t Int4 __attribute__((vector_size(16)));

// leaf[index] for four indices, two of them per 64-bit load.
static inline Real4 look_up(const double* leaf, Int4 index) {
  std::uint64_t two[2];
  std::memcpy(two, &index, sizeof two);
  return Real4{leaf[static_cast<std::uint32_t>(two[0])], leaf[two[0] >> 32], leaf[static_cast<std::uint32_t>(two[1])],
               leaf[two[1] >> 32]};
}

// In halves: where registers are 128 bits wide, comparisons of four doubles would be taken apart one by one.
static inline Real4 max4(Real4 a, Real4 b) {
  typedef double Real2 __attribute__((vector_size(16)));
  Real2 x[2], y[2];
  std::memcpy(x, &a, sizeof x);
  std::memcpy(y, &b, sizeof y);
  for (int k = 0; k < 2; ++k) x[k] = x[k] > y[k] ? x[k] : y[k];
  Real4 out;
  std::memcpy(&out, x, sizeof out);
  return out;
}

static inline Real4 min4(Real4 a, Real4 b) { return -max4(-a, -b); }
