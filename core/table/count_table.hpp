// The count table: the data as every algorithm sees them.
//
// Rows are sorted by class; a row that counts n times stands once for every bit set in n, in the section of its
// class and that power of two. So    n_c(cover) = Σ_{sections of c} 2^b · popcount(cover ∩ section)
// needs neither class masks nor multiplicities. Every section starts at a whole word.
#pragma once

#include <cstdint>
#include <vector>

#include "common/control.hpp"
#include "kernels/kernels.hpp"
#include "table/columns.hpp"

namespace everytree {

// A set of rows: one bit per slot of the table.
using Cover = std::vector<std::uint64_t>;

// Tests that split the whole table alike, up to exchanging the outcomes. Trees over one of them are trees over all.
struct TestClass {
  std::uint32_t test;                  // the member with the lowest index; its column stands for the class
  std::vector<std::uint32_t> members;  // member << 1 | flipped
};

class CountTable {
 public:
  // rows: n_rows × n_tests of 0/1, row-major. counts: n_rows × n_classes, ≥ 0. With `control` it obeys the limits.
  // With columns every state offers its own tests (table/offers.hpp), and each test is a class of its own.
  CountTable(const std::uint8_t* rows, const std::int64_t* counts, std::size_t n_rows, std::size_t n_tests,
             std::size_t n_classes, Control* control = nullptr, Columns columns = {});

  std::size_t n_tests() const { return n_tests_; }
  std::size_t n_classes() const { return n_classes_; }
  std::size_t n_words() const { return n_words_; }
  std::int64_t total() const { return total_; }
  const std::vector<Section>& sections() const { return sections_; }  // ranges of words here
  const Cover& all() const { return all_; }
  const std::uint64_t* column(std::size_t test) const { return columns_.data() + test * n_words_; }
  const std::uint64_t* columns() const { return columns_.data(); }
  const std::vector<TestClass>& test_classes() const { return test_classes_; }
  const Columns& by_column() const { return by_column_; }
  bool local() const { return !by_column_.empty(); }  // whether states choose their tests
  // Whether no two tests are one class: then class k is test k.
  bool single_tests() const { return test_classes_.size() == n_tests_; }
  // The places of the codes of a slot (word · 64 + bit), one for each column: see Columns.
  const std::uint32_t* places(std::size_t slot) const { return places_.data() + slot * by_column_.size(); }
  // f(test, flipped) for every original test of the parts of a split (class << 1 | flipped); flipped: the test holds
  // where the split does not.
  template <class Parts, class F>
  void for_each_test(const Parts& parts, F&& f) const {
    for (std::uint32_t part : parts)
      for (std::uint32_t member : test_classes_[part >> 1].members) f(member >> 1, (part ^ member) & 1);
  }
  std::size_t bytes() const { return columns_.size() * 8 + places_.size() * 4 + by_column_.bytes(); }

  void class_counts(const std::uint64_t* cover, std::int32_t* counts) const;
  std::int64_t count(const std::uint64_t* cover) const;
  // Examples of the cover for which the test holds.
  std::int64_t count(const std::uint64_t* cover, std::size_t test) const { return count_both(cover, column(test)); }
  // Examples in both covers.
  std::int64_t count_both(const std::uint64_t* a, const std::uint64_t* b) const;
  // Examples whose row is also that of more examples of another class: every tree gets them wrong, or those.
  const Cover& outvoted() const { return outvoted_; }

  // Largest number of examples; kept below what 32-bit pair counts and packed errors can hold.
  static constexpr std::int64_t kMaxTotal = (std::int64_t{1} << 29) - 1;

 private:
  void group_tests(Control* control);

  std::size_t n_tests_, n_classes_, n_words_ = 0;
  std::int64_t total_ = 0;
  std::vector<Section> sections_;
  std::vector<std::uint64_t> columns_;
  Cover all_, outvoted_;
  std::vector<TestClass> test_classes_;
  Columns by_column_;
  std::vector<std::uint32_t> places_;
};

std::uint64_t hash_words(const std::uint64_t* words, std::size_t n, std::uint64_t seed);

}  // namespace everytree
