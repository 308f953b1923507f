"""The upper levels of a search in the driver: states, their splits, and the bounds that workers found.

    least(s) = min(leaf(s), min_i least(s ∧ i) + least(s ∧ ¬i))

A split needs no more work once the bounds of its sides add up to what is known already, or once both sides are proved
(and, where the smallest of the best trees is asked for, how few leaves they need). Otherwise it is work for a worker,
or, where splits are handed out below two levels, its sides are states of their own with splits of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree._core import above, below

__all__ = ["ANY", "Branches", "Item", "State", "Steps", "above", "below"]

ANY = 1e300  # real costs are less; from here on there is no tree

Steps = tuple[tuple[int, int], ...]  # a test and its outcome each, from the root
Branches = npt.NDArray[np.float64]

# Columns of the rows in which processes tell each other of splits.
TEST = 0
LOWER, UPPER, CAP, FEWEST = (np.array([1, 5]) + k for k in range(4))


class Item(NamedTuple):
    """A split to work on, until it costs at least ``cut`` or is proved; with ``leaves`` > 0 its leaves count too."""

    state: State
    row: int
    cut: float
    leaves: int


class State:
    """A state in the driver: the best tree known, and its splits in the order of the search."""

    def __init__(
        self, scout: _core.Search, control: _core.Control, steps: Steps, max_depth: int, levels: int
    ) -> None:
        """``levels`` of splits are looked at from here; 1: those of this state."""
        self.steps, self.max_depth, self.levels = steps, max_depth, levels
        self._scout, self._control = scout, control
        part = scout.look(steps, max_depth, not steps, control)
        self.branches: Branches = part.branches
        self.upper, self.key = min(part.upper, ANY), list(part.key)
        self._learned = np.zeros(len(self.branches), dtype=bool)
        # The largest `cut` that each split was worked on for, without and with leaves: it is not handed out for that
        # again, however its bounds are rounded.
        self._asked = np.full((2, len(self.branches)), -math.inf)
        self._sides: dict[tuple[int, int], State] = {}

    @property
    def learned(self) -> Branches:
        """The splits of which more is known than at the first look."""
        rows: Branches = self.branches[self._learned]
        return rows

    @property
    def open(self) -> int:
        """How many splits may still improve on the known tree."""
        return int((self.branches[:, LOWER].sum(axis=1) < below(self.upper)).sum())

    def at(self, steps: Steps) -> State:
        """Return the state at the end of these steps, if splits below it were handed out."""
        state = self
        for test, side in steps[len(self.steps) :]:
            row = int(np.flatnonzero(state.branches[:, TEST] == test)[0])
            state = state._sides[row, side]
        return state

    @property
    def leaves(self) -> int:
        """The number of leaves of the known tree."""
        return (len(self.key) + 1) // 2

    @property
    def lower(self) -> float:
        """A cost that no tree of this state is below."""
        least = self.branches[:, LOWER].sum(axis=1).min(initial=math.inf)
        return self.upper if least >= below(self.upper) else float(least)

    def wanted(self, cut: float, leaves: int) -> Iterator[Item]:
        """Yield the splits to work on next, in order, if trees that cost ``cut`` or more are of no interest.

        With ``leaves`` > 0, trees as good as the known one count where they have less leaves than that.
        """
        sums = self.branches[:, UPPER].sum(axis=1)
        for row in np.flatnonzero(sums < below(self.upper)).tolist():
            self._improve(row)
        lower = self.branches[:, LOWER].sum(axis=1)
        for row in np.flatnonzero(lower < min(cut, above(self.upper))).tolist():
            # Asked for each split: the best tree changes while the sides of others are looked at.
            most = min(cut, above(self.upper) if leaves else below(self.upper))
            if self._settled(row, most, leaves):
                continue
            if self.levels == 1:
                yield Item(self, row, most, leaves)
            else:
                yield from self._wanted_below(row, most, leaves)

    def _settled(self, row: int, cut: float, leaves: int) -> bool:
        split = self.branches[row]
        if split[LOWER].sum() >= cut or self._asked[min(leaves, 1), row] >= cut:
            return True
        if (split[LOWER] < split[UPPER]).any():
            return False
        return leaves == 0 or bool((split[CAP] >= split[UPPER]).all() or split[FEWEST].sum() >= leaves)

    def _wanted_below(self, row: int, cut: float, leaves: int) -> Iterator[Item]:
        """Yield the work on the sides of a split, first on the one that may add most to the bound."""
        split = self.branches[row]
        gap = split[UPPER] - split[LOWER]
        for side in (1, 0) if gap[1] >= gap[0] else (0, 1):
            if split[LOWER[side]] < split[UPPER[side]] or (leaves and split[CAP[side]] < split[UPPER[side]]):
                state = self._side(row, side)
                other = 1 - side
                few = max(1, leaves - int(split[FEWEST[other]])) if leaves else 0
                items = list(state.wanted(cut - split[LOWER[other]], few))
                self._refresh(row, side, state, settled=not items)
                if items:
                    yield from items
                    return
            if self._settled(row, cut, leaves):
                return

    def _side(self, row: int, side: int) -> State:
        if (row, side) not in self._sides:
            steps = (*self.steps, (int(self.branches[row, TEST]), side))
            self._sides[row, side] = State(self._scout, self._control, steps, self.max_depth, self.levels - 1)
        return self._sides[row, side]

    def _refresh(self, row: int, side: int, state: State, settled: bool) -> None:
        """Update what is known of a side; a ``settled`` side needs no more work, so its fewest leaves are known."""
        split = self.branches[row]
        split[UPPER[side]] = min(split[UPPER[side]], state.upper)
        split[LOWER[side]] = min(split[UPPER[side]], max(split[LOWER[side]], state.lower))
        if settled and split[LOWER[side]] >= split[UPPER[side]]:
            few = state.fewest()
            if few is not None:
                split[CAP[side]], split[FEWEST[side]] = above(state.upper), few
        self._learned[row] = True
        self._improve(row)

    def _improve(self, row: int) -> None:
        """Use the known trees of both sides, if they are better together; the scout may know equal covers."""
        split = self.branches[row]
        if split[UPPER].sum() < below(self.upper):
            zero, one = self._side(row, 0), self._side(row, 1)
            self._take(zero.upper + one.upper, [int(split[TEST]), *zero.key, *one.key])

    def fewest(self) -> int | None:
        """Return a number of leaves that no tree of least cost is below; None if that was not looked at."""
        few = self.leaves
        for split in self.branches:
            if split[LOWER].sum() < above(self.upper):
                if (split[CAP] < split[UPPER]).any():
                    return None
                few = min(few, int(split[FEWEST].sum()))
        return few

    def refresh(self) -> None:
        """Update this state with what the states below have learned."""
        for (row, side), state in list(self._sides.items()):
            state.refresh()
            self._refresh(row, side, state, settled=False)

    def take(self, branches: Branches, upper: float, key: list[int], cut: float, leaves: int) -> None:
        """Record what a worker found about splits of this state, searched to the end for trees below ``cut``."""
        where = {int(test): row for row, test in enumerate(self.branches[:, TEST])}
        for new in branches:
            row = where[int(new[TEST])]
            self._learned[row] = True
            for k in range(min(leaves, 1) + 1):
                self._asked[k, row] = max(self._asked[k, row], cut)
            split = self.branches[row]
            split[UPPER] = np.minimum(split[UPPER], new[UPPER])
            split[LOWER] = np.minimum(split[UPPER], np.maximum(split[LOWER], new[LOWER]))
            for side in (0, 1):
                if new[CAP[side]] >= split[CAP[side]]:
                    split[CAP[side]], split[FEWEST[side]] = new[CAP[side]], new[FEWEST[side]]
        self._take(upper, key)

    def _take(self, upper: float, key: list[int]) -> None:
        if upper < below(self.upper) or (upper < above(self.upper) and len(key) < len(self.key)):
            self.upper, self.key = upper, key

    def below_here(self) -> Iterator[State]:
        """Yield this state and those below it."""
        yield self
        for state in self._sides.values():
            yield from state.below_here()
