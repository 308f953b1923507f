"""Any query by any strategy of DL8: the answer of the engine, and on small tables that of the listing reference."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import numpy as np
import pytest

import everytree as et
from everytree import reference
from everytree.query.strategies import STRATEGIES

MINERS = [name for name in STRATEGIES if name != "auto"]
RANKINGS: list[tuple[str, ...]] = [
    ("error", "size"),
    ("error", "depth", "size"),
    ("size", "error"),
    ("depth", "error"),
    ("depth", "size", "error"),
    ("size", "depth", "error"),
    ("expected_error", "size"),
    ("size", "expected_error", "depth"),
    ("expected_error", "depth", "error"),
]
CONSTRAINTS: list[dict[str, Any]] = [
    {"max_size": 5},
    {"max_leaves": 4},
    {"max_depth": 2},
    {"max_depth": 3, "max_size": 7},
    {"max_error": {"error": 6}},
    {"min_accuracy": 0.75},
    {"max_error": {"error": 8}, "max_size": 9, "max_depth": 3},
    {"max_leaves": 5, "leaf": et.Margin(2)},
    {"min_accuracy": 0.6, "leaf": et.ChiSquare(1.0), "leaf_penalty": 0.5},
    {"max_size": 9, "require": [1]},
    {"max_depth": 3, "forbid": [0]},
]


def table(seed: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([seed, n_classes])
    X = rng.integers(0, 2, (24, 5)).astype(np.uint8)
    X[:, 4] = X[:, 0] & X[:, 1]  # a test that closures imply
    y = (X[:, 0] + X[:, 2] + rng.integers(0, 2, 24) * (rng.random(24) < 0.4)) % n_classes
    return X, y


def answers(
    space: et.TreeSpace, ranking: tuple[str, ...], query: dict[str, Any], strategy: str, k: int
) -> Any:
    """The ranks of the trees, or the message that there is none."""
    try:
        found = space.best(ranking, **query, k=k, strategy=strategy)
    except et.NoTreeError as none:
        return str(none)
    trees = found if isinstance(found, list) else [found]
    cost = next(name for name in ranking if name.endswith("error"))
    return [
        tuple(
            tree.info["objective" if name == cost else name]
            if name.endswith("error")
            else getattr(tree, name)
            for name in ranking
        )
        for tree in trees
    ]


@pytest.mark.long
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=str)
def test_every_strategy_gives_the_engines_answer(constraint: dict[str, Any], n_classes: int) -> None:
    answered = 0
    for number, (ranking, min_leaf) in enumerate(product(RANKINGS, (1, 2, 4))):
        space = et.TreeSpace(*table(number, n_classes), (None, 4, 3)[number % 3], min_leaf)
        k = 1 + 2 * (number % 2)
        expected = answers(space, ranking, constraint, "auto", k)
        answered += isinstance(expected, list)
        for strategy in MINERS:
            got = answers(space, ranking, constraint, strategy, k)
            if isinstance(expected, str):
                assert got == expected
            else:
                assert got == [pytest.approx(rank, rel=1e-9) for rank in expected], (
                    strategy,
                    ranking,
                    min_leaf,
                )
    assert answered > 5


@pytest.mark.parametrize("min_leaf", [1, 3])
@pytest.mark.parametrize(
    "bounds", [{"max_size": 5}, {"max_depth": 2}, {"max_error": 5, "max_size": 7}], ids=str
)
@pytest.mark.parametrize("ranking", [rank for rank in RANKINGS if "expected_error" not in rank], ids=str)
def test_against_a_list_of_every_tree(
    ranking: tuple[str, ...], bounds: dict[str, Any], min_leaf: int
) -> None:
    X, y = table(3, 3)
    X = X[:, :3]
    space = et.TreeSpace(X, y, 3, min_leaf)
    twin = reference.Space(reference.Table.from_data(X.tolist(), y.tolist(), 3), 3, min_leaf)
    query = reference.Query(rank=ranking, **bounds)
    try:
        expected = [answer.rank for answer in reference.best_by_listing(twin, query, 4)]
    except reference.NoTreeError:
        for strategy in MINERS:
            with pytest.raises(et.NoTreeError):
                space.best(ranking, **bounds, strategy=strategy)
        return
    for strategy in MINERS:
        assert answers(space, ranking, bounds, strategy, 4) == expected, strategy


def test_where_no_tree_is_left_the_message_is_the_engines() -> None:
    space = et.TreeSpace(*table(1, 2), 2, 3)
    with pytest.raises(et.NoTreeError) as none:
        space.best(("size", "error"), max_error=0, max_size=3)
    for strategy in MINERS:
        with pytest.raises(et.NoTreeError, match=re.escape(str(none.value))):
            space.best(("size", "error"), max_error=0, max_size=3, strategy=strategy)
