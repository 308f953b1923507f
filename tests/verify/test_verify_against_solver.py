"""Solver and checker, two programs without common code, answer the same random queries alike."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import everytree as et
from everytree.common.values import value_to_json
from everytree.verify.examples import Examples
from everytree.verify.prove import Space, best_tree, rank_of
from everytree.verify.query import read_query

COSTS = ("error", "expected_error", "gini", "entropy", "cost")
NAMES = ["age <= 30", "age <= 50", "color == red", "smoker"]
ATTRIBUTES = ["age", "age", "color", "smoker"]


def random_query(rng: random.Random, n_classes: int, n: int) -> dict[str, Any]:
    """Parameters of ``TreeSpace.best``: a ranking and a few of the constraints."""
    rank = rng.sample(COSTS, rng.choice([1, 1, 1, 2])) + rng.sample(["size", "depth"], rng.randint(0, 2))
    if rng.random() < 0.3:
        rng.shuffle(rank)
    query: dict[str, Any] = {"minimize": tuple(rank)}
    if "cost" in rank:
        prices = [1, 0.1, 2.5]
        query["cost_matrix"] = [
            [0 if c == k else rng.choice(prices) for k in range(n_classes)] for c in range(n_classes)
        ]
    leaf_rules = [
        2,
        et.Support(3),
        et.Margin(1),
        et.ChiSquare(0.5),
        [et.Margin(2), et.ChiSquare(p_value=0.9)],
    ]
    some: dict[str, Any] = {
        "max_size": rng.choice([3, 5, 7]),
        "max_leaves": rng.choice([2, 3]),
        "max_depth": rng.choice([1, 2]),
        "max_error": rng.choice([n // 4, n / 2, {"gini": n / 3}]),
        "min_accuracy": rng.choice([0.5, 0.7, 0.9]),
        "leaf": rng.choice(leaf_rules),
        "require": rng.choice(["age", ["smoker", 0], "color == red"]),
        "forbid": rng.choice(["age", ["color"], 3]),
        "class_weight": rng.choice(["balanced", [1, 0.3, 2][:n_classes], {"a": 0.1}]),
        "leaf_penalty": rng.choice([0.1, 0.75]),
        "confidence": 0.1,
    }  # fmt: skip
    chosen = rng.sample(sorted(some), rng.randint(0, 3))
    return query | {name: some[name] for name in chosen}


def random_rows(rng: random.Random, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    n = rng.randint(6, 16)
    X = np.array([[rng.randint(0, 1) for _ in NAMES] for _ in range(n)])
    y = np.array([rng.choice("abc"[:n_classes]) for _ in range(n)])
    y[:n_classes] = list("abc"[:n_classes])
    return X, y


def ask_both(seed: int) -> tuple[Any, Any]:
    """(rank of the solver's tree, rank of the checker's tree), None where there is no tree."""
    rng = random.Random(seed)
    n_classes = rng.choice([2, 2, 3])
    X, y = random_rows(rng, n_classes)
    query = random_query(rng, n_classes, len(y))
    counts: dict[int, list[int]] = {}
    labels = sorted(set(y))
    for row, label in zip(X, y, strict=True):
        bits = sum(int(value) << i for i, value in enumerate(row))
        counts.setdefault(bits, [0] * n_classes)[labels.index(label)] += 1
    examples = Examples(counts, len(NAMES), n_classes)
    params = {name: value_to_json(value, name) for name, value in query.items()}
    params["max_depth"] = min(3, query.get("max_depth", 3))
    read = read_query(params, NAMES, ATTRIBUTES, labels, examples.class_totals)
    assert not read.unread
    space = Space(examples, read, 100_000, 60)
    mine = best_tree(space).rank
    solver = et.TreeSpace(X, y, max_depth=3, test_names=NAMES)
    try:
        tree = solver.best(**query)
    except et.QueryError as error:
        if "without a bound" in str(error):
            return None, None  # size or depth first needs a bound
        return None, mine
    leaves = [tuple(tree.counts[k].tolist()) for k in tree.leaves]
    assert all(read.allows_leaf(leaf, examples.class_totals) for leaf in leaves)
    return rank_of(read, leaves, tree.depth), mine


@pytest.mark.parametrize("block", range(10))
def test_both_find_trees_of_the_same_rank(block: int) -> None:
    answered = 0
    for seed in range(60 * block, 60 * (block + 1)):
        solver, checker = ask_both(seed)
        if solver is None or checker is None:
            assert solver is None, f"seed {seed}"
            assert checker is None, f"seed {seed}"
            continue
        answered += 1
        assert list(map(float, solver)) == pytest.approx(list(map(float, checker)), rel=1e-9, abs=1e-9), seed
    assert answered > 20
