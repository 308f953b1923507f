#include "bind.hpp"
#include "down/expansion.hpp"
#include "down/local_expansion.hpp"
#include "down/rule_sum.hpp"

namespace everytree::bind {

namespace {

using Moves = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// What both expansions are offered.
template <class Class>
void def_questions(Class& bound) {
  using E = typename Class::Type;
  bound
      .def(
          "point",
          [](const E& e, double epsilon) {
            const Expansion::Point p = e.point(epsilon);
            return std::pair(p.n_rules, p.bound);
          },
          nb::arg("epsilon"), "(number of rules, bound) for an epsilon.")
      .def(
          "rules",
          [](E& e, double epsilon, PyControl& control) {
            Rules r = run(control, [&](Control& c) { return e.rules(epsilon, c); });
            return std::tuple(as_numpy(std::move(r.base)), as_numpy(std::move(r.items)), as_numpy(std::move(r.begin)),
                              as_numpy(std::move(r.moves)), r.bound);
          },
          nb::arg("epsilon"), nb::arg("control"),
          "base, items (test << 1 | outcome), begin of each rule's items, moves (rules × classes), bound.");
}

}  // namespace

void bind_compress(nb::module_& m) {
  m.def(
      "offered_tests",
      [](const Posterior& posterior, PyControl& control) {
        const auto offered = run(control, [&](Control& c) { return offered_tests(posterior.graph(), c); });
        std::vector<std::uint32_t> tests, uppers;
        for (const auto& [test, upper] : offered) {
          tests.push_back(test);
          uppers.push_back(upper);
        }
        return std::pair(as_numpy(std::move(tests)), as_numpy(std::move(uppers)));
      },
      nb::arg("posterior"), nb::arg("control"), "The tests that states offer, with their uppers.");

  auto local = nb::class_<LocalExpansion>(m, "LocalExpansion", "The same where states choose their tests.")
                   .def(
                       "__init__",
                       [](LocalExpansion* self, const Posterior& posterior, const Flat<std::uint32_t>& question_of,
                          const Flat<std::uint32_t>& columns, const Flat<std::uint32_t>& cuts, PyControl& control) {
                         if (columns.shape(0) != cuts.shape(0)) throw InvalidInput("every question needs its column");
                         std::vector<Question> questions(columns.shape(0));
                         for (std::size_t q = 0; q < questions.size(); ++q)
                           questions[q] = {columns.data()[q], cuts.data()[q] != 0};
                         const std::vector<std::uint32_t> of = copied(question_of);
                         run(control, [&](Control& c) { new (self) LocalExpansion(posterior, of, questions, c); });
                       },
                       nb::arg("posterior"), nb::arg("question_of").noconvert(), nb::arg("columns").noconvert(),
                       nb::arg("cuts").noconvert(), nb::arg("control"));
  def_questions(local);

  auto expansion = nb::class_<Expansion>(m, "Expansion", "The average over every tree as a sum of parities.")
                       .def(
                           "__init__",
                           [](Expansion* self, const Posterior& posterior, PyControl& control) {
                             run(control, [&](Control& c) { new (self) Expansion(posterior, c); });
                           },
                           nb::arg("posterior"), nb::arg("control"));
  def_questions(expansion);

  nb::class_<RuleSum>(m, "RuleSum", "Predictions by a sum of rules.")
      .def(
          "__init__",
          [](RuleSum* self, const Flat<double>& base, const Flat<std::uint32_t>& items,
             const Flat<std::uint64_t>& begin, const Moves& moves, std::size_t n_tests, const Flat<double>& floor) {
            Rules rules;
            rules.base = copied(base);
            rules.items = copied(items);
            rules.begin = copied(begin);
            if (begin.shape(0) == 0 || moves.shape(0) + 1 != begin.shape(0) || moves.shape(1) != base.shape(0))
              throw InvalidInput("rules need one row of moves each, with one move per class");
            rules.moves.assign(moves.data(), moves.data() + moves.size());
            new (self) RuleSum(rules, n_tests, copied(floor));
          },
          nb::arg("base").noconvert(), nb::arg("items").noconvert(), nb::arg("begin").noconvert(),
          nb::arg("moves").noconvert(), nb::arg("n_tests"), nb::arg("floor").noconvert())
      .def(
          "predict",
          [](const RuleSum& s, Rows rows, PyControl& control) {
            if (rows.shape(1) != s.n_tests()) throw InvalidInput("rows must have one column per test");
            const std::size_t n = rows.shape(0), c = s.n_classes();
            auto* data = new double[n * c + 1];
            nb::capsule owner(data, [](void* x) noexcept { delete[] static_cast<double*>(x); });
            run(control, [&](Control& k) { s.predict(rows.data(), n, data, k); });
            return RealMatrix(data, {n, c}, owner);
          },
          nb::arg("rows").noconvert(), nb::arg("control"), "P(class | row).");
}

}  // namespace everytree::bind
