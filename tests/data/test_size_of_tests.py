"""A matrix of tests that would not fit is refused before it is made; the search over every cut-point makes none."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import everytree as et
from everytree.common import limits
from everytree.data import encoding
from everytree.data.binarizer import Binarizer
from everytree.data.cut_rules import BYTES_PER_CELL, SMALL, check_size
from everytree.errors import DataError

ROWS = 1500  # times 4 · 1499 tests and 3 bytes: 27 million


def numbers(n_columns: int = 4, rows: int = ROWS) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    rng = np.random.default_rng(3)
    X = rng.random((rows, n_columns))
    return X, (X[:, 0] + X[:, 1] > 1).astype(np.intp)


@pytest.fixture
def no_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every matrix of more than a few tests an error."""
    made = encoding.Kept.matrix

    def refuse(self: encoding.Kept) -> npt.NDArray[np.uint8]:
        assert len(self._keys) < 100
        return made(self)

    monkeypatch.setattr(encoding.Kept, "matrix", refuse)


def fitted(make: Any, **given: Any) -> Any:
    return make(bins="all", max_depth=2, **given).fit(*numbers())


ASKED = {
    "average": lambda **given: fitted(et.BayesOptimalClassifier, **given),
    "most probable": lambda **given: fitted(et.MAPTreeClassifier, **given),
    "chains": lambda **given: fitted(et.MCMCTreeClassifier, **given),
    "other strategy": lambda **given: fitted(et.OptimalTreeClassifier, strategy="closed", **given),
    "space": lambda **given: et.TreeSpace.from_frame(
        *numbers(), bins="all", max_depth=2, cuts="global", **given
    ),
}


@pytest.mark.parametrize("asked", ASKED)
def test_tests_beyond_the_limit_are_refused_before_they_are_made(asked, no_matrix):
    with pytest.raises(
        DataError,
        match=r"(5996|6000) tests on 1500 rows take 25\.7 MiB as zeros and ones; expected at most "
        r"19\.1 MiB, the memory_limit. Use fewer bins .*cuts='local'",
    ):
        ASKED[asked](memory_limit=20_000_000)


def test_without_a_limit_it_is_three_quarters_of_the_memory(monkeypatch, no_matrix):
    monkeypatch.setattr(limits, "physical_memory", lambda: 2 * 10**7)
    with pytest.raises(DataError, match="three quarters of the memory"):
        Binarizer(bins="all").fit_transform(numbers()[0])
    with pytest.raises(DataError, match="three quarters of the memory"):
        ASKED["average"]()


def test_the_border_is_that_of_the_estimate():
    most = SMALL + 300
    check_size(100, most // (100 * BYTES_PER_CELL), most)
    with pytest.raises(DataError, match="fewer bins"):
        check_size(100, most // (100 * BYTES_PER_CELL) + 1, most)
    check_size(100, SMALL // (100 * BYTES_PER_CELL), 1)  # a small one is never refused


@pytest.mark.parametrize(
    "given",
    [{}, {"min_leaf": 5}, {"leaf_penalty": 0.5}, {"minimize": "cost", "cost_matrix": [[0, 1], [3, 0]]}],
)
def test_the_best_tree_over_every_cut_makes_none(given, no_matrix):
    X, y = numbers()
    model = et.OptimalTreeClassifier(bins="all", max_depth=2, memory_limit=20_000_000, **given).fit(X, y)
    assert model.optimal_
    assert len(model.binarizer_.tests_) < 10


def test_local_cuts_find_the_same_best_tree_and_make_none():
    X, y = numbers()
    best = et.OptimalTreeClassifier(bins="all", max_depth=2, leaf_penalty=0.0).fit(X, y)
    space = et.TreeSpace.from_frame(X, y, bins="all", max_depth=2, memory_limit=20_000_000)
    found = space.best()
    assert space.table.coded is not None
    assert not space.table.coded.are_made
    assert (found.predict(space.rows_of(X)) != y).sum() == best.objective_


def test_with_fewer_bins_it_fits():
    X, y = numbers()
    model = et.BayesOptimalClassifier(bins=8, max_depth=2, memory_limit=20_000_000).fit(X, y)
    assert model.predict_proba(X[:2]).shape == (2, 2)
