"""Frames of pandas as people have them: each kind of column is read, or refused with all that is wrong at once."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import pytest

import everytree as et
from everytree.data.frames import read_frame
from everytree.errors import DataError

N = 60
draw = np.random.default_rng(0)
Y = np.where(draw.random(N) < 0.4, "a", "b")
X = draw.normal(size=N) + (Y == "a")
GONE = draw.random(N) < 0.1


def holes(values: Any, dtype: str) -> pd.Series:
    series = pd.Series(values, dtype=dtype)
    series[GONE] = pd.NA
    return series


READ = {
    "categories": pd.Categorical(draw.choice(list("uvw"), N)),
    "ordered categories": pd.Categorical(draw.choice(["low", "high"], N), ["low", "high"], ordered=True),
    "intervals": pd.cut(X, 4),
    "Int64": holes(draw.integers(0, 9, N), "Int64"),
    "Float64": holes(X, "Float64"),
    "boolean": holes(draw.random(N) < 0.5, "boolean"),
    "string": holes(draw.choice(["u", "v"], N), "string"),
    "datetimes": pd.Series(pd.date_range("2020-01-01", periods=N)).where(~GONE),
    "times in a zone": pd.date_range("2020-01-01", periods=N, tz="Europe/Berlin"),
    "durations": pd.to_timedelta(draw.integers(0, 10**6, N), unit="s"),
    "periods": pd.period_range("2020-01", periods=N, freq="M"),
    "sparse": pd.arrays.SparseArray((draw.random(N) < 0.3) * 1.0),
    "dates": [dt.date(2020, 1, 1 + k % 28) for k in range(N)],
    "nothing": [None] * N,
}
MODELS = {
    "every": lambda: et.EveryTreeClassifier(time_limit=0.05),
    "optimal": lambda: et.OptimalTreeClassifier(max_depth=2),
    "bayes": lambda: et.BayesOptimalClassifier(max_depth=2),
}


@pytest.mark.parametrize("kind", READ)
@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_column_is_read(name: str, kind: str) -> None:
    frame = pd.DataFrame({"x": X, "other": READ[kind]})
    model = MODELS[name]().fit(frame, Y)
    proba = model.predict_proba(frame)
    assert proba.sum(axis=1) == pytest.approx(np.ones(N))
    assert model.predict_proba(frame.iloc[:3]) == pytest.approx(proba[:3])


def test_sparse_columns_and_periods_are_what_they_stand_for() -> None:
    dense = (draw.random(N) < 0.3) * 1.0
    periods = pd.period_range("2020-01", periods=N, freq="M")
    given = read_frame(pd.DataFrame({"s": pd.arrays.SparseArray(dense), "p": periods}))
    plain = read_frame(pd.DataFrame({"s": dense, "p": periods.to_timestamp()}))
    assert given.names == plain.names
    for one, other in zip(given.columns, plain.columns, strict=True):
        assert one.kind == other.kind
        assert np.array_equal(one.data, other.data)


@pytest.mark.parametrize("name", MODELS)
def test_all_columns_that_cannot_be_used_are_listed_at_once(name: str) -> None:
    frame = pd.DataFrame(
        {"x": X, "m": [[1]] * N, "c": X + 1j, "k": [{1}] * N, "i": np.where(GONE, np.inf, X)}
    )
    with pytest.raises(DataError) as caught:
        MODELS[name]().fit(frame, Y)
    text = str(caught.value)
    assert text.startswith("4 columns cannot be used: column 'm' holds values of type list; expected")
    for part in ("'c' holds complex numbers", "'k' holds values of type set", "'i' holds infinity"):
        assert part in text
    many = pd.DataFrame({f"m{k}": [[k]] * N for k in range(9)})
    with pytest.raises(DataError, match=r"9 columns cannot be used: .*'m4' .*; and 4 more"):
        MODELS[name]().fit(many, Y)
    cells = np.empty((2, 3), dtype=object)
    cells[:] = [[{1}, 2, {3}], [{1}, 2, {3}]]
    with pytest.raises(DataError, match=r"2 columns cannot be used: column 'x0' .*; column 'x2'"):
        MODELS[name]().fit(cells, ["a", "b"])
