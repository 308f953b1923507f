"""How many bytes the parts of an ``EveryTreeClassifier`` take, for its one limit of memory.

the examples as codes · for each average its table, its graph and what it says of left-out examples · the forests
· the evidence of all of them once more, with copies of some of it, while weights are chosen
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from everytree.bayes.stacking import FEWEST, MOST
from everytree.data.coded_rows import CodedRows
from everytree.estimators.bayes import BayesOptimalClassifier

__all__ = ["Weighing", "batch_row_bytes", "coded_bytes", "coding_bytes", "model_bytes", "own_bytes"]

REAL = 8  # bytes of a number
COPIES = (
    4  # of the numbers that weights are chosen from: those seen by a fold, their differences, both by class
)
TRIED = (
    12  # probabilities of the entries that weights are chosen from: for each strength, and while one is tried
)
ANSWERS = 1  # probabilities of all entries, of the final weights
BLENDED = 8  # and beside forests: of three ways, their logarithms, the blend and what it is made of
CORES = 7  # A seventh of the bytes of cuts is in the core, for each average once more; all share the rest.
LEAST = 4_000_000  # bytes of what is small: tests, names, objects of Python, and what the allocator keeps of reading


def coding_bytes(n_rows: int, n_columns: int, n_classes: int) -> int:
    """Return about how many bytes it takes to code rows: codes of four bytes, twice, and words that are sorted."""
    return n_rows * (2 * 4 * n_columns + 6 * REAL) + LEAST


def coded_bytes(coded: CodedRows) -> int:
    """Return the bytes of the examples as codes, and of the cuts of their columns, which all averages share."""
    return (
        LEAST
        + int(coded.codes.nbytes)
        + int(coded.counts.nbytes)
        + coded.columns.nbytes * (CORES - 1) // CORES
    )


def model_bytes(model: BayesOptimalClassifier) -> int:
    """Return the bytes that an average holds: its table as rows and bits, its cuts, and the graph of its states."""
    posterior: Any = model.posterior_
    table = posterior.space.table
    cuts = 0 if table.columns is None else int(table.columns.nbytes) // CORES
    return (
        int(table.rows.nbytes) * 9 // 8 + int(table.class_counts.nbytes) + cuts + int(posterior.core.n_bytes)
    )


def own_bytes(coded: CodedRows, columns: Sequence[int], n_entries: int) -> int:
    """Return about how many bytes an average on these columns takes beside its graph, while it is taken."""
    n_rows, n_classes = coded.counts.shape
    said = REAL * n_entries * n_classes
    table = coded.bytes_of(columns) * 9 // 8 + coded.columns.nbytes_of(columns) // CORES
    return int(table + REAL * n_rows * (n_classes + 2) + 2 * said)


def batch_row_bytes(n_tests: int, n_averages: int, n_classes: int) -> int:
    """Return the bytes of a row that is predicted: its reaches, with a copy, and what each average says, with one."""
    return 2 * 2 * n_tests + REAL * n_classes * (2 * n_averages + 4)


@dataclass
class Weighing:
    """What choosing the weights takes, beside what is said of the entries by each average and forest."""

    entries: int
    n_classes: int
    n_rows: int
    n_forests: int = 0

    def n_bytes(self, n_averages: int) -> int:
        """Return the bytes for so many averages beside the forests there are."""
        each, n = self.entries * self.n_classes, n_averages + self.n_forests
        most = MOST if n_averages > 1 else FEWEST  # The first average may do with few.
        copied = round(min(n * each, most) * (COPIES + TRIED / n))
        return REAL * (self._always(n) + copied)

    def numbers(self, n_averages: int, left: int) -> int:
        """Return how many numbers weights are chosen from at most, with so many bytes left."""
        n = n_averages + self.n_forests
        spare = left // REAL - self._always(n)
        return max(FEWEST, min(MOST, int(spare / (COPIES + TRIED / n)) // 2))  # twice as many the second time

    def _always(self, n: int) -> int:
        """Return how many numbers there are in any case: evidence, answers, what is said of every row."""
        evidence = (
            2 * n + BLENDED if self.n_forests else n
        )  # without averages that count for nothing once more
        return (evidence + ANSWERS) * self.entries * self.n_classes + self.n_rows * self.n_classes
