"""The product of options that the engine is tested over, and a covering sample of it.

A *case* fixes one value of every option: how the table is made, the space, the prior, the leaf weights and
the switches of the engine. The full product has about 10^8 cases, so ``covering_cases`` draws a seeded sample
in which every pair of values of every two options occurs (a pairwise covering array), as often as asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree import _core, reference
from everytree.bayes.posterior import Posterior
from everytree.data.example_weights import example_weights
from everytree.space.tree_space import TreeSpace
from everytree.weights.dirichlet import DepthDecay
from everytree.weights.priors import (
    BalancedPrior,
    CodingPrior,
    LeafPenaltyPrior,
    Prior,
    ShapePrior,
    SizePrior,
    UniformPrior,
)

OPTIONS: dict[str, tuple[Any, ...]] = {
    "table": ("random", "repeated", "twins", "constant", "coincident", "xor", "thresholds", "absent", "wide"),
    "n_classes": (1, 2, 3, 4, 5),
    "weights": (False, True, "halves", "thirds", "floats"),
    "min_leaf": (1, 2, 3, 4, 5),
    "max_depth": (0, 1, 2, 3, 4, None),
    "prior": (
        "uniform", "size", "size(0.95, 0.5)", "fair size", "leaf penalty",
        "shapes", "fair shapes", "coding", "fair coding", "balanced", "fair balanced",
    ),
    "dirichlet": ("1", "0.3", "per class", "1/C", "decay"),
    "cost": ("error", "expected_error", "gini", "entropy", "cost"),
    "merge": (True, False),
    "frontier": (True, False),
    "linear": (True, False),
    "n_jobs": (1, 2, 3),
    "kernels": tuple(_core.available_kernels()),
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One value of every option, and the seed of everything random."""

    seed: int
    table: str = "random"
    n_classes: int = 2
    weights: bool | str = False
    min_leaf: int = 1
    max_depth: int | None = 2
    prior: str = "size"
    dirichlet: str = "1"
    cost: str = "error"
    merge: bool = True
    frontier: bool = True
    linear: bool = True
    n_jobs: int = 1
    kernels: str = ""


def covering_cases(rounds: int, seed: int = 0) -> list[Case]:
    """Cases in which every pair of values of every two options occurs at least ``rounds`` times."""
    cases: list[Case] = []
    for number in range(rounds):
        rng = Random(f"{seed} {number}")
        for values in _covering_rows(rng):
            cases.append(Case(seed=rng.randrange(2**31), **values))
    return cases


def _covering_rows(rng: Random) -> list[dict[str, Any]]:
    """A greedy covering array: each row starts from a pair not yet seen and is filled to cover the most."""
    missing = {((a, x), (b, y)) for a, b in combinations(OPTIONS, 2) for x in OPTIONS[a] for y in OPTIONS[b]}
    rows = []
    while missing:
        # Sets have no order of their own for strings, so the pick is made from a sorted list.
        row = dict(rng.choice(sorted(missing, key=repr)))
        rest = [name for name in OPTIONS if name not in row]
        rng.shuffle(rest)
        for name in rest:
            gain = {
                value: sum(_pair(name, value, other, row[other]) in missing for other in row)
                for value in rng.sample(OPTIONS[name], len(OPTIONS[name]))
            }
            row[name] = max(gain, key=lambda value: gain[value])
        missing -= pairs_of(row)
        rows.append(row)
    return rows


def pairs_of(row: dict[str, Any]) -> set[Any]:
    """Every pair of option values that occurs in a row."""
    return {_pair(a, row[a], b, row[b]) for a, b in combinations(OPTIONS, 2)}


_PLACE = {name: place for place, name in enumerate(OPTIONS)}


def _pair(a: str, x: Any, b: str, y: Any) -> Any:
    return ((a, x), (b, y)) if _PLACE[a] < _PLACE[b] else ((b, y), (a, x))


# Tables -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Data:
    """Examples before they are counted."""

    X: npt.NDArray[np.uint8]
    y: npt.NDArray[np.intp]
    weights: npt.NDArray[Any] | None
    n_classes: int


def make_data(case: Case) -> Data:
    """The examples of a case: small enough for the reference, of the kind that the case asks for."""
    rng = np.random.default_rng(case.seed)
    deep = case.max_depth is None or case.max_depth > 2
    n_tests = int(rng.integers(3, 6 if deep else 8))
    if case.table == "wide":  # more tests than a vector of the frontier holds
        n_tests = int(rng.integers(7, 10) if deep else rng.integers(15, 20))
    # One in eight tables is as small as the minimum leaf size allows; the others leave room for some depth.
    room = 13 if case.table == "wide" and deep else 30
    n = int(rng.integers(max(case.min_leaf, 2), room))
    if rng.random() < 7 / 8:
        n = max(n, min(room, 5 * case.min_leaf))
    X = rng.integers(0, 2, (n, n_tests)).astype(np.uint8)
    y = rng.integers(0, case.n_classes, n)
    if case.table == "repeated":
        X = X[rng.integers(0, max(2, n // 4), n)]
    elif case.table == "twins":  # a duplicate and a complement of another column
        X = np.concatenate([X, X[:, :1], 1 - X[:, -1:]], axis=1)
        X = X[:, rng.permutation(X.shape[1])]
    elif case.table == "constant":
        X[:, rng.integers(n_tests)] = rng.integers(2)
        X[:, 0] = 1
    elif case.table == "coincident":
        # The last column equals the first where the second is 0 and opposes it where the second is 1: a
        # duplicate and a complement inside covers only.
        X = np.concatenate([X, (X[:, :1] ^ X[:, 1:2])], axis=1)
    elif case.table == "xor":
        y = (X[:, 0] ^ X[:, 1]).astype(np.intp) % case.n_classes
    elif case.table == "thresholds":
        value = rng.integers(0, n_tests + 1, n)
        X = (value[:, None] <= np.arange(n_tests)).astype(np.uint8)
        noisy = np.where(rng.random(n) < 0.2, rng.integers(0, n_tests + 1, n), value)
        y = noisy * case.n_classes // (n_tests + 1)
    elif case.table == "absent":
        y = np.minimum(y, max(0, case.n_classes - 2))
    weights = None
    if case.weights:
        weights = rng.integers(0, 5, n)
        if isinstance(case.weights, str):
            part = {"halves": 2, "thirds": 3}.get(case.weights)
            weights = rng.random(n) * 3 if part is None else rng.integers(0, 4 * part, n) / part
        weights[0] = max(weights[0], case.min_leaf)
    return Data(X, y.astype(np.intp), weights, case.n_classes)


def attributes_of(n_tests: int) -> list[int]:
    """The attribute behind each test: three attributes, taken in turn but for the first two tests."""
    return [max(0, test - 1) % 3 for test in range(n_tests)]


def cost_matrix(n_classes: int, seed: int) -> list[list[float]]:
    """A cost matrix: whole numbers with a free diagonal, or anything finite."""
    rng = np.random.default_rng(seed)
    matrix = rng.normal(1.0, 1.0, (n_classes, n_classes))
    if seed % 2:
        matrix = rng.integers(0, 6, (n_classes, n_classes)) * (1.0 - np.eye(n_classes))
    return [[float(value) for value in row] for row in matrix]


# The two sides ----------------------------------------------------------------------------------------------

PRIORS: dict[str, tuple[Prior, Any]] = {
    "uniform": (UniformPrior(), lambda attributes: reference.UniformPrior()),
    "size": (SizePrior(), lambda attributes: reference.SizePrior()),
    "size(0.95, 0.5)": (SizePrior(0.95, 0.5), lambda attributes: reference.SizePrior(0.95, 0.5)),
    "fair size": (
        SizePrior(0.7, 0.4, attribute_fair=True),
        lambda attributes: reference.SizePrior(0.7, 0.4, attributes),
    ),
    "leaf penalty": (LeafPenaltyPrior(0.3), lambda attributes: reference.LeafPenaltyPrior(0.3)),
    "shapes": (ShapePrior(), lambda attributes: reference.ShapePrior()),
    "fair shapes": (ShapePrior(attribute_fair=True), lambda attributes: reference.ShapePrior(attributes)),
    "coding": (CodingPrior(), lambda attributes: reference.CodingPrior()),
    "fair coding": (CodingPrior(attribute_fair=True), lambda attributes: reference.CodingPrior(attributes)),
    "balanced": (BalancedPrior(), lambda attributes: reference.BalancedPrior()),
    "fair balanced": (
        BalancedPrior(2.5, attribute_fair=True),
        lambda attributes: reference.BalancedPrior(2.5, attributes),
    ),
}


def dirichlets(name: str, n_classes: int) -> tuple[Any, Any]:
    """The Dirichlet parameters of a case, for the engine and for the reference."""
    if name == "decay":
        return DepthDecay(0.7, 0.6), reference.DepthDecay(0.7, 0.6)
    if name == "per class":
        values = [0.4 + 0.7 * c for c in range(n_classes)]
        return values, values
    if name == "1/C":
        return name, name
    return float(name), float(name)


def counted_weights(weights: npt.NDArray[Any]) -> list[Fraction]:
    """The weights as the table counts them: exactly, or rounded by a millionth or less."""
    counted = example_weights(weights, len(weights))
    assert counted is not None
    assert counted.rounding < 1e-6
    return [Fraction(int(n), counted.per_example) for n in counted.counts]


class Twins:
    """The engine and the reference on the same case. Everything is asked for when first used."""

    def __init__(self, case: Case, data: Data | None = None) -> None:
        self.case = case
        self.data = data = make_data(case) if data is None else data
        self.attributes = attributes_of(data.X.shape[1])
        _core.use_kernels(case.kernels)
        self.space = TreeSpace(
            data.X,
            data.y,
            case.max_depth,
            case.min_leaf,
            data.weights,
            n_jobs=case.n_jobs,
            attributes=self.attributes,
            classes=range(data.n_classes),
        )
        self.space.switches.update(merge=case.merge, frontier=case.frontier, linear=case.linear)
        self.table = reference.Table.from_data(
            data.X.tolist(),
            data.y.tolist(),
            data.n_classes,
            None if data.weights is None else counted_weights(data.weights),
        )
        self.twin = reference.Space(self.table, case.max_depth, case.min_leaf)
        ours, theirs = PRIORS[case.prior]
        self._prior, self._twin_prior = ours, theirs(self.attributes)
        self._dirichlet, twin_dirichlet = dirichlets(case.dirichlet, data.n_classes)
        self.bayes = reference.Bayes(self.twin, self._twin_prior, twin_dirichlet)
        self._posterior: Posterior | None = None

    @property
    def posterior(self) -> Posterior:
        """The engine's posterior; folded once."""
        if self._posterior is None:
            self._posterior = self.space.posterior(self._prior, self._dirichlet)
        return self._posterior

    def rows(self, how_many: int) -> npt.NDArray[np.uint8]:
        """Random rows, most of them not in the table, then some that are."""
        rng = np.random.default_rng(self.case.seed + 1)
        unseen = rng.integers(0, 2, (how_many, self.data.X.shape[1])).astype(np.uint8)
        return np.concatenate([unseen, self.data.X[:how_many]])
