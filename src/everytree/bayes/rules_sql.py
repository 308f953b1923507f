"""A sum of rules as one SQL expression.

    base + (CASE WHEN age > 54.5 AND thal = 'fixed' THEN 0.031 ELSE 0 END + …)

Only comparisons, AND, OR, IS NULL and CASE are used, and sums are nested by halves: SQLite limits how deep an
expression may be. A missing value (NULL) makes every test of a column false, as it does for ``Binarizer``; where that
imputes, COALESCE puts the same value in its place.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

from sklearn.utils.validation import check_is_fitted

from everytree.bayes.rule_list import RuleList
from everytree.common.arguments import refused
from everytree.data.binarizer import Binarizer
from everytree.errors import QueryError

__all__ = ["expression"]

Writer = Callable[[int, int], str]


def expression(rules: RuleList, binarizer: Binarizer | None, label: Any) -> str:
    """Write the probability of the class ``label`` as an SQL expression."""
    if label not in rules.classes:
        raise refused(QueryError, "label", label, f"one of {', '.join(map(repr, rules.classes))}")
    c = rules.classes.index(label)
    write = _of_tests(rules) if binarizer is None else _of_columns(rules, binarizer)
    terms = [repr(rules.base[c])]
    for rule in rules.rules:
        where = " AND ".join(write(test, outcome) for test, outcome in rule.items)
        terms.append(f"CASE WHEN {where} THEN {rule.moves[c]!r} ELSE 0 END")
    return _sum(terms)


def _sum(terms: list[str]) -> str:
    while len(terms) > 1:
        terms = [f"({' + '.join(terms[k : k + 8])})" for k in range(0, len(terms), 8)]
    return terms[0]


def _of_tests(rules: RuleList) -> Writer:
    names = rules.test_names or tuple(f"x{k}" for k in range(rules.n_tests))
    return lambda test, outcome: f"{_quoted(names[test])} = {outcome}"


def _of_columns(rules: RuleList, binarizer: Binarizer) -> Writer:
    check_is_fitted(binarizer)
    tests = binarizer.tests_
    if len(tests) != rules.n_tests or (
        rules.test_names is not None and tuple(test.name for test in tests) != rules.test_names
    ):
        raise QueryError(
            f"binarizer has {len(tests)} tests that are not the {rules.n_tests} tests of the rules; give the "
            "Binarizer that made them"
        )
    fills = [encoding.fill for encoding in binarizer.encodings_]

    def write(test: int, outcome: int) -> str:
        asked = tests[test]
        column, fill = _quoted(asked.attribute), fills[asked.column]
        if asked.op == "is" and asked.value == "missing":
            return f"{column} IS {'' if outcome else 'NOT '}NULL"
        value = "0.5" if asked.op == "is" else _constant(asked.value)
        op, opposite = {"<=": ("<=", ">"), "==": ("=", "<>"), "is": (">", "<=")}[asked.op]
        if fill is not None:
            return f"COALESCE({column}, {_constant(fill)}) {op if outcome else opposite} {value}"
        return f"{column} {op} {value}" if outcome else f"({column} {opposite} {value} OR {column} IS NULL)"

    return write


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _constant(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, numbers.Number):
        return repr(value.item() if hasattr(value, "item") else value)
    return "'" + str(value).replace("'", "''") + "'"
