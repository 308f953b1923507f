"""What trees on whole columns know of a column: its values, its bins, and whether a missing value has a branch.

No count of the rows tells a value that no row has from one that is new, and a new row may have it. So values that were
only declared are not checked; nor are cuts that the classes chose, or that these rows do not give.
"""

from __future__ import annotations

from typing import Any

from everytree.verify.asked import cuts_of
from everytree.verify.examples import Cells
from everytree.verify.facts import TRUE, UNCHECKED, Fact
from everytree.verify.model import Model
from everytree.verify.places import BY_CLASSES, bins_of, cuts_given
from everytree.verify.problem import quote

__all__ = ["category_facts", "class_facts"]

BINS = 5  # of a column that a dict of bins does not name


def category_facts(model: Model, columns: list[Any], tree: dict[str, Any], cells: Cells) -> list[Fact]:
    """Compare the values and bins of the columns of a tree with those that the rows and the parameters give."""
    asked = _asked(tree)
    for j, (column, given) in enumerate(zip(model.columns, columns, strict=True)):
        if j not in asked:
            continue
        held = {row[j] for row in cells.rows}
        note = ""
        if column.kind == "nominal" and held - {None} != set(range(len(column.values))):
            lacking = [value for code, value in enumerate(column.values) if code not in held]
            note = (
                f"no row has {quote(lacking[0])}"
                if lacking
                else "a row has a value that the model does not know"
            )
        elif "cuts" in given:
            note = _bins_note(model, j, given, cells)
        if "missing" in given and not note:
            branch = None in held and model.params.get("missing") == "category"
            note = (
                ""
                if given["missing"] is branch
                else f"a branch for missing values: {quote(given['missing'])}"
            )
        if note:
            note = f"column {column.name!r}: {note}"
            return [Fact("categories", len(asked), None, UNCHECKED, note, predicts=True)]
    return [Fact("categories", len(asked), len(asked), TRUE)]


def class_facts(model: Model, cells: Cells) -> list[Fact]:
    """Say so where a class has no row: probabilities are shared out over all classes, and no row tells how many."""
    if not cells.idle:
        return []
    n = len(model.classes)
    note = f"no row has the label {quote(cells.idle[0])}: that there is such a class was only declared"
    return [Fact("classes", n, n - len(cells.idle), UNCHECKED, note, predicts=True)]


def _asked(tree: dict[str, Any]) -> set[int]:
    """Return the columns that a tree, or one of several, asks about; its shape was checked before."""
    if "attribute" in tree:
        return {j for j in tree["attribute"] if j >= 0}
    trees = tree.get("trees", [tree])
    return {j for each in trees for j in each["options"]["column"]}


def _bins_note(model: Model, j: int, given: dict[str, Any], cells: Cells) -> str:
    """Say what is not known of the cuts of a column; nothing where they are those of its bins."""
    column = model.columns[j]
    if column.kind == "nominal":
        return ""
    told = cuts_given(model.params.get("bins"), j, column.name)
    bins = bins_of(model.params.get("bins"), j, column.name, BINS)
    if told is None and bins in BY_CLASSES:
        return "the classes chose its cuts, and the checker does not choose them again"
    times: dict[Any, Any] = {}
    for row, weight in zip(cells.rows, cells.weights, strict=True):
        value = column.fill if row[j] is None else row[j]
        times[value] = times.get(value, 0) + weight
    times.pop(None, None)
    wanted = (
        list(told or ())
        if told is not None
        else cuts_of(sorted(times), times, bins)
        if len(times) > 1
        else []
    )
    return "" if given["cuts"] == wanted else "its cuts are not those of its bins in these rows"
