"""Facts: what the model file says, what the data say, and whether the two agree."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

__all__ = ["FALSE", "NOTED", "TRUE", "UNCHECKED", "UNPROVED", "Fact", "Report"]

Verdict = Literal["true", "false", "not proved", "not checked", "not checkable"]
TRUE: Verdict = "true"
FALSE: Verdict = "false"
UNPROVED: Verdict = "not proved"
UNCHECKED: Verdict = "not checked"
NOTED: Verdict = "not checkable"  # no data can decide it: a seed, or why a search ended


@dataclass(frozen=True)
class Fact:
    """One claim of a model file, and what was found; parts of examples are shown as decimals.

    Attributes
    ----------
    name : str
        The name of the claim, such as "error".
    claimed : object
        What the model file says.
    found : object
        What the data say.
    verdict : str
        "true", "false", "not proved", "not checked" or "not checkable".
    note : str
        What a reader should know about the claim, in words.
    predicts : bool
        Whether predictions depend on it.
    """

    name: str
    claimed: Any
    found: Any
    verdict: Verdict
    note: str = ""
    predicts: bool = False

    def __post_init__(self) -> None:
        for name in ("claimed", "found"):
            object.__setattr__(self, name, _shown(getattr(self, name)))


@dataclass(frozen=True)
class Report:
    """All facts of one check, in order.

    Attributes
    ----------
    facts : tuple of Fact
        The claims with their verdicts.
    notes : tuple of str
        Remarks on how the data were read.
    better_tree : tuple of str
        The lines of a better tree as text, where one was found.
    """

    facts: tuple[Fact, ...]
    notes: tuple[str, ...] = ()
    better_tree: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """True if no claim is false; claims that could not be proved do not count."""
        return all(fact.verdict != FALSE for fact in self.facts)

    @property
    def proved(self) -> bool:
        """True if every claim that can be checked was checked, and is true."""
        return all(fact.verdict in (TRUE, NOTED) for fact in self.facts)

    @property
    def unchecked(self) -> tuple[str, ...]:
        """The names of facts that predictions depend on and that were not checked."""
        return tuple(
            fact.name for fact in self.facts if fact.predicts and fact.verdict in (UNCHECKED, UNPROVED)
        )

    def __getitem__(self, name: str) -> Fact:
        """Return the fact of this name."""
        for fact in self.facts:
            if fact.name == name:
                return fact
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain lists and texts, for JSON."""
        facts = [
            {"name": f.name, "claimed": f.claimed, "found": f.found, "verdict": f.verdict, "note": f.note}
            for f in self.facts
        ]
        return {
            "ok": self.ok,
            "proved": self.proved,
            "unchecked": list(self.unchecked),
            "facts": facts,
            "notes": list(self.notes),
            "better_tree": list(self.better_tree),
        }


def _shown(value: Any) -> Any:
    """Return a value as JSON has it; a Fraction, which weights may make of a count, becomes a number.

    >>> _shown([Fraction(4, 2), Fraction(1, 4), "≥ 1"])
    [2, 0.25, '≥ 1']
    """
    if isinstance(value, list | tuple):
        return [_shown(item) for item in value]
    if not isinstance(value, Fraction):
        return value
    if value.denominator == 1:
        return int(value)
    try:
        return float(value)
    except OverflowError:
        return str(value)
