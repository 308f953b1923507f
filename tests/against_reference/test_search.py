"""The search against the fold of the whole graph and against the reference, with every bound on and off.

A question is drawn from one seed: a table (random, XOR, thresholds inside each other, twins, few distinct rows, heavy
weights), a space and a query for one best tree. The search must give the least cost, and the fewest leaves among the
trees of that cost where size is ranked, whatever bounds it uses, however it is interrupted, with any number of threads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from everytree import _core, reference
from everytree.common.limits import Limits
from everytree.engine.problem import BOUNDS
from everytree.errors import LimitReached, NoTreeError
from everytree.query.plan import Session, choose, cost_of, plan_of
from everytree.query.query import Query
from everytree.query.solve import Found, solve
from everytree.reference import leaves
from everytree.space.tree_space import TreeSpace
from everytree.trees.tree import Tree
from everytree.weights.constraints import ChiSquare, Margin, Support

SWITCHES = ("merge", *BOUNDS)
KINDS = ("random", "xor", "thresholds", "twins", "sparse", "few rows")
COSTS = ("error",) * 8 + ("expected_error",) * 3 + ("gini", "entropy", "cost", "cost")
PENALTIES = (0.5, 1, 1.5, 2, 3, 7, 0.1, 0.3, 1 / 3, 0.999999, 1e-3, 1e-9, 40000)


@dataclass(frozen=True)
class Question:
    """Examples, a space and a query, all from one seed; ``large`` tables are beyond the reference."""

    seed: int
    large: bool = False

    @cached_property
    def rng(self) -> Random:
        return Random(f"{self.seed} {self.large}")

    @cached_property
    def data(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, int]:
        rng, numbers = self.rng, np.random.default_rng(self.seed)
        n_classes = rng.choice([2, 2, 2, 3, 4, 5])
        n, n_tests = rng.choice([4, 8, 16, 24]), rng.choice([2, 3, 4, 5])
        if self.large:
            n, n_tests = rng.choice([60, 120, 250]), rng.choice([6, 9, 13])
        kind = rng.choice(KINDS)
        X = numbers.integers(0, 2, (n, n_tests))
        if kind == "thresholds":
            X = (numbers.integers(0, n_tests + 1, n)[:, None] <= np.arange(n_tests)).astype(int)
            half = n_tests // 2
            X[:, :half] = numbers.integers(0, half + 1, n)[:, None] <= np.arange(half)
        elif kind == "twins":
            for test in range(1, n_tests):
                if rng.random() < 0.5:
                    X[:, test] = X[:, rng.randrange(test)] ^ rng.randrange(2)
        elif kind == "sparse":
            X = (numbers.random((n, n_tests)) < 0.15).astype(int)
        elif kind == "few rows":
            X = X[numbers.integers(0, max(2, n // 4), n)]
        if kind == "xor":
            y = X[:, : rng.choice([2, 3])].sum(1) % n_classes
        else:
            y = np.minimum(X @ numbers.integers(0, 3, n_tests) * n_classes // (n_tests + 1), n_classes - 1)
        noise = rng.choice([0, 0.1, 0.3, 1])
        y = np.where(numbers.random(n) < noise, numbers.integers(0, n_classes, n), y)
        weights = rng.choice([None, None, 5, 3000])
        w = None if weights is None else numbers.integers(1, weights, n)
        return X.astype(np.uint8), y, w, n_classes

    @cached_property
    def total(self) -> int:
        X, _, w, _ = self.data
        return len(X) if w is None else int(w.sum())

    @cached_property
    def limits(self) -> tuple[int | None, int]:
        """max_depth and min_leaf."""
        depth = self.rng.choice([None, 0, 1, 2, 3, 3, 4, 4, 5, 6])
        min_leaf = min(self.total, self.rng.choice([1, 1, 2, 3, 4, 5, 6]))
        if depth is None or (self.large and depth > 4):
            min_leaf = max(min_leaf, self.total // 16)
        return depth, min_leaf

    @cached_property
    def query(self) -> Query:
        rng, n_classes = self.rng, self.data[3]
        cost = rng.choice(COSTS)
        more: dict[str, Any] = {}
        if rng.random() < 0.6:
            more["leaf_penalty"] = rng.choice(PENALTIES)
        elif rng.random() < 0.1:
            more["max_error"] = rng.choice([0, 1, 3, 8])
        if cost == "expected_error":
            more["confidence"] = rng.choice([0.25, 0.01, 0.1, 0.5, 0.75, 0.9])
        if cost == "cost":
            entries = rng.choice([(0, 0, 1, 2, 5), (0, 0.3, 1), (-1, 0, 1, 2)])
            more["cost_matrix"] = [[rng.choice(entries) for _ in range(n_classes)] for _ in range(n_classes)]
        if cost == "error" and rng.random() < 0.15:
            more["class_weight"] = rng.choice(
                ["balanced", [rng.choice([1, 2, 0.5, 0, 0.1]) for _ in range(n_classes)]]
            )
        if rng.random() < 0.12:
            rules = [Margin(1), Margin(3), ChiSquare(0.5), ChiSquare(p_value=0.2), Support(3)]
            more["leaf"] = rng.choice(rules)
        if rng.random() < 0.05:
            more["forbid"] = [0]
        return Query(cost if rng.random() < 0.4 else (cost, "size"), **more)

    def space(self, n_jobs: int = 1, **switches: bool) -> TreeSpace:
        X, y, w, n_classes = self.data
        space = TreeSpace(X, y, *self.limits, w, n_jobs=n_jobs, classes=range(n_classes))
        space.switches.update(switches)
        return space

    @cached_property
    def answer(self) -> Found | None:
        """By folds of the whole graph: the best tree, or None."""
        space = self.space()
        plan = plan_of(self.query, space)
        assert choose(plan) == "search"
        with space.question("folding") as control:
            session = Session(space, control)
            found = solve(session, plan, way="best")
            if found and "size" in plan.rank:  # the fewest leaves, and not by the same code
                found = [found[0]._replace(leaves=solve(session, plan, way="pareto")[0].leaves)]
        return found[0] if found else None

    def cost_of(self, tree: Tree) -> float:
        """The ranked cost of a tree from its leaves alone."""
        query, n_classes = self.query, self.data[3]
        space = self.space()
        matrix = cost_of(plan_of(query, space), query.cost, space).answers
        if query.cost == "error" and matrix is None:
            matrix = 1 - np.eye(n_classes)
        value = query.leaf_penalty * tree.n_leaves
        for counts in leaf_counts(self, tree):
            if matrix is not None:
                value += leaves.cost(counts, [[float(x) for x in row] for row in matrix])
            elif query.cost == "expected_error":
                value += leaves.expected_error(counts, query.confidence)
            else:
                value += {"gini": leaves.gini, "entropy": leaves.entropy}[query.cost](counts)
        return value

    def check(self, space: TreeSpace) -> None:
        """The search of this space gives the answer, proved."""
        best = self.answer
        if best is None:
            with pytest.raises(NoTreeError):
                space.best(self.query)
            return
        tree = space.best(self.query)
        least = best.values[self.query.cost]
        assert close(tree.info["objective"], least), f"{self}: {tree.info['objective']}, the fold {least}"
        assert close(self.cost_of(tree), least), f"{self}: the tree costs {self.cost_of(tree)}, not {least}"
        if "size" in self.query.ranking:
            assert tree.size == 2 * best.leaves - 1, (
                f"{self}: {tree.size} nodes, the fold {best.leaves} leaves"
            )
        assert tree.info["optimal"]
        assert tree.info["lower_bound"] == tree.info["objective"]
        assert tree.info["stop_reason"] == "proved"
        assert self.limits[0] is None or tree.depth <= self.limits[0]


def leaf_counts(question: Question, tree: Tree) -> list[tuple[int, ...]]:
    """The class counts of the leaves, counted from the examples."""
    X, y, w, n_classes = question.data
    at = tree.apply(X)
    return [
        tuple(
            np.bincount(y[at == leaf], None if w is None else w[at == leaf], n_classes).astype(int).tolist()
        )
        for leaf in np.unique(at)
    ]


def close(x: float, y: float) -> bool:
    return math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-11)


# --- the answer ---


@pytest.mark.parametrize("seed", range(300))
def test_small(seed: int) -> None:
    question = Question(seed)
    question.check(question.space(n_jobs=1 + seed % 3))


@pytest.mark.parametrize("seed", range(60))
def test_large(seed: int) -> None:
    question = Question(seed, large=True)
    question.check(question.space(n_jobs=1 + seed % 3))


@pytest.mark.slow
@pytest.mark.parametrize("hundred", range(100))
def test_many(hundred: int) -> None:
    for seed in range(1000 + 100 * hundred, 1100 + 100 * hundred):
        question = Question(seed, large=seed % 10 == 0)
        question.check(question.space(n_jobs=1 + seed % 3))


@pytest.mark.parametrize("seed", range(80))
def test_reference(seed: int) -> None:
    """Least errors with a price of leaves, added exactly; then the fewest leaves."""
    rng = Random(seed)
    n, n_tests, n_classes = rng.randrange(4, 20), rng.randrange(2, 5), rng.choice([2, 2, 3, 5])
    X = [[rng.randrange(2) for _ in range(n_tests)] for _ in range(n)]
    y = [(sum(row[:3]) + (rng.random() < 0.3) * rng.randrange(n_classes)) % n_classes for row in X]
    w = [rng.choice([1, 1, 2, 3]) for _ in X]
    depth, min_leaf = rng.choice([2, 3, 4, None]), rng.choice([1, 2, 3, 4])
    penalty = rng.choice([0, 0.25, 0.5, 1, 1.5, 2, 3])
    twin = reference.Space(reference.Table.from_data(X, y, n_classes, w), depth, min_leaf)
    query = reference.Query(rank=("penalised_error", "size"), penalty=penalty)
    objective, size = reference.best(twin, query)[0].rank
    for on in (True, False):
        space = TreeSpace(X, y, depth, min_leaf, w, classes=range(n_classes))
        space.switches.update(dict.fromkeys(SWITCHES, on))
        tree = space.best(leaf_penalty=penalty)
        assert (tree.error + penalty * tree.n_leaves, tree.size) == (objective, size)
        assert tree.nested in twin


# --- how it is found ---


def with_switches(question: Question) -> None:
    for on in product((True, False), repeat=len(SWITCHES)):
        question.check(question.space(**dict(zip(SWITCHES, on, strict=True))))


@pytest.mark.parametrize("seed", range(400, 440))
def test_bounds(seed: int) -> None:
    """Every bound, and the merging of states, on and off in every combination."""
    with_switches(Question(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40000, 40400))
def test_bounds_many(seed: int) -> None:
    with_switches(Question(seed))


@pytest.mark.parametrize("seed", range(12))
def test_bounds_large(seed: int) -> None:
    """One bound alone, all but one, and none, on tables that need a search."""
    X, y = medium(seed)
    depth, min_leaf, penalty = ((3, 1, 0), (4, 6, 0), (4, 4, 1.5), (None, 20, 0.3))[seed % 4]
    query = Query(leaf_penalty=penalty)
    expected = None
    for on in ((), BOUNDS, *((bound,) for bound in BOUNDS), *(set(BOUNDS) - {bound} for bound in BOUNDS)):
        space = TreeSpace(X, y, depth, min_leaf)
        space.switches.update({bound: bound in on for bound in BOUNDS})
        if expected is None:
            with space.question("folding") as control:
                (fold,) = solve(Session(space, control), plan_of(query, space), way="front")
            expected = (fold.values["error"], 2 * fold.leaves - 1)
        tree = space.best(query)
        assert close(tree.info["objective"], expected[0])
        assert tree.size == expected[1]
        assert close(tree.error + penalty * tree.n_leaves, expected[0])


def medium(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two noisy concepts over 15 tests."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (200, 15)).astype(np.uint8)
    y = (X[:, 0] ^ X[:, 1]) | (X[:, 2] & X[:, 3])
    return X, np.where(rng.random(200) < 0.2, 1 - y, y).astype(np.intp)


@pytest.mark.parametrize("kernels", _core.available_kernels())
@pytest.mark.parametrize("penalty", [0, 1, 2.5])
def test_kernels(kernels: str, penalty: float) -> None:
    X, y = medium(5)
    _core.use_kernels("")
    expected = TreeSpace(X, y, 4, 5).best(leaf_penalty=penalty)
    _core.use_kernels(kernels)
    assert TreeSpace(X, y, 4, 5).best(leaf_penalty=penalty).key == expected.key


@pytest.mark.parametrize("seed", range(8))
def test_threads_give_the_same_tree(seed: int) -> None:
    X, y = medium(seed)
    for query in (Query("error"), Query(leaf_penalty=1.5), Query("entropy")):
        keys = {TreeSpace(X, y, 4, 5, n_jobs=n_jobs).best(query).key for n_jobs in (1, 2, 3)}
        assert len(keys) == 1


# --- what is kept between questions ---


@pytest.mark.parametrize("seed", range(500, 560))
def test_other_depths_first(seed: int) -> None:
    question = Question(seed, large=seed % 4 == 0)
    space = question.space(n_jobs=1 + seed % 2)
    plan = plan_of(question.query, space)
    for depth in question.rng.sample(range(6), 3):
        with space.question("searching") as control:
            solve(Session(space, control), replace(plan, max_depth=depth), way="search")
    question.check(space)


@pytest.mark.parametrize("seed", range(600, 660))
def test_interrupted(seed: int) -> None:
    """Every answer so far lies around the optimum, and the search goes on to it."""
    question = Question(seed, large=True)
    space = question.space(n_jobs=1 + seed % 2)
    for seconds in (1e-6, 1e-5, 1e-4, 3e-4, 1e-3, 3e-3):
        space.limits = Limits(seconds)
        try:
            tree = space.best(question.query)
        except (LimitReached, NoTreeError):
            continue
        assert question.answer is not None
        least = question.answer.values[question.query.cost]
        objective, lower = tree.info["objective"], tree.info["lower_bound"]
        assert close(question.cost_of(tree), objective)
        assert objective >= least or close(objective, least)
        assert lower <= least or close(lower, least)
        assert not tree.info["optimal"] or close(objective, least)
    space.limits = Limits()
    question.check(space)


# --- faults that were found ---


def test_expected_error_may_be_less_than_the_errors() -> None:
    """Above a confidence of one half the pessimistic term is negative."""
    rows = ["001", "011", "100", "001", "101", "011", "111", "001", "011"]
    X = [[int(bit) for bit in row] for row in rows]
    tree = TreeSpace(X, [0, 1, 0, 0, 1, 0, 1, 0, 1], 3).best("expected_error", confidence=0.9)
    assert tree.info["objective"] == pytest.approx(0.8942126615530895)


def test_gains() -> None:
    """Costs below nothing."""
    rows = ["011", "100", "110", "010", "010", "011", "001", "111", "100"]
    X = [[int(bit) for bit in row] for row in rows]
    space = TreeSpace(X, [1, 0, 0, 0, 0, 1, 0, 0, 0], 3)
    assert space.best("cost", cost_matrix=[[-1, 1], [1, -2]]).info["objective"] == -11


def test_weights_that_print_alike() -> None:
    X, y = medium(0)
    space = TreeSpace(X, y, 3, 2)
    for weight in (0.333333333, 0.3333333331):
        weights = np.array([weight, 1.0])
        fresh = TreeSpace(X, y, 3, 2).best("error", class_weight=weights)
        assert space.best("error", class_weight=weights).info["objective"] == fresh.info["objective"]


def hard(**options: Any) -> TreeSpace:
    """Noise with rows that contradict each other: no tree is free of errors, and a proof takes long."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (600, 60)), rng.integers(0, 2, 600)
    return TreeSpace(np.vstack([X, X[:3]]), np.append(y, 1 - y[:3]), 6, **options)


def test_best_so_far_is_not_told_as_the_least() -> None:
    with pytest.raises((LimitReached, NoTreeError)) as error:
        hard(time_limit=0.05).best("error", max_error=0)
    assert "the least is" not in str(error.value)


def test_no_front_from_trees_that_are_not_proved() -> None:
    with pytest.raises(LimitReached, match="time limit"):
        hard(time_limit=0.05).front(by="depth")
