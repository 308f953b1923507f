// One law test for every algebra (algebra/concept.hpp).
#include <deque>
#include <limits>
#include <memory>
#include <random>

#include "algebra/by_depth.hpp"
#include "algebra/by_leaves.hpp"
#include "algebra/count.hpp"
#include "algebra/expectation.hpp"
#include "algebra/lexicographic.hpp"
#include "algebra/max_product.hpp"
#include "algebra/min_plus.hpp"
#include "algebra/product.hpp"
#include "algebra/prune.hpp"
#include "algebra/sum_product.hpp"
#include "algebra/tie.hpp"
#include "check.hpp"
#include "fold/weigh.hpp"
#include "search/probable.hpp"
#include "search/search.hpp"
#include "sets/best.hpp"
#include "sets/pareto_algebra.hpp"

using namespace everytree;

namespace {

bool same(double a, double b) { return check::near(a, b, 1e-12); }
bool same(const Wide& a, const Wide& b) {
  if (a.is_zero() || b.is_zero()) return a.is_zero() && b.is_zero();
  return std::abs(a.log() - b.log()) < 1e-11 * std::max(1.0, std::abs(a.log()));
}
bool same(const MaxProduct::Value& a, const MaxProduct::Value& b) {
  return same(a.weight, b.weight) && same(a.leaves, b.leaves);
}
bool same(const Natural& a, const Natural& b) { return a == b; }
bool same(const Lexicographic::Value& a, const Lexicographic::Value& b) {
  return same(a.cost, b.cost) && same(a.leaves, b.leaves);
}
bool same(const Expectation::Value& a, const Expectation::Value& b) { return same(a.p, b.p) && same(a.r, b.r); }
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t k = 0; k < a.size(); ++k)
    if (!same(a[k], b[k])) return false;
  return true;
}

// Two lists agree in what the query ranks, bounds and requires.
bool same(const ParetoTrees::Value& a, const ParetoTrees::Value& b) {
  const auto judged = [](const ParetoTrees::Value& x) {
    std::vector<std::vector<double>> out;
    for (std::size_t k = 0; k < x.trees.size(); ++k) {
      const double* values = x.trees.values(k, x.rule->width);
      out.push_back({static_cast<double>(x.trees.used(k))});
      for (std::size_t c : x.rule->query.rank) out.back().push_back(values[c]);
      for (const auto& [c, bound] : x.rule->query.bounds) out.back().push_back(values[c]);
    }
    std::sort(out.begin(), out.end());
    return out;
  };
  return judged(a) == judged(b);
}

// The query of the weights that are drawn next.
std::unique_ptr<ParetoTrees::Rule> pareto_rule;
ParetoTrees::Desk pareto_desk;
std::deque<std::vector<double>> pareto_values;

template <class W>
W random_weight(std::mt19937& r);
template <>
double random_weight<double>(std::mt19937& r) {
  return static_cast<double>(r() % 20);
}
template <>
Wide random_weight<Wide>(std::mt19937& r) {
  return Wide::from_log(-static_cast<double>(r() % 1000000) / 100.0);  // down to e^-10000
}
template <>
Natural random_weight<Natural>(std::mt19937& r) {
  return Natural(std::uint64_t{r()} << 31 | r());
}

template <>
ParetoTrees::Weight random_weight<ParetoTrees::Weight>(std::mt19937& r) {
  static const ParetoTrees::Variant variants[] = {{0, false, 1}, {1, true, 2}, {2, false, 0}};
  pareto_values.push_back({static_cast<double>(r() % 8), static_cast<double>(r() % 5), 1, 0});
  const std::size_t from = r() % 3;
  return {pareto_rule.get(), &pareto_desk, 0, pareto_values.back().data(), {variants + from, 1 + r() % (3 - from)}, 0};
}

template <class A>
typename A::Value random_value(std::mt19937& r, int depth) {
  using W = typename A::Weight;
  if (depth == 0 || r() % 4 == 0)
    return r() % 5 == 0 ? A::zero() : r() % 2 ? A::leaf(random_weight<W>(r)) : A::cherry(random_weight<W>(r));
  auto x = A::join(random_weight<W>(r), random_value<A>(r, depth - 1), random_value<A>(r, depth - 1));
  A::add(x, random_value<A>(r, depth - 1));
  return x;
}

template <class A>
typename A::Value sum(typename A::Value x, const typename A::Value& y) {
  A::add(x, y);
  return x;
}

template <class A>
void check_laws(unsigned seed, int depth = 3, int rounds = 300) {
  std::mt19937 r(seed);
  for (int round = 0; round < rounds; ++round) {
    const auto x = random_value<A>(r, depth), y = random_value<A>(r, depth), z = random_value<A>(r, depth);
    const auto w = random_weight<typename A::Weight>(r);
    CHECK(same(sum<A>(x, y), sum<A>(y, x)));
    CHECK(same(sum<A>(sum<A>(x, y), z), sum<A>(x, sum<A>(y, z))));
    CHECK(same(sum<A>(x, A::zero()), x));
    CHECK(same(sum<A>(A::zero(), x), x));
    CHECK(same(A::join(w, sum<A>(x, y), z), sum<A>(A::join(w, x, z), A::join(w, y, z))));
    CHECK(same(A::join(w, z, sum<A>(x, y)), sum<A>(A::join(w, z, x), A::join(w, z, y))));
    CHECK(same(A::join(w, A::zero(), x), A::zero()));
    CHECK(same(A::join(w, x, A::zero()), A::zero()));
    auto in_place = y;
    add_join<A>(in_place, w, x, z);
    CHECK(same(in_place, sum<A>(y, A::join(w, x, z))));
    if constexpr (A::kIdempotent) CHECK(same(sum<A>(x, x), x));
    if constexpr (A::kSelective) CHECK(same(sum<A>(x, y), x) || same(sum<A>(x, y), y));
  }
}

// A selective algebra orders its values by cost, and join keeps the order: what pruning and best trees rest on.
template <Prunable A>
void check_order(unsigned seed) {
  std::mt19937 r(seed);
  for (int round = 0; round < 300; ++round) {
    const auto x = random_value<A>(r, 3), y = random_value<A>(r, 3), z = random_value<A>(r, 3);
    const auto w = random_weight<typename A::Weight>(r);
    const double cost_x = A::cost(x), cost_y = A::cost(y);
    CHECK(same(A::cost(sum<A>(x, y)), std::min(cost_x, cost_y)));
    const auto [better, worse] = cost_x < cost_y ? std::pair(x, y) : std::pair(y, x);
    CHECK(A::cost(A::join(w, better, z)) < above(A::cost(A::join(w, worse, z))) ||
          std::isinf(A::cost(A::join(w, worse, z))));
  }
}

// What does not compile. Sums drop nothing and have no best tree; a vector of bests by size or depth is no best itself;
// a least cost alone does not say how large its tree is.
template <class A>
constexpr bool prunes = requires { typename Prunes<A>; };
template <class A>
constexpr bool gives_tree =
    requires(const Graph& graph, const Scores& scores, const std::vector<typename A::Value>& values, Control& control) {
      TreeFinder::of<A>(graph, scores, values, control);
    };
template <class A>
constexpr bool weighs_products =
    requires(const Graph& graph, const ProductWeights& weights) { WeighProduct<A>(graph, weights); };
// A search among costs, and one among products: each for its own algebras.
template <class A>
constexpr bool found_by_cost = requires(Search& search, Control& control) { search.run<A>(3, control); };
template <class A>
constexpr bool found_by_product = requires { typename BestFirst<A>; };
static_assert(found_by_cost<MinPlus> && found_by_cost<Lexicographic>);
static_assert(!found_by_cost<SumProduct> && !found_by_cost<Count> && !found_by_cost<Expectation>);
static_assert(!found_by_cost<MaxProduct> && !found_by_cost<ByLeaves<MinPlus>> && !found_by_cost<ByDepth<MinPlus>>);
static_assert(found_by_product<MaxProduct>);
static_assert(!found_by_product<SumProduct> && !found_by_product<Expectation> && !found_by_product<Count>);
static_assert(!found_by_product<MinPlus> && !found_by_product<Lexicographic> &&
              !found_by_product<ByLeaves<MaxProduct>>);
static_assert(prunes<MinPlus> && prunes<Lexicographic> && prunes<MaxProduct>);
static_assert(!prunes<SumProduct> && !prunes<Count> && !prunes<Expectation>);
static_assert(!prunes<ByLeaves<MinPlus>> && !prunes<ByDepth<MinPlus>> && !prunes<ByLeaves<SumProduct>>);
static_assert(gives_tree<Lexicographic> && gives_tree<MaxProduct>);
static_assert(!gives_tree<SumProduct> && !gives_tree<Count> && !gives_tree<Expectation> && !gives_tree<MinPlus>);
static_assert(!gives_tree<ByLeaves<MinPlus>> && !gives_tree<ByDepth<MaxProduct>>);
// Costs are no products; the plain numbers behind an algebra follow from whether equal options count once.
static_assert(weighs_products<SumProduct> && weighs_products<ByLeaves<MaxProduct>> && weighs_products<Expectation>);
static_assert(!weighs_products<MinPlus> && !weighs_products<Lexicographic> && !weighs_products<Count>);
static_assert(std::same_as<PlainOf<Expectation>, SumProduct> && std::same_as<PlainOf<ByDepth<SumProduct>>, SumProduct>);
static_assert(std::same_as<PlainOf<ByLeaves<MaxProduct>>, MaxProduct>);
static_assert(Idempotent<ByLeaves<MinPlus>> && !Selective<ByLeaves<MinPlus>> && !Idempotent<SumProduct>);

}  // namespace

TEST(sum_product) { check_laws<SumProduct>(1); }
TEST(max_product) { check_laws<MaxProduct>(2); }
TEST(min_plus) { check_laws<MinPlus>(3); }
TEST(lexicographic) { check_laws<Lexicographic>(4); }
TEST(count) { check_laws<Count>(5); }
TEST(expectation) { check_laws<Expectation>(6); }
TEST(front) { check_laws<ByLeaves<MinPlus>>(7); }
TEST(distribution_of_leaves) { check_laws<ByLeaves<SumProduct>>(8); }
TEST(least_cost_by_depth) { check_laws<ByDepth<MinPlus>>(9); }
TEST(distribution_of_depth) { check_laws<ByDepth<SumProduct>>(10); }

// The lists of every kind of query: in order, all that are best in some way, bounded, with required tests, the k best.
TEST(pareto_lists) {
  Control control;
  const LeafCost error(CostKind::error, 2);
  ParetoQuery query;
  query.costs = {&error, &error};
  const std::vector<std::vector<std::size_t>> ranks = {{0, 2}, {0, 1, 2}, {3, 0}, {2, 3, 1}};
  pareto_desk.value.resize(query.width());
  unsigned seed = 20;
  for (const auto& rank : ranks)
    for (bool front : {false, true})
      for (double most_leaves : {1e9, 5.0})
        for (std::size_t k : {1, 2, 3}) {
          query.rank = rank;
          query.front = front;
          query.k = k;
          query.bounds = {{2, most_leaves}};
          query.all_required = 3;
          pareto_rule = std::make_unique<ParetoTrees::Rule>(query, true, control);
          check_laws<ParetoTrees>(++seed, 2, 40);
        }
}

TEST(costs_order_the_values) {
  check_order<MinPlus>(12);
  check_order<Lexicographic>(13);
  check_order<MaxProduct>(14);
}

TEST(wide_numbers_leave_the_range_of_a_double) {
  Wide x = Wide::from_log(-70000.0);
  CHECK(check::near(x.log(), -70000.0, 1e-14));
  CHECK(check::near((x * x).log(), -140000.0, 1e-14));
  CHECK(check::near((x + x).log(), -70000.0 + std::log(2.0), 1e-14));
  CHECK(Wide(5e-324).log() < -744 && !Wide(5e-324).is_zero());
  CHECK((Wide() + x) == x && (x + Wide()) == x && (x * Wide()).is_zero());
  CHECK(x < Wide(1.0) && Wide() < x && !(x < x));
  CHECK(Wide::from_log(-std::numeric_limits<double>::infinity()).is_zero());
}

TEST(naturals_carry) {
  const Natural a(~std::uint64_t{0});
  Natural b = a * a;  // 2^128 − 2^65 + 1
  CHECK((b.limbs() == std::vector<std::uint64_t>{1, ~std::uint64_t{0} - 1}));
  Natural c = a;
  c += Natural(1);
  CHECK((c.limbs() == std::vector<std::uint64_t>{0, 1}));
  CHECK((Natural() * a) == Natural());
}

// The tie rule: its law, and that the limits of a search say the same.
TEST(ties_are_near_and_do_not_depend_on_the_unit) {
  std::mt19937 r(11);
  for (int round = 0; round < 10000; ++round) {
    const double x = (static_cast<double>(r()) - 2e9) * std::ldexp(1.0, static_cast<int>(r() % 200) - 100);
    const double slack = std::ldexp(1.0, -static_cast<int>(r() % 20) - 30) * (r() % 2 ? 1 : -1);
    const double y = x + x * slack, z = x + x * (slack / 2);
    CHECK(tied(x, x) && tied(x, y) == tied(y, x));
    CHECK(!tied(x, y) || tied(x, z));
    CHECK(tied(x, y) == tied(x * 1024, y * 1024));
    if (std::abs(slack) < 0.9 * kTie) CHECK(tied(x, y) && y >= below(x) && y < above(x));
    if (std::abs(slack) > 1.1 * kTie) CHECK(!tied(x, y) && (y < below(x)) == (y < x) && (y >= above(x)) == (y > x));
    CHECK(std::abs(tie_class(x) - x) <= std::ldexp(std::abs(x), -40));
    // The classes of a sort are in order.
    CHECK(x < y ? tie_class(x) <= tie_class(y) : tie_class(x) >= tie_class(y));
  }
  const double infinite = std::numeric_limits<double>::infinity();
  CHECK(tied(infinite, infinite) && !tied(infinite, -infinite) && !tied(infinite, 1e300));
  CHECK(!tied_logs(-infinite, -infinite) && !tied_logs(-infinite, 0));
  CHECK(tied(536870911.0, 536870911.0) && !tied(536870911.0, 536870910.0));
  CHECK(0.0 < above(0.0) && !(0.0 < below(0.0)));
}

TEST(sums_that_cancel_and_products_have_slacks_of_their_own) {
  CHECK(tied_sums(1e-14, 1, 0, 1) && !tied(1e-14, 0) && !tied_sums(1e-12, 1, 0, 1));
  CHECK(tied_logs(1e-13, 0) && !tied_logs(1e-11, 0));
  CHECK(product_improves(1 + 2 * kProductTie, 1, false) && !product_improves(1 + kProductTie / 2, 1, false));
  CHECK(product_improves(1 - kProductTie / 2, 1, true) && !product_improves(1 - 2 * kProductTie, 1, true));
}

int main() { return check::run(); }
