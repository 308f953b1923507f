"""The evidence in parts: the same bits as in one process, for every prior, depth and size of table; limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import everytree as et
import everytree._core as _core
from everytree import cluster
from everytree.errors import DataError, LimitReached
from everytree.weights.tables import tabulated

PRIORS: list[Any] = [
    et.SizePrior(0.95, 0.5),
    et.UniformPrior(),
    et.LeafPenaltyPrior(0.3),
    et.ShapePrior(),
    et.CodingPrior(),
    et.SizePrior(attribute_fair=True),
]


def space_of(seed: int, rows: int, **limits: Any) -> et.TreeSpace:
    rng = np.random.default_rng(seed)
    tests, n_classes = int(rng.integers(2, 8)), int(rng.integers(1, 4))
    X = (rng.random((rows, tests)) < rng.uniform(0.1, 0.9, tests)).astype(np.uint8)
    weight = rng.integers(1, 40, rows) if seed % 2 else None  # covers beyond the sizes of the linear tables
    return et.TreeSpace(
        X,
        rng.integers(0, n_classes, rows),
        [None, 0, 2, 3, 4, 5][seed % 6],
        int(rng.integers(1, 4)),
        weight,
        attributes=[k // 2 for k in range(tests)],
        **limits,
    )


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_every_bit_is_that_of_one_process(prior: Any) -> None:
    for seed in range(12):
        space = space_of(seed, 20 if seed % 6 == 0 else 150)
        for dirichlet in (1.0, 0.3):
            whole = space.posterior(prior, dirichlet)
            parts = cluster.posterior(space, prior, dirichlet, n_parts=1 + seed % 5)
            assert parts.log_evidence == whole.log_evidence
            assert np.array_equal(parts.root_distribution(), whole.root_distribution())
            assert np.array_equal(parts.leaves_distribution(), whole.leaves_distribution())


def test_limits_hold_for_parts() -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (400, 60))
    space = et.TreeSpace(X, rng.integers(0, 2, 400), max_depth=5, time_limit=0.2)
    with pytest.raises(LimitReached, match="time limit reached"):
        cluster.posterior(space)


def test_parts_from_elsewhere_are_checked() -> None:
    space = et.TreeSpace([[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 1]] * 5, [0, 1, 1, 0] * 5, max_depth=3)
    covers, depths, sizes = _core.Posterior.send_part(space.graph(), 0, 1)
    weights = tabulated(et.SizePrior(), 1.0, 2, 6)

    def fold(covers: Any, depths: Any, sizes: Any) -> Any:
        return _core.Posterior.fold_sent(
            space.core_table(), 3, 1, True, True, covers, depths, sizes, weights.prior,
            weights.dirichlet, True, 1, space.limits.control(),
        )  # fmt: skip

    assert len(fold(covers, depths, sizes)) == 2 * len(depths)
    with pytest.raises(DataError, match="words of covers"):
        fold(covers[:-1], depths, sizes)
    with pytest.raises(DataError, match="rows that the table has not"):
        fold(np.full_like(covers, 2**64 - 1), depths, sizes)
    with pytest.raises(DataError, match="not closed"):
        fold(covers, np.zeros_like(depths), sizes)
    with pytest.raises(DataError, match="six largest"):
        fold(covers, depths, [1])
