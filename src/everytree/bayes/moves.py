"""The moves of chains by name: what a chain over trees, or over their tops, may propose.

    named_move("rename", "change one test, or exchange two", mixture={"change": 1, "swap": 1})

A move of the core has a kernel there (``core/mcmc/tree_moves.cpp``), which has to be C++: it runs millions of times a
second. It is registered at the position of its kind in ``core/mcmc/move.hpp``. A move with a ``mixture`` is one of
several others, each drawn so often: it needs no C++, and its draws are counted as those of the moves it is made of.
Parameters, messages, ``everytree methods``, files and the comparison with the reference know what is registered here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["MOVES", "MoveWord", "core_moves", "named_move", "odds_of"]


@dataclass(frozen=True)
class MoveWord:
    """A move by its name, which is also its name in files, and one line about it.

    ``twin`` is the kind of ``reference.ChipmanKernel`` that defines it; None where the tests check its law instead:
    that it leaves the target as it is. ``mixture`` says how often each move of the core is drawn.
    """

    name: str
    about: str
    twin: str | None = None
    mixture: Mapping[str, float] | None = None


MOVES: dict[str, MoveWord] = {}


def named_move(
    name: str, about: str, *, twin: str | None = None, mixture: Mapping[str, float] | None = None
) -> MoveWord:
    """Register a move; ``del MOVES[name]`` takes it out again."""
    MOVES[name] = MoveWord(name, about, twin, mixture)
    return MOVES[name]


def core_moves() -> tuple[str, ...]:
    """The moves that the core has, in its order."""
    return tuple(move.name for move in MOVES.values() if move.mixture is None)


def odds_of(given: Mapping[str, float]) -> dict[str, float]:
    """How often each move of the core is drawn, where each of the given moves is drawn so often.

    >>> odds_of({"grow": 1, "prune": 1, "swap": 0.5})
    {'grow': 1.0, 'prune': 1.0, 'change': 0.0, 'swap': 0.5, 'regrow': 0.0}
    """
    odds = dict.fromkeys(core_moves(), 0.0)
    for name, times in given.items():
        parts = MOVES[name].mixture or {name: 1.0}
        whole = sum(parts.values())
        for part, share in parts.items():
            odds[part] += times * share / whole
    return odds


named_move("grow", "split a leaf", twin="grow")
named_move("prune", "undo a split above two leaves", twin="prune")
named_move("change", "another test at a node", twin="change")
named_move("swap", "exchange the tests of a split and its child", twin="swap")
named_move("regrow", "everything below a node anew, two levels at most in chains over whole trees")
