"""Facts: what the model file says, what the data say, and whether the two agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["FALSE", "NOTED", "TRUE", "UNCHECKED", "UNPROVED", "Fact", "Report"]

Verdict = Literal["true", "false", "not proved", "not checked", "not checkable"]
TRUE: Verdict = "true"
FALSE: Verdict = "false"
UNPROVED: Verdict = "not proved"
UNCHECKED: Verdict = "not checked"
NOTED: Verdict = "not checkable"  # what no data can tell: a seed, why a search ended


@dataclass(frozen=True)
class Fact:
    """One claim. ``note`` says in words what a reader should know about it; ``predicts``: predictions depend on it."""

    name: str
    claimed: Any
    found: Any
    verdict: Verdict
    note: str = ""
    predicts: bool = False


@dataclass(frozen=True)
class Report:
    """All facts of one check, in order."""

    facts: tuple[Fact, ...]
    notes: tuple[str, ...] = ()
    better_tree: tuple[str, ...] = ()  # lines of text, where a better tree was found

    @property
    def ok(self) -> bool:
        """No claim is false. Claims that could not be proved do not count."""
        return all(fact.verdict != FALSE for fact in self.facts)

    @property
    def proved(self) -> bool:
        """Every claim that can be checked was checked, and is true."""
        return all(fact.verdict in (TRUE, NOTED) for fact in self.facts)

    @property
    def unchecked(self) -> tuple[str, ...]:
        """The names of facts that predictions depend on and that were not checked."""
        return tuple(
            fact.name for fact in self.facts if fact.predicts and fact.verdict in (UNCHECKED, UNPROVED)
        )

    def __getitem__(self, name: str) -> Fact:
        """The fact of this name."""
        for fact in self.facts:
            if fact.name == name:
                return fact
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
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
