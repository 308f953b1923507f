"""The protocol of the studies: measures against values worked by hand, folds against their promises."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import log_loss as sklearn_log_loss

from everytree.errors import DataError, QueryError
from everytree.metrics import (
    Reliability,
    aligned,
    brier,
    corrected_t_test,
    log_loss,
    stratified_folds,
    verdict,
)


def random_probabilities(rows: int, classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.full(classes, 0.5), rows)
    return proba, rng.integers(classes, size=rows)


# --- folds


def test_folds_part_the_rows_with_classes_in_proportion() -> None:
    y = np.array(["a"] * 60 + ["b"] * 30 + ["c"] * 3)
    folds = stratified_folds(y, 10, repeats=2, seed=3)
    assert [(fold.repeat, fold.fold) for fold in folds] == [(r, f) for r in range(2) for f in range(10)]
    for repeat in range(2):
        tests = [fold.test for fold in folds if fold.repeat == repeat]
        assert sorted(np.concatenate(tests).tolist()) == list(range(93))
        assert {(y[test] == "a").sum() for test in tests} == {6}
        assert {(y[test] == "b").sum() for test in tests} == {3}
        assert max((y[test] == "c").sum() for test in tests) == 1  # three examples, three folds
    assert all(
        not set(fold.train) & set(fold.test) and len(fold.train) + len(fold.test) == 93 for fold in folds
    )


def test_folds_repeat_with_the_seed_and_differ_without() -> None:
    y = [0, 1] * 30
    first, again, other = (stratified_folds(y, 5, seed=seed) for seed in (1, 1, 2))
    assert all(np.array_equal(a.test, b.test) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a.test, b.test) for a, b in zip(first, other, strict=True))
    both = stratified_folds(y, 5, repeats=2, seed=1)
    assert np.array_equal(both[5].test, other[0].test)  # repeat r has seed + r


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: stratified_folds([], 2), DataError, "expected one label per row"),
        (lambda: stratified_folds([[0], [1]], 2), DataError, r"shape \(2, 1\)"),
        (lambda: stratified_folds([0, 0, 1], 3), QueryError, "k=3 folds; expected 2 to 2"),
        (lambda: stratified_folds([0, 0, 1], 1), QueryError, "k=1"),
        (lambda: stratified_folds([0, 0, 1], 2, repeats=0), QueryError, "repeats=0"),
    ],
)
def test_folds_that_cannot_be(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


# --- measures


def test_measures_by_hand() -> None:
    proba = [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3]]
    assert brier(proba, [0, 2]) == pytest.approx([0.09 + 0.04 + 0.01, 0.01 + 0.36 + 0.49])
    assert log_loss(proba, [0, 2]) == pytest.approx([-math.log(0.7), -math.log(0.3)])


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_log_loss_is_that_of_scikit_learn(classes: int) -> None:
    proba, y = random_probabilities(50, classes, classes)
    expected = sklearn_log_loss(y, proba, labels=list(range(classes)))
    assert log_loss(proba, y, clip=1e-300).mean() == pytest.approx(expected)


def test_impossible_things_that_happen_cost_the_clip() -> None:
    assert log_loss([[1.0, 0.0]], [1], clip=1e-3).tolist() == [-math.log(1e-3)]
    assert log_loss([[1.0 + 1e-16, 0.0]], [0]).tolist() == [0.0]


def test_a_sure_and_wrong_answer_has_brier_two_and_a_right_one_zero() -> None:
    assert brier([[1, 0, 0], [0, 0, 1]], [1, 2]).tolist() == [2.0, 0.0]


def test_expected_calibration_error_by_hand() -> None:
    # bin [0.6, 0.8): confidences 0.6 and 0.7, one right: |1 − 1.3| = 0.3; bin [0.8, 1]: 0.9 and 1.0, both right: 0.1
    proba = [[0.6, 0.4], [0.3, 0.7], [0.9, 0.1], [0.0, 1.0]]
    bins = Reliability.of(proba, [0, 0, 0, 1], bins=5)
    assert bins.rows == (0, 0, 0, 2, 2)
    assert bins.hits == (0, 0, 0, 1, 2)
    assert bins.ece == pytest.approx((0.3 + 0.1) / 4)


def test_bins_at_their_borders() -> None:
    edges = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    bins = Reliability.of([[p, 1 - p] for p in edges], [0] * 6)
    assert bins.rows == (0, 0, 0, 0, 0, 1, 1, 1, 1, 2)
    just_below = 0.1 + 0.2 + 0.4 - 2e-16  # 0.7 up to rounding: the same bin, whatever the order of a sum
    assert Reliability.of([[just_below, 1 - just_below]], [0]).rows == (0, 0, 0, 0, 0, 0, 0, 1, 0, 0)


def test_reliability_adds_up_over_parts() -> None:
    proba, y = random_probabilities(300, 4, 0)
    whole = Reliability.of(proba, y)
    parts = Reliability.of(proba[:100], y[:100]) + Reliability.of(proba[100:], y[100:])
    assert (parts.rows, parts.hits) == (whole.rows, whole.hits)
    assert parts.ece == pytest.approx(whole.ece)
    assert math.isnan(Reliability((0,), (0.0,), (0,)).ece)
    with pytest.raises(QueryError, match="10 bins and 5 bins"):
        whole + Reliability.of(proba, y, bins=5)


def test_labels_drawn_from_the_probabilities_are_calibrated() -> None:
    rng = np.random.default_rng(7)
    first = rng.uniform(0.5, 1.0, 20000)
    proba = np.column_stack([first, 1 - first])
    y = (rng.uniform(size=20000) > first).astype(int)
    assert Reliability.of(proba, y).ece < 0.015
    assert Reliability.of(proba, np.zeros(20000, dtype=int)).ece == pytest.approx(1 - first.mean(), abs=1e-12)


def test_columns_of_absent_classes_are_zero() -> None:
    assert aligned([[0.25, 0.75]], [2, 0], [0, 1, 2]).tolist() == [[0.75, 0.0, 0.25]]
    with pytest.raises(DataError, match="class 5 is not among"):
        aligned([[1.0]], [5], [0, 1])
    with pytest.raises(DataError, match="one column for each of 3 classes"):
        aligned([[1.0]], [0, 1, 2], [0, 1, 2])


@pytest.mark.parametrize(
    ("proba", "y", "message"),
    [
        ([[0.5, 0.5]], [0, 1], "one row and one label each"),
        ([0.5, 0.5], [0, 1], "one row and one label each"),
        ([[0.5, 0.5]], ["a"], "expected class indices"),
        ([[0.5, 0.5]], [2], "y holds class 2; expected 0 to 1"),
        ([[0.5, 0.5]], [-1], "expected 0 to 1"),
        ([[0.5, 0.4]], [0], "no probabilities"),
        ([[1.5, -0.5]], [0], "no probabilities"),
        ([[math.nan, 1.0]], [0], "no probabilities"),
    ],
)
def test_what_is_not_a_prediction(proba: Any, y: Any, message: str) -> None:
    for measure in (brier, log_loss, Reliability.of):
        with pytest.raises(DataError, match=message):
            measure(proba, y)


def test_parameters_of_measures_are_checked() -> None:
    with pytest.raises(QueryError, match="clip=0"):
        log_loss([[1.0]], [0], clip=0)
    with pytest.raises(QueryError, match="bins=0"):
        Reliability.of([[1.0]], [0], bins=0)


# --- the test


def test_corrected_t_test_by_hand() -> None:
    # mean 2, variance 1, k = 3: (1/3 + 1/6)·1 = 1/2, t = 2·√2. For 2 degrees of freedom the two-tailed p-value is
    # 1 − t/√(t² + 2) = 1 − √(8/10).
    result = corrected_t_test([1, 2, 3], n_train=6, n_test=1)
    assert result.mean == 2
    assert result.df == 2
    assert result.t == pytest.approx(2 * math.sqrt(2))
    assert result.p == pytest.approx(1 - math.sqrt(0.8))


def test_without_the_correction_it_would_be_the_plain_test() -> None:
    from scipy import stats

    d = np.random.default_rng(0).normal(0.3, 1, 10)
    plain = stats.ttest_1samp(d, 0)
    nearly = corrected_t_test(d, n_train=10**12, n_test=1)
    assert nearly.t == pytest.approx(plain.statistic)
    assert nearly.p == pytest.approx(plain.pvalue)
    corrected = corrected_t_test(d, n_train=90, n_test=10)
    assert corrected.t == pytest.approx(plain.statistic * math.sqrt(0.1 / (0.1 + 1 / 9)))
    assert corrected.p > plain.pvalue


def test_differences_without_variance() -> None:
    assert corrected_t_test([0, 0, 0], 9, 1)[1:] == (0.0, 2, 1.0)
    assert corrected_t_test([-1, -1, -1], 9, 1)[1:] == (-math.inf, 2, 0.0)


def test_verdicts() -> None:
    better, worse = [0.10, 0.12, 0.11, 0.09], [0.30, 0.33, 0.31, 0.28]
    assert verdict(better, worse, 90, 10) == "win"
    assert verdict(worse, better, 90, 10) == "loss"
    assert verdict(better, better, 90, 10) == "tie"
    assert verdict(better, [0.11, 0.10, 0.15, 0.08], 90, 10) == "tie"
    assert verdict(better, worse, 90, 10, level=1e-9) == "tie"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: corrected_t_test([1.0], 9, 1), DataError, "two or more"),
        (lambda: corrected_t_test([1.0, math.nan], 9, 1), DataError, "not finite"),
        (lambda: corrected_t_test([1.0, 2.0], 0, 1), QueryError, "n_train=0"),
        (lambda: verdict([1.0], [1.0, 2.0], 9, 1), DataError, "one pair for each fold"),
    ],
)
def test_what_cannot_be_tested(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
