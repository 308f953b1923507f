"""Cut points guessed from a boosted ensemble: those that its trees gain most by (McTavish et al. 2022).

Small trees are fitted one after the other, each to what the ones before leave unexplained (scikit-learn's
``GradientBoostingClassifier``). A cut that many of them use, and gain much by, is likely to be of use to one good tree
too. The cuts of all columns are ranked together by their total gain, and the first ones are kept: few tests, chosen by
the classes, wherever they lie.

The ensemble sees the place of each number among the distinct ones, so that a split of it is a break between two
neighbours; a missing value comes after all of them, as no cut holds for it. It sees each distinct row once, sorted and
with its weight: neither the order of rows nor weights instead of repetitions can change a cut.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.data.column import Column
from everytree.data.cuts import cut_between
from everytree.data.facts import ColumnFacts

__all__ = ["boosted_cuts"]

MOST = 40  # cuts, over all columns
DEPTH = 3  # of each tree
TREES = 100  # about as many for three classes and more, with one tree for each class in a round; half for two classes
ROUNDS = (8, 50)  # the fewest and the most
ROWS = 20_000  # more distinct rows than these are thinned out: cuts are guessed, and all rows then judge the trees

Codes = npt.NDArray[np.float32]


def boosted_cuts(
    columns: Sequence[Column],
    facts: Sequence[ColumnFacts],
    fills: Sequence[Any],
    wanted: Iterable[int],
    y: npt.NDArray[np.intp],
    weights: npt.NDArray[Any] | None = None,
) -> dict[int, list[float | int]]:
    """The cut points of the ``wanted`` columns, each in increasing order; at most 40 in all.

    ``facts`` are those of the columns, ``fills`` what stands for missing values, or None. All columns are seen.

    >>> from everytree.data.facts import facts_of
    >>> age = Column("age", "numeric", np.array([20, 30, 40, 50, 60, 70]))
    >>> boosted_cuts([age], [facts_of(age)], [None], [0], np.array([0, 0, 1, 1, 0, 0]))
    {0: [35.0, 55.0]}
    """
    whole = {
        j: facts[j].filled(fills[j]) for j in wanted if facts[j].kind == "numeric" and not facts[j].only_01
    }
    found: dict[int, list[float | int]] = {j: [] for j in whole}
    if not whole or np.unique(y).size < 2:
        return found
    codes, owner = _codes(columns, facts, fills)
    gains: dict[tuple[int, int], float] = defaultdict(float)
    for (place, after), gain in _gains(*_distinct(codes, y, weights)).items():
        j = owner[place]
        # Beyond the last number only missing values come: that is no cut.
        if j in whole and after < whole[j].values.size - 1:
            gains[j, after] += gain
    best = sorted(gains, key=lambda at: (-gains[at], at))[:MOST]
    for j, after in sorted(best):
        values = whole[j].values
        found[j].append(cut_between(values[after], values[after + 1]))
    return found


def _codes(
    columns: Sequence[Column], facts: Sequence[ColumnFacts], fills: Sequence[Any]
) -> tuple[Codes, list[int]]:
    """What the ensemble sees, a column for each of numbers and for each nominal value; and whose each of them is."""
    parts: list[npt.NDArray[Any]] = []
    owner: list[int] = []
    for j, (column, each) in enumerate(zip(columns, facts, strict=True)):
        if each.kind == "empty":
            continue
        missing = np.zeros(len(column), dtype=bool) if column.mask is None else column.mask
        if each.kind == "nominal":
            place = {value: code for code, value in enumerate(each.values)}
            held = column.codes_in(place, -1)
            if fills[j] is not None:
                held = np.where(missing, place[fills[j]], held)
            new = [held == code for code in range(len(place))]
        else:
            values = each.filled(fills[j]).values
            gone = values.size if fills[j] is None else int(np.searchsorted(values, fills[j]))
            new = [np.where(missing, gone, np.searchsorted(values, column.data))]
        parts += new
        owner += [j] * len(new)
    return np.column_stack([part.astype(np.float32) for part in parts]), owner


def _distinct(
    codes: Codes, y: npt.NDArray[np.intp], weights: npt.NDArray[Any] | None
) -> tuple[Codes, npt.NDArray[np.intp], npt.NDArray[np.float64]]:
    """The distinct rows in order, their classes, and their weights; thinned out where they are many."""
    rows, place = np.unique(np.column_stack([codes, y.astype(np.float32)]), axis=0, return_inverse=True)
    counts = np.bincount(place.ravel(), weights, minlength=len(rows)).astype(np.float64)
    if len(rows) > ROWS:
        some = np.linspace(0, len(rows) - 1, ROWS).astype(np.intp)
        rows, counts = rows[some], counts[some]
    return np.ascontiguousarray(rows[:, :-1]), rows[:, -1].astype(np.intp), counts


def _gains(
    codes: Codes, y: npt.NDArray[np.intp], weights: npt.NDArray[np.float64]
) -> Mapping[tuple[int, int], float]:
    """The total gain of each split of the ensemble: of a column of the codes, after one of its places."""
    from sklearn.ensemble import GradientBoostingClassifier

    gains: dict[tuple[int, int], float] = defaultdict(float)
    n_classes = np.unique(y).size
    if n_classes < 2:
        return gains
    rounds = min(max(TREES // n_classes, ROUNDS[0]), ROUNDS[1])
    ensemble = GradientBoostingClassifier(n_estimators=rounds, max_depth=DEPTH, random_state=0)
    for regressor in ensemble.fit(codes, y, weights).estimators_.ravel():
        tree = regressor.tree_
        mass = tree.weighted_n_node_samples * tree.impurity
        for node in np.flatnonzero(tree.children_left >= 0).tolist():
            left, right = tree.children_left[node], tree.children_right[node]
            split = int(tree.feature[node]), int(np.floor(tree.threshold[node]))
            gains[split] += float(mass[node] - mass[left] - mass[right])
    return gains
