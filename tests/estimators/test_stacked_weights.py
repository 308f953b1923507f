"""Weights of averages by left-out examples: the least loss, classes apart, strengths, and averages that do not help."""

from __future__ import annotations

import numpy as np
import pytest
from law_of_pool import added_up

from everytree.bayes import stacking
from everytree.bayes.stacking import (
    NEGLIGIBLE,
    UNSURE,
    folds_of,
    least,
    least_by_class,
    pooled,
    stack,
    stacked,
)


def said_by(n: int, k: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Evidence of k averages about three classes, log shares, classes and counts."""
    rng = np.random.default_rng(seed)
    codes, counts = rng.integers(0, 3, n), rng.integers(1, 4, n)
    shares = np.bincount(codes, counts, minlength=3) / counts.sum()
    proba = np.stack([rng.dirichlet(2 * np.ones(3) + 0.7 * np.eye(3)[c], k) for c in codes]).transpose(
        0, 2, 1
    )
    return np.log(proba) - np.log(shares)[None, :, None], np.log(shares), codes, counts


def test_what_the_weights_say_is_told_apart_from_what_folds_say() -> None:
    evidence, log_shares, codes, counts = said_by(9000, 2)
    for numbers in (10**6, 3000):
        found = stack(evidence, log_shares, codes, counts, np.ones(2), 1e9, numbers=numbers)
        of_all = pooled(evidence, log_shares, found.weights, counts.sum())
        assert found.by_folds == (numbers > 3000) != np.array_equal(found.proba, of_all)


def test_few_entries_choose_where_no_time_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence, log_shares, codes, counts = said_by(9000, 2)
    seen = []

    def noted(some: np.ndarray, *more: object, **words: object) -> object:
        seen.append(len(some))
        return stacked(some, *more, **words)

    monkeypatch.setattr(stacking, "stacked", noted)
    for seconds in (0.0, 1.0):
        stack(evidence, log_shares, codes, counts, np.ones(2), 1e9, seconds=seconds)
    assert seen == [1800, 3000, 9000]  # every fifth, then every third of them; all of them


def log_loss(said: np.ndarray, log_shares: np.ndarray, codes: np.ndarray, counts: np.ndarray) -> float:
    """The loss of all examples, of which a part has a class drawn by the shares."""
    own, drawn = np.log(said)[np.arange(len(codes)), codes], np.log(said) @ np.exp(log_shares)
    part = UNSURE / counts.sum() ** 1.5
    return float(counts @ -((1 - part) * own + part * drawn))


@pytest.mark.parametrize("strength", [100.0, 1.0, 0.0])
def test_weights_have_the_least_loss(strength: float) -> None:
    evidence, log_shares, codes, counts = said_by(60, 3)

    def loss(weights: np.ndarray) -> float:
        said = added_up(
            list(np.exp(evidence + log_shares[None, :, None]).transpose(2, 0, 1)), weights, np.exp(log_shares)
        )
        apart = strength * ((weights - weights.mean()) ** 2).sum()
        return log_loss(said, log_shares, codes, counts) + apart

    best = least(evidence, log_shares, codes, counts, strength)
    assert (best >= 0).all()
    rng = np.random.default_rng(0)
    for scale in (1.0, 0.1, 0.01):
        for step in rng.normal(size=(100, 3)) * scale:
            assert loss(best) <= loss(np.maximum(best + step, 0)) + 1e-5


@pytest.mark.parametrize(("strength", "apart"), [(100.0, 10.0), (1.0, 1.0), (10.0, 0.1), (0.0, 100.0)])
def test_weights_of_classes_have_the_least_loss(strength: float, apart: float) -> None:
    evidence, log_shares, codes, counts = said_by(60, 3)
    shared = least(evidence, log_shares, codes, counts, strength)

    def loss(weights: np.ndarray) -> float:
        logs = (
            np.array([[x @ w for x, w in zip(row, weights.T, strict=True)] for row in evidence]) + log_shares
        )
        said = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
        means = weights.mean(axis=1)
        held = (
            strength * ((means - means.mean()) ** 2).sum() + apart * ((weights - means[:, None]) ** 2).sum()
        )
        return log_loss(said, log_shares, codes, counts) + held

    best = least_by_class(evidence, log_shares, codes, counts, strength, apart, shared)
    assert best.shape == (3, 3)
    assert (best >= 0).all()
    assert loss(best) < loss(np.repeat(shared[:, None], 3, axis=1))
    rng = np.random.default_rng(0)
    for scale in (1.0, 0.1, 0.01):
        for step in rng.normal(size=(50, 3, 3)) * scale:
            assert loss(best) <= loss(np.maximum(best + step, 0)) + 1e-5


def test_classes_are_weighed_apart_where_averages_know_one_class_each() -> None:
    """Average k has heard something of class k, and says anything of how the others share the rest."""
    rng = np.random.default_rng(0)
    n = 600
    codes = rng.integers(0, 3, n)
    said = np.empty((n, 3, 3))
    for k in range(3):
        seen = 1 / (1 + np.exp(-rng.normal(np.where(codes == k, 0.5, -1.5), 1)))
        first = rng.uniform(0.1, 0.9, n)
        said[:, k, k], said[:, (k + 1) % 3, k], said[:, (k + 2) % 3, k] = (
            seen, (1 - seen) * first, (1 - seen) * (1 - first),
        )  # fmt: skip
    shares = np.bincount(codes) / n
    evidence, log_shares = np.log(said / shares[None, :, None]), np.log(shares)
    found = stacked(evidence, log_shares, codes, np.ones(n))
    assert found.apart == 10.0
    assert (np.diag(found.weights)[:, None] >= found.weights).all()
    one = stacked(evidence, log_shares, codes, np.ones(n), aparts=(np.inf,))
    own = np.arange(n), codes
    assert np.log(found.proba[own]).mean() > np.log(one.proba[own]).mean() + 0.01
    two = codes < 2
    shared = stacked(evidence[two][:, :2], log_shares[:2], codes[two], np.ones(int(two.sum())))
    assert np.ptp(shared.weights, axis=1).max() == 0


@pytest.mark.parametrize("apart", [np.inf, 5.0])
def test_left_out_examples_are_judged_by_weights_that_did_not_see_them(apart: float) -> None:
    evidence, log_shares, codes, counts = said_by(50, 4)
    found = stacked(evidence, log_shares, codes, counts, (10.0,), (apart,))
    fold = folds_of(codes)

    def chosen(*part: np.ndarray) -> np.ndarray:
        shared = least(part[0], log_shares, *part[1:], 10.0)
        return least_by_class(part[0], log_shares, *part[1:], 10.0, apart, shared)

    for f in range(5):
        seen = fold != f
        weights = chosen(evidence[seen], codes[seen], counts[seen])
        assert np.allclose(
            found.proba[~seen], pooled(evidence[~seen], log_shares, weights, counts.sum()), atol=1e-6
        )
    assert np.bincount(fold, minlength=5).min() >= 8
    every = chosen(evidence, codes, counts)
    assert (np.ptp(every, axis=1) > 1e-3).any() == (apart < np.inf)
    assert np.allclose(found.weights, np.where(every < NEGLIGIBLE, 0, every), atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_strength_is_the_greatest_within_half_a_standard_error_of_the_least_loss(seed: int) -> None:
    evidence, log_shares, codes, _ = said_by(80, 5, seed)
    counts, strengths, losses = np.ones(80), (1e4, 100.0, 1.0, 1e-3), []
    for strength in strengths:
        proba = stacked(evidence, log_shares, codes, counts, (strength,), (np.inf,)).proba
        losses.append(-np.log(proba[np.arange(80), codes]))
    best = min(losses, key=np.mean)
    near = [np.mean(each - best) <= np.std(each - best) / np.sqrt(80) / 2 for each in losses]
    found = stacked(evidence, log_shares, codes, counts, strengths, (np.inf,))
    assert found.strength == strengths[near.index(True)]


def test_dear_averages_go_first() -> None:
    evidence, log_shares, codes, counts = said_by(60, 6)
    prices = np.array([1.0, 1, 1, 1000, 1, 1])
    assert (
        np.count_nonzero(stack(evidence, log_shares, codes, counts, np.ones(6), 3.0).weights.any(axis=1)) <= 3
    )
    found = stack(evidence, log_shares, codes, counts, prices, 5.0)
    assert not found.weights[3].any()
    assert found.weights.any()
    assert np.count_nonzero(stack(evidence, log_shares, codes, counts, prices, 0.5).weights.any(axis=1)) <= 1


def test_useless_averages_leave_the_shares_as_they_are() -> None:
    codes = np.array([0] * 30 + [1] * 10)
    wrong = np.where(codes[:, None] == np.arange(2), 0.2, 0.8)
    evidence = np.log(wrong)[:, :, None] - np.log([0.75, 0.25])[None, :, None]
    found = stacked(evidence, np.log([0.75, 0.25]), codes, np.ones(40))
    assert found.weights.tolist() == [[0.0, 0.0]]
    assert np.allclose(found.proba, [0.75, 0.25], atol=1e-3)


def test_what_is_never_wrong_is_not_believed_without_end() -> None:
    """Evidence that is right of all left-out examples: the surer, the less loss, were no example unsure."""
    n = 60
    codes = np.arange(n) % 3
    evidence = np.zeros((n, 3, 1))
    evidence[np.arange(n), codes] = 1.0
    log_shares = np.log(np.full(3, 1 / 3))
    for weights in (
        least(evidence, log_shares, codes, np.ones(n), 1.0),
        least_by_class(evidence, log_shares, codes, np.ones(n), 1.0, 1.0, np.ones(1)).mean(axis=1),
    ):
        said = pooled(evidence, log_shares, weights, 1e12)
        assert said[np.arange(n), codes] == pytest.approx(1 - UNSURE / n**1.5 * 2 / 3, abs=1e-4)
