"""Numbers far from 1: large covers, extreme Dirichlet parameters, and both sides of the linear tables' limit.

The judges are ``precise`` (50 digits), the closed form of the evidence at depth 1, and the engine itself with
linear tables off. A log Γ near 10^7 is known to about 10^-9, so probabilities may differ by that much.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engine_cases import Case, Data, Twins
from precise import Precise
from scipy.special import gammaln, logsumexp

from everytree import reference
from everytree.space.tree_space import TreeSpace
from everytree.weights.priors import SizePrior

A, B = 0.8, 0.8  # the size prior's defaults


def log_m(counts: np.ndarray, a: float = 1.0) -> np.ndarray:
    """log M of the rows of a count matrix, by scipy's gammaln."""
    C = counts.shape[-1]
    log = gammaln(C * a) - C * gammaln(a) + gammaln(a + counts).sum(axis=-1)
    return np.asarray(log - gammaln(C * a + counts.sum(axis=-1)))


def stump_evidence(X: np.ndarray, y: np.ndarray, w: np.ndarray, n_classes: int, min_leaf: int) -> float:
    """log[(1 − α) M(n) + α Σ_i M(n_i0) M(n_i1) / e]: the evidence of the trees of depth ≤ 1."""
    onehot = np.eye(n_classes)[y] * w[:, None]
    total = onehot.sum(axis=0)
    ones = X.astype(float).T @ onehot
    zeros = total - ones
    feasible = (ones.sum(axis=1) >= min_leaf) & (zeros.sum(axis=1) >= min_leaf)
    splits = (log_m(ones) + log_m(zeros))[feasible] + np.log(A / feasible.sum())
    return float(logsumexp([np.log(1 - A) + log_m(total), *splits]))


def assert_precise(twins: Twins) -> None:
    """The engine's average is the one of 50 digits."""
    exact = Precise(twins.bayes)
    # log Γ(n) is about n ln n, and log M is a difference of such numbers.
    n = twins.table.n_examples
    slack = 3e-16 * n * np.log(n + 1)
    assert twins.posterior.log_evidence == pytest.approx(exact.log_evidence, rel=1e-12, abs=1e-12 + slack)
    np.testing.assert_allclose(
        twins.posterior.root_distribution(), exact.root_distribution(), rtol=1e-9, atol=1e-12 + slack
    )
    rows = twins.rows(3)
    wanted = [exact.predict_proba(row) for row in rows.tolist()]
    np.testing.assert_allclose(twins.posterior.predict_proba(rows), wanted, rtol=1e-10, atol=1e-10 + slack)


def test_the_judge_agrees_with_the_reference() -> None:
    for seed, dirichlet in enumerate(("1", "0.3", "per class", "decay")):
        twins = Twins(Case(seed=seed, n_classes=3, max_depth=3, dirichlet=dirichlet, prior="fair coding"))
        exact = Precise(twins.bayes)
        assert twins.bayes.log_evidence == pytest.approx(exact.log_evidence, rel=1e-13)
        for row in twins.rows(2).tolist():
            assert twins.bayes.predict_proba(row) == pytest.approx(exact.predict_proba(row), rel=1e-12)


@pytest.mark.parametrize("weight", [10**3, 10**4, 10**5, 10**6])
@pytest.mark.parametrize("frontier", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_few_rows_with_large_weights(weight: int, frontier: bool, n_classes: int) -> None:
    rng = np.random.default_rng(weight)
    X = rng.integers(0, 2, (12, 4)).astype(np.uint8)
    y = rng.integers(0, n_classes, 12)
    for depth in (1, 2, None):
        case = Case(seed=weight, n_classes=n_classes, max_depth=depth, min_leaf=2, frontier=frontier)
        assert_precise(Twins(case, Data(X, y, rng.integers(weight // 2, weight, 12), n_classes)))


@pytest.mark.parametrize("dirichlet", [1e-6, 1e6, 1e12, 1e-12, (1e-6, 1e6, 1.0), (1e6, 1e-6, 1e-6)], ids=repr)
@pytest.mark.parametrize("weight", [1, 30, 1000, 10**5])
@pytest.mark.parametrize("linear", [True, False])
def test_extreme_dirichlet(dirichlet: Any, weight: int, linear: bool) -> None:
    rng = np.random.default_rng(weight)
    X, y = rng.integers(0, 2, (12, 4)).astype(np.uint8), rng.integers(0, 3, 12)
    twins = Twins(
        Case(seed=weight, n_classes=3, max_depth=3, linear=linear), Data(X, y, np.full(12, weight), 3)
    )
    twins._dirichlet = twins.bayes.dirichlet = dirichlet
    assert_precise(twins)


@pytest.mark.parametrize("dirichlet", [1e-6, 0.1, 1.0, 30.0, 1e6, (1e-6, 1e6), (0.01, 5.0)], ids=repr)
@pytest.mark.parametrize("n", [60, 500, 890, 910, 1000, 1021, 1022, 1023, 1074, 1080, 1500, 2047, 2048, 4000])
def test_two_classes_around_the_limit_of_linear_tables(n: int, dirichlet: Any) -> None:
    """Balanced and lopsided covers of n examples; M goes down to 2^-n, past the smallest double at 1074."""
    rng = np.random.default_rng(n)
    X = rng.integers(0, 2, (8, 3)).astype(np.uint8)
    for share in (0.5, 0.97):
        counts = rng.multinomial(n, np.ones(8) / 8)
        ones = rng.binomial(counts, share)
        X2, y2 = np.concatenate([X, X]), np.repeat([0, 1], 8)
        data = Data(X2, y2, np.concatenate([counts - ones, ones]), 2)
        for linear in (True, False):
            twins = Twins(Case(seed=n, max_depth=2, min_leaf=2, linear=linear), data)
            twins._dirichlet = twins.bayes.dirichlet = dirichlet
            assert_precise(twins)


@pytest.mark.parametrize("n", [1000, 1500, 2200, 4000])
@pytest.mark.parametrize("noise", [0.02, 0.5])
def test_linear_tables_change_nothing_on_wide_tables(n: int, noise: float) -> None:
    rng = np.random.default_rng(n)
    X = rng.integers(0, 2, (n, 14)).astype(np.uint8)
    y = (X[:, 0] & X[:, 1]) ^ (rng.random(n) < noise)
    rows = rng.integers(0, 2, (20, 14))
    posts = []
    for linear in (True, False):
        space = TreeSpace(X, y.astype(int), 3, 5)
        space.switches["linear"] = linear
        posts.append(space.posterior(dirichlet=[0.5, 2.0]))
    a, b = posts
    assert a.log_evidence == pytest.approx(b.log_evidence, rel=1e-12)
    np.testing.assert_allclose(a.predict_proba(rows), b.predict_proba(rows), rtol=1e-10)
    np.testing.assert_allclose(a.test_inclusion(), b.test_inclusion(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(a.leaves_distribution(), b.leaves_distribution(), rtol=1e-9, atol=1e-12)
    assert a.map_tree().info["log_joint"] == pytest.approx(b.map_tree().info["log_joint"], rel=1e-12)


@pytest.mark.long
@pytest.mark.parametrize(("n", "n_tests"), [(10**5, 20), (10**6, 22)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_many_distinct_rows(n: int, n_tests: int, n_classes: int) -> None:
    """The closed form at depth 1, and linear tables on and off at depth 2."""
    rng = np.random.default_rng(n + n_classes)
    numbers = rng.permutation(2**n_tests)[:n]
    X = (numbers[:, None] >> np.arange(n_tests) & 1).astype(np.uint8)
    y = np.minimum(X[:, 0] + (rng.random(n) < 0.3), n_classes - 1).astype(int)
    wanted = stump_evidence(X, y, np.ones(n), n_classes, 5)
    space = TreeSpace(X, y, 1, 5, classes=range(n_classes))
    post = space.posterior(SizePrior(A, B))
    assert post.log_evidence == pytest.approx(wanted, rel=1e-12)
    assert np.isfinite(post.predict_proba(X[:5])).all()
    two = []
    for linear in (True, False):
        deeper = TreeSpace.from_table(space.table, 2, 5)
        deeper.switches["linear"] = linear
        two.append(deeper.posterior(SizePrior(A, B)))
    assert two[0].log_evidence == pytest.approx(two[1].log_evidence, rel=1e-12)
    assert two[0].log_evidence > np.log(1 - A) + float(log_m(space.table.class_totals))
    np.testing.assert_allclose(
        two[0].predict_proba(X[:50]), two[1].predict_proba(X[:50]), rtol=1e-10, atol=1e-15 * abs(wanted)
    )


def test_the_stump_formula_is_the_reference() -> None:
    twins = Twins(Case(seed=5, n_classes=3, max_depth=1, min_leaf=2))
    data = twins.data
    wanted = stump_evidence(data.X, data.y, np.ones(len(data.y)), 3, 2)
    assert reference.Bayes(twins.twin).log_evidence == pytest.approx(wanted, rel=1e-12)


def test_a_number_of_trees_beyond_every_float() -> None:
    """The count is exact and its logarithm finite where the count itself is no float."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 9)).astype(np.uint8)
    y = rng.integers(0, 2, 300)
    space = TreeSpace(X, y, None, 1)
    twin = reference.Space(reference.Table.from_data(X.tolist(), y.tolist(), 2), None, 1)
    assert space.n_trees == twin.count()
    assert space.n_trees > 10**40
    assert space.log_n_trees == pytest.approx(len(str(space.n_trees)) * np.log(10), abs=np.log(10))


def test_too_many_examples_are_refused() -> None:
    space = TreeSpace([[0], [1]], [0, 1], 1, sample_weight=[2**40, 1])
    with pytest.raises(ValueError, match=r"more than \d+ examples; divide the weights"):
        space.posterior()


@pytest.mark.parametrize("total", [10**6, 7 * 10**7, 5 * 10**8])
@pytest.mark.parametrize(("depth", "linear"), [(1, True), (2, True), (2, False), (3, True)])
def test_near_ties_of_heavy_trees(total: int, depth: int, linear: bool) -> None:
    """Two tests that tell as much, but for an example or two, and foretell different classes of some rows.

    A tree weighs e^−10^7 to e^−10^8 here, and its probability moves with every digit of the exponent.
    """
    X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], dtype=np.uint8)
    ones = np.array([3, 3, 5, 5, 5, 5, 7, 7]) * (total // 80)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        weights = np.concatenate([total // 8 - ones, ones])
        weights[rng.integers(16)] += rng.integers(-2, 3)
        data = Data(np.concatenate([X, X]), np.repeat([0, 1], 8), weights, 2)
        twins = Twins(Case(seed=seed, max_depth=depth, min_leaf=2, linear=linear), data)
        exact = Precise(twins.bayes)
        roots = exact.root_distribution()
        if depth == 1:
            assert min(roots[:2]) > 0.3  # both tests count
        np.testing.assert_allclose(twins.posterior.root_distribution(), roots, rtol=0, atol=1e-9)
        wanted = [exact.predict_proba(row) for row in X.tolist()]
        np.testing.assert_allclose(twins.posterior.predict_proba(X), wanted, rtol=0, atol=1e-9)
