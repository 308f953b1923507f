"""Queries against the reference: rankings × bounds × constraints on leaves × classes × weights × k.

Each case draws one value of every option. On ties the values of the ranked criteria are compared, and the tree given
must satisfy the query.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from random import Random
from typing import Any

import pytest

from everytree import _core, reference
from everytree.errors import NoTreeError
from everytree.query.plan import Session, choose, plan_of
from everytree.query.query import Query
from everytree.query.solve import solve
from everytree.reference.criteria import value_of
from everytree.space.tree_space import TreeSpace
from everytree.weights.constraints import ChiSquare, Margin, Support

COSTS = ("error", "expected_error", "gini", "entropy", "cost")
# Sums of logarithms and of quotients tie up to rounding only, where the reference adds exactly: they come last.
RANKINGS = [
    *(ranking for n in (1, 2, 3) for ranking in permutations(("error", "size", "depth"), n) if "error" in ranking),
    ("expected_error",),
    ("gini",),
    ("size", "entropy"),
    ("cost", "size"),
    ("error", "expected_error", "size"),
    ("expected_error", "error"),
    ("size", "expected_error", "error"),
    ("depth", "error", "gini"),
    ("cost", "depth", "error"),
    ("error", "depth", "size", "entropy"),
]  # fmt: skip
BOUNDED = ("max_size", "max_leaves", "max_depth", "max_error", "min_accuracy")
ON_LEAVES = ("support", "margin", "chi2", "p_value")


@dataclass(frozen=True)
class Case:
    """A small table, a space and a query, drawn from one seed."""

    seed: int
    ranking: tuple[str, ...]

    @cached_property
    def rng(self) -> Random:
        return Random(f"{self.seed} {self.ranking}")

    def draw(self) -> tuple[TreeSpace, reference.Space, Query, reference.Query, int]:
        rng = self.rng
        n_classes = rng.choice([2, 2, 3, 4, 5])
        n, n_tests = rng.randrange(5, 22), rng.randrange(1, 5)
        X = [[rng.randrange(2) for _ in range(n_tests)] for _ in range(n)]
        if n_tests > 1 and rng.random() < 0.3:  # tests that split alike
            X = [[*row[:-1], rng.choice([0, 1]) ^ row[0] if rng.random() < 0.1 else 1 - row[0]] for row in X]
        y = [(sum(row[:2]) + (rng.random() < 0.3) * rng.randrange(n_classes)) % n_classes for row in X]
        w = [rng.randrange(1, 4) for _ in range(n)] if rng.random() < 0.5 else [1] * n
        max_depth = rng.choice([0, 1, 2, 3, 3, None])
        min_leaf = rng.choice([1, 1, 2, 3])
        space = TreeSpace(X, y, max_depth, min(min_leaf, sum(w)), sample_weight=w, classes=range(n_classes))
        space.switches.update(merge=rng.random() < 0.8, frontier=rng.random() < 0.8)
        table = reference.Table.from_data(X, y, n_classes, w)
        twin = reference.Space(table, max_depth, space.min_leaf)
        ours, theirs = self.constraints(table, n_classes)
        return space, twin, ours, theirs, rng.choice([1, 1, 2, 5, 20])

    def constraints(self, table: reference.Table, n_classes: int) -> tuple[Query, reference.Query]:
        rng = self.rng
        total = table.n_examples
        bounds: dict[str, Any] = {}
        for name in rng.sample(BOUNDED, rng.choice([0, 0, 1, 1, 2, 3])):
            bounds[name] = {
                "max_size": rng.choice([1, 2, 3, 5, 6, 7, 9]),
                "max_leaves": rng.choice([1, 2, 3, 4]),
                "max_depth": rng.choice([0, 1, 2]),
                "max_error": rng.randrange(0, max(2, total // 2)),
                "min_accuracy": rng.choice([0.5, 0.6, 2 / 3, 0.75, 0.8, 0.9, 1.0]),
            }[name]
        if self.ranking[0] not in COSTS and not bounds:
            bounds["max_error"] = total // 2
        leaf: dict[str, Any] = {}
        for name in rng.sample(ON_LEAVES, rng.choice([0, 0, 1, 1, 2])):
            leaf[name] = {
                "support": rng.choice([2, 3, 5]),
                "margin": rng.choice([0, 1, 2, 4]),
                "chi2": rng.choice([0.0, 0.1, 0.5, 1.0, 2.0, 4.0]),
                "p_value": rng.choice([0.05, 0.2, 0.5, 0.9, 1.0]),
            }[name]
        matrix = [
            [0 if c == k else rng.choice([1, 2, 0.5]) for k in range(n_classes)] for c in range(n_classes)
        ]
        objects: list[Any] = [
            {
                "support": Support,
                "margin": Margin,
                "chi2": ChiSquare,
                "p_value": lambda p: ChiSquare(p_value=p),
            }[name](value)
            for name, value in leaf.items()
        ]
        ours = Query(
            self.ranking,
            **{name: value for name, value in bounds.items() if name != "max_error"},
            max_error={"error": bounds["max_error"]} if "max_error" in bounds else None,
            leaf=objects or None,
            cost_matrix=matrix,
        )
        most = [bounds["max_error"]] if "max_error" in bounds else []
        if "min_accuracy" in bounds:
            most.append(max(e for e in range(total + 1) if (total - e) / total >= bounds["min_accuracy"]))
        names = {
            "support": "min_support",
            "margin": "min_margin",
            "chi2": "min_chi2",
            "p_value": "max_p_value",
        }
        theirs = reference.Query(
            rank=self.ranking,
            **{name: bounds[name] for name in ("max_size", "max_leaves", "max_depth") if name in bounds},
            max_error=min(most) if most else None,
            **{names[name]: value for name, value in leaf.items()},
            cost_matrix=matrix,
        )
        return ours, theirs


def close(ours: list[tuple[float, ...]], theirs: list[tuple[float, ...]]) -> bool:
    return len(ours) == len(theirs) and all(
        x == pytest.approx(y, rel=1e-9, abs=1e-11) for x, y in zip(ours, theirs, strict=True)
    )


def rank_of(tree: Any, twin: reference.Space, query: reference.Query) -> tuple[float, ...]:
    return tuple(float(value_of(name, tree.nested, twin.table, query)) for name in query.rank)


def check(case: Case) -> None:
    space, twin, ours, theirs, k = case.draw()
    try:
        wanted = [answer.rank for answer in reference.best(twin, theirs, k)]
    except reference.NoTreeError:
        with pytest.raises(NoTreeError, match="no tree"):
            space.best(ours, k=k)
        return
    found = space.best(ours, k=k)
    trees = found if k > 1 else [found]
    assert len({tree.key for tree in trees}) == len(trees), "trees must be distinct"
    for tree in trees:
        assert tree.nested in twin
        assert reference.satisfies(tree.nested, twin, replace(theirs, rank=("error",)))
    assert close([rank_of(tree, twin, theirs) for tree in trees], wanted), f"{ours}, k={k}, {space}"
    name = next(name for name in theirs.rank if name in COSTS)
    for tree in trees:
        exact = float(value_of(name, tree.nested, twin.table, theirs))
        assert tree.info["objective"] == pytest.approx(exact, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("ranking", RANKINGS, ids="-".join)
def test_every_ranking_under_every_constraint(ranking: tuple[str, ...]) -> None:
    for seed in range(40):
        check(Case(seed, ranking))


@pytest.mark.slow
@pytest.mark.parametrize("block", range(40))
@pytest.mark.parametrize("ranking", RANKINGS, ids="-".join)
def test_a_much_larger_sample(ranking: tuple[str, ...], block: int) -> None:
    for seed in range(1000 + 100 * block, 1100 + 100 * block):
        check(Case(seed, ranking))


@pytest.mark.parametrize("kernels", _core.available_kernels())
@pytest.mark.parametrize("ranking", RANKINGS, ids="-".join)
def test_the_quick_folds_give_what_the_general_fold_gives(ranking: tuple[str, ...], kernels: str) -> None:
    """Wherever ``choose`` picks a quicker fold, the Pareto fold answers alike."""
    _core.use_kernels(kernels)
    quick = 0
    for seed in range(5000, 5040):
        case = Case(seed, ranking)
        space, _, query, _, k = case.draw()
        plan = plan_of(query, space)
        fold = choose(plan, k)
        if fold == "pareto":
            continue
        quick += 1
        session = Session(space, space.limits.control())
        ours = solve(session, plan, k)
        general = solve(session, plan, k, "pareto")
        rank = [
            [(*found.values.values(), found.leaves if "size" in ranking else 0) for found in some]
            for some in (ours, general)
        ]
        assert close(*rank), f"{query}, k={k}, {space}, {fold}"
    costs = set(ranking) & set(COSTS)
    assert (quick > 0) == (len(costs) == 1 and "depth" not in ranking)


NAMES = {
    "support": "min_support", "margin": "min_margin", "chi2": "min_chi2", "p_value": "max_p_value",
}  # fmt: skip


@pytest.mark.parametrize("ranking", RANKINGS[:8], ids="-".join)
def test_infeasible_queries_name_the_tightest_constraints(ranking: tuple[str, ...]) -> None:
    """The same constraints as the reference, alone or together; and the value told admits a tree."""
    seen = 0
    for seed in range(20_000, 20_150):
        case = Case(seed, ranking)
        space, twin, ours, theirs, k = case.draw()
        if ours.min_accuracy is not None:
            continue  # the reference knows no accuracy
        try:
            reference.best(twin, theirs)
            continue
        except reference.NoTreeError as error:
            wanted = error
        seen += 1
        with pytest.raises(NoTreeError) as caught:
            space.best(ours, k=k)
        assert tuple(NAMES.get(name, name) for name in caught.value.constraints) == wanted.constraints, str(
            ours
        )
        assert caught.value.together == wanted.together
        for name, told in zip(wanted.constraints, _told(str(caught.value)), strict=False):
            if name in ("max_size", "max_leaves", "max_depth", "max_error") and told is not None:
                reference.best(twin, replace(theirs, rank=("error",), **{name: told}))
                with pytest.raises(reference.NoTreeError):
                    reference.best(twin, replace(theirs, rank=("error",), **{name: told - 1}))
    assert seen > 10


def _told(message: str) -> list[int | None]:
    """The value told with the first constraint, if it leads the sentence."""
    if "; the least is " not in message or "; or relax" in message:
        return []
    return [int(message.rpartition("; the least is ")[2])]
