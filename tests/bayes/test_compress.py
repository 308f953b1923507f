"""Compressed rules: their ends (no loss, no rules), their export, and what they refuse."""

from __future__ import annotations

import copy
import json
import re
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import everytree as et
from everytree import CompressedRules, DataError, LimitReached, QueryError, TreeSpace
from everytree.data.binarizer import Binarizer

DATA = Path(__file__).parents[3] / "shared" / "data"


def random_posterior(seed: int = 0, n_classes: int = 2, n_tests: int = 6, **space: object) -> et.Posterior:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (60, n_tests))
    y = (X[:, 0] & X[:, 1]) + (X[:, 2] | (rng.random(60) < 0.2)) * (n_classes > 2)
    y = np.where(rng.random(60) < 0.15, rng.integers(0, n_classes, 60), y)
    return TreeSpace(X, y, classes=range(n_classes), **space).posterior()  # type: ignore[arg-type]


def every_row(n_tests: int) -> np.ndarray:
    return (np.arange(2**n_tests)[:, None] >> np.arange(n_tests) & 1).astype(np.uint8)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_without_loss_nothing_changes(n_classes: int) -> None:
    post = random_posterior(1, n_classes, max_depth=4)
    rules = post.compress(0)
    assert rules.bound == 0
    assert rules.n_rules == rules.n_exact > 20
    rows = every_row(6)
    assert np.abs(rules.predict_proba(rows) - post.predict_proba(rows)).max() < 1e-12
    assert rules.predict(rows).tolist() == post.predict(rows).tolist()


def test_with_room_to_spare_the_base_rate_remains() -> None:
    post = random_posterior(2)
    rules = post.compress(1.0)
    n = post.space.table.class_counts.sum(axis=0)
    assert rules.n_rules == 0
    assert rules.rules == ()
    assert rules.predict_proba(every_row(6)[:3]) == pytest.approx(np.tile((n + 1) / (n.sum() + 2), (3, 1)))
    assert np.abs(post.predict_proba(every_row(6)) - rules.base).max() <= rules.bound <= 1


def test_the_sum_of_rules_by_hand() -> None:
    rules = random_posterior(3, 3).compress(0.02)
    for row in every_row(6)[::7]:
        sums = np.array(rules.base)
        for rule in rules.rules:
            if all(row[test] == outcome for test, outcome in rule.items):
                sums += rule.moves
            assert abs(sum(rule.moves)) < 1e-12
        assert np.abs(rules.predict_proba([row])[0] - sums).max() <= 0.02


def test_few_rules_say_most() -> None:
    post = random_posterior(4, n_tests=12, max_depth=4)
    curve = post.compression_curve([0, 0.001, 0.01, 0.1])
    assert curve[0].n_rules > 600
    assert curve[2].n_rules < curve[0].n_rules / 2
    assert [point.bound <= point.epsilon for point in curve] == [True] * 4


def test_clipping_stays_within_the_bound() -> None:
    # q is off by at most b from a probability vector: the nearest probabilities by at most b, or 2b beyond 3 classes.
    rng = np.random.default_rng(0)
    for n_classes, factor in [(2, 1), (3, 1), (4, 2), (6, 2)]:
        none = np.zeros(0, np.uint32)
        for _ in range(300):
            p = rng.dirichlet(np.full(n_classes, 0.2))
            off = rng.uniform(-1, 1, n_classes)
            off -= off.mean()
            b = 0.3 * rng.random()
            off *= b / np.abs(off).max()
            floor = p * rng.choice([0.0, 0.5, 1.0], n_classes)
            core = et._core.RuleSum(p + off, none, np.zeros(1, np.uint64), np.zeros((0, n_classes)), 1, floor)
            clipped = core.predict(np.zeros((1, 1), np.uint8), et._core.Control())[0]
            assert abs(clipped.sum() - 1) < 1e-12
            assert (clipped >= floor - 1e-15).all()
            assert np.abs(clipped - p).max() <= factor * b + 1e-12


def test_more_rows_than_one_batch() -> None:
    post = random_posterior(5)
    rules = post.compress(0.01)
    rows = np.random.default_rng(0).integers(0, 2, (2500, 6)).astype(np.uint8)
    at_once = rules.predict_proba(rows)
    assert (at_once == np.concatenate([rules.predict_proba(rows[k : k + 1]) for k in range(2500)])).all()
    assert rules.predict_proba(rows[:0]).shape == (0, 2)


@pytest.mark.parametrize(
    "space",
    [
        {"max_depth": 0},
        {"max_depth": 1},
        {"max_depth": None, "min_leaf": 8},
        {"max_depth": 3, "min_leaf": 30},
        {"max_depth": 2, "min_leaf": 60},
    ],
)
def test_small_spaces(space: dict[str, int | None]) -> None:
    post = random_posterior(6, **space)
    rows = every_row(6)
    exact = post.predict_proba(rows)
    for epsilon in (0, 0.01, 0.2):
        rules = post.compress(epsilon)
        assert np.abs(rules.predict_proba(rows) - exact).max() <= rules.bound + 1e-12


def test_rules_can_be_copied() -> None:
    rules = random_posterior(7).compress(0.01)
    assert len(rules.rules) == rules.n_rules
    again = copy.deepcopy(rules)
    assert again == rules
    assert (again.predict_proba(every_row(6)) == rules.predict_proba(every_row(6))).all()


def test_one_class_and_no_test() -> None:
    single = TreeSpace([[0], [1]], ["a", "a"]).posterior().compress(0.1)
    assert single.predict_proba([[0], [1]]).tolist() == [[1.0], [1.0]]
    empty = TreeSpace(np.zeros((3, 0)), [0, 1, 1]).posterior().compress(0)
    assert empty.predict_proba(np.zeros((2, 0))).tolist() == pytest.approx(np.array([[0.4, 0.6]] * 2))


# --- export ---


def test_the_dict_goes_through_json_and_comes_back() -> None:
    for n_classes in (2, 3):
        rules = random_posterior(7, n_classes).compress(0.01)
        back = CompressedRules.from_dict(json.loads(json.dumps(rules.to_dict())))
        assert back == rules
        assert repr(back) == repr(rules)
        assert (back.predict_proba(every_row(6)) == rules.predict_proba(every_row(6))).all()
    assert rules != random_posterior(7).compress(0.01)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "x"}, "format is 'x': expected 'everytree.rules'."),
        ({"version": 2}, "version is 2: this everytree reads version 1."),
        ({"classes": []}, "classes is empty: expected at least one label."),
        ({"classes": [[1], 2]}, "classes[0] is [1]: expected a label that JSON can hold"),
        ({"base": [0.5]}, "base is [0.5]: expected a list of 2."),
        ({"base": [0.5, "x"]}, "base[1] is 'x': expected a finite number."),
        ({"base": [0.5, 10**400]}, "expected a finite number."),
        ({"floor": [0.9, 0.9]}, "the floors of the probabilities add up to more than one"),
        ({"floor": [-0.1, 0.1]}, "the floor of a probability must not be negative"),
        ({"n_tests": -1}, "n_tests is -1: expected a whole number from 0 to 2147483647."),
        ({"test_names": ["a"]}, "test_names is ['a']: expected a list of 6."),
        ({"test_names": [1, 2, 3, 4, 5, 6]}, "test_names[0] is 1: expected a string."),
        ({"rules": 3}, "rules is 3: expected a list."),
        (
            {"rules": [{"items": [[0, 1]]}]},
            "rules[0] is {'items': [[0, 1]]}: expected a dict of items and moves.",
        ),
        (
            {"rules": [{"items": [[6, 1]], "moves": [0, 0]}]},
            "rules[0].items[0] is 6: expected a whole number from",
        ),
        (
            {"rules": [{"items": [[0, 2]], "moves": [0, 0]}]},
            "rules[0].items[0] is 2: expected a whole number from",
        ),
        ({"rules": [{"items": [], "moves": [0, 0]}]}, "a rule needs at least one item"),
        ({"rules": [{"items": [[1, 1], [0, 1]], "moves": [0, 0]}]}, "must be sorted by test, each test once"),
        ({"rules": [{"items": [[1, 1]], "moves": [0, 0]}] * 2}, "a rule is given twice"),
        ({"rules": [{"items": [[1, 1]], "moves": [0]}]}, "rules[0].moves is [0]: expected a list of 2."),
    ],
)
def test_a_damaged_dict_is_refused(change: dict[str, object], message: str) -> None:
    good = random_posterior(8).compress(0.1).to_dict()
    with pytest.raises(DataError, match=re.escape(message)):
        CompressedRules.from_dict(good | change)


def test_a_dict_with_a_field_missing_is_refused() -> None:
    good = random_posterior(8).compress(0.1).to_dict()
    del good["floor"]
    with pytest.raises(DataError, match="floor is missing: expected the fields format"):
        CompressedRules.from_dict(good)
    with pytest.raises(DataError, match="the rules are a list: expected a dict"):
        CompressedRules.from_dict([])  # type: ignore[arg-type]


def test_text_names_the_original_attributes() -> None:
    X = [[age, thal] for age in (20, 30, 40, 50, 60, 70) for thal in ("a", "b", "c")] * 4
    y = [int(age > 35 and thal != "b") for age, thal in X]
    binarizer = Binarizer(bins=4)
    rows = binarizer.fit_transform(X)
    space = TreeSpace(rows, y, test_names=binarizer.get_feature_names_out().tolist())
    rules = space.posterior().compress(0.1)
    text = rules.to_text()
    assert text.startswith(f"{rules.n_rules} rules; every probability is within")
    assert "x1 == b" in text
    assert re.search(r"x0 (<=|>) \d", text)
    assert text.count("\n") == rules.n_rules + 2
    assert rules.to_text(1).endswith(f"… and {rules.n_rules - 1} more")


@pytest.mark.parametrize("missing", ["category", "impute"])
def test_sql_on_the_original_columns(missing: str) -> None:
    rng = np.random.default_rng(0)
    columns = {
        "the age": rng.integers(20, 80, 200).astype(object),
        'th"al': rng.choice(["it's", "b", "c"], 200).astype(object),
        "smoker": rng.integers(0, 2, 200).astype(object),
    }
    y = (columns["the age"] > 45) & (columns['th"al'] != "b") | (rng.random(200) < 0.1)
    for values in columns.values():
        values[rng.random(200) < 0.1] = None
    import pandas as pd

    frame = pd.DataFrame(columns).astype({"the age": float, "smoker": float})
    binarizer = Binarizer(missing=missing)
    X = binarizer.fit_transform(frame)
    space = TreeSpace(X, y, 3, 2, test_names=binarizer.get_feature_names_out().tolist())
    rules = space.posterior().compress(0.001)
    with sqlite3.connect(":memory:") as base:
        base.execute('CREATE TABLE t ("the age" REAL, "th""al" TEXT, smoker REAL)')
        base.executemany("INSERT INTO t VALUES (?, ?, ?)", zip(*columns.values(), strict=True))
        found = base.execute(f"SELECT {rules.to_sql(binarizer)} FROM t").fetchall()
        assert np.array(found)[:, 0] == pytest.approx(rules.predict_proba(X)[:, 1], abs=0.0011)
        first = base.execute(f"SELECT {rules.to_sql(binarizer, label=False)} FROM t").fetchall()
        assert np.array(first)[:, 0] == pytest.approx(1 - np.array(found)[:, 0])
        names = ", ".join(f'"{name}"' for name in space.test_names or ()).replace('th"al', 'th""al')
        base.execute(f"CREATE TABLE tests ({names})")
        base.executemany(f"INSERT INTO tests VALUES ({', '.join('?' * X.shape[1])})", X.tolist())
        plain = base.execute(f"SELECT {rules.to_sql()} FROM tests").fetchall()
        assert np.array(plain) == pytest.approx(np.array(found))


def test_sql_refuses_what_does_not_fit() -> None:
    rules = random_posterior(9).compress(0.1)
    with pytest.raises(QueryError, match="label=7; expected one of 0, 1"):
        rules.to_sql(label=7)
    with pytest.raises(QueryError, match="binarizer has 1 tests that are not the 6 tests of the model"):
        rules.to_sql(Binarizer().fit([[0], [1]]))


# --- arguments and limits ---


@pytest.mark.parametrize("epsilon", [-0.1, float("nan"), float("inf"), "much", None, True])
def test_epsilon_is_checked(epsilon: object) -> None:
    post = random_posterior(10)
    with pytest.raises(QueryError, match=r"epsilon=.*; expected a finite number ≥ 0, such as 0\.01"):
        post.compress(epsilon)  # type: ignore[arg-type]
    with pytest.raises(QueryError, match=r"epsilons=.*; expected"):
        post.compression_curve([epsilon])  # type: ignore[list-item]


def test_curve_wants_several() -> None:
    with pytest.raises(QueryError, match=r"epsilons=0\.1; expected several numbers"):
        random_posterior(10).compression_curve(0.1)  # type: ignore[arg-type]


def test_rows_are_checked() -> None:
    rules = random_posterior(10).compress(0.1)
    with pytest.raises(DataError, match="X has 5 columns; expected the 6 tests of the rules"):
        rules.predict_proba(np.zeros((1, 5)))
    with pytest.raises(DataError, match="X must hold only 0 and 1, but column 2 holds 7"):
        rules.predict_proba([[0, 0, 7, 0, 0, 0]])


def test_limits_hold() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (100, 40))
    small = TreeSpace(X, X[:, 0], max_depth=4, min_leaf=10, memory_limit=3 * 10**6).posterior()
    with pytest.raises(LimitReached, match="memory limit reached while compressing the posterior"):
        small.compress(0.01)
    quick = TreeSpace(X, X[:, 0], max_depth=4, min_leaf=10, time_limit=60)
    post = quick.posterior()
    quick.limits = et.common.limits.Limits(1e-6)
    with pytest.raises(LimitReached, match="time limit reached while compressing the posterior"):
        post.compress(0.01)


# --- real data ---


@pytest.mark.parametrize("name", ["heart-cleveland", "vote", "diabetes"])
def test_raw_data_within_a_hundredth(name: str) -> None:
    path = DATA / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"{path.name} is not there")
    X_raw, y = et.read_csv(path).split("class")
    model = et.BayesOptimalClassifier(missing="impute").fit(X_raw, y)
    X = model.binarizer_.transform(X_raw)
    rules = model.posterior_.compress(0.01)
    rows = np.concatenate([X, np.random.default_rng(0).integers(0, 2, (200, X.shape[1])).astype(np.uint8)])
    assert (
        np.abs(rules.predict_proba(rows) - model.posterior_.predict_proba(rows)).max() <= rules.bound <= 0.01
    )
    assert rules.n_rules < 1500
    # Measured: 400 to 1,700 times faster. Twenty is what is promised, so a busy machine may be slow too.
    assert least_seconds(lambda: model.posterior_.predict_proba(X), 3) > 20 * least_seconds(
        lambda: rules.predict_proba(X), 20
    )


def least_seconds(f: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
    return min(times)
