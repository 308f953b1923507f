"""The ordered search of a space with many cuts: the optimum of the general road, whatever is asked, or that road."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import everytree as et
from everytree.data.table_codes import codes_of
from everytree.query import ordered_tests
from everytree.query.ordered_tests import offered_key

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


def gappy(rows: int, seed: int) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(rows, 2)), columns=["a", "b"])
    X.loc[rng.random(rows) < 0.2, "a"] = np.nan
    X["c"] = rng.choice(["red", "green", "blue"], rows)
    return X, ((X["a"].fillna(9) > 0) ^ (X["b"] > 0)).astype(int)


def test_no_matrix_of_tests_is_made_before_a_question_needs_it() -> None:
    X, y = gappy(900, 3)
    space = et.TreeSpace.from_frame(X, y, bins="all", max_depth=3)
    coded = space.table.coded
    assert coded is not None
    for words in ({}, {"max_depth": 2}, {"forbid": ["b"]}, {"leaf_penalty": 1.5}, {"leaf": et.Support(4)}):
        given: dict[str, Any] = words
        tree = space.best(**given)
        assert tree.n_tests == space.n_tests
        assert tree.counts.sum() == 900 + tree.counts[1:].sum()
        assert int((tree.predict(space.rows_of(X)) != y).sum()) == tree.error
    assert not coded.are_made
    with pytest.raises(ZeroDivisionError):
        coded.make(lambda: 1 // 0)  # a limit ends the making of rows
    assert not coded.are_made
    plain = et.TreeSpace.from_frame(X, y, bins="all", max_depth=3)
    _ = plain.table.rows
    assert space.best() == plain.best()
    assert space.table == plain.table
    assert coded.are_made  # to compare them


def test_what_a_space_answers_does_not_depend_on_when_its_matrix_is_made() -> None:
    rng = np.random.default_rng(4)
    X, y = frame(rng, 40, 1), rng.integers(0, 2, 40)
    lazy, made = (et.TreeSpace.from_frame(X, y, bins="all", max_depth=2) for _ in range(2))
    _ = made.table.rows
    sent = pickle.loads(pickle.dumps(lazy.table))
    assert not lazy.table.coded.are_made
    assert sent == made.table
    lazy = et.TreeSpace.from_frame(X, y, bins="all", max_depth=2)
    assert lazy.front() == made.front()
    assert lazy.posterior().log_evidence == made.posterior().log_evidence
    assert lazy.best(forbid=["gaps"]).error == made.best(forbid=["gaps"]).error
    assert [tree.key for tree in lazy.best(k=3)] == [tree.key for tree in made.best(k=3)]


def test_a_node_whose_values_end_asks_for_missing_ones() -> None:
    # Where b is 1, a has the value 1 or none: the cut after 1 is "is missing" there, with the sides exchanged.
    X = pd.DataFrame({"a": [1.0, np.nan] * 6 + [2.0, 3.0] * 6, "b": [1.0, 1.0] * 6 + [0.5, 0.0] * 6})
    space = et.TreeSpace.from_frame(X, [0, 1] * 12, bins="all", max_depth=3)
    assert space.test_names == ("a <= 1.5", "a <= 2.5", "a is missing", "b <= 0.25", "b <= 0.75")
    columns, codes = space.table.columns, codes_of(space.table)
    key = [4, 0, -1, 4, -1, -1, 1, -1, -1]
    assert offered_key(key, columns, codes, 3) == [4, 2, 4, -1, -1, -1, 1, -1, -1]
    # The lowest level asks what the state above it offers, which has greater values.
    assert offered_key(key, columns, codes, 2) == key


@pytest.mark.long
def test_columns_whose_matrix_would_not_fit_have_a_best_tree() -> None:
    rng = np.random.default_rng(6)
    X = rng.permutation(120_000).reshape(60_000, 2) + 0.25
    y = (X[:, 0] > 4e4) & (X[:, 1] <= 1e5)
    space = et.TreeSpace.from_frame(X, y, bins="all", max_depth=2)
    assert (space.best().error, space.best().n_leaves) == (0, 3)
    with pytest.raises(et.errors.DataError, match="fewer bins"):
        space.front()
