// Whether the depth limit of a graph leaves any tree out.
//
// beyond(cover, left): a path of left + 1 feasible tests starts here, one more than the limit lets through. Such a
// path ends beside left + 1 other leaves, so it needs (left + 2)·min_leaf examples. Where the answer is yes the first
// descent mostly finds it; where it is no, covers are small and the count alone ends most descents. Where states choose
// their tests, each of the path offers its own.
#include "graph/graph.hpp"

namespace everytree {

namespace {

class Descent {
 public:
  Descent(const Graph& graph, Control& control) : table_(graph.table()), control_(control) {
    min_leaf_ = graph.options().min_leaf;
    for (std::size_t k = 0; k < 3; ++k) offers_.emplace_back(table_, min_leaf_);
    for (Cover& cover : scratch_) cover.resize(table_.n_words());
  }

  bool beyond(const std::uint64_t* cover, std::int64_t total, std::size_t left) {
    if (total < static_cast<std::int64_t>(left + 2) * min_leaf_) return false;
    const std::size_t words = table_.n_words();
    for (const std::uint32_t k : offers_[left].of(cover)) {
      const TestClass& c = table_.test_classes()[k];
      if ((work_ += words) > (std::size_t{1} << 16)) {
        work_ = 0;
        control_.check(true, "looking below the depth limit", 0, 0);
      }
      const std::int64_t ones = table_.count(cover, c.test);
      if (ones < min_leaf_ || total - ones < min_leaf_) continue;
      if (left == 0) return true;
      const std::uint64_t* column = table_.column(c.test);
      Cover& child = scratch_[left];
      for (int side = 0; side < 2; ++side) {
        for (std::size_t w = 0; w < words; ++w) child[w] = cover[w] & (side == 1 ? column[w] : ~column[w]);
        if (beyond(child.data(), side == 1 ? ones : total - ones, left - 1)) return true;
      }
    }
    return false;
  }

 private:
  const CountTable& table_;
  Control& control_;
  std::int64_t min_leaf_;
  std::size_t work_ = 0;
  Cover scratch_[3];  // by levels left: closed states have at most two
  std::vector<Offers> offers_;
};

}  // namespace

bool Graph::limited(Control& control) const {
  if (options_.max_depth < 0) return false;
  Descent descent(*this, control);
  for (std::size_t id = 0; id < size(); ++id) {
    const State& s = state(id);
    const int left = options_.max_depth - s.depth;
    if (s.inner() || left > 2) continue;  // closed with more levels left: too few examples for the limit to matter
    if (descent.beyond(cover(id), s.total, static_cast<std::size_t>(left))) return true;
  }
  return false;
}

}  // namespace everytree
