"""Problem: the examples of a space, the bounds on its trees, and the limits of the work; it computes nothing yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.common.arguments import argument, whole
from everytree.common.limits import Limits, threads
from everytree.common.reading import grace, reading
from everytree.common.text import as_number
from everytree.data.cut_rules import SMALL
from everytree.data.table import Table
from everytree.data.table_codes import has_matrix
from everytree.errors import Argument, DataError, QueryError, Wording

__all__ = ["BOUNDS", "PROBABLE", "SWITCHES", "Problem"]

# Fast paths that tests turn off one by one: those of every fold, the bounds of the search for one best tree, and those
# of the search for the most probable one.
BOUNDS = ("identical_rows", "support", "similarity", "siblings")
PROBABLE = ("look_ahead", "spread", "outvoted", "tables")
SWITCHES = ("merge", "frontier", "linear", *BOUNDS, *PROBABLE)


class Problem:
    """The examples, the bounds on trees and the limits of the work that together define a space.

    Parameters
    ----------
    table : Table
        The distinct rows with their class counts.
    max_depth : int or None
        The most tests on a path; None means no limit.
    min_leaf : int
        The fewest examples in a leaf.
    n_jobs : int or None
        The number of threads, as in scikit-learn: None means 1, -1 every core.
    attributes : array-like or None
        For each test the attribute that it was made from.
    limits : Limits
        The seconds and bytes for each question, and the function that shows progress.
    switches : mapping or None
        The fast paths that are turned off, by name: tests compare answers with and without them.
    """

    def __init__(
        self,
        table: Table,
        max_depth: int | None,
        min_leaf: int,
        n_jobs: int | None,
        attributes: npt.ArrayLike | None,
        limits: Limits,
        switches: Mapping[str, bool] | None = None,
    ) -> None:
        self.max_depth = None if max_depth is None else whole("max_depth", max_depth, 0, none="no limit")
        self.min_leaf = whole("min_leaf", min_leaf, 1)
        if table.total == 0:
            raise DataError("the data hold 0 examples; a space needs at least one row of weight above 0")
        # The core counts parts of examples, where weights have fractions.
        self.min_count = self.min_leaf * table.per_example
        if table.total < self.min_count:
            message = Wording(
                f"n_samples={as_number(table.examples)} is fewer than ",
                argument("min_leaf", self.min_leaf),
                ": no tree exists; lower ",
                Argument("min_leaf"),
                " or give more rows",
            )
            raise QueryError(message, code="parameter", parameter="min_leaf", value=self.min_leaf)
        self._table = table
        self.n_jobs = n_jobs
        self.n_threads = threads(n_jobs)
        self.limits = limits
        listed = None if attributes is None else _attribute_list(attributes, table.n_tests)
        self.attributes = None if listed is None else _numbered(listed)
        # ``require`` and ``forbid`` call attributes by these names.
        self.attribute_names = None if listed is None else list(map(str, listed))
        self.switches = dict.fromkeys(SWITCHES, True) | dict(switches or {})
        self._core_table: _core.CountTable | None = None
        self.beside = 0  # bytes that whoever asks holds too, which a limit of memory counts
        # Whether rows are given as columns that the table's Binarizer reads, and not as 0/1 tests.
        self.reads_frames = False

    @property
    def limits(self) -> Limits:
        """The limits of each question; what the table of columns takes, and is held beside it, counts to the memory."""
        held = self.beside
        held += 0 if self._table.columns is None else self._held(made=has_matrix(self._table))
        return self._limits if self._limits.held == held else replace(self._limits, held=held)

    @limits.setter
    def limits(self, limits: Limits) -> None:
        self._limits = limits

    def _held(self, made: bool) -> int:
        """Return the bytes of a table of columns, with the matrix of its tests or without it."""
        columns, coded = self._table.columns, self._table.coded
        assert columns is not None
        if not made:
            assert coded is not None
            return coded.nbytes
        return self._table.n_rows * self._table.n_tests * 9 // 8 + columns.nbytes

    def make_rows(self, control: _core.Control | None) -> None:
        """Make the matrix of all tests, where the table has only codes so far, and count it to the memory.

        Parameters
        ----------
        control : _core.Control or None
            The control of the running question, whose memory limit is so much less from here on; or None.
        """
        if has_matrix(self._table):
            return
        if control is not None and self._limits.memory_limit is not None:
            # Few tests may take less than the codes they are made of.
            more = max(0, self._held(made=True) - self._held(made=False))
            # Before the matrix and the cuts are made, which nothing could follow then.
            control.check_memory(more)
            control.hold(more)
        assert self._table.coded is not None
        self._table.coded.make(None if control is None else control.check)

    @property
    def table(self) -> Table:
        """The distinct rows with their class counts."""
        return self._table

    @property
    def n_tests(self) -> int:
        """The number of tests."""
        return self._table.n_tests

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels, in the order of all class probabilities."""
        return self._table.classes or tuple(range(self._table.n_classes))

    @property
    def test_names(self) -> tuple[str, ...] | None:
        """The names of the tests, which printed trees use; None if they have none."""
        return self._table.test_names

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({as_number(self._table.examples)} examples, {self.n_tests} tests, "
            f"{len(self.classes)} classes, max_depth={self.max_depth}, min_leaf={self.min_leaf})"
        )

    @property
    def most_leaves(self) -> int:
        """The most leaves that a tree can have, each with ``min_leaf`` examples."""
        return int(self._table.total // self.min_count)

    def core_table(self, control: _core.Control | None = None) -> _core.CountTable:
        """Return the table as the core stores it; it is made at the first call.

        Parameters
        ----------
        control : _core.Control or None, default=None
            The control of the running question. With None no limit ends the work.

        Returns
        -------
        _core.CountTable
            The table of the core.
        """
        if self._core_table is None:
            self.make_rows(control)
            self._core_table = _core.CountTable(
                np.ascontiguousarray(self._table.rows),
                np.ascontiguousarray(self._table.class_counts),
                Limits(progress=self.limits.progress).control() if control is None else control,
                **self._local(control),
            )
        return self._core_table

    def table_of_search(self) -> _core.CountTable:
        """Return the table as the core stores it, for a search that is to answer at any time.

        It needs the table for any answer, so that its limits have some room here: they end what is far beyond them.

        Returns
        -------
        _core.CountTable
            The table of the core.
        """
        if self._core_table is not None:
            return self._core_table
        limits = self._limits
        seconds = None if limits.time_limit is None else grace(limits.time_limit)
        memory = None if limits.memory_limit is None else max(limits.most_bytes, SMALL)
        with reading(limits.time_limit):
            self.make_rows(Limits(None, memory).control())
            if self._table.columns is not None:
                self._table.columns.uppers()
        return self.core_table(Limits(seconds, memory, limits.progress).control())

    def _local(self, control: _core.Control | None) -> dict[str, Any]:
        """Return what the core need know where states choose their own cuts."""
        columns = self._table.columns
        if columns is None:
            return {}
        return {
            "columns": columns.array,
            "uppers": columns.uppers(None if control is None else control.check),
        }

    def at_depth(self, depth: int | None, limits: Limits) -> Self:
        """Return the same examples with another bound on the depth and other limits.

        Parameters
        ----------
        depth : int or None
            The most tests on any path; None means no limit.
        limits : Limits
            The seconds and bytes for each question, and the function that shows progress.

        Returns
        -------
        Problem
            The new problem, which shares the table.
        """
        made = type(self).__new__(type(self))
        Problem.__init__(
            made, self._table, depth, self.min_leaf, self.n_jobs, self.attributes, limits, self.switches
        )
        made.attribute_names, made._core_table = self.attribute_names, self._core_table
        made.min_count, made.beside = self.min_count, self.beside
        made.reads_frames = self.reads_frames
        return made

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Work under a tighter time limit inside a ``with`` block; afterwards the limits are as before.

        Parameters
        ----------
        seconds : float
            The most seconds for each question in the block; a tighter limit of the space stays.

        Yields
        ------
        None
            Nothing; the limit holds inside the block.
        """
        before = self.limits
        own = before.time_limit
        self.limits = replace(before, time_limit=seconds if own is None else min(seconds, own))
        try:
            yield
        finally:
            self.limits = before

    def advice(self, depth: int | None = None) -> Wording:
        """Say which settings to try where the problem is too large.

        Parameters
        ----------
        depth : int or None, default=None
            The depth to suggest; None means at most 4, and less than that of the space.

        Returns
        -------
        Wording
            The advice, whose parameters are named as the caller (Python or the command line) knows them.
        """
        if depth is None:
            depth = 4 if self.max_depth is None or self.max_depth > 4 else max(1, self.max_depth - 1)
        support = argument("min_leaf", max(20, 2 * self.min_leaf))
        return Wording("try ", argument("max_depth", depth), " or ", support, ", or fewer tests")


def _attribute_list(attributes: npt.ArrayLike, n_tests: int) -> list[Any]:
    """Return the attribute of each test, once there is one for each."""
    if isinstance(attributes, list) and len(attributes) == n_tests and set(map(type, attributes)) == {str}:
        return attributes  # thousands of names need not be made an array first
    values = np.asarray(attributes)
    if values.shape != (n_tests,):
        raise QueryError(
            f"attributes has shape {values.shape}; expected one entry for each of the {n_tests} tests"
        )
    return list(values.tolist())


def _numbered(attributes: list[Any]) -> list[int]:
    """Number the attributes from 0, in their order, and return the number of each test's attribute."""
    number = {attribute: k for k, attribute in enumerate(sorted(set(attributes)))}
    return list(map(number.__getitem__, attributes))
