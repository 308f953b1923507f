#include "sets/likeliest.hpp"

namespace everytree {

Key map_tree(const Posterior& p, Control& control) {
  const ProductScores scores(p.weights());
  return TreeFinder::of<MaxProduct>(p.graph(), scores, p.likeliest(control), control).best_tree();
}

std::vector<Ranked> top_trees(const Posterior& p, std::size_t k, Control& control) {
  const ProductScores scores(p.weights());
  auto trees = TreeFinder::of<MaxProduct>(p.graph(), scores, p.likeliest(control), control).first(k);
  for (Ranked& tree : trees) tree.score = -tree.score;
  return trees;
}

}  // namespace everytree
