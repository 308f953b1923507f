"""Tests, and how a column answers them.

A ``Test`` is what one column of 0/1 means. An ``Encoding`` holds the tests of one attribute; ``encode`` makes it from
the facts about a column, ``outcomes`` evaluates it on a column, and ``drop_idle`` takes out the tests that add nothing
on the training data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from everytree.common.reading import look, looked
from everytree.data.column import Column
from everytree.data.cuts import Bins, number_text
from everytree.data.facts import ColumnFacts, in_order
from everytree.data.fine_codes import FineCodes
from everytree.errors import DataError

__all__ = [
    "Dropped",
    "Encoding",
    "Kept",
    "Test",
    "as_trained",
    "drop_idle",
    "encode",
    "matched",
    "outcomes",
    "refuse_unknown",
]

BLOCK = 64  # tests whose bits are written at once
SOME = 5  # how many values a message lists

Kind = Literal["binary", "numeric", "nominal", "empty"]


@dataclass(frozen=True, slots=True)
class Test:
    """One binary test on one attribute: what a column of 0/1 means to a person.

    ``op`` is "<=" (with a number), "==" (with a value) or "is" (with ``True`` for a column that is its own
    test, or ``"missing"``). ``column`` is the index of the attribute among the columns of the input.

    >>> Test("age", "<=", 54.5, 0).name, Test("thal", "==", "normal", 3).name
    ('age <= 54.5', 'thal == normal')
    >>> Test("smoker", "is", True, 1).name, Test("age", "is", "missing", 0).name
    ('smoker', 'age is missing')
    """

    __test__ = False  # not for pytest to collect

    attribute: str
    op: Literal["<=", "==", "is"]
    value: Any
    column: int

    @property
    def name(self) -> str:
        """The test as text."""
        return self.named(self.attribute)

    def named(self, attribute: str) -> str:
        """The test as text with another name for its attribute."""
        if self.op == "is":
            return attribute if self.value is True else f"{attribute} is {self.value}"
        return f"{attribute} {self.op} {number_text(self.value)}"

    def holds(self, value: Any) -> bool:
        """The outcome for one value of the attribute that is not missing."""
        if self.op == "is":
            return self.value is True and bool(value > 0.5)
        return bool(value == self.value if self.op == "==" else value <= self.value)


@dataclass(frozen=True, slots=True)
class Dropped:
    """Why a test was left out: it is constant, or equals or complements the test ``kept``."""

    reason: Literal["constant", "duplicate", "complement"]
    kept: Test | None = None


@dataclass(slots=True)
class Encoding:
    """How one attribute is encoded: its tests (all of them, or those kept), and what stands for a missing "
    "value."""

    kind: Kind
    tests: Sequence[Test]
    fill: Any = None  # the value imputed for a missing one; None = every comparison is false
    codes: dict[Any, int] | None = None  # nominal: known value -> code
    fine: FineCodes | None = None  # numeric, where states choose their cuts: what they choose from


def encode(facts: ColumnFacts, j: int, bins: Bins, missing: str) -> Encoding:
    """All tests of one column, before any is dropped: the one road from a column to tests.

    One test per value of a nominal column; of two values only the second, unless a missing value is a third.

    >>> age = ColumnFacts("age", "numeric", np.array([54, 55]), np.array([1, 1]), absent=3)
    >>> [test.name for test in encode(age, 0, 2, "category").tests]
    ['age <= 54.5', 'age is missing']
    """
    name = facts.name
    gone = Test(name, "is", "missing", j)
    if facts.kind == "empty":
        return Encoding("empty", [gone])
    own = [gone] if facts.absent and missing == "category" else []
    fill = facts.fill() if missing == "impute" else None
    if facts.kind == "nominal":
        asked = facts.values[1:] if len(facts.values) == 2 and not own else facts.values
        codes = {value: code for code, value in enumerate(facts.values)}
        return Encoding("nominal", [*(Test(name, "==", value, j) for value in asked), *own], fill, codes)
    if facts.only_01:
        return Encoding("binary", [Test(name, "is", True, j), *own], None if fill is None else int(fill))
    return Encoding(
        "numeric", [*(Test(name, "<=", cut, j) for cut in facts.cuts_for(bins, fill)), *own], fill
    )


def outcomes(column: Column, encoding: Encoding) -> Iterator[npt.NDArray[np.bool_]]:
    """The outcome of each test of one column, row by row; the column is one that ``matched`` returned."""
    missing, n_rows = column.mask, len(column)
    codes: npt.NDArray[np.int32] | None = None
    for test in encoding.tests:
        if test.value == "missing" and test.op == "is":
            yield np.zeros(n_rows, dtype=bool) if missing is None else missing
            continue
        if column.is_empty:
            outcome = np.zeros(n_rows, dtype=bool)
        elif encoding.codes is not None:
            if codes is None:
                codes = column.codes_in(encoding.codes, -1)
            outcome = codes == encoding.codes[test.value]
        elif test.op == "is":
            outcome = column.data > 0.5
        else:
            outcome = _at_most(column.data, test.value)
        if missing is not None:
            outcome[missing] = encoding.fill is not None and test.holds(encoding.fill)
        yield outcome


def _at_most(values: npt.NDArray[Any], cut: float | int) -> npt.NDArray[np.bool_]:
    """``values <= cut``, in whole numbers where the values are whole: no rounding of large ones."""
    result: npt.NDArray[np.bool_] = values <= (cut if values.dtype.kind == "f" else math.floor(cut))
    return result


class Kept:
    """The outcomes of the tests that stay, a bit for each row: tests are evaluated once, ``matrix`` only unpacks.

    >>> kept = Kept(3)
    >>> key, flipped = kept.packed(np.array([True, False, True]))
    >>> kept.append(key, flipped)
    >>> kept.matrix().tolist()
    [[1], [0], [1]]
    """

    def __init__(self, n_rows: int) -> None:
        self._n_rows = n_rows
        self._keys: list[bytes] = []
        self._flipped: list[bool] = []

    @staticmethod
    def packed(outcome: npt.NDArray[np.bool_]) -> tuple[bytes, bool]:
        """The outcome as bytes, flipped if it starts with 1: the same for a test and its complement."""
        flipped = bool(outcome[0])
        return np.packbits(~outcome if flipped else outcome).tobytes(), flipped

    def append(self, key: bytes, flipped: bool) -> None:
        """One more test, as ``packed`` gave its outcome."""
        self._keys.append(key)
        self._flipped.append(flipped)

    def matrix(self) -> npt.NDArray[np.uint8]:
        """All outcomes: uint8 of shape (n_rows, n_tests), C-contiguous."""
        if not self._keys:
            return np.empty((self._n_rows, 0), dtype=np.uint8)
        packed = np.frombuffer(b"".join(self._keys), dtype=np.uint8).reshape(len(self._keys), -1)
        flipped = np.array(self._flipped, dtype=np.uint8)[:, None]
        out = np.empty((self._n_rows, len(self._keys)), dtype=np.uint8)
        for begin in looked(
            range(0, len(self._keys), BLOCK)
        ):  # in blocks: all bits beside them were as much again
            part = slice(begin, begin + BLOCK)
            bits = np.unpackbits(packed[part], axis=1, count=self._n_rows)
            out[:, part] = (bits ^ flipped[part]).T
        return out


def drop_idle(
    encodings: list[Encoding], answers: Callable[[int], Iterable[npt.NDArray[np.bool_]]], n_rows: int
) -> tuple[dict[Test, Dropped], Kept]:
    """Take out of each encoding the tests that add nothing on the training data; say which, and why; and the rest.

    ``answers(j)`` are the outcomes of the tests of column j, asked for once. Columns that are already 0/1 stay whatever
    they hold. They are entered first, so that a test equal to one of them gives way, not the column; of other equal
    tests the first stays.
    """
    known: dict[bytes, tuple[Test, bool]] = {}  # outcome, flipped so that it starts with 0 -> test, flipped
    dropped: dict[Test, Dropped] = {}
    kept = Kept(n_rows)
    binary: dict[int, list[tuple[bytes, bool]]] = {}
    for j, encoding in enumerate(encodings):
        if encoding.kind == "binary":
            look()
            binary[j] = list(map(Kept.packed, answers(j)))
            key, flipped = binary[j][0]
            known.setdefault(key, (encoding.tests[0], flipped))
    for j, encoding in enumerate(encodings):
        stay = []
        found = binary[j] if j in binary else map(Kept.packed, answers(j))
        for test, (key, flipped) in zip(encoding.tests, looked(found), strict=True):
            earlier = known.get(key)
            if test.op == "is" and test.value is True:
                pass
            elif not any(key):
                dropped[test] = Dropped("constant")
                continue
            elif earlier is not None:
                dropped[test] = Dropped("duplicate" if earlier[1] == flipped else "complement", earlier[0])
                continue
            else:
                known[key] = (test, flipped)
            kept.append(key, flipped)
            stay.append(test)
        encoding.tests = stay
    return dropped, kept


def matched(column: Column, encoding: Encoding) -> Column:
    """The column as its encoding expects it, or an error if it changed its kind since training."""
    return column if encoding.kind == "empty" else as_trained(column, encoding.codes)


def as_trained(column: Column, values: Iterable[Any] | None) -> Column:
    """The column as it was in training: nominal with these values, or numeric; an error if it changed its kind."""
    if column.is_empty:
        return column
    if values is not None:
        if column.kind == "nominal":
            return column
        text = next((value for value in values if isinstance(value, str)), None)
        if text is None:
            return column.as_nominal()
        raise DataError(
            f"column {column.name!r} held text during fit (for example {text!r}) but is {column.kind} now; "
            "convert it to the type it had"
        )
    if column.kind == "nominal":
        raise DataError(
            f"column {column.name!r} held numbers during fit but holds text or categories now (for example "
            f"{column.first()!r}); convert it to numbers"
        )
    return column


def refuse_unknown(column: Column, encoding: Encoding) -> None:
    """Raise if the column holds a value that its tests were not made for."""
    if encoding.codes is not None:
        new = in_order(set(column.occurring()) - set(encoding.codes))
        known = list(encoding.codes)
    elif encoding.kind == "binary":
        values = column.present()
        new, known = np.unique(values[(values != 0) & (values != 1)]).tolist(), [0, 1]
    else:
        return
    if new:
        raise DataError(
            f"column {column.name!r} holds values not seen during fit: {_some(new)} (known: {_some(known)}). "
            "Use unknown='ignore' to make every test on such a value false"
        )


def _some(values: list[Any]) -> str:
    return ", ".join(map(repr, values[:SOME])) + (", …" if len(values) > SOME else "")
