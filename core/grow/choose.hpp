// Which test a node gets: the qualities of grow_options.hpp, over the columns of one view.
#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include "common/stream.hpp"
#include "grow/grow_options.hpp"
#include "grow/leaf_charge.hpp"
#include "grow/scan.hpp"
#include "grow/score.hpp"
#include "grow/view.hpp"

namespace everytree::grow {

struct Candidate {
  std::int32_t column = -1;
  double threshold = 0, quality = 0, log_split = 0;
};

class Chooser {
 public:
  Chooser(const Columns& columns, const GrowSettings& settings, const Prior& prior, const DirichletParameters& a,
          Control& control);

  Scanner& scanner() { return scanner_; }
  // The options of a node, the best first: none where it stays a leaf. The rows of the view are sorted unless a
  // subsample decides.
  std::vector<Candidate> choose(const View& view, std::size_t depth);
  // The test that an older tree has here, unless another one leads by log_lead; then nothing.
  std::optional<Candidate> keep(const View& view, std::size_t depth, std::int32_t column, double threshold,
                                double log_lead);
  // log of the marginal likelihood of the node as a leaf.
  double log_marginal(const std::int64_t* counts, std::size_t depth) {
    return score_at(depth).in_nats(score_at(depth)(counts));
  }
  // The same with what the prior charges for an open leaf.
  double log_open_leaf(const std::int64_t* counts, std::size_t depth) {
    return log_marginal(counts, depth) + prior_.log_leaf(depth, true);
  }
  bool may_split(const std::vector<std::int64_t>& counts, std::size_t depth) const;
  bool subsamples() const { return settings_.subsample_lead > 0; }
  GrowReport report;
  std::size_t bytes() const;

 private:
  // A column with feasible tests, as scanned.
  struct Scanned {
    std::int32_t column;
    std::size_t n_tests;
    double best;     // largest Σ_branches, in nats
    double average;  // log mean exp over its tests; best where that was not asked for
    double threshold;
  };
  struct Ply {
    Storage storage;
    std::vector<std::int64_t> counts;
  };

  const Score& score_at(std::size_t depth);
  // The tests of a column at a node of this depth: Σ_branches (log Pr(leaf) + logM).
  void scan(const View& view, const std::vector<std::int64_t>& counts, std::size_t column, std::size_t depth) {
    scanner_.scan(view, counts.data(), column, score_at(depth + 1));
    charge_.add(scanner_, view, column, depth + 1, score_at(depth + 1));
  }
  void check(std::size_t work);
  bool one_class_stays_whole(std::size_t depth) const;
  double log_mean(const std::vector<std::int64_t>& scores, std::int64_t best, const Score& score) const;
  double log_share(std::size_t n_columns) const { return prior_.log_share(static_cast<double>(n_columns)); }
  std::vector<Candidate> one_ply(const View& view, const std::vector<std::int64_t>& counts, std::size_t depth,
                                 double keep_within);
  std::vector<Candidate> many_plies(const View& view, const std::vector<std::int64_t>& counts, std::size_t depth);
  std::vector<Candidate> by_gain_ratio(const View& view, const std::vector<std::int64_t>& counts, std::size_t depth);
  std::vector<Candidate> on_subsample(const View& view, const std::vector<std::int64_t>& counts, std::size_t depth);
  std::vector<Candidate> all(const View& view, const std::vector<std::int64_t>& counts, std::size_t depth,
                             double keep_within);
  Candidate drawn(const View& view, const std::vector<std::int64_t>& counts, std::size_t depth,
                  const std::vector<Candidate>& from);
  double look(const View& view, std::size_t depth, std::size_t plies);
  double look_one(const View& view, const std::vector<std::int64_t>& counts, std::size_t depth, double leaf);
  double branches(const View& view, std::size_t depth, std::int32_t column, double threshold, std::size_t plies);
  std::vector<std::size_t> looked_at(std::size_t n_tests, std::size_t best) const;
  void in_order(std::vector<Candidate>& found) const;

  const Columns& columns_;
  const GrowSettings& settings_;
  const Prior& prior_;
  const DirichletParameters& a_;
  Control& control_;
  Scanner scanner_;
  LeafCharge charge_;
  std::vector<std::int64_t> bare_;  // scores without the charge for leaves, where those decide
  Splitter splitter_;
  double unit_;
  std::vector<std::int64_t> class_totals_;
  std::vector<std::optional<Score>> scores_;  // by row of a
  std::optional<Score> entropy_;
  std::vector<Ply> plies_;
  Stream stream_;
  std::optional<Scanner> loose_;  // of subsamples
  std::vector<std::uint32_t> sample_;
  std::size_t since_check_ = 0;
};

}  // namespace everytree::grow
