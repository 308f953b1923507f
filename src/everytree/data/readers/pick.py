"""Read a file by its extension."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import PurePath
from typing import Any

from everytree.data.readers.arff import read_arff
from everytree.data.readers.column import show
from everytree.data.readers.csv import read_csv
from everytree.data.readers.dataset import Dataset
from everytree.data.readers.parquet import read_arrow, read_parquet
from everytree.data.readers.text import Source, source_name
from everytree.errors import DataError

__all__ = ["EXTENSIONS", "read"]

# To add a format: write its reader as one file here, and one line in this table.
EXTENSIONS: dict[str, Callable[..., Dataset]] = {
    ".csv": read_csv,
    ".tsv": partial(read_csv, delimiter="\t"),
    ".tab": partial(read_csv, delimiter="\t"),
    ".arff": read_arff,
    ".parquet": read_parquet,
    ".pq": read_parquet,
    ".feather": read_arrow,
    ".arrow": read_arrow,
    ".arrows": read_arrow,
    ".ipc": read_arrow,
}
_PACKABLE = (".csv", ".tsv", ".tab", ".arff")


def read(source: Source, target: str | None = None, **options: Any) -> Dataset:
    """Read a data file with the reader that its extension names (``.gz`` after a text format is unpacked).

    ``target`` names the column to predict; ``options`` go to the reader: :func:`read_csv`, :func:`read_arff`,
    :func:`read_parquet` or :func:`read_arrow`.
    """
    name = source_name(source)
    path = PurePath(name.lower())
    extension = path.suffix
    if extension == ".gz" and PurePath(path.stem).suffix in _PACKABLE:
        extension = PurePath(path.stem).suffix
    reader = EXTENSIONS.get(extension)
    if reader is None:
        raise DataError(
            f"{name}: the extension {show(extension)} is not known; expected one of {', '.join(EXTENSIONS)} "
            f"(or {', '.join(known + '.gz' for known in _PACKABLE)}). "
            "Call the reader of its format: read_csv, read_arff, read_parquet or read_arrow"
        )
    return reader(source, target, **options)
