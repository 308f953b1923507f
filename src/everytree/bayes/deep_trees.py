"""Deep trees beside the averages of an ``EveryTreeClassifier``: grown at random, all prunings of each averaged.

    a round      the examples in five parts; five trees, each grown without one part
    said         of a left-out example: the mean of the trees that were grown without its part, exact for each of them
    answer       the mean of all trees

Averages over every tree are shallow where columns are many; where thousands of examples or many classes want depth,
these trees have it. The core has the law (core/grow/coded_forest.hpp): two forests, with the best cut of some columns
and with a random one, each as deep as the examples go. Their settings were chosen on 14 data sets of one half
(``everytree.study.halves``): without these trees the log-loss was 1.22 times that of a calibrated forest there, with
40 rounds of them 0.957, with 100 rounds 0.934; a strength of 1 instead of 0.1, or a power of ½, had 1.02 times the
loss.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.bayes.forest import Forest, joined
from everytree.bayes.stacking import losses_of
from everytree.common.limits import Limits, threads
from everytree.data.coded_rows import CodedRows
from everytree.errors import LimitReached

__all__ = ["CUTS", "PARTS", "ROUNDS", "STRENGTH", "DeepTrees", "can_grow", "columns_at_node", "deep_trees"]

Reals = npt.NDArray[np.float64]

CUTS = ("best", "random")
PARTS, ROUNDS, STRENGTH, POWER = 5, 100, 0.1, 1.0
AT_ONCE = 5  # rounds between two looks at the time and the memory
MOST_BYTES = 100_000_000  # of the trees of one forest
MOST_COUNTS, MOST_CODES = 2**31, 65_534  # what the core takes


@dataclass(frozen=True)
class DeepTrees:
    """One forest: how its nodes are cut, its rounds, the trees, and what they say of left-out examples."""

    cuts: str
    rounds: int
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


def columns_at_node(n_columns: int) -> int:
    """Return how many columns a node draws: the square root, as forests have it."""
    return max(1, math.isqrt(n_columns))


def deep_trees(
    coded: CodedRows,
    cuts: str,
    seed: int,
    n_jobs: int | None,
    rounds: int = ROUNDS,
    seconds: float | None = None,
    memory: int | None = None,
) -> DeepTrees:
    """Grow the rounds of one forest, as many as fit; ``LimitReached`` is raised if not even the first does.

    ``memory`` bounds the trees with all that growing them takes; after the first round ``MOST_BYTES`` bounds them, too.
    Without limits the trees are the same everywhere.
    """
    columns = coded.columns
    n_entries, n_classes = int(np.count_nonzero(coded.counts)), coded.counts.shape[1]
    if memory is not None:  # The trees are copied out of the core, and once more when all parts are joined.
        memory = max(2, memory - 2 * coded.codes.size - 3 * 8 * n_entries * n_classes) // 2
    control = Limits(seconds, memory).control()
    control.check_memory(2 * coded.codes.size)
    codes = np.ascontiguousarray(coded.codes.T, dtype=np.uint16)
    a = STRENGTH * coded.shares()
    left = np.zeros((n_entries, n_classes))
    uppers = columns.uppers(control.check if seconds is not None else None)

    def grown(first: int, n: int, said: Reals) -> Forest:
        arrays: Any = _core.grow_rounds(
            columns.array, columns.n_tests, uppers, codes, coded.counts, coded.per_example, a, POWER, PARTS,
            columns_at_node(len(columns.columns)), cuts == "random", seed, first, n, said, threads(n_jobs), control,
        )  # fmt: skip
        return Forest(*arrays)

    parts: list[Forest] = []
    done, n_bytes = 0, 0
    while done < rounds and (done == 0 or n_bytes * (done + AT_ONCE) <= MOST_BYTES * done):
        n = min(AT_ONCE if done else 1, rounds - done)  # The first alone, so that large data have some.
        said = np.zeros_like(left)
        try:
            parts.append(grown(done, n, said))
        except LimitReached:
            if done == 0:
                raise
            break
        left += said
        done += n
        n_bytes += parts[-1].nbytes
        control.hold(parts[-1].nbytes)
    forest = joined(*parts)
    return DeepTrees(cuts, done, forest, left / done)
