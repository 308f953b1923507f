"""The ordered search of a space with many cuts: the optimum of the general road, whatever is asked, or that road."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest

import everytree as et
from everytree.query import ordered_tests

NEVER = 10**12


def frame(rng: np.random.Generator, rows: int, kind: int) -> pd.DataFrame:
    data: dict[str, Any] = {
        "a": np.round(rng.normal(size=rows), 1),
        "b": rng.integers(0, 5, rows).astype(float),
    }
    if kind % 2:
        data["gaps"] = np.where(rng.random(rows) < 0.25, np.nan, rng.integers(0, 7, rows))
        data["c"] = rng.choice(["red", "green", "blue"], rows)
    if kind % 3 == 2:
        data["flag"] = rng.integers(0, 2, rows)
    return pd.DataFrame(data)


def asked(monkeypatch: pytest.MonkeyPatch, space: Any, ordered: bool, **words: Any) -> tuple[Any, int]:
    """The best tree by one road, and how often the ordered search was asked."""
    calls = []
    solved = ordered_tests.solved

    def counted(*given: Any) -> Any:
        calls.append(given)
        return solved(*given)

    with monkeypatch.context() as patch:
        patch.setattr(ordered_tests, "FEW_CELLS", 0 if ordered else NEVER)
        patch.setattr(ordered_tests, "FEW_CUTS", 0)
        patch.setattr(ordered_tests, "solved", counted)
        return space.best(**words), len(calls)


@pytest.mark.parametrize("cuts", ["local", "global"])
@pytest.mark.parametrize("case", range(16))
def test_both_roads_find_the_same_optimum(case: int, cuts: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(case)
    for depth, min_leaf in itertools.product((2, 3), (1, 3)):
        X = frame(rng, 28, case)
        classes = 2 + case % 2
        y = rng.integers(0, classes, 28)
        weights = rng.integers(1, 4, 28) if case % 4 == 1 else None
        missing = ("category", "impute")[case % 2]
        space = et.TreeSpace.from_frame(
            X, y, bins="all", cuts=cuts, max_depth=depth, min_leaf=min_leaf, sample_weight=weights, missing=missing
        )  # fmt: skip
        words: dict[str, Any] = {"leaf_penalty": (0, 0.5, 1.3)[case % 3]}
        words["minimize"] = (("error", "size"), "error")[depth % 2]
        if case % 5 == 3:
            words |= {"minimize": ("cost", "size"), "cost_matrix": rng.integers(0, 4, (classes, classes))}
        elif case % 5 == 4:
            words["class_weight"] = "balanced"
        if case % 6 == 5:
            words["forbid"] = ["a"]
        if case % 7 == 6:
            words["leaf"] = et.Support(2)
        plain, none = asked(monkeypatch, space, False, **words)
        ranked, once = asked(monkeypatch, space, True, **words)
        assert (none, once) == (0, 1)
        assert ranked.info["optimal"]
        assert ranked.info["objective"] == pytest.approx(plain.info["objective"], rel=1e-12)
        assert type(ranked.info["objective"]) is type(plain.info["objective"])
        assert (ranked.info["stop_reason"], ranked.info["gap"]) == ("proved", 0)
        if "size" in words["minimize"]:
            assert ranked.n_leaves == plain.n_leaves
        space.check_offered(ranked.key)  # a tree of this space


def test_other_questions_take_the_general_road(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X, y = frame(rng, 60, 1), rng.integers(0, 2, 60)
    for cuts in ("local", "global"):
        space = et.TreeSpace.from_frame(X, y, bins="all", cuts=cuts, max_depth=2)
        for words in (
            {"max_leaves": 3}, {"max_error": 30}, {"minimize": ("gini", "size")}, {"minimize": ("error", "depth")},
            {"leaf": et.Margin(2)}, {"require": "a"}, {"max_depth": 1}, {"min_accuracy": 0.1},
        ):  # fmt: skip
            given: dict[str, Any] = words
            tree, calls = asked(monkeypatch, space, True, **given)
            assert calls == 0
            assert tree.depth <= 2
    few = et.TreeSpace.from_frame(X, y, bins=3, cuts="local", max_depth=2)
    assert asked(monkeypatch, few, True)[1] == 0  # nodes choose a few cuts of their own
    half = np.full(60, 0.5)
    parts = et.TreeSpace.from_frame(X, y, bins="all", cuts="global", max_depth=2, sample_weight=half)
    assert asked(monkeypatch, parts, True)[1] == 0
    table = et.TreeSpace(rng.integers(0, 2, (60, 8)), y, max_depth=2)
    assert asked(monkeypatch, table, True)[1] == 0  # no columns are known


def test_few_cuts_take_the_general_road(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)

    def refused(*given: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(ordered_tests, "solved", refused)
    et.TreeSpace.from_frame(X, y, bins=20, cuts="global", max_depth=2).best()
    with pytest.raises(ZeroDivisionError):
        et.TreeSpace.from_frame(X, y, bins="all", cuts="global", max_depth=2).best()


@pytest.mark.long
def test_a_limit_leaves_the_best_so_far_and_a_gap() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(1500, 6))
    y = (X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=1500) > 0).astype(int)
    space = et.TreeSpace.from_frame(X, y, bins="all", cuts="global", max_depth=4, time_limit=1)
    tree = space.best()
    least, found = tree.info["lower_bound"], tree.info["objective"]
    assert not tree.info["optimal"]
    assert tree.info["stop_reason"] == "time limit"
    assert least < found
    assert tree.info["gap"] == (found - least) / found
    assert int((tree.predict(space.rows_of(X)) != y).sum()) == found
