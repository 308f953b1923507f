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
  // The test that an older tree has here, unless another one leads by log_lead; then nothing. `rival` is that of the
  // older tree, or NaN.
  //
  // Which leads are safe. Let S_t = Σ_branches (log Pr(leaf) + logM) of a test t at a node, D the examples that it had
  // at some time, and E ⊇ D those of now. Then S_t(E) ≤ S_t(D) wherever t divides D: logM(n + m) − logM(n) is the log
  // of a probability, that of the labels of the new examples after the old ones; a branch of new examples alone has
  // logM ≤ 0 and a charge ≤ 0; and a branch that was closed and is open now, the other way round being impossible, has
  // a charge that is no larger. A cut that is new divides D as one of the older cuts of its column did (that of the
  // same gap, or "known or missing"), or not at all: then S_t(E) ≤ logM(D). The same is true of a multiway test with
  // new values, and of columns that had no feasible test. So with
  //     rival(D) = max(logM(D), max over the other columns j and their tests t of S_t(D))
  // no Q_j(E) exceeds log Pr(column) + rival(D), an average being no more than the largest. The node keeps its column i
  // without a look at the others if Q_i(E) + log_lead is no less, and D stays the same for the next time. This needs
  // log Pr(open leaf) ≤ log Pr(closed leaf) ≤ 0, one ply, min_leaf = 1 (else a test of D may have been infeasible), and
  // no test of one value or not (it may divide D as no older test did, into all that is known and missing).
  std::optional<Candidate> keep(const View& view, std::size_t depth, std::int32_t column, double threshold,
                                double log_lead, double rival);
  // The rival of the node that was asked for last, for the column that `choose` or `keep` gave it.
  double rival() const { return rival_; }
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
  // Whether rivals bound what more examples can do at a node of this depth.
  bool rivals_hold(std::size_t depth) const;
  void set_rival(const std::vector<std::int64_t>& counts, std::size_t depth, std::int32_t column);
  // The column as a candidate if its lead is safe.
  std::optional<Candidate> unrivalled(const View& view, const std::vector<std::int64_t>& counts, std::size_t depth,
                                      std::int32_t column, double log_lead, double rival);
  std::optional<Candidate> with_cut(const View& view, std::size_t depth, Candidate kept, double threshold,
                                    double log_lead);
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
  std::vector<double> tops_;  // by column the best S of the last node, −∞ without a feasible test
  double rival_ = 0;
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
