"""Tests and their names, made when one of them is first asked for.

A column whose states choose their cuts has up to 254 tests and more, ten columns thousands. To fit, predict and average
nobody reads them: the codes of values are enough. So what looks like a list of tests here knows how many there are, and
makes them when it is read.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, overload

from everytree.data.encoding import Test

__all__ = ["FineTests", "ListedTests", "TestNames"]


class MadeTests(Sequence[Test]):
    """Tests that are made together when the first is asked for; equal to a list of the same tests."""

    @abstractmethod
    def make(self) -> list[Test]:
        """Make all of the tests."""

    @cached_property
    def made(self) -> list[Test]:
        """The tests, always the same objects."""
        return self.make()

    @overload
    def __getitem__(self, index: int) -> Test: ...
    @overload
    def __getitem__(self, index: slice) -> list[Test]: ...
    def __getitem__(self, index: int | slice) -> Test | list[Test]:
        return self.made[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MadeTests | list):
            return NotImplemented
        return self.made == (other if isinstance(other, list) else other.made)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.made)

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (self.made,)


class FineTests(MadeTests):
    """The tests of one numeric column whose states choose their cuts: its cuts, then those in ``own``.

    >>> tests = FineTests("age", [30.0, 54.5], 0, [])
    >>> len(tests), tests[1].name
    (2, 'age <= 54.5')
    """

    def __init__(self, attribute: str, cuts: list[float | int], column: int, own: list[Test]) -> None:
        self.attribute, self.cuts, self.column, self.own = attribute, cuts, column, own

    def __len__(self) -> int:
        return len(self.cuts) + len(self.own)

    def make(self) -> list[Test]:
        name, column = self.attribute, self.column
        return [*(Test(name, "<=", cut, column) for cut in self.cuts), *self.own]


class ListedTests(MadeTests):
    """The tests of all columns, in the order of the columns.

    >>> ListedTests([FineTests("age", [54.5], 0, []), [Test("smoker", "is", True, 1)]])[1].name
    'smoker'
    """

    def __init__(self, columns: Sequence[Sequence[Test]]) -> None:
        self._columns = tuple(columns)
        self._n = sum(map(len, self._columns))

    def __len__(self) -> int:
        return self._n

    def make(self) -> list[Test]:
        return [test for tests in self._columns for test in tests]


class TestNames:
    """The names of some tests, made when they are first asked for.

    >>> TestNames(FineTests("age", [54.5], 0, [])).made
    ('age <= 54.5',)
    """

    __test__ = False  # not for pytest to collect

    def __init__(self, tests: Sequence[Test]) -> None:
        self._tests = tests

    def __len__(self) -> int:
        return len(self._tests)

    @cached_property
    def made(self) -> tuple[str, ...]:
        """All names."""
        return tuple(test.name for test in self._tests)
