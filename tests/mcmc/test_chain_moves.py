"""Targets and moves of chains over trees, one by one, against the plain reference."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest
from chain_cases import DIRICHLETS, EVEN, KINDS, PRIORS, RISKS, TWINS, UNEVEN, Key, Small, key_of, tree_of

from everytree import reference

SPACES: list[dict[str, Any]] = [
    {"max_depth": 3},
    {"max_depth": 3, "min_leaf": 3, "n_classes": 3, "n": 30},
    {"max_depth": None, "min_leaf": 4, "n": 30, "weights": True},
    {"max_depth": 2, "min_leaf": 2, "n_classes": 1},
    {"max_depth": 4, "min_leaf": 5, "n": 40, "n_tests": 5},
    {"max_depth": 2, "min_leaf": 3, "n": 40, "n_tests": 9, "cuts": "at most"},
    {"max_depth": 2, "n": 30, "n_tests": 8, "cuts": "above"},
]


@pytest.mark.parametrize("law", [*PRIORS, *RISKS])
def test_every_tree_weighs_what_the_reference_says(law: str) -> None:
    for seed, (options, dirichlet) in enumerate(product(SPACES, DIRICHLETS if law in PRIORS else ["1"])):
        small = Small(seed, law, dirichlet=dirichlet, **options)
        chains = small.chains()
        trees = small.trees()
        for key in trees[:: max(1, len(trees) // 12)]:
            exact = small.log_target(tree_of(key))
            assert sum(chains.log_target(list(key))) == pytest.approx(exact, rel=1e-12, abs=1e-11)


def moves_of(
    kernel: reference.ChipmanKernel, tree: reference.Tree
) -> dict[str, dict[Key, list[tuple[float, float]]]]:
    found: dict[str, dict[Key, list[tuple[float, float]]]] = {kind: {} for kind in kernel.KINDS}
    for move in kernel.moves(tree):
        found[move.kind].setdefault(key_of(move.state), []).append((move.log_forward, move.log_reverse))
    return found


@pytest.mark.parametrize("options", SPACES)
@pytest.mark.parametrize(
    ("law", "odds", "blind"),
    [
        ("size", EVEN, 1.0),
        ("fair coding", UNEVEN, 1.0),
        ("shapes", UNEVEN, 0.2),
        ("fair size", EVEN, 0.05),
        ("gini", UNEVEN, 1.0),
    ],
)
def test_moves_are_those_of_the_reference(
    options: dict[str, Any], law: str, odds: tuple[float, ...], blind: float
) -> None:
    """Where a proposal leads, its log probability and that of its undoing, and how often it comes."""
    small = Small(7, law, dirichlet="0.3" if law in PRIORS else "1", **options)
    proposal = small.informed(blind) if blind < 1 else None
    kernel = reference.ChipmanKernel(
        small.reference, proposal, {twin: odds[KINDS.index(kind)] for kind, twin in TWINS.items()}
    )
    chains = small.chains(odds=odds, blind=blind)
    control = small.control()
    trees = small.trees()
    rng = np.random.default_rng(1)
    met = Counter[str]()
    n = 200
    for number, at in enumerate([0, *rng.integers(0, len(trees), 6).tolist()]):
        tree = trees[at]
        want = moves_of(kernel, tree_of(tree))
        for kind, twin in TWINS.items():
            k = KINDS.index(kind)
            drawn = Counter[Key]()
            for move in chains.propose(list(tree), k, number, n, control):
                if move is None:
                    continue
                key, _, log_target, log_forward, log_reverse = move
                new = tuple(key)
                known = want[twin][new]
                assert any(abs(f - log_forward) < 1e-9 and abs(r - log_reverse) < 1e-9 for f, r in known), (
                    kind,
                    tree,
                    new,
                    known,
                    log_forward,
                    log_reverse,
                )
                if new not in drawn:
                    exact = small.log_target(tree_of(new)) - small.log_target(tree_of(tree))
                    assert abs(log_target - exact) < 1e-9
                drawn[new] += 1
                met[kind] += 1
            expected = {
                new: n / odds[k] * math.fsum(math.exp(f) for f, _ in ways) for new, ways in want[twin].items()
            }
            for new, mean in expected.items():
                assert abs(drawn[new] - mean) < 6 * math.sqrt(mean) + 6
            assert n - drawn.total() == pytest.approx(n - sum(expected.values()), abs=6 * math.sqrt(n / 4))
    assert all(met[kind] > 5 for kind in TWINS if kind != "swap" or options["max_depth"] != 2), met


def test_a_minimum_leaf_size_counts_leaves_that_can_be_split() -> None:
    """Corners of 4, 4, 6, 4 examples. The stump has two leaves that can be split; at min_leaf 5, none."""
    rows = [(a, b) for a in (0, 1) for b in (0, 1)]
    counts = [(3, 1), (0, 4), (1, 5), (4, 0)]
    X = np.array([row for row, n in zip(rows, counts, strict=True) for _ in range(sum(n))], np.uint8)
    y = np.array([c for n in counts for c in (0,) * n[0] + (1,) * n[1]])
    for min_leaf, growable in ((4, 2), (5, 0)):
        small = Small(1, "size")
        small.space = type(small.space)(X, y, None, min_leaf)
        chains = small.chains()
        moves = [m for m in chains.propose([0, -1, -1], 0, 0, 50, small.control()) if m is not None]
        assert len(moves) == (50 if growable else 0)
        for _, _, _, log_forward, log_reverse in moves:
            assert math.exp(log_forward) == pytest.approx(1 / 4 / 2)
            assert math.exp(log_reverse) == pytest.approx(1 / 4)
        (prune,) = chains.propose([0, -1, -1], 1, 0, 1, small.control())
        assert prune is not None
        # Back to the root: one leaf, two tests.
        assert math.exp(prune[4]) == pytest.approx(1 / 4 / 2)


@pytest.mark.parametrize("orders", ["counted", "once"])
@pytest.mark.parametrize("blind", [1.0, 0.3])
def test_the_stack_kernel_is_that_of_the_reference(blind: float, orders: str) -> None:
    for seed, options in enumerate(SPACES):
        small = Small(seed, "size", **options)
        kernel = reference.StackKernel(small.reference, small.informed(blind) if blind < 1 else None)
        log_law = reference.once_per_tree(small.log_target) if orders == "once" else small.log_target
        chains = small.chains("stack", blind=blind, orders=orders)
        rng = np.random.default_rng(seed)
        trees = small.trees()
        for number in range(4):
            tree = trees[int(rng.integers(len(trees)))]
            state = preorder_additions(tree)
            want: dict[str, dict[Key, tuple[float, float]]] = {"grow": {}, "undo": {}}
            for move in kernel.moves(state):
                want[move.kind][key_of(kernel.tree(move.state))] = (move.log_forward, move.log_reverse)
            n, drawn = 400, Counter[Key]()
            for kind, name in ((0, "grow"), (1, "undo")):
                for proposed in chains.propose(list(tree), kind, number, n, small.control()):
                    if proposed is None:
                        continue
                    key, _, log_target, *logs = proposed
                    assert logs == pytest.approx(want[name][tuple(key)], abs=1e-9)
                    if tuple(key) not in drawn:
                        exact = log_law(tree_of(key)) - log_law(tree_of(tree))
                        assert log_target == pytest.approx(exact, abs=1e-9)
                    drawn[tuple(key)] += 1
            both: Mapping[Key, tuple[float, float]] = want["grow"] | want["undo"]
            for new, (log_forward, _) in both.items():
                mean = n * math.exp(log_forward)
                assert abs(drawn[new] - mean) < 6 * math.sqrt(mean) + 6


def preorder_additions(key: Key) -> tuple[reference.Addition, ...]:
    """The splits of a tree as if added in preorder."""
    found = []
    open_places: list[tuple[int, ...]] = [()]
    for test in key:
        place = open_places.pop()
        if test >= 0:
            found.append(reference.Addition(place, test))
            open_places += [(*place, 1), (*place, 0)]
    return tuple(found)
