"""A question of the explorer's form, checked field by field: nothing that the page or a program sends is trusted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from everytree.common.text import clip
from everytree.errors import QueryError
from everytree.report.plain import PREFERS
from everytree.weights.cost_words import COSTS
from everytree.weights.priors import PRIORS

__all__ = ["Asked", "choices"]

MOST_DEPTH = 20
MOST_EDITS = 200


def choices() -> dict[str, list[tuple[str, str, str]]]:
    """For each field that is a choice, what is registered: (its name, the words for a person, a line about it)."""
    return {
        "objective": [
            (cost.name, cost.words, cost.about) for cost in COSTS.values() if not cost.needs_matrix
        ],
        "prior": [
            (prior.word, PREFERS.get(prior.word, prior.word.replace("_", " ")), prior.about)
            for prior in PRIORS.values()
        ],
    }


Edit = tuple[str, int | None, bool]  # path, test or None for a leaf, and whether it only stays as it was


@dataclass(frozen=True)
class Asked:
    """A question with checked values for the fields of the page's form."""

    max_depth: int = 4
    min_leaf: int = 5
    max_size: int | None = None
    objective: str = "error"
    prior: str = "size"
    require: tuple[str, ...] = ()
    forbid: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()  # a node above comes first

    @property
    def n_choices(self) -> int:
        """The number of nodes that the reader chose; those above them only stay as they were."""
        return sum(not kept for _, _, kept in self.edits)

    @property
    def plain(self) -> Asked:
        """The same question without the reader's own nodes."""
        return replace(self, edits=())

    @classmethod
    def of(cls, given: Any, columns: tuple[str, ...]) -> Asked:
        """Read a question from an object of JSON; an error names the field."""
        if not isinstance(given, dict) or not set(given) <= set(cls.__dataclass_fields__):
            raise QueryError(f"a question has the fields {', '.join(cls.__dataclass_fields__)}")
        made: dict[str, Any] = dict(given)
        for name, least, most in (
            ("max_depth", 0, MOST_DEPTH),
            ("min_leaf", 1, 10**9),
            ("max_size", 1, 10**6),
        ):
            value = given.get(name, 1)
            if value is None and name == "max_size":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise QueryError(f"{name}={clip(value)}; expected a whole number from {least} to {most}")
        for name, offered in choices().items():
            known = [each for each, _, _ in offered]
            if name in given and given[name] not in known:
                raise QueryError(f"{name}={clip(given[name])}; expected one of {', '.join(known)}")
        for name in ("require", "forbid"):
            names = given.get(name, [])
            if not isinstance(names, list) or not all(each in columns for each in names):
                raise QueryError(f"{name}={clip(names)}; expected names of columns")
            made[name] = tuple(dict.fromkeys(names))
        made["edits"] = _edits(given.get("edits", []))
        return cls(**made)


def _edits(given: Any) -> tuple[Edit, ...]:
    """Read the nodes that a reader has chosen: [path, test, kept], the test null where a branch is cut off."""
    expected = 'expected such as ["10", 3, 0] or ["1", null, 0]: outcomes from the root down, a test, and if it is kept'
    if not isinstance(given, list) or len(given) > MOST_EDITS:
        raise QueryError(f"edits={clip(given)}; {expected}")
    found: dict[str, Edit] = {}
    for each in given:
        path, test, kept = each if isinstance(each, list) and len(each) == 3 else ("?", 0, 0)
        good = isinstance(path, str) and len(path) <= MOST_DEPTH and not set(path) - {"0", "1"}
        good = good and (test is None or (type(test) is int and 0 <= test < 10**9))
        if not good or kept not in (0, 1):
            raise QueryError(f"edits has {clip(each)}; {expected}")
        found[path] = (path, test, bool(kept))
    return tuple(sorted(found.values(), key=lambda edit: (len(edit[0]), edit[0])))
