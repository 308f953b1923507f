"""Columns to other libraries' tables: pandas, polars, pyarrow. Each is imported only when asked for.

kind                  pandas        polars     pyarrow
numeric               float64       Float64    double         (int64 stays int64)
nominal, declared     category      Enum       dictionary<string>
nominal               object        String     string
boolean               boolean       Boolean    bool
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everytree.data.column import Column

__all__ = ["optional", "to_arrow", "to_pandas", "to_polars"]


def optional(module: str, install: str) -> Any:
    """Import an optional library, or say how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise ImportError(f"{package} is needed for this and is not installed: {install}") from error


def to_pandas(columns: Mapping[str, Column]) -> Any:
    """The columns as a pandas DataFrame."""
    pandas = optional("pandas", "pip install pandas")

    def convert(column: Column) -> Any:
        if column.kind == "boolean":
            return pandas.array(column.values, dtype="boolean")
        if column.categories is not None:
            return pandas.Categorical.from_codes(_codes(column), categories=list(column.categories))
        if column.kind == "nominal":
            return pandas.Series(column.values, dtype=object)
        return column.values.copy()

    return pandas.DataFrame({name: convert(column) for name, column in columns.items()})


def to_polars(columns: Mapping[str, Column]) -> Any:
    """The columns as a polars DataFrame."""
    polars = optional("polars", "pip install polars")

    def convert(column: Column) -> Any:
        if column.kind == "numeric":
            return polars.Series(column.name, column.values.copy(), nan_to_null=True)
        if column.kind == "boolean":
            dtype = polars.Boolean
        elif column.categories is not None:
            dtype = polars.Enum(list(column.categories))
        else:
            dtype = polars.String
        return polars.Series(column.name, column.values.tolist(), dtype=dtype)

    return polars.DataFrame([convert(column) for column in columns.values()])


def to_arrow(columns: Mapping[str, Column]) -> Any:
    """The columns as a pyarrow Table."""
    pyarrow = optional("pyarrow", 'pip install "everytree[bigdata]"')

    def convert(column: Column) -> Any:
        if column.kind == "numeric":
            return pyarrow.array(column.values, from_pandas=True)  # nan becomes null
        if column.kind == "boolean":
            return pyarrow.array(column.values.tolist(), type=pyarrow.bool_())
        if column.categories is None:
            return pyarrow.array(column.values.tolist(), type=pyarrow.string())
        codes = pyarrow.array(_codes(column), mask=column.missing)
        return pyarrow.DictionaryArray.from_arrays(
            codes, pyarrow.array(column.categories, type=pyarrow.string())
        )

    return pyarrow.table({name: convert(column) for name, column in columns.items()})


def _codes(column: Column) -> NDArray[np.int32]:
    """The position of each value in the declared domain; −1 where it is missing."""
    return column.codes_in({value: code for code, value in enumerate(column.categories or ())}, -1)
