"""The switches of the engine change how an answer is found, never the answer.

Merging, the frontier, linear tables and the kernels are compared on tables too large for the reference; the
number of threads must not change a single bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from engine_cases import OPTIONS

from everytree import _core
from everytree.space.tree_space import TreeSpace
from everytree.weights.dirichlet import DepthDecay
from everytree.weights.priors import BalancedPrior, CodingPrior, LeafPenaltyPrior, SizePrior

PRIORS = [SizePrior(), LeafPenaltyPrior(0.2), CodingPrior(attribute_fair=True), BalancedPrior()]


def medium(seed: int, n: int = 150, n_tests: int = 12, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """A target that depends on three of the tests, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, n_tests)).astype(np.uint8)
    score = 2 * X[:, 0] + (X[:, 1] & X[:, 2]) + rng.normal(0, 0.6, n)
    return X, np.clip(np.floor(score * n_classes / 4), 0, n_classes - 1).astype(np.intp)


def answers(
    space: TreeSpace, prior: Any, dirichlet: Any, rows: np.ndarray
) -> Iterator[tuple[str, np.ndarray]]:
    """Numbers that every part of the engine contributes to."""
    yield "n_trees", np.array([space.log_n_trees])
    yield "best", np.array([space.best(cost).info["objective"] for cost in ("error", "gini", "entropy")])
    yield "k best", np.array([tree.info["objective"] for tree in space.best("expected_error", k=7)])
    yield "front", np.array([point[:2] for point in space.front()], dtype=float)
    post = space.posterior(prior, dirichlet)
    yield "log_evidence", np.array([post.log_evidence])
    yield "top", np.array([tree.info["log_joint"] for tree in post.top_trees(5)])
    yield "map", np.array([post.map_tree().info["log_joint"]])
    yield "predict_proba", post.predict_proba(rows)
    moments = post.moments(rows)
    yield "between", moments.between
    yield "within", moments.within
    yield "attributes", np.array(list(post.attribute_inclusion().values()))
    yield "prior", np.array([post.log_prior_total])
    yield "root", post.root_distribution()
    yield "inclusion", post.test_inclusion()
    yield "leaves", post.leaves_distribution()
    yield "depth", post.depth_distribution()
    yield "expected_leaves", np.array([post.expected_leaves])
    yield "sample", np.array([tree.info["log_prob"] for tree in post.sample(20, random_state=1)])


def padded(values: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Distributions may end with more or fewer zeros."""
    if values.ndim == 1 and len(values) < len(like):
        return np.concatenate([values, np.zeros(len(like) - len(values))])
    return values


@pytest.mark.long
@pytest.mark.parametrize(
    ("n_classes", "max_depth", "min_leaf"), [(2, 3, 1), (2, 4, 8), (3, 3, 5), (5, 2, 2), (2, None, 20)]
)
@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_switches_agree(n_classes: int, max_depth: int | None, min_leaf: int, prior: Any) -> None:
    X, y = medium(n_classes, n_classes=n_classes)
    rows = np.random.default_rng(0).integers(0, 2, (30, X.shape[1])).astype(np.uint8)
    expected: dict[str, np.ndarray] = {}
    plans = [
        dict(zip(("merge", "frontier", "linear"), on, strict=True)) for on in product((True, False), repeat=3)
    ]
    for switches in plans:
        space = TreeSpace(
            X, y, max_depth, min_leaf, attributes=np.arange(X.shape[1]) // 3, classes=range(n_classes)
        )
        space.switches.update(switches)
        for name, value in answers(space, prior, 1.0, rows):
            if name == "sample":
                continue  # other switches walk another graph, so the same seed gives other draws
            wanted = expected.setdefault(name, value)
            longer = max(value, wanted, key=lambda v: v.shape[0])
            np.testing.assert_allclose(
                padded(value, longer),
                padded(wanted, longer),
                rtol=1e-9,
                atol=1e-11,
                err_msg=f"{name} with {switches}",
            )


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
@pytest.mark.parametrize("dirichlet", [1.0, DepthDecay(0.7, 0.6)], ids=repr)
@pytest.mark.parametrize(
    ("n_classes", "max_depth", "min_leaf"), [(2, 4, 1), (3, 3, 4), (2, None, 15), (5, 3, 1)], ids=str
)
def test_threads_do_not_change_a_bit(
    n_classes: int, max_depth: int | None, min_leaf: int, dirichlet: Any, prior: Any
) -> None:
    X, y = medium(n_classes + 10, n=220, n_classes=n_classes)
    rows = np.random.default_rng(0).integers(0, 2, (64, X.shape[1])).astype(np.uint8)
    by_threads = []
    for n_jobs in (1, 2, 3):
        space = TreeSpace(
            X,
            y,
            max_depth,
            min_leaf,
            n_jobs=n_jobs,
            attributes=np.arange(X.shape[1]) // 4,
            classes=range(n_classes),
        )
        by_threads.append(dict(answers(space, prior, dirichlet, rows)))
        by_threads[-1]["keys"] = np.array(
            [space.best("entropy").key, space.posterior(prior, dirichlet).map_tree().key], dtype=object
        )
    for name, value in by_threads[0].items():
        for n_jobs, other in zip((2, 3), by_threads[1:], strict=True):
            assert np.array_equal(value, other[name]), f"{name} differs with n_jobs={n_jobs}"


@pytest.mark.parametrize("n_classes", [2, 4])
def test_kernels_agree(n_classes: int) -> None:
    X, y = medium(7, n=300, n_tests=20, n_classes=n_classes)
    rows = X[:40]
    expected: dict[str, np.ndarray] = {}
    for name in OPTIONS["kernels"]:
        _core.use_kernels(name)
        assert _core.kernels() == name
        space = TreeSpace(X, y, 3, 3, classes=range(n_classes))
        for what, value in answers(space, SizePrior(), 0.5, rows):
            np.testing.assert_allclose(
                value, expected.setdefault(what, value), rtol=1e-9, atol=1e-11, err_msg=f"{what} with {name}"
            )


def test_unknown_kernels_are_refused() -> None:
    with pytest.raises(ValueError, match="portable"):
        _core.use_kernels("abacus")
    assert _core.kernels() in OPTIONS["kernels"]


def test_switches_change_the_work() -> None:
    """Each switch does something: otherwise the comparisons above would compare a thing with itself."""
    X, y = medium(1)

    def states(**switches: bool) -> int:
        space = TreeSpace(X, y, 4, 2)
        space.switches.update(switches)
        return space.n_states

    assert states() < states(merge=False) / 1.5
    assert states() < states(frontier=False) / 2


def test_permuting_rows_and_columns_changes_nothing() -> None:
    X, y = medium(2)
    rng = np.random.default_rng(5)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    plain = TreeSpace(X, y, 3, 3)
    shuffled = TreeSpace(X[rows][:, columns], y[rows], 3, 3)
    a, b = plain.posterior(), shuffled.posterior()
    assert plain.n_trees == shuffled.n_trees
    assert math.isclose(a.log_evidence, b.log_evidence, rel_tol=1e-12)
    np.testing.assert_allclose(a.test_inclusion()[columns], b.test_inclusion(), rtol=1e-9)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X[:, columns]), rtol=1e-10)
    assert plain.best().error == shuffled.best().error
