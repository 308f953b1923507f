// Columns and multiway trees: what is refused, how rows are routed, and that rebuilding a tree keeps its meaning.
#include <cmath>
#include <limits>
#include <string>

#include "check.hpp"
#include "everytree/errors.hpp"
#include "everytree/grow/columns.hpp"
#include "everytree/grow/multiway.hpp"

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

int main() { return check::run(); }
