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
cost decides it alone; where the front of the two costs is not convex at the bound, Lagrange's way leaves a gap. What
the leaves of the trees on the way say is then chosen anew, exactly, within the bound. What is left of the gap is closed
by rank: with μ fixed, trees follow in the order of their least price v, and the answers of each are chosen anew. A tree
that has not come yet costs v at least, whatever its leaves say, so that none has fewer errors than v − μ · bound.

Where a limit stops a search, its own lower bound L still counts: with L ≤ errors + μ · cost for every tree, no tree
within the bound has fewer errors than L − μ · bound; and L bounds the largest F1 from above.
"""

from __future__ import annotations

import math
import re
import time
from contextlib import nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

from everytree.engine.certificate import REASONS
from everytree.engine.engine import Engine
from everytree.errors import LimitReached, QueryError, Wording
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
MOST_CHOICES = 4096  # of what the leaves of a tree say
MOST_LEAVES = 12  # whose answers are never more than these
RANKS = (16, 256, 2048)  # trees by which a gap is closed, each time more
RANKED_SECONDS = 8.0  # for them, where no limit is nearer
TIE = Fraction(4, 10**12)  # the slack of ties in a search, and that of the rounding of its sums
NOT_CONVEX = "no prices single out the best tree here"


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


def best_by_rate(space: Engine, rate: Rate, query: Query | None = None, prove: bool = True) -> Tree:
    """Find the tree of largest F1, or the most accurate tree whose recall, precision or F1 is large enough.

    Parameters
    ----------
    space : TreeSpace
        The space of trees.
    rate : Rate
        What is wanted of which class.
    query : Query, optional
        Further conditions; its ranking must be the most accurate tree's, without bounds on error or accuracy.
    prove : bool, default=True
        Whether a gap that prices leave is closed by the rank of trees, which takes up to some seconds.

    Returns
    -------
    Tree
        The tree, whose leaves say what the rate needs; ``info`` has ``hits``, ``misses``, ``alarms``, ``recall``,
        ``precision``, ``f1`` and the certificate: ``optimal``, ``stop_reason``, ``lower_bound`` (no tree that meets the
        bound has fewer errors) and ``gap``, or ``f1_bound`` (no tree has a larger F1). ``proof_seconds`` is the time
        that closing a gap took.

    Raises
    ------
    QueryError
        If the class is not there, the query bounds the error too, or no tree meets the bound.
    LimitReached
        If a limit comes before there is a tree that meets the bound.

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
    least = written(rate.least)
    if rate.kind == "recall":
        bound = (Fraction(1), Fraction(0), 1 - least)
    elif rate.kind == "precision":
        bound = (1 - least, least, 1 - least)
    else:
        bound = (2 - least, least, 2 * (1 - least))
    return finder.bounded(*bound, prove)


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


class _Found(NamedTuple):
    """The tree of least price that a search found, what no price is below, and what ended the search."""

    tree: Tree | None  # None where a limit came before there was any
    least: Fraction
    stopped: str  # "" where the tree is proved


class _Point(NamedTuple):
    """A tree with its objective (errors) and the cost that is bounded."""

    tree: Tree
    errors: Fraction
    bounded: Fraction


def _price(told: float, common: int) -> Fraction:
    """Return a price; to the search, costs that differ by rounding alone are ties: it may be lower by so much."""
    return max(Fraction(0), Fraction(told) * (1 - TIE) / common)


class _Finder:
    """Finds trees of least cost for prices of misses and alarms; its searches share the space's limit of time."""

    def __init__(self, space: Engine, query: Query, code: int, n_classes: int) -> None:
        self._space, self._query, self._code, self._n_classes = space, query, code, n_classes
        limit = space.limits.time_limit
        self._ends = math.inf if limit is None else time.monotonic() + limit

    def _least(self, miss: Fraction, alarm: Fraction, error: Fraction) -> _Found:
        """Find the tree of least error · errors + miss · FN + alarm · FP.

        A search may take half of the time that is left, so that a slow one leaves some to the next.
        """
        asked, common = self._priced(miss, alarm, error)
        left = (self._ends - time.monotonic()) / 2
        if left <= 0:
            return _Found(None, Fraction(0), REASONS["time"])
        try:
            with nullcontext() if math.isinf(left) else self._space.within(left):
                tree = best_trees(self._space, asked)[0]
        except LimitReached as limit:
            return _Found(None, Fraction(0), REASONS[limit.reason])
        proved = bool(tree.info.get("optimal", True))
        told = float(tree.info["objective" if proved else "lower_bound"])
        return _Found(tree, _price(told, common), "" if proved else str(tree.info["stop_reason"]))

    def _priced(self, miss: Fraction, alarm: Fraction, error: Fraction) -> tuple[Query, int]:
        """Return the query for the least of these prices, and the factor that makes them whole."""
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
        return replace(self._query, minimize=("cost", "size"), cost_matrix=matrix), common

    def most_f1(self) -> Tree:
        """Return the tree of largest F1, by Dinkelbach's way: only the last search has to be proved.

        With t FP + (2 − t) FN ≥ L for every tree, and δ = 2 (1 − t) P − L: 2 TP − t D ≤ δ, where D = 2 TP + FP + FN is
        at least P + TP. So no F1 = 2 TP / D is above (t + δ/P) / (1 + δ/2P).
        """
        found = self._least(Fraction(1), Fraction(1), Fraction(0))
        best, stopped, bound = found.tree, found.stopped, Fraction(1)
        for _ in range(MOST_ROUNDS):
            if best is None:
                raise self._too_early("a tree", stopped)
            t = counts_of(best, self._code).f1
            alarm = t or Fraction(1, 10**6)  # at 0 any tree that ever finds the class is better
            found = self._least(2 - alarm, alarm, Fraction(0))
            positives = Fraction(best.counts[0].tolist()[self._code])
            if positives:
                over = max(Fraction(0), 2 * (1 - alarm) - found.least / positives)
                bound = max(t, min(bound, (alarm + over) / (1 + over / 2)))
            stopped = found.stopped
            if found.tree is None or counts_of(found.tree, self._code).f1 <= t:
                break
            best = found.tree
        else:
            stopped = stopped or "too many rounds"
        assert best is not None
        if not stopped:
            bound = counts_of(best, self._code).f1
        return self._told(best, stopped, {"lower_bound": None, "f1_bound": float(bound)})

    def bounded(self, miss: Fraction, alarm: Fraction, share: Fraction, prove: bool) -> Tree:
        """Return a most accurate tree with miss · FN + alarm · FP ≤ share · P, and how sure that is."""
        best: _Point | None = None
        lower, stopped, most, sharpest = Fraction(0), "", Fraction(0), Fraction(0)

        def point(multiplier: Fraction | None) -> _Point | None:
            """Find the least errors + multiplier · cost; the least cost where that is None."""
            nonlocal best, lower, stopped, most, sharpest
            times, error = (Fraction(1), Fraction(0)) if multiplier is None else (multiplier, Fraction(1))
            found = self._least(times * miss, times * alarm, error)
            stopped = stopped or found.stopped
            if found.tree is None:
                return None
            most = share * Fraction(found.tree.counts[0].tolist()[self._code])
            if multiplier is not None:
                if found.least - multiplier * most > lower:
                    lower, sharpest = found.least - multiplier * most, multiplier
            elif found.least > most:
                raise QueryError("no tree of the space meets the bound; ask for less, or allow deeper trees")
            here = self._judged(found.tree, miss, alarm)
            for each in (here, self._with_other_answers(found.tree, miss, alarm, most)):
                if each is not None and each.bounded <= most and (best is None or each.errors < best.errors):
                    best = each
            return here

        free = point(Fraction(0))
        tight = None if free is None or free.bounded <= most else point(None)
        for _ in range(MOST_ROUNDS):
            if free is None or tight is None or stopped or (best is not None and best.errors <= lower):
                break
            multiplier = (tight.errors - free.errors) / (free.bounded - tight.bounded)
            line = free.errors + multiplier * free.bounded
            between = point(multiplier)
            if between is None or between.errors + multiplier * between.bounded >= line:
                break
            if between.bounded <= most:
                tight = between
            else:
                free = between
        if best is None:
            raise self._too_early("a tree that meets the bound", stopped, math.ceil(lower))
        begun = time.monotonic()
        if prove and not stopped and best.errors > math.ceil(lower):
            best, lower = self._by_rank(best, lower, miss, alarm, most, sharpest)
        least = math.ceil(lower)
        ended = "" if best.errors <= least else stopped or NOT_CONVEX
        spent = {"proof_seconds": time.monotonic() - begun}
        return self._told(best.tree, ended, {"lower_bound": least} | spent)

    def _by_rank(
        self,
        best: _Point,
        lower: Fraction,
        miss: Fraction,
        alarm: Fraction,
        most: Fraction,
        multiplier: Fraction,
    ) -> tuple[_Point, Fraction]:
        """Look at more and more trees in the order of their price, until none that follows can be better."""
        asked, common = self._priced(multiplier * miss, multiplier * alarm, Fraction(1))
        ends = min(self._ends, time.monotonic() + RANKED_SECONDS)
        for rank in RANKS:
            left = ends - time.monotonic()
            if left <= 0:
                break
            try:
                with self._space.within(left):
                    trees = best_trees(self._space, asked, rank)
            except (LimitReached, QueryError):
                break  # the gap stays as it is
            for tree in trees:
                each = self._with_other_answers(tree, miss, alarm, most)
                if each is None and len(tree.leaves) > MOST_LEAVES:
                    return best, lower  # there may have been too many answers to look at all
                if each is not None and each.errors < best.errors:
                    best = each
            last = _price(float(trees[-1].info["objective"]), common) - multiplier * most
            lower = best.errors if len(trees) < rank else min(best.errors, max(lower, last))
            if best.errors <= math.ceil(lower):
                break
        return best, lower

    def _judged(self, tree: Tree, miss: Fraction, alarm: Fraction) -> _Point:
        counts = counts_of(tree, self._code)
        return _Point(tree, Fraction(counts.errors), miss * counts.misses + alarm * counts.alarms)

    def _with_other_answers(
        self, tree: Tree, miss: Fraction, alarm: Fraction, most: Fraction
    ) -> _Point | None:
        """Return the tree whose leaves say the class, or the most frequent other one, with the fewest errors in bounds.

        What some leaves say and cost stays in a list if no other choice has both fewer errors and a smaller cost.
        """
        leaves = tree.leaves.tolist()
        choices: list[tuple[Fraction, Fraction, tuple[int, ...]]] = [(Fraction(0), Fraction(0), ())]
        for node in leaves:
            counts = [Fraction(n) for n in tree.counts[node].tolist()]
            total, own = sum(counts, Fraction(0)), counts[self._code]
            other = max((c for c in range(len(counts)) if c != self._code), key=counts.__getitem__)
            offers = (
                (total - own, alarm * (total - own), self._code),
                (total - counts[other], miss * own, other),
            )
            both = sorted(
                (errors + more, cost + price, (*said, word))
                for errors, cost, said in choices
                for more, price, word in offers
                if cost + price <= most
            )
            choices = []
            for each in both:
                if not choices or each[1] < choices[-1][1]:
                    choices.append(each)
            if not choices or len(choices) > MOST_CHOICES:
                return None
        says = tree.says.copy()
        says[leaves] = choices[0][2]
        return self._judged(tree.replace(says=says), miss, alarm)

    def _too_early(self, what: str, stopped: str, least: int = 0) -> LimitReached:
        known = f"; none has fewer than {least} errors" if least else ""
        text = Wording(f"{stopped} reached before {what} was found{known}; ", self._space.advice())
        return LimitReached(text, stopped.split()[0])

    def _told(self, tree: Tree, stopped: str, proof: dict[str, Any]) -> Tree:
        counts = counts_of(tree, self._code)
        said, real = counts.hits + counts.alarms, counts.hits + counts.misses
        rates = {
            "recall": counts.hits / real if real else math.nan,
            "precision": counts.hits / said if said else math.nan,
            "f1": float(counts.f1),
        }
        facts = counts._asdict() | rates | {"code": self._code, "objective": counts.errors} | proof
        facts |= {"optimal": not stopped, "stop_reason": stopped or "proved"}
        if facts["lower_bound"] is not None:
            facts["gap"] = (counts.errors - facts["lower_bound"]) / max(1, counts.errors)
        return tree.replace(info=facts)
