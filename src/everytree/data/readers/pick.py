"""Readers of any data file: ``read`` picks a reader by the file's extension, ``read_chunks`` reads it in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import PurePath
from typing import Any

import numpy as np

from everytree.common.text import show
from everytree.data.readers.arff import read_arff
from everytree.data.readers.csv import CHUNK, read_csv, read_csv_chunks
from everytree.data.readers.dataset import Dataset
from everytree.data.readers.parquet import read_arrow, read_parquet, read_parquet_chunks
from everytree.data.readers.text import Source, source_name
from everytree.errors import DataError, Step, Wording

__all__ = ["EXTENSIONS", "read", "read_chunks"]

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


# Those that can be read in pieces; the others are read whole and cut.
IN_PIECES: dict[str, Callable[..., Iterator[Dataset]]] = {
    ".csv": read_csv_chunks,
    ".tsv": partial(read_csv_chunks, delimiter="\t"),
    ".tab": partial(read_csv_chunks, delimiter="\t"),
    ".parquet": read_parquet_chunks,
    ".pq": read_parquet_chunks,
}


def read(source: Source, target: str | None = None, **options: Any) -> Dataset:
    """Read a data file with the reader that its extension names; ``.gz`` after a text format is unpacked.

    Parameters
    ----------
    source : str, path or open file
        The file to read: .csv, .tsv, .tab, .arff, .parquet, .pq, .feather, .arrow, .arrows or .ipc.
    target : str, optional
        The column to predict.
    **options : object
        Further parameters of the reader: ``read_csv``, ``read_arff`` or ``read_parquet``.

    Returns
    -------
    Dataset
        The columns of the file, each with its kind.

    Raises
    ------
    DataError
        If the extension is not known, or the file cannot be read; the message says where and why.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "heart.csv")
    ...     _ = path.write_text("age,ill\\n63,yes\\n37,no\\n")
    ...     data = read(path, target="ill")
    >>> data.names, data.target
    (('age', 'ill'), 'ill')
    """
    return EXTENSIONS[_extension(source)](source, target, **options)


def read_chunks(
    source: Source, target: str | None = None, *, rows: int = CHUNK, **options: Any
) -> Iterator[Dataset]:
    """Read a data file in pieces, such as a CSV or Parquet file that is larger than memory.

    ARFF and Arrow files are read whole, and then cut.

    Parameters
    ----------
    source : str, path or open file
        The file to read.
    target : str, optional
        The column to predict.
    rows : int
        The most rows of a piece.
    **options : object
        Further parameters of the reader. Give ``types`` for every column that matters: the kind of the others is found
        for each piece alone, and may differ between pieces.

    Yields
    ------
    Dataset
        The next rows of the file.

    Raises
    ------
    DataError
        If the extension is not known, or the file cannot be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "heart.csv")
    ...     _ = path.write_text("age,ill\\n63,yes\\n37,no\\n41,no\\n")
    ...     [piece.n_rows for piece in read_chunks(path, target="ill", rows=2)]
    [2, 1]
    """
    extension = _extension(source)
    if extension in IN_PIECES:
        yield from IN_PIECES[extension](source, target, rows=rows, **options)
        return
    data = EXTENSIONS[extension](source, target, **options)
    for start in range(0, data.n_rows, rows):
        yield data.take(np.arange(start, min(start + rows, data.n_rows)))


def _extension(source: Source) -> str:
    name = source_name(source)
    path = PurePath(name.lower())
    extension = path.suffix
    if extension == ".gz" and PurePath(path.stem).suffix in _PACKABLE:
        extension = PurePath(path.stem).suffix
    if extension not in EXTENSIONS:
        raise DataError(
            Wording(
                f"{name}: the extension {show(extension)} is not known; expected one of {', '.join(EXTENSIONS)} "
                f"(or {', '.join(known + '.gz' for known in _PACKABLE)}). ",
                Step(
                    "reader",
                    "Call the reader of its format: read_csv, read_arff, read_parquet or read_arrow",
                ),
            )
        )
    return extension
