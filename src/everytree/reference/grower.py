"""Bayesian growth on whole columns: which tests of a node are feasible, what they are worth, which are installed.

A test is feasible if at least two of its branches have ``min_leaf`` examples. With A columns that have a feasible test,
and K_j feasible tests of column j,

    Pr(test) = Pr(column) / K_j          Pr(column): the prior of a split, where every column counts as one test
    q(test)  = log Pr(test) + Σ_branches L(branch)            L = log Pr(leaf) + logM for one ply, as in ``buntine``
    Q_j      = log Σ_tests of j exp q  = log Pr(column) + log mean over its tests of exp Σ L

The column is chosen by Q_j, then its best test; a node is split if max Q_j > log Pr(leaf) + logM + log stop_factor.
In the average over a grown tree the installed cut stands for all cuts of its column, or every cut is an option
of its own:

    average   log Vint = Q_j − Σ L(branches of the installed test)
    each      log Vint = log Pr(test)                                          also where the gain ratio chose

``grown`` makes trees of these choices, and averages over them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from everytree.reference.leaves import Dirichlet, dirichlet_at, leaf_probabilities, log_marginal
from everytree.reference.logs import LOG_ZERO, log, log_sum
from everytree.reference.priors import Prior, UniformPrior
from everytree.reference.whole_columns import ColumnTest, Rows, WholeColumns

__all__ = ["Grower", "SplitOption", "looked_at"]

SMALL = 1e-6  # the same for gains, as in ``c45``


class SplitOption(NamedTuple):
    """A test to install at a node, its quality, and log Vint."""

    test: ColumnTest
    quality: float
    log_split: float


def looked_at(n: int, n_cuts: int, best: int) -> list[int]:
    """Return which of ``n`` cuts are looked at: all, or ``n_cuts`` − 1 at equal distances and the best by one ply.

    >>> looked_at(8, 3, 5), looked_at(3, 4, 0)
    ([2, 5, 6], [0, 1, 2])
    """
    if n <= n_cuts:
        return list(range(n))
    return sorted({(2 * i + 1) * n // (2 * n_cuts - 2) for i in range(n_cuts - 1)} | {best})


@dataclass
class Grower:
    """Data, prior and options of growth: what a node may be split by, and what that is worth.

    ``score="bayes"`` leaves the priors out of q and takes the best cut instead of the mean; ``"gain_ratio"`` is C4.5's
    choice, one ply, with missing as one more branch. Either way the average over the grown tree has its prior.

    Numbers that differ by less than ``tie``, relative to their size, differ by rounding only, and are equal.
    ``closest`` is the smallest relative difference above it that has decided anything so far.
    """

    data: WholeColumns
    prior: Prior = field(default_factory=UniformPrior)
    dirichlet: Dirichlet = "1/C"
    score: str = "quality"
    plies: int = 1
    beam: int | None = None
    n_cuts: int = 32
    min_leaf: int = 1
    max_depth: int | None = None
    stop_factor: float = 1.0
    split_pure: bool = False
    binary_nominal: bool = False
    each_cut: bool = False
    option_factor: float = 1.0
    max_options: int | None = None
    tie: float = 1e-10
    closest: float = math.inf

    def __post_init__(self) -> None:
        if self.score not in ("quality", "bayes", "gain_ratio"):
            raise ValueError(f"score={self.score!r}; expected 'quality', 'bayes' or 'gain_ratio'")
        for name, least in (("plies", 1), ("beam", 1), ("n_cuts", 2), ("min_leaf", 1), ("max_options", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name}={value!r}; expected at least {least}")
        if not 0 <= self.option_factor <= 1:
            raise ValueError(
                f"option_factor={self.option_factor!r}; expected a share of the best, from 0 to 1"
            )
        if not 0 <= self.stop_factor < math.inf:
            raise ValueError(f"stop_factor={self.stop_factor!r}; expected a finite number of at least 0")
        self._feasible: dict[Rows, dict[int, list[ColumnTest]]] = {}
        self._log_m: dict[tuple[tuple[int, ...], int], float] = {}
        self._look: dict[tuple[Rows, int, int], float] = {}

    # --- leaves and feasible tests

    def a(self, depth: int) -> tuple[float, ...]:
        """Return the Dirichlet parameters at a depth."""
        return dirichlet_at(self.dirichlet, depth, self.data.n_classes)

    def log_m(self, rows: Rows, depth: int) -> float:
        """Return log M of a leaf."""
        key = (self.data.counts(rows), depth)
        if key not in self._log_m:
            self._log_m[key] = log_marginal(key[0], self.a(depth))
        return self._log_m[key]

    def theta(self, rows: Rows, depth: int) -> tuple[float, ...]:
        """Return the class probabilities of a leaf."""
        return leaf_probabilities(self.data.counts(rows), self.a(depth))

    def log_leaf(self, rows: Rows, depth: int) -> float:
        """Return log Vleaf."""
        return self.prior.log_leaf(depth, list(self.feasible(rows, depth))) + self.log_m(rows, depth)

    def is_feasible(self, rows: Rows, test: ColumnTest) -> bool:
        """Return whether two branches have enough examples."""
        branches = self.data.branches(rows, test).values()
        return sum(self.data.n(branch) >= self.min_leaf for branch in branches) >= 2

    def feasible(self, rows: Rows, depth: int) -> dict[int, list[ColumnTest]]:
        """Return the feasible tests of every column that has one; none at the depth limit."""
        if self.max_depth is not None and depth >= self.max_depth:
            return {}
        if rows not in self._feasible:
            found = {}
            for column in range(len(self.data.kinds)):
                tests = self.data.tests(rows, column, self.binary_nominal)
                kept = [test for test in tests if self.is_feasible(rows, test)]
                if kept:
                    found[column] = kept
            self._feasible[rows] = found
        return self._feasible[rows]

    def log_column(self, rows: Rows, depth: int, column: int) -> float:
        """Return log Pr(column): the prior of a split when every column is one test."""
        return self.prior.log_split(depth, list(self.feasible(rows, depth)), column)

    def log_test(self, rows: Rows, depth: int, column: int) -> float:
        """Return log Pr(test) of each feasible test of a column."""
        return self.log_column(rows, depth, column) - math.log(len(self.feasible(rows, depth)[column]))

    # --- quality

    def worth(self, rows: Rows, depth: int, test: ColumnTest, plies: int) -> float:
        """Return Σ L over the branches of a test, without its prior."""
        branches = self.data.branches(rows, test).values()
        return math.fsum(self.look(branch, depth + 1, plies - 1) for branch in branches)

    def quality(self, rows: Rows, depth: int, test: ColumnTest, plies: int) -> float:
        """Return q of a test; Σ logM alone if that is the score."""
        if self.score != "quality":
            branches = self.data.branches(rows, test).values()
            return math.fsum(self.log_m(branch, depth + 1) for branch in branches)
        return self.log_test(rows, depth, test.column) + self.worth(rows, depth, test, plies)

    def look(self, rows: Rows, depth: int, plies: int) -> float:
        """Return L: the largest log marginal within so many plies, with the prior of its splits and leaves."""
        if plies == 0:
            return self.log_leaf(rows, depth)
        key = (rows, depth, plies)
        if key not in self._look:
            columns = list(self.feasible(rows, depth))
            if self.beam is not None and len(columns) > self.beam and plies > 1:
                one_ply = {column: self.column_quality(rows, depth, column, 1) for column in columns}
                columns = self.best_first(one_ply, self.beam)
            self._look[key] = max(
                [
                    self.log_leaf(rows, depth),
                    *(
                        self.quality(rows, depth, test, plies)
                        for column in columns
                        for test in self.candidates(rows, depth, column, plies)
                    ),
                ]
            )
        return self._look[key]

    def candidates(self, rows: Rows, depth: int, column: int, plies: int) -> list[ColumnTest]:
        """Return the tests of a column that are looked at: all for the last ply, else at most ``n_cuts``."""
        tests = self.feasible(rows, depth)[column]
        if plies == 1 or len(tests) <= self.n_cuts:
            return tests
        one_ply = {place: self.quality(rows, depth, test, 1) for place, test in enumerate(tests)}
        return [tests[place] for place in looked_at(len(tests), self.n_cuts, self.best_first(one_ply, 1)[0])]

    def column_quality(self, rows: Rows, depth: int, column: int, plies: int) -> float:
        """Return Q_j: log Pr(column) + log mean exp Σ L over the tests looked at; the best of them for ``bayes``."""
        tests = self.candidates(rows, depth, column, plies)
        if self.score == "bayes":
            return max(self.quality(rows, depth, test, plies) for test in tests)
        worths = [self.worth(rows, depth, test, plies) for test in tests]
        return self.log_column(rows, depth, column) + log_sum(worths) - math.log(len(tests))

    def log_split(self, rows: Rows, depth: int, test: ColumnTest) -> float:
        """Return log Vint of an installed test in the average over a grown tree."""
        if self.each_cut or self.score == "gain_ratio":
            return self.log_test(rows, depth, test.column)
        tests = self.candidates(rows, depth, test.column, self.plies)
        log_mean = log_sum(self.worth(rows, depth, each, self.plies) for each in tests) - math.log(len(tests))
        here = self.worth(rows, depth, test, self.plies)
        return self.log_column(rows, depth, test.column) + log_mean - here

    # --- choice

    def exceeds(self, x: float, y: float) -> bool:
        """Return whether x > y beyond rounding."""
        if LOG_ZERO in (x, y):
            return x > y
        gap = abs(x - y) / max(1.0, abs(x), abs(y))
        if gap > self.tie:
            self.closest = min(self.closest, gap)
        return x > y and gap > self.tie

    def best_first(self, values: dict[Any, float], at_most: int | None = None) -> list[Any]:
        """Return keys by falling value, earlier keys first on ties."""
        left = dict(values)
        order: list[Any] = []
        while left and (at_most is None or len(order) < at_most):
            top = max(left.values())
            order.append(next(key for key, value in left.items() if not self.exceeds(top, value)))
            del left[order[-1]]
        return order

    def splits(self, rows: Rows, depth: int, best: float) -> bool:
        """Return whether this quality beats the leaf by the factor."""
        as_leaf = self.log_leaf(rows, depth) if self.score == "quality" else self.log_m(rows, depth)
        return self.exceeds(best, as_leaf + log(self.stop_factor))

    def is_closed(self, rows: Rows, depth: int) -> bool:
        """Return whether the node stays a leaf whatever the qualities: no test, or one class."""
        pure = sum(count > 0 for count in self.data.counts(rows)) < 2
        return not self.feasible(rows, depth) or (pure and not self.split_pure)

    def best_test(self, rows: Rows, depth: int, column: int) -> ColumnTest:
        """Return the test that is installed when a column is chosen."""
        tests = self.candidates(rows, depth, column, self.plies)
        best: ColumnTest = self.best_first(
            {test: self.quality(rows, depth, test, self.plies) for test in tests}, 1
        )[0]
        return best

    def values(self, rows: Rows, depth: int) -> dict[ColumnTest, float]:
        """Return what may be an option, with its quality: every test looked at, or the best test of every column."""
        columns = self.feasible(rows, depth)
        if self.each_cut:
            return {
                test: self.quality(rows, depth, test, self.plies)
                for column in columns
                for test in self.candidates(rows, depth, column, self.plies)
            }
        return {
            self.best_test(rows, depth, column): self.column_quality(rows, depth, column, self.plies)
            for column in columns
        }

    def options(self, rows: Rows, depth: int) -> list[SplitOption]:
        """Return the options of a node, best first; none makes it a leaf. One if ``option_factor`` is 1."""
        if self.is_closed(rows, depth):
            return []
        if self.score == "gain_ratio":
            chosen = self.by_gain_ratio(rows, depth)
            return [SplitOption(t, ratio, self.log_split(rows, depth, t)) for t, ratio in chosen]
        found = self.values(rows, depth)
        best = max(found.values())
        if not self.splits(rows, depth, best):
            return []
        at_most = 1 if self.option_factor == 1 else self.max_options
        least = best + log(self.option_factor)
        kept = {test: value for test, value in found.items() if not self.exceeds(least, value)}
        order = self.best_first(kept, at_most)
        return [SplitOption(test, found[test], self.log_split(rows, depth, test)) for test in order]

    def split_law(self, rows: Rows, depth: int) -> dict[ColumnTest, float]:
        """Return the probability of every test under random growth: a column by exp Q_j, then its test by exp q."""
        if self.score != "quality":
            raise ValueError(f"score={self.score!r}; random growth draws by 'quality'")
        columns = [] if self.is_closed(rows, depth) else list(self.feasible(rows, depth))
        by_column = {column: self.column_quality(rows, depth, column, self.plies) for column in columns}
        if not columns or not self.splits(rows, depth, max(by_column.values())):
            return {}
        law, total = {}, log_sum(by_column.values())
        for column, quality in by_column.items():
            tests = self.candidates(rows, depth, column, self.plies)
            values = [self.worth(rows, depth, test, self.plies) for test in tests]
            for test, value in zip(tests, values, strict=True):
                law[test] = math.exp(quality - total + value - log_sum(values))
        return law

    # --- C4.5's choice

    def by_gain_ratio(self, rows: Rows, depth: int) -> list[tuple[ColumnTest, float]]:
        """Return the column of largest gain ratio among those of at least average gain, and its best test by gain."""
        found = {}
        for column, tests in self.feasible(rows, depth).items():
            each = {test: self._gain(rows, test) for test in tests}
            best = self._first_best({test: gain for test, (gain, _) in each.items()})
            numeric = self.data.kinds[column] == "numeric"
            fee = math.log2(len(tests)) / self.data.n(rows) if numeric else 0.0
            gain, entropy = each[best][0] - fee, each[best][1]
            if self._more(gain, 0.0):
                found[best] = (gain, gain / entropy)
        average = math.fsum(gain for gain, _ in found.values()) / max(1, len(found))
        enough = {
            test: ratio for test, (gain, ratio) in found.items() if not self._more(average - 1e-3, gain)
        }
        if not enough:
            return []
        best = self._first_best(enough)
        return [(best, enough[best])]

    def _gain(self, rows: Rows, test: ColumnTest) -> tuple[float, float]:
        """Return the gain, and the entropy of the branches, in bits."""
        n, branches = self.data.n(rows), list(self.data.branches(rows, test).values())
        after = math.fsum(_bits(self.data.counts(branch)) for branch in branches)
        entropy = _bits([self.data.n(branch) for branch in branches]) / n
        return (_bits(self.data.counts(rows)) - after) / n, entropy

    def _more(self, x: float, y: float) -> bool:
        if abs(x - y) > SMALL:
            self.closest = min(self.closest, abs(x - y) - SMALL)
        elif abs(x - y) > self.tie:
            self.closest = min(self.closest, SMALL - abs(x - y))
        return x - y > SMALL

    def _first_best(self, values: dict[ColumnTest, float]) -> ColumnTest:
        """Return the first that nothing later exceeds by more than SMALL."""
        best, top = next(iter(values)), LOG_ZERO
        for test, value in values.items():
            if top == LOG_ZERO or self._more(value, top):
                best, top = test, value
        return best


def _bits(counts: Iterable[int]) -> float:
    """Return the entropy in bits times the number of examples."""
    kept = [count for count in counts if count]
    n = sum(kept)
    return math.fsum(count * math.log2(n / count) for count in kept)
