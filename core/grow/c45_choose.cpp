// The test of a node: gain, gain ratio, and the choice between attributes.
#include <algorithm>

#include "c45_parts.hpp"

namespace everytree::grow::c45 {

namespace {
constexpr std::size_t kTabulated = std::size_t{1} << 18;
constexpr std::size_t kLongScan = 10000;  // rows; below, one check per node is often enough
}  // namespace

Chooser::Chooser(const Columns& data, const C45Options& options, Control& control)
    : data_(data),
      options_(options),
      control_(control),
      n_classes_(data.n_classes()),
      left_(n_classes_),
      right_(n_classes_),
      slot_(data.n_rows(), 0),
      scores_(data.n_columns()) {
  table_.resize(std::min(static_cast<std::size_t>(data.total()) + 1, kTabulated), 0.0);
  for (std::size_t k = 1; k < table_.size(); ++k)
    table_[k] = static_cast<double>(k) * std::log2(static_cast<double>(k));
  std::size_t most = 0;
  for (std::size_t j = 0; j < data.n_columns(); ++j) most = std::max(most, static_cast<std::size_t>(data[j].n_values));
  bags_.resize(most * n_classes_, 0.0);
  bag_totals_.resize(most, 0.0);
}

Test Chooser::choose(const Part& part, const double* counts) {
  Test none;
  total_ = sum(counts, n_classes_);
  if (total_ < 2 * options_.min_leaf - kSmall || errors(counts, n_classes_) < kSmall) return none;
  for (std::size_t i = 0; i < part.rows.size(); ++i) slot_[part.rows[i]] = static_cast<std::uint32_t>(i + 1);
  // Attributes with very many values would spoil the average gain: they count only where there is nothing else.
  const double many = 0.3 * static_cast<double>(data_.total()) - kSmall;
  bool only_many = true;
  for (std::size_t j = 0; j < data_.n_columns(); ++j) only_many &= !data_[j].numeric && data_[j].n_values >= many;
  double average = 0;
  std::size_t useful = 0;
  for (std::size_t j = 0; j < data_.n_columns(); ++j) {
    const Column& column = data_[j];
    if (part.rows.size() > kLongScan) control_.check(true, "growing", 0, 0);
    scores_[j] = column.numeric ? numeric(column, part) : nominal(column, part);
    if (scores_[j].useful && (column.numeric || only_many || column.n_values < many)) {
      average += scores_[j].gain;
      ++useful;
    }
  }
  for (std::uint32_t row : part.rows) slot_[row] = 0;
  if (useful == 0) return none;
  average /= static_cast<double>(useful);
  double best = 0;
  for (std::size_t j = 0; j < data_.n_columns(); ++j) {
    // The slack of 0.001 in the average is C4.5's own.
    if (!scores_[j].useful || scores_[j].gain < average - 1e-3 || scores_[j].ratio <= best + kSmall) continue;
    best = scores_[j].ratio;
    none = {static_cast<std::int32_t>(j), scores_[j].threshold, 2};
    if (!data_[j].numeric && !options_.binary_splits) none.n_branches = static_cast<std::size_t>(data_[j].n_values);
  }
  return none;
}

double Chooser::sum_n_log_n(const double* counts) const {
  double s = 0;
  for (std::size_t c = 0; c < n_classes_; ++c) s += n_log_n(counts[c]);
  return s;
}

// Entropies are times the number of examples, and only known values count in them.
double Chooser::gain(double old_entropy, double new_entropy, double known) const {
  const double scaled = known / total_ * (old_entropy - new_entropy);
  return std::abs(scaled) < kSmall ? 0 : scaled / known;
}

double Chooser::ratio(double gain, double branches_n_log_n, double known) const {
  const double entropy = n_log_n(total_) - n_log_n(total_ - known) - branches_n_log_n;
  return std::abs(entropy) < kSmall ? 0 : gain / (entropy / total_);
}

Chooser::Score Chooser::nominal(const Column& column, const Part& part) {
  Score score;
  touched_.clear();
  double known = 0;
  std::fill(right_.begin(), right_.end(), 0.0);
  for (std::size_t i = 0; i < part.rows.size(); ++i) {
    const std::int32_t code = column.codes[part.rows[i]];
    if (code < 0) continue;
    const auto c = static_cast<std::size_t>(data_.classes()[part.rows[i]]);
    const auto v = static_cast<std::size_t>(code);
    if (bag_totals_[v] == 0) touched_.push_back(code);
    bags_[v * n_classes_ + c] += part.weights[i];
    bag_totals_[v] += part.weights[i];
    right_[c] += part.weights[i];
    known += part.weights[i];
  }
  std::sort(touched_.begin(), touched_.end());
  if (options_.binary_splits) {
    score = binary(column, right_, known);
  } else {
    std::size_t large = 0;
    double within = 0, branches = 0;
    for (std::int32_t code : touched_) {
      const auto v = static_cast<std::size_t>(code);
      large += bag_totals_[v] >= options_.min_leaf - kSmall;
      const double n = n_log_n(bag_totals_[v]);
      branches += n;
      within += n - sum_n_log_n(&bags_[v * n_classes_]);
    }
    if (large > 1) {
      score.useful = true;
      score.gain = gain(n_log_n(known) - sum_n_log_n(right_.data()), within, known);
      score.ratio = ratio(score.gain, branches, known);
    }
  }
  for (std::int32_t code : touched_) {
    const auto v = static_cast<std::size_t>(code);
    std::fill_n(&bags_[v * n_classes_], n_classes_, 0.0);
    bag_totals_[v] = 0;
  }
  return score;
}

Chooser::Score Chooser::binary(const Column&, const std::vector<double>& known_counts, double known) {
  Score best;
  const double old_entropy = n_log_n(known) - sum_n_log_n(known_counts.data());
  for (std::int32_t code : touched_) {
    const auto v = static_cast<std::size_t>(code);
    const double n = bag_totals_[v];
    if (n < options_.min_leaf - kSmall || known - n < options_.min_leaf - kSmall) continue;
    for (std::size_t c = 0; c < n_classes_; ++c) left_[c] = known_counts[c] - bags_[v * n_classes_ + c];
    const double branches = n_log_n(n) + n_log_n(known - n);
    const double within = branches - sum_n_log_n(&bags_[v * n_classes_]) - sum_n_log_n(left_.data());
    Score one;
    one.useful = true;
    one.gain = gain(old_entropy, within, known);
    one.ratio = ratio(one.gain, branches, known);
    one.threshold = code;
    if (!best.useful || one.ratio > best.ratio + kSmall) best = one;
  }
  return best;
}

// Positions in the part of the rows with a value, by value. Large parts are read off the order of all rows (a third of
// the time at the root), small ones are sorted.
void Chooser::sorted_positions(const Column& column, const Part& part) {
  positions_.clear();
  if (part.rows.size() * 8 > data_.n_rows()) {
    for (std::uint32_t row : column.order)
      if (slot_[row] > 0) positions_.push_back(slot_[row] - 1);
    return;
  }
  keys_.clear();
  for (std::size_t i = 0; i < part.rows.size(); ++i)
    if (!std::isnan(column.values[part.rows[i]])) keys_.push_back(std::uint64_t{column.ranks[part.rows[i]]} << 32 | i);
  std::sort(keys_.begin(), keys_.end());
  for (std::uint64_t key : keys_) positions_.push_back(static_cast<std::uint32_t>(key));
}

Chooser::Score Chooser::numeric(const Column& column, const Part& part) {
  Score score;
  sorted_positions(column, part);
  std::fill(left_.begin(), left_.end(), 0.0);
  std::fill(right_.begin(), right_.end(), 0.0);
  double known = 0, repeated = 0;
  for (std::uint32_t i : positions_) {
    right_[static_cast<std::size_t>(data_.classes()[part.rows[i]])] += part.weights[i];
    known += part.weights[i];
    repeated += data_.examples(part.rows[i]);
  }
  // A tenth of the average class, between min_leaf and 25.
  double least = 0.1 * known / static_cast<double>(n_classes_);
  if (least <= options_.min_leaf + kSmall)
    least = options_.min_leaf;
  else if (least > 25 + kSmall)
    least = 25;
  if (repeated < 2 * least - kSmall) return score;

  // S = Σ_c n_c log n_c of both sides is kept up to date row by row: the work at a cut does not depend on the classes.
  double left_s = 0, right_s = sum_n_log_n(right_.data()), left_n = 0, right_n = known;
  const double old_entropy = n_log_n(known) - right_s;
  double best = 0, best_left = 0, cuts = 0;
  std::size_t place = 0;
  for (std::size_t i = 0; i + 1 < positions_.size(); ++i) {
    const std::uint32_t at = positions_[i];
    const double w = part.weights[at];
    double& l = left_[static_cast<std::size_t>(data_.classes()[part.rows[at]])];
    double& r = right_[static_cast<std::size_t>(data_.classes()[part.rows[at]])];
    left_s -= n_log_n(l);
    right_s -= n_log_n(r);
    l += w;
    r -= w;
    left_s += n_log_n(l);
    right_s += n_log_n(r);
    left_n += w;
    right_n -= w;
    if (!(column.values[part.rows[at]] + options_.resolution < column.values[part.rows[positions_[i + 1]]])) continue;
    if (left_n < least - kSmall || right_n < least - kSmall) continue;
    ++cuts;
    const double found = gain(old_entropy, n_log_n(left_n) - left_s + n_log_n(right_n) - right_s, known);
    if (found > best + kSmall) {
      best = found;
      best_left = left_n;
      place = i;
    }
  }
  if (cuts == 0) return score;
  score.gain = best - std::log2(cuts) / total_;
  if (score.gain <= kSmall) return score;
  score.useful = true;
  score.ratio = ratio(score.gain, n_log_n(best_left) + n_log_n(known - best_left), known);
  // The cut is a value of the data: the largest of all training rows that is not above the middle. A tenth of the
  // resolution of slack, so that a value that is the middle does not depend on how the middle is rounded.
  const double low = column.values[part.rows[positions_[place]]],
               high = column.values[part.rows[positions_[place + 1]]];
  const double middle = low / 2 + high / 2 + options_.resolution / 10;
  const auto after = std::upper_bound(column.order.begin(), column.order.end(), middle,
                                      [&](double x, std::uint32_t row) { return x < column.values[row]; });
  score.threshold = low;
  if (middle < high) score.threshold = std::max(low, column.values[*(after - 1)]);
  return score;
}

}  // namespace everytree::grow::c45
