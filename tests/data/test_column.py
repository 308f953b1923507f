"""One column type for every source: codes and labels, numbers and masks mean the same wherever the rows came from."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pytest

from everytree.data.column import Column, coded, nominal_column
from everytree.data.facts import facts_of
from everytree.data.frames import read_frame
from everytree.data.readers import read_csv
from everytree.errors import DataError

TEXT = "n,c,b,w\n1.5,red,yes,9007199254740993\n,blue,,1\n2.5,,no,2\n1.5,red,no,3\n"
TYPES = {"c": ["blue", "green", "red"], "b": "boolean"}


def read() -> dict[str, Column]:
    return dict(read_csv(io.StringIO(TEXT), types=TYPES).columns)


def test_a_file_an_array_and_a_data_frame_give_the_same_columns() -> None:
    pd = pytest.importorskip("pandas")
    data = read_csv(io.StringIO(TEXT), types=TYPES)
    objects = np.array([column.values.tolist() for column in data.columns.values()], dtype=object).T
    frames = {"file": read_frame(data), "array": read_frame(objects), "pandas": read_frame(data.to_pandas())}
    assert isinstance(data.to_pandas(), pd.DataFrame)
    for source, frame in frames.items():
        for column, wanted in zip(frame.columns, data.columns.values(), strict=True):
            assert isinstance(column, Column), source
            assert column.kind == wanted.kind, (source, column.name)
            assert np.array_equal(column.missing, wanted.missing), (source, column.name)
            assert column.values[~column.missing].tolist() == wanted.values[~wanted.missing].tolist()
            assert facts_of(column).counts.tolist() == facts_of(wanted).counts.tolist()
            assert facts_of(column).absent == facts_of(wanted).absent


def test_what_is_held_and_what_a_person_reads() -> None:
    columns = read()
    assert columns["n"].values.tolist()[0] == 1.5
    assert np.isnan(columns["n"].values[1])
    assert columns["c"].values.tolist() == ["red", "blue", None, "red"]
    assert (columns["c"].data.tolist(), columns["c"].labels) == ([0, 1, -1, 0], ("red", "blue"))
    assert columns["b"].values.tolist() == [True, None, False, False]
    assert columns["b"].data.dtype == np.uint8
    assert columns["w"].values.tolist() == [2**53 + 1, 1, 2, 3]
    assert columns["w"].mask is None
    for column in columns.values():
        assert not column.values.flags.writeable
        assert not column.data.flags.writeable
        assert pickle.loads(pickle.dumps(column)) == column
        assert column.take(np.arange(len(column))) == column


def test_labels_that_no_row_has_are_no_values() -> None:
    some = read()["c"].take(np.array([False, True, True, False]))
    assert some.labels == ("red", "blue")
    assert some.occurring() == ["blue"]
    assert some.first() == "blue"
    assert facts_of(some).values == ["blue"]
    assert facts_of(some).categories == ("blue", "green", "red")
    nothing = read()["c"].take(np.array([2]))
    assert nothing.is_empty
    assert nothing.kind == "nominal"
    assert facts_of(nothing).kind == "empty"


def test_numbers_and_booleans_as_labels() -> None:
    whole = Column.of("w", "numeric", np.array([3, 2**60, 3, 0]), np.array([False, False, False, True]))
    assert whole.as_nominal().values.tolist() == [3, 2**60, 3, None]
    assert whole.as_nominal().labels == (3, 2**60)
    gaps = Column("x", "numeric", np.array([np.nan, 1.5, np.nan]))
    assert gaps.as_nominal().labels == (1.5,)
    assert read()["b"].as_nominal().values.tolist() == [True, None, False, False]


@pytest.mark.parametrize("weights", [None, np.array([1, 5, 2, 3])])
def test_facts_count_rows_or_weights(weights: np.ndarray | None) -> None:
    facts = facts_of(read()["c"], weights)
    plain = weights is None
    assert facts.values == ["blue", "red"]
    assert facts.counts.tolist() == ([1, 2] if plain else [5, 4])
    assert (facts.absent, facts.present) == ((1, 3) if plain else (2, 9))


def test_codes() -> None:
    codes, labels = coded(iter(["b", "x", "a", "b"]), gone="x")
    assert (codes.tolist(), labels) == ([0, -1, 1, 0], ["b", "a"])
    column = nominal_column("c", ["b", float("nan"), "a"], np.array([False, True, False]))
    assert column.codes_in({"a": 7}, -2).tolist() == [-2, -2, 7]
    assert column.values.tolist() == ["b", None, "a"]


def test_infinity_in_a_file_is_refused_where_it_is_used() -> None:
    data = read_csv(io.StringIO("x,y\n1,a\ninf,b\n"))
    assert data["x"].values.tolist() == [1.0, np.inf]
    with pytest.raises(DataError, match=r"column 'x' holds infinity \(inf\) in 1 of 2 rows, first in row 1"):
        read_frame(data)
