"""Readers of any data file: ``read`` picks a reader by the file's extension, ``read_chunks`` reads it in pieces."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import Any

import numpy as np

from everytree.common.text import show, show_many
from everytree.data.frames import read_columns
from everytree.data.readers.arff import read_arff
from everytree.data.readers.csv import CHUNK, read_csv, read_csv_chunks
from everytree.data.readers.dataset import Dataset
from everytree.data.readers.parquet import read_arrow, read_parquet, read_parquet_chunks
from everytree.data.readers.text import FALLBACK, Source, source_name
from everytree.data.recipes.recipe import Recipes, WordsRecipe, apply_recipes, by_source
from everytree.data.recipes.recognise import Recognised, recognised
from everytree.data.recipes.target import treat_target
from everytree.errors import DataError, Step, Wording

__all__ = [
    "EXTENSIONS",
    "dataset_like",
    "is_file",
    "kinds_like",
    "labelled",
    "read",
    "read_chunks",
    "read_like",
    "read_plain",
    "recognise_dataset",
    "with_encoding",
]

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
SHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")
_PACKABLE = (".csv", ".tsv", ".tab", ".arff")


# Those that can be read in pieces; the others are read whole and cut.
IN_PIECES: dict[str, Callable[..., Iterator[Dataset]]] = {
    ".csv": read_csv_chunks,
    ".tsv": partial(read_csv_chunks, delimiter="\t"),
    ".tab": partial(read_csv_chunks, delimiter="\t"),
    ".parquet": read_parquet_chunks,
    ".pq": read_parquet_chunks,
}


def read(
    source: Any,
    target: str | None = None,
    *,
    columns: Sequence[str] | Mapping[str, str] | None = None,
    target_cut: float | Sequence[float] | None = None,
    like: Any = None,
    as_is: bool = False,
    **options: Any,
) -> Dataset:
    """Read a data file as people have them: by its extension, with every column made fit to learn from.

    Money, percentages, thousands separators, decimal commas, dates, times and yes or no in several spellings are
    recognised column by column; ids, free text and columns that never change are left out. ``data.treated`` tells what
    was done with each, and ``columns`` changes it. A classifier that learns from the data set keeps how it was read.

    Parameters
    ----------
    source : str, path, open file or data frame
        The file to read: .csv, .tsv, .tab, .arff, .parquet, .pq, .feather, .arrow, .arrows or .ipc; ``.gz`` after a
        text format is unpacked. Or a data frame (pandas, polars, pyarrow), which is treated in the same way.
    target : str, optional
        The column to predict; rows without a value of it are left out, and a note says so.
    columns : dict or sequence of str, optional
        How to read some columns, where that is not what their cells tell: "number", "date" ("dmy" or "mdy" where the
        order is not plain), "time", "boolean", "nominal" or "drop". A list has the names of the columns to read.
    target_cut : float or sequence of float, optional
        Cuts that make classes of a target of numbers: 100 makes the classes "<= 100" and "> 100".
    like : classifier, optional
        A fitted classifier: its columns are read as they were in training, for ``predict``; and ``target``, if named.
    as_is : bool, default False
        Whether to leave every column as the reader of the format gives it: numeric, nominal or boolean, none left out.
    **options : object
        Further parameters of the reader: ``read_csv``, ``read_arff`` or ``read_parquet``. Columns that ``types`` names
        are not treated further.

    Returns
    -------
    Dataset
        The columns to learn from, each with its kind.

    Raises
    ------
    DataError
        If the extension is not known, or the file cannot be read; the message says where and why, and lists all that
        must be changed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "customers.csv")
    ...     _ = path.write_text("joined,paid,left\\n05/03/2024,$1014.39,yes\\n17/04/2024,$20,no\\n")
    ...     data = read(path, target="left")
    >>> data.names
    ('joined month', 'joined weekday', 'joined age in days', 'paid', 'left')
    >>> data["paid"].values.tolist()
    [1014.39, 20.0]
    """
    asked = dict(columns) if isinstance(columns, Mapping) else {}
    wanted = None if isinstance(columns, Mapping) else columns
    if like is not None:
        return read_like(like, source, target, columns=wanted, **options)
    types = dict(options.pop("types", None) or {})
    if as_is:
        return read_plain(source, target, types=types, columns=wanted, **options)
    texts = {name: "nominal" for name, word in asked.items() if word != "drop" and name not in types}
    data = labelled(read_plain(source, target, types=types | texts, columns=wanted, asked=asked, **options))
    where = source_name(source) if is_file(source) else "the data"
    return labelled(recognise_dataset(data, asked, target_cut, keep=types, where=where))


def labelled(data: Dataset) -> Dataset:
    """Return the rows that have a label, and a note on the others; all rows if none has one, or no target is named."""
    gone = None if data.target is None or data.target not in data.columns else data[data.target].missing
    if gone is None or not gone.any() or gone.all():
        return data
    kept = data.take(~gone)
    says = f"{int(gone.sum())} of {data.n_rows} rows have no {data.target} and are left out"
    return replace(kept, notes=(*data.notes, says))


def is_file(source: Any) -> bool:
    """Return whether a source is a path or an open file, and not a table in memory."""
    return isinstance(source, str | os.PathLike) or hasattr(source, "read")


def read_plain(
    source: Any,
    target: str | None = None,
    *,
    asked: Mapping[str, str] | None = None,
    types: Mapping[str, Any] | None = None,
    columns: Sequence[str] | None = None,
    **options: Any,
) -> Dataset:
    """Read a file, or a data frame, as it is: each column numeric, nominal or boolean.

    A text file that is not UTF-8 is read as what it seems to be, and a note says so. ``asked`` columns that are not
    there are left for ``recognise_dataset`` to refuse, together with all else.
    """
    if not is_file(source):
        return _of_frame(source, target, columns)
    reader = EXTENSIONS[_extension(source)]
    return with_encoding(
        source, options, lambda more: _read_asked(reader, source, target, asked, types, columns, more)
    )


def _read_asked(
    reader: Callable[..., Dataset],
    source: Source,
    target: str | None,
    asked: Mapping[str, str] | None,
    types: Mapping[str, Any] | None,
    columns: Sequence[str] | None,
    options: dict[str, Any],
) -> Dataset:
    given = dict(types or {})
    while True:
        try:
            return reader(source, target, types=given, columns=columns, **options)
        except DataError as error:
            absent = error.value if error.code == "unknown-column" and error.parameter == "types" else None
            if absent is None or absent not in (asked or {}) or not isinstance(source, str | os.PathLike):
                raise
            del given[absent]


def with_encoding(
    source: Any, options: dict[str, Any], reads: Callable[[dict[str, Any]], Dataset]
) -> Dataset:
    """Read a text file as UTF-8 or, where no encoding was given and it is none, as UTF-16 or as Windows writes it."""
    try:
        return reads(options)
    except DataError as error:
        if error.code != "encoding" or "encoding" in options or not isinstance(source, str | os.PathLike):
            raise
        first, other = error, str(error.value or FALLBACK)
    try:
        data = reads({**options, "encoding": other})
    except DataError as error:
        raise (first if error.code == "encoding" else error) from None
    return replace(data, notes=(*data.notes, f"{source_name(source)} is not UTF-8; it was read as {other}"))


def _of_frame(source: Any, target: str | None, columns: Sequence[str] | None) -> Dataset:
    frame = read_columns(source)
    if frame.names is None:
        raise DataError("the table has no names of columns; expected a data frame with names")
    wanted = None if columns is None else {*columns, target}
    made = {column.name: column for column in frame.columns if wanted is None or column.name in wanted}
    return Dataset(made, target=target)


def recognise_dataset(
    data: Dataset,
    asked: Mapping[str, str] | None = None,
    target_cut: float | Sequence[float] | None = None,
    keep: Collection[str] = (),
    where: str = "the data",
) -> Dataset:
    """Return a data set with every column made fit to learn from; ``keep`` stay as they are."""
    told, target = dict(asked or {}), data.target
    columns = {name: column for name, column in data.columns.items() if name != target}
    word = told.pop(target, None) if target is not None else None
    found = recognised(columns, told, keep)
    if target is not None:
        cuts = [target_cut] if isinstance(target_cut, int | float) else target_cut
        if word == "drop":
            found.problems.append(f"{show(target)} is the target and cannot be left out")
        elif target in keep:
            found.columns[target] = data[target]
        else:
            treat_target(found, data[target], cuts, word)
    elif target_cut is not None:
        found.problems.append("target_cut cuts the target; name the target too")
    if target is not None and not columns:
        found.problems.append(f"{show(target)} is the only column; there is nothing to predict it from")
    elif not set(found.columns) - {target} and not found.problems:
        why = "; ".join(f"{each.column}: {each.note}" for each in found.treated)
        found.problems.append(f"no column is left to learn from ({why})")
    found.check(where)
    made_of = {
        each.column: each.made for each in reversed(found.treated)
    }  # the first word on a column counts
    order = [
        made
        for name in data.names
        for made in (
            (name,) if name == target else made_of.get(name, (name,) if name in found.columns else ())
        )
    ]
    return replace(
        data,
        columns={name: found.columns[name] for name in order},
        recipes=tuple(found.recipes),
        treated=tuple(found.treated),
        notes=tuple(note for note in data.notes if _stands(note, made_of, found)),
    )


def _stands(note: str, made_of: Mapping[str, tuple[str, ...]], found: Recognised) -> bool:
    """Return whether a remark on the kind of a column still holds, now that the column was looked at again."""
    steps = [
        part for part in getattr(note, "parts", ()) if isinstance(part, Step) and part.code == "missing-cells"
    ]
    read = {recipe.column for recipe in found.recipes if not isinstance(recipe, WordsRecipe)}
    return not any(step.about in read or made_of.get(step.about) == () for step in steps)


def read_like(
    model: Any,
    source: Any,
    target: str | None = None,
    *,
    columns: Sequence[str] | None = None,
    **options: Any,
) -> Dataset:
    """Read a file, or a data frame, as a fitted classifier read its own: its columns, and ``target`` if it is named."""

    def reads(types: dict[str, Any]) -> Dataset:
        return read_plain(source, None, types=types, columns=columns, **options)

    data = dataset_like(model, reads, target)
    wanted = list(model.column_kinds())
    made = {name: recipe.column for recipe in getattr(model, "recipes_", ()) for name in recipe.made}
    absent = list(dict.fromkeys(made.get(name, name) for name in wanted if name not in data.columns))
    if absent:
        where = source_name(source) if is_file(source) else "the data"
        raise DataError(
            f"{where}: the model needs {len(absent)} more column{'' if len(absent) == 1 else 's'}: {show_many(absent)}",
            code="unknown-column",
        )
    return data.select(*wanted, *([target] if target is not None else []))


def dataset_like(
    model: Any, reads: Callable[[dict[str, Any]], Dataset], target: str | None = None
) -> Dataset:
    """Read a file so that its columns are those of training; ``reads`` reads it with given kinds of columns.

    Cells that cannot be read as in training are missing, and a note says so.
    """
    label, recipes = target or model.label_name(), tuple(getattr(model, "recipes_", ()))
    wanted = kinds_like(model, label)
    plain = reads({})
    types = {}
    for name in plain.names:
        kind = wanted.get(name, "any")
        if kind == "any" and name in wanted and plain[name].kind == "nominal":
            kind = "boolean"  # true and false, in a spelling that the reader does not take for booleans by itself
        if kind not in ("any", plain[name].kind):
            types[name] = kind
    if types:
        plain = reads(types)
    made, unread = apply_recipes(plain.columns, recipes)
    there = label if label in made else None
    notes = (*plain.notes, *(f"{each}; these are missing" for each in unread))
    return replace(plain, columns=made, recipes=recipes, target=there, notes=notes)


def kinds_like(model: Any, label: str | None) -> dict[str, str]:
    """Return for the columns of a file the kinds that a fitted classifier reads; recipes read texts."""
    kinds: dict[str, str] = dict(model.column_kinds())
    if label is not None:
        labels = model.classes_.tolist()
        texts = all(isinstance(each, str) for each in labels)
        truths = all(isinstance(each, bool) for each in labels)
        kinds[label] = "boolean" if truths else "nominal" if texts else "numeric"
    recipes: Recipes = tuple(getattr(model, "recipes_", ()))
    made = {name for recipe in recipes for name in recipe.made}
    return {name: kind for name, kind in kinds.items() if name not in made} | dict.fromkeys(
        by_source(recipes), "nominal"
    )


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
    if extension in SHEETS:
        raise DataError(
            f"{name}: this is a spreadsheet; save the sheet with your table as CSV, and give that file"
        )
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
