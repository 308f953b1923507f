"""Columns of text in a data frame that are more than text: what ``everytree.read`` would make of them, told at ``fit``.

A classifier takes a frame as it is, as scikit-learn's do: "$1,014.39" and "$7.50" are two values that have nothing to
do with each other, and an id has one for every row. That is hardly ever meant, so it is said, of all columns at once.
"""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from everytree.common.text import show
from everytree.common.told import tell
from everytree.data.frames import Frame
from everytree.data.recipes.recognise import Treated, recognised

__all__ = ["texts_that_are_more", "warn_of_texts"]

MOST = 5  # columns that are named


def warn_of_texts(X: Any, frame: Frame) -> None:
    """Warn if ``X`` is a data frame with columns of text that ``everytree.read`` would not take as texts."""
    found = texts_that_are_more(X, frame)
    if not found:
        return
    named = "; ".join(f"{show(each.column)} {_became(each)}" for each in found[:MOST])
    more = f"; and {len(found) - MOST} more" if len(found) > MOST else ""
    are = (
        "1 column of text is taken as it is"
        if len(found) == 1
        else f"{len(found)} columns of text are taken as they are"
    )
    tell(
        f"{are}, every text a value of its own. everytree.read(X) would read {named}{more}. To learn from that, "
        "fit(everytree.read(X), y); predict then takes frames like X"
    )


def texts_that_are_more(X: Any, frame: Frame) -> list[Treated]:
    """Return what ``everytree.read`` would do with columns of text, where it is more than to keep them.

    >>> import pandas as pd
    >>> from everytree.data.frames import read_frame
    >>> X = pd.DataFrame({"paid": ["$7.50", "$1,014.39"], "town": ["Ulm", "Bonn"]})
    >>> [(each.column, each.read_as) for each in texts_that_are_more(X, read_frame(X))]
    [('paid', 'money ($1,014.39)')]
    """
    # Who made a column categorical has said what it is.
    columns = {
        column.name: column
        for column in frame.columns
        if column.kind == "nominal" and column.categories is None and len(column.labels) > 1
    }
    if not columns or frame.names is None or frame.recipes:
        return []
    if all(each.plain for each in recognised(columns).treated):
        return []  # as nearly always: asking for the types of all columns takes a tenth of a small fit
    native = nw.from_native(X, pass_through=True, allow_series=True)
    if not isinstance(native, nw.DataFrame):
        return []
    schema = native.schema
    columns = {name: column for name, column in columns.items() if schema[name] in (nw.String, nw.Object)}
    found = recognised(columns)
    changed = {recipe.column for recipe in found.recipes}
    return [each for each in found.treated if each.column in changed or not each.made]


def _became(each: Treated) -> str:
    return f"not at all ({each.note})" if not each.made else f"as {each.read_as}{_joined(each)}"


def _joined(each: Treated) -> str:
    return f" ({each.note})" if each.read_as == "texts" and each.note else ""
