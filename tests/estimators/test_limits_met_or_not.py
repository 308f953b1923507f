"""A limit that is not met changes nothing; one that is met ends with an answer or a reason: every classifier."""

from __future__ import annotations

import inspect
import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import everytree as et
from everytree.errors import EverytreeError

pytestmark = pytest.mark.long

ROWS = 60


def flags(rng: np.random.Generator) -> Any:
    return rng.integers(0, 2, (ROWS, 5)).astype(float)


def numbers(rng: np.random.Generator) -> Any:
    return rng.normal(size=(ROWS, 3)).round(1)


def mixed(rng: np.random.Generator) -> Any:
    frame = pd.DataFrame({"a": rng.normal(size=ROWS), "b": rng.integers(0, 2, ROWS), "same": np.ones(ROWS)})
    frame["text"] = rng.choice(["u", "v", "w"], ROWS)
    frame["gaps"] = np.where(rng.random(ROWS) < 0.3, np.nan, rng.integers(0, 4, ROWS))
    return frame


def same(rng: np.random.Generator) -> Any:
    return np.ones((ROWS, 2))


MAKERS: list[Callable[[np.random.Generator], Any]] = [flags, numbers, mixed, same]
ESTIMATORS = [
    name
    for name in dir(et)
    if name.endswith("Classifier") and "memory_limit" in inspect.signature(getattr(et, name)).parameters
]
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "OptimalTreeClassifier": [{}, {"bins": "all"}, {"cuts": "local"}, {"minimize": ("gini", "size")}],
    "BayesOptimalClassifier": [
        {}, {"cuts": "local"}, {"bins": "all", "max_depth": 2}, {"prior": "loo"}, {"prior": "average"},
        {"max_depth": None, "min_leaf": 8}, {"calibrate": "loo"},
    ],
    "MAPTreeClassifier": [{}, {"cuts": "local"}, {"max_depth": None}],
    "MCMCTreeClassifier": [{"n_draws": 40}, {"n_draws": 40, "cuts": "local"}],
    "EveryTreeClassifier": [{}],
}  # fmt: skip


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_limit_that_is_not_met_changes_nothing(
    name: str, make: Callable[[np.random.Generator], Any]
) -> None:
    for options, weighted in itertools.product(OPTIONS.get(name, [{}]), (False, True)):
        rng = np.random.default_rng(4)
        X, y = make(rng), rng.integers(0, 3, ROWS)
        weights = rng.integers(1, 4, ROWS) if weighted else None
        answers = []
        for limits in ({}, {"memory_limit": 10**9, "time_limit": 600.0}):
            taken = {key: value for key, value in limits.items() if key in getattr(et, name)().get_params()}
            if name == "EveryTreeClassifier":  # its time decides what it tries
                taken = {"time_limit": 2.0} | {key: taken[key] for key in taken if key == "memory_limit"}
            if "random_state" in getattr(et, name)().get_params():
                taken["random_state"] = 0
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = getattr(et, name)(**options, **taken).fit(X, y, sample_weight=weights)
            answers.append(model.predict_proba(X))
        if name == "EveryTreeClassifier":
            assert np.allclose(answers[1].sum(axis=1), 1)
        else:
            np.testing.assert_allclose(answers[1], answers[0], rtol=0, atol=1e-12, err_msg=str(options))


LIMITS = [{"memory_limit": 10**k} for k in range(1, 8)] + [{"time_limit": 10.0**k} for k in (-9, -4, -2)]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_any_limit_ends_with_an_answer_or_a_reason(
    name: str, make: Callable[[np.random.Generator], Any]
) -> None:
    rng = np.random.default_rng(5)
    X, y = make(rng), rng.integers(0, 3, ROWS)
    for options, limits in itertools.product(OPTIONS.get(name, [{}]), LIMITS):
        model = getattr(et, name)(**options, **limits)
        if name == "EveryTreeClassifier" and "time_limit" not in limits:
            model.set_params(time_limit=0.5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                proba = model.fit(X, y).predict_proba(X)
            except EverytreeError:
                continue
        assert np.allclose(proba.sum(axis=1), 1), (options, limits)
