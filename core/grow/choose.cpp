#include "choose.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "algebra/tie.hpp"
#include "common/errors.hpp"

namespace everytree::grow {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kSlack = 1e-9;                             // far more than the rounding of a score, relative to it
constexpr double kFar = 45;                                 // exp(−45) is below the last bit of one
constexpr std::size_t kRowsBetween = std::size_t{1} << 18;  // rows scanned between two looks at the limits

double log_of(double factor) { return factor > 0 ? std::log(factor) : kNever; }

}  // namespace

Chooser::Chooser(const Columns& columns, const GrowSettings& settings, const Prior& prior, const DirichletParameters& a,
                 Control& control)
    : columns_(columns),
      settings_(settings),
      prior_(prior),
      a_(a),
      control_(control),
      scanner_(columns, settings.min_leaf, settings.binary_nominal),
      charge_(columns, settings, prior),
      splitter_(columns),
      unit_(Score::unit_for(a, columns.total())),
      class_totals_(columns.n_classes(), 0),
      scores_(a.size()),
      plies_(settings.lookahead),
      stream_(settings.seed, settings.number) {
  for (std::size_t row = 0; row < columns.n_rows(); ++row)
    class_totals_[static_cast<std::size_t>(columns.classes()[row])] += columns.weights()[row];
  if (settings.score == GrowScore::gain_ratio) entropy_ = Score::entropy(class_totals_, &control_, bytes());
}

const Score& Chooser::score_at(std::size_t depth) {
  const std::size_t row = std::min(depth, scores_.size() - 1);
  if (!scores_[row]) {
    scores_[row] = Score::dirichlet(a_[row], class_totals_, unit_, &control_, bytes(), a_.per_example());
  }
  return *scores_[row];
}

std::size_t Chooser::bytes() const {
  std::size_t sum = columns_.bytes() + columns_.n_rows() * 8;
  for (const auto& score : scores_) sum += score ? score->bytes() : 0;
  for (const Ply& ply : plies_) sum += ply.storage.bytes();
  return sum;
}

void Chooser::check(std::size_t work) {
  since_check_ += work;
  if (since_check_ < kRowsBetween) return;
  since_check_ = 0;
  control_.check(true, "growing", 0, 0);
}

// Whether splitting examples of one class gains nothing by the prior: no leaf below has a charge above 0, and the split
// itself costs no less than the leaf that it replaces.
bool Chooser::one_class_stays_whole(std::size_t depth) const {
  return prior_.log_leaf(depth + 1, true) <= 0 && prior_.log_leaf(depth + 1, false) <= 0 &&
         prior_.log_split_base(depth) <= prior_.log_leaf(depth, true);
}

bool Chooser::may_split(const std::vector<std::int64_t>& counts, std::size_t depth) const {
  if (settings_.max_depth >= 0 && depth >= static_cast<std::size_t>(settings_.max_depth)) return false;
  const std::int64_t n = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  if (n / 2 < settings_.min_leaf) return false;
  return settings_.split_pure || *std::max_element(counts.begin(), counts.end()) < n;
}

// log (1/K Σ exp score): exp only near the best, so that a sharp peak among many cuts costs few of them.
double Chooser::log_mean(const std::vector<std::int64_t>& scores, std::int64_t best, const Score& score) const {
  if (scores.size() == 1) return score.in_nats(best);
  const std::int64_t far = best - static_cast<std::int64_t>(std::min(kFar / score.unit(), 0x1p60));
  double sum = 0;
  for (const std::int64_t x : scores)
    if (x > far) sum += std::exp(score.in_nats(x - best));
  return score.in_nats(best) + std::log(sum / static_cast<double>(scores.size()));
}

std::vector<Candidate> Chooser::choose(const View& view, std::size_t depth) {
  std::vector<std::int64_t> counts;
  scanner_.count(view.rows, counts);
  rival_ = kUnknown;
  if (!may_split(counts, depth)) return {};
  const bool plain = settings_.score == GrowScore::bayes;
  const double floor = (plain ? log_marginal(counts.data(), depth) : log_open_leaf(counts.data(), depth)) +
                       log_of(settings_.stop_factor);
  const auto cells = static_cast<double>(view.rows.size()) * static_cast<double>(columns_.n_columns());
  report.cells_all += cells;
  if (subsamples() && view.rows.size() > settings_.subsample_first) {
    std::vector<Candidate> found = on_subsample(view, counts, depth);
    if (found.empty() || found[0].quality <= floor || tied_logs(found[0].quality, floor)) return {};
    return found;
  }
  report.cells_seen += cells;
  std::vector<Candidate> found;
  if (settings_.score == GrowScore::gain_ratio) return by_gain_ratio(view, counts, depth);
  found = all(view, counts, depth, settings_.random ? kNever : log_of(settings_.option_factor));
  if (found.empty() || found[0].quality <= floor || tied_logs(found[0].quality, floor)) return {};
  if (settings_.random) return {drawn(view, counts, depth, found)};
  if (settings_.option_factor >= 1) found.resize(1);
  set_rival(counts, depth, found[0].column);
  if (settings_.max_options > 0 && found.size() > settings_.max_options) found.resize(settings_.max_options);
  return found;
}

// Every column (or every test) whose quality is within a factor of the best, the best first.
std::vector<Candidate> Chooser::all(const View& view, const std::vector<std::int64_t>& counts, std::size_t depth,
                                    double keep_within) {
  std::vector<Candidate> found =
      settings_.lookahead > 1 ? many_plies(view, counts, depth) : one_ply(view, counts, depth, keep_within);
  in_order(found);
  const auto lost = [&](const Candidate& x) {
    return x.quality < found[0].quality + keep_within && !tied_logs(x.quality, found[0].quality + keep_within);
  };
  while (found.size() > 1 && lost(found.back())) found.pop_back();
  return found;
}

// By quality; ties by column, then by test. Candidates come in the order of columns and tests.
void Chooser::in_order(std::vector<Candidate>& found) const {
  std::vector<std::uint32_t> place(found.size());
  std::iota(place.begin(), place.end(), 0u);
  std::sort(place.begin(), place.end(), [&](std::uint32_t x, std::uint32_t y) {
    return found[x].quality != found[y].quality ? found[x].quality > found[y].quality : x < y;
  });
  for (std::size_t begin = 0, end = 0; begin < place.size(); begin = end) {
    for (end = begin + 1; end < place.size() && tied_logs(found[place[begin]].quality, found[place[end]].quality);)
      ++end;
    std::sort(place.begin() + static_cast<std::ptrdiff_t>(begin), place.begin() + static_cast<std::ptrdiff_t>(end));
  }
  std::vector<Candidate> sorted;
  sorted.reserve(found.size());
  for (const std::uint32_t k : place) sorted.push_back(found[k]);
  found.swap(sorted);
}

std::vector<Candidate> Chooser::one_ply(const View& view, const std::vector<std::int64_t>& counts, std::size_t depth,
                                        double keep_within) {
  const Score& score = score_at(depth + 1);
  const bool plain = settings_.score == GrowScore::bayes;  // Σ logM alone, the best cut
  std::vector<Candidate> found;
  std::size_t n_columns = 0;
  double best = kNever;
  tops_.assign(columns_.n_columns(), kNever);
  for (std::size_t j = 0; j < columns_.n_columns(); ++j) {
    scanner_.scan(view, counts.data(), j, score);
    check(view.rows.size() + counts.size());
    const std::size_t n_tests = scanner_.n_tests();
    if (n_tests == 0) continue;
    ++n_columns;
    std::int64_t bare_best = scanner_.best();
    std::size_t first = 0;
    if (plain) {
      bare_ = scanner_.scores();
      first = scanner_.first_best(score.tie());
    }
    charge_.add(scanner_, view, j, depth + 1, score);
    if (!plain) first = scanner_.first_best(score.tie());
    const double top = score.in_nats(plain ? bare_best : scanner_.best());
    tops_[j] = top;
    const double share = -std::log(static_cast<double>(n_tests));
    // No average is above the largest: a column that is out by its best cut needs no exponentials.
    if (top < best + keep_within && !tied_logs(top, best + keep_within)) continue;
    const auto column = static_cast<std::int32_t>(j);
    if (settings_.each_cut) {
      for (std::size_t k = 0; k < n_tests; ++k) {
        const double x = plain ? score.in_nats(bare_[k]) : score.in_nats(scanner_.scores()[k]) + share;
        best = std::max(best, x);
        if (x < best + keep_within && !tied_logs(x, best + keep_within)) continue;
        found.push_back({column, scanner_.threshold(view, j, k), x, share});
      }
      continue;
    }
    const double average = log_mean(scanner_.scores(), scanner_.best(), score);
    const double installed = score.in_nats(scanner_.scores()[first]);
    best = std::max(best, plain ? top : average);
    found.push_back({column, scanner_.threshold(view, j, first), plain ? top : average, average - installed});
  }
  const double prior = prior_.log_split_base(depth) + (n_columns > 0 ? log_share(n_columns) : 0.0);
  for (Candidate& x : found) {
    if (!plain) x.quality += prior;
    x.log_split += prior;
  }
  return found;
}

// The tests of a column that a lookahead starts from: all of n, or n_cuts at equal distances and the best by one ply.
std::vector<std::size_t> Chooser::looked_at(std::size_t n_tests, std::size_t best) const {
  std::vector<std::size_t> tests;
  if (n_tests <= settings_.n_cuts) {
    tests.resize(n_tests);
    std::iota(tests.begin(), tests.end(), std::size_t{0});
    return tests;
  }
  const std::size_t n = settings_.n_cuts - 1;
  for (std::size_t i = 0; i < n; ++i) tests.push_back((2 * i + 1) * n_tests / (2 * n));
  if (!std::binary_search(tests.begin(), tests.end(), best))
    tests.insert(std::upper_bound(tests.begin(), tests.end(), best), best);
  return tests;
}

std::vector<Candidate> Chooser::many_plies(const View& view, const std::vector<std::int64_t>& counts,
                                           std::size_t depth) {
  const Score& score = score_at(depth + 1);
  std::vector<Candidate> found;
  std::vector<double> thresholds, values;
  std::size_t n_columns = 0;
  for (std::size_t j = 0; j < columns_.n_columns(); ++j) {
    scan(view, counts, j, depth);
    const std::size_t n_tests = scanner_.n_tests();
    if (n_tests == 0) continue;
    ++n_columns;
    thresholds.clear();
    values.clear();
    for (const std::size_t k : looked_at(n_tests, scanner_.first_best(score.tie())))
      thresholds.push_back(scanner_.threshold(view, j, k));
    const auto column = static_cast<std::int32_t>(j);
    for (const double at : thresholds) values.push_back(branches(view, depth, column, at, settings_.lookahead));
    const double share = -std::log(static_cast<double>(n_tests));
    if (settings_.each_cut) {
      for (std::size_t k = 0; k < values.size(); ++k)
        found.push_back({column, thresholds[k], values[k] + share, share});
      continue;
    }
    const double top = *std::max_element(values.begin(), values.end());
    double sum = 0;
    for (const double x : values) sum += std::exp(x - top);
    const double average = top + std::log(sum / static_cast<double>(values.size()));
    std::size_t first = 0;
    while (values[first] < top && !tied_logs(values[first], top)) ++first;
    found.push_back({column, thresholds[first], average, average - values[first]});
  }
  const double prior = prior_.log_split_base(depth) + (n_columns > 0 ? log_share(n_columns) : 0.0);
  for (Candidate& x : found) {
    x.quality += prior;
    x.log_split += prior;
  }
  return found;
}

// Σ_branches L_{plies−1}(branch) of a test at a node of this depth.
double Chooser::branches(const View& view, std::size_t depth, std::int32_t column, double threshold,
                         std::size_t plies) {
  splitter_.label(view.rows, column, threshold);
  check((view.rows.size() + columns_.n_classes()) * (1 + columns_.n_columns()));
  if (const std::size_t before = plies_[plies - 1].storage.bytes(), after = view_bytes(view.rows.size(), columns_);
      after > before)
    control_.check_memory(bytes() + after - before);
  // Storage by ply: a view of one ply is done with when the next test of the ply above is looked at.
  const std::vector<View> parts = splitter_.split(view, plies_[plies - 1].storage);
  double sum = 0;
  for (const View& part : parts) sum += look(part, depth + 1, plies - 1);
  return sum;
}

double Chooser::look(const View& view, std::size_t depth, std::size_t plies) {
  std::vector<std::int64_t> counts;
  scanner_.count(view.rows, counts);
  const double leaf = log_marginal(counts.data(), depth) + charge_.of_leaf(scanner_, view.rows, depth);
  const std::int64_t n = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  if (charge_.deep(depth) || plies == 0 || n / 2 < settings_.min_leaf) return leaf;
  // Under the same parameters M(n)·M(m) ≤ M(n + m) for examples of one class: no split pays if the prior does not.
  if (a_.size() == 1 && one_class_stays_whole(depth) && *std::max_element(counts.begin(), counts.end()) == n)
    return leaf;
  if (plies == 1) return look_one(view, counts, depth, leaf);
  const Score& score = score_at(depth + 1);
  struct Column {
    double average;
    std::int32_t column;
    double share;
    std::vector<double> thresholds;
  };
  std::vector<Column> found;
  for (std::size_t j = 0; j < columns_.n_columns(); ++j) {
    scan(view, counts, j, depth);
    const std::size_t n_tests = scanner_.n_tests();
    if (n_tests == 0) continue;
    Column one{log_mean(scanner_.scores(), scanner_.best(), score),
               static_cast<std::int32_t>(j),
               -std::log(static_cast<double>(n_tests)),
               {}};
    for (const std::size_t k : looked_at(n_tests, scanner_.first_best(score.tie())))
      one.thresholds.push_back(scanner_.threshold(view, j, k));
    found.push_back(std::move(one));
  }
  if (found.empty()) return leaf;
  const double prior = prior_.log_split_base(depth) + log_share(found.size());
  if (settings_.beam > 0 && found.size() > settings_.beam) {
    std::stable_sort(found.begin(), found.end(),
                     [](const Column& x, const Column& y) { return x.average > y.average; });
    found.resize(settings_.beam);
  }
  double best = leaf;
  for (const Column& one : found)
    for (const double at : one.thresholds)
      best = std::max(best, prior + one.share + branches(view, depth, one.column, at, plies));
  return best;
}

// The last ply: one scan of every column, and no exponentials, for tests are not averaged here.
double Chooser::look_one(const View& view, const std::vector<std::int64_t>& counts, std::size_t depth, double leaf) {
  const Score& score = score_at(depth + 1);
  std::size_t n_columns = 0;
  double best = kNever;
  for (std::size_t j = 0; j < columns_.n_columns(); ++j) {
    scan(view, counts, j, depth);
    if (scanner_.n_tests() == 0) continue;
    ++n_columns;
    best = std::max(best, score.in_nats(scanner_.best()) - std::log(static_cast<double>(scanner_.n_tests())));
  }
  if (n_columns == 0) return leaf;
  return std::max(leaf, best + prior_.log_split_base(depth) + log_share(n_columns));
}

std::vector<Candidate> Chooser::by_gain_ratio(const View& view, const std::vector<std::int64_t>& counts,
                                              std::size_t depth) {
  struct Gain {
    Candidate candidate;
    double gain, ratio;
  };
  std::vector<Gain> found;
  double sum = 0;
  std::size_t n_columns = 0;
  const auto n = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  const double whole = entropy_->in_nats((*entropy_)(counts.data()));
  for (std::size_t j = 0; j < columns_.n_columns(); ++j) {
    scanner_.scan(view, counts.data(), j, *entropy_);
    check(view.rows.size() + counts.size());
    const std::size_t n_tests = scanner_.n_tests();
    if (n_tests == 0) continue;
    ++n_columns;
    const std::size_t first = scanner_.first_best(entropy_->tie());
    const double share = std::log(static_cast<double>(n_tests));
    const double cost = columns_[j].numeric ? share * static_cast<double>(a_.per_example()) / n : 0.0;
    const double gain = ((entropy_->in_nats(scanner_.best()) - whole) / n - cost) / std::log(2.0);
    if (gain <= kGainTie) continue;
    const auto column = static_cast<std::int32_t>(j);
    const double threshold = scanner_.threshold(view, j, first);
    // Entropy of the branches: how much a branch weighs, not its classes.
    const Labels& labels = splitter_.label(view.rows, column, threshold);
    std::vector<double> sizes(labels.n_parts(), 0);
    for (const std::uint32_t row : view.rows) sizes[labels.of_row[row]] += static_cast<double>(scanner_.weight(row));
    double info = 0;
    for (const double size : sizes) info -= size / n * std::log2(size / n);
    found.push_back({{column, threshold, 0, -share}, gain, gain / info});
    sum += gain;
  }
  if (found.empty()) return {};
  const double average = sum / static_cast<double>(found.size());
  const Gain* best = nullptr;
  for (const Gain& x : found)
    if (x.gain >= average - kGainTie && (best == nullptr || x.ratio > best->ratio + kGainTie)) best = &x;
  Candidate chosen = best->candidate;
  chosen.quality = best->ratio;
  chosen.log_split += prior_.log_split_base(depth) + log_share(n_columns);
  return {chosen};
}

// A column with probability proportional to exp Q, and of it a test with probability proportional to exp q.
Candidate Chooser::drawn(const View& view, const std::vector<std::int64_t>& counts, std::size_t depth,
                         const std::vector<Candidate>& from) {
  const auto draw = [&](std::size_t n, auto log_weight) {
    double most = kNever, sum = 0;
    for (std::size_t k = 0; k < n; ++k) most = std::max(most, log_weight(k));
    for (std::size_t k = 0; k < n; ++k) sum += std::exp(log_weight(k) - most);
    double left = stream_.uniform() * sum;
    for (std::size_t k = 0; k < n; ++k) {
      left -= std::exp(log_weight(k) - most);
      if (left < 0) return k;
    }
    return n - 1;
  };
  Candidate chosen = from[draw(from.size(), [&](std::size_t k) { return from[k].quality; })];
  if (settings_.each_cut || settings_.lookahead > 1) return chosen;
  const Score& score = score_at(depth + 1);
  const auto j = static_cast<std::size_t>(chosen.column);
  scan(view, counts, j, depth);
  const double installed = score.in_nats(scanner_.scores()[scanner_.first_best(score.tie())]);
  const std::size_t k =
      draw(scanner_.n_tests(), [&](std::size_t i) { return score.in_nats(scanner_.scores()[i] - scanner_.best()); });
  chosen.threshold = scanner_.threshold(view, j, k);
  chosen.log_split += installed - score.in_nats(scanner_.scores()[k]);  // the split as a whole weighs Q_j
  return chosen;
}

// Examples in random order, more of them until one column leads by the Bayes factor; its cut is then taken from all.
std::vector<Candidate> Chooser::on_subsample(const View& view, const std::vector<std::int64_t>& counts,
                                             std::size_t depth) {
  std::vector<char> feasible(columns_.n_columns());
  std::size_t n_columns = 0;
  for (std::size_t j = 0; j < columns_.n_columns(); ++j) n_columns += feasible[j] = scanner_.feasible(view.rows, j);
  if (n_columns == 0) return {};
  const Score& score = score_at(depth + 1);
  sample_.assign(view.rows.begin(), view.rows.end());
  std::size_t drawn = 0, m = settings_.subsample_first;
  std::vector<std::uint32_t> rows;
  std::vector<std::int64_t> seen;
  View part;
  part.sorted.resize(columns_.n_columns());
  std::vector<Record> records;
  // Feasibility is asked of all examples: on a part of them every test with two branches counts.
  if (!loose_) loose_.emplace(columns_, 1, settings_.binary_nominal);
  std::size_t chosen = columns_.n_columns();
  while (true) {
    for (; drawn < m; ++drawn) std::swap(sample_[drawn], sample_[drawn + stream_.below(sample_.size() - drawn)]);
    rows.assign(sample_.begin(), sample_.begin() + static_cast<std::ptrdiff_t>(m));
    std::sort(rows.begin(), rows.end());
    part.rows = rows;
    scanner_.count(rows, seen);
    double best = kNever, second = kNever;
    const bool whole = m == sample_.size();
    Scanner& scanner = whole ? scanner_ : *loose_;
    for (std::size_t j = 0; j < columns_.n_columns(); ++j) {
      if (!feasible[j]) continue;
      if (columns_[j].numeric) {
        sort_column(rows, columns_, j, records);
        part.sorted[j] = records;
      }
      scanner.scan(part, seen.data(), j, score);
      charge_.add(scanner, part, j, depth + 1, score, !whole);
      check(m + seen.size());
      // Without two branches on the part, all of it lies in one; the others have no example and a leaf each.
      const double x = scanner.n_tests() == 0 ? score.in_nats(score(seen.data())) +
                                                    2 * prior_.log_leaf(depth + 1, !charge_.deep(depth + 1))
                                              : log_mean(scanner.scores(), scanner.best(), score);
      if (best == kNever || (x > best && !tied_logs(x, best))) {
        second = best;
        best = x;
        chosen = j;
      } else {
        second = std::max(second, x);
      }
    }
    report.cells_seen += static_cast<double>(m) * static_cast<double>(n_columns);
    if (whole || n_columns == 1 || best - second >= std::log(settings_.subsample_lead)) break;
    const double next = std::floor(static_cast<double>(m) * settings_.subsample_growth);
    m = next >= static_cast<double>(sample_.size()) ? sample_.size() : std::max(m + 1, static_cast<std::size_t>(next));
  }
  View one;
  one.rows = view.rows;
  one.sorted.resize(columns_.n_columns());
  if (columns_[chosen].numeric) {
    sort_column(view.rows, columns_, chosen, records);
    one.sorted[chosen] = records;
  }
  scan(one, counts, chosen, depth);
  if (m < sample_.size()) report.cells_seen += static_cast<double>(view.rows.size());
  const double average = log_mean(scanner_.scores(), scanner_.best(), score);
  const std::size_t first = scanner_.first_best(score.tie());
  const double prior = prior_.log_split_base(depth) + log_share(n_columns);
  return {{static_cast<std::int32_t>(chosen), scanner_.threshold(one, chosen, first), average + prior,
           average - score.in_nats(scanner_.scores()[first]) + prior}};
}

bool Chooser::rivals_hold(std::size_t depth) const {
  const double open = prior_.log_leaf(depth + 1, !charge_.deep(depth + 1)), closed = prior_.log_leaf(depth + 1, false);
  return settings_.score == GrowScore::quality && settings_.lookahead == 1 && settings_.min_leaf == 1 &&
         !settings_.binary_nominal && !settings_.each_cut && open <= closed && closed <= 0;
}

void Chooser::set_rival(const std::vector<std::int64_t>& counts, std::size_t depth, std::int32_t column) {
  rival_ = kUnknown;
  if (!rivals_hold(depth)) return;
  rival_ = log_marginal(counts.data(), depth + 1);
  for (std::size_t j = 0; j < tops_.size(); ++j)
    if (static_cast<std::int32_t>(j) != column) rival_ = std::max(rival_, tops_[j]);
}

std::optional<Candidate> Chooser::unrivalled(const View& view, const std::vector<std::int64_t>& counts,
                                             std::size_t depth, std::int32_t column, double log_lead, double rival) {
  if (!rivals_hold(depth)) return std::nullopt;
  const Score& score = score_at(depth + 1);
  const auto i = static_cast<std::size_t>(column);
  scan(view, counts, i, depth);
  check(view.rows.size() + counts.size());
  if (scanner_.n_tests() == 0) return std::nullopt;
  const double average = log_mean(scanner_.scores(), scanner_.best(), score);
  if (!(rival + kSlack * std::max(1.0, std::abs(rival)) <= average + log_lead)) return std::nullopt;
  const std::size_t first = scanner_.first_best(score.tie());
  Candidate kept{column, scanner_.threshold(view, i, first), average,
                 average - score.in_nats(scanner_.scores()[first])};
  std::size_t n_columns = 1;
  if (prior_.per_test)
    for (std::size_t j = 0; j < columns_.n_columns(); ++j) n_columns += j != i && scanner_.feasible(view.rows, j);
  const double prior = prior_.log_split_base(depth) + log_share(n_columns);
  kept.quality += prior;
  kept.log_split += prior;
  return kept;
}

std::optional<Candidate> Chooser::keep(const View& view, std::size_t depth, std::int32_t column, double threshold,
                                       double log_lead, double rival) {
  std::vector<std::int64_t> counts;
  scanner_.count(view.rows, counts);
  if (settings_.max_depth >= 0 && depth >= static_cast<std::size_t>(settings_.max_depth)) return std::nullopt;
  if (!std::isnan(rival)) {
    if (const auto own = unrivalled(view, counts, depth, column, log_lead, rival)) {
      const std::optional<Candidate> kept = with_cut(view, depth, *own, threshold, log_lead);
      rival_ = rival;
      report.n_unlooked += kept.has_value();
      return kept;
    }
  }
  const std::vector<Candidate> found = all(view, counts, depth, kNever);
  const auto same = std::find_if(found.begin(), found.end(), [&](const Candidate& x) { return x.column == column; });
  if (same == found.end()) return std::nullopt;
  if (found[0].quality > same->quality + log_lead) return std::nullopt;
  set_rival(counts, depth, column);
  return with_cut(view, depth, *same, threshold, log_lead);
}

// The candidate with the older cut, unless its own leads by log_lead.
std::optional<Candidate> Chooser::with_cut(const View& view, std::size_t depth, Candidate kept, double threshold,
                                           double log_lead) {
  const std::int32_t column = kept.column;
  const auto worth = [&](double at) {
    if (settings_.lookahead > 1) return branches(view, depth, column, at, settings_.lookahead);
    const Score& score = score_at(depth + 1);
    const std::int64_t bare = scanner_.score_of(view.rows, static_cast<std::size_t>(column), at, score);
    return score.in_nats(bare) +
           charge_.of_parts(scanner_, view.rows, splitter_.label(view.rows, column, at), depth + 1);
  };
  const bool equal = threshold == kept.threshold || (std::isnan(threshold) && std::isnan(kept.threshold));
  if (equal) return kept;
  // Still feasible? min_leaf may be another one than when the tree was grown.
  const Labels& labels = splitter_.label(view.rows, column, threshold);
  std::vector<std::int64_t> sizes(labels.n_parts(), 0);
  for (const std::uint32_t row : view.rows) sizes[labels.of_row[row]] += scanner_.weight(row);
  if (std::count_if(sizes.begin(), sizes.end(), [&](std::int64_t n) { return n >= settings_.min_leaf; }) < 2)
    return std::nullopt;
  const double best = worth(kept.threshold), old = worth(threshold);
  if (best > old + log_lead) return std::nullopt;
  kept.threshold = threshold;
  kept.log_split += best - old;
  return kept;
}

}  // namespace everytree::grow
