// What second tests add up to at closed states, kept by a fold for the questions that follow: with it a question sees
// each pair of tests once and not twice. (Predictions of 1,000 rows at 400 tests and depth 3: a quarter of their time.)
#pragma once

#include <cstddef>
#include <vector>

namespace everytree {

class SecondLevels {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 25;

  SecondLevels() = default;
  // For so many states, unless that could take more than `most` bytes: then nothing is kept.
  SecondLevels(std::size_t n_states, std::size_t n_closed, std::size_t n_tests, std::size_t most) {
    const std::size_t each = n_tests * 4 * sizeof(double) + sizeof(std::vector<double>);
    if (n_closed > most / each) return;
    kept_.resize(n_states);
    bytes_ = n_closed * each;
  }
  std::size_t bytes() const { return bytes_; }  // at most
  // split[0], split[1], tests[0], tests[1], n of each; different states from different threads.
  void keep(std::size_t state, const std::vector<double>* split, const std::vector<double>* tests, std::size_t n) {
    if (kept_.empty() || n == 0) return;
    std::vector<double>& to = kept_[state];
    to.reserve(4 * n);
    for (const auto* from : {split, tests})
      for (int a = 0; a < 2; ++a)
        to.insert(to.end(), from[a].begin(), from[a].begin() + static_cast<std::ptrdiff_t>(n));
  }
  const double* find(std::size_t state) const {
    return kept_.empty() || kept_[state].empty() ? nullptr : kept_[state].data();
  }

 private:
  std::vector<std::vector<double>> kept_;
  std::size_t bytes_ = 0;
};

}  // namespace everytree
