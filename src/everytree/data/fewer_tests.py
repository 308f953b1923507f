"""Which cut-points a fit can afford, where its limits do not allow all of them.

    kept = cuts of greedy trees over all tests + cuts evenly spread over the examples, as many as the limits allow

So a search over the kept tests still finds what a greedy tree over all of them finds. Making all tests takes a cell for
every row and test; looking two tests ahead, which every search begins with, a pair of tests for every row. Only
cut-points are left out: tests of nominal and 0/1 columns are few, and have no neighbours that say nearly the same.

A column is read as codes, code = number of cuts below the value, so that ``x <= cut j`` is ``code <= j``: a small table
however many cuts there are.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.common.reading import looked
from everytree.data.column import Column
from everytree.data.cut_rules import BYTES_PER_CELL
from everytree.data.cuts import places_among
from everytree.data.encoding import Encoding, matched, outcomes
from everytree.data.frames import Frame

__all__ = ["Budget", "Coded", "alike", "code_columns", "greedy_cuts", "leave_out", "worth_leaving_out"]

# Measured, on a slow machine: a test of a row, from the comparison to the count table; and a pair of tests of 64 rows.
SECONDS_PER_CELL = 12e-9
SECONDS_PER_PAIR = 0.3e-9
SECONDS_PER_CODE = 60e-9  # a number of a row as code, sorted, and among the rows that no test tells apart
SECONDS_PER_LEVEL = 6e-9  # scikit-learn's: a row and a column at a level of a tree
LEAST_ROWS = 10_000  # for greedy trees, however little time there is
FOR_ALL = 0.5  # share of the time that all tests may take
FOR_SOME = 0.02  # and that those kept may, for one look: a search looks at many states
LEAST_CUTS = 3  # evenly spread, of every column, however little time there is

Codes = npt.NDArray[np.unsignedinteger[Any]]  # of the least size: there may be thousands of tests


@dataclass(frozen=True)
class Budget:
    """What a fit has left: seconds and bytes, or None; and whether its trees have two tests on a path."""

    seconds: float | None
    memory: int | None
    pairs: bool

    def missed(self, n_rows: int, n_tests: int) -> str:
        """Which limit does not allow all tests: "time", "memory" or ""."""
        if self.memory is not None and BYTES_PER_CELL * n_rows * n_tests > self.memory:
            return "memory"
        if self.seconds is None:
            return ""
        making, looking = self._seconds(n_rows, n_tests)
        return "time" if max(making, looking) > FOR_ALL * self.seconds else ""

    def affordable(self, n_rows: int, n_tests: int) -> int:
        """How many tests to keep of ``n_tests``, by the limits alone."""
        n = n_tests
        if self.memory is not None:
            n = min(n, int(self.memory / (2 * BYTES_PER_CELL * n_rows)))
        if self.seconds is not None:
            n = min(n, int(FOR_ALL / 2 * self.seconds / (SECONDS_PER_CELL * n_rows)))
            if self.pairs:
                per_pair = SECONDS_PER_PAIR * max(1.0, n_rows / 64)
                n = min(n, int(math.sqrt(2 * FOR_SOME * self.seconds / per_pair)))
        return n

    def _seconds(self, n_rows: int, n_tests: int) -> tuple[float, float]:
        looking = SECONDS_PER_PAIR * max(1.0, n_rows / 64) * n_tests**2 / 2 if self.pairs else 0.0
        return SECONDS_PER_CELL * n_rows * n_tests, looking


@dataclass(frozen=True)
class Coded:
    """One column of codes: those of the cuts of an attribute, or 0 and 1 for a test of its own (``cuts`` is 0)."""

    attribute: int
    cuts: int
    codes: Codes


def worth_leaving_out(encodings: list[Encoding], missed: str) -> bool:
    """Whether ``leave_out`` takes out enough: of numeric columns with many cuts; texts keep all.

    Of memory a tenth of the tests; of time more than it takes itself: rows count on both sides alike.
    """
    n_all = sum(len(encoding.tests) for encoding in encodings)
    cuts = [sum(test.op == "<=" for test in encoding.tests) for encoding in encodings]
    gone = sum(max(0, n - LEAST_CUTS) for n in cuts)
    if missed == "memory":
        return 10 * gone >= n_all
    saved = SECONDS_PER_CELL * gone + SECONDS_PER_PAIR / 64 * (n_all**2 - (n_all - gone) ** 2) / 2
    return saved > SECONDS_PER_CODE * sum(n > 0 for n in cuts) + SECONDS_PER_CELL * (n_all - sum(cuts))


def code_columns(frame: Frame, encodings: list[Encoding]) -> list[Coded]:
    """All tests as columns of codes; ``cuts`` come first among the tests of a numeric attribute."""
    coded = []
    for j, (column, encoding) in enumerate(looked(zip(frame.columns, encodings, strict=True))):
        given = matched(column, encoding)
        cuts = [test.value for test in encoding.tests if test.op == "<="]
        if cuts:
            coded.append(Coded(j, len(cuts), _codes(given, cuts, encoding.fill)))
        others = [test for test in encoding.tests if test.op != "<="]
        if others:
            rest = Encoding(encoding.kind, others, encoding.fill, encoding.codes)
            coded += [Coded(j, 0, (~outcome).astype(np.uint8)) for outcome in looked(outcomes(given, rest))]
    return coded


def _codes(column: Column, cuts: Sequence[float | int], fill: float | int | None) -> Codes:
    codes = places_among(column.data, cuts).astype(np.min_scalar_type(len(cuts)))
    if column.mask is not None:
        absent = sum(cut < fill for cut in cuts) if fill is not None else len(cuts)
        codes[column.mask] = absent
    return codes


def greedy_cuts(
    coded: list[Coded],
    y: npt.NDArray[np.intp],
    weights: npt.NDArray[np.int64] | None,
    max_depth: int | None,
    min_leaf: int,
    class_weights: npt.NDArray[np.float64] | None,
    seconds: float | None = None,
    memory: int | None = None,
) -> list[set[int]]:
    """For each column of codes the cuts that scikit-learn's greedy trees use: by Gini's impurity and by the entropy.

    With class weights also of the trees in which an example counts as much; not where rows have weights too, because
    scikit-learn then knows no fewest number of examples. Nothing stops scikit-learn: with few ``seconds`` left, trees
    are grown on as many rows as half of them allow, evenly spread, and a tree that would take more than half, as the
    one before did, is not grown; and none where the matrix that it wants takes more than ``memory`` bytes.
    """
    from sklearn.tree import DecisionTreeClassifier

    begun = time.monotonic()
    used: list[set[int]] = [set() for _ in coded]
    if max_depth == 0 or not coded:
        return used
    total = y.size if weights is None else int(weights.sum())
    if 2 * min_leaf > total:
        return used
    if class_weights is None and seconds is not None:
        coded, y, weights = _merged(coded, y, weights)
    if seconds is not None:
        levels = min(max_depth or 64, int(y.size).bit_length())
        fit = int(0.5 * seconds / (SECONDS_PER_LEVEL * len(coded) * levels))
        step = -(-y.size // max(fit, LEAST_ROWS))
        if step > 1:
            coded = [Coded(column.attribute, column.cuts, column.codes[::step]) for column in coded]
            y, weights = y[::step], None if weights is None else weights[::step]
            total, min_leaf = total // step, max(1, min_leaf // step)
    if memory is not None and 4 * y.size * len(coded) > memory:
        return used
    X = np.empty((y.size, len(coded)), dtype=np.float32)  # exact below 2^24
    for k, column in enumerate(coded):
        X[:, k] = column.codes
    # Of weights, not of rows; half an example below, so that rounding cannot decide.
    least: dict[str, Any] = {"min_samples_leaf": min_leaf}
    if weights is not None:
        least = {"min_weight_fraction_leaf": min((min_leaf - 0.5) / total, 0.5)}
    weighings: list[npt.NDArray[np.float64] | None] = [None if weights is None else weights.astype(float)]
    if class_weights is not None and weights is None:
        weighings.append(class_weights[y])
    took = 0.0
    for weighing, criterion in itertools.product(weighings, ("gini", "entropy")):
        start = time.monotonic()
        if seconds is not None and took > max(0.0, 0.5 * (seconds - (start - begun))):
            break
        grower = DecisionTreeClassifier(criterion=criterion, max_depth=max_depth, random_state=0, **least)
        tree = grower.fit(X, y, sample_weight=weighing).tree_
        inner = tree.children_left >= 0
        for column, threshold in zip(tree.feature[inner], tree.threshold[inner], strict=True):
            used[int(column)].add(math.floor(threshold))
        took = time.monotonic() - start
    return used


def _merged(
    coded: list[Coded], y: npt.NDArray[np.intp], weights: npt.NDArray[np.int64] | None
) -> tuple[list[Coded], npt.NDArray[np.intp], npt.NDArray[np.int64] | None]:
    """Merge rows of equal codes and class into one that weighs as much, if few are left: a tree is then grown at once.

    >>> x = Coded(0, 1, np.array([0, 0, 1] * 10, dtype=np.uint8))
    >>> _merged([x], np.array([0, 0, 1] * 10), None)[1:]
    (array([0, 1]), array([20, 10]))
    """
    sizes = [max(column.cuts, 1) + 1 for column in coded]
    n_kinds = math.prod(sizes) * (int(y.max()) + 1)
    if n_kinds > y.size / 4:
        return coded, y, weights
    kind = y.astype(np.int64)
    for column, size in zip(coded, sizes, strict=True):
        kind = kind * size + column.codes
    totals = np.bincount(kind, weights, minlength=n_kinds)
    left = np.flatnonzero(totals)
    counts, rest, codes = totals[left].astype(np.int64), left, []
    for size in reversed(sizes):
        rest, code = np.divmod(rest, size)
        codes.append(code)
    made = [Coded(c.attribute, c.cuts, code) for c, code in zip(coded, reversed(codes), strict=True)]
    return made, rest.astype(np.intp), counts


def leave_out(
    encodings: list[Encoding],
    coded: list[Coded],
    greedy: list[set[int]],
    n_tests: int,
    always: frozenset[str],
) -> int:
    """Leave about ``n_tests`` tests in the encodings: how many cuts were taken out.

    Kept are the cuts of greedy trees, those whose name is in ``always``, and others evenly spread over the examples.
    """
    numeric = [(column, cuts) for column, cuts in zip(coded, greedy, strict=True) if column.cuts]
    room = n_tests - sum(len(cuts) for _, cuts in numeric) - sum(not column.cuts for column in coded)
    gone = 0
    # Columns with few cuts keep them all, and leave room for the others.
    for k, (column, cuts) in enumerate(sorted(numeric, key=lambda each: each[0].cuts)):
        share = max(LEAST_CUTS, room // (len(numeric) - k))
        tests = encodings[column.attribute].tests
        keep = {i for i in range(column.cuts) if tests[i].name in always} if always else set[int]()
        keep |= cuts | _spread(column, share)
        room -= min(share, column.cuts)
        encodings[column.attribute].tests = [
            test for i, test in enumerate(tests) if i >= column.cuts or i in keep
        ]
        gone += column.cuts - len(keep)
    return gone


def _spread(column: Coded, n: int) -> set[int]:
    """At most n of the cuts of a column, with about as many rows between any two that follow one another."""
    if n >= column.cuts:
        return set(range(column.cuts))
    ordered = np.sort(column.codes)
    places = np.arange(1, n + 1) * (ordered.size - 1) // (n + 1)
    return {int(code) for code in ordered[places] if code < column.cuts}


def alike(
    coded: list[Coded], y: npt.NDArray[np.intp], n_classes: int, weights: npt.NDArray[np.int64] | None
) -> npt.NDArray[np.int64]:
    """Class counts of the examples that no test tells apart, a row for each such group; all pure ones as one per class.

    What these rows cost at least, every tree over all tests costs.

    >>> x = Coded(0, 1, np.array([0, 0, 0, 1], dtype=np.uint8))
    >>> alike([x], np.array([0, 0, 1, 1]), 2, None).tolist()
    [[2, 1], [0, 0], [0, 1]]
    """
    # As many columns as one number can hold are sorted together: one by one took seven times as long.
    group, span, n_groups = np.zeros(y.size, dtype=np.int64), 1, 1
    for column in [*coded, None]:
        size = 1 if column is None else int(column.codes.max()) + 1
        if column is None or span * size >= 2**62:
            _, group = np.unique(group, return_inverse=True)
            span = n_groups = int(group.max()) + 1
            if column is None or n_groups == y.size:
                break
        group, span = group * size + column.codes, span * size
    counts = np.zeros((n_groups, n_classes), dtype=np.int64)
    np.add.at(counts, (group, y), 1 if weights is None else weights)
    mixed = (counts > 0).sum(axis=1) > 1
    return np.concatenate([counts[mixed], np.diag(counts[~mixed].sum(axis=0))])
