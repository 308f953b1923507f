"""Read data files as commands want them: by the options, the target apart, remarks in the words of the options."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from everytree.cli.options import Reading, Treating
from everytree.cli.watch import waiting
from everytree.cli.words import in_options
from everytree.common.arguments import refused
from everytree.common.text import show
from everytree.data.readers import Dataset, read_chunks, read_csv
from everytree.data.readers.cells import parse_numbers
from everytree.data.readers.csv import read_csv_chunks
from everytree.data.readers.dataset import unknown_column
from everytree.data.readers.pick import EXTENSIONS, labelled, read_plain, recognise_dataset, with_encoding
from everytree.data.recipes.target import guessed_target
from everytree.errors import DataError, QueryError

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "Examples",
    "asked_columns",
    "check_column",
    "chunk_reader",
    "read_data",
    "read_examples",
    "read_treated",
    "reader_options",
    "target_cuts",
]

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
    path: Path, reading: Reading, types: dict[str, Any] | None = None, target: str | None = None
) -> Dataset:
    """Read a file by the options, as it is; ``types`` are kinds of columns beside those that the options name."""
    coded = dict.fromkeys(reading.nominal or (), "nominal")
    kinds, others = (types or {}) | coded, {name for name in types or () if name not in coded}
    options = reader_options(path, reading)
    with waiting(f"reading {path.name}"):
        if _plain_text(path, reading):
            return with_encoding(path, options, lambda more: read_csv(path, target, types=kinds, **more))
        return read_plain(path, target, types=kinds, asked=dict.fromkeys(others, ""), **options)


def check_column(data: Dataset, name: str, option: str) -> None:
    """Refuse the name of a column that is not there; ``option`` is the option that gave it."""
    if name not in data.columns:
        raise unknown_column(name, data.names, parameter=option)


def asked_columns(reading: Reading, treating: Treating) -> dict[str, str]:
    """Return what the options say of single columns: NAME=WAY, --nominal NAME and --drop NAME."""
    asked = dict.fromkeys(reading.nominal or (), "nominal") | dict.fromkeys(reading.drop or (), "drop")
    for text in treating.column or ():
        name, equals, way = text.rpartition("=")
        if not equals or not name or not way:
            raise refused(QueryError, "column", text, "NAME=WAY, such as --column signup=date")
        if name in asked and asked[name] != way:
            raise QueryError(
                f"--column {text}: the column is said to be {asked[name]} too; leave one of them out"
            )
        asked[name] = way.strip().lower()
    return asked


def target_cuts(treating: Treating) -> list[float] | None:
    """Return the cuts that the option gives."""
    if treating.target_cut is None:
        return None
    cuts = parse_numbers([each.strip() for each in treating.target_cut.split(",")])
    if None in cuts:
        raise refused(
            QueryError, "target_cut", treating.target_cut, "numbers with commas between, such as 10,50"
        )
    return [float(cut) for cut in cuts if cut is not None]


def read_treated(
    path: Path, target: str | None, reading: Reading, treating: Treating, weights: str | None = None
) -> tuple[Dataset, list[str]]:
    """Read a file with every column made fit to learn from, and its target named; also remarks.

    A target that is not named is guessed, and a remark says so. Rows without a label are left out.
    """
    asked, cuts = asked_columns(reading, treating), target_cuts(treating)
    texts = {name: "nominal" for name, way in asked.items() if way != "drop"}
    data = read_data(path, reading, texts, target)
    notes = list[str]()
    for name in reading.drop or ():
        if name == target:
            raise DataError(f"--drop {show(name)} is the target; leave one of the two out")
        check_column(data, name, "drop")
    if target is None:
        left = {name: column for name, column in data.columns.items() if asked.get(name) != "drop"}
        guess = guessed_target({name: column for name, column in left.items() if name != weights}, str(path))
        target = guess.name
        notes.append(f"the column to predict is {show(target)} ({guess.why}); --target names another")
    if weights is not None:
        if weights == target:
            raise DataError(f"--weights {show(weights)} is the target; leave one of the two out")
        check_column(data, weights, "weights")
    kept = {weights} if weights is not None else set[str]()
    known = labelled(replace(data, target=target))
    data = labelled(recognise_dataset(known, asked, cuts, kept, str(path)))
    return data, [*(in_options(text) for text in data.notes), *notes]


def read_examples(
    path: Path,
    target: str | None,
    reading: Reading,
    weights: str | None = None,
    treating: Treating | None = None,
) -> Examples:
    """Read a file to learn from: the target apart, columns made fit, rows without a label left out."""
    data, notes = read_treated(path, target, reading, treating or Treating(), weights)
    given: Any = data.weights
    if weights is not None:
        column = data[weights]
        if column.kind != "numeric":
            raise DataError(f"--weights {show(weights)} is {column.kind}; expected a column of whole numbers")
        data, given = data.drop(weights), column.values
    features, y = data.split(data.target)
    return Examples(features, y, given, str(data.target), tuple(notes))
