"""Prior and Dirichlet of the core: checked when they are made, the same in other processes."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import everytree._core as _core
from everytree import DepthDecay, SizePrior, TreeSpace
from everytree.engine.weigh import weigh
from everytree.errors import DataError


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: _core.Prior([], [0.0], [0.0], False), "tables of a prior must not be empty"),
        (lambda: _core.Prior([0.0], [0.0], [], False), "tables of a prior must not be empty"),
        (lambda: _core.Prior([0.0], [math.inf], [0.0], False), "below infinity; one entry is inf"),
        (lambda: _core.Prior([math.nan], [0.0], [0.0], False), "below infinity; one entry is nan"),
        (lambda: _core.Prior([0.0], [0.0], [0.0], True, [0, -1]), "must not be negative"),
        (lambda: _core.Dirichlet([]), "dirichlet has no parameters"),
        (lambda: _core.Dirichlet([[1.0, 1.0], [1.0]]), "one parameter per class"),
        (lambda: _core.Dirichlet([[1.0, 0.0]]), "positive and finite"),
        (lambda: _core.Dirichlet([[1.0, math.inf]]), "positive and finite"),
        (lambda: _core.Dirichlet([[1.0, math.nan]]), "positive and finite"),
    ],
)
def test_numbers_that_weigh_nothing_are_refused(make: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        make()


def space_of(seed: int = 0) -> TreeSpace:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (60, 5))
    return TreeSpace(X, X[:, 0] & X[:, 1], max_depth=3, attributes=[0, 0, 1, 2, 2])


def fold(space: TreeSpace, prior: _core.Prior, dirichlet: _core.Dirichlet) -> _core.Posterior:
    return _core.Posterior(space.graph(), prior, dirichlet, True, 1, space.limits.control())


def test_weights_that_do_not_fit_the_table_are_refused() -> None:
    space = space_of()
    fair = _core.Prior([0.0], [0.0], [0.0], True, [0, 1])
    with pytest.raises(DataError, match="one attribute number per test"):
        fold(space, fair, _core.Dirichlet([[1.0, 1.0]]))
    with pytest.raises(DataError, match="one parameter per class"):
        fold(space, _core.Prior([0.0], [0.0], [0.0], True), _core.Dirichlet([[1.0, 1.0, 1.0]]))


@pytest.mark.parametrize("fair", [False, True])
def test_pickled_weights_weigh_the_same(fair: bool) -> None:
    space = space_of()
    weights = weigh(space, SizePrior(0.7, 0.6, attribute_fair=fair), DepthDecay(0.9, 0.6))
    here = fold(space, weights.prior, weights.dirichlet)
    sent = fold(
        space, pickle.loads(pickle.dumps(weights.prior)), pickle.loads(pickle.dumps(weights.dirichlet))
    )
    assert sent.log_evidence == here.log_evidence
    np.testing.assert_array_equal(
        sent.inclusion(space.limits.control()), here.inclusion(space.limits.control())
    )


def test_what_comes_from_another_process_is_checked_too() -> None:
    sent = _core.Dirichlet([[1.0, 1.0]])
    assert sent.__getstate__() == ([[1.0, 1.0]], 1.0, 1, 0.0)
    with pytest.raises(DataError, match="positive and finite"):
        _core.Dirichlet.__new__(_core.Dirichlet).__setstate__(([[-1.0, 1.0]], 1.0, 1, 0.0))
    with pytest.raises(DataError, match="0 <= power <= 1"):
        _core.Dirichlet.__new__(_core.Dirichlet).__setstate__(([[1.0, 1.0]], 1.5, 1, 0.0))
    with pytest.raises(DataError, match="per_example is 0; expected at least 1"):
        _core.Dirichlet.__new__(_core.Dirichlet).__setstate__(([[1.0, 1.0]], 1.0, 0, 0.0))
    with pytest.raises(DataError, match="must not be empty"):
        _core.Prior.__new__(_core.Prior).__setstate__(([], [], [], False, [], 0.0))
