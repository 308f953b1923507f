"""Recall, precision and F1 in queries, against every tree with every answer of its leaves."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import everytree as et
from everytree.errors import LimitReached, QueryError
from everytree.query import rates
from everytree.query.query import Query
from everytree.query.rates import Rate, best_by_rate, counts_of, split_rate
from everytree.query.text import parse_query

Point = tuple[int, int, int]  # hits, misses, alarms


def every_point(rows: list[tuple[tuple[int, ...], int]], depth: int, min_leaf: int) -> set[Point]:
    """All that trees can do: every tree, every answer of every leaf."""
    n, positives = len(rows), sum(y for _, y in rows)
    found = {(positives, 0, n - positives), (0, positives, 0)}
    for test in range(len(rows[0][0])) if depth else ():
        sides = [[row for row in rows if row[0][test] == side] for side in (0, 1)]
        if min(map(len, sides)) >= min_leaf:
            left, right = (every_point(side, depth - 1, min_leaf) for side in sides)
            found |= {(a[0] + b[0], a[1] + b[1], a[2] + b[2]) for a in left for b in right}
    return found


def f1(point: Point) -> Fraction:
    hits, misses, alarms = point
    return Fraction(2 * hits, max(1, 2 * hits + misses + alarms))


def meets(kind: str, least: Fraction, point: Point) -> bool:
    hits, misses, alarms = point
    if kind == "recall":
        return hits >= least * (hits + misses)
    return hits >= least * (hits + alarms) if kind == "precision" else f1(point) >= least


def examples(seed: int) -> tuple[Any, Any]:
    draw = np.random.default_rng(seed)
    X = draw.integers(0, 2, (40, 5))
    return X, np.where(draw.random(40) < 0.2 + 0.4 * X[:, 0] * X[:, 1], "Yes", "No")


def points_of(X: Any, y: Any) -> set[Point]:
    rows = [(tuple(row), int(label == "Yes")) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    return every_point(rows, 2, 3)


@pytest.mark.parametrize("seed", range(25))
def test_the_largest_f1_is_found_and_proved(seed: int) -> None:
    X, y = examples(seed)
    tree = best_by_rate(et.TreeSpace(X, y, max_depth=2, min_leaf=3), Rate("f1", "Yes"))
    assert tree.info["optimal"]
    assert counts_of(tree, 1).f1 == max(map(f1, points_of(X, y)))
    assert Fraction(tree.info["f1"]).limit_denominator(1000) == counts_of(tree, 1).f1


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize(
    ("kind", "least"), [("recall", 0.9), ("recall", 0.7), ("precision", 0.8), ("f1", 0.5)]
)
def test_bounds_on_rates_are_met_and_what_is_proved_is_true(seed: int, kind: str, least: float) -> None:
    X, y = examples(seed)
    space = et.TreeSpace(X, y, max_depth=2, min_leaf=3)
    fewest = [
        misses + alarms
        for hits, misses, alarms in points_of(X, y)
        if meets(kind, Fraction(str(least)), (hits, misses, alarms))
    ]
    if not fewest:
        with pytest.raises(QueryError, match="no tree of the space meets the bound"):
            best_by_rate(space, Rate(kind, "Yes", least))
        return
    tree = best_by_rate(space, Rate(kind, "Yes", least))
    told = tree.info
    assert meets(kind, Fraction(str(least)), (told["hits"], told["misses"], told["alarms"]))
    assert told["lower_bound"] <= min(fewest) <= told["errors"]
    assert not told["optimal"] or told["errors"] == min(fewest)
    assert told["errors"] == int((tree.predict(X) != y).sum())  # leaves say what was counted


def test_small_spaces_have_no_gap() -> None:
    """Prices alone prove less than half of these: ranking by price closes what they leave."""
    for seed in range(25):
        X, y = examples(seed)
        tree = best_by_rate(et.TreeSpace(X, y, max_depth=2, min_leaf=3), Rate("recall", "Yes", 0.9))
        assert tree.info["optimal"]
        assert tree.info["gap"] == 0
        plain = best_by_rate(
            et.TreeSpace(X, y, max_depth=2, min_leaf=3), Rate("recall", "Yes", 0.9), prove=False
        )
        assert plain.info["lower_bound"] <= tree.info["errors"] <= plain.info["errors"]


def test_where_ranks_do_not_suffice_the_bound_is_raised_and_true(monkeypatch: pytest.MonkeyPatch) -> None:
    raised = 0
    for seed in range(25):
        X, y = examples(seed)
        space, rate = et.TreeSpace(X, y, max_depth=2, min_leaf=3), Rate("recall", "Yes", 0.7)
        found = {}
        for ranks in ((), (3,), (3, 20)):
            monkeypatch.setattr(rates, "RANKS", ranks)
            found[ranks] = best_by_rate(space, rate).info
        fewest = min(m + a for h, m, a in points_of(X, y) if meets("recall", Fraction(7, 10), (h, m, a)))
        bounds = [each["lower_bound"] for each in found.values()]
        assert bounds == sorted(bounds)
        assert all(each["lower_bound"] <= fewest <= each["errors"] for each in found.values())
        raised += bounds[-1] > bounds[0]
    assert raised > 5


def test_further_conditions_hold() -> None:
    X, y = examples(3)
    space = et.TreeSpace(X, y, max_depth=3, min_leaf=3)
    tree = best_by_rate(space, Rate("recall", "Yes", 0.8), Query(max_depth=1))
    assert tree.depth <= 1
    assert tree.info["recall"] >= 0.8
    three = np.array(["a", "b", "c"] * 14)[:40]
    found = best_by_rate(et.TreeSpace(X, three, max_depth=2), Rate("recall", "b", 0.9))
    assert found.info["recall"] >= 0.9


@pytest.mark.parametrize(
    ("text", "rest", "rate"),
    [
        ("most accurate where recall >= 90%", "most accurate", Rate("recall", None, 0.9)),
        ("recall of Yes >= 0.9", "most accurate", Rate("recall", "Yes", 0.9)),
        (
            "depth <= 3 and precision of no ≥ 80% and leaf >= 5",
            "depth <= 3 and leaf >= 5",
            Rate("precision", "no", 0.8),
        ),
        ('most F1 of "very ill" where depth <= 2', "most accurate where depth <= 2", Rate("f1", "very ill")),
        ("most accurate where depth <= 2", "most accurate where depth <= 2", None),
    ],
)
def test_rates_in_words(text: str, rest: str, rate: Rate | None) -> None:
    assert split_rate(text) == (rest, rate)


def test_what_does_not_decompose_is_refused_with_a_reason() -> None:
    with pytest.raises(QueryError, match="it is no sum over leaves"):
        parse_query("most accurate where auc >= 0.9")
    with pytest.raises(QueryError, match="one of recall, precision and F1 at a time"):
        split_rate("most accurate where recall >= 90% and precision >= 90%")
    with pytest.raises(QueryError, match="expected a share above 0"):
        split_rate("most accurate where recall >= 900%")
    X, y = examples(0)
    space = et.TreeSpace(X, y, max_depth=1)
    for rate, query, message in (
        (Rate("recall", "Maybe", 0.9), None, "no such class; expected one of No, Yes"),
        (
            Rate("recall", "Yes", 0.9),
            Query(min_accuracy=0.9),
            "bounds recall and the error of the same leaves",
        ),
        (Rate("recall", "Yes", 0.9), Query("gini"), "goes with the most accurate tree"),
        (Rate("recall", "Yes"), None, "says one class always"),
    ):
        with pytest.raises(QueryError, match=message):
            best_by_rate(space, rate, query)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", ["recall", "precision", "f1", "most f1"])
@pytest.mark.parametrize("seconds", [1e-5, 1e-4, 1e-3, 4e-3])
def test_what_a_stopped_search_claims_is_true(seed: int, kind: str, seconds: float) -> None:
    """Wherever a limit stops it, the tree meets the bound, and no tree is better than the bound that is told."""
    X, y = examples(seed)
    points = points_of(X, y)
    space = et.TreeSpace(X, y, max_depth=2, min_leaf=3, time_limit=seconds)
    rate = Rate("f1", "Yes") if kind == "most f1" else Rate(kind, "Yes", 0.6)
    try:
        told = best_by_rate(space, rate).info
    except LimitReached:
        return  # before there was a tree
    except QueryError:
        assert not any(meets(kind, Fraction(3, 5), point) for point in points)
        return
    assert told["optimal"] == (told["stop_reason"] == "proved")
    if kind == "most f1":
        best = max(map(f1, points))
        assert told["f1"] <= float(best) + 1e-12 <= told["f1_bound"] + 2e-12
        assert not told["optimal"] or told["f1"] == pytest.approx(float(best))
        return
    fewest = min(m + a for h, m, a in points if meets(kind, Fraction(3, 5), (h, m, a)))
    assert meets(kind, Fraction(3, 5), (told["hits"], told["misses"], told["alarms"]))
    assert told["lower_bound"] <= fewest <= told["errors"]
    assert told["gap"] == pytest.approx((told["errors"] - told["lower_bound"]) / max(1, told["errors"]))
    assert not told["optimal"] or told["errors"] == fewest


def test_a_limit_before_there_is_a_tree_is_told() -> None:
    X, y = examples(0)
    space = et.TreeSpace(X, y, max_depth=2, min_leaf=3, time_limit=1e-9)
    with pytest.raises(
        LimitReached, match="time limit reached before a tree that meets the bound was found; try"
    ):
        best_by_rate(space, Rate("recall", "Yes", 0.6))
    with pytest.raises(LimitReached, match="time limit reached before a tree was found; try"):
        best_by_rate(space, Rate("f1", "Yes"))


def test_all_searches_of_a_question_share_one_clock() -> None:
    draw = np.random.default_rng(0)
    X = draw.integers(0, 2, (3000, 60))
    y = np.where(draw.random(3000) < 0.15 + 0.1 * X[:, 0] * X[:, 1], "Yes", "No")
    for rate in (Rate("recall", "Yes", 0.8), Rate("f1", "Yes")):
        space = et.TreeSpace(X, y, max_depth=5, time_limit=0.4)
        begin = time.monotonic()
        told = best_by_rate(space, rate).info
        assert time.monotonic() - begin < 2  # sixty searches of 0.4 s each would take longer
        assert not told["optimal"]
        assert told["stop_reason"] == "time limit"
        if rate.least is None:
            assert told["f1"] < told["f1_bound"] <= 1
        else:
            assert told["recall"] >= 0.8
            assert told["lower_bound"] < told["errors"]
