"""Reading columns is part of every limit: many columns, many texts and many classes, which a search needs as well.

Seconds are those of the processor, with room: what is tested took from four times to a hundred times as many.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import everytree as et
from everytree.common.reading import look, reading
from everytree.errors import LimitReached, QueryError

LIMIT, MOST = 0.2, 1.5


def noise(n_rows: int, n_columns: int, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n_rows, n_columns)), rng.integers(0, n_classes, n_rows)


def texts(write: Callable[[int], str], n_values: int, n_columns: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    values = np.array([write(k) for k in range(n_values)], dtype=object)
    columns = {f"c{j}": values[rng.integers(0, n_values, 30_000)] for j in range(n_columns)}
    return pd.DataFrame(columns), rng.integers(0, 2, 30_000)


def taken(model: Any, X: Any, y: np.ndarray) -> float:
    """Seconds of the processor until the limit ended the fit."""
    began = time.process_time()
    with pytest.raises(LimitReached) as told:
        model.fit(X, y)
    assert told.value.reason == "time"
    return time.process_time() - began


@pytest.mark.parametrize("name", ["OptimalTreeClassifier", "MAPTreeClassifier", "BayesOptimalClassifier"])
@pytest.mark.parametrize("bins", [{"cuts": "local"}, {"bins": "all"}, {"bins": 200}], ids=str)
def test_reading_thousands_of_columns(name: str, bins: dict[str, Any]) -> None:
    if name == "OptimalTreeClassifier" and bins.get("bins") == "all":
        pytest.skip("every cut-point is searched without a test for each")
    X, y = noise(300, 5000)
    assert taken(getattr(et, name)(**bins, time_limit=LIMIT), X, y) < MOST


@pytest.mark.parametrize(
    "name",
    ["C45TreeClassifier", "SmoothedTreeClassifier", "OptimalTreeClassifier", "PathAverageTreeClassifier"],
)
def test_reading_thousands_of_texts(name: str) -> None:
    X, y = texts(lambda k: f"$ {k}", 10_000, 8)
    assert taken(getattr(et, name)(time_limit=LIMIT), X, y) < MOST


def test_texts_are_not_looked_at_for_cuts_to_leave_out() -> None:
    X, y = texts(lambda k: f"v{k}", 200, 20)
    assert taken(et.OptimalTreeClassifier(time_limit=LIMIT), X, y) < MOST


def test_a_search_does_not_begin_with_a_table_beyond_its_memory() -> None:
    X, y = noise(300, 2000)
    with pytest.raises(LimitReached, match="memory limit"):
        et.OptimalTreeClassifier(cuts="local", memory_limit=64_000_000).fit(X, y)


@pytest.mark.parametrize("name", ["OptimalTreeClassifier", "MAPTreeClassifier"])
@pytest.mark.parametrize("cuts", ["local", "global"])
def test_a_search_answers_about_a_small_table_however_little_time_there_is(name: str, cuts: str) -> None:
    X, y = noise(60, 4)
    getattr(et, name)(cuts=cuts, time_limit=1e-9).fit(X, y)


def test_the_clock_of_reading_ends_with_its_block() -> None:
    with reading(0.0):
        began = time.thread_time()
        while time.thread_time() < began + 0.03:
            pass
        with (
            reading(None),
            reading(100.0),
            pytest.raises(LimitReached, match="columns were read; raise time_limit"),
        ):
            look()  # the shorter limit holds
    look()


@pytest.mark.parametrize("name", ["OptimalTreeClassifier", "BayesOptimalClassifier"])
def test_codes_may_take_more_than_the_matrix_made_of_them(name: str) -> None:
    X, y = np.random.default_rng(0).integers(0, 2, (60, 12)), np.arange(60) % 2
    limited = getattr(et, name)(cuts="local", max_depth=2, memory_limit=64_000_000).fit(X, y)
    free = getattr(et, name)(cuts="local", max_depth=2).fit(X, y)
    assert np.array_equal(limited.predict_proba(X), free.predict_proba(X))


@pytest.mark.parametrize(
    "name", ["OptimalTreeClassifier", "BayesOptimalClassifier", "MCMCTreeClassifier", "C45TreeClassifier"]
)
def test_columns_beyond_the_memory_are_not_copied(name: str) -> None:
    X, y = noise(20_000, 600)
    with pytest.raises(LimitReached, match="memory limit reached while the columns were read: 600 columns"):
        getattr(et, name)(memory_limit=64_000_000).fit(X, y)


@pytest.mark.parametrize("name", ["OptimalTreeClassifier", "BayesOptimalClassifier", "MCMCTreeClassifier"])
def test_counts_beyond_the_memory_are_not_made(name: str) -> None:
    X, y = noise(60_000, 10, 100)
    with pytest.raises(LimitReached, match=r"the counts of .* × 100 classes take"):
        getattr(et, name)(memory_limit=64_000_000).fit(X, y)


@pytest.mark.parametrize(
    "limit", [10**400, -1, np.nan, True, "5"], ids=["huge", "less", "nan", "bool", "str"]
)
def test_a_limit_that_is_none_is_refused(limit: Any) -> None:
    X, y = noise(60, 4)
    with pytest.raises(QueryError, match="time_limit"):
        et.OptimalTreeClassifier(time_limit=limit).fit(X, y)
