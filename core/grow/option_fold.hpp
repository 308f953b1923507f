// Folds of the option graph, from the leaves up and back down.
//
//   Vleaf(n) = exp(log_leaf[depth]) · M(n)                                              leaf prior: open or closed
//   s(n) = Vleaf(n) ⊕ ⊕_options exp(log_split) · Π_children s(child)
//   P(leaf | n) = Vleaf/s,   P(option | n) = exp(log_split)·Π s(child) / s
//
// SumProduct sums over all its trees (smoothing). With MaxProduct every P is 0 or 1; values equal but for rounding are
// ties: the tree with fewer nodes, then the leaf, then the lower column, then the lower threshold. log s(root) is the
// log evidence. Where everything at a node weighs nothing, log s = −∞ and P(leaf) = 1.
// What ⊕ is follows from the same algebras. The pass is not fold/up.hpp: an option has any number of children, and the
// shares P come out of the same sweep. Measured with values of an algebra and joins child by child, on option graphs of
// 60000 nodes grown on three generated tables (processor time, least of 7 alternating runs): sums of Wide numbers take
// 1.89, 1.76 and 2.03 times as long, as here one exp is all that a term needs; the largest, with nodes and tests in the
// value for ties, 1.14, 0.99 and 1.22 times.
#pragma once

#include <cstdint>
#include <vector>

#include "algebra/product.hpp"
#include "common/control.hpp"
#include "common/stream.hpp"
#include "grow/option_graph.hpp"
#include "weights/dirichlet_parameters.hpp"
#include "weights/prior.hpp"

namespace everytree::grow {

// Which part of the graph is folded: a tree may stop at any node, or only where there is no option (as grown).
enum class Stops { anywhere, at_ends };

struct Folded {
  std::vector<double> log_s;     // of every node
  std::vector<double> p_leaf;    // of every node
  std::vector<double> p_option;  // of every option
  double log_evidence() const { return log_s[0]; }
};

template <PlainProduct A>
Folded fold(const OptionGraph& graph, const Prior& prior, const DirichletParameters& dirichlet, Stops stops,
            Control& control);

// P(node is in the tree): reach(root) = 1, reach(child) = Σ_parents reach(parent)·P(option | parent).
std::vector<double> reach(const OptionGraph& graph, const Folded& folded, Control& control);

// n_rows × n_classes probabilities, with θ_c(n) = (n_c + a_c)/(n + Σa):
//   g(n, x) = P(leaf | n)·θ(n) + Σ_options P(option | n)·(the option has a child for x ? g(child, x) : θ(n))
// What a row weighs at a node that it reaches on several ways is added up there, so that the work is at most rows ×
// nodes, whatever the number of trees. The result of a row does not depend on the other rows.
void predict(const OptionGraph& graph, const Folded& folded, const DirichletParameters& dirichlet, const Columns& data,
             double* out, Control& control);

// The same graph level by level, without nodes that nothing reaches; options are then in the order of their nodes.
OptionGraph in_order(const OptionGraph& graph, Control& control);

// The tree with the larger share at every node (the first one on ties): after a fold with MaxProduct, the most probable
// tree. As a graph with at most one option per node.
OptionGraph likeliest(const OptionGraph& graph, const Folded& folded, Control& control);

// Trees drawn with the folded shares; tree number k of a seed is always the same.
std::vector<OptionGraph> draw(const OptionGraph& graph, const Folded& folded, std::uint64_t seed, std::size_t n,
                              Control& control);

// Without the options whose share of their node is below `least`, and the nodes that nothing reaches any more.
OptionGraph without_light_options(const OptionGraph& graph, const Folded& folded, double least, Control& control);

}  // namespace everytree::grow
