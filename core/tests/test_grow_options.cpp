#include "grow/grow_options.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "check.hpp"
#include "common/stream.hpp"
#include "grow_twin.hpp"

using namespace everytree;
using namespace everytree::grow;
using grow_twin::Data;
using grow_twin::kNaN;

namespace {

// Few values, so that there are ties; some of them missing.
Data made_up(std::uint64_t seed, std::size_t n_rows, std::int32_t n_classes) {
  Stream stream(seed, 0);
  Data data;
  data.n_classes = n_classes;
  data.numeric.resize(2);
  data.nominal.resize(2);
  data.n_values = {3, 40};  // the second has more cells than rows
  for (std::size_t row = 0; row < n_rows; ++row) {
    for (auto& column : data.numeric)
      column.push_back(stream.below(8) == 0 ? kNaN : static_cast<double>(stream.below(6)) / 4);
    for (std::size_t j = 0; j < 2; ++j)
      data.nominal[j].push_back(
          static_cast<std::int32_t>(stream.below(static_cast<std::size_t>(data.n_values[j]) + 1)) - 1);
    const bool high = data.numeric[0].back() > 0.5;
    data.classes.push_back(stream.below(4) == 0 ? static_cast<std::int32_t>(stream.below(n_classes)) : high);
    data.weights.push_back(1 + static_cast<std::int64_t>(stream.below(3)));
  }
  return data;
}

Grown grown_on(const Data& data, const GrowSettings& settings, bool per_test = true) {
  Columns columns = data.columns();
  Prior prior;
  prior.per_test = per_test;
  Control control;
  const auto c = static_cast<std::size_t>(data.n_classes);
  return grow_options(columns, settings, prior, {std::vector<double>(c, 1.0 / static_cast<double>(c))}, control);
}

bool same(const OptionGraph& x, const OptionGraph& y, bool exactly = true) {
  if (x.n_nodes() != y.n_nodes() || x.n_options() != y.n_options()) return false;
  for (std::size_t k = 0; k < x.n_options(); ++k) {
    const bool nan = std::isnan(x.threshold(k)) && std::isnan(y.threshold(k));
    if (x.attribute(k) != y.attribute(k) || !(nan || x.threshold(k) == y.threshold(k))) return false;
    if (exactly ? x.log_split(k) != y.log_split(k) : !check::near(x.log_split(k), y.log_split(k))) return false;
    if (!std::equal(x.children(k), x.children(k) + x.n_children(k), y.children(k))) return false;
  }
  for (std::size_t node = 0; node < x.n_nodes(); ++node)
    if (x.open(node) != y.open(node) || x.total(node) != y.total(node)) return false;
  return true;
}

}  // namespace

// a = 1/2 each. Root (2, 2); the cut at 1.5 has M(2, 0)² = (3/8)², those at 0.5 and 2.5 M(1, 0)·M(1, 2) = 1/2 · 1/16.
TEST(one_cut_by_hand) {
  Data data;
  data.numeric = {{0, 1, 2, 3}};
  data.classes = {0, 0, 1, 1};
  GrowSettings settings;
  settings.max_depth = 1;
  const Grown grown = grown_on(data, settings);
  CHECK(grown.graph.n_nodes() == 3 && grown.graph.n_options() == 1);
  CHECK(grown.graph.threshold(0) == 1.5);
  const double best = 9.0 / 64, other = 1.0 / 32;
  CHECK(check::near(grown.graph.log_split(0), std::log((best + 2 * other) / 3 / best)));
  CHECK(grown.graph.open(0) && !grown.graph.open(1));
}

TEST(missing_values_are_a_branch_and_known_or_missing_is_a_test) {
  Data data;
  data.numeric = {{1, 1, 1, kNaN, kNaN, kNaN}};
  data.classes = {0, 0, 0, 1, 1, 1};
  const Grown grown = grown_on(data, {});
  CHECK(grown.graph.n_options() == 1 && std::isinf(grown.graph.threshold(0)));
  CHECK(grown.graph.children(0)[1] == kNoChild && grown.graph.children(0)[2] != kNoChild);
}

TEST(rows_in_any_order_and_weights_as_repetitions) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Data data = made_up(seed, 60, 3);
    Data repeated = data, turned = data;
    repeated.weights.clear();
    for (std::size_t row = 0; row < 60; ++row)
      for (std::int64_t k = 1; k < data.weights[row]; ++k) {
        for (auto& column : repeated.numeric) column.push_back(column[row]);
        for (auto& column : repeated.nominal) column.push_back(column[row]);
        repeated.classes.push_back(data.classes[row]);
      }
    for (auto& column : turned.numeric) std::reverse(column.begin(), column.end());
    for (auto& column : turned.nominal) std::reverse(column.begin(), column.end());
    std::reverse(turned.classes.begin(), turned.classes.end());
    std::reverse(turned.weights.begin(), turned.weights.end());
    for (const double option_factor : {1.0, 0.01})
      for (const std::size_t lookahead : {1, 2})
        for (const bool binary : {false, true}) {
          GrowSettings settings;
          settings.option_factor = option_factor;
          settings.lookahead = lookahead;
          settings.binary_nominal = binary;
          settings.min_leaf = 1 + static_cast<std::int64_t>(seed % 3);
          settings.stop_factor = 0.1;
          settings.max_depth = 3;
          settings.max_options = 3;
          const Grown one = grown_on(data, settings);
          CHECK(one.graph.n_options() > 0);
          CHECK(same(one.graph, grown_on(turned, settings).graph));
          if (option_factor == 1) CHECK(same(one.graph, grown_on(repeated, settings).graph));
          settings.max_nodes = 25;  // which node comes first does not depend on how examples are written down
          CHECK(same(grown_on(data, settings).graph, grown_on(repeated, settings).graph));
        }
  }
}

// Columns with far more values than rows, and cells beyond 2^32: as if values that do not occur were not declared.
TEST(many_values_and_classes) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Stream stream(seed, 1);
    Data few, many;
    few.n_classes = many.n_classes = 60000;
    few.nominal.resize(1);
    many.nominal.resize(1);
    for (std::size_t row = 0; row < 50; ++row) {
      const auto value = static_cast<std::int32_t>(stream.below(6)) - 1;
      few.nominal[0].push_back(value);
      many.nominal[0].push_back(value < 0 ? value : 1000000 + value);  // × 60,000 classes: wraps around in 32 bits
      const auto c =
          static_cast<std::int32_t>(stream.below(3) == 0 ? stream.below(3) : static_cast<std::size_t>(value + 1));
      few.classes.push_back(59000 + c);
      few.weights.push_back(1 + static_cast<std::int64_t>(stream.below(3)));
    }
    many.classes = few.classes;
    many.weights = few.weights;
    few.n_values = {5};
    many.n_values = {1000005};
    for (const bool binary : {false, true})
      for (const std::int64_t min_leaf : {1, 8}) {
        GrowSettings settings;
        settings.binary_nominal = binary;
        settings.min_leaf = min_leaf;
        settings.stop_factor = 0;
        settings.max_depth = 2;
        const OptionGraph x = grown_on(few, settings).graph, y = grown_on(many, settings).graph;
        CHECK(x.n_options() > 0 && x.n_nodes() == y.n_nodes() && x.n_options() == y.n_options());
        for (std::size_t k = 0; k < x.n_options(); ++k) {
          CHECK(x.log_split(k) == y.log_split(k));
          CHECK(binary ? x.threshold(k) + 1000000 == y.threshold(k) : std::isnan(y.threshold(k)));
        }
        for (std::size_t node = 0; node < x.n_nodes(); ++node)
          CHECK(x.open(node) == y.open(node) && x.total(node) == y.total(node));
      }
  }
}

// One option per node: best first with merging, and depth first in place, are the same tree.
TEST(two_ways_to_one_tree) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Data data = made_up(seed, 80, 2);
    GrowSettings settings;
    settings.stop_factor = 0.01;
    const Grown deep = grown_on(data, settings);
    settings.max_nodes = 100000;
    const Grown best = grown_on(data, settings);
    CHECK(deep.graph.n_nodes() > 3);
    CHECK(deep.graph.n_nodes() == best.graph.n_nodes() + best.report.n_merged);
    settings.max_nodes = 7;
    const Grown small = grown_on(data, settings);
    CHECK(small.graph.n_nodes() <= 7 && small.report.budget_reached);
  }
}

TEST(subsamples_with_an_infinite_lead_are_all_examples) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Data data = made_up(seed, 200, 3);
    GrowSettings settings;
    settings.min_leaf = 1 + static_cast<std::int64_t>(seed % 2) * 4;
    const Grown all = grown_on(data, settings);
    settings.subsample_lead = std::numeric_limits<double>::infinity();
    settings.subsample_first = 16;
    CHECK(same(all.graph, grown_on(data, settings).graph, false));
    settings.subsample_lead = 10;
    const Grown some = grown_on(data, settings);
    CHECK(some.report.cells_seen > 0);
  }
}

TEST(restructuring_without_news_changes_nothing) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Data data = made_up(seed, 100, 2);
    GrowSettings settings;
    settings.stop_factor = 0.5;
    const Grown grown = grown_on(data, settings);
    Columns columns = data.columns();
    Prior prior;
    prior.per_test = true;
    Control control;
    const Grown again = restructure(columns, grown.graph, 1, settings, prior, {{0.5, 0.5}}, control);
    CHECK(same(grown.graph, again.graph));
    CHECK(again.report.n_kept == grown.graph.n_options() && again.report.n_regrown == 0);
  }
}

TEST(only_trees_that_fit_are_restructured) {
  const Data data = made_up(3, 60, 2);
  const auto message = [&](const OptionGraph& old) {
    Columns columns = data.columns();
    Control control;
    try {
      restructure(columns, old, 1, {}, {}, {{1, 1}}, control);
    } catch (const InvalidInput& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  GrowSettings settings;
  settings.option_factor = 0;
  settings.max_depth = 1;
  CHECK(message(grown_on(data, settings).graph).find("several options") != std::string::npos);
  Data other = data;  // numeric where the tree has a nominal test, and the other way round
  other.numeric.clear();
  other.nominal = {data.nominal[0], data.nominal[0], data.nominal[0]};
  other.n_values = {3, 3, 3};
  settings.option_factor = 1;
  settings.stop_factor = 0;
  const OptionGraph nominal = grown_on(other, settings).graph;
  CHECK(nominal.n_options() == 1 && message(nominal).find("does not fit column 0") != std::string::npos);
}

TEST(every_other_way_to_grow_gives_a_sound_graph) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Data data = made_up(seed, 120, 3);
    for (int way = 0; way < 4; ++way) {
      GrowSettings settings;
      settings.seed = seed;
      if (way == 0) settings.random = true;
      if (way == 1) settings.score = GrowScore::gain_ratio;
      if (way == 2) settings.score = GrowScore::bayes;
      if (way == 3) {
        settings.each_cut = true;
        settings.option_factor = 0;
        settings.split_pure = true;
        settings.stop_factor = 0;
        settings.max_depth = 2;
      }
      const Grown grown = grown_on(data, settings);
      CHECK(grown.graph.n_options() > 0);
      grown.graph.check(data.columns());
    }
  }
}

TEST(limits_and_bad_input) {
  const Data data = made_up(1, 50, 2);
  const auto message = [&](GrowSettings settings, std::size_t memory) {
    Columns columns = data.columns();
    Control control;
    control.memory_limit = memory;
    try {
      grow_options(columns, settings, {}, {{1, 1}}, control);
    } catch (const LimitReached&) {
      return std::string("limit");
    } catch (const InvalidInput& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  GrowSettings settings;
  CHECK(message(settings, 100) == "limit");
  for (const std::size_t plies : {std::size_t{0}, std::size_t{1000000000}}) {
    settings.lookahead = plies;
    CHECK(message(settings, 1 << 30).find("lookahead") != std::string::npos);
  }
  settings = {};
  settings.max_depth = -2;
  CHECK(message(settings, 1 << 30).find("max_depth") != std::string::npos);
  settings = {};
  settings.score = GrowScore::gain_ratio;
  settings.random = true;
  CHECK(message(settings, 1 << 30).find("gain_ratio") != std::string::npos);
  settings = {};
  settings.stop_factor = kNaN;
  CHECK(message(settings, 1 << 30).find("stop_factor") != std::string::npos);
  settings = {};
  settings.lookahead = 2;
  settings.score = GrowScore::bayes;
  CHECK(message(settings, 1 << 30).find("quality") != std::string::npos);
}

int main() { return check::run(); }
