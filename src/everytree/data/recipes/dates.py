"""Dates and times as people write them: one strict reader, no guesses cell by cell.

    2024-03-05  2024/3/5  20240305  2024-03           year, month, day
    05/03/2024  5.3.24  05-03-2024                    day and month in the ``order`` of the column
    5 Mar 2024  05-Mar-24  March 5, 2024  Mar 2024    months in English or German
    … 14:35  …T14:35:10Z  … 2:35 pm                   with a time; a zone is read past, times are as written

Two digits of a year mean 1969 to 2068. A moment is its day (1 January of year 1 is day 1) and the hours since midnight.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

__all__ = ["ORDERS", "Moment", "hours_of", "moment_of", "order_of", "zones_of"]

ORDERS = ("dmy", "mdy", "ymd")
MONTHS = {
    name: place
    for place, names in enumerate(
        (
            "jan january januar jänner", "feb february februar", "mar march mär märz maerz mrz", "apr april", "may mai",
            "jun june juni", "jul july juli", "aug august", "sep sept september", "oct october okt oktober",
            "nov november", "dec december dez dezember",
        ),
        1,
    )
    for name in names.split()
}  # fmt: skip
_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d+)?)?\s*(?P<half>[AaPp]\.?[Mm]\.?)?"
)
_ZONE = re.compile(r":\d{2}(?:[.,]\d+)?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2})\Z")
_TIME = rf"(?:(?:T|,?\s+){_CLOCK}\s*(?:Z|UTC|GMT|[+-]\d{{2}}:?\d{{2}})?)?\Z"
_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
_NAME = r"(?P<name>[A-Za-zÄä]{3,9})\.?"
_YEAR = r"(?P<y>\d{4}|\d{2})"
_FORMS = [
    re.compile(form + _TIME, re.ASCII)
    for form in (
        r"(?P<y>\d{4})([-/.])(?P<m>\d{1,2})\2(?P<d>\d{1,2})",
        r"(?P<y>\d{4})(?P<m>\d{2})(?P<d>\d{2})",
        r"(?P<y>\d{4})[-/](?P<m>\d{1,2})",
        rf"{_DAY}[ \-/.]*{_NAME}[ ,\-/.]*{_YEAR}",
        rf"{_NAME}[ \-/.]*{_DAY}(?:[ \-/.]+|,\s*){_YEAR}",
        rf"{_NAME}[ \-/.]+(?P<y>\d{{4}})",
    )
]
_NUMBERS = re.compile(rf"(?P<a>\d{{1,2}})([-/.])(?P<b>\d{{1,2}})\2{_YEAR}{_TIME}", re.ASCII)
_WEEKDAY = re.compile(
    r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,?\s+", re.IGNORECASE
)
_ONLY_CLOCK = re.compile(_CLOCK + r"\Z", re.ASCII)
EARLIEST, LATEST = 1600, 2200  # years


class Moment(NamedTuple):
    """A day, and the hours since its midnight; None where the cell has no time."""

    day: int
    hours: float | None


@lru_cache(maxsize=1 << 16)  # a column is looked at several times
def moment_of(cell: str, order: str = "ymd") -> Moment | None:
    """Return the moment that a cell says; None if it says none, or one that does not exist.

    >>> moment_of("2024-03-05"), moment_of("5 Mar 2024").day == moment_of("05/03/2024", "dmy").day
    (Moment(day=738950, hours=None), True)
    >>> moment_of("03/05/24 2:30 pm", "mdy").hours, moment_of("30 Feb 2024"), moment_of("12.5")
    (14.5, None, None)
    """
    text = cell.strip()
    weekday = _WEEKDAY.match(text)
    if weekday is not None:
        text = text[weekday.end() :]
    for form in _FORMS:
        match = form.match(text)
        if match is None:
            continue
        found = match.groupdict()
        month = MONTHS.get(found["name"].lower()) if "name" in found else int(found["m"])
        if month is not None:
            return _moment(found, int(found["y"]), month, int(found.get("d") or 1))
    match = _NUMBERS.match(text)
    if match is None or order == "ymd":
        return None
    first, second = int(match["a"]), int(match["b"])
    day, month = (first, second) if order == "dmy" else (second, first)
    return _moment(match.groupdict(), int(match["y"]), month, day)


def _moment(found: Mapping[str, str | None], year: int, month: int, day: int) -> Moment | None:
    if len(found["y"] or "") == 2:
        year += 2000 if year < 69 else 1900
    try:
        ordinal = datetime.date(year, month, day).toordinal()
    except ValueError:
        return None
    if not EARLIEST <= year <= LATEST:
        return None
    if found["hour"] is None:
        return Moment(ordinal, None)
    hours = _hours(found)
    return None if hours is None else Moment(ordinal, hours)


def _hours(found: Mapping[str, str | None]) -> float | None:
    hour, minute, second = (int(found[name] or 0) for name in ("hour", "minute", "second"))
    if found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found["half"][0] in "pP" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    return (hour * 3600 + minute * 60 + second) / 3600


def hours_of(cell: str) -> float | None:
    """Return the hours since midnight that a time without a date says.

    >>> hours_of("14:30"), hours_of("2:30 pm"), hours_of("25:00")
    (14.5, 14.5, None)
    """
    match = _ONLY_CLOCK.match(cell.strip())
    return None if match is None else _hours(match.groupdict())


def zones_of(cells: Iterable[str]) -> set[str]:
    """Return the time zones that stand behind the times of the cells.

    >>> sorted(zones_of(["2024-03-05T14:30:00Z", "2024-03-05 14:30 UTC", "2024-03-05 14:30+0200", "2024-03-05"]))
    ['+02:00', 'UTC']
    """
    found = {match[1] for cell in cells if (match := _ZONE.search(cell.strip())) is not None}
    zero = {"Z", "GMT", "+0000", "-0000"}
    plain = {zone.replace(":", "") for zone in found}
    return {"UTC" if each in zero | {"UTC"} else f"{each[:3]}:{each[3:]}" for each in plain}


def order_of(cells: Iterable[str]) -> tuple[str, bool]:
    """Return the order of day, month and year that fits the cells, and whether another would fit as well.

    Where both fit, a stroke means month first and a dot or a hyphen day first.

    >>> order_of(["03/25/2024", "01/02/2024"]), order_of(["1.2.2024"]), order_of(["2024-03-05"])
    (('mdy', False), ('dmy', True), ('ymd', False))
    """
    first = second = 0
    stroke = False
    for cell in cells:
        match = _NUMBERS.match(cell.strip())
        if match is not None:
            first, second = max(first, int(match["a"])), max(second, int(match["b"]))
            stroke = stroke or match[2] == "/"
    if not first:
        return "ymd", False
    if first > 12 or second > 12:
        return ("dmy" if first > 12 else "mdy"), False
    return ("mdy" if stroke else "dmy"), True
