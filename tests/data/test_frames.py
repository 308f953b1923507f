"""Reading input: what counts as missing, and what is refused with which message."""

from __future__ import annotations

import datetime
from decimal import Decimal

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from everytree.data import frames
from everytree.data.binarizer import Binarizer
from everytree.data.column import nominal_column
from everytree.data.frames import read_columns, read_frame
from everytree.errors import DataError


def names(binarizer):
    return binarizer.get_feature_names_out().tolist()


def column(values, dtype=object):
    return np.array(values, dtype=dtype).reshape(-1, 1)


def test_masked_arrays():
    X = np.ma.masked_array([[1, 5], [2, 6], [3, 7]], mask=[[0, 0], [1, 0], [0, 0]])
    with pytest.raises(DataError, match=r"'x0' \(1 of 3 rows\)"):
        Binarizer(missing="error").fit(X)
    assert Binarizer("all").fit(X).get_feature_names_out()[:2].tolist() == ["x0 <= 2", "x0 is missing"]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([1.0, 2.0], "Expected 2D array, got 1D array instead. Reshape your data"),
        (np.zeros((2, 2, 2)), "got 3D array"),
        (5, "got 0D array"),
        ([[1.0], [1.0, 2.0]], "cannot be read as a table"),
        (np.zeros((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\)"),
        (np.zeros((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\)"),
        (sparse.csr_array(np.eye(2)), "sparse input is not supported. Use X.toarray"),
        (np.array([[1j], [2.0]]), "Complex data not supported"),
        (np.array([[1j], [2.0]], dtype=object), "Complex data not supported"),
        ([[1.0], [np.inf]], r"column 'x0' holds infinity \(inf\) in 1 of 2 rows, first in row 1; replace it"),
        ([[-np.inf], [1.0]], "holds infinity"),
        (column([datetime.date(2020, 1, 1), 3]), "dates or times beside other values"),
        (np.array([["0001-01-01"]], dtype="datetime64[D]"), "no date between the years 1600 and 2200"),
        (column([1, "?"]), r"type int, str; expected only numbers.*is '\?' a sign for a missing value"),
        (column([{}, []]), "type dict, list"),
        (column([2**70, 1]), "beyond 64 bits"),
        (np.array([[b"a"]]), "holds |S1 values"),
        (np.array([[(1, 2)]], dtype=[("a", int), ("b", int)]), "expected numbers"),
    ],
)
def test_bad_data_is_refused(X, message):
    with pytest.raises(DataError, match=message):
        Binarizer().fit(X)


def test_bad_frames_are_refused():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    [datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 2)]
    for X, message in (
        (pl.DataFrame({"l": [[1], [2]]}), "column 'l' holds List"),
        (pl.DataFrame({"a": [1]}).lazy(), r"lazy data frame; call .collect\(\)"),
        (pd.Series([1.0, 2.0]), r"use X.to_frame\(\)"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "must differ"),
        (pd.DataFrame([[1, 2]], columns=["a", 0]), "convert all of them to strings"),
        (pd.DataFrame({"x": [1.0, np.inf]}), "column 'x' holds infinity"),
    ):
        with pytest.raises(DataError, match=message):
            Binarizer().fit(X)


def test_decimals_are_numbers():
    pl = pytest.importorskip("polars")
    X = [Decimal("1.5"), Decimal("2.5"), Decimal("4")]
    assert names(Binarizer(bins="all").fit(pl.DataFrame({"x": X}))) == ["x <= 2", "x <= 3.25"]
    assert names(Binarizer(bins="all").fit(column(X))) == ["x0 <= 2", "x0 <= 3.25"]


def test_128_bit_columns_are_read_where_they_fit():
    pl = pytest.importorskip("polars")
    X = pl.DataFrame({"x": pl.Series([2**60, 2**60 + 1, None], dtype=pl.Int128)})
    assert Binarizer(missing="category").fit_transform(X).tolist() == [[1, 0], [0, 0], [0, 1]]
    with pytest.raises(DataError, match="column 'x' holds whole numbers beyond 64 bits"):
        Binarizer().fit(pl.DataFrame({"x": pl.Series([1, 2**100], dtype=pl.Int128)}))


def test_polars_categories_are_sorted_whatever_came_first():
    pl = pytest.importorskip("polars")
    X = pl.DataFrame({"x": pl.Series(["b", "c", "a"], dtype=pl.Categorical)})
    assert names(Binarizer().fit(X)) == ["x == a", "x == b", "x == c"]


def test_arrow_and_pandas_columns_of_many_types():
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    for X, expected in (
        (
            pa.table({"a": pa.array(["x", "y", "x", None]).dictionary_encode()}),
            ["a == x", "a == y", "a is missing"],
        ),
        (pa.table({"a": pa.chunked_array([[1, 2], [3, None]])}), ["a <= 1.5", "a <= 2.5", "a is missing"]),
        (pa.table({"a": pa.nulls(2), "b": [2, 3]}), ["b <= 2.5"]),
        (
            pd.DataFrame({"a": pd.array([1, None, 3, 4], dtype="int64[pyarrow]")}),
            ["a <= 2", "a <= 3.5", "a is missing"],
        ),
        (
            pd.DataFrame({"a": pd.Categorical([3, 1, 2], categories=[3, 2, 1])}),
            ["a == 3", "a == 2", "a == 1"],
        ),
        (pd.DataFrame({"a": np.array([1, 2, 255], dtype=np.uint8)}), ["a <= 1.5", "a <= 128.5"]),
        (pd.DataFrame([[1, 2.5], [3, 4.5]]), ["x0 <= 2"]),
    ):
        assert names(Binarizer(bins="all", missing="category").fit(X)) == expected


def same(one, other):
    assert (one.n_rows, one.names, one.times) == (other.n_rows, other.names, other.times)
    for a, b in zip(one.columns, other.columns, strict=True):
        assert (a.name, a.kind, a.data.dtype, a.labels) == (b.name, b.kind, b.data.dtype, b.labels)
        np.testing.assert_array_equal(a.values, b.values)
        np.testing.assert_array_equal(a.missing, b.missing)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "b1"])
def test_columns_of_numpy_types_in_a_pandas_frame_are_those_of_an_arrow_table(dtype):
    """The arrays of such columns are read as they are; an Arrow table takes the road of all other columns."""
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    values = np.array([0, 1, 1, 0, 1], dtype=dtype)
    frames = [
        pd.DataFrame({"a": values}),
        pd.DataFrame({"a": values, "b": values}),
        pd.DataFrame({"a": values, "b": [0.5, np.nan, 2.5, np.nan, 1.0], "c": np.full(5, np.nan)}),
        pd.DataFrame({"a": values, "b": list("xyxyx"), "c": [1.5, 2.5, 3.5, 4.5, np.nan]}),
        pd.DataFrame({"a": values, "b": pd.date_range("2024-01-01", periods=5)}).iloc[::2],
        pd.DataFrame({"a": values}).iloc[:0],
    ]
    for frame in frames:
        same(read_columns(frame), read_columns(pa.Table.from_pandas(frame, preserve_index=False)))


def test_infinity_in_pandas_frames_is_refused_and_foreign_byte_orders_are_read():
    pd = pytest.importorskip("pandas")
    with pytest.raises(DataError, match="infinity"):
        read_columns(pd.DataFrame({"a": [1.0, np.inf, np.nan]}))
    (column,) = read_columns(pd.DataFrame({"a": np.array([1.0, 2.0], dtype=">f8")})).columns
    assert column.data.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("gone", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(
    "categories", [["b", "a", "c"], [3, 1, 2], [1.5, 2.5], [True, False], ["only"], ["x", "never used"]]
)
def test_categories_of_pandas_are_read_by_their_codes(categories: list[object], gone: float) -> None:
    rng = np.random.default_rng(len(categories))
    used = rng.integers(0, 1 if "never used" in categories else len(categories), 50)
    codes = np.where(rng.random(50) < gone, -1, used)
    given = pd.DataFrame({"k": pd.Categorical.from_codes(codes, categories), "z": np.arange(50.0)})
    found = read_frame(given).columns[0]
    series = nw.from_native(given)["k"]
    wanted = frames._from_series("k", series, series.dtype)  # the way of all other libraries
    assert (found.kind, found.labels, found.categories) == (wanted.kind, wanted.labels, wanted.categories)
    assert np.array_equal(found.missing, wanted.missing)
    assert np.array_equal(found.data, wanted.data)


@pytest.mark.parametrize("dtype", ["string[python]", "string[pyarrow]", "str"])
@pytest.mark.parametrize("texts", [["a", None, "b", "a"], [None, None], [], ["x"], ["é", "", "é", None]])
def test_texts_of_pandas_are_read_by_their_codes(texts: list[str | None], dtype: str) -> None:
    """As a list of the same texts is read; numbers stand beside them, so that the frame is of several types."""
    frame = pd.DataFrame({"t": pd.Series(texts, dtype=dtype), "n": np.arange(len(texts)) * 1.5})
    read = read_frame(frame).columns[0]
    if texts and not any(texts):
        assert read.kind == "empty"
        assert read.missing.all()
        return
    plain = nominal_column("t", texts)
    assert (read.kind, read.labels, read.categories) == ("nominal", plain.labels, None)
    assert read.data.tolist() == plain.data.tolist()
    assert read.missing.tolist() == plain.missing.tolist()
