# ruff: noqa: E501  # pieces of source files are as long as they are
"""Mutants of the core's bounds and folds: a bound too tight loses the best tree, a fold that forgets a term a digit."""

from __future__ import annotations

from .mutant import Mutant

__all__ = ["MUTANTS"]

SEARCH = "core/search/worker.cpp core/search/search.cpp"
DEEP = "test_coded_forest bayes/test_deep_trees.py"
ORDERED = "core/ordered/solver.cpp core/ordered/two_levels.cpp core/ordered/walked.cpp core/ordered/dive.cpp"


def of(
    file: str, name: str, old: str, new: str, tests: str, compiles: str = "", survives: str = ""
) -> Mutant:
    return Mutant(name, f"core/{file}", old, new, tests, survives, compiles)


MUTANTS = [
    of("search/bounds.hpp", "the support bound is doubled", "errors = std::max<std::int64_t>(errors, std::min(n, min_leaf_ - n));",
       "errors = std::max<std::int64_t>(errors, 2 * std::min(n, min_leaf_ - n));", "test_search", SEARCH),
    of("search/bounds.hpp", "a split has three leaves", "return 2 * per_leaf_ + cost_->least(counts)",
       "return 3 * per_leaf_ + cost_->least(counts)", "test_search test_local_search", SEARCH),
    of("search/bounds.hpp", "similar covers: the missing rows are free", "return known_lower - (known_total - both);",
       "return known_lower;", "test_search", SEARCH),
    of("search/bounds.hpp", "similar covers: any cover serves with any min_leaf", "if (!any_subset_ && both != total) return -kNoCost;",
       "", "test_search", SEARCH),
    of("search/bounds.hpp", "the identical-rows bound holds for every cost", "errors_(switches.identical_rows && cost.at_least_errors() &&",
       "errors_(switches.identical_rows &&", "test_search", SEARCH),
    of("search/worker.cpp", "the cut of the second side forgets the first", "solve_side(frame, second, cut - first.lower, depth);",
       "solve_side(frame, second, cut - 2 * first.lower, depth);", "test_search"),
    of("search/worker.cpp", "splits may tie instead of improve", "if (least >= below(upper))\n      state.lower = upper;",
       "if (least + 1 >= below(upper))\n      state.lower = upper;", "test_search"),
    of("search/worker.cpp", "unproved sums count", "if (one.proved() && zero.proved() && sum < cut) {", "if (sum < cut) {",
       "test_search test_parallel",
       survives="a sum that is not proved is the cost of a known tree all the same: cost and proof stay right; only which of "
       "several best trees is found would depend on the order in which threads end"),
    of("search/worker.cpp", "a limit keeps no bounds of the rest", "look_at_sides(state, frame, frame.options[i], kAnyCost);\n      const Side &one",
       "if (i == frame.options.size()) look_at_sides(state, frame, frame.options[i], kAnyCost);\n      const Side &one", "test_search"),
    of("search/worker.cpp", "trees of two to four leaves count as one size", "leaves += level.split[a][i] < below(level.leaf[a][i]) ? 1 : 0;",
       "leaves += level.split[a][i] < below(level.leaf[a][i]) ? 0 : 0;", "test_search"),
    of("search/probable.cpp", "a state is open before its splits are there", "look(node);  // a limit may end it: then the state is as before",
       "look(node);\n  node.opened = true;", "test_allocations"),
    of("search/probable.cpp", "what ties with the known tree is dropped", "std::erase_if(found, [&](const Choice& c) { return c.least() >= above(node.upper); });",
       "std::erase_if(found, [&](const Choice& c) { return c.least() >= below(node.upper); });", "test_probable"),
    of("search/probable.cpp", "looking ahead promises too much", "if_split = std::max(if_split, split + level_.hope[a][i]);",
       "if_split = std::max(if_split, split + level_.plain[a][i]);", "test_probable"),
    of("search/hope.cpp", "a pure class costs more than it must", "return -(leaf_->log_rising(variant, c, n) - leaf_->log_rising_sum(variant, n) - held);",
       "return -(leaf_->log_rising(variant, c, n) - leaf_->log_rising_sum(variant, n) - held) * 1.05;", "test_probable"),
    of("ordered/bounds.hpp", "neighbouring cuts: rows between are free", "const Value cost = std::max(smaller.relaxed, less(larger.cost, more));",
       "const Value cost = std::max(smaller.relaxed, larger.cost);", "test_ordered", ORDERED),
    of("ordered/bounds.hpp", "smaller covers bound larger ones with any leaf", "const Value cost = std::max(smaller.relaxed, less(larger.cost, more));",
       "const Value cost = std::max(smaller.cost, less(larger.cost, more));", "test_ordered", ORDERED),
    of("ordered/bounds.hpp", "one cut too many is left out", "b = last - 1;", "b = last - 2;", "test_ordered", ORDERED),
    of("ordered/bounds.hpp", "cuts at the edge of min_leaf are lost", "[&](std::ptrdiff_t k) { return cuts.weight(k) < min_leaf; });",
       "[&](std::ptrdiff_t k) { return cuts.weight(k) <= min_leaf; });", "test_ordered", ORDERED),
    of("frontier/one_level.cpp", "open and closed leaves change places", "leaf1[index[a]] * (tests > 0 ? open : closed);",
       "leaf1[index[a]] * (tests > 0 ? closed : open);", "test_posterior"),
    of("frontier/one_level.cpp", "tests that split alike count once in sums", "Idempotent<A> ? each : each * frontier_.multiplicity(g);",
       "each;", "test_posterior"),
    of("frontier/cost_fold.cpp", "the second leaf is free of its price", "out.leaf[0][i] = std::min(t0 - n0[i], t1 - n1[i]) + cost.per_leaf();",
       "out.leaf[0][i] = std::min(t0 - n0[i], t1 - n1[i]);", "test_cost test_search"),
    of("down/removed.hpp", "the left-out example stays in its class", "return static_cast<double>(n_c - (c == kind_.y ? kind_.removed : 0)) + added_[c];",
       "return static_cast<double>(n_c) + added_[c];", "test_posterior", "core/down/leave_one_out.cpp"),
    of("down/inclusion.cpp", "a test below one side is not excluded", "sum_[t] += std::max(0.0, own_[t]) * (full[1] - off_[1][t]) * (full[0] - off_[0][t]);",
       "sum_[t] += std::max(0.0, own_[t]) * (full[1] - off_[1][t]) * full[0];", "test_posterior"),
    of("grow/coded_forest.cpp", "the second of equal tests is taken", "if (score > best.score) best = {score, k, code, missing};",
       "if (score >= best.score) best = {score, k, code, missing};", DEEP),
    of("grow/coded_forest.cpp", "the right side keeps its squares", "sides.right_squares -= n * (2 * r - n);",
       "sides.right_squares -= n * (2 * r + n);", DEEP),
    of("grow/coded_forest.cpp", "cuts lie at the lower code, by table", "offer(sides.score(), k, (before + here - 1) / 2, false, best);",
       "offer(sides.score(), k, before, false, best);", DEEP),
    of("grow/coded_forest.cpp", "cuts lie at the lower code, by sorting", "(static_cast<std::uint32_t>(sorted_[i - 1] >> 32) + here - 1) / 2, false, best);",
       "static_cast<std::uint32_t>(sorted_[i - 1] >> 32), false, best);", DEEP),
    of("grow/coded_forest.cpp", "missing values are never asked for", "if (known < n) one(o, k, n_codes, false, best);", "", DEEP),
    of("grow/coded_forest.cpp", "a split weighs as much as two", "const double split = kHalf + nodes_", "const double split = nodes_", DEEP),
    of("grow/coded_forest.cpp", "what stops above still reaches below", "reach_[above] * (1 - nodes_[above].stops);",
       "reach_[above];", DEEP),
    of("grow/coded_forest.cpp", "the left-out example stays", "(static_cast<double>(e.count) * s_.part - (e.cls == y ? gone : 0.0));",
       "(static_cast<double>(e.count) * s_.part);", DEEP),
    of("grow/coded_forest.cpp", "leaves say the mean of their parent", "if (is_leaf) std::copy_n(sum, classes_,", "if (is_leaf) std::copy_n(node.depth > 0 ? sum - classes_ : sum, classes_,", DEEP),
    of("grow/coded_forest.cpp", "trees see the hidden part", "open_.assign(1, {0, static_cast<std::uint32_t>(seen), ", "open_.assign(1, {0, static_cast<std::uint32_t>(d_.n_rows), ", DEEP),
    of("grow/coded_forest.cpp", "the trees of a round are not counted", "held.change(n_bytes, n_bytes + written_bytes(nodes, n_classes));",
       "", "test_coded_forest"),
    of("grow/coded_forest.cpp", "a tree is not counted", "held_->change(made.n_bytes, std::max(bytes_of(made.forest), written_bytes(nodes_.size(), classes_)));",
       "", "test_coded_forest"),
]  # fmt: skip
