"""A fit over every cut-point of large columns: the search first, on ranks, and then the tests that its tree asks.

    columns → ranks → the best tree over all cuts → tests of its cuts → table of these tests

Where there are few tests they are all made, for further questions; where the query is one that the search does not
know, ``search_every_cut`` says None, and the caller takes the road over all tests.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.common.limits import Limits
from everytree.data.all_cuts import RankedColumn, RankedColumns, place_of
from everytree.data.binarizer import Binarizer, rules_of
from everytree.data.example_weights import ExampleWeights
from everytree.data.fewer_tests import alike
from everytree.data.frames import Frame
from everytree.data.table import Table
from everytree.engine.certificate import certificate
from everytree.query.every_cut import Solved, question_of, solved
from everytree.query.query import Query
from everytree.space.frame_space import tests_table

__all__ = ["Asked", "EveryCut", "Examples", "least_of", "search_every_cut"]

# Tests of rows, from which on tests are not made before the search.
FEW_CELLS = 200_000
# Cells of which it takes few milliseconds to tell which rows are equal: it is done after a limit too.
QUICK_CELLS = 100_000
LEAST_SECONDS = 1e-6  # A search is given at least this long, also where reading took all the time.


@dataclass(frozen=True)
class Examples:
    """Columns with the class and the weight of each row, and the labels of the classes."""

    frame: Frame
    codes: npt.NDArray[np.intp]
    weights: ExampleWeights | None
    labels: list[Any]

    @property
    def counts(self) -> npt.NDArray[np.int64] | None:
        """The weights as whole numbers."""
        return None if self.weights is None else self.weights.counts

    @property
    def n_bytes(self) -> int:
        """The bytes of the columns, the classes and the weights."""
        return self.frame.n_bytes + self.codes.nbytes + (0 if self.counts is None else self.counts.nbytes)


@dataclass(frozen=True)
class Asked:
    """A query, the bounds of its space, the columns that it forbids, and how many threads search."""

    query: Query
    depth: int | None
    min_leaf: int
    forbid: Any
    n_threads: int = 1


@dataclass(frozen=True)
class EveryCut:
    """The table of the tests that were made, the tree over them, and what is known of it."""

    table: Table
    key: list[int]
    facts: dict[str, Any]


def search_every_cut(binarizer: Binarizer, rows: Examples, asked: Asked, limits: Limits) -> EveryCut | None:
    """Find the best tree over every cut-point, and fit the Binarizer with the tests that it asks."""
    began, rules, frame = time.monotonic(), rules_of(binarizer), rows.frame
    totals = np.bincount(rows.codes, rows.counts, minlength=len(rows.labels)).astype(np.int64)
    counts = Table(np.zeros((1, 0), dtype=np.uint8), totals[None], classes=rows.labels)
    question = question_of(asked.query, counts, asked.depth)
    forbidden = _names(asked.forbid, {column.name for column in frame.columns})
    if (
        question is None
        or not asked.depth
        or counts.total < asked.min_leaf
        or rules.by_classes
        or forbidden is None
    ):
        return None
    ranked = RankedColumns(rules, frame, rows.weights)
    if not ranked.some_everywhere or frame.n_rows * ranked.n_cuts < FEW_CELLS:
        return None
    columns = ranked.without(forbidden)
    left = None
    if (
        limits.time_limit is not None
    ):  # What is left to do after the search takes about as long as ranking did.
        spent = time.monotonic() - began
        left = max(LEAST_SECONDS, limits.time_limit - spent - min(spent, limits.time_limit / 4))
    held = rows.n_bytes + ranked.n_bytes
    control = replace(limits, time_limit=left, held=held).control()
    ranks = [column.ranks for column in columns]
    found = solved(
        question, ranks, rows.codes, rows.counts, asked.depth, asked.min_leaf, asked.n_threads, control
    )
    lower = found.lower
    late = limits.time_limit is not None and time.monotonic() - began > limits.time_limit
    if found.stopped and not (late and rows.codes.size * len(columns) > QUICK_CELLS):
        # Rows that no cut tells apart may say more.
        groups = alike(ranked.coded(), rows.codes, len(rows.labels), rows.counts)
        matrix = None if question.plain else question.in_query_units()
        lower = max(lower, min(found.objective, least_of(asked.query, groups, matrix)))
    used = [(columns[at], rank) for at, rank in zip(found.columns, found.ranks, strict=True) if at >= 0]
    encodings = ranked.encodings(used)
    table, _ = tests_table(binarizer, frame, encodings, rows.codes, rows.labels, rows.weights, None)
    facts = {"objective": found.objective} | certificate(found.objective, lower, found.stopped)
    facts |= {"n_states": found.n_states, "n_bytes": found.n_bytes}
    return EveryCut(table, _key(binarizer, found, ranked, columns), facts)


def least_of(
    query: Query, groups: npt.NDArray[np.int64], matrix: npt.NDArray[np.float64] | None, parts: int = 1
) -> float:
    """Return what equal rows cost at least; ``groups`` are their class counts, ``matrix`` what answers cost.

    ``parts`` counts make one example.
    """
    least = 0.0
    if matrix is not None:
        least = float((groups @ matrix).min(axis=1).sum())
    elif query.cost == "error" or (query.cost == "expected_error" and query.confidence <= 0.5):
        least = float((groups.sum(axis=1) - groups.max(axis=1)).sum())
    return least / parts + query.leaf_penalty


def _names(forbid: Any, columns: set[str]) -> list[str] | None:
    """Return the columns that are forbidden; None if something else is."""
    if forbid is None:
        return []
    given: Iterable[Any] = forbid if isinstance(forbid, list | tuple | set | frozenset) else [forbid]
    names = [name for name in given if isinstance(name, str) and name in columns]
    return names if len(names) == len(list(given)) else None


def _key(
    binarizer: Binarizer, found: Solved, ranked: RankedColumns, columns: list[RankedColumn]
) -> list[int]:
    """Return the tree that was found by the tests that were made for it: in preorder, −1 for a leaf."""
    places = {test: place for place, test in enumerate(binarizer.tests_)}
    steps = iter(zip(found.columns, found.ranks, strict=True))

    def below() -> list[int]:
        at, rank = next(steps)
        if at < 0:
            return [-1]
        test, missing = ranked.test(columns[at], rank)
        place, opposite = place_of(test, places, binarizer.dropped_)
        sides = [below(), below()]
        if missing != opposite:
            sides.reverse()
        return [place, *sides[0], *sides[1]]

    return below()
