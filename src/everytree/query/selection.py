"""Tests and attributes by name: what ``require=`` and ``forbid=`` mean for a table.

An entry is a column (an int), the name of a test, or the name of an attribute, which stands for all of its tests. The
attributes are those of ``TreeSpace(attributes=...)``; without them, what stands before ``<=``, ``==`` or ``is`` in the
names of the tests, as ``Binarizer`` writes them.

Where every node chooses its own cuts, an entry is a whole column, because no single cut is there in every node.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from everytree.common.arguments import argument, refused
from everytree.data.local_columns import LocalColumns
from everytree.errors import QueryError, Wording

__all__ = ["Item", "attribute_of", "select", "select_columns"]


class Item(NamedTuple):
    """An entry of ``require`` or ``forbid``, and the tests it stands for."""

    name: str
    tests: frozenset[int]


def attribute_of(test_name: str) -> str:
    """Return the attribute that a test looks at, from the test's name.

    >>> attribute_of("age <= 54.5"), attribute_of("thal == normal"), attribute_of("smoker")
    ('age', 'thal', 'smoker')
    """
    for op in (" <= ", " == "):
        if op in test_name:
            return test_name.rpartition(op)[0] if op == " <= " else test_name.partition(op)[0]
    return test_name.removesuffix(" is missing")


def select(
    what: str, wanted: Any, n_tests: int, test_names: Sequence[str] | None, attributes: Sequence[str] | None
) -> list[Item]:
    """Look up the items of ``require`` or ``forbid`` (``what`` is its name, for messages)."""
    names = list(test_names) if test_names is not None else [f"x{k}" for k in range(n_tests)]
    of_attribute = list(attributes) if attributes is not None else [attribute_of(name) for name in names]
    return [_item(what, each, names, of_attribute) for each in _listed(wanted)]


def select_columns(what: str, wanted: Any, columns: LocalColumns) -> list[Item]:
    """Look up the items of ``require`` or ``forbid`` where every node chooses its own cuts: whole columns."""
    tests: dict[str, list[int]] = {}
    for column in columns.columns:
        name = str(columns.encodings[column.column].tests[0].attribute)
        tests.setdefault(name, []).extend(range(column.begin, column.stop))
    return [_column(what, each, tests, columns) for each in _listed(wanted)]


def _listed(wanted: Any) -> list[Any]:
    if wanted is None:
        return []
    return [wanted] if isinstance(wanted, str) or not isinstance(wanted, Iterable) else list(wanted)


def _column(what: str, wanted: Any, tests: dict[str, list[int]], columns: LocalColumns) -> Item:
    if isinstance(wanted, str):
        if wanted in tests:
            return Item(wanted, frozenset(tests[wanted]))
        name = attribute_of(wanted)
    else:
        place = _place(what, wanted, columns.n_tests, "the name of a column, or the number of its only test")
        name = next(name for name, own in tests.items() if place in own)
        if len(tests[name]) == 1:
            return Item(name, frozenset(tests[name]))
    if name in tests:
        raise refused(
            QueryError,
            what,
            wanted,
            f"the column {name!r}",
            says=Wording(
                f" is one test of {name!r}, and with ",
                argument("cuts", "local"),
                f" every node chooses its own; name the column {name!r} instead",
            ),
        )
    some = ", ".join(repr(name) for name in list(tests)[:4])
    raise refused(QueryError, what, wanted, says=f" is no column; expected a name such as {some}")


def _item(what: str, wanted: Any, names: list[str], attributes: list[str]) -> Item:
    if isinstance(wanted, str):
        tests = [k for k, name in enumerate(names) if name == wanted] or [
            k for k, name in enumerate(attributes) if name == wanted
        ]
        if not tests:
            raise refused(
                QueryError,
                what,
                wanted,
                says=f" is neither a test nor an attribute; expected a name such as "
                f"{', '.join(repr(name) for name in dict.fromkeys([*attributes, *names][:4]))}, or a column",
            )
        return Item(wanted, frozenset(tests))
    column = _place(what, wanted, len(names), "the name of a test or attribute, or a column")
    return Item(names[column], frozenset([column]))


def _place(what: str, wanted: Any, n_tests: int, expected: str) -> int:
    try:
        place = -1 if isinstance(wanted, bool) else operator.index(wanted)
    except TypeError:
        place = -1
    if not 0 <= place < n_tests:
        raise refused(QueryError, what, wanted, f"{expected} from 0 to {n_tests - 1}")
    return place
