"""Recall, precision and F1 of one class: questions that become costs of misses and false alarms.

With P examples of the class, FN of them missed and FP false alarms, TP = P − FN:

    recall ≥ r       ⟺  FN ≤ (1 − r) P
    precision ≥ p    ⟺  p FP + (1 − p) FN ≤ (1 − p) P
    F1 ≥ t           ⟺  t FP + (2 − t) FN ≤ 2 (1 − t) P

Each side is a sum over leaves, so that a cost matrix says it. Two ways answer:

    most F1               Dinkelbach's: the tree of least cost for t = F1 of the last tree, until t cannot be raised;
                          t is a fraction, all costs are whole numbers, and the last tree is proved the best
    a bound on a rate     Lagrange's: the tree of least (errors + μ · cost of the bound) for the multiplier μ at which
                          the bound begins to hold. The least value is a lower bound of the errors of every tree that
                          meets the bound; where the tree has as few, it is proved the best, else the gap is told

A bound and a leaf's answer belong together (which of the two a leaf says is chosen with the tree), so that no single
cost decides it alone; where the front of the two costs is not convex at the bound, Lagrange's way leaves a gap.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

from everytree.engine.engine import Engine
from everytree.errors import QueryError
from everytree.query.best import best_trees
from everytree.query.query import Query
from everytree.trees.tree import Tree
from everytree.weights.costs import written

__all__ = ["Counts", "Rate", "best_by_rate", "counts_of", "split_rate"]

NAME = r'(?:\s+of\s+(?P<label>"[^"]*"|[^\s<>=≥≤,]+))?'
CONDITION = re.compile(
    rf"\b(?P<rate>recall|precision|f1){NAME}\s*(?P<sign>>=|≥|=>)\s*(?P<least>\d+\.?\d*|\.\d+)(?P<percent>%?)",
    re.IGNORECASE,
)
WISH = re.compile(rf"^\s*(?:most|best|highest)\s+f1\b{NAME}", re.IGNORECASE)
MOST_ROUNDS = 60  # of either way; each ends long before


@dataclass(frozen=True)
class Rate:
    """A rate of one class: F1 to be as large as can be, or a rate of at least so much.

    Parameters
    ----------
    kind : {"recall", "precision", "f1"}
        Which rate.
    label : object, optional
        The class; None for the rarer one of two.
    least : float, optional
        The least that it must be; None for as much as can be, of F1 only.

    Examples
    --------
    >>> Rate("recall", "Yes", 0.9)
    Rate(kind='recall', label='Yes', least=0.9)
    """

    kind: str
    label: Any = None
    least: float | None = None


class Counts(NamedTuple):
    """How often one class is found, missed and said in vain, and all errors of a tree on its training examples."""

    hits: int
    misses: int
    alarms: int
    errors: int

    @property
    def f1(self) -> Fraction:
        """The harmonic mean of precision and recall; 0 where the class is never said."""
        return Fraction(2 * self.hits, max(1, 2 * self.hits + self.alarms + self.misses))


def split_rate(text: str) -> tuple[str, Rate | None]:
    """Take a rate out of a query in words, and return the rest of the query with it.

    Parameters
    ----------
    text : str
        A query, such as "most accurate where recall of Yes >= 90% and depth <= 3".

    Returns
    -------
    tuple of (str, Rate or None)
        The query without the rate, and the rate.

    Raises
    ------
    QueryError
        If there are several rates, or one is no share.

    Examples
    --------
    >>> split_rate("most accurate where recall of Yes >= 90% and depth <= 3")
    ('most accurate where depth <= 3', Rate(kind='recall', label='Yes', least=0.9))
    >>> split_rate("most F1 of Yes where leaf >= 10")
    ('most accurate where leaf >= 10', Rate(kind='f1', label='Yes', least=None))
    """
    found = list(CONDITION.finditer(text))
    wish = WISH.match(text)
    if len(found) + (wish is not None) > 1:
        raise QueryError(
            "a query has one of recall, precision and F1 at a time; two bounds would need two multipliers"
        )
    if wish is not None:
        return f"most accurate{text[wish.end() :]}", Rate("f1", _unquoted(wish["label"]))
    if not found:
        return text, None
    (match,) = found
    least = float(match["least"]) / (100 if match["percent"] else 1)
    if not 0 < least <= 1:
        raise QueryError(
            f"{match['rate']} >= {match['least']}{match['percent']}; expected a share above 0 and at most 1"
        )
    rest = f"{text[: match.start()]}\0{text[match.end() :]}"
    rest = re.sub(r"\0\s+and\s+|\s+and\s+\0|\s*\bwhere\s+\0\s*$|\0", "", rest, count=1, flags=re.IGNORECASE)
    return rest.strip() or "most accurate", Rate(match["rate"].lower(), _unquoted(match["label"]), least)


def _unquoted(label: str | None) -> str | None:
    return None if label is None else label.strip('"')


def counts_of(tree: Tree, code: int) -> Counts:
    """Count how often a tree finds, misses and says one class in vain on its training examples.

    Parameters
    ----------
    tree : Tree
        The tree.
    code : int
        The place of the class.

    Returns
    -------
    Counts
        The counts.
    """
    hits = misses = alarms = errors = 0
    for node in tree.leaves.tolist():
        counts, says = tree.counts[node].tolist(), int(tree.says[node])
        errors += sum(counts) - counts[says]
        if says == code:
            hits, alarms = hits + counts[code], alarms + sum(counts) - counts[code]
        else:
            misses += counts[code]
    return Counts(hits, misses, alarms, errors)


def best_by_rate(space: Engine, rate: Rate, query: Query | None = None) -> Tree:
    """Find the tree of largest F1, or the most accurate tree whose recall, precision or F1 is large enough.

    Parameters
    ----------
    space : TreeSpace
        The space of trees.
    rate : Rate
        What is wanted of which class.
    query : Query, optional
        Further conditions; its ranking must be the most accurate tree's, without bounds on error or accuracy.

    Returns
    -------
    Tree
        The tree, whose leaves say what the rate needs; ``info`` has ``hits``, ``misses``, ``alarms``, ``recall``,
        ``precision``, ``f1`` and the certificate: ``optimal``, ``lower_bound``.

    Raises
    ------
    QueryError
        If the class is not there, or the query bounds the error too.

    Examples
    --------
    >>> from everytree import TreeSpace
    >>> X, y = [[0], [0], [0], [1], [1]], ["no", "no", "yes", "yes", "no"]
    >>> tree = best_by_rate(TreeSpace(X, y, max_depth=1), Rate("recall", "yes", 1.0))
    >>> tree.info["recall"], tree.info["errors"], tree.info["optimal"]
    (1.0, 3, True)
    """
    asked = query or Query()
    labels = (
        list(space.table.classes) if space.table.classes is not None else list(range(space.table.n_classes))
    )
    code = _code(rate, labels, [int(n) for n in space.table.class_totals])
    if asked.ranking != ("error", "size") or asked.cost_matrix is not None or asked.class_weight is not None:
        raise QueryError(
            f"{rate.kind} goes with the most accurate tree; another wish, or costs, would change what leaves say"
        )
    if asked.max_error is not None or asked.min_accuracy is not None or asked.leaf_penalty:
        raise QueryError(f"the query bounds {rate.kind} and the error of the same leaves; give one of them")
    finder = _Finder(space, asked, code, len(labels))
    if rate.least is None:
        if rate.kind != "f1":
            raise QueryError(
                f"most {rate.kind} alone is a tree that says one class always; bound it, or ask for most F1"
            )
        return finder.most_f1()
    positives = int(space.table.class_totals[code])
    least = written(rate.least)
    if rate.kind == "recall":
        bound = (Fraction(1), Fraction(0), (1 - least) * positives)
    elif rate.kind == "precision":
        bound = (1 - least, least, (1 - least) * positives)
    else:
        bound = (2 - least, least, 2 * (1 - least) * positives)
    return finder.bounded(*bound)


def _code(rate: Rate, labels: list[Any], totals: list[int]) -> int:
    if rate.label is None:
        if len(labels) != 2:
            raise QueryError(
                f"{rate.kind} of which class? Say it, such as {rate.kind} of {labels[0]}, among {labels}"
            )
        return totals.index(min(totals))
    for code, label in enumerate(labels):
        if label == rate.label or str(label) == str(rate.label):
            return code
    raise QueryError(
        f"{rate.kind} of {rate.label}: there is no such class; expected one of {', '.join(map(str, labels))}"
    )


class _Point(NamedTuple):
    """A tree with its objective (errors) and the cost that is bounded."""

    tree: Tree
    counts: Counts
    errors: Fraction
    bounded: Fraction


class _Finder:
    """Finds trees of least cost for prices of misses and alarms."""

    def __init__(self, space: Engine, query: Query, code: int, n_classes: int) -> None:
        self._space, self._query, self._code, self._n_classes = space, query, code, n_classes

    def _least(self, miss: Fraction, alarm: Fraction, error: Fraction) -> Tree:
        """Return the tree of least error · errors + miss · FN + alarm · FP; prices are made whole."""
        common = math.lcm(miss.denominator, alarm.denominator, error.denominator)
        matrix = [[0.0] * self._n_classes for _ in range(self._n_classes)]
        for c in range(self._n_classes):
            for k in range(self._n_classes):
                price = Fraction(0) if c == k else error
                if c == self._code and k != c:
                    price += miss
                if k == self._code and k != c:
                    price += alarm
                matrix[c][k] = float(price * common)
        asked = replace(self._query, minimize=("cost", "size"), cost_matrix=matrix)
        return best_trees(self._space, asked)[0]

    def most_f1(self) -> Tree:
        """Return the tree of largest F1, by Dinkelbach's way."""
        best = self._least(Fraction(1), Fraction(1), Fraction(0))
        proved = bool(best.info.get("optimal", True))
        for _ in range(MOST_ROUNDS):
            counts = counts_of(best, self._code)
            t = counts.f1
            better = (
                self._least(2 - t, t, Fraction(0))
                if t
                else self._least(Fraction(2), Fraction(1, 10**6), Fraction(0))
            )
            proved = proved and bool(better.info.get("optimal", True))
            if counts_of(better, self._code).f1 <= t:
                break
            best = better
        return self._told(best, {"optimal": proved, "lower_bound": None})

    def bounded(self, miss: Fraction, alarm: Fraction, most: Fraction) -> Tree:
        """Return a most accurate tree with miss · FN + alarm · FP ≤ most, and how sure that is."""

        def point(multiplier: Fraction) -> _Point:
            tree = self._least(multiplier * miss, multiplier * alarm, Fraction(1))
            counts = counts_of(tree, self._code)
            cost = miss * counts.misses + alarm * counts.alarms
            return _Point(tree, counts, Fraction(counts.errors), cost)

        free = point(Fraction(0))
        if free.bounded <= most:
            return self._told(
                free.tree, {"optimal": bool(free.tree.info.get("optimal", True)), "lower_bound": free.errors}
            )
        tight = point(Fraction(10**6))
        if tight.bounded > most:
            raise QueryError("no tree of the space meets the bound; ask for less, or allow deeper trees")
        best, lower, proved = tight, free.errors, True
        for _ in range(MOST_ROUNDS):
            multiplier = (tight.errors - free.errors) / (free.bounded - tight.bounded)
            between = point(multiplier)
            proved = proved and bool(between.tree.info.get("optimal", True))
            value = between.errors + multiplier * (between.bounded - most)
            if proved:
                lower = max(lower, value)
            if between.bounded <= most and between.errors < best.errors:
                best = between
            line = free.errors + multiplier * (free.bounded - most)
            if value >= line:
                break
            if between.bounded <= most:
                tight = between
            else:
                free = between
        least = math.ceil(lower)
        return self._told(best.tree, {"optimal": proved and best.errors <= least, "lower_bound": least})

    def _told(self, tree: Tree, proof: dict[str, Any]) -> Tree:
        counts = counts_of(tree, self._code)
        said, real = counts.hits + counts.alarms, counts.hits + counts.misses
        rates = {
            "recall": counts.hits / real if real else math.nan,
            "precision": counts.hits / said if said else math.nan,
            "f1": float(counts.f1),
        }
        stopped = (
            "proved" if proof["optimal"] else tree.info.get("stop_reason", "the front is not convex here")
        )
        stopped = "the front is not convex here" if stopped == "proved" and not proof["optimal"] else stopped
        lower = proof["lower_bound"]
        facts = (
            counts._asdict()
            | rates
            | {"code": self._code, "objective": counts.errors, "stop_reason": stopped}
        )
        return tree.replace(
            info=facts | {"optimal": proof["optimal"], "lower_bound": None if lower is None else int(lower)}
        )
