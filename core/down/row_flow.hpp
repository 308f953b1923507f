// How rows flow down the inner states of a graph.
//
// ρ(s, x) is the posterior probability that the path of row x passes through state s:
//     ρ(root, x) = 1,   ρ(child, x) += ρ(s, x) · P(split by a test that sends x to the child | s)
// For a batch of rows it goes down level by level; the ρ of a closed state is made when that state is asked for.
#pragma once

#include <cstdint>
#include <vector>

#include "down/closed_form.hpp"
#include "down/new_rows.hpp"
#include "down/quadratic_form.hpp"
#include "fold/weigh.hpp"

namespace everytree {

class RowFlow {
 public:
  RowFlow(const Graph& graph, const Prior& prior);
  // Bytes of what it has without rows: the places of states, the edges into closed ones, a number for each split.
  static std::size_t bytes_of(const Graph& graph) {
    return graph.size() * 3 * sizeof(std::uint32_t) +
           graph.n_inner() * (sizeof(std::vector<double>) + 3 * sizeof(double)) +
           graph.n_splits() * (2 * sizeof(Edge) + sizeof(double));
  }

  // The states, parents first. `unit` and `leaf` belong to inner[k]: the probability of one unit of share of each of
  // its splits, and of the leaf; to be filled by the posterior.
  std::vector<std::uint32_t> inner, closed;
  std::vector<std::vector<double>> unit;
  std::vector<double> leaf;

  // What rows are asked: see Slot. first_slot[k] is the first slot of class k of tests. Where states choose their tests
  // there are none: every state asks its own.
  std::vector<Slot> slots;
  std::vector<std::uint32_t> first_slot;
  std::size_t stride = 0;  // slots and one variable that is always 1, padded to a multiple of 8

  // A batch of n rows from one on; then inner states in order: at_inner(k) before at_inner(k + 1). y() is there only if
  // asked for.
  void load(const NewRows& rows, std::size_t from, std::size_t n, bool with_y);
  const double* at_inner(std::size_t k);  // ρ of inner[k], which is passed on to its inner children
  // ρ of closed[k], after all of at_inner. `shares` is the caller's own.
  void at_closed(std::size_t k, const InnerShares& shares, double* out) const;
  const double* y() const { return y_.data(); }  // row-major: the value of slot k at row r is y()[r * stride + k]
  // The outcomes of some tests for the rows active[k] of the batch. `all` is a buffer.
  void outcomes(const std::vector<ClosedForm::Element>& tests, const std::vector<std::uint32_t>& active,
                const Kernels& kernels, Patterns& all, Patterns& out) const;
  // As y(), for the tests of one closed state, in the order of its form (down/quadratic_form.hpp): row k of `y`, of
  // the given width, is for the row active[k] of the batch.
  void answers(const Frontier& frontier, const std::vector<std::uint32_t>& active, std::size_t width,
               std::vector<double>& y) const;

 private:
  struct Edge {
    std::uint32_t parent, split;
    int side;
  };
  void pass(const Split& split, int side, double unit_probability, const InnerShares& shares, const double* parent,
            double* child) const;

  const Graph* graph_;
  const Prior* prior_;
  const Kernels* kernels_;
  std::vector<std::uint32_t> place_, edges_begin_;  // place in `inner` or `closed`; edges into closed states
  std::vector<Edge> edges_;
  InnerShares shares_;
  std::size_t n_ = 0;
  std::vector<double> y_, rho_;
  std::vector<std::uint16_t> reach_;  // by test, then by row of the batch; 0 or 65535 where tests are fixed
};

}  // namespace everytree
