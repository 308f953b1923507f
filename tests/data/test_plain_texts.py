"""Texts of a data frame that are more than texts: told at ``fit``, read by ``everytree.read``, taken by ``predict``."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import everytree as et


def customers(n: int = 120) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(5)
    paid = rng.uniform(5, 2000, n)
    frame = pd.DataFrame({
        "customer_id": [f"C-{1000 + 3 * k}" for k in range(n)],
        "paid": [f"${x:,.2f}" for x in paid],
        "joined": [f"{1 + k % 28:02d}/{1 + k % 12:02d}/2023" for k in range(n)],
        "town": rng.choice(["Ulm", "Bonn", "Kiel"], n),
        "calls": rng.integers(0, 9, n),
    })  # fmt: skip
    return frame, np.where(paid > 900, "yes", "no")


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_all_columns_are_named_at_once(kind: str) -> None:
    X, y = customers()
    given = {"pandas": X, "polars": pl.from_pandas(X), "arrow": pl.from_pandas(X).to_arrow()}[kind]
    with pytest.warns(UserWarning, match=r"3 columns of text are taken as they are") as told:
        et.OptimalTreeClassifier(max_depth=1).fit(given, y)
    text = str(told[0].message)
    assert "'customer_id' not at all (ids" in text
    assert "'paid' as money ($" in text
    assert "'joined' as date (day/month/year)" in text
    assert "town" not in text
    assert "everytree.read(X)" in text
    assert told[0].filename == __file__


@pytest.mark.parametrize("made", ["categories", "numbers", "read", "array"])
def test_nothing_is_said_where_there_is_nothing_to_say(made: str) -> None:
    X, y = customers()
    given = {
        "categories": X.astype(dict.fromkeys(("customer_id", "paid", "joined", "town"), "category")),
        "numbers": X[["town", "calls"]],
        "read": et.read(X),
        "array": X.to_numpy(),
    }[made]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        et.OptimalTreeClassifier(max_depth=1).fit(given, y)


@pytest.mark.parametrize("model", [et.OptimalTreeClassifier(max_depth=1, bins="all"), et.C45TreeClassifier()])
def test_a_model_of_what_was_read_takes_the_frame_itself(model) -> None:
    """The columns that ``read`` left out are in such a frame, and in any order."""
    X, y = customers()
    model.fit(et.read(X), y)
    assert model.score(et.read(X, like=model), y) == 1.0
    assert model.predict(X).tolist() == y.tolist()
    assert model.predict(X[X.columns[::-1]]).tolist() == y.tolist()
    with pytest.raises(et.DataError, match="now missing"):
        model.predict(X.drop(columns="calls"))


def test_the_error_for_other_columns_says_what_to_do() -> None:
    X, y = customers()
    model = et.OptimalTreeClassifier(max_depth=1).fit(X[["calls"]], y)
    with pytest.raises(et.DataError, match=r"everytree\.read\(X, like=model\)"):
        model.predict(X[["calls", "town"]])
    assert len(model.predict(et.read(X, like=model))) == len(X)
