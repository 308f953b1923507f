"""Local cuts: all tests that a node might ask, the codes of rows, how far rows reach, and what a cut is called."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from everytree.data.binarizer import Binarizer
from everytree.data.cuts import cut_between
from everytree.data.encoding import Dropped, Test, matched, outcomes
from everytree.data.frames import read_frame
from everytree.data.local_columns import NEVER
from everytree.data.shortened import cut_matrix, cuts_between
from everytree.data.table import Table
from everytree.errors import DataError

BINS = (2, 4, "all", {"a": [-0.5, 0, 0.01, 0.3, 99], "f": [4]}, {"a": "all", "b": 3})


def mixed(rng, n, holes=True):
    """Columns of every kind, with numbers of few and of many digits."""
    frame = pd.DataFrame(
        {
            "a": np.round(rng.normal(size=n), int(rng.integers(0, 9))),
            "b": rng.integers(0, 5, n).astype(float),
            "c": rng.choice(list("xyz"), n),
            "d": rng.choice(["u", "v"], n),
            "e": rng.integers(0, 2, n).astype(float),
            "f": np.full(n, 3.0),
            "g": rng.integers(0, 10 ** int(rng.integers(1, 18)), n),
            "h": rng.exponential(size=n),
        }
    )
    for name in "abcdeh" if holes else "":
        if rng.random() < 0.5:
            frame.loc[rng.random(n) < 0.2, name] = None if name in "cd" else np.nan
    return frame


def fitted(seed, holes=True):
    rng = np.random.default_rng(seed)
    frame = mixed(rng, int(rng.choice([5, 40, 600])), holes)
    bins = BINS[seed % len(BINS)]
    missing = ("category", "impute")[seed // 2 % 2]
    return rng, frame, Binarizer(bins, missing, cuts="local").fit(frame)


@pytest.mark.parametrize("seed", range(12))
def test_many_cuts_at_once_are_the_cuts_one_by_one(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=300) * 10.0 ** rng.integers(-12, 12)
    if seed % 3 == 1:
        values = np.round(values, int(rng.integers(0, 9)))
    if seed % 3 == 2:
        values = rng.integers(-(10 ** int(rng.integers(1, 19))), 10 ** int(rng.integers(1, 19)), 300)
    values = np.unique(values)
    i, j = np.sort(rng.integers(0, values.size, (2, 800)), axis=0)
    left, right = values[i[i < j]], values[j[i < j]]
    found = cuts_between(left, right)
    expected = [cut_between(a, b) for a, b in zip(left, right, strict=True)]
    assert found == expected
    assert list(map(type, found)) == list(map(type, expected))
    some = values[:40]
    matrix = cut_matrix(some, some)
    for a, b in zip(*np.triu_indices(len(some), 1), strict=True):
        assert matrix[a, b] == cut_between(some[a], some[b])


def test_extreme_numbers_are_cut_as_one_by_one():
    left = np.array([0, -1e308, 1.0, 5e-324, -1, 2.5e15, 1.0])
    right = np.array([1e308, 1e308, np.nextafter(1.0, 2), 1e-323, 1, 3.5e15, 1 + 1e-9])
    assert cuts_between(left, right) == [cut_between(a, b) for a, b in zip(left, right, strict=True)]


@pytest.mark.parametrize("seed", range(20))
def test_rows_and_tables_are_those_of_the_tests_one_by_one(seed):
    rng, frame, binarizer = fitted(seed)
    read, columns = read_frame(frame), binarizer.columns_
    plain = [
        outcome
        for column, encoding in zip(read.columns, binarizer.encodings_, strict=True)
        for outcome in outcomes(matched(column, encoding), encoding)
    ]
    rows = binarizer.transform(frame)
    np.testing.assert_array_equal(rows, np.array(plain, dtype=np.uint8).T)
    codes = columns.codes(read)
    np.testing.assert_array_equal(columns.codes_of_rows(rows), codes)
    y, weights = rng.integers(0, 3, len(frame)), rng.integers(0, 4, len(frame))
    names = binarizer.get_feature_names_out().tolist()
    first = Table.from_arrays(rows, y, 3, weights, test_names=names, columns=columns)
    second = Table.from_codes(columns, codes, y, 3, weights, test_names=names)
    assert first == second
    assert first.fingerprint() == second.fingerprint()
    assert pickle.loads(pickle.dumps(first)) == first
    assert (first + second).columns == columns


@pytest.mark.parametrize("seed", range(20))
def test_reach_is_the_least_upper_for_which_a_cut_holds(seed):
    rng, frame, binarizer = fitted(seed)
    columns = binarizer.columns_
    n = len(frame)
    new = frame.copy()
    new["a"], new["h"] = rng.normal(size=n), rng.exponential(size=n)
    new["g"] = rng.random(n) * frame.g.max()
    new.loc[rng.random(n) < 0.1, "a"] = np.nan
    if seed % 2:
        new["g"] = new["g"].astype(np.int64)
    near = rng.integers(0, n, 5)  # numbers that are cuts themselves
    new.loc[near, "h"] = [
        test.value for test in binarizer.tests_ if test.attribute == "h" and test.op == "<="
    ][:1][0]
    read = read_frame(new)
    reach = columns.reach(read)
    rows = binarizer.transform(new)
    for column in columns.columns:
        given, encoding = read.columns[column.column], binarizer.encodings_[column.column]
        if column.missing >= 0:
            np.testing.assert_array_equal(reach[:, column.missing], np.where(given.missing, 0, NEVER))
        if column.fine is None or column.fine.cuts is not None:
            part = slice(column.begin, column.end)
            np.testing.assert_array_equal(reach[:, part], np.where(rows[:, part], 0, NEVER))
            continue
        for _ in range(60 if column.n_codes > 1 else 0):
            lo = int(rng.integers(0, column.n_codes - 1))
            hi, i = int(rng.integers(lo + 1, column.n_codes)), int(rng.integers(n))
            value = encoding.fill if given.missing[i] else given.data[i].item()
            cuts = [cut_between(column.fine.high[lo], low) for low in column.fine.low[lo + 1 :]]
            cut = cuts[hi - lo - 1]
            upper = columns.upper(column, lo, hi)
            assert upper == lo + 1 + len({other for other in cuts if other < cut})
            assert lo < upper <= columns.last_upper(column.begin + lo) == lo + len(set(cuts))
            assert columns.threshold(column.begin + lo, upper) == cut
            assert type(columns.threshold(column.begin + lo, upper)) is type(cut)
            assert columns.test(column.begin + lo, upper) == Test(given.name, "<=", cut, column.column)
            assert column.fine.high[lo] <= cut < column.fine.low[hi]
            assert (reach[i, column.begin + lo] <= upper) == (value is not None and value <= cut)


@pytest.mark.parametrize("seed", range(10))
def test_training_rows_reach_what_they_pass(seed):
    """Whatever codes a node holds, a row of its own is on the side of its code."""
    rng, frame, binarizer = fitted(seed)
    columns, read = binarizer.columns_, read_frame(frame)
    reach, codes = columns.reach(read), columns.codes(read)
    for k, column in enumerate(columns.columns):
        if column.fine is None:
            continue
        held = np.sort(rng.choice(column.n_codes, max(1, column.n_codes // 2), replace=False))
        mine = np.flatnonzero(np.isin(codes[:, k], held))
        for lo, hi in zip(held[:-1].tolist(), held[1:].tolist(), strict=True):
            upper = columns.upper(column, lo, hi)
            np.testing.assert_array_equal(reach[mine, column.begin + lo] <= upper, codes[mine, k] <= lo)


def test_large_columns_reach_the_same_in_parts(monkeypatch):
    rng = np.random.default_rng(3)
    X, new = np.round(rng.normal(size=(300, 2)), 6), read_frame(rng.normal(size=(50, 2)))
    whole = Binarizer("all", cuts="local").fit(X).columns_.reach(new)
    monkeypatch.setattr("everytree.data.local_columns.KEPT", 10)
    monkeypatch.setattr("everytree.data.local_columns.CELLS", 2000)
    np.testing.assert_array_equal(Binarizer("all", cuts="local").fit(X).columns_.reach(new), whole)


def test_the_columns_of_a_small_table():
    frame = pd.DataFrame(
        {
            "age": [20, 30, np.nan, 90],
            "sex": ["m", "f", "f", "m"],
            "thal": ["a", "b", "c", "a"],
            "ill": [0, 1, 1, 0],
            "flat": [5, 5, 5, 5],
            "gone": [np.nan] * 4,
        }
    )
    binarizer = Binarizer(3, cuts="local").fit(frame)
    assert binarizer.get_feature_names_out().tolist() == [
        "age <= 25", "age <= 60", "age is missing", "sex == m", "thal == a", "thal == b", "thal == c", "ill",
    ]  # fmt: skip
    assert binarizer.columns_.array.tolist() == [
        [0, 0, 2, 2, 3],
        [0, 3, 4, -1, 0],
        [1, 4, 7, -1, 0],
        [0, 7, 8, -1, 0],
    ]
    assert {test.name: why for test, why in binarizer.dropped_.items()} == {
        "flat <= 5": Dropped("constant"),
        "gone is missing": Dropped("constant"),
    }
    assert binarizer.columns_.test(0, 2).name == "age <= 55"
    new = pd.DataFrame(
        {
            "age": [56, 50, np.nan],
            "sex": ["m", "x", None],
            "thal": ["c", "z", None],
            "ill": [1, 0, 0],
            "flat": 1,
            "gone": 2,
        }
    )
    assert binarizer.columns_.reach(read_frame(new)).tolist() == [
        [NEVER, 0, NEVER, 0, NEVER, NEVER, 0, 0],
        [2, 0, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER],
        [NEVER, NEVER, 0, NEVER, NEVER, NEVER, NEVER, NEVER],
    ]


def test_many_values_become_fine_bins_unless_all_are_asked_for():
    X = np.random.default_rng(0).normal(size=(2000, 1))
    fine = Binarizer(4, cuts="local").fit(X)
    assert len(fine.tests_) == 254
    codes = fine.columns_.codes(read_frame(X))[:, 0]
    assert np.bincount(codes).min() >= 7
    assert len(Binarizer("all", cuts="local").fit(X).tests_) == 1999


def test_global_cuts_are_the_default_and_know_no_columns():
    assert Binarizer().fit([[1], [2]]).columns_ is None
    with pytest.raises(DataError, match="cuts='both' is not known"):
        Binarizer(cuts="both").fit([[1], [2]])


def test_values_that_must_be_refused_are_refused_with_local_cuts():
    binarizer = Binarizer(cuts="local", unknown="error").fit([["a"], ["b"], ["c"]])
    with pytest.raises(DataError, match="not seen during fit"):
        binarizer.transform([["d"]])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_engines_count_the_same_table(seed, engine):
    module = pytest.importorskip(engine)
    rng = np.random.default_rng(seed)
    frame = mixed(rng, 300)
    frame["g"] = rng.integers(0, 1000, 300)
    y = rng.integers(0, 3, 300)
    bins, missing = BINS[seed], ("category", "impute")[seed % 2]
    binarizer = Binarizer(bins, missing, cuts="local").fit(frame)
    expected = Table.from_codes(
        binarizer.columns_,
        binarizer.columns_.codes(read_frame(frame)),
        y,
        3,
        test_names=binarizer.get_feature_names_out().tolist(),
        classes=[0, 1, 2],
    )
    whole = frame.assign(y=y)
    data = module.from_pandas(whole).lazy() if engine == "polars" else module.sql("select * from whole")
    table = Table.from_frame(data, "y", bins=bins, missing=missing, cuts="local")
    assert table == expected
    assert table.binarizer.dropped_ == binarizer.dropped_
    assert Table.from_frame(data, "y", like=table) == table
    with pytest.raises(DataError, match="differ in"):
        table + Table(table.rows, table.class_counts, test_names=table.test_names, classes=table.classes)


@pytest.mark.parametrize("bins", BINS[:4])
def test_table_files_keep_the_columns(tmp_path, bins):
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(5)
    frame = mixed(rng, 60).assign(y=rng.integers(0, 2, 60))
    table = Table.from_frame(frame, "y", bins=bins, cuts="local")
    table.save(tmp_path / "t.arrow")
    again = Table.load(tmp_path / "t.arrow")
    assert again == table
    new = read_frame(mixed(rng, 20))
    np.testing.assert_array_equal(again.columns.reach(new), table.columns.reach(new))
