"""Which recipe each column of a real file needs, or why the column is left out: found from its cells, or told.

    numbers      the rows read as numbers in one form, such as $1,014.39, 12.5%, 1.234,56, 6.3 km
    dates        the rows read as dates in one order of day and month
    truth        more than two spellings of yes and no, or words for nothing beside them
    left out     no value, always the same value, a value of its own for (nearly) every row
    spellings    East, EAST and east are one word; AA and Aa may be two, and stay so
    many texts   more than 256: the most frequent stay, the others are one

"The rows read" if 98 % do. What the others say is then missing. Where they say few different things, fewer rows are
enough: any ten different values beside words for nothing (-, n/a, unknown) and at most one other word, such as "never"
in a column of dates (nothing is lost: a missing value is a value of its own); half of the rows, if there are fewer
values and only words for nothing; nine of ten, beside at most eight words. In nominal columns such words are values
like all others.

A column that needs none of this stays as it is. What cannot be is collected, and told at once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from everytree.common.reading import looked
from everytree.common.text import show, show_many
from everytree.data.column import Column
from everytree.data.cuts import number_text
from everytree.data.recipes.dates import hours_of, moment_of, order_of, zones_of
from everytree.data.recipes.forms import MARKS, NumberForm, form_of
from everytree.data.recipes.recipe import (
    PARTS,
    DateRecipe,
    NumberRecipe,
    Recipe,
    SpelledRecipe,
    TimeRecipe,
    TruthRecipe,
    WordsRecipe,
    apply_recipes,
    texts_of,
)
from everytree.data.recipes.spellings import Spellings, spellings
from everytree.errors import DataError, Wording

__all__ = ["ASKED", "FALSE", "TRUE", "Recognised", "Treated", "recognised", "rows_of"]

TRUE = ("true", "t", "yes", "y", "1", "on", "ja", "j", "wahr", "oui", "vrai", "si", "sí", "sì")
FALSE = ("false", "f", "no", "n", "0", "off", "nein", "falsch", "non", "faux")
NOTHING = frozenset({
    "-", "--", "---", "–", "—", ".", "n/a", "na", "n.a.", "n. a.", "#n/a", "#null!", "<na>", "(null)", "(blank)",
    "null", "none", "nil", "nan", "nd", "missing", "unknown", "not available", "not applicable", "k.a.", "k. a.", "ka",
    "keine angabe", "unbekannt", "fehlt", "entfällt", "inconnu",
})  # fmt: skip
ASKED = {
    "number": "numbers, money or per cent",
    "date": "dates; dmy or mdy where the order of day and month is not plain",
    "time": "times of the day",
    "boolean": "yes and no",
    "nominal": "texts or codes, as they are",
    "drop": "left out",
}
SAME_AS = {"numeric": "number", "money": "number", "percent": "number", "dmy": "date", "mdy": "date", "ymd": "date",
           "text": "nominal", "category": "nominal", "truth": "boolean"}  # fmt: skip
READABLE = 0.98  # the share of the rows that must be read; the rest is then missing
HALF, FEW_WORDS, FEW_ROWS = (
    0.5,
    8,
    0.1,
)  # the least share with words for nothing; other words, and their share
SAMPLE = 400  # different texts that are looked at before all are
MANY_NUMBERS = 10  # different numbers that make a column with a few other texts one of numbers
DIGIT = re.compile(r"\d")
MANY_ROWS = 30  # an id has at least so many different values
MOST_TEXTS = 256  # values of a nominal column that classifiers take
KEPT_TEXTS, LEAST_SHARE = 100, 0.002  # of more, so many stay, each in at least this share of the rows
ROW_NUMBERS = "an id: a number of its own for every row"
ZONES = "time zones differ, hours are as written"
WORDY = 4.0  # words in a text of people, on average
IDS = re.compile(
    r"(?:^|[\W_])(?i:id|uuid|guid|key|nr|no|num|number|nummer|index|row|rowid|serial)[.:#]?$|[a-z]Id$|^id(?:[\W_]|$)|ID$"
)
HIGH = 10_000  # numbers that count the rows begin with 0, 1, or so high that they are no quantity


@dataclass(frozen=True)
class Treated:
    """What was done with a column of a file, for people.

    Attributes
    ----------
    column : str
        The column of the file.
    read_as : str
        What it is read as, such as "date (day/month/year)", or "left out".
    note : str
        What became of it, or why it is left out.
    made : tuple of str
        The columns to learn from that it became; empty where it is left out.
    plain : bool
        Whether nothing was done.
    """

    column: str
    read_as: str
    note: str = ""
    made: tuple[str, ...] = ()
    plain: bool = False


@dataclass
class Recognised:
    """The columns to learn from, the recipes that make them, what was done with each, and what cannot be."""

    columns: dict[str, Column] = field(default_factory=dict)
    recipes: list[Recipe] = field(default_factory=list)
    treated: list[Treated] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add(self, column: Column, recipe: Recipe, read_as: str, note: str = "") -> None:
        """Read a column by a recipe."""
        made, unread = apply_recipes({column.name: column}, [recipe])
        self.columns |= made
        if unread:
            cells = rows_of(texts_of(column))
            words = sorted(
                (cell for cell in cells if recipe.values(cell) is None), key=lambda cell: (-cells[cell], cell)
            )
            lost = (
                f"{show_many(words, 3)} {'is' if len(words) == 1 else 'are'} missing ({unread[0].rows} rows)"
            )
            note = f"{note}; {lost}" if note else lost
            recipe = replace(recipe, absent=tuple(words[:FEW_WORDS]))
        self.recipes.append(recipe)
        self.treated.append(Treated(column.name, read_as, note, recipe.made))

    def keep(self, column: Column, note: str = "") -> None:
        """Leave a column as it is."""
        self.columns[column.name] = column
        self.treated.append(Treated(column.name, _kind(column), note, (column.name,), plain=not note))

    def leave_out(self, column: Column, why: str) -> None:
        """Leave a column out."""
        self.treated.append(Treated(column.name, "left out", why))

    def check(self, where: str) -> None:
        """Refuse what cannot be, all of it at once."""
        if len(self.problems) == 1:
            raise DataError(Wording(f"{where}: ", self.problems[0]), code="columns")
        if self.problems:
            listed = [part for each in self.problems for part in ("\n  - ", each)]
            head = f"{where}: {len(self.problems)} things must be changed first:"
            raise DataError(Wording(head, *listed), code="columns")


def recognised(
    columns: Mapping[str, Column], asked: Mapping[str, str] | None = None, keep: Collection[str] = ()
) -> Recognised:
    """Find out what each column of a file holds; ``asked`` says it for some, ``keep`` stay as they are.

    >>> cells = np.array(["$1,014.39", "$7.50", None], dtype=object)
    >>> found = recognised({"paid": Column("paid", "nominal", cells)})
    >>> found.columns["paid"].values.tolist(), found.treated[0].read_as
    ([1014.39, 7.5, nan], 'money ($1,014.39)')
    """
    found = Recognised()
    told = dict(asked or {})
    for name in told:
        if name not in columns:
            found.problems.append(
                f"there is no column {show(name)} to read as {told[name]}; there are {show_many(list(columns))}"
            )
    for name, column in looked(columns.items()):
        word = told.get(name)
        if word is not None:
            _as_asked(found, column, word)
        elif name in keep:
            found.columns[name] = column
        else:
            _as_found(found, column, columns)
    if not found.columns and not found.problems:
        _keep_ids(found, columns)
    return found


def _keep_ids(found: Recognised, columns: Mapping[str, Column]) -> None:
    """Keep the numbers of rows where there is nothing else to learn from."""
    for place, each in enumerate(found.treated):
        if each.note == ROW_NUMBERS:
            found.columns[each.column] = columns[each.column]
            found.treated[place] = Treated(each.column, "numbers", "the only column left", (each.column,))


def rows_of(column: Column) -> dict[str, int]:
    """Return the different texts of a nominal column, and how many rows have each."""
    rows = np.bincount(column.present(), minlength=len(column.labels))
    return {label: int(n) for label, n in zip(column.labels, rows.tolist(), strict=True) if n}


def _kind(column: Column) -> str:
    return {"numeric": "numbers", "boolean": "yes or no", "nominal": "texts"}.get(column.kind, "empty")


# --- as told


def _as_asked(found: Recognised, column: Column, word: str) -> None:
    kind = SAME_AS.get(word, word)
    if kind == "drop":
        found.leave_out(column, "as asked")
    elif kind == "nominal":
        _nominal(found, texts_of(column) if column.kind == "numeric" else column, "as asked")
    elif kind not in ASKED:
        found.problems.append(
            f"column {show(column.name)} is to be read as {show(word)}; expected one of {', '.join(ASKED)}"
        )
    elif kind == "number" and column.kind == "numeric":
        found.keep(column)
    else:
        _read_as(found, column, kind, word)


def _read_as(found: Recognised, column: Column, kind: str, word: str) -> None:
    texts = texts_of(column)
    cells = rows_of(texts)
    recipe: Recipe | None = None
    if kind == "number":
        recipe = NumberRecipe(column.name, form_of(cells)[0])
    elif kind == "time":
        recipe = TimeRecipe(column.name)
    elif kind == "boolean":
        recipe = _truth(column.name, cells)
    else:
        order = word if word in ("dmy", "mdy", "ymd") else order_of(cells)[0]
        recipe = _date(column.name, cells, order, ())
    rows = sum(cells.values())
    read = 0 if recipe is None else sum(n for cell, n in cells.items() if recipe.values(cell) is not None)
    if recipe is None or read < 0.5 * rows:
        strange = next((cell for cell in cells if recipe is None or recipe.values(cell) is None), "")
        found.problems.append(
            f"column {show(column.name)} is to be read as {word}, but {rows - read} of {rows} cells are not, such as "
            f"{show(strange)}"
        )
        return
    found.add(column, recipe, _words(recipe, cells), "as asked")


# --- as found


def _as_found(found: Recognised, column: Column, columns: Mapping[str, Column]) -> None:
    if column.is_empty:
        found.leave_out(column, "no value in any row")
    elif column.kind == "numeric":
        _numbers(found, column)
    elif column.kind == "nominal":
        _texts(found, column, columns)
    elif column.mask is None and len(np.unique(column.data)) == 1:
        found.leave_out(column, f"always {'true' if column.data[0] else 'false'}")
    else:
        found.keep(column)


def _numbers(found: Recognised, column: Column) -> None:
    values = column.present()
    distinct = np.unique(values)
    if len(distinct) == 1 and column.mask is None:
        found.leave_out(column, f"always {number_text(distinct[0])}")
        return
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        found.add(column, NumberRecipe(column.name), "numbers")
        return
    whole = values.dtype.kind != "f" or bool((values == np.floor(values)).all())
    own = whole and len(distinct) == len(column) >= MANY_ROWS
    counts_rows = own and (values[0] in (0, 1) or values[0] >= HIGH) and bool((np.diff(values) == 1).all())
    if own and (counts_rows or IDS.search(column.name)):
        found.leave_out(column, ROW_NUMBERS)
    elif whole and len(distinct) >= MANY_ROWS and distinct[0] >= 16000101 and distinct[-1] <= 22001231:
        cells = rows_of(texts_of(column))
        recipe = _date(column.name, cells, "ymd", ())
        if recipe is not None and all(moment_of(cell) is not None for cell in cells):
            found.add(column, recipe, _words(recipe, cells))
        else:
            found.keep(column)
    else:
        found.keep(column)


def _texts(found: Recognised, column: Column, columns: Mapping[str, Column]) -> None:
    cells = rows_of(column)
    if column.categories is not None:
        found.keep(column)
        return
    if len(cells) == 1 and column.mask is None:
        found.leave_out(column, f"always {show(next(iter(cells)))}")
        return
    words = {cell.strip().lower() for cell in cells} - NOTHING
    if len(cells) > 2 and words <= {*TRUE, *FALSE}:
        recipe = _truth(column.name, cells)
        if recipe is not None:
            spelled = sorted(cell for cell in cells if recipe.values(cell) is not None)
            found.add(column, recipe, "yes or no", f"{show_many(spelled, 8)}")
            return
    made: Recipe | None = None
    # Every date, time and amount has a digit; asking all their forms of words took a fifth of a small fit.
    if any(DIGIT.search(cell) for cell in cells):
        made = (
            _moments(column.name, cells, columns)
            or _clock(column.name, cells)
            or _amounts(column.name, cells)
        )
    if isinstance(made, NumberRecipe) and len(cells) == len(column) >= MANY_ROWS and IDS.search(column.name):
        found.leave_out(column, f"ids: {len(cells)} different in {len(column)} rows")
        return
    if made is not None:
        note = ""
        if isinstance(made, DateRecipe):
            order, unsure = order_of(cells)
            if unsure:
                other = "mdy" if order == "dmy" else "dmy"
                note = f"or is the {'month' if order == 'dmy' else 'day'} first? Then read it as {other}"
            if "hour" in made.parts and len(zones_of(cells)) > 1:
                note = f"{note}; {ZONES}" if note else ZONES
        found.add(column, made, _words(made, cells), note)
        return
    _nominal(found, column)


def _nominal(found: Recognised, column: Column, note: str = "") -> None:
    cells = rows_of(column)
    rows = sum(cells.values())
    told = note != ""
    spelled = (
        Spellings({}, [], []) if told else spellings(cells)
    )  # who names them codes wants them as they are
    if spelled.joined and _join_spellings(found, column, cells, spelled):
        return
    if not told and len(cells) > max(MANY_ROWS, rows / 2):
        found.leave_out(column, _own_texts(cells, rows))
        return
    if len(cells) <= MOST_TEXTS:
        found.keep(column, note or spelled.note)
        return
    order = sorted(cells, key=lambda cell: (-cells[cell], cell))
    kept = [cell for cell in order[:KEPT_TEXTS] if told or cells[cell] >= LEAST_SHARE * rows]
    if not kept:
        found.leave_out(column, f"{len(cells)} different texts, none of them frequent")
        return
    words = f"{len(cells)} different: the {len(kept)} most frequent, the others as one"
    found.add(column, WordsRecipe(column.name, tuple(kept)), "texts", f"{note}; {words}" if note else words)


def _join_spellings(found: Recognised, column: Column, cells: Mapping[str, int], spelled: Spellings) -> bool:
    """Join spellings of one word, where few enough words are left to learn from."""
    words = {spelled.same.get(cell.strip().lower(), cell) for cell in cells}
    if len(words) == 1 and column.mask is None:
        found.leave_out(column, f"always {show(next(iter(words)))}; {spelled.note}")
        return True
    if len(words) > min(MOST_TEXTS, max(MANY_ROWS, sum(cells.values()) / 2)):
        return False
    found.add(column, SpelledRecipe(column.name, tuple(sorted(spelled.same.items()))), "texts", spelled.note)
    return True


def _own_texts(cells: Mapping[str, int], rows: int) -> str:
    some = [cell for _, cell in zip(range(SAMPLE), cells, strict=False)]
    if sum("@" in cell and " " not in cell for cell in some) > 0.9 * len(some):
        return f"e-mail addresses: {len(cells)} different"
    if np.mean([len(cell.split()) for cell in some]) >= WORDY:
        return f"free text: {len(cells)} different"
    return f"ids or names: {len(cells)} different in {rows} rows"


def _mostly(cells: Mapping[str, int], reads: Any) -> bool:
    """Return whether enough rows can be read; a few texts are looked at first."""
    some = [cell for cell, _ in zip(_telling_cells(cells), range(SAMPLE), strict=False)]
    if sum(reads(cell) is not None for cell in some) < 0.8 * len(some):
        return False
    return _enough(cells, {cell: value for cell in cells if (value := reads(cell)) is not None}, 2)


def _telling_cells(cells: Mapping[str, int]) -> list[str]:
    return [cell for cell in cells if cell.strip().lower() not in NOTHING]


def _enough(cells: Mapping[str, int], read: Mapping[str, Any], least: int) -> bool:
    """Return whether the cells that were read make out the column, by the rule at the top.

    Beside other words than those for nothing, ``least`` different values make a column of the kind.
    """
    rows, lost = sum(cells.values()), sum(n for cell, n in cells.items() if cell not in read)
    if not lost:
        return True
    distinct = len({*read.values()})
    others = {cell.strip().lower() for cell in cells if cell not in read} - NOTHING
    if distinct >= MANY_NUMBERS and len(others) <= 1:
        return True
    if not others:
        return distinct > 1 and lost <= rows / 2
    if distinct < least:
        return False
    return lost <= (1 - READABLE) * rows or (len(others) <= FEW_WORDS and lost <= FEW_ROWS * rows)


def _truth(name: str, cells: Mapping[str, int]) -> TruthRecipe | None:
    yes = tuple(sorted({cell.strip().lower() for cell in cells} & {*TRUE}))
    no = tuple(sorted({cell.strip().lower() for cell in cells} & {*FALSE}))
    return TruthRecipe(name, yes, no) if yes and no else None


def _moments(name: str, cells: Mapping[str, int], columns: Mapping[str, Column]) -> DateRecipe | None:
    order, _ = order_of(cells)
    if not _mostly(cells, lambda cell: moment_of(cell, order)):
        return None
    return _date(name, cells, order, columns)


def _date(name: str, cells: Mapping[str, int], order: str, columns: Collection[str]) -> DateRecipe | None:
    """Make the recipe of a column of dates: the parts that differ, the age from the newest."""
    days = [moment.day for cell in cells if (moment := moment_of(cell, order)) is not None]
    if not days:
        return None
    whole = DateRecipe(name, order, max(days), PARTS)
    values = [each for cell in cells if (each := whole.values(cell)) is not None]
    differ = [
        part
        for place, part in enumerate(PARTS)
        if len({each[place] for each in values} - {None}) > 1 and f"{name} {part}" not in columns
    ]
    return DateRecipe(name, order, max(days), tuple(differ)) if differ else None


def _clock(name: str, cells: Mapping[str, int]) -> TimeRecipe | None:
    return TimeRecipe(name) if _mostly(cells, hours_of) else None


def _amounts(name: str, cells: Mapping[str, int]) -> NumberRecipe | None:
    telling = _telling_cells(cells)
    some = {cell: cells[cell] for cell in telling[:SAMPLE]}
    form, rows = form_of(some)
    if not some or rows < 0.8 * sum(some.values()):
        # one word may have many rows: "never" beside amounts
        some = dict.fromkeys(some, 1)
        form, rows = form_of(some)
        if rows < 0.8 * len(some):
            return None
    if any(form.number(cell) is None for cell in telling):
        form, _ = form_of({cell: cells[cell] for cell in telling})  # some marks are only in the other cells
    read = {cell: value for cell in cells if (value := form.number(cell)) is not None}
    return NumberRecipe(name, form) if _enough(cells, read, MANY_NUMBERS) else None


# --- words


def _words(recipe: Recipe, cells: Mapping[str, int]) -> str:
    example = next((cell for cell in cells if recipe.values(cell) is not None), "")
    if isinstance(recipe, DateRecipe):
        orders = {"dmy": "day/month/year", "mdy": "month/day/year", "ymd": example}
        return f"date ({orders[recipe.order]})"
    if isinstance(recipe, NumberRecipe):
        marked = max(cells, key=lambda cell: (recipe.values(cell) is not None, _telling(cell)))
        return f"{_sort(recipe.form)} ({marked})"
    return "time" if isinstance(recipe, TimeRecipe) else "yes or no"


def _telling(cell: str) -> int:
    """Return how many marks a number has, to show one that has all."""
    return len(set(cell) - set("0123456789"))


def _sort(form: NumberForm) -> str:
    if "%" in form.marks:
        return "per cent"
    return "money" if any(mark in MARKS for mark in form.marks) else "numbers"
