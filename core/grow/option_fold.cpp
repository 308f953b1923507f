#include "grow/option_fold.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "algebra/tie.hpp"
#include "weights/marginals.hpp"

namespace everytree::grow {

namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();
constexpr std::size_t kNodesBetween = 1 << 14;  // nodes between two looks at the limits

// p = exp(term − log Σ exp terms) for the leaf (terms[0]) and the options, and that logarithm.
double shares(const std::vector<double>& terms, double* p_leaf, double* p_option) {
  const double most = *std::max_element(terms.begin(), terms.end());
  const std::size_t n = terms.size() - 1;
  if (most == kNothing) {
    *p_leaf = 1;
    std::fill(p_option, p_option + n, 0.0);
    return kNothing;
  }
  double sum = *p_leaf = std::exp(terms[0] - most);
  for (std::size_t k = 0; k < n; ++k) sum += p_option[k] = std::exp(terms[k + 1] - most);
  *p_leaf /= sum;
  for (std::size_t k = 0; k < n; ++k) p_option[k] /= sum;
  return most + std::log(sum);
}

}  // namespace

template <PlainProduct A>
Folded fold(const OptionGraph& graph, const Prior& prior, const DirichletParameters& dirichlet, Stops stops,
            Control& control) {
  if (graph.n_nodes() == 0) throw InvalidInput("the option graph has no node");
  dirichlet.check_classes(graph.n_classes());
  Marginals marginals(dirichlet);
  const std::size_t n = graph.n_nodes();
  constexpr bool best_only = Selective<A>;
  control.check_memory(graph.bytes() + n * (2 * sizeof(double) + (best_only ? 8 : 0) + 4) + graph.n_options() * 8);
  Folded out{std::vector<double>(n), std::vector<double>(n), std::vector<double>(graph.n_options(), 0.0)};
  std::vector<double> size(best_only ? n : 0);  // nodes of the best tree below, for ties
  const std::vector<std::uint32_t> order = graph.by_depth();
  std::vector<double> terms;
  std::vector<std::uint32_t> classes;
  std::vector<std::int64_t> counts;
  for (std::size_t at = n; at-- > 0;) {
    if (at % kNodesBetween == 0) control.check(true, "folding", n - at, n);
    const std::size_t node = order[at], depth = graph.depth(node);
    const std::size_t begin = graph.count_begin(node), n_counts = graph.count_begin(node + 1) - begin;
    const double log_m =
        marginals.log_marginal(depth, graph.count_classes() + begin, graph.all_counts() + begin, n_counts);
    const std::size_t first = graph.option_begin(node), end = graph.option_end(node);
    terms.assign(1, prior.log_leaf(depth, graph.open(node)) + log_m);
    if (stops == Stops::at_ends && end > first) terms[0] = kNothing;
    for (std::size_t o = first; o < end; ++o) {
      double sum = graph.log_split(o);
      for (std::size_t k = 0; k < graph.n_children(o); ++k)
        if (graph.children(o)[k] != kNoChild) sum += out.log_s[graph.children(o)[k]];
      terms.push_back(std::isnan(sum) ? kNothing : sum);
    }
    if constexpr (!best_only) {
      out.log_s[node] = shares(terms, &out.p_leaf[node], out.p_option.data() + first);
      continue;
    }
    std::size_t best = 0;  // 0 is the leaf
    double best_size = 1;
    for (std::size_t k = 1; k < terms.size(); ++k) {
      const std::size_t o = first + k - 1;
      double nodes = 1;
      for (std::size_t i = 0; i < graph.n_children(o); ++i)
        if (graph.children(o)[i] != kNoChild) nodes += size[graph.children(o)[i]];
      if (terms[k] == kNothing) continue;
      const auto test = [&](std::size_t option) {
        return std::pair(graph.attribute(option),
                         std::isnan(graph.threshold(option)) ? kNothing : graph.threshold(option));
      };
      bool better = terms[k] > terms[best];
      if (tied(terms[k], terms[best]))
        better = nodes < best_size || (nodes == best_size && best > 0 && test(o) < test(first + best - 1));
      if (!better) continue;
      best = k;
      best_size = nodes;
    }
    size[node] = best_size;
    out.log_s[node] = terms[best];
    out.p_leaf[node] = best == 0;
    if (best > 0) out.p_option[first + best - 1] = 1;
  }
  return out;
}

template Folded fold<SumProduct>(const OptionGraph&, const Prior&, const DirichletParameters&, Stops, Control&);
template Folded fold<MaxProduct>(const OptionGraph&, const Prior&, const DirichletParameters&, Stops, Control&);

std::vector<double> reach(const OptionGraph& graph, const Folded& folded, Control& control) {
  const std::size_t n = graph.n_nodes();
  std::vector<double> out(n, 0.0);
  out[0] = 1;
  std::size_t at = 0;
  for (const std::uint32_t node : graph.by_depth()) {
    if (at++ % kNodesBetween == 0) control.check(true, "folding", at, n);
    if (out[node] == 0) continue;
    for (std::size_t o = graph.option_begin(node); o < graph.option_end(node); ++o)
      for (std::size_t k = 0; k < graph.n_children(o); ++k)
        if (graph.children(o)[k] != kNoChild) out[graph.children(o)[k]] += out[node] * folded.p_option[o];
  }
  return out;
}

namespace {

// Copies what can be reached from the root by the options that `kept` gives for a node, as a range of option numbers
// with gaps: kept(node, take) calls take(option) for each. Level by level, so that parents come first.
class Copy {
 public:
  Copy(const OptionGraph& graph, Control& control)
      : graph_(graph), control_(control), place_(graph.n_nodes(), kNoChild) {
    control.check_memory(graph.bytes() + 4 * graph.n_nodes());
  }

  template <class Kept>
  OptionGraph operator()(const Kept& kept) {
    OptionGraph out(graph_.n_classes());
    queue_.assign(1, 0);
    place_[0] = out.add_node_like(graph_, 0);
    for (std::size_t at = 0; at < queue_.size(); ++at) {
      if (at % kNodesBetween == 0) {
        control_.check(true, "choosing trees", 0, 0);
        control_.check_memory(graph_.bytes() + out.bytes() + 4 * (place_.size() + queue_.capacity()));
      }
      const std::uint32_t node = queue_[at];
      kept(node, [&](std::size_t option) {
        children_.assign(graph_.children(option), graph_.children(option) + graph_.n_children(option));
        for (std::uint32_t& child : children_) {
          if (child == kNoChild) continue;
          if (place_[child] == kNoChild) {
            place_[child] = out.add_node_like(graph_, child);
            queue_.push_back(child);
          }
          child = place_[child];
        }
        out.add_option(static_cast<std::uint32_t>(at), graph_.attribute(option), graph_.threshold(option),
                       graph_.log_split(option), children_.data(), children_.size());
      });
    }
    for (const std::uint32_t node : queue_) place_[node] = kNoChild;
    return out;
  }

 private:
  const OptionGraph& graph_;
  Control& control_;
  std::vector<std::uint32_t> place_;  // of a node in the copy
  std::vector<std::uint32_t> queue_, children_;
};

}  // namespace

OptionGraph in_order(const OptionGraph& graph, Control& control) {
  if (graph.n_nodes() == 0) throw InvalidInput("the option graph has no node");
  return Copy(graph, control)([&](std::uint32_t node, const auto& take) {
    for (std::size_t o = graph.option_begin(node); o < graph.option_end(node); ++o) take(o);
  });
}

OptionGraph likeliest(const OptionGraph& graph, const Folded& folded, Control& control) {
  return Copy(graph, control)([&](std::uint32_t node, const auto& take) {
    std::size_t best = graph.option_end(node);
    double most = folded.p_leaf[node];
    for (std::size_t o = graph.option_begin(node); o < graph.option_end(node); ++o) {
      if (folded.p_option[o] <= most) continue;
      most = folded.p_option[o];
      best = o;
    }
    if (best < graph.option_end(node)) take(best);
  });
}

std::vector<OptionGraph> draw(const OptionGraph& graph, const Folded& folded, std::uint64_t seed, std::size_t n,
                              Control& control) {
  std::vector<OptionGraph> out;
  Copy copy(graph, control);
  std::size_t held = graph.bytes();
  for (std::size_t number = 0; number < n; ++number) {
    control.check(true, "drawing trees", number, n);
    control.check_memory(held);
    Stream stream(seed, number);
    out.push_back(copy([&](std::uint32_t node, const auto& take) {
      if (graph.option_begin(node) == graph.option_end(node)) return;
      double left = stream.uniform() - folded.p_leaf[node];
      if (left < 0) return;
      std::size_t last = graph.option_end(node);  // rounding: what is left goes to the last option of any weight
      for (std::size_t o = graph.option_begin(node); o < graph.option_end(node); ++o) {
        if (folded.p_option[o] <= 0) continue;
        last = o;
        left -= folded.p_option[o];
        if (left < 0) break;
      }
      if (last < graph.option_end(node)) take(last);
    }));
    held += sizeof(OptionGraph) + out.back().bytes();
  }
  return out;
}

OptionGraph without_light_options(const OptionGraph& graph, const Folded& folded, double least, Control& control) {
  return Copy(graph, control)([&](std::uint32_t node, const auto& take) {
    for (std::size_t o = graph.option_begin(node); o < graph.option_end(node); ++o)
      if (folded.p_option[o] >= least) take(o);
  });
}

}  // namespace everytree::grow
