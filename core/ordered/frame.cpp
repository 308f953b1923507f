#include "ordered/frame.hpp"

#include <algorithm>

namespace everytree::ordered {

namespace {
// Codes of all pairs of columns are kept up to so many bytes for each byte of the ranks themselves.
constexpr std::size_t kMostForEach = 8;
}  // namespace

Frame::Frame(const Problem& problem) : p_(problem), k_(lane_kernels()), columns_(problem.n_columns) {
  const std::size_t d = p_.n_columns, width = p_.wide() ? 4 : 2;
  keep_ = d * width <= kMostForEach * sizeof(double);
  const std::size_t n = keep_ ? d * d : d;
  if (p_.wide())
    codes32_.resize(n);
  else
    codes16_.resize(n);
}

void Frame::open(const Cover& cover) {
  cover_ = &cover;
  shape_ = LaneShape::of(cover.n);
  for (Column& column : columns_) column.made = false;
  const std::size_t d = p_.n_columns;
  brought_.assign(keep_ ? d * d : d, 0);
  of_.assign(keep_ ? 0 : d, 0);
  valid_.assign(steps(), 0);
  const std::size_t length = shape_.length, run = LaneShape::kLanes * length;
  // Only the last lanes of the last segment have places without rows.
  for (std::size_t g = 0; g < shape_.segments; ++g)
    for (std::size_t s = 0; s < length; ++s) {
      const std::size_t first = g * run + s;  // of lane 0
      const std::size_t lanes = first >= cover.n ? 0 : std::min<std::size_t>(64, (cover.n - first - 1) / length + 1);
      valid_[g * length + s] = lanes == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << lanes) - 1;
    }
}

void Frame::lay_out(std::size_t g) {
  Column& column = columns_[g];
  column.made = true;
  const std::size_t n = cover_->n, length = shape_.length, n_steps = steps(), n_classes = p_.n_classes;
  const std::uint32_t *order = cover_->order(g), *rank = p_.column(g);
  const bool two = n_classes == 2;
  column.rows.resize(shape_.places());
  column.may.assign(n_steps, 0);
  column.members.assign(n_classes * n_steps, 0);
  if (ghosts()) column.real.assign(n_steps, 0);
  if (two) column.signs.resize(shape_.places());
  column.cuts.rank.clear();
  column.cuts.place.clear();
  column.cuts.lane.clear();
  std::size_t p = 0;
  for (std::size_t segment = 0; segment < shape_.segments; ++segment)
    for (std::size_t lane = 0; lane < LaneShape::kLanes; ++lane) {
      const std::uint64_t bit = std::uint64_t{1} << lane;
      std::size_t step = segment * length;
      const std::size_t stop = step + length, rows_stop = std::min(n, p + length);
      for (; p < rows_stop; ++p, ++step) {
        const std::uint32_t row = order[p];
        const std::size_t place = step * 64 + lane, c = p_.classes[row];
        column.rows[place] = row;
        if (p + 1 < n && rank[order[p + 1]] != rank[row]) {
          column.may[step] |= bit;
          column.cuts.rank.push_back(rank[row]);
          column.cuts.place.push_back(static_cast<std::uint32_t>(place));
          column.cuts.lane.push_back(static_cast<std::uint32_t>(segment * 64 + lane));
        }
        const bool ghost = cover_->ghost(row);
        if (two) column.signs[place] = ghost ? 0 : c == 0 ? 1 : -1;
        if (ghost) continue;
        column.members[c * n_steps + step] |= bit;
        if (ghosts()) column.real[step] |= bit;
      }
      for (; step < stop; ++step) {
        column.rows[step * 64 + lane] = 0;
        if (two) column.signs[step * 64 + lane] = 0;
      }
    }
}

// Where the codes of column f in the order of column g are.
std::size_t Frame::bring(std::size_t f, std::size_t g) {
  const Column& column = laid(g);
  const std::size_t at = keep_ ? f * p_.n_columns + g : g, places = shape_.places();
  if (brought_[at] != 0 && (keep_ || of_[at] == f)) return at;
  brought_[at] = 1;
  if (!keep_) of_[at] = static_cast<std::uint32_t>(f);
  if (p_.wide()) {
    codes32_[at].resize(places);
    k_.gather32(p_.column(f), column.rows.data(), places, codes32_[at].data());
  } else {
    codes16_[at].resize(places);
    k_.gather16(p_.narrow.data() + f * p_.n_rows, column.rows.data(), places, codes16_[at].data());
  }
  return at;
}

void Frame::sides(std::size_t f, std::uint32_t rank, std::size_t g, const std::uint64_t* rows, std::uint64_t* out) {
  const std::size_t at = bring(f, g);
  if (p_.wide())
    k_.at_most32(codes32_[at].data(), rows, steps(), rank, out);
  else
    k_.at_most16(codes16_[at].data(), rows, steps(), static_cast<std::uint16_t>(rank), out);
}

std::size_t Frame::most_bytes(std::size_t n) const {
  const std::size_t d = p_.n_columns, codes = (keep_ ? d : 1) * (p_.wide() ? 4 : 2);
  return (n + 64) * d * (codes + 4 + 1 + 12 + p_.n_classes / 8 + 1);
}

std::size_t Frame::bytes() const {
  std::size_t sum = 8 * valid_.size();
  for (const Column& c : columns_)
    sum += 4 * c.rows.size() + c.signs.size() + 8 * (c.members.size() + c.may.size() + c.real.size()) +
           12 * c.cuts.rank.size();
  for (const auto& codes : codes16_) sum += 2 * codes.size();
  for (const auto& codes : codes32_) sum += 4 * codes.size();
  return sum;
}

void Part::begin() {
  const std::size_t d = frame_.problem().n_columns;
  for (int which = 0; which < (ghosts() ? 2 : 1); ++which) {
    made_[which].assign(d, 0);
    if (bits_[which].size() < d * frame_.steps()) bits_[which].resize(d * frame_.steps());
  }
  n_real_ = 0;
  for (const std::int64_t count : counts_) n_real_ += count;
  leaf_ = frame_.problem().leaf(counts_.data());
}

void Part::all(const Cover& cover) {
  whole_ = true;
  rank_ = wide_ = 0;
  counts_ = cover.counts;
  n_ = cover.weight;
  begin();
}

void Part::side(std::size_t f, std::uint32_t rank, std::uint32_t wide, int side, const std::int64_t* counts,
                std::int64_t n) {
  whole_ = false;
  f_ = f;
  rank_ = rank;
  wide_ = wide;
  side_ = side;
  n_ = n;
  counts_.assign(counts, counts + frame_.problem().n_classes);
  begin();
}

const std::uint64_t* Part::made(std::size_t g, Which which) {
  const std::uint64_t* all = which == kRows ? frame_.rows() : frame_.real(g);
  if (whole_) return all;
  const std::size_t steps = frame_.steps();
  std::uint64_t* bits = bits_[which].data() + g * steps;
  if (made_[which][g] == 0) {
    made_[which][g] = 1;
    frame_.sides(f_, which == kRows ? wide_ : rank_, g, all, bits);
    if (side_ == 0)
      for (std::size_t s = 0; s < steps; ++s) bits[s] = all[s] & ~bits[s];
  }
  return bits;
}

}  // namespace everytree::ordered
