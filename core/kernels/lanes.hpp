// The rows of a cover in the order of a column, as 64 runs side by side: what a scan of the column needs, 64 rows a
// step.
//
//     place p of the order  ↔  segment p / (64·length), lane p mod (64·length) / length, step p mod length
//
// A lane holds `length` consecutive rows, so that running sums of all lanes advance together, and what a lane adds up
// to moves the lanes after it. With at most 127 rows in a lane, running sums of ±1 fit a byte.
#pragma once

#include <cstddef>
#include <cstdint>

namespace everytree {

struct LaneShape {
  std::uint32_t segments = 0, length = 0;

  static constexpr std::size_t kLanes = 64, kLongest = 127;
  static LaneShape of(std::size_t n_rows) {
    const std::size_t segments = (n_rows + kLanes * kLongest - 1) / (kLanes * kLongest);
    if (segments == 0) return {};
    const std::size_t each = kLanes * segments;
    return {static_cast<std::uint32_t>(segments), static_cast<std::uint32_t>((n_rows + each - 1) / each)};
  }
  std::size_t steps() const { return static_cast<std::size_t>(segments) * length; }
  std::size_t places() const { return steps() * kLanes; }
};

// How many rows a lane must have at least, less one, and may have at most: in a word, from which what lies before the
// lane in its segment is taken, which is less than 2^13.
inline std::int16_t in_word(std::int64_t n) {
  constexpr std::int64_t kFar = 16384;
  return static_cast<std::int16_t>(n < -kFar ? -kFar : n > kFar ? kFar : n);
}

// The least and the greatest running sum at a place where the order may be cut; low > high where there is none.
struct Extremes {
  static constexpr std::int32_t kNone = 1 << 30;
  std::int32_t low = kNone, high = -kNone;
};

// A bit per lane in each word, a word per step. `rows` are the rows of a cover within the order.
struct LaneKernels {
  // sides[s]: the rows whose code is at most `cut`. Codes lie step by step, 64 each.
  void (*at_most16)(const std::uint16_t* codes, const std::uint64_t* rows, std::size_t n_steps, std::uint16_t cut,
                    std::uint64_t* sides);
  void (*at_most32)(const std::uint32_t* codes, const std::uint64_t* rows, std::size_t n_steps, std::uint32_t cut,
                    std::uint64_t* sides);
  // to[k] = from[places[k]] for k < n, a multiple of 64. Reads two bytes past the end of `from`.
  void (*gather16)(const std::uint16_t* from, const std::uint32_t* places, std::size_t n, std::uint16_t* to);
  void (*gather32)(const std::uint32_t* from, const std::uint32_t* places, std::size_t n, std::uint32_t* to);
  // Running sums of `signs` (1, −1, 0) over the rows in `sides` → out[1], and over the others → out[0], each at its own
  // cuts.
  void (*extremes_of_sides)(const std::int8_t* signs, const std::uint64_t* rows, const std::uint64_t* sides,
                            const std::uint64_t* cuts1, const std::uint64_t* cuts0, LaneShape shape, Extremes out[2]);
  // The same for the rows with codes of at most `cut` → out[1] and the other rows → out[0], at the same cuts.
  void (*extremes_at16)(const std::uint16_t* codes, std::uint16_t cut, const std::int8_t* signs,
                        const std::uint64_t* rows, const std::uint64_t* cuts, LaneShape shape, Extremes out[2]);
  // Running sums over the rows in (sides ^ flip): 1 for those in `plus`, −1 for those in `minus`.
  void (*extremes_of_pair)(const std::uint64_t* plus, const std::uint64_t* minus, const std::uint64_t* rows,
                           const std::uint64_t* sides, std::uint64_t flip, const std::uint64_t* cuts, LaneShape shape,
                           Extremes* out);
  // Which of `may` leave at least `least` of the rows in (sides ^ flip), `total` in all, on either side of the cut.
  void (*sized_cuts)(const std::uint64_t* rows, const std::uint64_t* sides, std::uint64_t flip,
                     const std::uint64_t* may, std::int64_t least, std::int64_t total, LaneShape shape,
                     std::uint64_t* cuts);
  // runs[64 s + k]: the rows of lane k up to step s, from the first step of the segment on; the last step of a segment
  // has what its lanes hold. flip as above.
  void (*count_runs)(const std::uint64_t* rows, const std::uint64_t* sides, std::uint64_t flip, LaneShape shape,
                     std::uint8_t* runs);
};

// Those that belong to the kernels in use.
const LaneKernels& lane_kernels();

}  // namespace everytree
