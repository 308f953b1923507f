"""Numbers as people write them: with marks of money or per cent, thousands in groups, a decimal comma.

    cell     = amount, or [ mark ] "(" amount ")" [ mark ]
    amount   = [ sign ] [ mark ] [ sign ] digits [ decimal digits ] [ exponent ] [ "-" ] [ mark ]
    digits   = whole digits, or groups of three with the thousands mark between them

Parentheses mean minus, as accountants write it, and so does a minus behind, as their programs do: $(28,000), 14,39- €.
A percentage stays in per cent: 12.5% is 12.5. A mark is one of money or per cent, or the one unit that stands behind
the numbers of the column: 6.3 km, 137.9 m², and 1 day beside 2 days.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from everytree.common.reading import looked

__all__ = ["MARKS", "NumberForm", "form_of", "is_unit"]

MARKS = (
    "%", "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₫", "₴", "₪", "฿", "US$", "A$", "C$", "USD", "EUR", "GBP", "CHF",
    "JPY", "CNY", "INR", "SEK", "NOK", "DKK", "PLN", "CZK", "kr", "zł",
)  # fmt: skip
UNIT = r"(?:[^\W\d_]|[°µ²³·/\"'])+\.?"
BEHIND = re.compile(rf"[0-9.,]-?\)?\s*(?P<unit>{UNIT})\)?\Z")
LONGEST_UNIT = 12
MOSTLY = 0.8  # of the cells with a digit, the share that the unit of a column must have
ENDINGS = ("s", "e", "n", "en", "es")  # of a plural
BLANKS = str.maketrans(dict.fromkeys("\u00a0\u2009\u202f\u2007", " ") | {"\u2212": "-", "\u2019": "'"})
# Decimal mark and thousands mark, the likelier before the others: of forms that read as many cells the first is taken.
FORMS = ((".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))


@dataclass(frozen=True)
class NumberForm:
    """How the numbers of a column are written.

    >>> NumberForm(".", ",", ("$",)).number("-$1,014.39"), NumberForm(",", ".").number("1.234,56")
    (-1014.39, 1234.56)
    >>> NumberForm(".", "", ("%",)).number("12.5 %"), NumberForm().number("12 apples")
    (12.5, None)
    >>> form = NumberForm(".", ",", ("$", "EUR"))
    >>> form.number("$(28,000)"), form.number("(14.39) EUR"), form.number("14.39- EUR"), form.number("-5-")
    (-28000.0, -14.39, -14.39, None)
    """

    decimal: str = "."
    thousands: str = ""
    marks: tuple[str, ...] = ()

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        marks = "|".join(re.escape(mark) for mark in sorted(self.marks, key=len, reverse=True))
        mark = f"(?:(?:{marks})\\s*)?" if marks else ""
        after = f"(?:\\s*(?:{marks}))?" if marks else ""
        whole = "[0-9]+"
        if self.thousands:
            whole = f"(?:[0-9]{{1,3}}(?:{re.escape(self.thousands)}[0-9]{{3}})+|[0-9]+)"
        fraction = f"{re.escape(self.decimal)}[0-9]*"
        number = (
            f"(?P<digits>{whole}(?:{fraction})?|{re.escape(self.decimal)}[0-9]+)(?P<power>[eE][+-]?[0-9]+)?"
        )
        return re.compile(
            f"(?P<open>{mark}\\()?(?P<sign>[+-])?\\s*{mark}(?P<inner>[+-])?{number}(?P<last>-)?{after}"
            f"(?(open)\\){after})\\Z"
        )

    def number(self, cell: str) -> float | None:
        """Return the number that a cell says, or None if it says none; infinity is none."""
        match = self._pattern.match(cell.translate(BLANKS).strip())
        if match is None or sum(match[name] is not None for name in ("sign", "inner", "last")) > 1:
            return None
        digits = match["digits"]
        if self.thousands:
            digits = digits.replace(self.thousands, "")
        value = float(digits.replace(self.decimal, ".") + (match["power"] or ""))
        if value in (float("inf"), float("-inf")):
            return None
        minus = sum(match[name] == "-" for name in ("sign", "inner", "last")) + (match["open"] is not None)
        return -value if minus % 2 else value


def form_of(cells: Mapping[str, int]) -> tuple[NumberForm, int]:
    """Find the form that reads the most rows; ``cells`` are different texts, and how many rows have each.

    >>> form_of({"1.234,5": 1, "12": 2, "unknown": 1})
    (NumberForm(decimal=',', thousands='.', marks=()), 3)
    >>> form_of({"$1,014.39": 1, "$7": 1})[0]
    NumberForm(decimal='.', thousands=',', marks=('$',))
    >>> form_of({"1,5 km": 1, "12 km": 1, "5 m": 1})
    (NumberForm(decimal='.', thousands='', marks=()), 0)
    """
    marks = tuple(mark for mark in MARKS if any(mark in cell for cell in cells))
    marks += tuple(unit for unit in _units(cells) if unit not in marks)
    best, most = NumberForm(), 0
    for decimal, thousands in looked(FORMS):
        form = NumberForm(decimal, thousands, marks)
        rows = sum(count for cell, count in cells.items() if form.number(cell) is not None)
        if rows > most:
            best, most = form, rows
    return _used(best, [cell for cell in cells if best.number(cell) is not None]), most


def is_unit(text: str) -> bool:
    """Return whether a text can be a unit: letters and signs such as ° and ², no digits.

    >>> is_unit("m²"), is_unit("kWh/a"), is_unit("m2"), is_unit("")
    (True, True, False, False)
    """
    return len(text) <= LONGEST_UNIT and re.fullmatch(UNIT, text) is not None


def _units(cells: Mapping[str, int]) -> tuple[str, ...]:
    """Return the one unit behind nearly all numbers, and its singular or plural; none where there are several."""
    rows: dict[str, int] = {}
    numbers = 0
    for cell, count in cells.items():
        numbers += count * any(map(str.isdigit, cell))
        match = BEHIND.search(cell.translate(BLANKS).strip())
        if match is not None and len(match["unit"]) <= LONGEST_UNIT:
            rows[match["unit"]] = rows.get(match["unit"], 0) + count
    if not rows:
        return ()
    unit = max(rows, key=lambda each: (rows[each], each))
    # Of short units a letter more is another unit: m and mm. A plural has a stem of three letters or more.
    same = [each for each in rows if each == unit or _plural(each, unit) or _plural(unit, each)]
    return tuple(sorted(same)) if sum(rows[each] for each in same) >= MOSTLY * numbers else ()


def _plural(one: str, many: str) -> bool:
    return len(one) >= 3 and many in {one + ending for ending in ENDINGS}


def _used(form: NumberForm, cells: list[str]) -> NumberForm:
    """Return the form without the marks that no cell has."""
    told = [cell.translate(BLANKS) for cell in cells]
    marks = [mark for mark in form.marks if any(mark in cell for cell in told)]
    for mark in sorted(
        marks, key=len
    ):  # a mark inside of a longer one, such as $ in US$, is one only if needed
        rest = NumberForm(form.decimal, form.thousands, tuple(m for m in marks if m != mark))
        if all(rest.number(cell) is not None for cell in cells):
            marks.remove(mark)
    plain = NumberForm(form.decimal, "", tuple(marks))
    grouped = any(plain.number(cell) is None for cell in cells)
    decimal = form.decimal
    if not grouped and decimal == "," and not any("," in cell for cell in told):
        decimal = "."
    return NumberForm(decimal, form.thousands if grouped else "", tuple(marks))
