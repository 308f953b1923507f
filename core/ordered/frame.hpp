// The rows of a cover laid out for scans of its columns (kernels/lanes.hpp), and parts of it as bits of these rows.
//
// Parts of a cover need no lists of their own: their rows are bits in the order of every column, found by comparing the
// codes of the column that is cut, which are brought into the order of the other columns once for each pair of columns.
// That a part has fewer rows than the frame is no loss worth a copy: 64 rows are one step of a scan.
//
// For problems in which an error costs the same everywhere.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/lanes.hpp"
#include "ordered/problem.hpp"

namespace everytree::ordered {

class Frame {
 public:
  explicit Frame(const Problem& problem);

  void open(const Cover& cover);
  const Problem& problem() const { return p_; }
  const LaneKernels& kernel() const { return k_; }
  LaneShape shape() const { return shape_; }
  std::size_t steps() const { return shape_.steps(); }
  const std::uint64_t* rows() const { return valid_.data(); }

  // The cuts of column g: ranks, and where the row before each is, as a place (64 · step + lane) and a lane of all.
  struct Cuts {
    std::vector<std::uint32_t> rank, place;
    std::vector<std::uint32_t> lane;
  };
  const Cuts& cuts(std::size_t g) { return laid(g).cuts; }
  // After which rows of column g it may be cut.
  const std::uint64_t* may(std::size_t g) { return laid(g).may.data(); }
  // Two classes: 1 for class 0, −1 for class 1, 0 for ghosts.
  const std::int8_t* signs(std::size_t g) { return laid(g).signs.data(); }
  // Whether the cover has ghosts, and the rows that are none.
  bool ghosts() const { return cover_->ghosts != nullptr; }
  const std::uint64_t* real(std::size_t g) { return ghosts() ? laid(g).real.data() : rows(); }
  // The rows of class c, without ghosts.
  const std::uint64_t* members(std::size_t g, std::size_t c) { return laid(g).members.data() + c * steps(); }
  // Which of `rows`, in the order of column g, have at most this rank in column f.
  void sides(std::size_t f, std::uint32_t rank, std::size_t g, const std::uint64_t* rows, std::uint64_t* out);
  // The codes of column f in the order of column g, where they are narrow.
  const std::uint16_t* codes(std::size_t f, std::size_t g) { return codes16_[bring(f, g)].data(); }
  std::size_t bytes() const;
  // No less than the frame of n rows can take.
  std::size_t most_bytes(std::size_t n) const;

 private:
  std::size_t bring(std::size_t f, std::size_t g);
  struct Column {
    bool made = false;
    Cuts cuts;
    std::vector<std::uint32_t> rows;
    std::vector<std::int8_t> signs;
    std::vector<std::uint64_t> members, may, real;
  };
  Column& laid(std::size_t g) {
    if (!columns_[g].made) lay_out(g);
    return columns_[g];
  }
  void lay_out(std::size_t g);

  const Problem& p_;
  const LaneKernels& k_;
  const Cover* cover_ = nullptr;
  LaneShape shape_;
  std::vector<Column> columns_;
  std::vector<std::uint64_t> valid_;
  // Codes of column f in the order of column g, at f · n_columns + g; only those of one f if all take too much room.
  bool keep_ = true;
  std::vector<std::uint8_t> brought_;
  std::vector<std::uint32_t> of_;  // whose codes a place holds, if not all are kept
  std::vector<std::vector<std::uint16_t>> codes16_;
  std::vector<std::vector<std::uint32_t>> codes32_;
};

// Rows of a frame: all, or one side of a cut, perhaps with ghosts.
class Part {
 public:
  explicit Part(Frame& frame) : frame_(frame) {}

  void all(const Cover& cover);
  // The side of a cut of column f at this rank: 1 for the rows up to it. What is on the same side of `wide` is in the
  // part too, as ghosts. Counts are those of the part without ghosts, n with them.
  void side(std::size_t f, std::uint32_t rank, std::uint32_t wide, int side, const std::int64_t* counts,
            std::int64_t n);
  Frame& frame() const { return frame_; }
  // The rows of the part in the order of column g, and those that are no ghosts.
  const std::uint64_t* rows(std::size_t g) { return made(g, kRows); }
  const std::uint64_t* real(std::size_t g) { return ghosts() ? made(g, kReal) : rows(g); }
  bool ghosts() const { return frame_.ghosts() || wide_ != rank_; }
  std::int64_t n() const { return n_; }            // with ghosts
  std::int64_t n_real() const { return n_real_; }  // without
  const std::vector<std::int64_t>& counts() const { return counts_; }
  Value leaf() const { return leaf_; }
  std::size_t bytes() const { return 8 * (bits_[0].size() + bits_[1].size()); }

 private:
  enum Which { kRows, kReal };
  void begin();
  const std::uint64_t* made(std::size_t g, Which which);
  Frame& frame_;
  bool whole_ = true;
  std::size_t f_ = 0;
  std::uint32_t rank_ = 0, wide_ = 0;
  int side_ = 1;
  std::int64_t n_ = 0, n_real_ = 0;
  Value leaf_ = 0;
  std::vector<std::int64_t> counts_;
  std::vector<std::uint8_t> made_[2];
  std::vector<std::uint64_t> bits_[2];
};

}  // namespace everytree::ordered
