"""The checker's own recipes: the cells of a file as the columns that a model was trained on, with the standard library.

    number   marks of money, per cent and units, thousands, decimal marks →  a number
    truth    spellings of yes and no                                      →  true or false
    date     year, month, weekday, hour, age in days before the newest    →  a column each
    time     hours since midnight
    words    texts that are kept; the others are "(other)"
    same     spellings of one class
    spelled  spellings of one word; other texts stay
    cut      between which cuts a number lies

A cell that cannot be read is missing. docs/any_file.md describes the forms; this file shares no code with their reader.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Collection
from typing import Any

from everytree.verify.csv_file import CsvTable
from everytree.verify.examples import NUMBER, WORDS, Cells
from everytree.verify.facts import FALSE, NOTED, TRUE, UNCHECKED, Fact
from everytree.verify.model import Model
from everytree.verify.problem import InputError, is_number, quote

__all__ = ["by_recipes", "truth_facts"]

Made = tuple[str, ...] | None  # what a cell becomes, a text for each column; None: it cannot be read
Reader = Callable[[str], Made]

NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
MONTHS = {name[:size]: k for k, name in enumerate(NAMES, 1) for size in (3, len(name))} | {
    "sept": 9, "januar": 1, "jänner": 1, "februar": 2, "mär": 3, "märz": 3, "maerz": 3, "mrz": 3, "mai": 5, "juni": 6,
    "juli": 7, "okt": 10, "oktober": 10, "dez": 12, "dezember": 12,
}  # fmt: skip
WEEKDAY = re.compile(
    r"^(?:(?:mon|tue|tues|wed|wednes|thu|thurs|fri|sat|satur|sun)(?:day)?)\.?,?\s+", re.IGNORECASE
)
TIMED = re.compile(
    r"(.*?)(?:T|,?\s+)(\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:[AaPp]\.?[Mm]\.?)?)\s*"
    r"(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})?",
    re.ASCII,
)
DAY_FORMS = (
    (r"(\d{4})-(\d{1,2})-(\d{1,2})", "year month day"),
    (r"(\d{4})/(\d{1,2})/(\d{1,2})", "year month day"),
    (r"(\d{4})\.(\d{1,2})\.(\d{1,2})", "year month day"),
    (r"(\d{4})(\d{2})(\d{2})", "year month day"),
    (r"(\d{4})[-/](\d{1,2})", "year month"),
    (r"(\d{1,2})(?:st|nd|rd|th)?[ \-/.]*([A-Za-zÄä]{3,9})\.?[ ,\-/.]*(\d{4}|\d{2})", "day month year"),
    (
        r"([A-Za-zÄä]{3,9})\.?[ \-/.]*(\d{1,2})(?:st|nd|rd|th)?(?:[ \-/.]+|,\s*)(\d{4}|\d{2})",
        "month day year",
    ),
    (r"([A-Za-zÄä]{3,9})\.?[ \-/.]+(\d{4})", "month year"),
)
FORM = ("decimal", "thousands", "marks")
FIELDS = {
    "number": FORM, "truth": ("yes", "no"), "date": ("order", "newest", "parts"), "time": (), "words": ("keep",),
    "same": ("same",), "spelled": ("same",), "cut": (*FORM, "cuts"),
}  # fmt: skip
ALL = {"column", "as", "absent"}  # what was unreadable in training is "absent": it changes no cell
LONGEST = 300  # what is shown of a recipe
PARTS = ("year", "month", "weekday", "hour", "age in days")


def by_recipes(
    table: CsvTable, recipes: Any, missing: Collection[str], decimal: str = "."
) -> tuple[CsvTable, list[Fact]]:
    """Return the table with the columns that recipes make, and what was found of the claims of recipes."""
    if not isinstance(recipes, list):
        raise InputError(f"recipes is {quote(recipes)}; expected a list")
    columns: dict[str, list[str]] = dict(table.columns)
    facts: list[Fact] = []
    made: dict[str, list[str]] = {}
    for k, recipe in enumerate(recipes):
        at = f"recipes[{k}]"
        if not isinstance(recipe, dict) or not isinstance(recipe.get("column"), str):
            raise InputError(f"{at} is {quote(recipe)}; expected an object with column and as")
        name = recipe["column"]
        if name not in columns:
            raise InputError(
                f"{table.file}: no column {quote(name)}, which the model needs; the file has "
                f"{', '.join(map(quote, table.names[:8]))}"
            )
        cells = columns.pop(name)
        table.exact.pop(name, None)  # what a recipe makes has no blanks
        table.unlabelled.pop(name, None)
        names, read = _reader(recipe, at)
        known: dict[str, Made] = {}
        for cell in set(cells):
            known[cell] = None if cell in missing else read(cell)
        for place, each in enumerate(names):
            values = [None if (found := known[cell]) is None else found[place] for cell in cells]
            made[each] = ["" if value is None else _in(value, decimal) for value in values]
        facts += _words_facts(recipe, name, cells)
        if recipe["as"] == "date":
            facts.append(_newest(recipe, at, known))
    columns |= made
    return CsvTable(table.file, tuple(columns), columns, table.lines, table.exact, table.unlabelled), facts


def _words_facts(recipe: dict[str, Any], name: str, cells: list[str]) -> list[Fact]:
    """Show how a column is read, and say so where it has words for texts that no row has: a new row may have them."""
    rest = {key: value for key, value in recipe.items() if key != "column"}
    facts = [Fact(f"reading of {name}", quote(rest, LONGEST), None, NOTED, "informational: it was asked for")]
    held = {*cells, *(cell.strip().lower() for cell in cells)}
    words = [word for field in ("yes", "no", "keep", "same") for word in recipe.get(field, ())]
    lacking = [word for word in words if word not in held]
    if lacking:
        note = f"no row has the text {quote(lacking[0])}, so that nothing tells what it stands for"
        facts.append(
            Fact(f"words of {name}", len(words), len(words) - len(lacking), UNCHECKED, note, predicts=True)
        )
    return facts


def truth_facts(model: Model, table: CsvTable, cells: Cells, missing: Collection[str]) -> list[Fact]:
    """Show which words say yes and no in columns without a recipe: rows with some of the words tell no more."""
    facts = []
    for column, source in zip(model.columns, cells.sources, strict=True):
        truths = column.kind == "binary" or any(isinstance(value, bool) for value in column.values)
        if truths and any(
            cell not in missing and not NUMBER.fullmatch(cell) for cell in set(table.columns[source])
        ):
            told = {
                "yes": [w for w, held in WORDS.items() if held],
                "no": [w for w, held in WORDS.items() if not held],
            }
            note = "informational: there is no recipe for it, so that these words are read"
            facts.append(Fact(f"reading of {source}", quote(told, LONGEST), None, NOTED, note))
    return facts


def _in(value: str, decimal: str) -> str:
    """Return a number with the decimal mark that the rest of the file has."""
    return (
        value.replace(".", decimal)
        if decimal != "." and value.replace(".", "", 1).lstrip("-").isdigit()
        else value
    )


def _newest(recipe: dict[str, Any], at: str, known: dict[str, Made]) -> Fact:
    """Check that ages count from the newest date of the data."""
    parts = recipe["parts"]
    claimed = recipe["newest"]
    if "age in days" not in parts:
        return Fact(f"newest {recipe['column']}", claimed, claimed, TRUE, "no age is used")
    place = parts.index("age in days")
    ages = [int(cells[place]) for cells in known.values() if cells is not None]
    if not ages:
        raise InputError(f"{at}: no cell of {quote(recipe['column'])} can be read as a date")
    newest = _date(claimed, at) - datetime.timedelta(days=min(ages))
    verdict = TRUE if min(ages) == 0 else FALSE
    return Fact(
        f"newest {recipe['column']}",
        claimed,
        newest.isoformat(),
        verdict,
        "ages count from it",
        predicts=True,
    )


def _reader(recipe: dict[str, Any], at: str) -> tuple[tuple[str, ...], Reader]:
    """Return the names of the columns that a recipe makes, and what reads a cell."""
    name, kind = recipe["column"], recipe.get("as")
    if not isinstance(kind, str) or kind not in FIELDS:
        raise InputError(f"{at}.as is {quote(kind)}; expected {', '.join(FIELDS)}")
    odd = sorted(set(recipe) - ALL - set(FIELDS[kind]))
    if odd:
        raise InputError(f"{at} has the field {quote(odd[0])}, which none has that reads a column as {kind}")
    if kind in ("number", "cut"):
        number = _number_reader(recipe, at)
        if kind == "number":
            return (name,), lambda cell: None if (x := number(cell)) is None else (repr(x),)
        return (name,), _cut_reader(recipe, at, number)
    if kind == "truth":
        yes, no = (set(_texts(recipe, field, at)) for field in ("yes", "no"))
        yes.add("true")
        no.add("false")

        def truth(cell: str) -> Made:
            word = cell.strip().lower()
            return ("true",) if word in yes else ("false",) if word in no else None

        return (name,), truth
    if kind == "time":
        return (name,), lambda cell: None if (hours := _clock(cell.strip())) is None else (repr(hours),)
    if kind == "words":
        keep = set(_texts(recipe, "keep", at))
        return (name,), lambda cell: (cell if cell in keep else "(other)",)
    if kind in ("same", "spelled"):
        same = recipe.get("same")
        if not isinstance(same, dict) or not all(isinstance(value, str) for value in same.values()):
            raise InputError(f"{at}.same is {quote(same)}; expected an object from spellings to texts")
        if kind == "spelled":
            return (name,), lambda cell: (same.get(cell.strip().lower(), cell.strip()),)
        return (name,), lambda cell: (same[cell.strip().lower()],) if cell.strip().lower() in same else None
    return _dates(recipe, at)


def _texts(recipe: dict[str, Any], field: str, at: str) -> list[str]:
    value = recipe.get(field)
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise InputError(f"{at}.{field} is {quote(value)}; expected a list of texts")
    return value


# --- numbers


def _number_reader(recipe: dict[str, Any], at: str) -> Callable[[str], float | None]:
    decimal, thousands = recipe.get("decimal"), recipe.get("thousands")
    marks = sorted(_texts(recipe, "marks", at), key=len, reverse=True)
    if decimal not in (".", ",") or thousands not in ("", ",", ".", " ", "'") or decimal == thousands:
        raise InputError(
            f"{at} has the marks {quote(decimal)} and {quote(thousands)}; expected different ones"
        )

    def number(cell: str) -> float | None:
        text = cell
        for blank in "\u00a0\u2009\u202f\u2007":
            text = text.replace(blank, " ")
        text = text.replace("\u2212", "-").replace("\u2019", "'").strip()
        text, signs = _without_outer(text, marks), 0
        if text.startswith("(") and text.endswith(")"):
            text, signs = text[1:-1].lstrip(), 1
        before = text[:1]
        if before and before in "+-":
            text, signs = text[1:].lstrip(), signs + (before == "-")
        for mark in marks:
            if text.startswith(mark):
                text = text[len(mark) :].lstrip()
                break
        inner = text[:1]
        if inner and inner in "+-":
            if before and before in "+-":
                return None
            text, signs = text[1:], signs + (inner == "-")
        for mark in marks:
            if text.endswith(mark):
                text = text[: -len(mark)].rstrip()
                break
        if text.endswith("-") and text[-2:-1] != " ":
            if (before and before in "+-") or (inner and inner in "+-"):
                return None
            text, signs = text[:-1], signs + 1
        value = _plain(text, decimal, thousands)
        return None if value is None else -value if signs % 2 else value

    return number


def _without_outer(text: str, marks: list[str]) -> str:
    """Return a text without marks around its parentheses: $(28,000) and (14,39) EUR."""
    inner = text
    for mark in marks:
        if inner.startswith(mark):
            inner = inner[len(mark) :].lstrip()
            break
    for mark in marks:
        if inner.endswith(mark):
            inner = inner[: -len(mark)].rstrip()
            break
    return inner if inner.startswith("(") and inner.endswith(")") else text


def _plain(text: str, decimal: str, thousands: str) -> float | None:
    """Read digits, perhaps in groups, a fraction and a power."""
    head, sign, power = text.replace("E", "e").partition("e")
    if sign and not (
        power.lstrip("+-").isdigit() and power.isascii() and len(power) - len(power.lstrip("+-")) <= 1
    ):
        return None
    whole, _mark, fraction = head.partition(decimal)
    if fraction and not (fraction.isdigit() and fraction.isascii()):
        return None
    if thousands and thousands in whole:
        groups = whole.split(thousands)
        if not 1 <= len(groups[0]) <= 3 or any(len(group) != 3 for group in groups[1:]):
            return None
        whole = "".join(groups)
    if not whole and not fraction:
        return None
    if whole and not (whole.isdigit() and whole.isascii()):
        return None
    value = float(f"{whole or '0'}.{fraction or '0'}{'e' + power if sign else ''}")
    return None if value == float("inf") else value


def _cut_reader(recipe: dict[str, Any], at: str, number: Callable[[str], float | None]) -> Reader:
    cuts = recipe.get("cuts")
    if (
        not isinstance(cuts, list)
        or not cuts
        or not all(is_number(cut) for cut in cuts)
        or cuts != sorted(set(cuts))
    ):
        raise InputError(f"{at}.cuts is {quote(cuts)}; expected numbers, ascending")
    texts = [
        str(int(cut)) if float(cut).is_integer() and abs(cut) < 1e16 else repr(float(cut)) for cut in cuts
    ]

    def label(cell: str) -> Made:
        value = number(cell)
        if value is None:
            return None
        above = sum(value > cut for cut in cuts)
        if above == 0:
            return (f"<= {texts[0]}",)
        return (f"> {texts[-1]}",) if above == len(cuts) else (f"{texts[above - 1]} to {texts[above]}",)

    return label


# --- dates


def _date(text: Any, at: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(text)
    except (TypeError, ValueError) as error:
        raise InputError(f"{at}.newest is {quote(text)}; expected a date such as 2024-06-30") from error


def _dates(recipe: dict[str, Any], at: str) -> tuple[tuple[str, ...], Reader]:
    order, parts, newest = recipe.get("order"), _texts(recipe, "parts", at), _date(recipe.get("newest"), at)
    if order not in ("dmy", "mdy", "ymd") or not parts or set(parts) - set(PARTS):
        raise InputError(
            f"{at} has the order {quote(order)} and the parts {quote(parts)}; expected those of a date"
        )

    def read(cell: str) -> Made:
        moment = _moment(cell.strip(), order)
        if moment is None:
            return None
        day, hours = moment
        found = {
            "year": str(day.year), "month": str(day.month), "weekday": str(day.weekday() + 1),
            "hour": "" if hours is None else repr(hours), "age in days": str((newest - day).days),
        }  # fmt: skip
        return tuple(found[part] for part in parts)

    return tuple(f"{recipe['column']} {part}" for part in parts), read


def _moment(text: str, order: str) -> tuple[datetime.date, float | None] | None:
    """Part a cell into a date and a time, each read by itself."""
    text = WEEKDAY.sub("", text)
    timed = TIMED.fullmatch(text)
    day = _day(timed[1] if timed else text, order)
    if day is None or not 1600 <= day.year <= 2200:
        return None
    if timed is None:
        return day, None
    hours = _clock(timed[2].strip())
    return None if hours is None else (day, hours)


def _clock(text: str) -> float | None:
    half = ""
    for mark in ("a.m.", "p.m.", "a.m", "p.m", "am.", "pm.", "am", "pm"):
        if text.lower().endswith(mark):
            half, text = mark[0], text[: -len(mark)].rstrip()
            break
    numbers = text.split(":")
    if len(numbers) not in (2, 3):
        return None
    if len(numbers) == 3:
        seconds = numbers[2].replace(",", ".").split(".")
        if len(seconds) > 2 or (len(seconds) == 2 and not seconds[1].isdigit()):
            return None
        numbers[2] = seconds[0]
    if not all(each.isdigit() and each.isascii() for each in numbers) or any(
        len(each) != 2 for each in numbers[1:]
    ):
        return None
    if not 1 <= len(numbers[0]) <= 2:
        return None
    hour, minute, second = (*map(int, numbers), 0)[:3]
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    return (hour * 3600 + minute * 60 + second) / 3600


def _day(text: str, order: str) -> datetime.date | None:
    """Read a date without a time."""
    for form, names in DAY_FORMS:
        match = re.fullmatch(form, text, re.ASCII)
        if match is None:
            continue
        found = dict(zip(names.split(), match.groups(), strict=True))
        month = found["month"].lower()
        if month.isdigit():
            return _made(found["year"], int(month), int(found.get("day", "1")))
        if month in MONTHS:
            return _made(found["year"], MONTHS[month], int(found.get("day", "1")))
    match = re.fullmatch(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})", text, re.ASCII)
    if match is None or order == "ymd":
        return None
    first, second = int(match[1]), int(match[3])
    return _made(match[4], second, first) if order == "dmy" else _made(match[4], first, second)


def _made(year: str, month: int, day: int) -> datetime.date | None:
    full = int(year) + ((2000 if int(year) < 69 else 1900) if len(year) == 2 else 0)
    try:
        return datetime.date(full, month, day)
    except ValueError:
        return None
