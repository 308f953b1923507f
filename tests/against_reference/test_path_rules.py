"""A constraint of one's own on paths: every strategy against the plain definitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from engine_cases import Case, make_data
from questions import assert_close
from test_lattice_strategies import MINERS, assert_census

from everytree import reference
from everytree.errors import NoTreeError
from everytree.reference.lattice import Lattice
from everytree.space.tree_space import TreeSpace

Counts = tuple[int, ...]

# Each holds for more where it holds for less.
RULES: dict[str, Callable[[Counts], bool]] = {
    "some of the first class": lambda n: n[0] >= 1,
    "three of the first or five of the last": lambda n: n[0] >= 3 or n[-1] >= 5,
    "two of every class": lambda n: min(n) >= 2,
    "weighed": lambda n: 2 * n[0] + sum(n[1:]) >= 7,
    "everything": lambda n: True,
}


def spaces(n_classes: int, rule: Any) -> Any:
    for seed in range(4):
        data = make_data(Case(seed, n_classes=n_classes, weights=seed % 2 == 1, max_depth=3))
        depth, min_leaf = (3, None)[seed % 2], 1 + seed % 3
        space = TreeSpace(data.X, data.y, depth, min_leaf, data.weights, classes=range(n_classes))
        table = reference.Table.from_data(
            data.X.tolist(),
            data.y.tolist(),
            n_classes,
            None if data.weights is None else data.weights.tolist(),
        )
        yield space, table, depth, min_leaf


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", RULES)
def test_strategies_under_a_rule(name: str, n_classes: int) -> None:
    rule, trees = RULES[name], 0
    for space, table, depth, min_leaf in spaces(n_classes, rule):
        try:
            twin = reference.Space(table, depth, min_leaf, rule)
        except reference.EmptySpaceError:
            for strategy in MINERS:
                with pytest.raises(NoTreeError, match="no tree keeps every node within paths="):
                    space.best(strategy=strategy, paths=rule)
            continue
        trees += 1
        census = Lattice(twin).census()
        expected = reference.best(twin, reference.Query(rank=("error", "size")))[0].rank
        three = [found.rank for found in reference.best(twin, reference.Query(rank=("gini", "size")), 3)]
        for strategy in MINERS:
            tree = space.best(strategy=strategy, paths=rule)
            assert (tree.error, tree.size) == expected, strategy
            assert tree.nested in twin
            assert_census(census, twin, strategy, tree.info)
            found = space.best(("gini", "size"), k=3, strategy=strategy, paths=rule)
            for each, (value, size) in zip(found, three, strict=True):
                assert_close(each.info["objective"], value, f"{strategy}: gini")
                assert each.size == size
    assert trees > 0


@pytest.mark.parametrize("name", RULES)
def test_databases_under_a_rule(name: str) -> None:
    """Mined under the rule, or asked with it, and both."""
    rule = RULES[name]
    for space, table, depth, min_leaf in spaces(2, rule):
        try:
            twin = reference.Space(table, depth, min_leaf, rule)
        except reference.EmptySpaceError:
            with pytest.raises(NoTreeError, match="turns down all examples together"):
                space.mine(paths=rule)
            with pytest.raises(NoTreeError, match="no tree keeps every node within"):
                space.mine().best(paths=rule)
            continue
        expected = reference.best(twin, reference.Query(rank=("error", "size")))[0].rank
        mined = space.mine(paths=rule)
        assert len(mined) == max(Lattice(twin).census().relevant, 1)
        for tree in (mined.best(), space.mine().best(paths=rule), mined.best(paths=rule)):
            assert (tree.error, tree.size) == expected


@pytest.mark.parametrize("name", RULES)
def test_depth_first_under_a_rule(name: str) -> None:
    """Apriori runs DL8 after every level then, and stops early."""
    rule = RULES[name]
    for space, table, depth, min_leaf in spaces(2, rule):
        try:
            twin = reference.Space(table, depth, min_leaf, rule)
        except reference.EmptySpaceError:
            continue
        least = reference.best(twin, reference.Query(rank=("error", "size")))[0].rank[0]
        for most in (least, least + 2):
            expected = reference.best(twin, reference.Query(rank=("depth", "error"), max_error=most))[0].rank
            for strategy in MINERS:
                tree = space.best(("depth", "error"), max_error=most, strategy=strategy, paths=rule)
                assert (tree.depth, tree.error) == expected, strategy
        if least > 0:
            for strategy in MINERS:
                with pytest.raises(NoTreeError, match="the least is"):
                    space.best(("depth", "error"), max_error=least - 1, strategy=strategy, paths=rule)
