"""Warnings name the line that asked, not one of the package."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import everytree as et

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 3)), RNG.integers(0, 2, 60)
MANY = RNG.normal(size=(900, 9)), RNG.integers(0, 2, 900)
NAMED = et.C45TreeClassifier().fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)

WARNING: dict[str, Callable[[], object]] = {
    "labels in a column": lambda: et.OptimalTreeClassifier(max_depth=1).fit(X, Y[:, None]),
    "labels in a column, CART": lambda: et.CARTTreeClassifier().fit(X, Y[:, None]),
    "names that are gone": lambda: NAMED.predict(X),
    "chains that disagree": lambda: et.MCMCTreeClassifier(
        max_depth=2, n_chains=2, n_draws=4, random_state=0
    ).fit(X, Y),
    "a penalty that is too small": lambda: et.MCMCTreeClassifier(
        target="risk", leaf_penalty=0.5, max_depth=2, n_chains=1, n_draws=200, random_state=0
    ).fit(X, Y),
    "an unproved best": lambda: et.OptimalTreeClassifier(max_depth=9, bins="all", time_limit=1e-3).fit(X, Y),
    "an unproved most probable": lambda: et.MAPTreeClassifier(max_depth=9, bins=9, time_limit=0.1).fit(*MANY),
    "a shallower average": lambda: et.BayesOptimalClassifier(
        max_depth=9, bins=12, cuts="local", time_limit=0.1
    ).fit(X, Y),
}


@pytest.mark.parametrize("asked", WARNING)
def test_a_warning_names_the_line_that_asked(asked: str) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        WARNING[asked]()
    assert {each.filename for each in told} == {__file__}


def test_only_one_place_counts_calls() -> None:
    package = Path(et.__file__).parent
    # What defines the numbers imports nothing of the package.
    elsewhere = [
        path
        for path in package.rglob("*.py")
        if "stacklevel" in path.read_text() and "reference" not in path.parts
    ]
    assert elsewhere == [package / "common/told.py"]
