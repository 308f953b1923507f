// The evidence, and what follows from folds alone. One node: path.cpp; draws: sample.cpp; prediction: predict.cpp;
// inclusion: inclusion.cpp.
#include "down/posterior.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "algebra/by_depth.hpp"
#include "algebra/by_leaves.hpp"
#include "algebra/expectation.hpp"
#include "fold/joint.hpp"
#include "fold/up.hpp"
#include "fold/weigh.hpp"

namespace everytree {

Posterior::Posterior(std::shared_ptr<const Graph> graph, Prior prior, std::shared_ptr<const Dirichlet> leaf,
                     bool linear, std::size_t n_threads, Control& control)
    : graph_(std::move(graph)),
      weights_(*graph_, std::move(prior), std::move(leaf), linear, &control),
      n_threads_(n_threads) {
  if (!weights_.apart())
    kept_ = SecondLevels(graph_->size(), graph_->size() - graph_->n_inner(), graph_->table().n_tests(),
                         std::min(SecondLevels::kMostBytes, control.memory_limit / 32));
  u_ = fold_up<SumProduct>(*graph_, WeighProduct<SumProduct>(*graph_, weights_, &kept_), control, n_threads);
}

Posterior::Posterior(std::shared_ptr<const Graph> graph, Prior prior, std::shared_ptr<const Dirichlet> leaf,
                     bool linear, const std::vector<std::vector<Wide>>& parts, std::size_t n_threads, Control& control)
    : graph_(std::move(graph)),
      weights_(*graph_, std::move(prior), std::move(leaf), linear, &control),
      n_threads_(n_threads) {
  const Order order(*graph_);
  const std::size_t n = order.closed.size();
  std::vector<Wide> closed(n);
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const std::size_t expected = n > part ? (n - part - 1) / parts.size() + 1 : 0;
    if (parts[part].size() != expected)
      throw InvalidInput("part " + std::to_string(part) + " of the frontier has " + std::to_string(parts[part].size()) +
                         " values; expected " + std::to_string(expected));
    for (std::size_t k = 0; k < expected; ++k) closed[part + k * parts.size()] = parts[part][k];
  }
  if (parts.empty() && n > 0) throw InvalidInput("the frontier has no part; expected at least one");
  const WeighProduct<SumProduct> weigh(*graph_, weights_);
  u_ = fold_inner<SumProduct>(*graph_, weigh, order, std::move(closed), control);
}

Posterior::Sent Posterior::send_part(const Graph& graph, std::size_t part, std::size_t n_parts) {
  if (part >= n_parts) throw InvalidInput("part must be less than n_parts");
  Sent sent;
  sent.sizes = TableSizes::of(graph);
  const Order order(graph);
  const std::size_t n = order.closed.size() > part ? (order.closed.size() - part - 1) / n_parts + 1 : 0;
  sent.covers.reserve(n * graph.table().n_words());  // a part that grows would be there twice
  sent.depths.reserve(n);
  for (std::size_t k = part; k < order.closed.size(); k += n_parts) {
    const std::uint32_t id = order.closed[k];
    sent.covers.insert(sent.covers.end(), graph.cover(id), graph.cover(id) + graph.table().n_words());
    sent.depths.push_back(graph.state(id).depth);
  }
  return sent;
}

std::vector<Wide> Posterior::fold_sent(std::shared_ptr<const CountTable> table, const GraphOptions& options,
                                       const Sent& sent, Prior prior, std::shared_ptr<const Dirichlet> leaf,
                                       bool linear, std::size_t n_threads, Control& control) {
  const std::size_t words = table->n_words(), n = sent.depths.size();
  if (sent.covers.size() != n * words)
    throw InvalidInput("a part of the frontier has " + std::to_string(sent.covers.size()) +
                       " words of covers; expected " + std::to_string(n * words));
  const ProductWeights weights(sent.sizes, table->n_classes(), options.min_leaf, std::move(prior), std::move(leaf),
                               linear);
  const Cover& all = table->all();
  const Graph graph(table, options, [&](auto&& add) {
    for (std::size_t k = 0; k < n; ++k) {
      const std::uint64_t* cover = sent.covers.data() + k * words;
      for (std::size_t w = 0; w < words; ++w)
        if ((cover[w] & ~all[w]) != 0 || sent.depths[k] < 0)
          throw InvalidInput("a cover has rows that the table has not");
      add(cover, sent.depths[k], static_cast<std::int32_t>(table->count(cover)));
    }
  });
  if (graph.n_inner() > 0) throw InvalidInput("a part of the frontier has a state that is not closed");
  std::vector<std::uint32_t> mine(n);
  std::iota(mine.begin(), mine.end(), 0u);
  const WeighProduct<SumProduct> weigh(graph, weights);
  return fold_part<SumProduct>(graph, weigh, mine, control, n_threads);
}

void Posterior::inner_node(std::size_t id, InnerNode& out) const {
  const State& s = graph_->state(id);
  const auto depth = static_cast<std::size_t>(s.depth);
  std::vector<std::int32_t> counts(graph_->table().n_classes());
  graph_->table().class_counts(graph_->cover(id), counts.data());
  const Wide u = u_[id];
  out.leaf = (weights_.wide_leaf(counts.data(), depth, s.n_tests > 0) / u).scaled(0);
  const Wide base = Wide::from_log(weights_.prior().log_split_base(depth)) / u;
  out.split.clear();
  for (const Split& split : graph_->splits(s))
    out.split.push_back((base * u_[split.child[1]] * u_[split.child[0]]).scaled(0));
}

double Posterior::log_prior_total(Control& control) const {
  if (const double kappa = weights_.leaf().kappa(); kappa > 0) {
    // Leaves weigh by their examples: pairs of tests have to be visited, with M(n)^0 = 1.
    const CountTable& table = graph_->table();
    std::vector<std::int32_t> totals(table.n_classes());
    table.class_counts(table.all().data(), totals.data());
    const DirichletParameters none({DirichletParameters::Row(table.n_classes(), 1.0)}, 0, 1, kappa);
    const ProductWeights alone(*graph_, weights_.prior(), std::make_shared<Dirichlet>(none, totals, &control));
    return fold_up<SumProduct>(*graph_, WeighProduct<SumProduct>(*graph_, alone), control, n_threads_)[0].log();
  }
  return fold_up<SumProduct>(*graph_, WeighPrior(*graph_, weights_.prior()), control, n_threads_)[0].log();
}

double Posterior::log_single_leaf() const {
  std::vector<std::int32_t> counts(graph_->table().n_classes());
  graph_->table().class_counts(graph_->table().all().data(), counts.data());
  return weights_.leaf().log_marginal(0, counts.data());
}

double Posterior::log_joint(const Key& key) const {
  const GraphOptions& o = graph_->options();
  return everytree::log_joint(graph_->table(), o.max_depth, o.min_leaf, weights_.prior(), weights_.leaf(), key);
}

std::vector<MaxProduct::Value> Posterior::likeliest(Control& control) const {
  return fold_up<MaxProduct>(*graph_, WeighProduct<MaxProduct>(*graph_, weights_), control, n_threads_);
}

std::vector<double> Posterior::leaves_distribution(Control& control) const {
  using A = ByLeaves<SumProduct>;
  const auto value = fold_up<A>(*graph_, WeighProduct<A>(*graph_, weights_), control, n_threads_);
  std::vector<double> out;
  for (const Wide& x : value[0]) out.push_back((x / u_[0]).scaled(0));
  return out;
}

std::vector<double> Posterior::depth_distribution(Control& control) const {
  using A = ByDepth<SumProduct>;
  const auto value = fold_up<A>(*graph_, WeighProduct<A>(*graph_, weights_), control, n_threads_);
  std::vector<double> out;
  double below = 0;
  for (const Wide& x : value[0]) {
    const double at_most = (x / u_[0]).scaled(0);
    out.push_back(std::max(0.0, at_most - below));
    below = at_most;
  }
  return out;
}

double Posterior::expected_leaves(Control& control) const {
  const auto value = fold_up<Expectation>(*graph_, WeighProduct<Expectation>(*graph_, weights_), control, n_threads_);
  return (value[0].r / value[0].p).scaled(0);
}

}  // namespace everytree
