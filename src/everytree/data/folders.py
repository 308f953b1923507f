"""Folders of Parquet or CSV files as one lazy frame, larger than memory if need be.

DuckDB reads them in pieces, in parallel, and spills to disk; it is the default where it is installed. polars scans them
as well. Which one it was cannot be seen in the result.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from everytree.common.arguments import refused
from everytree.common.limits import Limits
from everytree.data.wide_parquet import wide_parquet
from everytree.errors import DataError

__all__ = ["open_files"]

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
ENGINES = ("duckdb", "polars")
PARQUET, CSV = (".parquet", ".pq"), (".csv", ".tsv", ".csv.gz", ".tsv.gz")
INSTALL = 'pip install "everytree[bigdata]"'


def open_files(paths: Paths, engine: str | None = None, memory_limit: int | None = None) -> Any:
    """A lazy frame of all rows of the files: a pattern such as ``"folder/*.parquet"``, a folder, or a list of files.

    ``engine`` is "duckdb", "polars", or None for the first of them that is installed. An address such as
    ``s3://bucket/*.parquet`` or ``https://…`` is left to the engine: DuckDB needs its extension httpfs for that, and
    where it has none, polars reads it. ``memory_limit`` bounds what DuckDB holds before it spills. Parquet files of
    hundreds of columns and few rows are read at once, unless an engine is named.
    """
    if engine is not None and engine not in ENGINES:
        raise refused(DataError, "engine", engine, f"one of {', '.join(map(repr, ENGINES))}")
    files = _files(paths)
    kinds = {_kind(file) for file in files}
    if len(kinds) > 1:
        raise DataError("some files are Parquet and some are CSV; give files of one kind")
    kind = kinds.pop()
    if engine is None and kind == "parquet" and (table := wide_parquet(files, memory_limit)) is not None:
        return table
    lacking: DataError | None = None
    for name in ENGINES if engine is None else (engine,):
        try:
            return _with_duckdb(files, kind, memory_limit) if name == "duckdb" else _with_polars(files, kind)
        except ModuleNotFoundError as missing:
            if missing.name != name:
                raise
        except _NoExtension as error:  # polars reads addresses by itself
            lacking = DataError(str(error))
    if lacking is not None:
        raise lacking
    wanted = "duckdb or polars is" if engine is None else f"{engine} is not installed, which is"
    raise DataError(f"{wanted} needed to count files in place; {INSTALL}")


def _files(paths: Paths) -> list[str]:
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not given:
        raise DataError("no files are given; expected a pattern, a folder or a list of files")
    found: list[str] = []
    for each in given:
        text = os.fspath(each)
        if "://" in text:
            found.append(text)
        elif Path(text).is_dir():
            inside = sorted(str(path) for path in Path(text).rglob("*") if path.name.endswith(PARQUET + CSV))
            if not inside:
                raise DataError(f"the folder {text} holds no {', '.join(PARQUET + CSV)} file")
            found += inside
        elif Path(text).is_file():
            found.append(text)
        else:
            matching = sorted(path for path in glob.glob(text, recursive=True) if os.path.isfile(path))
            if not matching:
                raise DataError(f"no file matches {text!r}; expected a file, a folder or a pattern with *")
            found += matching
    return found


def _kind(file: str) -> str:
    name = file.lower()
    if name.endswith(PARQUET):
        return "parquet"
    if name.endswith(CSV):
        return "tsv" if ".tsv" in name[-8:] else "csv"
    raise DataError(f"{file}: its extension is not known here; expected one of {', '.join(PARQUET + CSV)}")


def _with_duckdb(files: list[str], kind: str, memory_limit: int | None) -> Any:
    import duckdb

    connection = duckdb.connect(":memory:")
    # Order plays no part in a count, and keeping it costs memory.
    connection.execute("SET preserve_insertion_order = false")
    if memory_limit is not None:
        bytes_ = max(Limits(memory_limit=memory_limit).memory, 128 * 2**20)
        connection.execute(f"SET memory_limit = '{bytes_ // 2**20}MiB'")
    try:
        if kind == "parquet":
            return connection.read_parquet(files)
        # Types by all rows of a file, and no guesses beyond numbers: yes and no stay text.
        return connection.read_csv(
            files,
            delimiter="\t" if kind == "tsv" else None,
            sample_size=-1,
            auto_type_candidates=["BIGINT", "DOUBLE", "VARCHAR"],
        )
    except duckdb.Error as error:
        text = " ".join(str(error).split())[:300]
        if "extension" in text and any("://" in file for file in files):
            raise _NoExtension(
                f"{files[0]}: DuckDB has no extension for addresses, and could not fetch it; run INSTALL httpfs in "
                f"DuckDB once where there is a network, or pip install polars, which reads them itself ({text})"
            ) from error
        raise DataError(f"{files[0]}: DuckDB cannot read it: {text}") from error


class _NoExtension(DataError):
    """DuckDB cannot read addresses here."""


def _with_polars(files: list[str], kind: str) -> Any:
    import polars

    if kind == "parquet":
        return polars.scan_parquet(files, glob=any("://" in file for file in files))
    return polars.scan_csv(files, separator="\t" if kind == "tsv" else ",", infer_schema_length=None)
