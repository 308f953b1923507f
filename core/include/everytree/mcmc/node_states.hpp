// What a chain over trees knows of a state (cover, depth): e feasible tests, and the weights of a node there.
//
// A chain comes back to the same states again and again, so each is made once and found again, first by the split that
// led to it and else by its cover (compared, not only hashed). What is costly is made when first wanted: a leaf must
// know whether *some* test is feasible, only a split or a proposal must know how many are. Everything here is a
// function of cover and depth alone, so that forgetting it and making it again changes nothing.
//
// Proposals draw a test for a state from  r(t | state) = ε / e + (1 − ε) · w(t) / Σ w   (ε = 1: uniform)
// with w(t) = the share of the test in the prior times the data weights of the two leaves it would make.
#pragma once

#include <cstdint>
#include <vector>

#include "everytree/control.hpp"
#include "everytree/mcmc/tree_target.hpp"
#include "everytree/stream.hpp"
#include "everytree/table/count_table.hpp"

namespace everytree {

struct NodeState {
  std::uint64_t hash = 0;
  double log_prior_leaf = 0, log_data_leaf = 0;
  double log_split = 0;  // prior of a split here; without the share of its test if the prior is attribute-fair
  std::int32_t depth = 0, total = 0;
  std::int32_t n_tests = -1;  // e; −1: not yet counted
  std::int32_t n_attributes = 0;
  std::uint32_t from = 0;    // a state above: only its tests can be feasible here
  std::uint32_t look = ~0u;  // of a proposal that looks ahead: where its table begins
  bool open = false;         // e > 0, and the depth limit is not reached
};

// A space of trees and how to propose tests in it.
struct ChainSpace {
  const CountTable* table;
  int max_depth;  // −1: no limit
  std::int64_t min_leaf;
  const TreeTarget* target;
  double blind = 1;  // ε
};

class NodeStates {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  using Children = std::array<std::uint32_t, 2>;  // where the test does not hold, and where it does

  NodeStates(const ChainSpace& space, std::size_t max_bytes);
  // Long counts obey these limits.
  void watch(Control* control, bool calling_thread) {
    control_ = control;
    calling_thread_ = calling_thread;
  }

  std::uint32_t root() { return get(space_.table->all().data(), 0, kNone); }
  const NodeState& operator[](std::uint32_t state) const { return states_[state]; }
  // The two states below a test; none if it is not feasible.
  Children split(std::uint32_t state, std::uint32_t test);
  // e of a state.
  std::int32_t count_tests(std::uint32_t state);
  // Log prior of a split by this feasible test.
  double log_split(std::uint32_t state, std::uint32_t test);
  // A feasible test of an open state, from r; and log r of a feasible test.
  std::uint32_t draw(std::uint32_t state, Stream& random);
  double log_proposal(std::uint32_t state, std::uint32_t test);

  // Forget everything once there is more than fits; the numbers of states then mean nothing any more.
  bool full() const { return bytes() > max_bytes_; }
  void clear();
  std::size_t bytes() const {
    return 8 * (covers_.size() + tests_.size() + looks_.size()) + sizeof(NodeState) * states_.size() +
           4 * by_cover_.size() + sizeof(Edge) * edges_.size();
  }

 private:
  struct Edge {
    std::uint64_t key = 0;  // state << 32 | test + 1; 0: empty
    Children children{};
  };
  const std::uint64_t* cover(std::uint32_t state) const { return covers_.data() + state * words_; }
  const std::uint64_t* tests(std::uint32_t state) const { return tests_.data() + state * test_words_; }
  bool feasible(std::uint32_t state, std::uint32_t test) const { return tests(state)[test / 64] >> (test % 64) & 1; }
  std::int64_t examples(const std::uint64_t* cover, std::uint32_t test);
  std::uint32_t get(const std::uint64_t* cover, std::int32_t depth, std::uint32_t from);
  bool some_test(const std::uint64_t* cover, std::int32_t total, std::uint32_t from);
  std::size_t rank(std::uint32_t state, std::uint32_t test) const;
  std::uint32_t select(std::uint32_t state, std::size_t k) const;
  void look_ahead(std::uint32_t state);
  void remember(std::uint64_t key, Children children);
  Edge& edge(std::uint64_t key);

  struct Run {
    std::uint32_t begin, end, shift;
  };
  ChainSpace space_;
  std::size_t words_, test_words_, max_bytes_;
  const Kernels* kernels_;
  Control* control_ = nullptr;
  bool calling_thread_ = false;
  std::size_t work_ = 0;
  std::vector<Run> runs_;            // words whose rows count equally often
  std::vector<std::uint32_t> like_;  // the first test that splits the table alike; kNone: it never splits
  std::vector<std::vector<std::uint32_t>> tests_of_;  // of an attribute, if the prior is fair
  std::vector<std::uint32_t> attribute_;
  std::vector<NodeState> states_;
  std::vector<std::uint64_t> covers_, tests_;  // words_ and test_words_ for each state
  std::vector<double> looks_;                  // cumulative r
  std::vector<std::uint32_t> by_cover_;        // open addressing: state + 1, or 0
  std::vector<Edge> edges_;
  std::size_t n_edges_ = 0;
  // scratch
  Cover side_[2];
  std::vector<std::int32_t> counts_, ones_;
  std::vector<std::uint32_t> seen_;  // attribute: the last count it was seen in
  std::uint32_t count_ = 0;
};

}  // namespace everytree
