// A limit of memory holds for what is allocated: whatever the limit, a question takes no more than it, answered or not.
//
// Every allocation is counted here with what the C library adds to it, and the largest sum of a question is compared
// with its limit: what is in no account, or is looked at only after it was taken, shows as a question that is too
// large.
#include <algorithm>
#include <functional>
#include <random>

#include "check.hpp"
#include "common/errors.hpp"
#include "counting_new.hpp"
#include "down/leave_one_out.hpp"
#include "down/local_expansion.hpp"
#include "down/posterior.hpp"
#include "mcmc/collapsed.hpp"
#include "mcmc/tree_chains.hpp"
#include "naive.hpp"

using namespace everytree;

namespace {

constexpr long kSmall = 300'000;  // what is in no account, whatever the size of the data: buffers of one state, names

// Ask under limits from `least` bytes on, each a quarter above the one before. `before`: bytes that are there already
// and that the question counts.
void holds(const char* name, std::size_t least, std::size_t before, const std::function<void(Control&)>& ask) {
  if (!counting::kTellsBytes) return;
  int answered = 0, refused = 0;
  double worst = 0;
  for (std::size_t limit = least; answered < 2 && limit < std::size_t{1} << 32; limit += limit / 4) {
    Control control;
    control.memory_limit = limit;
    const long from = counting::bytes;
    counting::peak = from;
    bool ended = true;
    try {
      ask(control);
    } catch (const LimitReached& reached) {
      CHECK(reached.reason == LimitReached::Reason::memory);
      ended = false;
    }
    ++(ended ? answered : refused);
    CHECK(counting::bytes == from);
    const long taken = counting::peak - from + static_cast<long>(before);
    worst = std::max(worst, static_cast<double>(taken) / static_cast<double>(limit));
    CHECK(taken <= static_cast<long>(limit + limit / 20) + kSmall);
  }
  std::printf("     %-28s %d refused, %d answered; at most %.2f of the limit\n", name, refused, answered, worst);
  CHECK(answered == 2);
}

naive::Table noise(unsigned seed, std::size_t rows, std::size_t tests, std::size_t classes) {
  std::mt19937 random(seed);
  naive::Table d(rows, tests, classes);
  for (auto& x : d.rows) x = random() & 1;
  for (std::size_t r = 0; r < d.n; ++r) d.counts[r * classes + random() % classes] = 1 + random() % 2;
  return d;
}

std::shared_ptr<const Dirichlet> ones(const naive::Table& d) {
  const std::vector<std::vector<double>> a{std::vector<double>(d.c, 1.0)};
  return std::make_shared<const Dirichlet>(a, d.class_counts(d.all()));
}

std::shared_ptr<const Graph> graph_of(const naive::Table& d, int depth) {
  GraphOptions o;
  o.max_depth = depth;
  o.min_leaf = 2;
  Control control;
  return std::make_shared<const Graph>(d.core(), o, control);
}

}  // namespace

TEST(left_out_examples) {
  struct Case {
    std::size_t rows, tests, classes;
  };
  for (const auto& [rows, tests, classes] : {Case{20'000, 20, 2}, Case{40'000, 14, 2}, Case{1500, 14, 60}}) {
    const naive::Table d = noise(1, rows, tests, classes);
    Control control;
    const Posterior p(graph_of(d, 3), naive::some_prior(3, d.t), ones(d), true, 1, control);
    holds("left-out examples", p.bytes(), p.bytes(),
          [&](Control& limited) { (void)leave_one_out(p, d.counts.data(), d.n, 1, limited); });
  }
}

// Nominal columns, of which each value is a question: the coefficients of hundreds of classes are what takes memory.
TEST(rules_of_states_that_choose_their_tests) {
  std::mt19937 random(3);
  constexpr std::size_t kColumns = 5, kCodes = 6, kClasses = 100;
  naive::Table d(600, kColumns * kCodes, kClasses);
  for (std::size_t r = 0; r < d.n; ++r) {
    for (std::size_t k = 0; k < kColumns; ++k) d.rows[r * d.t + k * kCodes + random() % kCodes] = 1;
    d.counts[r * kClasses + random() % kClasses] = 1;
  }
  for (std::uint32_t k = 0; k < kColumns; ++k)
    d.columns.push_back(
        {Column::Kind::nominal, k * std::uint32_t{kCodes}, (k + 1) * std::uint32_t{kCodes}, Column::kNone, 0});
  Control free;
  const Posterior p(graph_of(d, 4), naive::some_prior(4, d.t), ones(d), true, 1, free);
  const std::vector<OfferedTest> offered = offered_tests(p.graph(), free);
  std::vector<std::uint32_t> question_of;
  std::vector<Question> questions;
  for (const OfferedTest& test : offered) {
    question_of.push_back(static_cast<std::uint32_t>(questions.size()));
    questions.push_back({test.test / std::uint32_t{kCodes}, false});
  }
  holds("rules over local cuts", 500'000, 0, [&](Control& limited) {
    LocalExpansion expansion(p, question_of, questions, limited);
    (void)expansion.rules(0.0, limited);
  });
}

// The draws: what is made of them elsewhere is in the account, too, and the core takes less than it may.
TEST(draws_of_tops) {
  const naive::Table d = noise(2, 400, 30, 2);
  const auto table = d.core();
  const auto leaf = ones(d);
  Control free;
  const Collapsed collapsed(table, 6, 3, naive::some_prior(6, d.t), leaf, true, 1, &free);
  CollapsedPlan plan;
  plan.n_chains = 2;
  plan.n_draws = plan.least = 400;
  plan.burn_in = 10;
  const ProductWeights weights(*table, 3, naive::some_prior(6, d.t), leaf, true);
  holds("draws of tops", weights.bytes() + 500'000, weights.bytes(),
        [&](Control& limited) { (void)collapsed.run(plan, limited); });
}

TEST(draws_of_trees) {
  const naive::Table d = noise(4, 300, 30, 2);
  const auto table = d.core();
  const auto leaf = ones(d);
  const ProductWeights weights(*table, 3, naive::some_prior(6, d.t), leaf);
  holds("draws of trees", 1'500'000 + weights.bytes(), weights.bytes(), [&](Control& limited) {
    ChainSettings settings;
    settings.n_chains = 2;
    settings.state_bytes = limited.memory_limit / 4;
    TreeChains chains(table, 6, 3, TreeTarget::posterior(naive::some_prior(6, d.t), leaf), settings, limited);
    const TreeRun run = chains.run({3000, 0, 20, {}}, limited);
    if (!run.stopped.empty()) throw LimitReached(LimitReached::Reason::memory, run.stopped);
  });
}

// Averages ask for batches of rows: of fewer where there is less memory.
TEST(averages_of_rows) {
  const naive::Table d = noise(5, 500, 20, 2), rows = noise(6, 3000, 20, 2);
  Control free;
  const Posterior p(graph_of(d, 4), naive::some_prior(4, d.t), ones(d), true, 1, free);
  std::vector<double> said(rows.n * 2);
  const std::size_t before = p.bytes() + said.size() * sizeof(double);
  holds("averages of rows", before, before,
        [&](Control& limited) { p.predict(rows.rows.data(), rows.n, said.data(), limited); });
}

int main() { return check::run(); }
