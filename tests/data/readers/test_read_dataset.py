"""The data set and its columns as values: choosing, splitting, converting, refusing what does not fit."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from everytree.data.readers import Column, Dataset
from everytree.errors import DataError, EverytreeError, LimitReached, QueryError


def objects(*values: object) -> np.ndarray[Any, Any]:
    return np.array(values, dtype=object)


def example() -> Dataset:
    columns = [
        Column("age", "numeric", np.array([63.0, np.nan, 41.5])),
        Column("thal", "nominal", objects("normal", None, "fixed"), ("normal", "fixed")),
        Column("name", "nominal", objects("a", "b", "c")),
        Column("sick", "boolean", objects(True, False, True)),
    ]
    return Dataset(
        {c.name: c for c in columns}, relation="heart", weights=np.array([1.0, 2.0, 3.0]), target="sick"
    )


def test_select_and_drop() -> None:
    data = example()
    assert data.select("thal", "age").names == ("thal", "age")
    assert data.select("thal", "age").target is None
    assert data.drop("age").names == ("thal", "name", "sick")
    assert data.drop("age").target == "sick"
    assert data.drop("sick").target is None
    assert data.shape == (3, 4)
    assert len(data) == 3
    assert "age" in data
    assert list(data) == ["age", "thal", "name", "sick"]
    assert repr(data) == "Dataset('heart', 3 rows, 4 columns: 1 numeric, 2 nominal, 1 boolean)"


def test_rows_are_taken_by_mask_or_number_with_their_weights() -> None:
    data = example()
    assert data.take([2, 0])["name"].values.tolist() == ["c", "a"]
    assert data.take([True, False, True]) == data.take([0, 2]) == data.drop_missing()
    assert data.drop_missing("name") == data
    kept = data.drop_missing("thal").weights
    assert kept is not None
    assert kept.tolist() == [1.0, 3.0]
    assert data.take([]).n_rows == 0


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (objects("x", "y"), "nominal", np.array(["x", "y"], dtype=object)),
        (objects(True, False), "boolean", np.array([True, False])),
        (np.array([1.0, 7.0]), "numeric", np.array([1, 7])),
        (np.array([1.5, 7.0]), "numeric", np.array([1.5, 7.0])),
        (np.array([2**60, 7]), "numeric", np.array([2**60, 7])),
        (np.array([np.inf, 7.0]), "numeric", np.array([np.inf, 7.0])),
    ],
)
def test_split_gives_labels_of_the_natural_type(values: Any, kind: Any, expected: Any) -> None:
    columns = {"a": Column("a", "numeric", np.array([1.0, 2.0])), "y": Column("y", kind, values)}
    features, y = Dataset(columns).split("y")
    assert features.names == ("a",)
    assert y.dtype == expected.dtype
    assert y.tolist() == expected.tolist()
    y[0] = y[1]  # the labels are the caller's own
    assert columns["y"].values[0] == values[0]


def test_with_types_reads_values_again() -> None:
    data = example().with_types({"age": "nominal", "sick": ["true", "false"]})
    assert data["age"].values.tolist() == ["63", None, "41.5"]
    assert data["sick"].values.tolist() == ["true", "false", "true"]
    back = data.with_types({"age": "numeric", "sick": "boolean"})
    assert back["age"] == example()["age"]
    assert back["sick"] == example()["sick"]


def test_equality_sees_every_part() -> None:
    data = example()
    assert data == example()
    assert data != data.drop("age")
    assert data != data.take([0, 1])
    assert data != data.with_types({"thal": ["fixed", "normal"]})
    assert data["age"] != data["name"]
    assert data != "heart"
    assert data != Dataset(data.columns, target="sick")
    assert pickle.loads(pickle.dumps(data)) == data


def test_values_are_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        example()["age"].values[0] = 1.0


def test_to_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    frame = example().to_pandas()
    assert list(frame.columns) == ["age", "thal", "name", "sick"]
    assert frame["age"].dtype == np.float64
    assert list(frame["thal"].cat.categories) == ["normal", "fixed"]
    assert frame["thal"].isna().tolist() == [False, True, False]
    assert frame["sick"].dtype == pandas.BooleanDtype()
    assert frame["name"].tolist() == ["a", "b", "c"]


def test_to_polars() -> None:
    polars = pytest.importorskip("polars")
    frame = example().to_polars()
    assert frame.schema == {
        "age": polars.Float64,
        "thal": polars.Enum(["normal", "fixed"]),
        "name": polars.String,
        "sick": polars.Boolean,
    }
    assert frame["age"].to_list() == [63.0, None, 41.5]
    assert frame["thal"].to_list() == ["normal", None, "fixed"]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_library_that_is_not_installed_is_named(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    convert = example().to_arrow if library == "pyarrow" else getattr(example(), f"to_{library}")
    with pytest.raises(ImportError, match=rf"{library} is needed for this and is not installed: pip install"):
        convert()


AGE = Column("age", "numeric", np.array([1.0, 2.0]))
Y = Column("y", "nominal", objects("a", None))
MISTAKES: dict[str, tuple[Callable[[], object], str]] = {
    "no columns": (lambda: Dataset({}), r"needs at least one column"),
    "lengths": (lambda: Dataset({"age": AGE, "b": Column("b", "numeric", np.ones(3))}), r"differ in length"),
    "name": (lambda: Dataset({"b": AGE}), r"column 'age' is stored under the name 'b'"),
    "target": (lambda: Dataset({"age": AGE}, target="sge"), r"no target column 'sge'; did you mean 'age'"),
    "weights": (
        lambda: Dataset({"age": AGE}, weights=np.ones(3)),
        r"weights have shape \(3,\); expected \(2,\)",
    ),
    "weight": (lambda: Dataset({"age": AGE}, weights=np.array([1, -1.0])), r"negative or non-finite value"),
    "kind": (lambda: Column("a", "text", np.ones(2)), r"'a' has kind 'text'; expected one of"),  # type: ignore[arg-type]
    "list": (lambda: Column("a", "numeric", [1.0]), r"needs a one-dimensional numpy array"),  # type: ignore[arg-type]
    "shape": (lambda: Column("a", "numeric", np.ones((2, 2))), r"needs a one-dimensional numpy array"),
    "dtype": (lambda: Column("a", "numeric", objects(1)), r"has dtype object; expected float64 or int64"),
    "number": (lambda: Column("a", "nominal", objects(1)), r"'a' holds 1; expected str or None"),
    "text": (lambda: Column("a", "boolean", objects("x")), r"'a' holds 'x'; expected bool or None"),
    "outside": (lambda: Column("a", "nominal", objects("x"), ("y",)), r"'a' holds 'x'; expected one of its"),
    "repeat": (lambda: Column("a", "nominal", objects("x"), ("x", "x")), r"categories of column 'a' repeat"),
    "numeric": (
        lambda: Column("a", "numeric", np.ones(1), ("1",)),
        r"numeric column 'a' cannot have categories",
    ),
    "boolean": (lambda: Column("a", "boolean", objects(True), ("1",)), r"boolean column 'a' cannot have"),
    "unknown": (lambda: example()["agee"], r"there is no column 'agee'; did you mean 'age'"),
    "unhashable": (lambda: example()[["age"]], r"there is no column \['age'\]"),  # type: ignore[index]
    "drop": (lambda: example().drop("x"), r"there is no column 'x'; the columns are 'age', 'thal'"),
    "drop all": (lambda: Dataset({"age": AGE}).drop("age"), r"leaves no data set"),
    "select": (lambda: example().select("x"), r"there is no column 'x'"),
    "mask": (lambda: example().take([True]), r"the mask has 1 entries; expected 3"),
    "row": (lambda: example().take([3]), r"row numbers 3 to 3; there are 3 rows"),
    "rows": (lambda: example().take(["a"]), r"expected a boolean mask or a list of row numbers"),
    "split": (lambda: Dataset({"age": AGE}).split(), r"name the column to predict: split\(target\)"),
    "split what": (lambda: example().split("sicc"), r"no target column 'sicc'; did you mean 'sick'"),
    "split one": (lambda: Dataset({"age": AGE}).split("age"), r"nothing to predict it from"),
    "unlabelled": (
        lambda: Dataset({"age": AGE, "y": Y}).split("y"),
        r"'y' is missing in 1 of 2 rows \(first: row 1, counted from 0\).* drop_missing\('y'\)",
    ),
    "retype": (lambda: example().with_types({"name": "numeric"}), r"row 0, counted from 0: 'a' in numeric"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_told_what_was_expected(case: str) -> None:
    action, message = MISTAKES[case]
    with pytest.raises(DataError, match=message):
        action()


def test_the_errors_are_also_the_built_in_ones() -> None:
    assert issubclass(DataError, EverytreeError)
    assert issubclass(DataError, ValueError)
    assert issubclass(QueryError, EverytreeError)
    assert issubclass(QueryError, ValueError)
    assert issubclass(LimitReached, EverytreeError)
    assert issubclass(LimitReached, RuntimeError)
