"""Parquet files and Arrow IPC (Feather) files, through pyarrow (the extra ``bigdata``).

    Arrow type                        kind
    integers, floats, decimals        numeric   (float64; int64 where float64 would merge different integers)
    bool                              boolean
    string                            nominal
    dictionary                        nominal, its values in order as the categories
    date, time, timestamp, duration   nominal, as text
    null                              numeric, all missing

Anything else (lists, structs, maps, raw bytes) is refused with its name. Null and nan are missing.

What a file unpacks to is known before it is read, or looked at while it grows: texts stay dictionaries, so that one
that is repeated is held once, and a text that is written as a change of the one before is read in small pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from everytree.common.arguments import refused
from everytree.common.text import show
from everytree.data.column import Column, coded
from everytree.data.readers.cells import MAX_CELLS, TypeSpec
from everytree.data.readers.convert import optional
from everytree.data.readers.csv import CHUNK
from everytree.data.readers.dataset import Dataset, kept_positions
from everytree.data.readers.room import CELL, LABEL, Room, check_columns, room_for
from everytree.data.readers.text import Source, open_bytes, source_name
from everytree.errors import DataError, Step, Wording

__all__ = ["from_arrow", "read_arrow", "read_parquet", "read_parquet_chunks"]

_INSTALL = 'pip install "everytree[bigdata]"'
_EXACT = 2**53  # every integer up to this size is a float64
_AT_ONCE = 1 << 16  # rows of a batch


def read_parquet(
    source: Source,
    target: str | None = None,
    *,
    columns: Sequence[str] | None = None,
    types: Mapping[str, TypeSpec] | None = None,
    max_cells: int = MAX_CELLS,
    memory_limit: float | None = None,
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
    memory_limit : float, optional
        The most bytes that reading may take; by default a hundred times the bytes of the file or 1 GiB, whichever is
        more, and never more than three quarters of the memory.

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

    def load(file: IO[bytes], room: Room) -> tuple[Any, Collection[str]]:
        reader, keep, plain = _opened(parquet, file, source_name(source), columns, target, types or {})
        _check_size(reader.metadata.num_rows, len(keep), max_cells, source_name(source))
        room.check(_unpacked(reader, keep, reader.metadata.num_rows))
        return _pieces(reader, keep, room), plain

    return _read(source, load, target, types or {}, memory_limit)


def read_parquet_chunks(
    source: Source,
    target: str | None = None,
    *,
    rows: int = CHUNK,
    columns: Sequence[str] | None = None,
    types: Mapping[str, TypeSpec] | None = None,
    max_cells: int = MAX_CELLS,
    memory_limit: float | None = None,
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
        room = room_for(name, file, memory_limit)
        with _readable(name):
            reader, keep, plain = _opened(parquet, file, name, columns, target, types)
            _check_size(min(rows, reader.metadata.num_rows), len(keep), max_cells, name)
            room.check(_unpacked(reader, keep, min(rows, reader.metadata.num_rows)))
            batches = reader.iter_batches(
                batch_size=min(rows, _careful_rows(reader, keep, room)), columns=keep
            )
            batch = next(batches, None)
        if batch is None:
            raise DataError(f"{name}: the table has no rows; expected at least one")
        while batch is not None:
            with _readable(name):
                table = pyarrow.Table.from_batches([batch])
                table.validate(full=True)
            yield _typed(name, table, target, types, room, plain)
            with _readable(name):
                batch = next(batches, None)


def read_arrow(
    source: Source,
    target: str | None = None,
    *,
    columns: Sequence[str] | None = None,
    types: Mapping[str, TypeSpec] | None = None,
    max_cells: int = MAX_CELLS,
    memory_limit: float | None = None,
) -> Dataset:
    """Read an Arrow IPC file or stream, or a Feather file (version 2), from a path or an open file.

    ``target`` names the column to predict; ``columns`` reads only those; ``types`` overrides the file's
    types; ``memory_limit`` is looked at after every batch of the file.
    """
    ipc = optional("pyarrow.ipc", _INSTALL)
    pyarrow = optional("pyarrow", _INSTALL)

    def load(file: IO[bytes], room: Room) -> tuple[Any, Collection[str]]:
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        reader = ipc.open_file(file) if is_file else ipc.open_stream(file)
        names = reader.schema.names
        _check_unique(names, source_name(source))
        keep = kept_positions(names, columns, target, types or {})
        check_columns(len(keep), source_name(source))
        batches, n_rows, held = [], 0, 0
        for batch in map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader:
            n_rows += batch.num_rows
            _check_size(n_rows, len(keep), max_cells, source_name(source))
            batches.append(batch.select(keep))
            held += batches[-1].nbytes
            room.check(held + CELL * n_rows * len(keep))
        schema = pyarrow.schema([reader.schema.field(k) for k in keep])
        return pyarrow.Table.from_batches(batches, schema=schema), ()

    return _read(source, load, target, types or {}, memory_limit)


def from_arrow(
    table: Any, target: str | None = None, room: Room | None = None, plain: Collection[str] = ()
) -> Dataset:
    """A data set with the columns of a pyarrow Table.

    ``room`` is what they may take; ``plain`` are dictionaries whose values are no declared categories.

    >>> import pyarrow
    >>> from_arrow(pyarrow.table({"age": [63, None], "sick": [True, False]}))
    Dataset(2 rows, 2 columns: 1 numeric, 1 boolean)
    """
    pyarrow = optional("pyarrow", _INSTALL)
    _check_unique(table.column_names, "the table")
    if table.num_rows == 0:
        raise DataError("the table has no rows; expected at least one")
    made = _Made(pyarrow, room, plain)
    return Dataset(
        {name: made.column(name, table.column(name)) for name in table.column_names}, target=target
    )


def _opened(
    parquet: Any,
    file: IO[bytes],
    name: str,
    columns: Sequence[str] | None,
    target: str | None,
    types: Mapping[str, TypeSpec],
) -> tuple[Any, list[str], frozenset[str]]:
    """Return a reader of a Parquet file that leaves texts as dictionaries, the columns to read, and those of text."""
    reader = parquet.ParquetFile(file)
    schema = reader.schema_arrow
    names = schema.names  # made anew each time it is asked for
    _check_unique(names, name)
    keep = [names[position] for position in kept_positions(names, columns, target, types)]
    check_columns(len(keep), name)
    is_type = optional("pyarrow", _INSTALL).types
    # pyarrow makes no dictionaries of texts that are written as changes.
    changes = {chunk.path_in_schema for chunk in _chunks(reader, keep) if _as_changes(chunk)}
    texts = [f.name for f in schema if _is_text(f.type, is_type) and f.name not in changes]
    reader = parquet.ParquetFile(file, metadata=reader.metadata, read_dictionary=texts)
    return reader, keep, frozenset(texts)


def _as_changes(chunk: Any) -> bool:
    return any(coding.startswith("DELTA") for coding in chunk.encodings)


def _chunks(reader: Any, keep: Sequence[str]) -> Iterator[Any]:
    """The pieces of the wanted columns, as the file's own description has them."""
    wanted = set(keep)
    for group in range(reader.metadata.num_row_groups):
        described = reader.metadata.row_group(group)
        for k in range(described.num_columns):
            if described.column(k).path_in_schema.split(".")[0] in wanted:
                yield described.column(k)


def _unpacked(reader: Any, keep: Sequence[str], n_rows: int) -> int:
    """Return about how many bytes some rows take: what is said before a byte of them is read."""
    texts: int = sum(
        chunk.total_uncompressed_size
        for chunk in _chunks(reader, keep)
        if chunk.physical_type == "BYTE_ARRAY"
    )
    of_rows: int = 2 * texts * n_rows // max(1, reader.metadata.num_rows)
    return CELL * n_rows * len(keep) + of_rows


def _careful_rows(reader: Any, keep: Sequence[str], room: Room) -> int:
    """Return how many rows to read at once: few where a text may be as long as all that is written of its column.

    That is so where texts are written as changes of the text before them; all others are as long as what is written.
    """
    texts = (chunk for chunk in _chunks(reader, keep) if chunk.physical_type == "BYTE_ARRAY")
    longest = max((chunk.total_uncompressed_size for chunk in texts if _as_changes(chunk)), default=0)
    return _AT_ONCE if longest == 0 else max(1, min(_AT_ONCE, room.limit // (8 * longest)))


def _pieces(reader: Any, keep: list[str], room: Room) -> Any:
    """Read all rows, at once where their bytes are known, and else piece by piece."""
    rows = _careful_rows(reader, keep, room)
    if rows == _AT_ONCE:
        return reader.read(columns=keep)
    pyarrow = optional("pyarrow", _INSTALL)
    batches, held = [], 0
    for batch in reader.iter_batches(batch_size=rows, columns=keep):
        batches.append(batch)
        held += batch.nbytes
        room.check(held)
    return pyarrow.Table.from_batches(batches, schema=batches[0].schema if batches else None)


def _read(
    source: Source,
    load: Callable[[IO[bytes], Room], tuple[Any, Collection[str]]],
    target: str | None,
    types: Mapping[str, TypeSpec],
    memory_limit: float | None,
) -> Dataset:
    """Load a table from bytes that may be anything, check it thoroughly, and convert it."""
    name = source_name(source)
    with open_bytes(source) as file:
        room = room_for(name, file, memory_limit)
        with _readable(name):
            table, plain = load(file, room)
            table.validate(full=True)
    return _typed(name, table, target, types, room, plain)


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


def _typed(
    name: str,
    table: Any,
    target: str | None,
    types: Mapping[str, TypeSpec],
    room: Room,
    plain: Collection[str],
) -> Dataset:
    try:
        data = from_arrow(table, target, room, plain)
        return data.with_types({key: spec for key, spec in types.items() if data[key].kind != spec})
    except DataError as error:
        if error.code == "memory":  # it names the file itself
            raise
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


class _Made:
    """Makes columns of Arrow's arrays, within the room that they may take.

    ``plain`` are the names of columns of text that were read as dictionaries: their values are no declared categories.
    """

    def __init__(self, pyarrow: Any, room: Room | None, plain: Collection[str] = ()) -> None:
        self.pyarrow = pyarrow
        self.room = room
        self.plain = plain

    def column(self, name: str, chunks: Any) -> Column:
        """Return the column of an Arrow array."""
        kind, is_type = chunks.type, self.pyarrow.types
        if is_type.is_null(kind):
            return Column(name, "numeric", np.full(len(chunks), np.nan))
        if is_type.is_boolean(kind):
            return _booleans(name, chunks, self.pyarrow)
        if is_type.is_dictionary(kind):
            if is_type.is_boolean(kind.value_type):
                return self.column(name, chunks.cast(kind.value_type))
            return self._nominal(name, chunks, declared=name not in self.plain)
        if is_type.is_integer(kind):
            return Column(name, "numeric", _integers(chunks, self.pyarrow))
        if is_type.is_floating(kind) or is_type.is_decimal(kind):
            return Column(name, "numeric", _floats(chunks, self.pyarrow))
        if is_type.is_temporal(kind) or _is_text(kind, is_type):
            return self._nominal(name, chunks, declared=False)
        raise DataError(
            Wording(
                f"column {show(name)} has the Arrow type {kind}; expected numbers, booleans, texts, dictionaries or "
                "dates. ",
                Step("leave-out", "Leave it out with columns=[...]", name),
                ", or flatten it before writing the file",
            )
        )

    def _nominal(self, name: str, chunks: Any, declared: bool) -> Column:
        """Make a column of texts by its distinct ones, so that a text that is repeated is one object.

        The values of a dictionary, in order, are the categories; values repeated or null in it count as one.
        """
        with self._as_text(name, chunks.type):
            is_coded = self.pyarrow.types.is_dictionary(chunks.type)
            merged = (
                (chunks if is_coded else chunks.dictionary_encode()).unify_dictionaries().combine_chunks()
            )
            merged = merged.chunk(0) if isinstance(merged, self.pyarrow.ChunkedArray) else merged
            if self.room is not None:
                values = merged.dictionary
                self.room.check(CELL * len(merged) + LABEL * len(values) + 3 * values.nbytes)
            texts = merged.dictionary.cast(self.pyarrow.string()).to_pylist()
            rows = merged.indices.cast(self.pyarrow.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        places, labels = coded(texts)
        codes = np.append(places, np.int32(-1))[rows]
        order = _by_appearance(codes, len(labels))
        renamed = np.full(len(labels) + 1, -1, dtype=np.int32)
        renamed[order] = np.arange(len(order), dtype=np.int32)
        categories = tuple(labels) if declared and labels else None
        found = [labels[k] for k in order]
        codes = renamed[codes]
        return Column.of(name, "nominal", codes, codes < 0, found, categories)

    @contextmanager
    def _as_text(self, name: str, kind: Any) -> Iterator[None]:
        """Dates and times are written in ISO form, to the precision of their type; what cannot be is told."""
        try:
            yield
        except self.pyarrow.ArrowException as error:
            raise DataError(
                f"column {show(name)} of Arrow type {kind} cannot be written as text ({error}); convert it first"
            ) from error


def _by_appearance(codes: NDArray[np.int32], n_labels: int) -> NDArray[np.intp]:
    """The codes that occur, in the order in which they first do; −1 is none.

    >>> _by_appearance(np.array([2, -1, 0, 2], dtype=np.int32), 3).tolist()
    [2, 0]
    """
    first = np.full(n_labels + 1, codes.size, dtype=np.intp)
    first[codes[::-1]] = np.arange(
        codes.size - 1, -1, -1
    )  # of equal places the last one stays: the first row
    first = first[:n_labels]
    order = np.argsort(first, kind="stable")
    return order[first[order] < codes.size]


def _is_text(kind: Any, is_type: Any) -> bool:
    view = getattr(is_type, "is_string_view", None)  # newer than the oldest pyarrow supported
    return bool(is_type.is_string(kind) or is_type.is_large_string(kind) or (view is not None and view(kind)))


def _booleans(name: str, chunks: Any, pyarrow: Any) -> Column:
    gone = chunks.is_null().to_numpy()
    truths = chunks.fill_null(False).cast(pyarrow.uint8()).to_numpy()
    return Column.of(name, "boolean", np.array(truths, dtype=np.uint8), np.asarray(gone, dtype=np.bool_))


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
