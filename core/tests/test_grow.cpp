// Columns, multiway trees and C4.5: what is refused, how rows are routed, and that counts and trees keep their meaning.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "common/errors.hpp"
#include "common/stretched.hpp"
#include "grow/c45.hpp"
#include "grow/columns.hpp"
#include "grow/multiway.hpp"

using namespace everytree;
using grow::Columns;
using grow::kMissing;
using grow::kUnseen;
using grow::MultiwayTree;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class F>
bool refused(F f) {
  try {
    f();
  } catch (const InvalidInput&) {
    return true;
  }
  return false;
}

Columns sample() {
  Columns data(5);
  data.add_nominal({0, 1, 2, kMissing, kUnseen}, 3);
  data.add_numeric({2.5, kNaN, -1, 2.5, 7});
  return data;
}

// Root on the nominal column; value 1 is split by the numeric one, value 2 by equality with 2.
MultiwayTree sample_tree() {
  MultiwayTree tree(2);
  tree.add_root();
  const std::size_t first = tree.split(0, 0, kNaN, 3);
  tree.split(first + 1, 1, 2.5, 2);
  tree.split(first + 2, 0, 2, 2);
  return tree;
}

}  // namespace

TEST(columns_are_sorted_once_and_ranked) {
  Columns data = sample();
  data.sort();
  data.sort();
  CHECK((data[1].order == std::vector<std::uint32_t>{2, 0, 3, 4}));
  CHECK((data[1].ranks == std::vector<std::uint32_t>{1, 0, 0, 1, 2}));
  CHECK(data[0].order.empty());
  CHECK(data.any_missing());
}

TEST(bad_columns_are_refused) {
  Columns data(2);
  CHECK(refused([&] { data.add_nominal({0, 3}, 3); }));
  CHECK(refused([&] { data.add_nominal({0, -3}, 3); }));
  CHECK(refused([&] { data.add_nominal({0}, 3); }));
  CHECK(refused([&] { data.add_numeric({0, std::numeric_limits<double>::infinity()}); }));
  CHECK(refused([&] { data.set_classes({0, 2}, 2, {}); }));
  CHECK(refused([&] { data.set_classes({0, 1}, 2, {1, 0}); }));
  CHECK(refused([&] { data.set_classes({0, 1}, 2, {std::int64_t{1} << 53, 1}); }));
  CHECK(data.n_columns() == 0);
  data.set_classes({0, 1}, 2, {});
  CHECK(data.total() == 2);
}

TEST(rows_stop_where_no_branch_fits) {
  const Columns data = sample();
  const MultiwayTree tree = sample_tree();
  tree.check(data);
  CHECK(tree.reach(data, 0) == 1);  // value 0: a leaf
  CHECK(tree.reach(data, 1) == 2);  // value 1, then a missing number
  CHECK(tree.reach(data, 2) == 6);  // value 2, equal to 2
  CHECK(tree.reach(data, 3) == 0);  // missing
  CHECK(tree.reach(data, 4) == 0);  // unseen
}

TEST(compacting_keeps_the_tree) {
  const Columns data = sample();
  MultiwayTree tree = sample_tree();
  tree.counts(6)[1] = 4;
  tree.make_leaf(2);
  tree.replace(0, 3);
  tree.compact();
  tree.check(data);
  CHECK(tree.n_nodes() == 3);
  CHECK(tree.attribute[0] == 0 && tree.threshold[0] == 2);
  CHECK(tree.counts(1)[1] == 4);
  CHECK(tree.reach(data, 0) == 2 && tree.reach(data, 2) == 1);
}

TEST(compacting_moves_the_counts_with_their_nodes) {
  // Deeper and deeper, every second time on the first side, with what was cut off in between.
  MultiwayTree tree(3);
  tree.add_root();
  std::vector<std::size_t> open(1, 0);
  for (std::size_t k = 0; k < 40; ++k) {
    const std::size_t node = open[k % 3 == 0 ? 0 : open.size() - 1];
    open.erase(std::find(open.begin(), open.end(), node));
    const std::size_t first = tree.split(node, 0, kNaN, 3);
    for (std::size_t i = 0; i < 3; ++i) open.push_back(first + i);
  }
  for (std::size_t node = 0; node < tree.n_nodes(); ++node)
    for (std::size_t c = 0; c < 3; ++c) tree.counts(node)[c] = static_cast<double>(10 * node + c);
  tree.make_leaf(tree.first_child[0] + 1);
  const MultiwayTree before = tree;
  tree.compact();
  CHECK(tree.n_nodes() < before.n_nodes());
  std::vector<std::pair<std::size_t, std::size_t>> both(1, {0, 0});
  for (std::size_t k = 0; k < both.size(); ++k) {
    const auto [was, is] = both[k];
    CHECK(std::equal(before.counts(was), before.counts(was) + 3, tree.counts(is)));
    CHECK(before.n_children[was] == tree.n_children[is]);
    for (std::size_t i = 0; i < tree.n_children[is]; ++i)
      both.emplace_back(before.first_child[was] + i, tree.first_child[is] + i);
  }
  CHECK(both.size() == tree.n_nodes());
}

TEST(a_stretched_block_keeps_its_numbers) {
  Stretched block;
  block.shrink();
  CHECK(block.size() == 0);
  const std::size_t large = (std::size_t{1} << 22) + 5;  // beyond the first block
  block.resize(3);
  block[1] = 7;
  block.resize(large);
  CHECK(block[1] == 7 && block[large - 1] == 0);
  block[large - 1] = 8;
  const Stretched copy = block;
  block.resize(4);
  block.shrink();
  CHECK(block.size() == 4 && block[1] == 7 && block[3] == 0);
  block.resize(5);
  CHECK(block[1] == 7 && block[4] == 0);
  CHECK(copy.size() == large && copy[1] == 7 && copy[large - 1] == 8);
}

TEST(trees_that_do_not_fit_are_refused) {
  const Columns data = sample();
  MultiwayTree tree = sample_tree();
  tree.first_child[1] = 0;
  tree.n_children[1] = 1;
  CHECK(refused([&] { tree.check(data); }));
  tree = sample_tree();
  tree.first_child[2] = 1;  // a cycle
  CHECK(refused([&] { tree.check(data); }));
  tree = sample_tree();
  tree.attribute[0] = 2;
  CHECK(refused([&] { tree.check(data); }));
  tree = sample_tree();
  tree.threshold[2] = kNaN;
  CHECK(refused([&] { tree.check(data); }));
}

// The class is whether the number is above 3; the nominal column only misleads.
TEST(c45_finds_the_tree_and_shares_missing_values_out) {
  Columns data(12);
  data.add_numeric({1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  data.add_nominal({0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, kMissing}, 3);
  data.set_classes({0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}, 2, {});
  grow::C45Options options;
  options.z = 0.6744897501960817;
  Control control;
  const MultiwayTree tree = grow::grow_c45(data, options, control);
  CHECK(tree.n_nodes() == 3 && tree.attribute[0] == 0 && tree.threshold[0] == 3);
  CHECK(tree.total(0) == 12 && tree.counts(1)[0] == 6 && tree.counts(2)[1] == 6);

  Columns rows(3);
  rows.add_numeric({0, 9, kNaN});
  rows.add_nominal({0, kUnseen, kMissing}, 3);
  std::vector<double> proba(6);
  grow::predict_c45(tree, rows, false, proba.data(), control);
  CHECK((proba == std::vector<double>{1, 0, 0, 1, 0.5, 0.5}));
  grow::predict_c45(tree, rows, true, proba.data(), control);
  CHECK(check::near(proba[0], 7.0 / 8) && check::near(proba[4], 0.5));
}

TEST(c45_of_random_columns_keeps_its_counts) {
  std::uint64_t state = 7;
  const auto random = [&state](std::uint64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int32_t>((state >> 33) % n);
  };
  for (int round = 0; round < 60; ++round) {
    const std::size_t n = 1 + static_cast<std::size_t>(random(200));
    Columns data(n);
    std::vector<double> x(n);
    std::vector<std::int32_t> v(n), y(n);
    std::vector<std::int64_t> w(n);
    for (std::size_t r = 0; r < n; ++r) {
      x[r] = random(5) == 0 ? kNaN : random(20);
      v[r] = random(6) == 0 ? kMissing : random(4);
      y[r] = random(4) == 0 ? random(3) : (x[r] > 9) + (v[r] == 2);
      w[r] = 1 + random(3);
    }
    data.add_numeric(x);
    data.add_nominal(v, 5);
    data.set_classes(y, 3, w);
    for (int bits = 0; bits < 16; ++bits) {
      grow::C45Options options;
      options.z = 0.6744897501960817;
      options.binary_splits = bits & 1;
      options.collapse = bits & 2;
      options.prune = bits & 4;
      options.subtree_raising = bits & 8;
      Control control;
      const MultiwayTree tree = grow::grow_c45(data, options, control);
      tree.check(data);
      CHECK(check::near(tree.total(0), static_cast<double>(data.total())));
      for (std::size_t node = 0; node < tree.n_nodes(); ++node) {
        double below = 0;
        for (std::size_t k = 0; k < tree.n_children[node]; ++k) below += tree.total(tree.first_child[node] + k);
        // shares below one in a million are dropped
        CHECK(tree.is_leaf(node) || check::near(below, tree.total(node), 1e-4));
      }
      std::vector<double> proba(n * 3);
      grow::predict_c45(tree, data, bits & 1, proba.data(), control);
      for (std::size_t r = 0; r < n; ++r)
        CHECK(check::near(proba[r * 3] + proba[r * 3 + 1] + proba[r * 3 + 2], 1, 1e-9));
    }
  }
}

TEST(c45_stops_at_limits) {
  Columns data(4);
  data.add_numeric({1, 2, 3, 4});
  data.set_classes({0, 0, 1, 1}, 2, {});
  for (const bool time : {true, false}) {
    Control control;
    if (time) control.time_limit = 0;
    if (!time) control.memory_limit = 10;
    bool reached = false;
    try {
      grow::grow_c45(data, {}, control);
    } catch (const LimitReached& limit) {
      reached = limit.reason == (time ? LimitReached::Reason::time : LimitReached::Reason::memory);
    }
    CHECK(reached);
  }
}

int main() { return check::run(); }
