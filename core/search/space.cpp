#include "search/space.hpp"

#include <span>
#include <string>
#include <utility>

#include "common/errors.hpp"
#include "table/node_offers.hpp"

namespace everytree {

namespace {

class Namer {
 public:
  Namer(const CountTable& table, int max_depth, std::int64_t min_leaf, const Key& key)
      : table_(table), offers_(table, max_depth, min_leaf), key_(key), words_(table.n_words()) {}

  void write(const Cover& cover, std::size_t depth, const std::uint64_t* above, std::size_t at, Key& out) {
    if (key_[at] < 0) {
      out.push_back(-1);
      return;
    }
    const auto [test, flipped] =
        name(cover, offers_.of(cover.data(), depth, above), static_cast<std::uint32_t>(key_[at]));
    out.push_back(static_cast<std::int32_t>(test));
    const std::size_t begin[2] = {at + 1, end_of(at + 1)};
    const std::uint64_t* column = table_.column(test);
    Cover side(words_);
    for (int a = 0; a < 2; ++a) {
      for (std::size_t w = 0; w < words_; ++w) side[w] = cover[w] & (a == 1 ? column[w] : ~column[w]);
      write(side, depth + 1, cover.data(), begin[flipped ? 1 - a : a], out);
    }
  }

 private:
  // The offered test that parts the cover as `test` does, and whether its outcomes are exchanged.
  std::pair<std::uint32_t, bool> name(const Cover& cover, std::span<const std::uint32_t> offered,
                                      std::uint32_t test) const {
    for (const std::uint32_t k : offered)
      if (table_.test_classes()[k].test == test) return {test, false};
    const std::uint64_t* column = table_.column(test);
    for (const std::uint32_t k : offered) {
      const std::uint64_t* other = table_.column(table_.test_classes()[k].test);
      bool same = true, opposite = true;
      for (std::size_t w = 0; w < words_ && (same || opposite); ++w) {
        same = same && ((column[w] ^ other[w]) & cover[w]) == 0;
        opposite = opposite && (~(column[w] ^ other[w]) & cover[w]) == 0;
      }
      if (same || opposite) return {table_.test_classes()[k].test, opposite};
    }
    throw InvalidInput("test " + std::to_string(test) + " parts a state as none of the tests that it offers");
  }

  std::size_t end_of(std::size_t at) const {
    for (std::size_t open = 1; open > 0; ++at) open = key_[at] < 0 ? open - 1 : open + 1;
    return at;
  }

  const CountTable& table_;
  NodeOffers offers_;
  const Key& key_;
  std::size_t words_;
};

}  // namespace

Key offered_key(const CountTable& table, int max_depth, std::int64_t min_leaf, const Cover& cover, std::size_t depth,
                const Key& key) {
  Key out;
  Namer(table, max_depth, min_leaf, key).write(cover, depth, nullptr, 0, out);
  return out;
}

}  // namespace everytree
