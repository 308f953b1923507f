"""Parquet files with hundreds of columns and few cells, as one Arrow table.

What DuckDB takes for a query grows with its columns and not with its rows: of 300 rows with 379 columns a count took
40 seconds and 180 MB, whatever limit of memory it was given. Here they take 6 seconds and 30 MB. The table that is
counted is the same: numbers, booleans and texts of such files are what they are in every engine. Whatever could be read
in two ways (dates, decimals, categories, schemas that differ) is left to the engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["wide_parquet"]

FEWEST_COLUMNS = 100
MOST_CELLS = 2**18
MOST_BYTES = 2**21  # of the cells as the files hold them, and of their texts written out
SHARE = 16  # of a limit of memory, that the cells take at most: counting takes several times as much


def wide_parquet(files: Sequence[str], memory_limit: int | None) -> Any | None:
    """Return the Arrow table of all rows of Parquet files of many columns and few cells; None where they are not.

    Files that pyarrow does not read are no such files either: the engine says what is wrong with them.
    """
    if any("://" in file or "=" in file for file in files):  # folders such as "year=2024" are a column
        return None
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        return None
    most = MOST_BYTES if memory_limit is None else min(MOST_BYTES, int(memory_limit) // SHARE)
    try:
        return _read(files, most, pa, pq)
    except (pa.ArrowException, OSError):
        return None


def _read(files: Sequence[str], most: int, pa: Any, pq: Any) -> Any | None:
    first, texts = None, list[str]()
    cells = n_bytes = 0
    for file in files:
        with pq.ParquetFile(file) as opened:
            told = opened.metadata
            if told.num_columns < FEWEST_COLUMNS:
                return None
            cells += told.num_rows * told.num_columns
            n_bytes += sum(told.row_group(k).total_byte_size for k in range(told.num_row_groups))
            if cells > MOST_CELLS or max(8 * cells, n_bytes) > most:
                return None
            schema = opened.schema_arrow
        if first is None:
            first = schema
            if not all(_is_plain(field.type, pa) for field in schema):
                return None
            if len({name.lower() for name in schema.names}) < len(schema.names):  # engines rename these
                return None
            texts = [field.name for field in schema if _is_text(field.type, pa)]
        elif not schema.equals(first):
            return None
    # Texts by number: a file may hold one of them a million times.
    tables = []
    for file in files:
        with pq.ParquetFile(file, read_dictionary=texts) as opened:
            tables.append(opened.read(use_threads=False))
    if sum(_text_bytes(table.column(name)) for table in tables for name in texts) > most:
        return None
    # Without what pandas has noted in the file.
    return pa.concat_tables([table.cast(pa.schema(list(first or ()))) for table in tables])


def _is_text(kind: Any, pa: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_plain(kind: Any, pa: Any) -> bool:
    return _is_text(kind, pa) or kind in (
        pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(),
        pa.float32(), pa.float64(),
    )  # fmt: skip


def _text_bytes(column: Any) -> int:
    """Return the bytes of a column of texts, written out, at most."""
    longest = 0
    for chunk in column.chunks:
        longest = max(longest, max((len(text or "") for text in chunk.dictionary.to_pylist()), default=0))
    return 4 * longest * len(column)
