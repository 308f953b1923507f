// Product weights of a closed state with more examples than the tables of leaves hold, in logarithms of two doubles.
//
// The four counts of a pair of tests cost a series each here, which is far more than to add them up with care. Only
// heavy weights make such states.
#include <cmath>
#include <vector>

#include "common/infinity.hpp"
#include "frontier/one_level.hpp"

namespace everytree {

// far_term_[a][j] = log M(i=a, j=1) + log M(i=a, j=0), for feasible and infeasible j alike.
void OneLevelFold::far_terms(const ProductWeights& weights, std::size_t i) {
  load_pairs(i);
  const std::size_t n = frontier_.n_groups(), n_classes = frontier_.table().n_classes();
  std::vector<std::int32_t> counts(n_classes);
  for (int a = 0; a < 2; ++a) {
    far_term_[a].assign(n, LongLog());
    for (std::size_t j = 0; j < n; ++j)
      for (int b = 0; b < 2; ++b) {
        quadrant(j, a, b, counts.data());
        far_term_[a][j] += weights.leaf().long_marginal(depth_ + 2, counts.data());
      }
  }
}

template <PlainProduct A>
void OneLevelFold::product_far(const ProductWeights& weights, OneLevel& out) {
  const Prior& prior = weights.prior();
  const std::size_t n = frontier_.n_groups(), n_classes = frontier_.table().n_classes();
  std::vector<std::int32_t> counts(n_classes);
  const double log_split = prior.log_split_base(depth_ + 1) + 2 * prior.log_leaf(depth_ + 2, false);
  const double base = prior.log_split_base(depth_);
  share_.resize(frontier_.stride());
  for (int a = 0; a < 2; ++a) far_reference_[a].assign(n, LongLog());
  const LongLog state_leaf = weights.long_leaf(frontier_.totals(), depth_, n > 0);
  LongLog reference = state_leaf;
  const auto split_weight = [&](std::size_t i) {
    LongLog sum = far_reference_[0][i];
    sum += far_reference_[1][i];
    sum += base;
    return sum;
  };
  const bool deeper = levels_ == 2 && n > 1;
  for (std::size_t i = 0; i < n; ++i) {
    if (deeper) {
      ticker_.tick(frontier_);
      far_terms(weights, i);
    }
    for (int a = 0; a < 2; ++a) {
      LongLog as_split = -kInf;
      if (deeper) {
        child_shares<A>(prior, a, share_.data(), out.tests[a][i]);
        const std::vector<LongLog>& t = far_term_[a];
        LongLog largest = -kInf;
        for (std::size_t j = 0; j < n; ++j)
          if (share_[j] > 0 && largest < t[j]) largest = t[j];
        double sum = 0;
        for (std::size_t j = 0; j < n; ++j)
          if (share_[j] > 0) sum = plus<A>(sum, share_[j] * std::exp(t[j] - largest));
        if (sum > 0) (as_split = largest) += std::log(sum) + log_split;
      }
      for (std::size_t c = 0; c < n_classes; ++c)
        counts[c] = a == 1 ? frontier_.count(c, i) : frontier_.totals()[c] - frontier_.count(c, i);
      const LongLog as_leaf = weights.long_leaf(counts.data(), depth_ + 1, out.tests[a][i] > 0);
      // Leaf and split of a child share a reference, so that neither leaves the range of a double.
      const LongLog r = as_leaf < as_split ? as_split : as_leaf;
      far_reference_[a][i] = r;
      out.leaf[a][i] = std::exp(as_leaf - r);
      out.split[a][i] = std::exp(as_split - r);
    }
    if (reference < split_weight(i)) reference = split_weight(i);
  }
  for (std::size_t i = 0; i < n; ++i) out.weight[i] *= std::exp(split_weight(i) - reference);
  out.state_leaf = std::exp(state_leaf - reference);
  out.log_scale = reference.high();
  out.log_scale_low = reference.low();
  pair_of_ = static_cast<std::size_t>(-1);  // the buffers of pairs are those of the last split
}

template void OneLevelFold::product_far<SumProduct>(const ProductWeights&, OneLevel&);
template void OneLevelFold::product_far<MaxProduct>(const ProductWeights&, OneLevel&);

}  // namespace everytree
