"""``everytree predict``: classes, probabilities and bounds for every row of a file, piece by piece.

Columns of the answer: those of --keep, ``predicted``, ``p_LABEL`` for every class, and with --bounds ``low_LABEL`` and
``high_LABEL``. Rows stay in order; memory holds one piece at a time. Where the file has labels, figures
are told, and which of the rows the model has learned from.
"""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from everytree.cli.data import chunk_reader, reader_options
from everytree.cli.options import Reading
from everytree.cli.score import Score
from everytree.cli.show import heard, note, print_json
from everytree.cli.streams import remark
from everytree.cli.watch import at_work
from everytree.cli.written import check_folder
from everytree.common.drafts import draft_of
from everytree.common.text import show_many
from everytree.data.readers import Dataset
from everytree.data.readers.convert import optional
from everytree.data.readers.dataset import unknown_column
from everytree.data.readers.pick import kinds_like
from everytree.data.readers.text import other_encoding
from everytree.data.recipes.recipe import Unread, apply_recipes, by_source
from everytree.errors import DataError, QueryError
from everytree.estimators.column_kinds import label_kind
from everytree.estimators.load import load_model
from everytree.estimators.unseen import Unseen

__all__ = ["Rows", "run_predict"]

Columns = dict[str, Any]  # name → array of one piece
Write = Callable[[Columns], None]
# With these a spreadsheet begins to compute; with the wide ones some do, where East Asian languages are set.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


class Rows:
    """A reader of the rows of a file as a model wants them, whatever else is in the file."""

    def __init__(self, model: Any, path: Path, reading: Reading, keep: Sequence[str] = ()) -> None:
        self.names = list(model.column_kinds())
        self.target = model.label_name()
        self._recipes = tuple(getattr(model, "recipes_", ()))
        sources = by_source(self._recipes)
        self.kinds = {
            name: kind
            for name, kind in kinds_like(model, None).items()
            if name != self.target or name not in sources
        }
        self.unread: dict[str, Unread] = {}
        self.kept: Columns = {}  # the columns of --keep in the last piece, as the file has them
        self._keep = keep
        self._path, self._reader = path, chunk_reader(path, reading)
        self._options = reader_options(path, reading)
        self.notes: list[str] = []
        if "encoding" not in self._options and (other := other_encoding(path)) is not None:
            self._options["encoding"] = other
            self.notes.append(f"{path} is not UTF-8; it is read as {other}")
        names = _header(self._reader, path, self._options, [*self.kinds, *keep])
        self._check(names, keep)
        self.has_target = self.target is not None and self.target in names and self.target not in self.kinds
        used = {*self.kinds, *keep}
        self.ignored = [name for name in names if name not in used and name != self.target]
        wanted = [name for name in names if name in used]
        types: dict[str, str] = dict.fromkeys(keep, "nominal")
        types |= {name: kind for name, kind in self.kinds.items() if kind != "any"}
        if self.has_target:
            types[str(self.target)] = "nominal" if self.target in sources else label_kind(model)
            wanted.append(str(self.target))
        self._options |= {"types": types, "columns": wanted}

    def _check(self, names: Sequence[str], keep: Sequence[str]) -> None:
        there = set(names)  # a file may have very many columns
        absent = [name for name in self.kinds if name not in there]
        if absent:
            hint = " (--no-header names the columns x0, x1, …)" if absent[0] == "x0" else ""
            raise DataError(
                f"{self._path}: the model needs {len(absent)} more column{'' if len(absent) == 1 else 's'}: "
                f"{show_many(absent)}; the file has {show_many(names)}{hint}"
            )
        for name in keep:
            if name not in there:
                raise unknown_column(name, names, "column (named by --keep)", "keep")

    def pieces(self, rows: int) -> Iterator[Dataset]:
        """Yield the rows, at most so many at a time."""
        for part in self._reader(self._path, rows=rows, **self._options):
            yield self._as_trained(part)

    def features(self, part: Dataset) -> Dataset:
        """Return the columns of the model, in its order."""
        return part.select(*self.names)

    def _as_trained(self, part: Dataset) -> Dataset:
        """Read texts as truth values where a column may be 0/1 or true/false."""
        texts = [name for name, kind in self.kinds.items() if kind == "any" and part[name].kind == "nominal"]
        read = part.with_types(dict.fromkeys(texts, "boolean")) if texts else part
        self.kept = {name: read[name].values for name in self._keep}
        if not self._recipes:
            return read
        made, unread = apply_recipes(read.columns, self._recipes)
        for each in unread:
            rows = each.rows + (self.unread[each.column].rows if each.column in self.unread else 0)
            self.unread[each.column] = replace(self.unread.get(each.column, each), rows=rows)
        return replace(read, columns=made, recipes=self._recipes)


def _header(reader: Any, path: Path, options: dict[str, Any], wanted: Sequence[str]) -> tuple[str, ...]:
    first: Dataset = next(iter(reader(path, rows=1, **options)))
    lacking = [name for name in wanted if name not in first.columns]
    if not lacking:
        return first.names
    # A column without a name is left out where it is empty or counts the rows, and one row does not tell: it may be
    # one that the model needs, which is there when it is asked for.
    try:
        more: Dataset = next(iter(reader(path, rows=1, columns=lacking, **options)))
    except DataError:
        return first.names
    return (*first.names, *more.names)


def run_predict(
    model_path: Path,
    path: Path,
    out: Path | None,
    bounds: bool,
    level: float,
    keep: Sequence[str],
    rows: int,
    seed: int | None,
    reading: Reading,
    as_json: bool,
    formulas: bool = False,
) -> None:
    """Predict every row of a file, and say how good that was if the file has the labels."""
    if as_json and out is None:
        raise QueryError(
            "--json prints a summary, and without --out the predictions go to the same place; give --out"
        )
    check_folder("out", out)
    with at_work():  # an average is folded again
        model = load_model(model_path)
    if bounds and not model.INTERVALS:
        raise QueryError(f"--bounds: a {type(model).__name__} has no intervals; the method bayes has")
    source = Rows(model, path, reading, keep)
    if source.ignored:
        note(f"columns that the model does not use: {show_many(source.ignored)}")
    for text in source.notes:
        note(text)
    score, unseen = Score(model), Unseen(model)
    answered = 0
    with heard() as warned, at_work() as work, _writer(out, formulas) as write:
        for part in source.pieces(rows):
            features = source.features(part)
            said, proba = model.answers(features)
            unseen.look(features)
            answer: Columns = dict(source.kept)
            answer["predicted"] = said
            answer |= {f"p_{label}": proba[:, c] for c, label in enumerate(model.classes_.tolist())}
            if bounds:
                low, high = model.predict_interval(features, level, random_state=0 if seed is None else seed)
                for c, label in enumerate(model.classes_.tolist()):
                    answer |= {f"low_{label}": low[:, c], f"high_{label}": high[:, c]}
            if len(answer) != len(keep) + 1 + len(model.classes_) * (3 if bounds else 1):
                raise DataError(
                    "--keep: a kept column has the name of a column of the answer; rename it in the file"
                )
            write(answer)
            answered += part.n_rows
            work.so_far = f"{answered:,} rows done"
            work.tell("predicting", 0, None)
            if source.has_target:
                score.add(features, part[str(source.target)].values, said, proba)
    warned += [f"{each}; these are missing" for each in source.unread.values()]
    _summary(out, answered, score, [*warned, *unseen.told(), *score.told()], as_json)


def _summary(out: Path | None, rows: int, score: Score, warned: list[str], as_json: bool) -> None:
    found = score.found()
    if as_json:
        print_json({"rows": rows, "out": str(out), **found, "notes": warned})
        return
    for text in warned:
        note(text)
    words = [f"{rows} rows" + ("" if out is None else f" → {out}")]
    if found["labelled_rows"]:
        words.append(
            f"accuracy {found['accuracy']:.4f}, log-loss {found['log_loss']:.4f} on {found['labelled_rows']} labels"
        )
    if found["unknown_labels"]:
        words.append(
            f"{found['unknown_labels']} rows have a class that was not in training, and count as wrong"
        )
    remark("; ".join(words))


# --- writing


@contextmanager
def _writer(out: Path | None, formulas: bool) -> Iterator[Write]:
    """Yield a function that writes one piece, as CSV or Parquet; a file is written whole or not at all."""
    with ExitStack() as stack:
        if out is None:
            try:
                yield _csv_writer(sys.stdout, formulas)
                sys.stdout.flush()
            except BrokenPipeError:  # the reader of the pipe, such as head, has closed it
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                raise typer.Exit(0) from None
        elif out.suffix.lower() in (".parquet", ".pq"):
            draft = stack.enter_context(draft_of(out))
            yield stack.enter_context(_parquet_writer(draft))
        else:
            draft = stack.enter_context(draft_of(out))
            how: dict[str, Any] = {"encoding": "utf-8", "errors": "backslashreplace", "newline": ""}
            yield _csv_writer(stack.enter_context(open(draft, "w", **how)), formulas)


def _csv_writer(file: Any, formulas: bool) -> Write:
    writer = csv.writer(file, lineterminator="\n")
    begun = False
    cell = _cell if formulas else _harmless

    def write(columns: Columns) -> None:
        nonlocal begun
        if not begun:
            writer.writerow(map(cell, columns))
            begun = True
        writer.writerows(zip(*(map(cell, values.tolist()) for values in columns.values()), strict=True))

    return write


def _cell(value: Any) -> Any:
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value


def _harmless(value: Any) -> Any:
    """Return a cell that no spreadsheet runs: what begins like a formula, and is no number, gets an apostrophe."""
    cell = _cell(value)
    if isinstance(cell, str) and cell[:1] in FORMULA and not _is_number(cell):
        return "'" + cell
    return cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@contextmanager
def _parquet_writer(draft: Path) -> Iterator[Write]:
    pyarrow = optional("pyarrow", 'pip install "everytree[bigdata]"')
    parquet = optional("pyarrow.parquet", 'pip install "everytree[bigdata]"')
    writers: list[Any] = []

    def write(columns: Columns) -> None:
        kinds = {"f": pyarrow.float64(), "i": pyarrow.int64(), "u": pyarrow.uint64(), "b": pyarrow.bool_()}
        arrays = {}
        for name, values in columns.items():
            truth = values.dtype.kind == "O" and any(isinstance(value, bool) for value in values)
            kind = pyarrow.bool_() if truth else kinds.get(values.dtype.kind, pyarrow.string())
            arrays[name] = pyarrow.array(values.tolist(), type=kind)
        piece = pyarrow.table(arrays)
        if not writers:
            writers.append(parquet.ParquetWriter(draft, piece.schema))
        writers[0].write_table(piece)

    try:
        yield write
    finally:
        for each in writers:
            each.close()
