"""Tell what was done with the columns of a file: a short table for people, a list for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from everytree.cli.show import console
from everytree.data.recipes.recognise import Treated

__all__ = ["show_treated", "treated_rows"]

MOST_NAMES = 12  # of columns that are as they are
WIDEST = 28  # letters of a name


def treated_rows(treated: Sequence[Treated]) -> list[dict[str, Any]]:
    """Return what was done with each column, for programs."""
    return [
        {"column": each.column, "read_as": each.read_as, "note": each.note, "made": list(each.made)}
        for each in treated
    ]


def show_treated(treated: Sequence[Treated], file: str) -> None:
    """Print what was done with the columns, if anything was; those that are as they are share a line."""
    told = [each for each in treated if not each.plain]
    if not told:
        return
    plain = [each.column for each in treated if each.plain]
    rows = [(each.column, each.read_as, _became(each)) for each in told if each.made]
    rows += [(each.column, "left out", each.note) for each in told if not each.made]
    screen = console()
    screen.print(f"What became of the {len(treated)} columns of {file}:")
    wide = min(WIDEST, max(len(name) for name, _, _ in rows))
    middle = max(len(way) for _, way, _ in rows)
    for name, way, note in rows:
        shown = name if len(name) <= wide else f"{name[: wide - 1]}…"
        screen.print(f"  {shown:<{wide}}  {way:<{middle}}  {note}".rstrip())
    if plain:
        more = f" and {len(plain) - MOST_NAMES} more" if len(plain) > MOST_NAMES else ""
        screen.print(f"  as they are: {', '.join(plain[:MOST_NAMES])}{more}")
    example = next((each.column for each in told if not each.made), told[0].column)
    named = f"'{example}=nominal'" if " " in example else f"{example}=nominal"
    screen.print(f"  (other wishes: --column {named}, or number, date, time, boolean, drop)\n")


def _became(each: Treated) -> str:
    parts = [name.removeprefix(f"{each.column} ") for name in each.made]
    made = "" if each.made == (each.column,) else f"→ {', '.join(parts)}"
    return "; ".join(text for text in (made, each.note) if text)
