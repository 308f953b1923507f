"""Parquet and Arrow: every kind of column, the round trip, and broken files."""

from __future__ import annotations

import datetime
import decimal
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from everytree.data.readers import Column, Dataset, read, read_arrow, read_parquet
from everytree.data.readers.parquet import from_arrow
from everytree.errors import DataError

pyarrow = pytest.importorskip("pyarrow", reason='needs pyarrow: pip install "everytree[bigdata]"')
parquet = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")
ipc = pytest.importorskip("pyarrow.ipc")


def example() -> Dataset:
    """One column of every kind, each with a missing value but the large integers."""

    def objects(*values: object) -> np.ndarray[Any, Any]:
        return np.array(values, dtype=object)

    columns = [
        Column("age", "numeric", np.array([63.0, np.nan, 41.5])),
        Column("id", "numeric", np.array([2**53 + 1, 2**53, -(2**60)], dtype=np.int64)),
        Column("thal", "nominal", objects("normal", None, "fixed"), ("reversable", "normal", "fixed")),
        Column("name", "nominal", objects("a", "?", None)),
        Column("sick", "boolean", objects(True, None, False)),
    ]
    return Dataset({column.name: column for column in columns})


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    data = example()
    table = data.to_arrow()
    parquet.write_table(table, tmp_path / "t.parquet")
    feather.write_feather(table, str(tmp_path / "t.feather"))
    with ipc.new_stream(str(tmp_path / "t.arrows"), table.schema) as stream:
        stream.write_table(table)
    assert read(tmp_path / "t.parquet") == data
    assert read(tmp_path / "t.feather") == data
    assert read(tmp_path / "t.arrows") == data
    assert read_parquet(io.BytesIO((tmp_path / "t.parquet").read_bytes())) == data


def test_the_kind_of_every_arrow_type() -> None:
    day = datetime.date(2001, 2, 3)
    when = datetime.datetime(2001, 2, 3, 4, 5)
    table = pyarrow.table(
        {
            "int": pyarrow.array([1, None], pyarrow.int8()),
            "unsigned": pyarrow.array([2**64 - 1, 0], pyarrow.uint64()),
            "half": pyarrow.array(np.array([1.5, np.nan], dtype=np.float16)),
            "decimal": pyarrow.array([decimal.Decimal("1.25"), None]),
            "null": pyarrow.nulls(2),
            "text": pyarrow.array(["x", None], pyarrow.large_string()),
            "day": pyarrow.array([day, None]),
            "when": pyarrow.array([when, None], pyarrow.timestamp("s")),
            "codes": pyarrow.array([7, None]).dictionary_encode(),
            "flags": pyarrow.array([True, None]).dictionary_encode(),
        }
    )
    data = from_arrow(table)
    kinds = [column.kind for column in data.columns.values()]
    assert kinds == ["numeric"] * 5 + ["nominal"] * 4 + ["boolean"]
    np.testing.assert_array_equal(data["int"].values, [1, np.nan])
    np.testing.assert_array_equal(data["unsigned"].values, [2.0**64, 0])
    np.testing.assert_array_equal(data["half"].values, [1.5, np.nan])
    np.testing.assert_array_equal(data["decimal"].values, [1.25, np.nan])
    assert data["null"].n_missing == 2
    assert data["day"].values.tolist() == ["2001-02-03", None]
    assert data["when"].values.tolist() == ["2001-02-03 04:05:00", None]
    assert data["codes"].values.tolist() == ["7", None]
    assert data["codes"].categories == ("7",)
    assert data["flags"].values.tolist() == [True, None]


def test_dictionaries_of_several_chunks_are_merged_in_order() -> None:
    def chunk(codes: list[int | None], values: list[str]) -> Any:
        return pyarrow.DictionaryArray.from_arrays(
            pyarrow.array(codes, pyarrow.int32()), pyarrow.array(values)
        )

    chunks = pyarrow.chunked_array([chunk([1, 0], ["b", "a"]), chunk([0, None, 1], ["c", "b"])])
    column = from_arrow(pyarrow.table({"x": chunks}))["x"]
    assert column.values.tolist() == ["a", "b", "c", None, "b"]
    assert column.categories == ("b", "a", "c")


def test_a_pandas_categorical_keeps_its_order(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    values = pandas.Categorical(["low", None, "high"], categories=["low", "middle", "high"], ordered=True)
    pandas.DataFrame({"level": values, "y": [1, 2, 3]}).to_parquet(tmp_path / "t.parquet")
    data = read_parquet(tmp_path / "t.parquet", "y", types={"y": "nominal"})
    assert data["level"].categories == ("low", "middle", "high")
    assert data["level"].values.tolist() == ["low", None, "high"]
    assert data.split()[1].tolist() == ["1", "2", "3"]


def test_columns_target_and_types(tmp_path: Path) -> None:
    parquet.write_table(example().to_arrow(), tmp_path / "t.parquet")
    data = read_parquet(tmp_path / "t.parquet", "sick", columns=["age"], types={"age": ["41.5", "63"]})
    assert data.names == ("age", "sick")
    assert data["age"].values.tolist() == ["63", None, "41.5"]


def test_bad_files_are_told_what_was_expected(tmp_path: Path) -> None:
    parquet.write_table(example().to_arrow(), tmp_path / "t.parquet")
    feather.write_feather(example().to_arrow(), str(tmp_path / "t.feather"))
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "t.parquet").read_bytes()[:-30])
    (tmp_path / "text.parquet").write_text("a,b\n1,2\n")
    (tmp_path / "empty.parquet").write_bytes(b"")
    (tmp_path / "cut.feather").write_bytes((tmp_path / "t.feather").read_bytes()[:-30])
    for name in ("cut.parquet", "text.parquet", "empty.parquet", "cut.feather"):
        with pytest.raises(DataError, match=rf"{name}: pyarrow cannot read the file: .*Is it complete"):
            read(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "nowhere.parquet")


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({"a": [[1], [2]]}, {}, r"t\.parquet: column 'a' has the Arrow type list<.*; expected numbers"),
        ({"a": [b"x"]}, {}, r"column 'a' has the Arrow type binary; .*Leave it out with columns="),
        ({"a": [{"x": 1}]}, {}, r"column 'a' has the Arrow type struct"),
        ({"a": pyarrow.array([], pyarrow.int64())}, {}, r"t\.parquet: the table has no rows"),
        ({"a": [1]}, {"target": "b"}, r"there is no target column 'b'; the columns are 'a'"),
        ({"a": [1]}, {"columns": ["b"]}, r"there is no column 'b'"),
        ({"a": [1]}, {"types": {"b": "nominal"}}, r"there is no column \(named in types\) 'b'"),
        (
            {"a": ["x"]},
            {"types": {"a": "numeric"}},
            r"t\.parquet: row 0, counted from 0: 'x' in numeric column",
        ),
        ({"a": [1, 2]}, {"max_cells": 1}, r"2 rows × 1 columns are 2 cells; expected at most max_cells=1"),
    ],
)
def test_a_bad_table_or_option_is_told_what_was_expected(
    tmp_path: Path, table: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    parquet.write_table(pyarrow.table(table), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=message):
        read_parquet(tmp_path / "t.parquet", **options)
    feather.write_feather(pyarrow.table(table), str(tmp_path / "t.parquet"))
    with pytest.raises(DataError, match=message):
        read_arrow(tmp_path / "t.parquet", **options)


def test_a_name_used_twice_is_refused(tmp_path: Path) -> None:
    table = pyarrow.Table.from_arrays([pyarrow.array([1]), pyarrow.array([2])], names=["a", "a"])
    parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"t\.parquet: the column name 'a' is used twice"):
        read_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"the table: the column name 'a' is used twice"):
        from_arrow(table)


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r'pyarrow is needed .*: pip install "everytree\[bigdata\]"'):
        read_parquet(tmp_path / "t.parquet")
