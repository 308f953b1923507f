"""Read data files as commands want them: by the options, the target apart, remarks in the words of the options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from everytree.cli.options import Reading
from everytree.cli.words import in_options
from everytree.common.text import show, show_many
from everytree.data.readers import Dataset, read, read_chunks, read_csv
from everytree.data.readers.csv import read_csv_chunks
from everytree.data.readers.dataset import unknown_column
from everytree.data.readers.pick import EXTENSIONS
from everytree.errors import DataError

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Examples", "check_column", "chunk_reader", "read_data", "read_examples", "reader_options"]

TEXT = (".csv", ".tsv", ".tab")


@dataclass(frozen=True)
class Examples:
    """Columns to learn from, one label per row, whole weights or None, and remarks of the reader."""

    features: Dataset
    y: np.ndarray[Any, Any]
    weights: np.ndarray[Any, Any] | None
    target: str
    notes: tuple[str, ...]

    @property
    def n_rows(self) -> int:
        return len(self.y)

    def take(self, rows: Any) -> Examples:
        """Return some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return Examples(self.features.take(rows), self.y[rows], weights, self.target, self.notes)


def reader_options(path: Path, reading: Reading) -> dict[str, Any]:
    """Return the options of the reader of this file; those that it does not have are refused."""
    name = PurePath(path.name.lower())
    extension = PurePath(name.stem).suffix if name.suffix == ".gz" else name.suffix
    options: dict[str, Any] = {}
    if reading.delimiter is not None:
        options["delimiter"] = "\t" if reading.delimiter in ("tab", "\\t") else reading.delimiter
    if reading.decimal != ".":
        options["decimal"] = reading.decimal
    if reading.no_header:
        options["header"] = False
    if reading.na is not None:
        options["missing"] = tuple(reading.na)
    if (
        extension not in TEXT
        and options
        and extension in (".arff", ".parquet", ".pq", ".feather", ".arrow", ".arrows", ".ipc")
    ):
        wrong = {"header": "--no-header", "missing": "--na"}.get(
            next(iter(options)), f"--{next(iter(options))}"
        )
        raise DataError(f"{path}: {wrong} is for CSV files; leave it out for {extension} files")
    if reading.encoding.lower() != "utf-8":
        options["encoding"] = reading.encoding
    return options


def chunk_reader(path: Path, reading: Reading) -> Any:
    """Return the function that reads this file in pieces: by its extension, or as CSV if a delimiter is given."""
    return read_csv_chunks if _plain_text(path, reading) else read_chunks


def _plain_text(path: Path, reading: Reading) -> bool:
    name = PurePath(path.name.lower())
    extension = PurePath(name.stem).suffix if name.suffix == ".gz" else name.suffix
    return reading.delimiter is not None and extension not in EXTENSIONS


def read_data(
    path: Path, reading: Reading, target: str | None = None, types: dict[str, Any] | None = None
) -> Dataset:
    """Read a file by the options; ``types`` are kinds of columns beside those that the options name."""
    reader = read_csv if _plain_text(path, reading) else read
    kinds = (types or {}) | dict.fromkeys(reading.nominal or (), "nominal")
    return reader(path, target, types=kinds, **reader_options(path, reading))


def check_column(data: Dataset, name: str, option: str) -> None:
    """Refuse the name of a column that is not there; ``option`` is the option that gave it."""
    if name not in data.columns:
        raise unknown_column(name, data.names, parameter=option)


def read_examples(path: Path, target: str | None, reading: Reading, weights: str | None = None) -> Examples:
    """Read a file to learn from: the target apart, columns to drop gone, rows without a label left out."""
    data = read_data(path, reading, target)
    notes = [in_options(text) for text in data.notes]
    if target is None:
        raise DataError(
            f"{path}: name the column to predict with --target; the columns are {show_many(data.names, 20)}"
        )
    for name in reading.drop or ():
        if name == target:
            raise DataError(f"--drop {show(name)} is the target; leave one of the two out")
        check_column(data, name, "drop")
        data = data.drop(name)
    gone = data[target].missing
    if gone.all():
        raise DataError(
            f"{path}: the target {show(target)} has no value in any row; expected a class in each"
        )
    if gone.any():
        notes.append(f"{int(gone.sum())} of {data.n_rows} rows have no {target} and are left out")
        data = data.take(~gone)
    given: Any = data.weights
    if weights is not None:
        if weights == target:
            raise DataError(f"--weights {show(weights)} is the target; leave one of the two out")
        check_column(data, weights, "weights")
        column = data[weights]
        if column.kind != "numeric":
            raise DataError(f"--weights {show(weights)} is {column.kind}; expected a column of whole numbers")
        data, given = data.drop(weights), column.values
    features, y = data.split(target)
    return Examples(features, y, given, target, tuple(notes))
