"""Chains over trees draw every tree as often as its exact probability says."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from chain_cases import (
    DIRICHLETS,
    EVEN,
    PRIORS,
    RISKS,
    UNEVEN,
    Small,
    check,
    effective,
    keys_of,
    misfit,
    normalised,
    tree_of,
)
from scipy.stats import chi2

from everytree import reference
from everytree.space.tree_space import TreeSpace

ONLY_GROWTH = (0.5, 0.5, 0.0, 0.0, 0.0)
LIMITS: list[dict[str, Any]] = [
    {"max_depth": 3, "n_tests": 3},
    {"max_depth": 3, "min_leaf": 3, "n": 30},
    {"max_depth": None, "min_leaf": 4, "n": 28, "weights": True},
    {"max_depth": 4, "min_leaf": 5, "n": 36, "n_tests": 5},
    {"max_depth": 2, "min_leaf": 2, "n": 30, "n_tests": 9, "cuts": "at most"},
    {"max_depth": 3, "min_leaf": 6, "n": 30, "n_tests": 8, "cuts": "above"},
]
CASES: list[dict[str, Any]] = [
    {
        "law": law,
        "n_classes": (2, 3, 2, 1, 3)[(k + j) % 5],
        "dirichlet": list(DIRICHLETS)[(k + 2 * j) % 4] if law in PRIORS else "1",
        "odds": (EVEN, UNEVEN, ONLY_GROWTH)[(k + j) % 3],
        "blind": (1.0, 0.2, 1.0, 0.6)[(k + j) % 4],
        **LIMITS[(k + 2 * j) % 6],
    }
    for k, law in enumerate([*PRIORS, *RISKS])
    for j in range(2)
]


def run(
    small: Small, kernel: str, n_draws: int, thin: int, powers: tuple[float, ...] = (), **options: Any
) -> Any:
    chains, stopped = small.chains(kernel, n_chains=4, **options).run(
        n_draws, 20, thin, list(powers), small.control()
    )
    assert stopped == ""
    return chains


@pytest.mark.parametrize("case", range(len(CASES)))
def test_trees_come_as_often_as_they_should(case: int) -> None:
    options = dict(CASES[case])
    odds, blind = options.pop("odds"), options.pop("blind")
    small = Small(case, **options)
    exact = normalised(small.log_trees())
    chains = run(small, "chipman", 3000, 120, odds=odds, blind=blind, seed=case)
    check(Counter(key for chain in chains for key in keys_of(chain)), exact, effective(chains))
    for chain in chains:
        best = sum(small.chains().log_target(chain["best"]))
        assert chain["best_log_target"] == pytest.approx(best, abs=1e-9)
        assert best >= (chain["log_prior"] + chain["log_data"]).max() - 1e-9


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("case", range(0, len(CASES), 2))
def test_stack_draws_trees_and_orders(case: int, once: bool) -> None:
    """On pairs (tree, order of additions) the stack kernel has the target's weight of the tree for each order.

    With ``once``, all orders of a tree have that weight together.
    """
    options = dict(CASES[case])
    blind = options.pop("blind")
    del options["odds"]
    # Few examples: to change the root the stack kernel must undo everything below it first.
    options |= {"n_tests": 3, "max_depth": 2, "min_leaf": min(options.get("min_leaf", 1), 2)}
    options |= {"n": 14, "weights": False, "cuts": ""}
    small = Small(case, **options)
    log = small.log_trees()
    orders_are = "once" if once else "counted"
    chains = run(small, "stack", 3000, 200, blind=blind, seed=case, orders=orders_are)
    orders: dict[Any, float] = {}
    for key, value in log.items():
        splits = sum(test >= 0 for test in key)
        # At depth 2 the root comes first and two splits below it come in either order.
        assert reference.n_orders(tree_of(key)) == (2 if splits == 3 else 1)
        ways = [(0, 1, -1, -1, 2, -1, -1), (0, 2, -1, -1, 1, -1, -1)] if splits == 3 else [in_order(key)]
        each = value - math.log(len(ways)) if once else value
        orders |= dict.fromkeys(((key, order) for order in ways), each)
    drawn = Counter(
        pair for chain in chains for pair in zip(keys_of(chain), keys_of(chain, "orders"), strict=True)
    )
    ess = effective(chains)
    check(drawn, normalised(orders), ess)
    if not once:
        log = {key: value + math.log(reference.n_orders(tree_of(key))) for key, value in log.items()}
    check(Counter(key for chain in chains for key in keys_of(chain)), normalised(log), ess)


@pytest.mark.parametrize("law", ["uniform", "size", "errors"])
def test_deep_stacks_draw_each_tree_once(law: str) -> None:
    """Trees of up to seven splits have up to 80 orders; divided by their number, the target is what is drawn."""
    small = Small(7, law, n_tests=3, n=40, max_depth=3, signal=0.2)
    log = small.log_trees()
    assert max(reference.n_orders(tree_of(key)) for key in log) >= 20
    chains = run(small, "stack", 3000, 150, orders="once")
    check(Counter(key for chain in chains for key in keys_of(chain)), normalised(log), effective(chains))


def in_order(key: tuple[int, ...]) -> tuple[int, ...]:
    numbers = iter(range(len(key)))
    return tuple(next(numbers) if test >= 0 else -1 for test in key)


@pytest.mark.parametrize("law", ["size", "uniform", "errors"])
@pytest.mark.parametrize("power", [0.0, 0.4, 2.0])
def test_a_power_of_the_target_is_sampled(law: str, power: float) -> None:
    small = Small(3, law, n_tests=3, max_depth=2, n=30)
    exact = normalised({key: power * x for key, x in small.log_trees().items()})
    chains = run(small, "chipman", 2500, 100, (9.0, power))
    check(Counter(key for chain in chains for key in keys_of(chain)), exact, effective(chains))


def prior_of_leaves(X: np.ndarray, max_depth: int, min_leaf: int) -> tuple[TreeSpace, dict[int, float]]:
    """Labels of one class only: every tree has likelihood 1, so the posterior is the prior."""
    space = TreeSpace(X, np.zeros(len(X), int), max_depth, min_leaf)
    shares = space.posterior().leaves_distribution()
    return space, {leaves: float(p) for leaves, p in enumerate(shares) if p > 0}


@pytest.mark.parametrize("min_leaf", [1, 4])
def test_without_data_the_prior_is_sampled(min_leaf: int) -> None:
    small = Small(1, "size")
    small.space, exact = prior_of_leaves(np.random.default_rng(3).integers(0, 2, (60, 6)), 4, min_leaf)
    chains = run(small, "chipman", 3000, 200)
    ess = effective(chains)
    check(Counter(int(x) for chain in chains for x in chain["leaves"][chain["which"]]), exact, ess)
    depths = np.concatenate([chain["depths"][chain["which"]] for chain in chains])
    expected = small.space.posterior().expected_depth
    assert abs(depths.mean() - expected) < 5 * depths.std() / math.sqrt(ess)


@pytest.mark.long
def test_geweke_joint_distribution() -> None:
    """Trees given labels by the chain, labels given the tree by definition: trees stay as in the prior."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, (24, 4)).astype(np.uint8)
    small = Small(1, "size")
    key, leaves, root = [-1], Counter[int](), Counter[int]()
    y = np.zeros(24, int)
    n = 2000
    for step in range(n):
        small.space = TreeSpace(X, y, 3, 3, classes=[0, 1])
        chains = small.chains(seed=step)
        chains.start(0, key)
        (chain,), _ = chains.run(1, 0, 60, [], small.control())
        key = chain["keys"].tolist()
        leaves[int(chain["leaves"][0])] += 1
        root[key[0]] += 1
        for rows in leaf_rows(key, X):
            y[rows] = rng.random(len(rows)) < rng.beta(1, 1)
    space, exact = prior_of_leaves(X, 3, 3)
    # The labels tie neighbouring draws together: about one in four counts.
    statistic, degrees = misfit(leaves, exact, n / 4)
    assert statistic < chi2.isf(1e-4, degrees), (leaves, exact)
    roots = {test: float(p) for test, p in enumerate(space.posterior().root_distribution())}
    roots[-1] = 1 - sum(roots.values())
    statistic, degrees = misfit(root, roots, n / 4)
    assert statistic < chi2.isf(1e-4, degrees), (root, roots)


def leaf_rows(key: list[int], X: np.ndarray) -> list[np.ndarray]:
    found, open_rows = [], [np.arange(len(X))]
    for test in key:
        rows = open_rows.pop()
        if test < 0:
            found.append(rows)
        else:
            open_rows += [rows[X[rows, test] == 1], rows[X[rows, test] == 0]]
    return found
