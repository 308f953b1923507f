// The bits of a word under a mask, moved together: six rounds of a parallel suffix (Hacker's Delight, 7-4). Which bits
// move in which round depends on the mask alone, so it is worked out once per step and serves every column.
class Compress {
 public:
  Compress(const PackStep* steps, std::size_t n_steps) : moves_(n_steps) {
    for (std::size_t k = 0; k < n_steps; ++k) {
      std::uint64_t mask = steps[k].mask, to_right = ~mask << 1;
      moves_[k].mask = mask;
      for (int round = 0; round < 6; ++round) {
        std::uint64_t parity = to_right ^ (to_right << 1);
        for (int shift = 2; shift < 64; shift *= 2) parity ^= parity << shift;
        const std::uint64_t move = parity & mask;
        moves_[k].move[round] = move;
        mask = (mask ^ move) | (move >> (1 << round));
        to_right &= ~parity;
      }
    }
  }
  std::uint64_t operator()(std::uint64_t value, std::size_t step) const {
    const Moves& m = moves_[step];
    value &= m.mask;
    for (int round = 0; round < 6; ++round) {
      const std::uint64_t t = value & m.move[round];
      value = (value ^ t) | (t >> (1 << round));
    }
    return value;
  }

 private:
  struct Moves {
    std::uint64_t mask, move[6];
  };
  std::vector<Moves> moves_;
};
