// Sets of questions with at most one of each column, numbered as they are met.
//
// A question is what a row is asked where states choose their tests: x ≤ t for one of many cuts t, x = value, or
// whether x is missing. Its outcome is z = ±1, and two questions of one column say no more than their sum does:
//     t < t':      z_t z_t' = 1 + z_t − z_t'          x ≤ t implies x ≤ t'
//     else:        z_q z_q' = −1 − z_q − z_q'         both never hold
// so a product of outcomes is a sum over sets with at most one question of each column. Such products are linearly
// independent as functions of rows: what is said in them is said in one way only.
//
// A set is the set without its greatest question, and that question: numbers stand for both, and set 0 is empty.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/control.hpp"

namespace everytree {

struct Question {
  std::uint32_t column;
  bool cut;  // x ≤ t; cuts of a column are numbered in their order, and stand together
};

class QuestionSets {
 public:
  // `room`: what a set costs its user besides, in bytes.
  QuestionSets(std::vector<Question> questions, std::size_t room, Control& control)
      : questions_(std::move(questions)), room_(room), control_(&control), sets_(1), index_(1024, 0) {}

  // Obey these limits from now on.
  void watch(Control& control) { control_ = &control; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(sets_.size()); }
  const std::vector<Question>& questions() const { return questions_; }
  std::size_t degree(std::uint32_t set) const { return sets_[set].degree; }
  // The questions of a set, ascending; returns how many.
  std::size_t elements(std::uint32_t set, std::uint32_t* out) const {
    const std::size_t n = sets_[set].degree;
    for (std::size_t k = n; k > 0; set = sets_[set].parent) out[--k] = sets_[set].last;
    return n;
  }
  std::uint32_t without(std::uint32_t set, std::uint32_t question) {
    const Set s = sets_[set];
    return s.last == question ? s.parent : child(without(s.parent, question), s.last);
  }
  // use(set', sign) for the sets whose products, with these signs, add up to z_question times the product of the set.
  template <class Use>
  void multiply(std::uint32_t set, std::uint32_t question, Use&& use) {
    std::uint32_t at = set;
    while (at != 0 && questions_[sets_[at].last].column > questions_[question].column) at = sets_[at].parent;
    if (at == 0 || questions_[sets_[at].last].column != questions_[question].column) {
      use(with(set, question), 1.0);
      return;
    }
    const std::uint32_t other = sets_[at].last, rest = without(set, other);
    if (other == question) {
      use(rest, 1.0);
    } else if (questions_[other].cut && questions_[question].cut) {
      use(rest, 1.0);
      use(with(rest, question), question < other ? 1.0 : -1.0);
      use(set, question < other ? -1.0 : 1.0);
    } else {
      use(rest, -1.0);
      use(with(rest, question), -1.0);
      use(set, -1.0);
    }
  }
  std::size_t bytes() const {
    return sets_.size() * room_ + sets_.capacity() * sizeof(Set) + index_.size() * sizeof(std::uint32_t);
  }
  // Bytes that the user holds besides: they count when memory is looked at.
  void hold(std::size_t bytes) {
    held_ = bytes;
    control_->check_memory(this->bytes() + held_);
  }

 private:
  struct Set {
    std::uint32_t parent = 0, last = 0;
    std::uint32_t degree = 0;
  };
  // The set with one more question, of a column that none of its questions has.
  std::uint32_t with(std::uint32_t set, std::uint32_t question) {
    const Set s = sets_[set];
    if (set == 0 || s.last < question) return child(set, question);
    return child(with(s.parent, question), s.last);
  }
  // The set with one more question, greater than all of its own.
  std::uint32_t child(std::uint32_t set, std::uint32_t question) {
    std::size_t k = slot(set, question);
    if (index_[k] != 0) return index_[k];
    if (2 * sets_.size() >= index_.size()) {
      grow();
      k = slot(set, question);
    }
    index_[k] = size();
    sets_.push_back({set, question, sets_[set].degree + 1});
    return index_[k];
  }
  // Where a set stands in the index, or would.
  std::size_t slot(std::uint32_t set, std::uint32_t question) const {
    const std::size_t mask = index_.size() - 1;
    std::size_t k = place(set, question) & mask;
    while (index_[k] != 0 && (sets_[index_[k]].parent != set || sets_[index_[k]].last != question)) k = (k + 1) & mask;
    return k;
  }
  static std::size_t place(std::uint32_t set, std::uint32_t question) {
    const std::uint64_t h = (std::uint64_t{set} << 32 | question) * 0x9e3779b97f4a7c15u;
    return static_cast<std::size_t>(h ^ h >> 29);
  }
  void grow() {
    // Room for twice as many sets, the index of them, and the old one of either until it is copied.
    const std::size_t places = index_.size() * sizeof(std::uint32_t), numbers = sets_.capacity() * sizeof(Set);
    control_->check(true, "expanding the average", 0, 0);
    control_->check_memory(bytes() + places + numbers + std::max(places, numbers) + held_);
    if (sets_.size() >= 0x7fffffffu) throw LimitReached(LimitReached::Reason::memory, "more than 2·10^9 sets");
    std::vector<std::uint32_t> old(index_.size() * 2, 0);
    old.swap(index_);
    for (std::uint32_t set : old)
      if (set != 0) index_[slot(sets_[set].parent, sets_[set].last)] = set;
  }

  std::vector<Question> questions_;
  std::size_t room_, held_ = 0;
  Control* control_;
  std::vector<Set> sets_;
  std::vector<std::uint32_t> index_;  // by hash; 0: nothing
};

}  // namespace everytree
