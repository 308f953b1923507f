"""``everytree explain``: why a model says what it says of one row of a file, or of values given by hand."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from everytree.cli.options import Reading
from everytree.cli.predict import Rows
from everytree.cli.show import console, heard, note, print_json
from everytree.cli.watch import at_work
from everytree.common.arguments import refused
from everytree.data.readers import Dataset, read_csv
from everytree.data.readers.dataset import unknown_column
from everytree.data.readers.pick import kinds_like
from everytree.data.recipes.recipe import apply_recipes
from everytree.errors import DataError, QueryError
from everytree.estimators.load import load_model

__all__ = ["run_explain"]

PIECE = 10_000


def run_explain(
    model_path: Path,
    path: Path | None,
    row: int | None,
    values: Sequence[str],
    top: int,
    reading: Reading,
    as_json: bool,
) -> None:
    """Print the leaves or rules behind one prediction."""
    if (path is None) == (not values) or (path is None) != (row is None):
        raise QueryError(
            "give a file and --row N, or no file and --value NAME=VALUE for every column that is known"
        )
    with at_work():  # an average is folded again
        model = load_model(model_path)
    one, truth = (
        _from_file(model, path, row, reading)
        if path is not None and row is not None
        else (_given(model, values), None)
    )
    with heard() as warned, at_work():
        found = model.explain_row(one, top)
    cells = {name: column.values.tolist()[0] for name, column in one.columns.items()}
    if as_json:
        print_json({"row": row, "values": cells, "truth": truth, **found.to_dict(), "notes": warned})
        return
    for text in warned:
        note(text)
    screen = console()
    shown = ", ".join(
        f"{name} = {'missing' if value is None or value != value else _plain(value)}"
        for name, value in cells.items()
    )
    screen.print(f"{'the values' if row is None else f'row {row}'}: {shown}")
    if truth is not None:
        screen.print(f"{model.target_name_} there: {_plain(truth)}")
    screen.print(str(found))


def _from_file(model: Any, path: Path, row: int, reading: Reading) -> tuple[Dataset, Any]:
    """Return the row of this number, counted from 1, and its label if there is one."""
    source = Rows(model, path, reading)
    seen = 0
    for part in source.pieces(PIECE):
        if row <= seen + part.n_rows:
            one = part.take([row - seen - 1])
            label = one[str(source.target)].values.tolist()[0] if source.has_target else None
            return source.features(one), None if label != label else label
        seen += part.n_rows
    expected = f"a number from 1 to {seen}"
    raise refused(DataError, "row", row, expected, says=f": {path} has {seen} rows; expected {expected}")


class _Typed(io.StringIO):
    """A file of what was typed; the reader uses its name to say where a value is wrong."""

    name = "--value"


def _given(model: Any, values: Sequence[str]) -> Dataset:
    """Make one row from NAME=VALUE texts; columns that are not named are missing."""
    import csv

    recipes = tuple(getattr(model, "recipes_", ()))
    target = model.label_name()
    kinds = {name: kind for name, kind in kinds_like(model, None).items() if name != target}
    cells = dict.fromkeys(kinds, "")
    for text in values:
        # A name may hold "=" itself: the longest name that fits is meant.
        name = max((name for name in kinds if text.startswith(f"{name}=")), key=len, default=None)
        if name is None:
            if "=" not in text:
                raise refused(QueryError, "value", text, "NAME=VALUE, such as --value age=63")
            raise unknown_column(text.partition("=")[0], list(kinds), "column of the model", "value")
        cells[name] = text[len(name) + 1 :]
    types = {name: kind for name, kind in kinds.items() if kind != "any"}
    text_file = _Typed()
    writer = csv.writer(text_file)
    writer.writerows([list(cells), list(cells.values())])
    text_file.seek(0)
    data = read_csv(text_file, types=types, delimiter=",")
    texts = [name for name, kind in kinds.items() if kind == "any" and data[name].kind == "nominal"]
    read = data.with_types(dict.fromkeys(texts, "boolean")) if texts else data
    if not recipes:
        return read
    made, unread = apply_recipes(read.columns, recipes)
    if unread:
        raise DataError(f"--value: {unread[0]}")
    return replace(read, columns=made, recipes=recipes).select(*model.column_kinds())


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
