"""Small spaces for chains over trees: the core's chains, and the same target in the reference."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from scipy.stats import chi2

import everytree._core as core
from everytree import reference
from everytree.bayes.chains import effective_draws
from everytree.bayes.moves import MOVES, core_moves
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
from everytree.weights.tables import tabulated

Key = tuple[int, ...]
KINDS = core_moves()
TWINS = {kind: MOVES[kind].twin for kind in KINDS if MOVES[kind].twin}  # those that the reference defines
EVEN = (0.25, 0.25, 0.25, 0.25, 0.0)
UNEVEN = (0.35, 0.15, 0.3, 0.2, 0.0)
ATTRIBUTES = (0, 0, 1, 2, 1, 2, 3, 3, 0)

# name -> our prior, and its twin for attributes
PRIORS: dict[str, tuple[Prior, Any]] = {
    "uniform": (UniformPrior(), lambda a: reference.UniformPrior()),
    "size": (SizePrior(), lambda a: reference.SizePrior()),
    "fair size": (SizePrior(0.95, 0.5, attribute_fair=True), lambda a: reference.SizePrior(0.95, 0.5, a)),
    "penalty": (LeafPenaltyPrior(0.3), lambda a: reference.LeafPenaltyPrior(0.3)),
    "shapes": (ShapePrior(), lambda a: reference.ShapePrior()),
    "fair shapes": (ShapePrior(attribute_fair=True), lambda a: reference.ShapePrior(attributes=a)),
    "coding": (CodingPrior(), lambda a: reference.CodingPrior()),
    "fair coding": (CodingPrior(attribute_fair=True), lambda a: reference.CodingPrior(attributes=a)),
    "balanced": (BalancedPrior(), lambda a: reference.BalancedPrior()),
}
DIRICHLETS: dict[str, tuple[Any, Any]] = {
    "1": (1.0, 1.0),
    "0.3": (0.3, 0.3),
    "1/C": ("1/C", "1/C"),
    "decay": (DepthDecay(0.7, 0.6), reference.DepthDecay(0.7, 0.6)),
}
# name -> (phi, scale or None for the number of examples, alpha)
RISKS: dict[str, tuple[str, float | None, float]] = {
    "errors": ("misclassification", None, 1.5),
    "gini": ("gini", 20.0, 1.4),
    "entropy": ("entropy", None, 2.0),
    "paper": ("gini", 1.0, 0.7),
}


def key_of(tree: reference.Tree) -> Key:
    return (-1,) if tree is None else (tree[0], *key_of(tree[1]), *key_of(tree[2]))


def tree_of(key: Iterable[int]) -> reference.Tree:
    rest = iter(key)

    def part() -> reference.Tree:
        test = next(rest)
        return None if test < 0 else (test, part(), part())

    return part()


class Small:
    """A small space and a target on it, in the core and in the reference. ``law`` is a prior or a risk."""

    def __init__(
        self,
        seed: int,
        law: str = "size",
        *,
        n: int = 24,
        n_tests: int = 4,
        n_classes: int = 2,
        max_depth: int | None = 3,
        min_leaf: int = 1,
        dirichlet: str = "1",
        weights: bool = False,
        signal: float = 0.35,
        cuts: str = "",
    ) -> None:
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 2, (n, n_tests)).astype(np.uint8)
        if seed % 3 == 0:  # tests that split alike: everywhere, or only in some covers
            X[:, -1] = 1 - X[:, 0] if seed % 2 else X[:, 0] ^ (X[:, 1] & X[:, 2])
        if cuts:  # all tests but the last two are cuts of one number: at most, or above
            numbers = rng.integers(0, n_tests - 1, n)[:, None]
            below = numbers <= np.arange(n_tests - 2)
            X[:, :-2] = below if cuts == "at most" else ~below
        shown = (X[:, 0] + (X[:, 1] if n_classes > 2 else 0)) % n_classes
        y = np.where(rng.random(n) < signal, shown, rng.integers(0, n_classes, n))
        weight = rng.integers(1, 4, n) if weights else np.ones(n, int)
        attributes = ATTRIBUTES[:n_tests]
        self.space = TreeSpace(
            X, y, max_depth, min_leaf, sample_weight=weight, attributes=attributes, classes=range(n_classes)
        )
        self.law, self.dirichlet = law, dirichlet
        rows = np.repeat(X, weight, axis=0)
        table = reference.Table.from_data(rows.tolist(), np.repeat(y, weight).tolist(), n_classes)
        self.reference = reference.Space(table, max_depth, min_leaf)
        self.log_target: Callable[[reference.Tree], float]
        if law in RISKS:
            phi, scale, alpha = RISKS[law]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                self.log_target = reference.EnergyTarget(table, alpha, phi, scale)
        else:
            twin = PRIORS[law][1](attributes)
            self.bayes = reference.Bayes(self.reference, twin, DIRICHLETS[dirichlet][1])
            self.log_target = self.bayes.log_joint

    def target(self) -> core.TreeTarget:
        counts = self.space.core_table()
        if self.law in RISKS:
            phi, scale, alpha = RISKS[self.law]
            return core.TreeTarget.risk(
                counts, phi, self.space.table.total if scale is None else scale, alpha
            )
        prior = PRIORS[self.law][0]
        attributes = self.space.attributes_for(prior)
        weights = tabulated(prior, DIRICHLETS[self.dirichlet][0], len(self.space.classes), 12, attributes)
        return core.TreeTarget.posterior(counts, weights.prior, weights.dirichlet, core.Control())

    def chains(
        self,
        kernel: str = "chipman",
        *,
        odds: Iterable[float] = EVEN,
        blind: float = 1.0,
        n_chains: int = 1,
        seed: int = 0,
        n_threads: int = 1,
        **options: Any,
    ) -> core.TreeChains:
        depth = -1 if self.space.max_depth is None else self.space.max_depth
        return core.TreeChains(
            self.space.core_table(),
            depth,
            self.space.min_leaf,
            self.target(),
            kernel,
            list(odds),
            blind,
            n_chains,
            seed,
            n_threads,
            core.Control(),
            **options,
        )

    def control(self) -> core.Control:
        return self.space.limits.control()

    def trees(self) -> list[Key]:
        return [key_of(tree) for tree in self.reference.enumerate_trees()]

    def log_trees(self) -> dict[Key, float]:
        """Every tree with its log target."""
        return {key_of(tree): self.log_target(tree) for tree in self.reference.enumerate_trees()}

    def informed(self, blind: float) -> Callable[[int, int], Mapping[int, float]]:
        """The test proposal that looks one step ahead, by its definition; for a posterior."""

        def proposal(cover: int, depth: int) -> Mapping[int, float]:
            tests = self.reference.feasible(cover, depth)
            log_weight = {}
            for test in tests:
                children = self.reference.table.children(cover, test)
                data = 0.0
                for child in children:
                    counts = self.reference.table.class_counts(child)
                    a = reference.dirichlet_at(self.bayes.dirichlet, depth + 1, len(counts))
                    data += reference.log_marginal(counts, a)
                log_weight[test] = self.bayes.log_split(cover, depth, test) + data
            most = max(log_weight.values())
            total = math.fsum(math.exp(x - most) for x in log_weight.values())
            return {
                test: blind / len(tests) + (1 - blind) * math.exp(x - most) / total
                for test, x in log_weight.items()
            }

        return proposal


def keys_of(chain: Mapping[str, Any], name: str = "keys") -> list[Key]:
    """The tree of every draw of a chain."""
    ends = chain["ends"].tolist()
    flat = chain[name].tolist()
    trees = [tuple(flat[begin:end]) for begin, end in zip([0, *ends[:-1]], ends, strict=True)]
    return [trees[k] for k in chain["which"].tolist()]


def normalised(log_weights: Mapping[Any, float]) -> dict[Any, float]:
    most = max(log_weights.values())
    total = math.fsum(math.exp(x - most) for x in log_weights.values())
    return {key: math.exp(x - most) / total for key, x in log_weights.items()}


def effective(chains: Iterable[Mapping[str, Any]]) -> float:
    """Effective number of draws: the least one of log target and leaves."""
    log = np.array([chain["log_prior"] + chain["log_data"] for chain in chains])
    leaves = np.array([chain["leaves"][chain["which"]] for chain in chains], float)
    return min(effective_draws(log), effective_draws(leaves))


def misfit(drawn: Mapping[Any, int], exact: Mapping[Any, float], ess: float) -> tuple[float, int]:
    """χ² of the frequencies, as if there were only ``ess`` draws, and its degrees of freedom; rare ones together."""
    n = sum(drawn.values())
    share = {key: count / n for key, count in drawn.items()}
    common = {key: p for key, p in exact.items() if ess * p >= 8}
    rest = 1 - math.fsum(common.values())
    statistic = math.fsum(ess * (share.get(key, 0.0) - p) ** 2 / p for key, p in common.items())
    degrees = len(common) - 1
    if ess * rest >= 8:
        statistic += ess * (1 - math.fsum(share.get(key, 0.0) for key in common) - rest) ** 2 / rest
        degrees += 1
    return statistic, max(degrees, 1)


def distance(drawn: Mapping[Any, int], exact: Mapping[Any, float]) -> float:
    """Total variation between frequencies and probabilities."""
    n = sum(drawn.values())
    return 0.5 * math.fsum(abs(drawn.get(key, 0) / n - p) for key, p in exact.items())


def check(drawn: Mapping[Any, int], exact: Mapping[Any, float], ess: float) -> None:
    """The draws fit the probabilities, by χ² and by total variation."""
    assert set(drawn) <= set(exact)
    assert ess > 300
    statistic, degrees = misfit(drawn, exact, ess)
    assert statistic < 1.2 * chi2.isf(1e-4, degrees), (statistic, degrees, ess)
    expected = 0.5 * math.fsum(math.sqrt(2 * p * (1 - p) / (math.pi * ess)) for p in exact.values())
    assert distance(drawn, exact) < 1.5 * expected + 0.01
