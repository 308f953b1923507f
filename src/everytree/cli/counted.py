"""Learn from folders and patterns of files, counted where they are: ``everytree fit "folder/*.parquet"``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from everytree.cli.options import Reading
from everytree.cli.show import heard
from everytree.cli.watch import Spent, at_work
from everytree.data.folders import open_files
from everytree.data.lazy import column_names
from everytree.data.table import Table
from everytree.errors import DataError, QueryError
from everytree.estimators.base import TreeClassifierBase

__all__ = ["is_many", "learn_counted"]

MARKS = "*?["  # a path with one of these is a pattern


def is_many(path: Path) -> bool:
    """Return whether a path stands for many files: a folder, a pattern, or an address.

    >>> is_many(Path("folder/*.parquet")), is_many(Path("heart.csv"))
    (True, False)
    """
    return (
        path.is_dir()
        or (not path.exists() and any(mark in str(path) for mark in MARKS))
        or "://" in address_of(path)
    )


def address_of(path: Path) -> str:
    """Return the text of a path, with both slashes of an address: Path keeps one of them.

    >>> address_of(Path("s3://bucket/*.parquet")), address_of(Path("folder/heart.csv"))
    ('s3://bucket/*.parquet', 'folder/heart.csv')
    """
    return re.sub(r"^([a-z][a-z0-9+.-]+):/(?=[^/])", r"\1://", str(path))


def learn_counted(
    path: Path,
    target: str | None,
    made: Any,
    params: dict[str, Any],
    reading: Reading,
    weights: str | None,
    spent: Spent,
) -> tuple[Any, Any, list[str]]:
    """Learn a classifier from the counts of many files; return it, the table, and remarks."""
    if not issubclass(made, TreeClassifierBase):
        raise QueryError(
            f"{made.__name__} learns from rows, and {path} stands for many files that are only counted; expected "
            "the method optimal, bayes or map, or one file"
        )
    if reading.no_header or reading.delimiter is not None or reading.na is not None or reading.decimal != ".":
        raise DataError(
            f"{path}: options of CSV files are for one file; write the files as Parquet to count many of them"
        )
    model = made(**params)
    frame = open_files(address_of(path))
    names = column_names(frame)
    if target is None:
        raise DataError(
            f"{path}: name the column to predict with --target; the columns are {', '.join(names[:20])}"
        )
    gone = {target, weights, *(reading.drop or ())}
    for name in sorted(each for each in gone if each is not None and each not in names):
        raise DataError(f"{path}: there is no column {name!r}; the columns are {', '.join(names[:20])}")
    if target in (reading.drop or ()):
        raise DataError(f"--drop {target} is the target; leave one of the two out")
    with at_work(), heard() as warned, spent.on("counting"):
        table = Table.from_frame(
            frame,
            target,
            weight=weights,
            columns=[name for name in names if name not in gone],
            nominal=reading.nominal,
            unlabelled="drop",
            **{
                name: getattr(model, name)
                for name in ("bins", "missing", "unknown", "max_categories", "cuts")
                if hasattr(model, name)
            },
        )
    with at_work(), heard() as more, spent.on("learning"):
        model.fit_table(table)
    return model, table, [*warned, *more]
