"""Deep trees beside the averages of an ``EveryTreeClassifier``: grown at random, all prunings of each averaged.

    a round      the examples in five parts; five trees, each grown without one part
    said         of a left-out example: the mean of the trees that were grown without its part, exact for each of them
    columns      that a node draws: of a few numbers the one whose first rounds, weighed as they will be, say most about
                 left-out examples
    answer       the mean of all trees

Averages over every tree are shallow where columns are many; where thousands of examples or many classes want depth,
these trees have it. The core has the law (core/grow/coded_forest.hpp): two forests, with the best cut of some columns
and with a random one, each as deep as the examples go. Their settings were chosen on 14 data sets of one half
(``everytree.study.halves``): without these trees the log-loss was 1.22 times that of a calibrated forest there, with
40 rounds of them 0.957, with 100 rounds 0.934; a strength of 1 instead of 0.1, or a power of ½, had 1.02 times the
loss. How many columns a node should draw differs: where few columns decide (hypothyroid, sick) half of them have half
of the loss that the root of their number has, where many say a little (sonar, heart) the root is better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.bayes.forest import Forest, joined
from everytree.bayes.stacking import losses_of, pooled
from everytree.common.limits import Limits, threads
from everytree.common.spent import Spent
from everytree.data.coded_rows import CodedRows
from everytree.errors import LimitReached

__all__ = ["CUTS", "PARTS", "ROUNDS", "STRENGTH", "DeepTrees", "can_grow", "columns_tried", "deep_trees"]

Reals = npt.NDArray[np.float64]

CUTS = ("best", "random")
PARTS, ROUNDS, STRENGTH, POWER = 5, 100, 0.1, 1.0
AT_ONCE = 5  # rounds between two looks at the time and the memory
BUSY = 4.0  # seconds on the wall for one of the processor, at most
TRIAL = 10  # rounds by which the columns at a node are chosen; one where that is more than a part of the time
TRIAL_TIME = 0.2
CHANCE = 1.0  # standard errors by which more columns must be better
FACTORS = np.geomspace(0.5, 8, 17)  # of the evidence of trees, where columns are chosen
WORTH = 60  # more columns are tried on where so many rounds with them fit the time
MOST_BYTES = 100_000_000  # of the trees of one forest
MOST_COUNTS, MOST_CODES = 2**31, 65_534  # what the core takes


@dataclass(frozen=True)
class DeepTrees:
    """One forest: how its nodes are cut, its rounds, the trees, and what they say of left-out examples."""

    cuts: str
    rounds: int
    columns_at_node: int
    forest: Forest
    said: Reals

    def loss(self, coded: CodedRows) -> float:
        """Return the log-loss of what is said of the left-out examples."""
        entries = np.nonzero(coded.counts)
        return float(np.average(losses_of(self.said, entries[1]), weights=coded.examples(entries)))

    @property
    def name(self) -> str:
        """What people are told that it is."""
        return f"{self.forest.n_trees} deep trees, {self.cuts} cuts"


def can_grow(coded: CodedRows) -> bool:
    """Return whether there is something to grow trees on, and the core takes it."""
    few = all(column.n_codes < MOST_CODES for column in coded.columns.columns)
    return bool(coded.columns.columns) and few and int(coded.counts.sum()) <= MOST_COUNTS


def columns_tried(n_columns: int) -> tuple[int, ...]:
    """Return how many columns a node may draw: the root of their number, as forests have it, and more of them."""
    root = max(1, math.isqrt(n_columns))
    return tuple(sorted({root, min(n_columns, 2 * root), max(root, (n_columns + 1) // 2), n_columns}))


def deep_trees(
    coded: CodedRows,
    cuts: str,
    seed: int,
    n_jobs: int | None,
    rounds: int = ROUNDS,
    columns_at_node: int | None = None,
    seconds: float | None = None,
    memory: int | None = None,
) -> DeepTrees:
    """Grow the rounds of one forest, as many as fit; ``LimitReached`` is raised if not even the first does.

    Without ``columns_at_node`` it is chosen by the first rounds. ``memory`` bounds the trees with all that growing them
    takes; after the first round ``MOST_BYTES`` bounds them, too. Without limits the trees are the same everywhere.
    """
    n_entries, n_classes = int(np.count_nonzero(coded.counts)), coded.counts.shape[1]
    if memory is not None:  # The trees are copied out of the core, and once more when all parts are joined.
        memory = max(2, memory - 2 * coded.codes.size - 3 * 8 * n_entries * n_classes) // 2
    control = Limits(seconds, memory).control()
    control.check_memory(2 * coded.codes.size)
    spent = Spent()
    given = _Given(coded, cuts, seed, threads(n_jobs), control if seconds is not None else None)

    def left() -> float | None:
        return None if seconds is None else max(1e-6, seconds - spent.seconds)

    def room(held: int) -> int | None:
        return None if memory is None else max(2, memory - held)

    tried = (columns_at_node,) if columns_at_node is not None else columns_tried(len(coded.columns.columns))
    best = _Growing(given, tried[0])
    best.grow(1, Limits(left(), room(0)))  # The first alone, so that large data have some.
    pace = best.seconds / tried[0]  # of a round, for each column that is drawn: rather too much for many
    if len(tried) > 1 and (seconds is None or TRIAL * best.seconds <= TRIAL_TIME * seconds):
        best.grow_on(min(TRIAL, rounds), Limits(left(), room(0)))
    for number in tried[1:]:
        ahead, other = left(), _Growing(given, number)
        if ahead is not None and pace * number > TRIAL_TIME * ahead:
            break
        enough = other.grow_on(1, Limits(ahead, room(best.n_bytes)))
        if not enough or (ahead is not None and WORTH * other.seconds > ahead):
            break
        if other.grow_on(best.done, Limits(left(), room(best.n_bytes))) and other.better_than(best):
            best = other
    best.grow_on(rounds, Limits(left(), room(0)))
    return DeepTrees(cuts, best.done, best.columns, joined(*best.parts), best.said / best.done)


class _Given:
    """What all rounds are grown on, as the core reads it."""

    def __init__(
        self, coded: CodedRows, cuts: str, seed: int, n_threads: int, timed: _core.Control | None
    ) -> None:
        self.coded, self.random, self.seed, self.n_threads = coded, cuts == "random", seed, n_threads
        self.codes = np.ascontiguousarray(coded.codes.T, dtype=np.uint16)
        self.a = STRENGTH * coded.shares()
        self.uppers = coded.columns.uppers(None if timed is None else timed.check)


class _Growing:
    """The rounds of a forest so far."""

    def __init__(self, given: _Given, columns: int) -> None:
        self.given, self.columns = given, columns
        self.parts: list[Forest] = []
        self.done = self.n_bytes = 0
        self.seconds = 0.0
        counts = given.coded.counts
        self.said = np.zeros((int(np.count_nonzero(counts)), counts.shape[1]))

    def better_than(self, other: _Growing) -> bool:
        """Return whether left-out examples speak for it, by more than their number lets expect of chance."""
        weights = self.given.coded.examples(np.nonzero(self.given.coded.counts))
        gain = other.sharpened() - self.sharpened()
        mean = np.average(gain, weights=weights)
        error = math.sqrt(
            np.average((gain - mean) ** 2, weights=weights) / max(1.0, float(weights.sum()) - 1)
        )
        return bool(mean > CHANCE * error)

    def sharpened(self) -> Reals:
        """Return the loss of each left-out example with the evidence of the trees times the factor that suits it best.

        Trees of few columns are less sure than they could be, which the weight of a forest makes good: by the plain
        loss half of the columns were chosen on optdigits, and the loss with weights was 1.1 times that of the root.
        """
        coded = self.given.coded
        rows, codes = np.nonzero(coded.counts)
        weights, shares = coded.examples((rows, codes)), np.log(coded.shares())
        evidence = np.log(np.maximum(self.said / self.done, np.finfo(np.float64).tiny)) - shares
        total = float(weights.sum())
        tried = [
            losses_of(pooled(evidence[:, :, None], shares, np.array([factor]), total), codes)
            for factor in FACTORS
        ]
        return min(tried, key=lambda losses: float(np.average(losses, weights=weights)))

    def grow(self, n: int, limits: Limits) -> None:
        """Grow so many further rounds, or raise ``LimitReached`` and have none of them."""
        given, said, control = self.given, np.zeros_like(self.said), limits.control()
        spent = Spent()
        control.hold(self.n_bytes)
        coded, columns = given.coded, given.coded.columns
        arrays: Any = _core.grow_rounds(
            columns.array, columns.n_tests, given.uppers, given.codes, coded.counts, coded.per_example, given.a, POWER,
            PARTS, self.columns, given.random, given.seed, self.done, n, said, given.n_threads, control,
        )  # fmt: skip
        self.seconds += spent.seconds
        self.parts.append(Forest(*arrays))
        self.said += said
        self.done += n
        self.n_bytes += self.parts[-1].nbytes

    def grow_on(self, rounds: int, limits: Limits) -> bool:
        """Grow up to so many rounds in all; return whether there are as many, which limits may prevent.

        Steps end at the same rounds whoever asks: the sums are the same bits.
        """
        spent = Spent()
        while self.done < rounds and self.n_bytes * (self.done + AT_ONCE) <= MOST_BYTES * max(1, self.done):
            n = min(AT_ONCE - self.done % AT_ONCE if self.done else 1, rounds - self.done)
            ahead = None if limits.time_limit is None else limits.time_limit - spent.seconds
            if ahead is not None and ahead <= n * self.seconds / max(1, self.done):
                break
            # What these rounds take is known: where others use the processor too, the clock on the wall may go on.
            wall = ahead if ahead is None or not self.done else BUSY * ahead
            try:
                self.grow(n, Limits(wall, limits.memory_limit))
            except LimitReached:
                break
        return self.done >= rounds
