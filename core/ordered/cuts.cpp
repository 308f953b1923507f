#include "ordered/cuts.hpp"

#include <algorithm>

namespace everytree::ordered {

namespace {
constexpr std::size_t kEach = 64;  // rows between two places whose counts are kept
}

void CutList::find(const Problem& problem, const Cover& cover, std::size_t f) {
  problem_ = &problem;
  column_ = f;
  n_classes_ = problem.n_classes;
  counted_ = problem.plain() && cover.ghosts == nullptr;
  const std::uint32_t *order = cover.order(f), *ranks = problem.column(f);
  // Room for a cut after every row, and then only what is used.
  const std::size_t most = cover.n > 0 ? cover.n - 1 : 0;
  if (rank_.size() < most) {
    rank_.resize(most);
    rows_.resize(most);
  }
  if (!counted_ && reach_.size() < most) reach_.resize(most);
  const std::size_t kept = (most / kEach + 1) * n_classes_;
  if (counts_.size() < kept) counts_.resize(kept);
  if (!problem.plain() && weights_.size() < most) weights_.resize(most);
  std::vector<std::int32_t> count(n_classes_, 0);
  std::int32_t weight = 0;
  Value reach = 0;
  size_ = 0;
  for (std::size_t p = 0; p < most; ++p) {
    if (p % kEach == 0)
      std::copy(count.begin(), count.end(), counts_.begin() + static_cast<std::ptrdiff_t>(p / kEach * n_classes_));
    const std::uint32_t row = order[p], here = ranks[row];
    const std::size_t c = problem.classes[row];
    weight += problem.weights[row];
    if (!cover.ghost(row)) {
      count[c] += problem.weights[row];
      reach += problem.weights[row] * problem.most[c];
    }
    if (ranks[order[p + 1]] == here) continue;
    if (!problem.plain()) weights_[size_] = weight;
    if (!counted_) reach_[size_] = reach;
    rank_[size_] = here;
    rows_[size_++] = static_cast<std::uint32_t>(p + 1);
  }
}

void CutList::counts(std::ptrdiff_t k, const Cover& cover, std::vector<std::int64_t> out[2]) const {
  const std::size_t stop = rows(k), begin = (stop - 1) / kEach * kEach;
  const std::int32_t* here = counts_.data() + begin / kEach * n_classes_;
  const std::uint32_t* order = cover.order(column_);
  out[1].assign(here, here + n_classes_);
  for (std::size_t p = begin; p < stop; ++p)
    if (!cover.ghost(order[p])) out[1][problem_->classes[order[p]]] += problem_->weights[order[p]];
  out[0].resize(n_classes_);
  for (std::size_t c = 0; c < n_classes_; ++c) out[0][c] = cover.counts[c] - out[1][c];
}

void CutList::side(const Problem& problem, const Cover& cover, std::ptrdiff_t k, int side,
                   std::vector<std::uint32_t>& kept, Cover& out) const {
  std::vector<std::uint8_t> none;
  wide_side(problem, cover, k, k, side, kept, none, out);
}

void CutList::wide_side(const Problem& problem, const Cover& cover, std::ptrdiff_t k, std::ptrdiff_t wide, int side,
                        std::vector<std::uint32_t>& kept, std::vector<std::uint8_t>& ghosts, Cover& out) const {
  const std::size_t d = problem.n_columns, n = side == 1 ? rows(wide) : cover.n - rows(wide);
  if (kept.size() < n * d + 1) kept.resize(n * d + 1);
  const std::uint32_t* ranks = problem.column(column_);
  const std::uint32_t cut = rank(wide);
  for (std::size_t g = 0; g < d; ++g) {
    const std::uint32_t* from = cover.order(g);
    std::uint32_t* to = kept.data() + g * n;
    if (g == column_) {
      std::copy_n(side == 1 ? from : from + rows(wide), n, to);
      continue;
    }
    for (const std::uint32_t* stop = to + n; to < stop; ++from) {
      *to = *from;
      to += (ranks[*from] <= cut) == (side == 1) ? 1 : 0;
    }
  }
  out.n = n;
  out.rows = kept.data();
  std::vector<std::int64_t> both[2];
  counts(k, cover, both);
  out.counts = both[side];
  out.weight = side == 1 ? weight(wide) : cover.weight - weight(wide);
  out.ghosts = cover.ghosts;
  if (wide != k) {
    ghosts.resize(problem.n_rows);
    for (std::size_t p = 0; p < n; ++p)
      ghosts[kept[p]] = cover.ghost(kept[p]) || (ranks[kept[p]] <= rank(k)) != (side == 1) ? 1 : 0;
    out.ghosts = ghosts.data();
  }
  out.leaf = problem.leaf(out.counts.data());
}

Value reach_of(const Problem& problem, const Cover& cover) {
  Value sum = 0;
  for (std::size_t c = 0; c < problem.n_classes; ++c) sum += cover.counts[c] * problem.most[c];
  return sum;
}

}  // namespace everytree::ordered
