// The tests that a state offers: all of the table's, or, where the table has columns, those chosen from its cover.
//
//     ordered   the breaks of the equal-frequency rule with `bins` bins on the codes of the cover (weights count)
//     nominal   one test for each value of the cover; of two values one
//     missing   where it splits the cover
//
// So what is offered is a function of the cover alone and does not look at classes. Tests with fewer than min_leaf
// examples on a side are left out. A cut between the code `lower` and the `next` code of the cover is the test
// "code ≤ lower"; on rows of the table any code between the two would do, on new rows the cut lies midway, and its
// *upper* (table/columns.hpp) says where.
//
// Owns the buffers: one object per thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "table/count_table.hpp"

namespace everytree {

class Offers {
 public:
  Offers(const CountTable& table, std::int64_t min_leaf);

  // The classes of tests that a state with this cover offers, in order. Without columns: all, feasible or not.
  std::span<const std::uint32_t> of(const std::uint64_t* cover);
  // Whether there is one, where the table has columns: mostly the column that said so of the last cover says it again.
  bool any(const std::uint64_t* cover);
  // The upper of each of them, after of(): see above; 0 for tests that are no cuts.
  std::span<const std::uint32_t> upper() const { return upper_; }

 private:
  void count(const std::uint64_t* cover);
  void count_column(const std::uint64_t* cover, std::size_t k);
  void of_column(std::size_t k);
  void ordered(std::size_t k);
  void nominal(const Column& column);
  void offer(std::uint32_t test, std::int64_t holds, std::uint32_t upper);

  const CountTable* table_;
  const Kernels* kernels_;
  std::int64_t min_leaf_, total_ = 0;
  std::vector<std::uint32_t> offered_, upper_;
  // Examples by place. Then of one column: its codes in the cover, in order, and how many examples have them or a
  // smaller one.
  std::vector<std::int32_t> examples_;
  std::size_t n_present_ = 0, last_ = 0;
  std::vector<std::uint32_t> codes_;
  std::vector<std::int64_t> filled_;
  std::vector<std::int32_t> sums_;  // of the codes of a column, by blocks
  std::vector<std::uint64_t> present_;
  std::vector<std::uint32_t> breaks_;
};

// The equal-frequency rule (everytree.data.cuts says the law): breaks after the places of `filled`, the cumulative
// numbers of examples of the values in order, for at most `bins` bins; bins = 0: all of them.
void equal_frequency_breaks(std::span<const std::int64_t> filled, std::uint32_t bins,
                            std::vector<std::uint32_t>& breaks);

}  // namespace everytree
