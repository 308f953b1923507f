#include "mcmc/top.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "common/errors.hpp"

namespace everytree {

namespace {

bool may_grow(const TopNode& v) { return !v.split() && v.state->may_split(); }
bool may_prune(const TopNode& v) { return v.split() && !v.child[0]->split() && !v.child[1]->split(); }
bool is_split(const TopNode& v) { return v.split(); }
bool is_open(const TopNode& v) { return v.state->may_split(); }

// A test from r(· | split): its place among the feasible ones.
std::size_t draw_test(const TopState& s, Stream& random) {
  const auto at = std::upper_bound(s.cumulative.begin(), s.cumulative.end(), random.uniform());
  return std::min(static_cast<std::size_t>(at - s.cumulative.begin()), s.tests.size() - 1);
}

template <class F>
void preorder(TopNode& root, F&& f) {
  std::vector<TopNode*> stack{&root};
  for (std::size_t place = 0; !stack.empty(); ++place) {
    TopNode* v = stack.back();
    stack.pop_back();
    f(*v, place);
    if (!v->split()) continue;
    stack.push_back(v->child[1].get());
    stack.push_back(v->child[0].get());
  }
}

}  // namespace

TopNode Top::end(std::shared_ptr<TopState> state) {
  TopNode v;
  v.log_weight = state->log_stop;
  v.state = std::move(state);
  return v;
}

// Split an end by the k-th feasible test of its state, into two ends.
bool Top::split(TopNode& v, std::size_t k, TopStates& states) {
  if (k >= v.state->tests.size()) return false;
  v.test = static_cast<std::int32_t>(v.state->tests[k]);
  v.log_weight = v.state->log_split_weight(k);
  for (int side = 0; side < 2; ++side)
    v.child[side] = std::make_unique<TopNode>(end(states.child(*v.state, v.state->tests[k], side)));
  return true;
}

TopNode Top::drawn(std::shared_ptr<TopState> state, TopStates& states, Stream& random) {
  TopNode v = end(std::move(state));
  if (!v.state->may_split()) return v;
  states.propose(*v.state);
  if (random.uniform() < v.state->stop) return v;
  split(v, draw_test(*v.state, random), states);
  for (auto& child : v.child) *child = drawn(child->state, states, random);
  return v;
}

bool Top::rebuilt(const TopNode& old, std::shared_ptr<TopState> state, TopStates& states, TopNode& out) {
  return rebuilt(old, old.test, std::move(state), states, out);
}

bool Top::rebuilt(const TopNode& old, std::int32_t test, std::shared_ptr<TopState> state, TopStates& states,
                  TopNode& out) {
  out = end(std::move(state));
  if (test < 0) return true;
  // A closed state has no feasible tests here, so a split on it ends the attempt.
  if (!split(out, out.state->find(static_cast<std::uint32_t>(test)), states)) return false;
  for (int side = 0; side < 2; ++side) {
    std::shared_ptr<TopState> below = out.child[side]->state;
    if (!rebuilt(*old.child[side], std::move(below), states, *out.child[side])) return false;
  }
  return true;
}

Top::Top(TopStates& states, Stream& random) : root_(drawn(states.root(), states, random)) {}

Top::Top(TopStates& states, const Key& key) : root_(end(states.root())) {
  std::vector<TopNode*> open{&root_};
  for (std::int32_t test : key) {
    if (open.empty()) throw InvalidInput("the top's key goes on after the top is complete");
    TopNode* v = open.back();
    open.pop_back();
    if (test == -1) continue;
    if (test < 0 || !split(*v, v->state->find(static_cast<std::uint32_t>(test)), states))
      throw InvalidInput("test " + std::to_string(test) + " is not feasible where the top's key uses it");
    open.push_back(v->child[1].get());
    open.push_back(v->child[0].get());
  }
  if (!open.empty()) throw InvalidInput("the top's key ends before the top is complete");
}

double Top::log_weight(const TopNode& v) {
  double sum = v.log_weight;
  if (v.split()) sum += log_weight(*v.child[0]) + log_weight(*v.child[1]);
  return sum;
}

double Top::log_proposal(const TopNode& v, TopStates& states) {
  TopState& s = *v.state;
  if (!s.may_split()) return 0;
  states.propose(s);
  if (!v.split()) return std::log(s.stop);
  return std::log1p(-s.stop) + s.log_proposal(s.find(static_cast<std::uint32_t>(v.test))) +
         log_proposal(*v.child[0], states) + log_proposal(*v.child[1], states);
}

Key Top::key() const {
  Key out;
  preorder(const_cast<TopNode&>(root_), [&](const TopNode& v, std::size_t) { out.push_back(v.test); });
  return out;
}

template <class Wanted>
void Top::collect(Wanted&& wanted) {
  found_.clear();
  places_.clear();
  preorder(root_, [&](TopNode& v, std::size_t place) {
    if (!wanted(v)) return;
    found_.push_back(&v);
    places_.push_back(place);
  });
}

template <class Wanted>
std::size_t Top::count(Wanted&& wanted) {
  std::size_t n = 0;
  preorder(root_, [&](const TopNode& v, std::size_t) { n += wanted(v); });
  return n;
}

// Put a fresh subtree where the chosen node stands; the old one waits for undo().
void Top::replace(std::size_t at, TopNode fresh, Move& move) {
  changed_ = found_[at];
  move.place = places_[at];
  move.proposed = true;
  move.log_target = log_weight(fresh) - log_weight(*changed_);
  old_ = std::move(*changed_);
  *changed_ = std::move(fresh);
}

void Top::undo() {
  if (changed_ == nullptr) return;
  *changed_ = std::move(old_);
  changed_ = nullptr;
}

class Top::Moving {
 public:
  struct Node {
    std::size_t at;  // among the nodes found last
    int side = 0;    // of a pair: the child
  };
  using Test = std::size_t;  // place among the feasible ones of the state
  static constexpr Test kNoTest = ~Test{0};
  Moving(Top& top, TopStates& states) : t_(top), states_(states) {}

  std::size_t count(NodeSet set) {
    switch (set) {
      case NodeSet::growable:
        t_.collect(may_grow);
        break;
      case NodeSet::cherries:
        t_.collect(may_prune);
        break;
      case NodeSet::splits:
        t_.collect(is_split);
        break;
      case NodeSet::open:
        t_.collect(is_open);
        break;
      case NodeSet::pairs: {  // splits with a split child: two where both children are
        std::size_t pairs = 0;
        t_.collect(is_split);
        for (const TopNode* v : t_.found_) pairs += n_pairs(*v);
        return pairs;
      }
    }
    return t_.found_.size();
  }
  Node member(NodeSet set, std::size_t k) const {
    if (set != NodeSet::pairs) return {k};
    std::size_t at = 0;
    for (; k >= n_pairs(*t_.found_[at]); ++at) k -= n_pairs(*t_.found_[at]);
    return {at, k == 1 || !t_.found_[at]->child[0]->split() ? 1 : 0};
  }
  std::size_t count_after(NodeSet set) {
    return t_.count(set == NodeSet::growable ? may_grow : set == NodeSet::cherries ? may_prune : is_open);
  }

  Test test(Node v) const { return state(v).find(static_cast<std::uint32_t>(at(v).test)); }
  Test draw_test(Node v, Stream& random) {
    states_.propose(state(v));
    return everytree::draw_test(state(v), random);
  }
  double log_proposal(Node v, Test k) {
    states_.propose(state(v));
    return state(v).log_proposal(k);
  }

  void grow(Node v, Test k, Move& move) {
    TopNode fresh = end(at(v).state);
    split(fresh, k, states_);
    t_.replace(v.at, std::move(fresh), move);
  }
  void prune(Node v, Move& move) { t_.replace(v.at, end(at(v).state), move); }
  bool change(Node v, Test k, Move& move) {
    TopNode fresh;
    if (!rebuilt(at(v), static_cast<std::int32_t>(state(v).tests[k]), at(v).state, states_, fresh)) return false;
    t_.replace(v.at, std::move(fresh), move);
    return true;
  }
  bool swap(Node pair, Move& move) {
    TopNode& v = at(pair);
    const std::int32_t lower = v.child[pair.side]->test, upper = v.test;
    const bool both = v.child[1 - pair.side]->test == lower;
    TopNode fresh = end(v.state);
    if (!split(fresh, fresh.state->find(static_cast<std::uint32_t>(lower)), states_)) return false;
    for (int a = 0; a < 2; ++a) {
      std::shared_ptr<TopState> below = fresh.child[a]->state;
      const std::int32_t test = a == pair.side || both ? upper : v.child[a]->test;
      if (!rebuilt(*v.child[a], test, std::move(below), states_, *fresh.child[a])) return false;
    }
    const auto w = std::find(t_.found_.begin(), t_.found_.end(), v.child[pair.side].get());
    t_.replace(pair.at, std::move(fresh), move);
    move.place = t_.places_[static_cast<std::size_t>(w - t_.found_.begin())];
    return true;
  }
  bool regrow(Node v, Stream& random, Move& move) {
    TopNode fresh = drawn(at(v).state, states_, random);
    move.log_forward = Top::log_proposal(fresh, states_);
    move.log_reverse = Top::log_proposal(at(v), states_);
    t_.replace(v.at, std::move(fresh), move);
    return true;
  }

 private:
  static std::size_t n_pairs(const TopNode& v) { return v.child[0]->split() + v.child[1]->split(); }
  TopNode& at(Node v) const { return *t_.found_[v.at]; }
  TopState& state(Node v) const { return *at(v).state; }  // the same before and after an edit

  Top& t_;
  TopStates& states_;
};

Move Top::move(MoveKind kind, TopStates& states, Stream& random) {
  changed_ = nullptr;
  Moving top(*this, states);
  return propose_move(kind, top, LogOdds{}, random);
}

}  // namespace everytree
