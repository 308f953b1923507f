"""Counting batch by batch against the Binarizer on all rows at once."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from everytree.data.binarizer import Binarizer
from everytree.data.frames import read_frame
from everytree.data.table import Table
from everytree.data.tally import Tally
from everytree.errors import DataError


def frame(n, seed, holes=0.0):
    """Columns of every kind; few rows, so that constants, duplicates and complements abound."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {
            "age": rng.integers(20, 80, n),
            "height": rng.normal(170, 10, n).round(1),
            "color": rng.choice(["red", "blue", "green", "grey"], n, p=[0.6, 0.2, 0.1, 0.1]),
            "size": pd.Categorical(rng.choice(["small", "large"], n), ["small", "medium", "large"]),
            "smoker": rng.random(n) < 0.5,
            "flag": rng.integers(0, 2, n),
            "same": 1,
            "other": "x",
            "maybe": rng.integers(0, 2 + rng.integers(0, 2), n),
        }
    )
    data["twin"] = data["flag"]
    data["against"] = 1 - data["flag"]
    if holes:
        for name in ("age", "color", "smoker", "flag", "maybe"):
            data[name] = data[name].astype(object).mask(rng.random(n) < holes, None)
    y = np.where(rng.random(n) < 0.5, "yes", rng.choice(["no", "perhaps"], n))
    return data, y


CUTS = {"age": [30, 40, 50, 90], "height": [160.5, 170.0], "maybe": [0.5, 1.5]}


def at_once(data, y, weights, **options):
    binarizer = Binarizer(**options).fit(data, sample_weight=weights)
    labels, codes = np.unique(y, return_inverse=True)
    names = binarizer.get_feature_names_out().tolist()
    table = Table.from_arrays(
        binarizer.transform(data), codes, len(labels), weights, test_names=names, classes=labels.tolist()
    )
    return binarizer, table


def assert_same(tally, binarizer, table):
    found, counted = tally.binarized()
    assert found.tests_ == binarizer.tests_
    assert found.dropped_ == binarizer.dropped_
    assert list(found.dropped_) == list(binarizer.dropped_)
    assert found.attributes_.tolist() == binarizer.attributes_.tolist()
    assert found.feature_names_in_.tolist() == binarizer.feature_names_in_.tolist()
    assert [(e.kind, e.tests, e.fill, e.codes) for e in found.encodings_] == [
        (e.kind, e.tests, e.fill, e.codes) for e in binarizer.encodings_
    ]
    assert counted == table
    assert counted.fingerprint() == table.fingerprint()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("missing", ["error", "category", "impute"])
@pytest.mark.parametrize("bins", [4, "all", CUTS], ids=["4", "all", "cuts"])
def test_one_batch_is_the_binarizer(seed, missing, bins):
    n = [1, 2, 3, 8, 30, 60][seed % 6]
    data, y = frame(n, seed, 0.0 if missing == "error" else 0.3)
    weights = np.random.default_rng(seed).integers(1, 4, n) if seed % 2 else None
    tally = Tally(Binarizer(bins, missing)).add(read_frame(data), y, weights)
    assert_same(tally, *at_once(data, y, weights, bins=bins, missing=missing))
    assert tally.total == (n if weights is None else weights.sum())


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("missing", ["error", "category"])
@pytest.mark.parametrize("n_batches", [2, 5])
def test_batches_with_given_cuts_are_all_rows_at_once(seed, missing, n_batches):
    data, y = frame(40, seed, 0.0 if missing == "error" else 0.3)
    weights = np.random.default_rng(seed).integers(1, 4, 40) if seed % 2 else None
    order = np.argsort(y, kind="stable") if seed % 3 == 0 else np.arange(40)  # a label may come late
    tally = Tally(Binarizer(CUTS, missing))
    for part in np.array_split(order, n_batches):
        tally = tally.add(read_frame(data.iloc[part]), y[part], None if weights is None else weights[part])
    assert_same(tally, *at_once(data, y, weights, bins=CUTS, missing=missing))


@pytest.mark.parametrize("seed", range(6))
def test_the_mode_is_that_of_all_rows(seed):
    data, y = frame(40, seed, 0.4)
    data = data.drop(columns=["age", "maybe", "height"])  # their means would be of the first batch
    tally = Tally(Binarizer(missing="impute"))
    for part in np.array_split(np.arange(40), 4):
        tally = tally.add(read_frame(data.iloc[part]), y[part], None)
    assert_same(tally, *at_once(data, y, None, missing="impute"))


def test_cuts_that_are_not_given_come_from_the_first_batch():
    data, y = frame(60, 1)
    first = Binarizer(4).fit(data[:30])
    names = list(data.columns)
    cuts = {
        names[j]: [t.value for t in [*first.tests_, *first.dropped_] if t.column == j and t.op == "<="]
        for j in (0, 1)
    }
    data = data.drop(columns="maybe")
    tally = (
        Tally(Binarizer(4)).add(read_frame(data[:30]), y[:30], None).add(read_frame(data[30:]), y[30:], None)
    )
    assert_same(tally, *at_once(data, y, None, bins=cuts))


def test_a_column_without_values_at_first():
    data = pd.DataFrame({"a": [None, None, "x", "y"], "b": [None, None, 0.0, 1.0]})
    y = np.array([0, 1, 0, 1])
    for missing in ("category", "impute"):
        tally = Tally(Binarizer(missing=missing))
        for part in (slice(0, 2), slice(2, 4)):
            tally = tally.add(read_frame(data[part]), y[part], None)
        assert_same(tally, *at_once(data, y, None, missing=missing))


def test_adding_leaves_the_old_tally_as_it_was():
    data, y = frame(20, 3)
    one = Tally(Binarizer(CUTS)).add(read_frame(data[:10]), y[:10], None)
    before = one.binarized()[1]
    one.add(read_frame(data[10:]), y[10:], None)
    assert one.binarized()[1] == before
    assert one.total == 10


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ({"a": [1, 2]}, {"a": ["x", "y"]}, "held numbers in earlier batches and holds text now"),
        ({"a": ["x", "y"]}, {"a": [1, 2]}, "held text in earlier batches and holds numbers now"),
        ({"a": [0, 1]}, {"a": [0, 7]}, r"bins=\{'a': \[...\]\}"),
        (
            {"a": ["x", "y"]},
            {"a": ["z", "u"]},
            "4 different values in all batches, more than max_categories=3",
        ),
        ({"a": [1.0, 2.0]}, {"a": [1.0, None]}, "missing values"),
    ],
)
def test_messages(first, second, message):
    binarizer = Binarizer(missing="error", max_categories=3)
    tally = Tally(binarizer).add(read_frame(pd.DataFrame(first)), np.array([0, 1]), None)
    with pytest.raises(DataError, match=message):
        tally.add(read_frame(pd.DataFrame(second)), np.array([0, 1]), None)
