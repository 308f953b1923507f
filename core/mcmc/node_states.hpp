// What a chain over trees knows of a state (cover, depth): e feasible tests, and the weights of a node there.
//
// A chain comes back to the same states again and again, so each is made once and found again, first by the split that
// led to it and else by its cover (compared, not only hashed). What is costly is made when first wanted: a leaf must
// know whether *some* test is feasible, only a split or a proposal must know how many are. Everything here is a
// function of cover and depth alone, so that forgetting it and making it again changes nothing.
//
// Where states choose their tests (table/node_offers.hpp), those that a state does not offer are not feasible. A state
// with one level left takes the tests of the state above it, so that it is known by (cover, depth, state above).
//
// Proposals draw a test for a state from  r(t | state) = ε · d(t) + (1 − ε) · w(t) / Σ w
// with w(t) = the prior of the split times the data weights of the two leaves it would make, and d a given density over
// the feasible tests, uniform (1/e) unless one is given. Plain chains have ε = 1. If d is over all tests, whichever are
// feasible, then with what is left, ε · (1 − Σ_feasible d), nothing is proposed.
//
// Regrowth draws a subtree of at most two levels: stop, or split by t and go on one level below, from
//     r_L(stop) ∝ leaf(state)        r_L(t) ∝ split(t) · u_{L−1}(child 0) · u_{L−1}(child 1)
// with u_L the sum over the subtrees of at most L levels, found by the frontier for a posterior (without a frontier
// u_1 is replaced by the leaf); mixed with ½ stop + ½ d for a share of kBlindRegrowth. Where a depth limit closes the
// second level this is the target's own conditional; elsewhere leaves at its end are weighed as if closed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/control.hpp"
#include "common/stream.hpp"
#include "frontier/one_level.hpp"
#include "mcmc/tree_target.hpp"
#include "table/count_table.hpp"
#include "table/node_offers.hpp"

namespace everytree {

struct NodeState {
  std::uint64_t hash = 0;
  double log_prior_leaf = 0, log_data_leaf = 0;
  double log_split = 0;  // prior of a split here; without the share of its test if the prior is attribute-fair
  std::int32_t depth = 0, total = 0;
  std::int32_t n_tests = -1;  // e; −1: not yet counted
  std::int32_t n_attributes = 0;
  std::uint32_t from = 0;  // a state above: only its tests can be feasible here, unless states choose them
  // Where the tables of proposals begin: of r, r_1 and r_2.
  std::array<std::uint32_t, 3> look{~0u, ~0u, ~0u};
  bool open = false;  // e > 0, and the depth limit is not reached
};

// Tests begin … end − 1 hold for more and more examples (rising), or for fewer and fewer: the cuts of a numeric column.
// Those that are feasible at a cover stand together, and are found by bisection: a column with thousands of cuts costs
// as much as a few tests.
struct TestRange {
  std::uint32_t begin, end;
  bool rising;
};
// All tests, in order, as such ranges; most may be of one test. None where states choose their tests: these are found
// from the rows.
std::vector<TestRange> nested_tests(const CountTable& table, Control& control);

// A space of trees and how to propose tests in it.
struct ChainSpace {
  const CountTable* table;
  const std::vector<TestRange>* ranges;
  int max_depth;  // −1: no limit
  std::int64_t min_leaf;
  const TreeTarget* target;
  double blind = 1;                              // ε
  const std::vector<double>* density = nullptr;  // d, not normalised; null: uniform
  bool outright = false;                         // d is a distribution over all tests, and not only the feasible ones
  const ProductWeights* frontier = nullptr;      // of a posterior, for regrowth
};

class NodeStates {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr double kBlindRegrowth = 0.1;
  using Children = std::array<std::uint32_t, 2>;  // where the test does not hold, and where it does

  NodeStates(const ChainSpace& space, std::size_t max_bytes);
  // Long counts obey these limits.
  void watch(Control* control, bool calling_thread);

  std::uint32_t root() { return get(space_.table->all().data(), 0, kNone); }
  const NodeState& operator[](std::uint32_t state) const { return states_[state]; }
  // The two states below a test; none if it is not feasible.
  Children split(std::uint32_t state, std::uint32_t test);
  // e of a state.
  std::int32_t count_tests(std::uint32_t state);
  // Log prior of a split by this feasible test.
  double log_split(std::uint32_t state, std::uint32_t test);
  // A feasible test of an open state, from r, or kNone if nothing is proposed; and log r of a feasible test.
  std::uint32_t draw(std::uint32_t state, Stream& random);
  double log_proposal(std::uint32_t state, std::uint32_t test);
  // The same for r_L, L = 1 or 2: a test, or −1 to stop, which is certain at a state that is not open.
  std::int32_t draw_level(std::uint32_t state, int levels, Stream& random);
  double log_level(std::uint32_t state, int levels, std::int32_t test);

  // Forget everything once there is more than fits; the numbers of states then mean nothing any more.
  bool full() const { return bytes() > max_bytes_; }
  void limit(std::size_t max_bytes) { max_bytes_ = max_bytes; }
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
  bool plain() const { return space_.blind >= 1 && space_.density == nullptr; }
  void tick(std::size_t words);
  std::int64_t examples(const std::uint64_t* cover, std::uint32_t test);
  std::uint32_t get(const std::uint64_t* cover, std::int32_t depth, std::uint32_t from);
  bool some_test(const std::uint64_t* cover, std::int32_t total, std::uint32_t from);
  void take_offers(std::uint32_t state);
  void counted(std::uint32_t state, std::int32_t n, std::int32_t attributes);
  std::uint32_t bisect(const TestRange& range, const std::uint64_t* cover, std::int64_t least);
  std::size_t rank(std::uint32_t state, std::uint32_t test) const;
  std::uint32_t select(std::uint32_t state, std::size_t k) const;
  // Make a table of proposals, if there is none yet: cumulative r; or r_L(stop), and cumulative r_L given a split.
  const double* look_ahead(std::uint32_t state, std::size_t which);
  double stop_and_weights(std::uint32_t state, std::size_t levels, std::vector<double>& weight);
  void densities(std::uint32_t state, bool outright, std::vector<double>& out) const;
  void remember(std::uint64_t key, Children children);
  Edge& edge(std::uint64_t key);

  struct Run {
    std::uint32_t begin, end, shift;
  };
  ChainSpace space_;
  std::size_t words_, test_words_, max_bytes_;
  const Kernels* kernels_;
  NodeOffers offers_;
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
  std::vector<std::int32_t> counts_;
  std::vector<double> weight_, density_;
  std::vector<std::int32_t> part_[3];
  std::unique_ptr<OneLevelFold> fold_;
  OneLevel level_;
  std::vector<std::uint32_t> seen_;  // attribute: the last count it was seen in
  std::uint32_t count_ = 0;
};

}  // namespace everytree
