"""Compression: the average over every tree as a short list of rules, with a bound that holds for every row.

The exact prediction is a sum over sets S of tests (core/down/expansion.hpp), with z = ±1 for the
outcomes of a row:

    P(c | x) = Σ_S a_c(S) · Π_{t ∈ S} z_t,       and leaving out a family D moves class c by at most Σ_{S ∈ D} |a_c(S)|

whatever the row, seen or not, even one that no example could produce. What stays is written as rules that *add up*:

    P̂(c | x) = base_c + Σ of move_c over the rules that hold for x,      then clipped to probabilities.

The base is what the usual outcomes predict; a rule says what some unusual outcomes change.

Where nodes choose their own cuts, a row is asked the cuts of all of them, with at most one of each column in a set
(core/down/local_expansion.hpp); the tests of the rules are then the cuts that they use, the same for every row.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.bayes.folded import Folded
from everytree.bayes.rule_list import RuleArrays
from everytree.bayes.rules_dict import parts_from_dict, rules_to_dict
from everytree.common.arguments import number, refused
from everytree.data.arrays import as_tests
from everytree.data.asked import questions
from everytree.data.asked_tests import AskedTests, fixed_binarizer
from everytree.data.binarizer import Binarizer
from everytree.data.local_columns import Reach
from everytree.errors import DataError, QueryError
from everytree.export.form import Rule, SumForm
from everytree.export.methods import Exports, Portable
from everytree.export.sql import expression, query
from everytree.trees.conditions import conditions

__all__ = ["CompressedRules", "CompressionPoint", "MoveRule", "compress", "curve"]

Reals = npt.NDArray[np.float64]


class CompressionPoint(NamedTuple):
    """The number of rules that a bound takes: ``epsilon`` was asked for, ``bound`` is what the rules keep."""

    epsilon: float
    n_rules: int
    bound: float


@dataclass(frozen=True)
class MoveRule:
    """A rule: for a row in which all items hold, the probabilities of the classes move by ``moves``."""

    items: tuple[tuple[int, int], ...]  # (test, outcome), by test
    conditions: tuple[str, ...]  # in words, one per attribute
    moves: tuple[float, ...]  # one per class; they add up to zero

    def __str__(self) -> str:
        where = " and ".join(self.conditions)
        return f"{', '.join(f'{move:+.4f}' for move in self.moves)}  if {where}"


class CompressedRules(Exports):
    """A sum of rules that stays within ``bound`` of the exact average over every tree.

    ``Posterior.compress`` makes it. Rule k consists of ``items[begin[k]:begin[k + 1]]``.

    Parameters
    ----------
    base : ndarray of shape (n_classes,)
        The class probabilities where no rule holds.
    items : ndarray of uint32
        The items of all rules, one after the other; an item is 2 · test + outcome.
    begin : ndarray of uint64
        Where the items of each rule begin in ``items``, and where the last one ends.
    moves : ndarray of shape (n_rules, n_classes)
        How far each rule moves the probabilities.
    floor : ndarray of shape (n_classes,)
        The least probability that any leaf gives to each class.
    epsilon : float
        The largest error that was asked for.
    bound : float
        The largest error that is possible: |P̂(class | row) − P(class | row)| is at most this for every 0/1 row, up to
        rounding (1e-12).
    n_exact : int
        The number of rules without any loss.
    n_tests : int
        The number of tests of the space.
    test_names : tuple of str or None
        The names of the tests.
    classes : tuple
        The labels, in the order of all class probabilities.
    binarizer : Binarizer or None, default None
        Where nodes choose their own cuts, the fitted Binarizer whose tests the rules ask; no file holds it.

    Examples
    --------
    >>> from everytree import TreeSpace
    >>> space = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 1] * 5, max_depth=2)
    >>> rules = space.posterior().compress(0.05)
    >>> rules.n_rules, rules.bound <= 0.05
    (3, True)
    >>> print(rules.rules[-1])
    +0.7029, -0.7029  if x0 and x1
    """

    def __init__(
        self,
        base: Reals,
        items: npt.NDArray[np.uint32],
        begin: npt.NDArray[np.uint64],
        moves: Reals,
        floor: Reals,
        *,
        epsilon: float,
        bound: float,
        n_exact: int,
        n_tests: int,
        test_names: tuple[str, ...] | None,
        classes: tuple[Any, ...],
        binarizer: Binarizer | None = None,
    ) -> None:
        self._items, self._begin, self._moves, self._floor = items, begin, moves, floor
        self._base = base
        self.epsilon, self.bound, self.n_exact = epsilon, bound, n_exact
        self.n_tests, self.test_names, self.classes = n_tests, test_names, classes
        self.binarizer = binarizer
        self._core = _core.RuleSum(base, items, begin, moves, n_tests, floor)

    @property
    def arrays(self) -> RuleArrays:
        """The rules as the arrays that the core stores."""
        return RuleArrays(self._base, self._items, self._begin, self._moves, self._floor)

    def __repr__(self) -> str:
        return (
            f"CompressedRules({self.n_rules} of {self.n_exact} rules, bound={self.bound:.3g}, "
            f"epsilon={self.epsilon:g})"
        )

    @property
    def n_rules(self) -> int:
        """The number of rules."""
        return len(self._moves)

    @property
    def base(self) -> tuple[float, ...]:
        """The class probabilities where no rule holds."""
        return tuple(self._base.tolist())

    @cached_property
    def rules(self) -> tuple[MoveRule, ...]:
        """The rules with their conditions in words, those that move most first."""
        items = [(code >> 1, code & 1) for code in self._items.tolist()]
        begin = self._begin.tolist()
        made = []
        for k in np.argsort(-np.abs(self._moves).max(axis=1, initial=0), kind="stable").tolist():
            own = tuple(items[begin[k] : begin[k + 1]])
            made.append(MoveRule(own, conditions(own, self.test_names), tuple(self._moves[k].tolist())))
        return tuple(made)

    def predict_proba(self, X: npt.ArrayLike) -> Reals:
        """Predict class probabilities, within ``bound`` of the exact average.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_tests)
            Rows of 0/1 tests; where nodes choose their own cuts, rows of the original columns.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            P(class | row); each row adds up to one.
        """
        rows = self._tests_of(X)
        if rows.shape[1] != self.n_tests:
            raise DataError(f"X has {rows.shape[1]} columns; expected the {self.n_tests} tests of the rules")
        proba: Reals = self._core.predict(rows, _core.Control())
        return proba

    def _tests_of(self, X: Any) -> npt.NDArray[np.uint8]:
        binarizer = self.binarizer
        if binarizer is None:
            return as_tests(X, self.test_names)
        if isinstance(X, Reach):
            raise DataError("X holds how far rows reach; expected the rows themselves, with their columns")
        tests = isinstance(X, np.ndarray) and X.dtype == np.uint8 and X.shape[1:] == (self.n_tests,)
        if tests and binarizer.n_features_in_ != self.n_tests:
            return as_tests(X, self.test_names)
        return binarizer.transform(X)

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """Predict the most probable label of each row; ties go to the first in ``classes``.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_tests)
            Rows, as for ``predict_proba``.

        Returns
        -------
        ndarray of shape (n_rows,)
            The labels.
        """
        labels: npt.NDArray[Any] = np.asarray(self.classes)[np.argmax(self.predict_proba(X), axis=1)]
        return labels

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CompressedRules) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_core", "rules")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._core = _core.RuleSum(
            self._base, self._items, self._begin, self._moves, self.n_tests, self._floor
        )

    # --- export ---

    def __str__(self) -> str:
        return self.to_text(20)

    def to_text(self, top: int | None = None) -> str:
        """Write the rules as lines of text, those that move most first.

        Parameters
        ----------
        top : int or None, default=None
            The number of rules to write; None writes all of them.

        Returns
        -------
        str
            The lines.
        """
        shown = self.rules if top is None else self.rules[:top]
        lines = [
            f"{self.n_rules} rules; every probability is within {self.bound:.3g} of the average over every tree",
            "classes: " + ", ".join(map(str, self.classes)),
            f"{', '.join(f'{p:.4f}' for p in self.base)}  to begin with",
            *map(str, shown),
        ]
        if len(shown) < self.n_rules:
            lines.append(f"… and {self.n_rules - len(shown)} more")
        return "\n".join(lines)

    def portable(self) -> SumForm:
        return self._form(None)

    def _form(self, binarizer: Binarizer | None) -> SumForm:
        if binarizer is not None and self.binarizer is not None and binarizer.columns_ is not None:
            binarizer = self.binarizer  # whose tests are cuts that nodes of that one chose
        asked = questions(self.n_tests, self.test_names, binarizer)
        rules = tuple(
            Rule(tuple((asked.condition(test), bool(outcome)) for test, outcome in rule.items), rule.moves)
            for rule in self.rules
        )
        return SumForm(asked.fields, self.classes, self.base, rules, tuple(self._floor.tolist()), self.bound)

    def over(self, binarizer: Binarizer) -> Portable:
        """Return the rules over the columns of the data, with the methods ``to_sql``, ``to_python`` and so on.

        Parameters
        ----------
        binarizer : Binarizer
            The fitted Binarizer that made the tests of the rules.

        Returns
        -------
        Portable
            The rules in the form that is written.
        """
        return Portable(self._form(binarizer))

    def to_sql(  # type: ignore[override]
        self,
        binarizer: Binarizer | None = None,
        label: Any = None,
        *,
        table: str | None = None,
        dialect: str = "standard",
    ) -> str:
        """Write an SQL expression for the probability of one class, or a query with all of them.

        The expression is the plain sum of the rules: it may leave the range from 0 to 1 by ``bound``.

        Parameters
        ----------
        binarizer : Binarizer or None, default=None
            The fitted ``Binarizer`` that made the tests: the expression then reads the original columns. With None it
            reads columns of 0/1 named like the tests.
        label : object, default=None
            The class; None means the last of ``classes``.
        table : str, optional
            The name of a table, for a whole query; see ``Exports.to_sql``.
        dialect : {"standard", "mysql"}, default "standard"
            How names and texts are quoted.

        Returns
        -------
        str
            The expression, or the query.
        """
        form = self._form(binarizer)
        return expression(form, label, dialect) if table is None else query(form, table, dialect)

    def to_dict(self) -> dict[str, Any]:
        """Write everything as plain lists, strings and numbers, for JSON.

        Returns
        -------
        dict
            What ``from_dict`` reads.
        """
        return rules_to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CompressedRules:
        """Read rules that ``to_dict`` wrote.

        Parameters
        ----------
        data : mapping
            The dict; every field is checked.

        Returns
        -------
        CompressedRules
            The rules, which predict the same numbers.

        Raises
        ------
        DataError
            If a field is missing or makes no sense.
        """
        arrays, rest = parts_from_dict(data)
        try:
            return cls(*arrays, **rest)
        except ValueError as error:  # the core refuses rules that make no sense
            raise DataError(f"rules: {error}.") from error


class _Asked(NamedTuple):
    """The sum that is compressed, and where nodes choose their own cuts also what it asks."""

    expansion: Any
    asked: AskedTests | None


def _expanded(posterior: Folded, control: _core.Control) -> _Asked:
    columns = posterior.space.table.columns
    if columns is None or not posterior.space.n_tests:
        return _Asked(_core.Expansion(posterior.core, control), None)
    asked = AskedTests.of(columns, *_core.offered_tests(posterior.core, control))
    made = _core.LocalExpansion(posterior.core, asked.question_of, asked.column, asked.is_cut, control)
    return _Asked(made, asked)


def compress(posterior: Folded, epsilon: float, control: _core.Control) -> CompressedRules:
    """Find the fewest rules, in their order, that stay within ``epsilon`` of the exact average for every row."""
    epsilon = number("epsilon", epsilon, 0, math.inf, example=0.01, closed=True)
    space = posterior.space
    expansion, own = _expanded(posterior, control)
    floor = _floor(posterior)
    asked, factor = _asked(epsilon, floor)
    n_exact = int(expansion.point(0.0)[0])
    base, items, begin, moves, left_out = expansion.rules(asked, control)
    del expansion  # what it holds of each rule is more than the two copies that the rules make below
    moves = moves.reshape(-1, len(base))
    if not len(moves):
        # No rule is worth keeping. The base rate says more to a person than the mean over all 0/1 rows.
        n = space.table.class_examples + np.array(posterior.parameters[0])
        rate = n / n.sum()
        further = left_out + float(np.abs(rate - base).max())
        if factor * further <= epsilon:
            base, left_out = rate, further
    n_tests, names, binarizer = space.n_tests, space.test_names, None
    if own is not None:
        assert space.table.columns is not None
        used, place = np.unique(items >> 1, return_inverse=True)
        tests = own.with_missing(space.table.columns, used)
        at = {test: k for k, test in enumerate(tests)}
        places = np.array([at[own.tests[q]] for q in used.tolist()], dtype=np.uint32)
        items = 2 * places[place.reshape(-1)] + (items & 1) if used.size else items
        n_tests, names = len(tests), tuple(test.name for test in tests)
        binarizer = space.table.binarizer and fixed_binarizer(space.table.binarizer, tests)
    return CompressedRules(
        base,
        items,
        begin,
        moves,
        floor,
        epsilon=epsilon,
        bound=factor * left_out,
        n_exact=n_exact,
        n_tests=n_tests,
        test_names=names,
        classes=space.classes,
        binarizer=binarizer,
    )


def curve(
    posterior: Folded, epsilons: Iterable[float], control: _core.Control
) -> tuple[CompressionPoint, ...]:
    """Count how many rules each epsilon would keep."""
    try:
        wanted = [number("epsilons", e, 0, math.inf, example=0.01, closed=True) for e in epsilons]
    except TypeError:
        raise refused(
            QueryError, "epsilons", epsilons, "several numbers, such as [0.1, 0.01, 0.001]"
        ) from None
    expansion, _ = _expanded(posterior, control)
    floor = _floor(posterior)
    points = []
    for epsilon in wanted:
        asked, factor = _asked(epsilon, floor)
        n_rules, bound = expansion.point(asked)
        points.append(CompressionPoint(epsilon, int(n_rules), factor * bound))
    return tuple(points)


def _floor(posterior: Folded) -> Reals:
    """Return the least probability that a leaf, and so the average, gives to each class."""
    a = np.array(posterior.parameters)
    return np.asarray(a.min(axis=0) / (posterior.space.table.examples + a.sum(axis=1).max()))


def _asked(epsilon: float, floor: Reals) -> tuple[float, float]:
    """Return the error to ask of the sum of rules, and the factor by which its bound grows when it is clipped.

    From four classes on, lifting classes to their floor may double the error of another (rule_sum.hpp).
    """
    if len(floor) < 4:
        return epsilon, 1.0
    return epsilon / 2, 2.0
