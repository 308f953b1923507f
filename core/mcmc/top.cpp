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

double log_of(std::size_t n) { return std::log(static_cast<double>(n)); }

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

Move Top::move(MoveKind kind, TopStates& states, Stream& random) {
  Move move;
  changed_ = nullptr;
  switch (kind) {
    case MoveKind::grow: {
      collect(may_grow);
      if (found_.empty()) return move;
      const std::size_t at = random.below(found_.size());
      TopNode fresh = end(found_[at]->state);
      states.propose(*fresh.state);
      const std::size_t k = draw_test(*fresh.state, random);
      move.log_forward = fresh.state->log_proposal(k) - log_of(found_.size());
      split(fresh, k, states);
      replace(at, std::move(fresh), move);
      move.log_reverse = -log_of(count(may_prune));
      return move;
    }
    case MoveKind::prune: {
      collect(may_prune);
      if (found_.empty()) return move;
      const std::size_t at = random.below(found_.size());
      const std::shared_ptr<TopState> state = found_[at]->state;
      const auto test = static_cast<std::uint32_t>(found_[at]->test);
      move.log_forward = -log_of(found_.size());
      replace(at, end(state), move);
      states.propose(*state);
      move.log_reverse = state->log_proposal(state->find(test)) - log_of(count(may_grow));
      return move;
    }
    case MoveKind::change: {
      collect(is_split);
      if (found_.empty()) return move;
      const std::size_t at = random.below(found_.size());
      TopState& s = *found_[at]->state;
      states.propose(s);
      const std::size_t k = draw_test(s, random), now = s.find(static_cast<std::uint32_t>(found_[at]->test));
      if (k == now) return move;
      TopNode fresh;
      if (!rebuilt(*found_[at], static_cast<std::int32_t>(s.tests[k]), found_[at]->state, states, fresh)) return move;
      move.log_forward = s.log_proposal(k) - log_of(found_.size());
      move.log_reverse = s.log_proposal(now) - log_of(found_.size());
      replace(at, std::move(fresh), move);
      return move;
    }
    case MoveKind::swap: {
      // Splits with a split child: two entries where both children are.
      std::size_t pairs = 0;
      collect(is_split);
      for (const TopNode* v : found_) pairs += v->child[0]->split() + v->child[1]->split();
      if (pairs == 0) return move;
      std::size_t chosen = random.below(pairs), at = 0;
      for (;; ++at) {
        const std::size_t here = found_[at]->child[0]->split() + found_[at]->child[1]->split();
        if (chosen < here) break;
        chosen -= here;
      }
      TopNode& v = *found_[at];
      const int side = chosen == 1 || !v.child[0]->split() ? 1 : 0;
      const std::int32_t lower = v.child[side]->test, upper = v.test;
      const bool both = v.child[1 - side]->test == lower;
      TopNode fresh = end(v.state);
      if (!split(fresh, fresh.state->find(static_cast<std::uint32_t>(lower)), states)) return move;
      for (int a = 0; a < 2; ++a) {
        std::shared_ptr<TopState> below = fresh.child[a]->state;
        const std::int32_t test = a == side || both ? upper : v.child[a]->test;
        if (!rebuilt(*v.child[a], test, std::move(below), states, *fresh.child[a])) return move;
      }
      move.log_forward = move.log_reverse = -log_of(pairs);
      const auto w = std::find(found_.begin(), found_.end(), v.child[side].get());
      replace(at, std::move(fresh), move);
      move.place = places_[static_cast<std::size_t>(w - found_.begin())];
      return move;
    }
    case MoveKind::regrow: {
      collect(is_open);
      if (found_.empty()) return move;
      const std::size_t at = random.below(found_.size());
      TopNode fresh = drawn(found_[at]->state, states, random);
      move.log_forward = log_proposal(fresh, states) - log_of(found_.size());
      move.log_reverse = log_proposal(*found_[at], states);
      replace(at, std::move(fresh), move);
      move.log_reverse -= log_of(count(is_open));
      return move;
    }
  }
  return move;
}

}  // namespace everytree
