"""``everytree verify``: prints what the checker found, for a person or as JSON.

exit code 0   every claim that was checked is true, and all that predictions depend on was checked
          1   a claim is false (or, with --require-proof, could not be proved)
          2   the model or the data cannot be read
          3   nothing contradicts the data, but something that predictions depend on was not checked
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from everytree.cli.streams import remark
from everytree.cli.words import refusal_of
from everytree.verify import InputError, Report, verify_model
from everytree.verify.facts import Fact

__all__ = ["run_verify"]

MOST_LEAVES = 64  # true facts about more leaves than this are not listed one by one
MOST_ALIKE = 3  # facts with one cause that are named one by one
MOST_ITEMS = 8  # of a list that are shown
MARKS = {
    "true": "✓",
    "false": "✗ false",
    "not proved": "? not proved",
    "not checked": "– not checked",
    "not checkable": "· not checkable",
}
COLORS = {
    "true": "green",
    "false": "bold red",
    "not proved": "yellow",
    "not checked": "yellow",
    "not checkable": "dim",
}


def run_verify(model: Path, data: Path, *, require_proof: bool, as_json: bool, **options: Any) -> int:
    """Check a model file against a CSV file, print the report, and return the exit code."""
    try:
        report = verify_model(model, data, **options)
    except InputError as error:
        told = refusal_of(error)
        if as_json:
            print(json.dumps({"ok": False} | told))
        remark(f"everytree: {told['error']}")
        return 2
    if as_json:
        print(json.dumps(report.to_dict(), indent=2))
    else:
        _show(report, model, data)
    if not report.ok or (require_proof and not report.proved):
        return 1
    return 3 if report.unchecked else 0


def _show(report: Report, model: Path, data: Path) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    table = Table("fact", "claimed", "found", "verdict", title=f"{model} on {data}", title_justify="left")
    leaves = sum(fact.name.startswith("leaf ") for fact in report.facts)
    hidden = 0
    alike = _alike(report.facts)
    for fact in report.facts:
        if leaves > MOST_LEAVES and fact.name.startswith("leaf ") and fact.verdict == "true":
            hidden += 1
            continue
        same = alike.get(_cause(fact), [])
        if len(same) > MOST_ALIKE and fact is not same[0]:
            if fact is same[1]:
                table.add_row(f"  and {len(same) - 1} more like it", style="dim")
            continue
        cells = (_plain(fact.name), _text(fact.claimed), _text(fact.found))
        table.add_row(*map(Text, cells), Text(MARKS[fact.verdict], style=COLORS[fact.verdict]))
    console.print(table)
    if hidden:
        console.print(f"and {hidden} more leaves, all true")
    for note in report.notes:
        console.print(f"note: {note}", markup=False)
    for same in alike.values():
        names = [_plain(fact.name) for fact in same]
        shown = ", ".join(names) if len(names) <= MOST_ALIKE else f"{names[0]} and {len(names) - 1} more"
        console.print(f"{shown}: {same[0].note}", markup=False)
    if report.better_tree:
        console.print("\nA better tree:")
        console.print("\n".join(report.better_tree), markup=False)
    facts = [fact for fact in report.facts if fact.verdict != "not checkable"]
    false = sum(fact.verdict == "false" for fact in facts)
    if false:
        summary = f"{false} of {len(facts)} claims {'is' if false == 1 else 'are'} false"
    elif report.proved:
        summary = f"all {len(facts)} claims are true"
    else:
        open_ = sum(fact.verdict != "true" for fact in facts)
        summary = f"{len(facts) - open_} claims are true, {open_} not proved or not checked"
    if len(facts) < len(report.facts):
        summary += f"; {len(report.facts) - len(facts)} not checkable"
    if report.unchecked and not false:
        left = [_plain(name) for name in report.unchecked]
        more = f" and {len(left) - MOST_ALIKE} more" if len(left) > MOST_ALIKE else ""
        summary += f"; predictions depend on what was not checked: {', '.join(left[:MOST_ALIKE])}{more}"
    console.print(f"\n{summary}", style="bold red" if false else "bold")


def _alike(facts: Iterable[Fact]) -> dict[tuple[str, str], list[Fact]]:
    """Return what was not found true, with a note; facts that differ by numbers alone have one cause."""
    found: dict[tuple[str, str], list[Fact]] = {}
    for fact in facts:
        if fact.note and fact.verdict not in ("true", "not checkable"):
            found.setdefault(_cause(fact), []).append(fact)
    return found


def _cause(fact: Fact) -> tuple[str, str]:
    # A false claim stands for itself, whatever else is false.
    said = fact.note if fact.verdict == "false" else re.sub(r"\d+", "0", fact.note)
    return (fact.name if fact.verdict == "false" else fact.verdict, said)


def _plain(name: str) -> str:
    """Say a result of a model file in words; parameters keep their names.

    >>> _plain("average 3: loo_log_loss_error"), _plain("min_leaf")
    ('average 3: left-out log-loss error', 'min_leaf')
    """
    about, colon, result = name.rpartition(": ")
    if "log_loss" not in result and not result.startswith("loo_"):
        return name
    said = result.replace("loo_", "left-out ").replace("log_loss", "log-loss").replace("_", " ")
    return f"{about}{colon}{said}"


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, list):
        some = ", ".join(_text(item) for item in value[:MOST_ITEMS])
        return some if len(value) <= MOST_ITEMS else f"{some}, … ({len(value)})"
    text = str(value)
    return f"{text[:12]}…" if len(text) == 64 and text.isalnum() else text
