"""Parquet files and Arrow IPC (Feather) files, through pyarrow (the extra ``bigdata``).

    Arrow type                        kind
    integers, floats, decimals        numeric   (float64; int64 where float64 would merge different integers)
    bool                              boolean
    string                            nominal
    dictionary                        nominal, its values in order as the categories
    date, time, timestamp, duration   nominal, as text
    null                              numeric, all missing

Anything else (lists, structs, maps, raw bytes) is refused with its name. Null and nan are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from everytree.common.arguments import refused
from everytree.common.text import show
from everytree.data.column import Column
from everytree.data.readers.cells import MAX_CELLS, TypeSpec
from everytree.data.readers.convert import optional
from everytree.data.readers.csv import CHUNK
from everytree.data.readers.dataset import Dataset, kept_positions
from everytree.data.readers.text import Source, open_bytes, source_name
from everytree.errors import DataError, Step, Wording

__all__ = ["from_arrow", "read_arrow", "read_parquet", "read_parquet_chunks"]

_INSTALL = 'pip install "everytree[bigdata]"'
_EXACT = 2**53  # every integer up to this size is a float64


def read_parquet(
    source: Source,
    target: str | None = None,
    *,
    columns: Sequence[str] | None = None,
    types: Mapping[str, TypeSpec] | None = None,
    max_cells: int = MAX_CELLS,
) -> Dataset:
    """Read a Parquet file; this needs pyarrow.

    Parameters
    ----------
    source : str, path or open file
        The file to read.
    target : str, optional
        The column to predict.
    columns : sequence of str, optional
        The columns to read; by default all.
    types : dict, optional
        Kinds of columns that replace those of the file: "numeric", "nominal", "boolean", or a list of values in order.
    max_cells : int
        The most cells to read; a larger file is refused.

    Returns
    -------
    Dataset
        The columns of the file.

    Raises
    ------
    DataError
        If the file is not Parquet, or a column has a type that cannot be used.

    Examples
    --------
    >>> import io
    >>> import pyarrow
    >>> from pyarrow.parquet import write_table
    >>> file = io.BytesIO()
    >>> write_table(pyarrow.table({"age": [63, 37], "ill": ["yes", "no"]}), file)
    >>> read_parquet(io.BytesIO(file.getvalue()), target="ill").names
    ('age', 'ill')
    """
    parquet = optional("pyarrow.parquet", _INSTALL)

    def load(file: IO[bytes]) -> Any:
        reader = parquet.ParquetFile(file)
        names = reader.schema_arrow.names
        _check_unique(names, source_name(source))
        keep = [names[position] for position in kept_positions(names, columns, target, types or {})]
        _check_size(reader.metadata.num_rows, len(keep), max_cells, source_name(source))
        return reader.read(columns=keep)

    return _read(source, load, target, types or {})


def read_parquet_chunks(
    source: Source,
    target: str | None = None,
    *,
    rows: int = CHUNK,
    columns: Sequence[str] | None = None,
    types: Mapping[str, TypeSpec] | None = None,
    max_cells: int = MAX_CELLS,
) -> Iterator[Dataset]:
    """Read a Parquet file in pieces of at most ``rows`` rows, for files larger than the memory.

    The options are those of :func:`read_parquet`; ``max_cells`` counts for one piece.
    """
    parquet = optional("pyarrow.parquet", _INSTALL)
    pyarrow = optional("pyarrow", _INSTALL)
    if rows < 1:
        raise refused(DataError, "rows", rows, "at least one row in a piece")
    name, types = source_name(source), types or {}
    with open_bytes(source) as file:
        with _readable(name):
            reader = parquet.ParquetFile(file)
            names = reader.schema_arrow.names
            _check_unique(names, name)
            keep = [names[position] for position in kept_positions(names, columns, target, types)]
            _check_size(min(rows, reader.metadata.num_rows), len(keep), max_cells, name)
            batches = reader.iter_batches(batch_size=rows, columns=keep)
            batch = next(batches, None)
        if batch is None:
            raise DataError(f"{name}: the table has no rows; expected at least one")
        while batch is not None:
            with _readable(name):
                table = pyarrow.Table.from_batches([batch])
                table.validate(full=True)
            yield _typed(name, table, target, types)
            with _readable(name):
                batch = next(batches, None)


def read_arrow(
    source: Source,
    target: str | None = None,
    *,
    columns: Sequence[str] | None = None,
    types: Mapping[str, TypeSpec] | None = None,
    max_cells: int = MAX_CELLS,
) -> Dataset:
    """Read an Arrow IPC file or stream, or a Feather file (version 2), from a path or an open file.

    ``target`` names the column to predict; ``columns`` reads only those; ``types`` overrides the file's
    types.
    """
    ipc = optional("pyarrow.ipc", _INSTALL)

    def load(file: IO[bytes]) -> Any:
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        table = (ipc.open_file(file) if is_file else ipc.open_stream(file)).read_all()
        _check_unique(table.column_names, source_name(source))
        keep = kept_positions(table.column_names, columns, target, types or {})
        _check_size(table.num_rows, len(keep), max_cells, source_name(source))
        return table.select(keep)

    return _read(source, load, target, types or {})


def from_arrow(table: Any, target: str | None = None) -> Dataset:
    """A data set with the columns of a pyarrow Table.

    >>> import pyarrow
    >>> from_arrow(pyarrow.table({"age": [63, None], "sick": [True, False]}))
    Dataset(2 rows, 2 columns: 1 numeric, 1 boolean)
    """
    pyarrow = optional("pyarrow", _INSTALL)
    _check_unique(table.column_names, "the table")
    if table.num_rows == 0:
        raise DataError("the table has no rows; expected at least one")
    result = {}
    for name in table.column_names:
        result[name] = _column(name, table.column(name), pyarrow)
    return Dataset(result, target=target)


def _read(
    source: Source, load: Callable[[IO[bytes]], Any], target: str | None, types: Mapping[str, TypeSpec]
) -> Dataset:
    """Load a table from bytes that may be anything, check it thoroughly, and convert it."""
    name = source_name(source)
    with open_bytes(source) as file, _readable(name):
        table = load(file)
        table.validate(full=True)
    return _typed(name, table, target, types)


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """What pyarrow says of a file that it cannot read, as one error with the file's name."""
    pyarrow = optional("pyarrow", _INSTALL)
    try:
        yield
    except DataError:
        raise
    except (pyarrow.ArrowException, OSError, EOFError, UnicodeError, MemoryError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise DataError(
            f"{name}: pyarrow cannot read the file: {reason[:300]}. Is it complete, and of this format?"
        ) from error


def _typed(name: str, table: Any, target: str | None, types: Mapping[str, TypeSpec]) -> Dataset:
    try:
        data = from_arrow(table, target)
        return data.with_types({key: spec for key, spec in types.items() if data[key].kind != spec})
    except DataError as error:
        raise DataError(Wording(f"{name}: ", error.wording), **error.fields) from error


def _check_unique(names: Sequence[str], place: str) -> None:
    twice = (
        next((name for name in names if names.count(name) > 1), None)
        if len(set(names)) < len(names)
        else None
    )
    if twice is not None:
        raise DataError(f"{place}: the column name {show(twice)} is used twice; expected different names")


def _check_size(n_rows: int, n_columns: int, max_cells: int, name: str) -> None:
    if n_rows * n_columns > max_cells:
        raise DataError(
            Wording(
                f"{name}: {n_rows} rows × {n_columns} columns are {n_rows * n_columns} cells; expected at most "
                f"max_cells={max_cells}. ",
                Step("fewer-columns", "Read fewer columns with columns=[...]"),
                ", or raise max_cells if the memory is there",
            )
        )


def _column(name: str, chunks: Any, pyarrow: Any) -> Column:
    kind = chunks.type
    is_type = pyarrow.types
    if is_type.is_null(kind):
        return Column(name, "numeric", np.full(len(chunks), np.nan))
    if is_type.is_boolean(kind):
        return Column(name, "boolean", _objects(chunks.to_pylist()))
    if is_type.is_dictionary(kind):
        return _dictionary(name, chunks, pyarrow)
    if is_type.is_integer(kind):
        return Column(name, "numeric", _integers(chunks, pyarrow))
    if is_type.is_floating(kind) or is_type.is_decimal(kind):
        return Column(name, "numeric", _floats(chunks, pyarrow))
    if is_type.is_temporal(kind) or _is_text(kind, is_type):
        return Column(name, "nominal", _objects(_texts(name, chunks, pyarrow)))
    raise DataError(
        Wording(
            f"column {show(name)} has the Arrow type {kind}; expected numbers, booleans, texts, dictionaries or "
            "dates. ",
            Step("leave-out", "Leave it out with columns=[...]", name),
            ", or flatten it before writing the file",
        )
    )


def _is_text(kind: Any, is_type: Any) -> bool:
    view = getattr(is_type, "is_string_view", None)  # newer than the oldest pyarrow supported
    return bool(is_type.is_string(kind) or is_type.is_large_string(kind) or (view is not None and view(kind)))


def _objects(values: Sequence[object]) -> NDArray[np.object_]:
    result = np.empty(len(values), dtype=object)
    result[:] = values
    return result


def _texts(name: str, chunks: Any, pyarrow: Any) -> list[str | None]:
    """The values as texts; dates and times in ISO form, to the precision of their type."""
    try:
        return list(chunks.cast(pyarrow.string()).to_pylist())
    except pyarrow.ArrowException as error:
        raise DataError(
            f"column {show(name)} of Arrow type {chunks.type} cannot be written as text ({error}); convert "
            "it first"
        ) from error


def _integers(chunks: Any, pyarrow: Any) -> NDArray[Any]:
    compute = optional("pyarrow.compute", _INSTALL)
    bounds = compute.min_max(chunks).as_py()
    low, high = bounds["min"], bounds["max"]
    large = low is not None and (low < -_EXACT or high > _EXACT)
    if large and chunks.null_count == 0 and high < 2**63:
        return np.asarray(chunks.to_numpy(), dtype=np.int64)
    return _floats(chunks, pyarrow)


def _floats(chunks: Any, pyarrow: Any) -> NDArray[np.float64]:
    """The numbers, null as nan. Arrow converts them itself: lists of Python's numbers took ten times the memory."""
    return np.array(chunks.cast(pyarrow.float64(), safe=False).to_numpy(), dtype=np.float64)


def _dictionary(name: str, chunks: Any, pyarrow: Any) -> Column:
    """A dictionary's values, in order, are the categories; values repeated or null in it count as one."""
    if not _is_text(chunks.type.value_type, pyarrow.types):
        plain = chunks.cast(chunks.type.value_type)
        if pyarrow.types.is_boolean(plain.type):
            return _column(name, plain, pyarrow)
    merged = chunks.unify_dictionaries().combine_chunks()
    merged = merged.chunk(0) if isinstance(merged, pyarrow.ChunkedArray) else merged
    texts = _texts(name, merged.dictionary, pyarrow)
    categories = tuple(dict.fromkeys(text for text in texts if text is not None))
    if not categories:
        return Column(name, "nominal", _objects([None] * len(chunks)))
    values = [None if code is None else texts[code] for code in merged.indices.to_pylist()]
    return Column(name, "nominal", _objects(values), categories)
