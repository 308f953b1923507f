"""Blends of several ways to weigh the same evidence: the law, the least loss, honest left-out answers, and forests."""

from __future__ import annotations

import numpy as np
import pytest
from test_stacked_weights import said_by

from everytree.bayes.blending import EXAMPLES, Blend, blend, shares_of, weigh
from everytree.bayes.stacking import FOLDS, SLIP, Stack, folds_of, pooled, stack

MANY = 2_000_000


def proba_of(said: tuple[np.ndarray, ...], weights: np.ndarray) -> np.ndarray:
    evidence, log_shares, _, counts = said
    return pooled(evidence, log_shares, weights, counts.sum())


def some_ways(said: tuple[np.ndarray, ...]) -> list[Stack]:
    rng = np.random.default_rng(3)
    n_classes, k = said[0].shape[1:]
    chosen = [rng.gamma(1.0, 0.5, (k, n_classes)) for _ in range(3)]
    return [Stack(weights, 1.0, np.inf, proba_of(said, weights)) for weights in chosen]


def test_a_blend_is_the_product_of_its_ways() -> None:
    said = said_by(80, 4)
    _, _, codes, counts = said
    ways = some_ways(said)
    weights, _ = blend(ways, codes, counts)
    logs = np.log(np.stack([way.proba for way in ways], axis=2))
    product = np.exp(logs @ shares_of(logs, codes, counts))
    product /= product.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(proba_of(said, weights), product, atol=4 * SLIP / counts.sum())


def test_shares_have_the_least_loss() -> None:
    said = said_by(60, 3)
    _, _, codes, counts = said
    logs = np.log(np.stack([way.proba for way in some_ways(said)], axis=2))

    def loss(shares: np.ndarray) -> float:
        product = np.exp(logs @ shares)
        true = product[np.arange(60), codes] / product.sum(axis=1)
        return float(counts @ -np.log(true) - EXAMPLES * np.log(shares).sum())

    best = shares_of(logs, codes, counts)
    assert best.sum() == pytest.approx(1)
    assert (best > 0).all()
    rng = np.random.default_rng(0)
    for spread in (1.0, 30.0, 1000.0):
        for other in rng.dirichlet(spread * best + 0.01, 200):
            assert loss(best) <= loss(np.maximum(other, 1e-9)) + 1e-4


def test_a_way_that_is_wrong_has_a_small_share_and_none_is_left_out() -> None:
    said = said_by(300, 3)
    evidence, log_shares, codes, counts = said
    right, wrong = np.ones((3, 3)) / 3, -np.ones((3, 3))
    logs = np.log(
        np.stack([pooled(evidence, log_shares, each, counts.sum()) for each in (right, wrong)], axis=2)
    )
    shares = shares_of(logs, codes, counts)
    assert 0 < shares[1] < 0.02


def test_left_out_examples_are_judged_by_shares_that_did_not_see_them() -> None:
    said = said_by(90, 3)
    _, _, codes, counts = said
    ways = some_ways(said)
    _, honest = blend(ways, codes, counts)
    logs = np.log(np.stack([way.proba for way in ways], axis=2))
    fold = folds_of(codes)
    for f in range(FOLDS):
        seen, left = fold != f, fold == f
        product = np.exp(logs[left] @ shares_of(logs[seen], codes[seen], counts[seen]))
        np.testing.assert_allclose(honest[left], product / product.sum(axis=1, keepdims=True), rtol=1e-10)


def weighed(evidence: np.ndarray, n: int, *rest: np.ndarray) -> Blend:
    return weigh(evidence, n, *rest, np.ones(n), np.inf, None, MANY)


def test_without_forests_it_is_the_stack() -> None:
    evidence, log_shares, codes, counts = said_by(120, 5)
    found = weighed(evidence, 5, log_shares, codes, counts)
    plain = stack(evidence, log_shares, codes, counts, np.ones(5), np.inf)
    np.testing.assert_array_equal(found.weights, plain.weights[found.kept])
    np.testing.assert_array_equal(found.proba, plain.proba)


def test_forests_count_as_far_as_they_know_something() -> None:
    evidence, log_shares, codes, counts = said_by(400, 3)
    clear = np.zeros((400, 3, 1))
    clear[np.arange(400), codes] = 2.0
    rng = np.random.default_rng(5)
    noise = rng.normal(size=(400, 3, 1))
    for forest, least, most in ((clear, 0.5, np.inf), (noise, 0.0, 0.1)):
        found = weighed(np.concatenate([evidence, forest], axis=2), 3, log_shares, codes, counts)
        by_place = dict(zip(found.kept, found.weights.mean(axis=1), strict=True))
        assert least <= by_place.get(3, 0.0) <= most


def test_averages_that_count_for_nothing_are_not_kept() -> None:
    evidence, log_shares, codes, counts = said_by(1500, 3)
    wrong = -3 * evidence[..., :1]
    forest = evidence[..., 2:3]
    found = weighed(np.concatenate([evidence[..., :2], wrong, forest], axis=2), 3, log_shares, codes, counts)
    assert 2 not in found.kept
    assert {0, 1} <= set(found.kept)
    assert found.weights.shape == (len(found.kept), 3)
