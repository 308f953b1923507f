"""The same awkward rows in every engine give the same table, to the last count; or the same refusal."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_frames import ENGINES, SLOW, as_engine, awkward, pa, pl

import everytree as et
from everytree.data.table import Table
from everytree.errors import DataError


def options_of(seed: int, frame: Any) -> dict[str, Any]:
    rng = np.random.default_rng([seed, 1])
    whole = [
        name
        for name, kind in frame.schema.items()
        if kind.is_integer() and name not in ("the label", "how often")
    ]
    return {
        "bins": [2, 4, 7][int(rng.integers(3))],
        "missing": ["category", "impute"][int(rng.integers(2))],
        "nominal": whole[:1] if rng.random() < 0.3 else None,
        "max_categories": 200,
        "weight": "how often" if rng.random() < 0.6 else None,
    }


def in_memory(frame: Any, weight: str | None, **options: Any) -> Table:
    """The table of the same rows by way of the Binarizer alone."""
    weights = None if weight is None else frame[weight].to_numpy()
    kept = frame if weights is None else frame.filter(weights > 0)
    X, labels = kept.drop("the label", "how often"), kept["the label"].to_numpy()
    counts = None if weights is None else weights[weights > 0]
    binarizer = et.Binarizer(**options).fit(X, sample_weight=counts)
    classes, codes = np.unique(labels, return_inverse=True)
    names = binarizer.get_feature_names_out().tolist()
    return Table.from_arrays(
        binarizer.transform(X), codes, len(classes), counts, test_names=names, classes=classes.tolist()
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_the_same_table(engine: str) -> None:
    for seed in range(3 if engine in SLOW else 12):
        frame = awkward(seed)
        options = options_of(seed, frame)
        native = as_engine(frame, engine)
        expected = in_memory(pl.from_pandas(native) if engine == "pandas-numpy" else frame, **options)
        columns = [name for name in frame.columns if name not in ("the label", "how often")]
        found = Table.from_frame(native, "the label", columns=columns, **options)
        assert found.test_names == expected.test_names, seed
        assert found.classes == expected.classes, seed
        assert np.array_equal(found.rows, expected.rows), seed
        assert np.array_equal(found.class_counts, expected.class_counts), seed
        assert found.fingerprint() == expected.fingerprint(), seed
        assert found.class_counts.dtype == np.int64


@pytest.mark.parametrize("engine", ENGINES)
def test_blanks_around_texts_are_no_part_of_them(engine: str) -> None:
    around = ["u", " u", "u ", "\t\u00a0u\u2003\n", "\u3000u", "\x1cu\x85", "a u", "a u\r\n"] * 2
    frame = pl.DataFrame({"a": [*around, "v", "  v"], "y": [0, 1] * 9})
    table = Table.from_frame(as_engine(frame, engine), "y")
    assert set(table.test_names) == {"a == u", "a == a u", "a == v"}
    assert table.rows.shape[0] == 3


# --- what every engine refuses, with the same words

REFUSED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (
        {"a": [1, 2], "y": pl.Series([None, None], dtype=pl.Int64)},
        {},
        "Input y contains NaN or None: 2 labels",
    ),
    ({"a": [1.0, float("inf")], "y": [0, 1]}, {}, "infinity"),
    ({"a": [1, None], "y": [0, 1]}, {"missing": "error"}, "missing values in column 'a' \\(1 of 2 rows\\)"),
    ({"a": [dt.date(2020, 1, 1), None], "y": [0, 1]}, {}, "dates or times"),
    ({"a": [1, 2], "y": [0.5, 1.0]}, {}, "fractions"),
    ({"a": ["u", "v"], "y": [0, 1], "w": [1.5, 1.0]}, {"weight": "w"}, "whole numbers"),
    ({"a": ["u", "v"], "y": [0, 1], "w": [Decimal("1.5"), Decimal(1)]}, {"weight": "w"}, "whole numbers"),
    ({"a": ["u", "v"], "y": [0, 1], "w": [1, -1]}, {"weight": "w"}, "whole numbers"),
    ({"a": ["u", "v"], "y": [0, 1], "w": [0, 0]}, {"weight": "w"}, "0 examples"),
    ({"a": ["u", "v"], "y": [0, 1], "w": [2**62, 1]}, {"weight": "w"}, "more than 2\\*\\*62"),
    ({"a": ["u", "v"], "y": [0, 1]}, {"columns": ["b"]}, "columns='b' is no column"),
]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_same_refusals(engine: str) -> None:
    for columns, options, message in REFUSED[:: 4 if engine in SLOW else 1]:
        native = as_engine(pl.DataFrame(columns, strict=False), engine)
        with pytest.raises(DataError, match=message):
            Table.from_frame(native, "y", **options)


@pytest.mark.parametrize("engine", ENGINES)
def test_no_rows(engine: str) -> None:
    empty = pl.DataFrame({"a": [1], "y": ["u"]}).clear()
    with pytest.raises(DataError, match="0 examples"):
        Table.from_frame(as_engine(empty, engine), "y")


@pytest.mark.parametrize("engine", ["polars", "polars-eager", "duckdb"])
def test_the_largest_whole_numbers(engine: str) -> None:
    values = pl.Series("a", [2**63, 2**63 + 1, 5, 2**64 - 1] * 3, dtype=pl.UInt64)
    frame = pl.DataFrame([values, pl.Series("y", [0, 1, 0, 1] * 3), pl.Series("w", [2**40] * 12)])
    found = Table.from_frame(as_engine(frame, engine), "y", bins=3, weight="w")
    assert found.test_names == ("a <= 4611686018427387906", "a <= 13835058055282163712")
    assert found.total == 12 * 2**40


@pytest.mark.parametrize("engine", ["ibis-duckdb", "ibis-polars"])
def test_whole_numbers_that_ibis_does_not_compare(engine: str) -> None:
    frame = pl.DataFrame([pl.Series("a", [2**63, 1], dtype=pl.UInt64), pl.Series("y", [0, 1])])
    with pytest.raises(DataError, match="9223372036854775808"):
        Table.from_frame(as_engine(frame, engine), "y")
    small = frame.with_columns(a=pl.Series([7, 1], dtype=pl.UInt64))
    assert Table.from_frame(as_engine(small, engine), "y") == Table.from_frame(small, "y")


def test_whole_numbers_that_arrow_does_not_compare() -> None:
    frame = pl.DataFrame([pl.Series("a", [2**63, 1], dtype=pl.UInt64), pl.Series("y", [0, 1])])
    with pytest.raises(DataError, match=r"2\*\*63 and more; give the frame to polars or DuckDB"):
        Table.from_frame(frame.to_arrow(), "y")
    small = frame.with_columns(a=pl.Series([7, 1], dtype=pl.UInt64))
    assert Table.from_frame(small.to_arrow(), "y") == Table.from_frame(small, "y")


def test_types_that_are_not_known() -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed (the extra bigdata)")
    with pytest.raises(
        DataError, match="column 'a' holds values of a type that is not known here; convert it"
    ):
        Table.from_frame(duckdb.connect().sql("SELECT uuid() AS a, 1 AS y"), "y")
    empty = duckdb.connect().sql("SELECT NULL AS a, x AS b, x AS y FROM range(3) t(x)")
    assert Table.from_frame(empty, "y", missing="category").test_names == ("b <= 0.5", "b <= 1.5")


def test_names_that_are_there_twice() -> None:
    table = pa.table([[1, 2], [3, 4], [0, 1]], names=["a", "a", "y"])
    with pytest.raises(DataError, match="unique column names"):
        Table.from_frame(table, "y")


def test_counts_beyond_32_bits_add_up(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, 2, 1], "y": [0, 1, 0], "w": [2**53, 3 * 2**32, 1]})
    table = Table.from_frame(frame.lazy(), "y", weight="w")
    assert table.class_counts.tolist() == [[0, 3 * 2**32], [2**53 + 1, 0]]
    both = table + table
    both.save(tmp_path / "both.arrow")
    assert Table.load(tmp_path / "both.arrow").class_counts.tolist() == [[0, 6 * 2**32], [2**54 + 2, 0]]
    with pytest.raises(
        DataError, match="more than 536870911 examples; divide the weights by a common factor"
    ):
        et.OptimalTreeClassifier(max_depth=1).fit_table(both)
