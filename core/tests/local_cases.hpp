// Small spaces in which states choose their tests: kinds of columns × bins × min_leaf × depth × prior.
#pragma once

#include <cmath>
#include <iterator>
#include <set>

#include "common/control.hpp"
#include "graph/graph.hpp"
#include "naive_trees.hpp"

namespace local_cases {

using everytree::Key;

struct Case {
  naive::Table d;
  everytree::GraphOptions options;
  naive::Weights weights;
  bool linear;
  unsigned number;

  naive::Space space() const { return {&d, options.max_depth, options.min_leaf}; }
  std::shared_ptr<const everytree::Dirichlet> leaf() const {
    return std::make_shared<const everytree::Dirichlet>(weights.a, d.class_counts(d.all()));
  }
  // Every tree; none if there are more than `most`.
  std::vector<naive::Tree> trees(std::size_t most, const everytree::LeafCost& cost) const {
    if (naive::answers(space(), weights, cost).count > most) return {};
    return naive::every_tree(space(), weights, cost);
  }
};

// A new row: a number for each ordered column, where codes stand at whole numbers; NaN where it is missing. A nominal
// value that no row has is one too large.
struct NewRow {
  std::vector<double> x;
  std::vector<std::uint16_t> reach;

  template <class Random>
  NewRow(const naive::Table& d, Random& random) : reach(d.t, 65535) {
    for (const everytree::Column& c : d.columns) {
      const bool missing = c.missing != everytree::Column::kNone;
      if (missing && random() % 4 == 0) {
        x.push_back(std::nan(""));
        reach[c.missing] = 0;
        continue;
      }
      const std::uint32_t codes = c.n_codes();
      if (c.kind == everytree::Column::Kind::nominal) {
        const std::uint32_t code = random() % (codes + 1);
        x.push_back(code);
        if (code < codes) reach[c.begin + code] = 0;
        continue;
      }
      x.push_back(static_cast<double>(random() % (4 * codes + 4)) / 4 - 0.6);
      for (std::uint32_t lo = 0; lo + 1 < codes; ++lo) {
        std::set<double> cuts;
        for (std::uint32_t hi = lo + 1; hi < codes; ++hi) cuts.insert(naive::cut(c, lo, hi));
        const auto holds = cuts.lower_bound(x.back());  // the least cut that the number does not exceed
        if (holds == cuts.begin())
          reach[c.begin + lo] = 0;
        else if (holds != cuts.end())
          reach[c.begin + lo] = static_cast<std::uint16_t>(lo + 1 + std::distance(cuts.begin(), holds));
      }
    }
  }

  // Whether a test holds, offered by a state with these rows: a cut lies between two codes that it has.
  bool holds(const naive::Table& d, std::uint32_t test, const naive::Rows& offering) const {
    for (std::size_t k = 0; k < d.columns.size(); ++k) {
      const everytree::Column& c = d.columns[k];
      if (test == c.missing) return std::isnan(x[k]);
      if (test < c.begin || test >= c.end) continue;
      if (std::isnan(x[k])) return false;
      const std::uint32_t lo = test - c.begin;
      if (c.kind == everytree::Column::Kind::nominal) return x[k] == lo;
      std::uint32_t hi = c.n_codes();
      for (std::uint32_t r : offering)
        if (const std::uint32_t code = d.code(r, c); code > lo && d.total(r) > 0) hi = std::min(hi, code);
      return x[k] <= naive::cut(c, lo, hi);
    }
    return false;
  }

  // The rows of the leaf of a tree that it ends in, and their depth.
  std::pair<naive::Rows, std::size_t> leaf(const Case& c, const Key& key) const {
    naive::Rows cover = c.d.all(), above;
    std::size_t at = 0, depth = 0;
    for (; key[at] >= 0; ++depth) {
      const auto test = static_cast<std::uint32_t>(key[at++]);
      const bool from_above = depth > 0 && static_cast<int>(depth) + 1 == c.options.max_depth;
      const bool yes = holds(c.d, test, from_above ? above : cover);
      above = cover;
      cover = c.d.side(cover, test, yes);
      if (!yes) continue;
      for (int open = 1; open > 0; ++at) open += key[at] >= 0 ? 1 : -1;  // skip the subtree of outcome 0
    }
    return {cover, depth};
  }
};

template <class F>
void for_every_case(unsigned seed, naive::Range rows, naive::Range columns, F&& f) {
  std::mt19937 random(seed);
  unsigned k = 0;
  for (std::uint32_t bins : {2u, 3u, 4u, 0u})
    for (std::int64_t min_leaf = 1; min_leaf <= 3; ++min_leaf)
      for (int depth : {-1, 0, 1, 2, 3, 4})
        for (unsigned prior = 0; prior < naive::kPriors; ++prior, ++k) {
          const std::size_t classes = 1 + k % 3;
          Case c{naive::random_columns(random, rows, columns, classes, bins, {1, 4}), {}, {}, k % 3 != 0, k};
          if (c.d.total(c.d.all()) < min_leaf) continue;
          c.options = naive::some_options(k, depth, min_leaf);
          c.options.n_threads = 1 + k % 13 / 12;
          c.weights.prior = naive::some_prior(prior, c.d.t);
          if (c.weights.prior.fair && k % 2)  // a column is an attribute
            for (std::size_t j = 0; j < c.d.columns.size(); ++j)
              for (std::uint32_t t = c.d.columns[j].begin; t < c.d.t; ++t)
                c.weights.prior.attribute[t] = static_cast<std::int32_t>(j);
          c.weights.a = {std::vector<double>(classes, 0.7)};
          if (k % 7 == 0) c.weights.a.push_back(std::vector<double>(classes, 0.4));
          c.options.by_depth =
              depth >= 0 || c.weights.a.size() > 1 || naive::depends_on_depth(c.weights.prior) || k % 2;
          f(c);
        }
}

}  // namespace local_cases
