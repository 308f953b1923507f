"""The tests of a page and their numbers, by which its trees and rules call them.

    one set of cuts           all tests of the classifier are in the page, under their own numbers
    every node has its own    a cut gets a number when a tree or a rule that is shown asks it; no other is in the page

A number is never given to another test, so that trees of different questions can stand side by side.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from everytree.data.encoding import Test
from everytree.report.plain import plain_test, truths
from everytree.report.words import shown

__all__ = ["PageTests", "Place", "as_they_are", "numbers_in"]

KINDS = {"<=": "threshold", "==": "equals"}
# From a test of a space, and the code above its cut, to its number in the page.
Place = Callable[[int, int], int]


def as_they_are(test: int, upper: int = 0) -> int:
    """Return the number of a test itself, where the page has all tests of the space."""
    return test


class PageTests:
    """The tests in a page of a classifier that uses a Binarizer."""

    def __init__(self, model: Any) -> None:
        binarizer = model.binarizer_
        self.columns = binarizer.columns_
        self._encodings = binarizer.encodings_
        self._columns = model.column_names()
        gone = [test for test in binarizer.tests_ if test.op == "is" and test.value == "missing"]
        self._missing = {self._columns[test.column] for test in gone}
        self._truths = truths(model)
        self._number: dict[Test, int] = {}
        self._lock = threading.Lock()  # questions of several clients may meet here
        self.tests: list[dict[str, Any]] = []
        if self.columns is None:
            self.tests = [self._described(test, k) for k, test in enumerate(binarizer.tests_)]

    def place(self, test: int, upper: int = 0) -> int:
        """Return the number in the page of a test of the classifier, asked with the cut below the code ``upper``."""
        if self.columns is None:
            return test
        asked = self.columns.test(test, upper)
        with self._lock:
            if asked not in self._number:
                self._number[asked] = len(self.tests)
                self.tests.append(self._described(asked, test))
            return self._number[asked]

    def among(self, kept: Sequence[int] | None) -> Place:
        """Return ``place`` for a space over some of the tests, whose numbers are ``kept``; None for all of them."""
        if kept is None:
            return self.place

        def place(test: int, upper: int) -> int:
            return self.place(int(kept[test]), upper)

        return place

    def asked_in(self, parts: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """Return the tests that the trees and rules of an answer's parts ask, by number, as JSON has it."""
        return {str(number): self.tests[number] for number in sorted(numbers_in(parts))}

    def _described(self, test: Test, raw: int) -> dict[str, Any]:
        kind = KINDS.get(test.op) or ("identity" if test.value is True else "missing")
        value: float | int | None = None
        if kind == "threshold":
            value = float(test.value)
        elif kind == "equals":
            value = int((self._encodings[test.column].codes or {})[test.value])
        column = self._columns[test.column]
        yes, no = plain_test(column, test, column in self._missing, column in self._truths)
        return {
            "column": test.column,
            "kind": kind,
            "value": value,
            "name": shown(yes),
            "no": shown(no),
            "raw": raw,
        }


def numbers_in(page: dict[str, Any]) -> set[int]:
    """Return the numbers of the tests that the trees and rules of a page, or of some of its parts, ask.

    >>> sorted(numbers_in({"tree": {"nodes": [{"t": 3}, {}, {}]}, "front": {"points": []}}))
    [3]
    """
    found = {node["t"] for tree in _trees(page) for node in tree["nodes"] if "t" in node}
    posterior = page.get("posterior") or {}
    found |= {test for rule in posterior.get("rules", ()) for test, _ in rule["items"]}
    drawn = [posterior.get("drawn"), *(posterior.get("pool") or {}).get("members", ())]
    return found | {
        code >> 1 for each in drawn if each is not None for items in each["items"] for code in items
    }


def _trees(page: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if page.get("tree"):
        yield page["tree"]
    yield from (point["tree"] for point in (page.get("front") or {}).get("points", ()))
    yield from (each["tree"] for each in (page.get("posterior") or {}).get("top", ()))
