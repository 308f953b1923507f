"""What a node may ask: the tests of one node of a tree, by number, by name, or by a column and a number to cut at.

    one set of cuts           every test of the space
    every node has its own    a cut between any two neighbouring values among the node's rows, whatever bins the space
                              makes; every value of a text column; "missing", where some values are

Only the rows at the node count, and where nodes choose their own cuts, at the lowest level those of the node above.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everytree.common.arguments import refused
from everytree.common.text import clip
from everytree.data.local_columns import ORDERED, LocalColumn
from everytree.engine.engine import Engine
from everytree.errors import QueryError

__all__ = ["Fixed", "NodeTest", "Path", "Place", "asked_test", "node_tests", "path_words", "rows_at"]

Path = tuple[int, ...]
Rows = npt.NDArray[np.intp]


class Place(NamedTuple):
    """A node: its path, the rows of the table that reach it, and those that reach the node above it."""

    path: Path
    rows: Rows
    above: Rows | None


class NodeTest(NamedTuple):
    """A test that a node may ask; ``upper`` says which cut it is, where nodes choose their own."""

    test: int
    upper: int
    name: str
    yes: tuple[int, ...]
    no: tuple[int, ...]


@dataclass(frozen=True)
class Fixed:
    """The nodes that are given, by path."""

    tests: dict[Path, Any]

    @classmethod
    def of(cls, given: Mapping[Any, Any]) -> Fixed:
        """Read the paths: tuples of outcomes, or texts of 0 and 1 such as "10".

        >>> Fixed.of({"": 3, "1": None}).tests
        {(): 3, (1,): None}
        """
        if not isinstance(given, Mapping):
            raise refused(QueryError, "fixed", given, 'tests by path, such as {"": "age <= 54", "1": None}')
        return cls({_path(path): test for path, test in given.items()})


def _path(given: Any) -> Path:
    steps: Iterable[Any] = given if isinstance(given, str | tuple | list) else "?"
    known = {"0": 0, "1": 1, 0: 0, 1: 1}
    found = tuple(known.get(step, -1) if isinstance(step, str | int) else -1 for step in steps)
    if -1 in found:
        raise QueryError(
            f'fixed has the path {clip(given)}; expected outcomes from the root down, such as "10" or (1, 0)'
        )
    return found


def path_words(path: Path) -> str:
    """Call a node by the way to it.

    >>> path_words(()), path_words((1, 0))
    ('the root', 'the node at yes, no')
    """
    return "the root" if not path else "the node at " + ", ".join("yes" if step else "no" for step in path)


def rows_at(engine: Engine, steps: Iterable[tuple[int, int]]) -> Place:
    """Send the rows of the table down a path of tests with their outcomes."""
    rows: Rows = np.arange(engine.table.n_rows)
    above: Rows | None = None
    path: Path = ()
    for test, outcome in steps:
        above, path = rows, (*path, int(outcome))
        rows = rows[(engine.table.rows[rows, test] > 0) == bool(outcome)]
    return Place(path, rows, above)


def node_tests(engine: Engine, place: Place, left: int | None, least: int = 1) -> list[NodeTest]:
    """List the tests that a node may ask with at least so many examples on either side, column by column."""
    counts = engine.table.class_counts[place.rows]
    total = counts.sum(axis=0)
    asked = _asked(engine, place, left)
    found: list[NodeTest] = []
    for (test, upper, name), yes in zip(asked, _held(engine, place, asked), strict=True):
        if least <= int(yes.sum()) <= int(total.sum()) - least:
            found.append(NodeTest(test, upper, name, tuple(yes.tolist()), tuple((total - yes).tolist())))
    return found


def _held(engine: Engine, place: Place, asked: list[tuple[int, int, str]]) -> npt.NDArray[np.int64]:
    """Count the examples of each class for which each test holds."""
    tests = np.array([test for test, _, _ in asked], dtype=np.intp)
    counts = engine.table.class_counts[place.rows]
    columns = engine.table.columns
    if columns is None:
        bits = engine.table.rows[np.ix_(place.rows, tests)] > 0
        # Sums of whole numbers below 2^53 are exact in floats, whose product is the quick one.
        return np.rint(bits.T.astype(np.float64) @ counts).astype(np.int64)
    # There are many more cuts than codes: the sums of each code are made once, and added up.
    held = np.zeros((columns.n_tests, counts.shape[1]), dtype=np.int64)
    for k, column in enumerate(columns.columns):
        sums = np.zeros((column.n_codes + 2, counts.shape[1]), dtype=np.int64)
        np.add.at(sums, engine.local_cuts.codes[place.rows, k], counts)
        own = sums[: column.end - column.begin]
        held[column.begin : column.end] = np.cumsum(own, axis=0) if column.kind == ORDERED else own
        if column.missing >= 0:
            held[column.missing] = sums[column.n_codes]
    return held[tests]


def asked_test(engine: Engine, place: Place, given: Any, left: int | None) -> int:
    """Return the number of the test that is given for a node: itself, its name, or (column, where to cut)."""
    if isinstance(given, bool | np.bool_):
        raise refused(QueryError, "fixed", given, "a test, or None for a leaf")
    if isinstance(given, int | np.integer):
        return _numbered(engine, place, int(given), left)
    if isinstance(given, str):
        for test, _, name in _asked(engine, place, left):
            if name == given:
                return test
        raise QueryError(
            f"{path_words(place.path)} cannot ask {clip(given)}; its rows offer "
            f"{_some(name for _, _, name in _asked(engine, place, left))}"
        )
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], int | float):
        return _nearest(engine, place, str(given[0]), float(given[1]), left)
    raise refused(
        QueryError,
        "fixed",
        given,
        "the number or name of a test, (column, number to cut at), or None for a leaf",
    )


def _numbered(engine: Engine, place: Place, test: int, left: int | None) -> int:
    if not 0 <= test < engine.n_tests:
        raise refused(QueryError, "fixed", test, f"the number of a test, from 0 to {engine.n_tests - 1}")
    if engine.table.columns is not None and all(test != each for each, _, _ in _asked(engine, place, left)):
        raise QueryError(
            f"{path_words(place.path)} cannot ask test {test}: no two of its rows lie on either side; its rows offer "
            f"{_some(name for _, _, name in _asked(engine, place, left))}"
        )
    return test


def _nearest(engine: Engine, place: Place, column: str, at: float, left: int | None) -> int:
    """Return the cut of a column that is nearest to a number."""
    cuts: list[tuple[float, int]] = []
    for test, _, name in _asked(engine, place, left):
        attribute, op, value = name.rpartition(" <= ")
        if op and attribute == column:
            cuts.append((abs(float(value) - at), test))
    if not cuts:
        raise QueryError(f"{path_words(place.path)} has no cut of {clip(column)}; name a column of numbers")
    return min(cuts)[1]


def _some(names: Iterable[str]) -> str:
    return ", ".join(clip(name) for _, name in zip(range(4), names, strict=False)) or "nothing"


def _asked(engine: Engine, place: Place, left: int | None) -> list[tuple[int, int, str]]:
    """List every test of a node as (number, upper, name), whatever it leaves on either side."""
    columns = engine.table.columns
    if columns is None:
        names = engine.test_names or [f"x{k}" for k in range(engine.n_tests)]
        return [(k, 0, name) for k, name in enumerate(names)]
    rows = place.above if place.above is not None and left == 1 else place.rows
    found: list[tuple[int, int, str]] = []
    for k, column in enumerate(columns.columns):
        codes = np.unique(engine.local_cuts.codes[rows, k])
        for test, upper in _of_column(engine, column, codes):
            found.append((test, upper, columns.test(test, upper).name))
    return found


def _of_column(engine: Engine, column: LocalColumn, codes: npt.NDArray[Any]) -> list[tuple[int, int]]:
    held = codes[codes < column.n_codes].tolist()
    gone = [(column.missing, 0)] if column.missing >= 0 and column.n_codes in codes else []
    if column.kind != ORDERED:
        tests = [column.begin + code for code in held if column.begin + code < column.end]
        return [*((test, 0) for test in tests), *gone]
    columns = engine.table.columns
    assert columns is not None
    cuts = ((column.begin + low, columns.upper(column, low, high)) for low, high in pairwise(held))
    return [*cuts, *gone]
