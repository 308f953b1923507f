"""A column, then a test by its density: the chains with ``density="columns"`` against the plain reference."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from chain_cases import EVEN, KINDS, TWINS, UNEVEN, Key, key_of, normalised, tree_of

import everytree as et
import everytree._core as core
from everytree import reference
from everytree.reference import ValueTest, column_proposal, of_feasible
from everytree.weights.tables import tabulated


class Mixed:
    """Columns of every kind, of which one mixes cuts and "is missing", with a fitted model and its twin."""

    def __init__(self, seed: int, missing: str = "category", n: int = 50, **options: Any) -> None:
        rng = np.random.default_rng(seed)
        age = np.where(rng.random(n) < 0.25, np.nan, rng.integers(0, 4, n).astype(float))
        colour = rng.choice(np.array(["red", "green", "blue"], dtype=object), n)
        colour[rng.random(n) < 0.1] = None
        flag = np.where(rng.random(n) < 0.15, np.nan, rng.integers(0, 2, n).astype(float))
        self.frame = pd.DataFrame({"age": age, "colour": colour, "flag": flag, "sex": rng.integers(0, 2, n)})
        self.y = np.where(rng.random(n) < 0.4, np.nan_to_num(age) > 1, rng.integers(0, 2, n)).astype(int)
        self.weight = rng.integers(1, 4, n)
        self.model = et.MCMCTreeClassifier(
            density="columns",
            informed=0,
            bins="all",
            missing=missing,
            n_chains=1,
            n_draws=4,
            burn_in=0,
            **options,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # four draws say nothing
            self.model.fit(self.frame, self.y, sample_weight=self.weight)
        binarizer = self.model.binarizer_
        self.tests = [ValueTest(test.column, test.op, test.value) for test in binarizer.tests_]
        X = binarizer.transform(self.frame)
        rows = np.repeat(X, self.weight, axis=0).tolist()
        table = reference.Table.from_data(rows, np.repeat(self.y, self.weight).tolist(), 2)
        self.space = self.model.draws_.space
        self.twin = reference.Space(table, self.space.max_depth, self.space.min_leaf)
        self.bayes = reference.Bayes(self.twin, reference.SizePrior(), 1.0)

    def values(self) -> dict[Any, list[Any]]:
        """The values as they were, None where one is missing."""
        return {
            j: [None if value is None or value != value else value for value in self.frame[name]]
            for j, name in enumerate(self.frame)
        }

    def density(self) -> list[float]:
        return self.model._density(self.space.table)

    def proposal(self, blind: float = 1.0) -> Any:
        """The proposal of the reference: by columns, and in part by a look at the classes."""
        r = column_proposal(self.values(), self.tests, self.weight.tolist())
        columns = of_feasible(self.twin, r)

        def mixed(cover: int, depth: int) -> dict[int, float]:
            log = {}
            for test in self.twin.feasible(cover, depth):
                counts = [self.twin.table.class_counts(c) for c in self.twin.table.children(cover, test)]
                log[test] = math.fsum(reference.log_marginal(each, (1.0, 1.0)) for each in counts)
            seen = normalised(log)
            return {test: blind * x + (1 - blind) * seen[test] for test, x in columns(cover, depth).items()}

        return columns if blind == 1 else mixed

    def chains(self, kernel: str, odds: Any = EVEN, blind: float = 1.0, **options: Any) -> core.TreeChains:
        weights = tabulated(et.SizePrior(), 1.0, 2, 12, [])
        counts = self.space.core_table()
        target = core.TreeTarget.posterior(counts, weights.prior, weights.dirichlet, core.Control())
        depth = -1 if self.space.max_depth is None else self.space.max_depth
        return core.TreeChains(
            counts, depth, self.space.min_leaf, target, kernel, list(odds), blind, 1, 0, 1, core.Control(),
            density=self.density(), density_outright=True, **options,
        )  # fmt: skip


@pytest.mark.parametrize("missing", ["category", "impute"])
@pytest.mark.parametrize("seed", range(4))
def test_the_density_is_that_of_the_reference(seed: int, missing: str) -> None:
    mixed = Mixed(seed, missing, max_depth=2)
    values = mixed.values()
    if missing == "impute":  # a value that is filled in asks for what that value asks for
        fill = {j: each.fill for j, each in enumerate(mixed.model.binarizer_.encodings_)}
        values = {j: [fill[j] if v is None else v for v in column] for j, column in values.items()}
    twin = column_proposal(values, mixed.tests, mixed.weight.tolist())
    assert mixed.density() == pytest.approx([float(r) for r in twin.values()], abs=1e-15)
    ops = {(test.op, test.value == "missing") for test in mixed.tests if test.column == 0}
    assert ops == ({("<=", False), ("is", True)} if missing == "category" else {("<=", False)})


@pytest.mark.long
@pytest.mark.parametrize(("odds", "blind"), [(EVEN, 1.0), (UNEVEN, 1.0), (UNEVEN, 0.6)])
@pytest.mark.parametrize(
    "options", [{"max_depth": 2, "min_leaf": 4}, {"max_depth": 3, "min_leaf": 12}], ids=str
)
def test_moves_are_those_of_the_reference(
    odds: tuple[float, ...], blind: float, options: dict[str, Any]
) -> None:
    """Where a proposal leads, its log probability and that of its undoing, how often it comes and how often none."""
    mixed = Mixed(5, **options)
    kernel = reference.ChipmanKernel(
        mixed.twin,
        mixed.proposal(blind),
        {twin: odds[KINDS.index(kind)] for kind, twin in TWINS.items()},
        outright=True,
    )
    chains, control, n = mixed.chains("chipman", odds, blind), mixed.space.limits.control(), 400
    trees = [key_of(tree) for tree in mixed.twin.enumerate_trees()]
    rng = np.random.default_rng(1)
    met, silent = Counter[str](), 0
    for number, at in enumerate([0, *rng.integers(0, len(trees), 8).tolist()]):
        want: dict[str, dict[Key, list[tuple[float, float]]]] = {kind: {} for kind in kernel.KINDS}
        for move in kernel.moves(tree_of(trees[at])):
            want[move.kind].setdefault(key_of(move.state), []).append((move.log_forward, move.log_reverse))
        for kind, twin in TWINS.items():
            k = KINDS.index(kind)
            drawn = Counter[Key]()
            for found in chains.propose(list(trees[at]), k, number, n, control):
                if found is None:
                    silent += 1
                    continue
                key, _, log_target, forward, reverse = found
                known = want[twin][tuple(key)]
                assert any(abs(f - forward) < 1e-9 and abs(b - reverse) < 1e-9 for f, b in known)
                exact = mixed.bayes.log_joint(tree_of(key)) - mixed.bayes.log_joint(tree_of(trees[at]))
                assert abs(log_target - exact) < 1e-9
                drawn[tuple(key)] += 1
                met[kind] += 1
            for new, ways in want[twin].items():
                mean = n / odds[k] * math.fsum(math.exp(f) for f, _ in ways)
                assert abs(drawn[new] - mean) < 6 * math.sqrt(mean) + 6
    assert all(met[kind] > 5 for kind in ("grow", "prune", "change")), met
    assert silent > 0  # the proposal is outright: some tests are not feasible, some values ask for none


@pytest.mark.parametrize("orders", ["counted", "once"])
def test_the_stack_kernel_of_the_paper_is_that_of_the_reference(orders: str) -> None:
    mixed = Mixed(6, max_depth=2, min_leaf=6)
    kernel = reference.StackKernel(mixed.twin, mixed.proposal(), outright=True)
    chains, n = mixed.chains("stack", orders=orders), 3000
    want = {key_of(kernel.tree(move.state)): move for move in kernel.moves(())}
    drawn = Counter[Key]()
    for found in chains.propose([-1], 0, 3, n, mixed.space.limits.control()):
        if found is not None:
            move = want[tuple(found[0])]
            assert found[3:] == pytest.approx((move.log_forward, move.log_reverse), abs=1e-9)
            drawn[tuple(found[0])] += 1
    for key, move in want.items():
        mean = n * math.exp(move.log_forward)
        assert abs(drawn[key] - mean) < 6 * math.sqrt(mean) + 6
    total = math.fsum(math.exp(move.log_forward) for move in want.values())
    assert total < 1 / 2 + 1e-12  # the single leaf has two choices


@pytest.mark.long
def test_the_chain_of_the_twin_keeps_the_target() -> None:
    """Detailed balance of the reference itself, where some proposals are none."""
    mixed = Mixed(7, max_depth=2, min_leaf=9)
    kernel = reference.ChipmanKernel(mixed.twin, mixed.proposal(), outright=True)
    law = normalised({tree: mixed.bayes.log_joint(tree) for tree in mixed.twin.enumerate_trees()})
    after: dict[Any, float] = dict.fromkeys(law, 0.0)
    for tree, p in law.items():
        for new, q in reference.transition(kernel, mixed.bayes.log_joint, tree).items():
            assert q > -1e-12
            after[new] += p * q
    assert all(after[tree] == pytest.approx(p, abs=1e-12) for tree, p in law.items())
    with pytest.raises(ValueError, match="summing to one"):
        reference.ChipmanKernel(mixed.twin, mixed.proposal()).moves(None)
