"""From tests to conditions on columns: what a model asks, for other languages.

    age <= 54.5            the column "age", a number, is at most 54.5
    thal == fixed          the column "thal", a text, is "fixed"
    smoker                 the column "smoker" of 0 and 1 is above 0.5
    age is missing         the column "age" has no value

A missing value makes a test false; where the Binarizer imputes, it does what the imputed value does. Without a
Binarizer every test is a column of 0 and 1 of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from everytree.data.binarizer import Binarizer
from everytree.data.encoding import Encoding, Test
from everytree.errors import QueryError
from everytree.export.form import Condition, Field, kind_of_values

__all__ = ["ColumnQuestions", "NamedQuestions", "Questions", "equals", "questions"]

HALF = 0.5


def equals(field: int, kind: str, value: Any, missing: bool = False) -> Condition:
    """Return the condition that a column has a value; truth values are 0 and 1.

    >>> equals(0, "text", "red").value, equals(1, "flag", False).op
    ('red', '<=')
    """
    if kind == "flag":
        return Condition(field, ">" if value else "<=", HALF, missing)
    return Condition(field, "==", value.item() if hasattr(value, "item") else value, missing)


class ColumnQuestions:
    """The conditions of the tests of a Binarizer, over the columns that it reads.

    Parameters
    ----------
    binarizer : Binarizer
        A fitted one.
    """

    def __init__(self, binarizer: Binarizer) -> None:
        check_is_fitted(binarizer)
        self.binarizer = binarizer
        names = getattr(binarizer, "feature_names_in_", None)
        if names is None:
            names = [f"x{j}" for j in range(binarizer.n_features_in_)]
        encodings = binarizer.encodings_
        self.fields = tuple(
            Field(str(name), _kind(each, str(name))) for name, each in zip(names, encodings, strict=True)
        )

    def condition(self, test: int, upper: int = 0) -> Condition:
        """Return what a test asks; ``upper`` chooses the cut where nodes choose their own."""
        columns = self.binarizer.columns_
        asked: Test = self.binarizer.tests_[test] if columns is None else columns.test(test, upper)
        encoding = self.binarizer.encodings_[asked.column]
        if asked.op == "is" and asked.value == "missing":
            return Condition(asked.column, "missing")
        gone = encoding.fill is not None and asked.holds(encoding.fill)
        if asked.op == "is":
            return Condition(asked.column, ">", HALF, gone)
        if asked.op == "==":
            return equals(asked.column, self.fields[asked.column].kind, asked.value, gone)
        return Condition(asked.column, "<=", _plain(asked.value), gone)


class NamedQuestions:
    """Conditions where every test is a column of 0 and 1.

    Parameters
    ----------
    names : sequence of str
        The names of the tests.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.fields = tuple(Field(name, "flag") for name in names)

    def condition(self, test: int, upper: int = 0) -> Condition:
        """Return that a test is 1."""
        return Condition(test, ">", HALF)


Questions = ColumnQuestions | NamedQuestions


def questions(n_tests: int, test_names: Sequence[str] | None, binarizer: Binarizer | None) -> Questions:
    """Return the conditions of tests with these names, over columns where a Binarizer is given that made them."""
    if binarizer is None:
        return NamedQuestions([f"x{k}" for k in range(n_tests)] if test_names is None else test_names)
    made = ColumnQuestions(binarizer)
    tests = binarizer.tests_
    if len(tests) != n_tests or (
        test_names is not None
        and any(test.name != name for test, name in zip(tests, test_names, strict=True))
    ):
        raise QueryError(
            f"binarizer has {len(tests)} tests that are not the {n_tests} tests of the model; give the Binarizer that "
            "made them"
        )
    return made


def _kind(encoding: Encoding, name: str) -> Any:
    if encoding.codes is not None:
        return kind_of_values(name, list(encoding.codes))
    return "flag" if encoding.kind == "binary" else "number"


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
