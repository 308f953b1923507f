"""Limits count for all of a fit: where they do not allow all tests, the answer is still no worse than a greedy tree."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.exceptions import ConvergenceWarning

import everytree as et
from everytree.data import fewer_tests
from everytree.data.binarizer import Binarizer, encodings_of, rules_of
from everytree.data.cut_rules import CutRules
from everytree.data.encoding import Encoding, Test
from everytree.data.fewer_tests import (
    Budget,
    Coded,
    alike,
    code_columns,
    greedy_cuts,
    leave_out,
    worth_leaving_out,
)
from everytree.data.frames import read_frame
from everytree.errors import DataError, LimitReached

FLOOR = 4.0  # seconds beside the limit: reading, cuts, a greedy tree; generous, for busy machines


def numbers(rows: int, seed: int = 0) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    wave = X[:, 0] + 0.5 * X[:, 1] ** 2 - np.sin(2 * X[:, 2])
    return X, (wave + 0.7 * rng.normal(size=rows) > 0.2).astype(np.intp)


def greedy_errors(X: Any, y: Any, depth: int, min_leaf: int = 1) -> int:
    from sklearn.tree import DecisionTreeClassifier

    return min(
        int(
            (
                DecisionTreeClassifier(
                    criterion=criterion, max_depth=depth, min_samples_leaf=min_leaf, random_state=0
                )
                .fit(X, y)
                .predict(X)
                != y
            ).sum()
        )
        for criterion in ("gini", "entropy")
    )


def fitted(seconds: float, X: Any, y: Any, **words: Any) -> tuple[Any, float]:
    began = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        words = {"leaf_penalty": 0} | words  # the greedy trees count errors only
        model = et.OptimalTreeClassifier(bins="all", time_limit=seconds, **words).fit(X, y)
    return model, time.monotonic() - began


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
def test_every_cut_under_a_limit_is_no_worse_than_greedy(depth: int) -> None:
    X, y = numbers(1500)
    for min_leaf in (1, 25):
        least = greedy_errors(X, y, depth, min_leaf)
        for seconds in (0.001, 0.05, 0.5):
            model, took = fitted(seconds, X, y, max_depth=depth, min_leaf=min_leaf)
            assert model.error_ <= least
            assert took < seconds + FLOOR
            assert model.score(X, y) == pytest.approx(1 - model.error_ / len(y))


@pytest.mark.slow
@pytest.mark.parametrize("depth", [2, 3, 4, 5])
def test_ten_thousand_rows_and_every_cut_in_five_seconds(depth: int) -> None:
    X, y = numbers(10_000)
    model, took = fitted(5, X, y, max_depth=depth)
    assert model.error_ <= greedy_errors(X, y, depth)
    assert took < 5 + FLOOR


def test_the_model_says_what_was_left_out() -> None:
    X, y = numbers(1500)
    X[:20], y[:20] = X[0], np.arange(20) % 2  # ten errors of any tree
    with pytest.warns(
        ConvergenceWarning, match=r"time limit of 0.01 s allows \d+ of 4\d+ tests, and not all"
    ):
        model = et.OptimalTreeClassifier(
            max_depth=3, bins="all", minimize=("expected_error", "size"), time_limit=0.01
        ).fit(X, y)
    assert model.n_left_out_ > 0
    assert model.stop_reason_ == "time limit"
    assert not model.optimal_
    assert not model.tree_.info["optimal"]
    assert model.lower_bound_ == model.tree_.info["lower_bound"] == 10
    assert model.gap_ == pytest.approx((model.objective_ - 10) / model.objective_)
    with pytest.warns(ConvergenceWarning, match="not all were looked at"):
        model.refit(time_limit=60, max_depth=1)  # of the tests that are there: nothing is proved of all
    assert not model.optimal_
    model.set_params(max_depth=1, time_limit=None).fit(X, y)
    assert model.n_left_out_ == 0
    assert model.optimal_


def test_the_bound_follows_the_costs() -> None:
    X, y = numbers(1500)
    X[:20], y[:20] = X[0], np.arange(20) % 2
    more: list[tuple[dict[str, Any], float]] = [
        ({"class_weight": {0: 1, 1: 3}}, 10.0),
        ({"class_weight": {0: 4, 1: 3}, "leaf_penalty": 2}, 32.0),
        ({"minimize": ("cost", "size"), "cost_matrix": [[1, 2], [3, 0]]}, float(20 + np.sum(y[20:] == 0))),
        ({"minimize": ("gini", "size")}, 0.0),
        ({"minimize": ("expected_error", "size")}, 10.0),
    ]
    for words, least in more:
        model, _ = fitted(0.01, X, y, max_depth=4, **words)
        # Costs of a matrix are searched over every cut-point; of others some are left out.
        if words.get("minimize", ("error",))[0] in ("error", "cost"):
            assert model.n_left_out_ == 0
            assert least <= model.lower_bound_ + 1e-9
        else:
            assert model.n_left_out_ > 0
            assert model.lower_bound_ == pytest.approx(least)
        assert model.objective_ >= model.lower_bound_


def test_no_limit_leaves_nothing_out_and_changes_nothing() -> None:
    X, y = numbers(300)
    plain = et.OptimalTreeClassifier(max_depth=2, bins="all").fit(X, y)
    limited = et.OptimalTreeClassifier(max_depth=2, bins="all", time_limit=600).fit(X, y)
    assert plain.n_left_out_ == limited.n_left_out_ == 0
    assert plain.tree_ == limited.tree_
    assert limited.space_.limits.time_limit == 600  # for each later question
    assert not hasattr(limited, "_began") or limited._began is None


def test_a_memory_limit_leaves_out_tests() -> None:
    X, y = numbers(1500)
    with pytest.warns(ConvergenceWarning, match=r"memory limit of 4.8 MiB allows \d+ of 4497 tests"):
        model = et.OptimalTreeClassifier(
            max_depth=2, bins="all", minimize=("expected_error", "size"), memory_limit=5_000_000
        ).fit(X, y)
    assert model.stop_reason_ == "memory limit"
    assert model.space_.table.rows.nbytes < 5_000_000
    assert model.error_ <= greedy_errors(X, y, 2)


def test_a_query_that_no_kept_test_satisfies_is_not_called_impossible() -> None:
    X, y = numbers(1500)
    with pytest.raises(LimitReached, match=r"time limit reached: of 4497 tests it allows \d+, and no tree"):
        et.OptimalTreeClassifier(1, bins="all", leaf_penalty=0, time_limit=0.01, min_accuracy=0.95).fit(X, y)


def test_named_tests_stay() -> None:
    X, y = numbers(1500)
    name = et.Binarizer(bins="all").fit(X).tests_[333].name
    model, _ = fitted(0.01, X, y, max_depth=1, forbid=[name])
    assert name in model.binarizer_.get_feature_names_out()
    assert model.n_left_out_ > 0


def test_codes_are_the_tests() -> None:
    rng = np.random.default_rng(0)
    big = 2**60 + rng.integers(0, 50, 80)
    gaps = np.where(rng.random(80) < 0.2, np.nan, rng.normal(size=80))
    import pandas as pd

    data = pd.DataFrame({"big": big, "gaps": gaps, "c": rng.choice(["a", "b", "c"], 80), "b": big % 2})
    for missing in ("category", "impute"):
        frame = read_frame(data)
        binarizer = Binarizer("all", missing)
        encodings = encodings_of(rules_of(binarizer), frame, None)
        columns = code_columns(frame, encodings)
        X01 = binarizer.fit(frame).transform(frame)
        known = {column.tobytes() for column in X01.T} | {(1 - column).tobytes() for column in X01.T}
        for column in columns:
            for j in range(max(1, column.cuts)):
                outcome = (column.codes <= j).astype(np.uint8)
                assert outcome.tobytes() in known or len(set(outcome)) == 1


def test_greedy_cuts_are_kept_and_the_others_spread() -> None:
    X, y = numbers(600)
    frame = read_frame(X)
    encodings = encodings_of(CutRules("all"), frame, None)
    columns = code_columns(frame, encodings)
    cuts = greedy_cuts(columns, y, None, 3, 1, None)
    wanted = {encodings[c.attribute].tests[i] for c, used in zip(columns, cuts, strict=True) for i in used}
    # Nothing stops a tree of scikit-learn's: with hardly any time left the second is not begun.
    hurried = greedy_cuts(columns, y, None, 3, 1, None, 1e-9)
    assert all(few <= used for few, used in zip(hurried, cuts, strict=True))
    assert 0 < sum(map(len, hurried)) < sum(map(len, cuts))
    gone = leave_out(encodings, columns, cuts, 60, frozenset())
    kept = [test for encoding in encodings for test in encoding.tests]
    assert wanted <= set(kept)
    assert gone + len(kept) == 3 * 599
    assert 45 <= len(kept) <= 62


def test_a_budget_grows_with_the_limits() -> None:
    assert Budget(None, None, True).missed(10**4, 10**5) == ""
    assert Budget(1.0, None, True).missed(10**4, 3 * 10**4) == "time"
    assert Budget(None, 10**6, True).missed(10**4, 3 * 10**4) == "memory"
    few, more = (Budget(s, None, True).affordable(10**4, 3 * 10**4) for s in (0.1, 10.0))
    assert 0 < few < more < 3 * 10**4
    assert fewer_tests.LEAST_CUTS >= 1


@pytest.mark.parametrize(
    ("cuts", "texts", "time", "memory"),
    [(7, 0, False, True), (60, 0, True, True), (60, 900, False, False), (3, 0, False, False)],
)
def test_tests_are_left_out_where_that_saves_more_than_it_takes(
    cuts: int, texts: int, time: bool, memory: bool
) -> None:
    numbers = [Test("x", "<=", value, 0) for value in range(cuts)]
    values = [Test("t", "==", f"v{k}", 1) for k in range(texts)]
    encodings = [Encoding("numeric", numbers), Encoding("nominal", values)]
    assert worth_leaving_out(encodings, "time") is time
    assert worth_leaving_out(encodings, "memory") is memory


def test_making_the_tests_is_part_of_the_time() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    began = time.monotonic()
    with pytest.warns(ConvergenceWarning):
        model = et.MAPTreeClassifier(max_depth=None, bins="all", time_limit=0.5).fit(X, y)
    assert time.monotonic() - began < 0.5 + FLOOR
    assert model.tree_.n_leaves > 1
    with pytest.raises(LimitReached, match="time limit"):
        et.BayesOptimalClassifier(bins="all", time_limit=0.05).fit(X, y)


def test_tests_of_texts_that_do_not_fit_the_memory_are_refused_before_they_are_made() -> None:
    import pandas as pd

    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"t{j}": np.char.add("v", rng.integers(0, 100, 30_000).astype(str)) for j in range(3)})
    model = et.OptimalTreeClassifier(max_depth=3, memory_limit=18e6)
    with pytest.raises(DataError, match=r"as zeros and ones; expected at most 17\.2 MiB"):
        model.fit(et.read(X), rng.integers(0, 2, len(X)))


def test_codes_take_a_byte_where_there_are_few_cuts() -> None:
    X, y = numbers(300)
    columns = code_columns(frame := read_frame(X), encodings_of(CutRules(bins=8), frame, None, y))
    assert {column.codes.dtype for column in columns} == {np.dtype(np.uint8)}
    grown = greedy_cuts(columns, y, None, 3, 1, None, memory=4 * 300 * len(columns))
    assert any(grown)
    assert not any(greedy_cuts(columns, y, None, 3, 1, None, memory=4 * 300 * len(columns) - 1))


def test_rows_that_no_test_tells_apart_are_found_with_many_columns() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, (400, 60)).astype(np.uint8)
    codes[:, 8:] = codes[:, :1]  # 3^60 kinds do not fit one number, and only 3^8 occur
    y, counts = rng.integers(0, 2, 400), rng.integers(1, 5, 400)
    groups: dict[bytes, list[int]] = {}
    for row, label, n in zip(codes, y, counts, strict=True):
        groups.setdefault(row.tobytes(), [0, 0])[label] += int(n)
    mixed = sorted(group for group in groups.values() if min(group) > 0)
    found = alike([Coded(j, 2, codes[:, j]) for j in range(60)], y, 2, counts)
    assert sorted(found[:-2].tolist()) == mixed
    assert found.sum() == counts.sum()
    assert (found[-2:] == np.diag(np.diag(found[-2:]))).all()


def test_greedy_trees_are_grown_on_the_rows_that_there_is_time_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fewer_tests, "LEAST_ROWS", 50)
    X, y = numbers(2_000)
    columns = code_columns(frame := read_frame(X), encodings_of(CutRules(bins=40), frame, None, y))
    cuts = greedy_cuts(columns, y, None, 4, 30, None, 1e-9)
    assert (
        0 < sum(map(len, cuts)) <= 15
    )  # of one tree of four levels, with leaves of one of its fifty rows at least
    weighted = greedy_cuts(columns, y, np.full(2_000, 3), 4, 90, None, 1e-9)
    assert 0 < sum(map(len, weighted)) <= 15
