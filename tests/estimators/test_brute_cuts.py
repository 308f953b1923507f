"""Every cut-point by brute force: tests read off the cells of a frame, all trees over them, exact sums.

No code of the package takes part in the expectation: a numeric column is cut between any two neighbouring values, a
nominal one asks "is it v?", a missing value passes no test but "is it missing?", or is the mean of the others. Each
road to the answer is tried on the same table. EVERYTREE_BRUTE sets how many tables there are, and where they begin:
"20000" or "20000:7".
"""

from __future__ import annotations

import os
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import everytree as et
from everytree.estimators import every_cut
from everytree.query import ordered_tests

COUNT, _, FIRST = os.environ.get("EVERYTREE_BRUTE", "80:0").partition(":")
TABLES = range(int(FIRST or 0), int(FIRST or 0) + int(COUNT))
PARTS = 8


def neighbours(rng: np.random.Generator, rows: int) -> Any:
    """Floats a step or two apart: of any size, of the smallest, and around zero."""
    start = (1.0, 1e300, 5e-324, -0.1)[rng.integers(4)]
    steps = [start]
    for _ in range(4):
        steps.append(float(np.nextafter(steps[-1], np.inf)))
    return np.array(steps)[rng.integers(0, 5, rows)]


def table(rng: np.random.Generator, rows: int, missing: str) -> pd.DataFrame:
    kinds: list[Any] = [
        lambda: np.round(rng.normal(size=rows), 1),
        lambda: rng.integers(0, 4, rows).astype(float),
        lambda: neighbours(rng, rows),
        lambda: rng.permutation(rows) + 0.5,
        lambda: 2**60 + rng.integers(0, 6, rows),
        lambda: rng.integers(0, 2, rows),
        lambda: rng.choice(["red", "green", "blue"], rows),
        # No mean of these is one of them, so that its last digit does not matter.
        lambda: np.where(
            rng.random(rows) < 0.3, np.nan, np.array([0, 1.37, 2.9, 7.1])[rng.integers(0, 4, rows)]
        ),
    ]
    if missing == "category":
        kinds.append(
            lambda: [None if rng.random() < 0.3 else ("x", "y", "z")[rng.integers(3)] for _ in range(rows)]
        )
    chosen = [0, *rng.integers(0, len(kinds), rng.integers(0, 3))]
    return pd.DataFrame({f"{place}": kinds[kind]() for place, kind in enumerate(chosen)})


def outcomes_of(frame: pd.DataFrame, rows: list[int], weights: list[int], missing: str) -> set[int]:
    """The sets of rows for which some test holds, as bits."""
    found = set()
    for name in frame:
        cells = [frame[name].iloc[row] for row in rows]
        absent = [bool(pd.isna(cell)) for cell in cells]
        there = [cell for cell, gone in zip(cells, absent, strict=True) if not gone]
        numeric = not isinstance(there[0], str) if there else False
        if missing == "impute" and numeric and any(absent):
            total = sum(
                Fraction(float(c)) * weights[r]
                for c, r, gone in zip(cells, rows, absent, strict=True)
                if not gone
            )
            mean = float(total / sum(weights[r] for r, gone in zip(rows, absent, strict=True) if not gone))
            cells, absent = (
                [mean if gone else c for c, gone in zip(cells, absent, strict=True)],
                [False] * len(cells),
            )
            there = cells
        for value in set(there):
            found.add(
                sum(
                    1 << row
                    for row, cell, gone in zip(rows, cells, absent, strict=True)
                    if not gone and (cell <= value if numeric else cell == value)
                )
            )
        found.add(sum(1 << row for row, gone in zip(rows, absent, strict=True) if gone))
    return found


class Brute:
    """The least cost with the price of leaves, and the fewest leaves among the trees that have it."""

    def __init__(
        self, tests: set[int], y: Any, weights: Any, costs: list[list[Fraction]], price: Fraction
    ) -> None:
        self.tests, self.price, self.costs = sorted(tests), price, costs
        self.y, self.weights = y, weights
        self.known: dict[tuple[int, int], tuple[Fraction, int]] = {}

    def rows(self, cover: int) -> list[int]:
        return [row for row in range(len(self.y)) if cover >> row & 1]

    def best(self, cover: int, depth: int, min_leaf: int) -> tuple[Fraction, int]:
        if (cover, depth) in self.known:
            return self.known[cover, depth]
        rows = self.rows(cover)
        best = (
            min(
                sum((self.costs[self.y[r]][k] * self.weights[r] for r in rows), Fraction(0))
                for k in range(len(self.costs))
            )
            + self.price,
            1,
        )
        for test in self.tests if depth else ():
            sides = cover & test, cover & ~test
            if any(not s or sum(self.weights[r] for r in self.rows(s)) < min_leaf for s in sides):
                continue
            one, zero = (self.best(side, depth - 1, min_leaf) for side in sides)
            best = min(best, (one[0] + zero[0], one[1] + zero[1]))
        self.known[cover, depth] = best
        return best


def check(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng([22, seed])
    depth = (2, 3, 2, 3, 4, 1)[seed % 6]
    rows = int(rng.integers(3, {1: 14, 2: 14, 3: 11, 4: 9}[depth]))
    missing = ("category", "impute")[seed // 6 % 2]
    X = table(rng, rows, missing)
    classes = int(rng.integers(2, 5))
    y = rng.integers(0, classes, rows)
    y[:2] = 0, 1
    present = sorted(set(y.tolist()))
    y = np.array([present.index(each) for each in y])
    classes = len(present)
    weights = rng.integers(0, 4, rows) if seed % 4 == 1 else np.ones(rows, dtype=int)
    weights[:2] = np.maximum(weights[:2], 1)
    used = [row for row in range(rows) if weights[row]]
    present = sorted({int(y[row]) for row in used})
    total = int(weights.sum())
    min_leaf = min(int((1, 1, 2, 3, 4)[rng.integers(5)]), total)
    price = Fraction(("0", "0", "0.5", "1", "1.3", "2")[rng.integers(6)])
    costs = [[Fraction(int(c != k)) for k in range(classes)] for c in range(classes)]
    words: dict[str, Any] = {"leaf_penalty": float(price)}
    sized = bool(rng.integers(2))
    words["minimize"] = ("error", "size") if sized else "error"
    if len(present) == classes and seed % 5 == 3:
        matrix = rng.integers(0, 4, (classes, classes))
        costs = [[Fraction(int(matrix[c, k])) for k in range(classes)] for c in range(classes)]
        words |= {"cost_matrix": matrix, "minimize": ("cost", "size") if sized else "cost"}
    elif len(present) == classes and seed % 5 == 4:
        dear = rng.integers(1, 4, classes)
        costs = [[Fraction(int(c != k) * int(dear[c])) for k in range(classes)] for c in range(classes)]
        words["class_weight"] = dict(enumerate(dear.tolist()))
    tests = outcomes_of(X, used, weights.tolist(), missing)
    brute = Brute(tests, y.tolist(), weights.tolist(), costs, price)
    least, leaves = brute.best(sum(1 << row for row in used), depth, min_leaf)
    given = weights if seed % 4 == 1 else None

    def right(objective: float, n_leaves: int) -> None:
        assert objective == pytest.approx(float(least), rel=1e-12, abs=1e-12), seed
        assert not sized or n_leaves == leaves, seed

    monkeypatch.setattr(every_cut, "FEW_CELLS", 0)
    monkeypatch.setattr(ordered_tests, "FEW_CELLS", 0)
    monkeypatch.setattr(ordered_tests, "FEW_CUTS", 0)
    model = et.OptimalTreeClassifier(depth, min_leaf=min_leaf, bins="all", missing=missing, **words)
    model.fit(X, y, sample_weight=given)
    assert model.optimal_, seed
    right(model.objective_, model.tree_.n_leaves)
    # What the tree says of the rows costs what it claims, and its leaves are large enough.
    said, leaf = model.predict(X), model.tree_.apply(model.binarizer_.transform(X))
    paid = (
        sum((costs[y[row]][said[row]] * int(weights[row]) for row in used), Fraction(0))
        + price * model.tree_.n_leaves
    )
    assert paid == least, seed
    sizes = np.bincount(leaf, weights)
    assert sizes[sizes > 0].min() >= min_leaf, seed
    for cuts in ("global", "local"):
        space = et.TreeSpace.from_frame(
            X,
            y,
            bins="all",
            cuts=cuts,
            max_depth=depth,
            min_leaf=min_leaf,
            missing=missing,
            sample_weight=given,
        )
        tree = space.best(**words)
        assert tree.info["optimal"], seed
        right(tree.info["objective"], tree.n_leaves)


@pytest.mark.parametrize("part", range(PARTS))
def test_no_tree_over_any_cut_points_is_better(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in TABLES[part::PARTS]:
        check(seed, monkeypatch)
