"""Data files as commands want them: read by the options, the target apart, remarks in the words of the options."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from everytree.errors import DataError

if TYPE_CHECKING:
    import numpy as np

    from everytree.cli.options import Reading
    from everytree.data.readers import Dataset

__all__ = ["Examples", "chunk_reader", "in_options", "read_data", "read_examples", "reader_options"]

TEXT = (".csv", ".tsv", ".tab")
# What the library calls its parameters, and what they are called here.
WORDS = (
    (r"\(named in types\)", "(named by --nominal)"),
    (r"header=False", "--no-header"),
    (r'pass types=\{(.+?): "nominal"\}', r"give --nominal \1"),
    (r"add them to missing=", "name them with --na"),
    (r"delimiter=('.+?'|\".+?\")", r"--delimiter \1"),
    (r"pass another delimiter=", "give another --delimiter"),
    (r'encoding="([\w-]+)"', r"--encoding \1"),
    (r"pass --", "give --"),
    (r"Read fewer columns with columns=\[\.\.\.\]", "Leave columns out with --drop"),
    (r"[Ll]eave it out with columns=\[\.\.\.\]", "leave it out with --drop"),
    (
        r"refit\(.*?\)(?: with a larger one)? goes on from here, a smaller max_depth or a larger min_leaf is quicker",
        "a larger --time-limit may prove it, a smaller --max-depth or a larger --min-leaf is quicker",
    ),
    (r"\bmax_depth=(\d+|None)", r"--max-depth \1"),
    (r"\bmin_leaf=(\d+)", r"--min-leaf \1"),
    (r"\bmissing=['\"](\w+)['\"]", r"--missing \1"),
    (r"Call the reader of its format: .*", "Give --delimiter to read it as CSV"),
)


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
        """Some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return Examples(self.features.take(rows), self.y[rows], weights, self.target, self.notes)


def in_options(text: str) -> str:
    """A remark of the library with its parameters as options of the command.

    >>> in_options("if the file has no header line, pass header=False")
    'if the file has no header line, give --no-header'
    """
    for pattern, words in WORDS:
        text = re.sub(pattern, words, text)
    return text


def reader_options(path: Path, reading: Reading) -> dict[str, Any]:
    """The options of the reader of this file; those that it does not have are refused."""
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
    """The function that reads this file in pieces: by its extension, or as CSV if a delimiter is given."""
    from everytree import read_chunks
    from everytree.data.readers.csv import read_csv_chunks

    return read_csv_chunks if _plain_text(path, reading) else read_chunks


def _plain_text(path: Path, reading: Reading) -> bool:
    from everytree.data.readers.pick import EXTENSIONS

    name = PurePath(path.name.lower())
    extension = PurePath(name.stem).suffix if name.suffix == ".gz" else name.suffix
    return reading.delimiter is not None and extension not in EXTENSIONS


def read_data(
    path: Path, reading: Reading, target: str | None = None, types: dict[str, Any] | None = None
) -> Dataset:
    """Read a file by the options; ``types`` are kinds of columns beside those that the options name."""
    from everytree import read, read_csv

    reader = read_csv if _plain_text(path, reading) else read
    kinds = (types or {}) | dict.fromkeys(reading.nominal or (), "nominal")
    return reader(path, target, types=kinds, **reader_options(path, reading))


def read_examples(path: Path, target: str | None, reading: Reading, weights: str | None = None) -> Examples:
    """Read a file to learn from: the target apart, columns to drop gone, rows without a label left out."""
    from everytree.data.readers.column import show, show_many

    data = read_data(path, reading, target)
    notes = [in_options(text) for text in data.notes]
    if target is None:
        raise DataError(
            f"{path}: name the column to predict with --target; the columns are {show_many(data.names, 20)}"
        )
    for name in reading.drop or ():
        if name == target:
            raise DataError(f"--drop {show(name)} is the target; leave one of the two out")
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
        column = data[weights]
        if column.kind != "numeric":
            raise DataError(f"--weights {show(weights)} is {column.kind}; expected a column of whole numbers")
        data, given = data.drop(weights), column.values
    features, y = data.split(target)
    return Examples(features, y, given, target, tuple(notes))
