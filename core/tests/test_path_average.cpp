#include "grow/path_average.hpp"

#include "check.hpp"

using namespace everytree;
using namespace everytree::grow;

namespace {

Columns columns_of(std::vector<std::vector<std::int32_t>> codes, std::int32_t n_values,
                   std::vector<std::int32_t> classes, std::int32_t n_classes, std::vector<std::int64_t> weights = {}) {
  Columns columns(classes.size());
  for (auto& column : codes) columns.add_nominal(std::move(column), n_values);
  columns.set_classes(std::move(classes), n_classes, std::move(weights));
  return columns;
}

}  // namespace

// S = 2, C = 2, a = (1, 1). Root (2, 2): M = 2! 2! / 5! = 1/30. Split: (2, 0), (0, 2), M = 1/3 each. B = 10/3.
TEST(one_split_by_hand) {
  Control control;
  const auto grown = grow_path_average(columns_of({{0, 0, 1, 1}}, 3, {0, 0, 1, 1}, 2), 2, Spread::uniform, control);
  CHECK(grown.tree.n_nodes() == 4);
  CHECK(grown.tree.attribute[0] == 0 && grown.tree.n_children[0] == 3);
  CHECK(check::near(grown.log_leaf[0], -std::log(30.0)));
  CHECK(check::near(grown.log_b[0], std::log(10.0 / 3)));
  CHECK(check::near(grown.log_leaf[1], -std::log(3.0)));
  CHECK(grown.log_leaf[3] == 0 && grown.tree.total(3) == 0);  // a declared value without examples has a branch
}

TEST(weights_are_repetitions) {
  Control control;
  const auto one =
      grow_path_average(columns_of({{0, 1, 1}, {1, 0, 1}}, 2, {0, 1, 0}, 3, {5, 4, 1}), 1, Spread::own, control);
  const auto other = grow_path_average(columns_of({{1, 0, 0, 0, 1, 1, 1, 0, 0, 1}, {0, 1, 1, 1, 0, 0, 0, 1, 1, 1}}, 2,
                                                  {1, 0, 0, 0, 1, 1, 1, 0, 0, 0}, 3),
                                       1, Spread::own, control);
  CHECK(one.tree.attribute == other.tree.attribute);
  CHECK(one.tree.counts_ == other.tree.counts_);
  CHECK(one.log_b == other.log_b);
  CHECK(one.tree.n_nodes() > 1);
}

TEST(ties_go_to_the_lowest_attribute_and_to_the_leaf) {
  Control control;
  const auto same = grow_path_average(
      columns_of({{0, 0, 0, 0, 0, 0}, {2, 2, 0, 0, 1, 1}, {0, 0, 1, 1, 2, 2}}, 3, {0, 0, 1, 1, 2, 2}, 3), 1,
      Spread::uniform, control);
  CHECK(same.tree.attribute[0] == 1);
  const auto constant = grow_path_average(columns_of({{1, 1, 1}}, 2, {0, 1, 1}, 2), 1, Spread::uniform, control);
  CHECK(constant.tree.n_nodes() == 1);
}

TEST(limits_and_bad_input) {
  Control control;
  control.memory_limit = 10;
  bool reached = false, refused = false;
  try {
    grow_path_average(columns_of({{0, 0, 1, 1}}, 2, {0, 0, 1, 1}, 2), 2, Spread::uniform, control);
  } catch (const LimitReached& e) {
    reached = e.reason == LimitReached::Reason::memory;
  }
  try {
    grow_path_average(columns_of({{0}}, 1, {0}, 1), 0, Spread::uniform, control);
  } catch (const InvalidInput&) {
    refused = true;
  }
  CHECK(reached && refused);
}

int main() { return check::run(); }
