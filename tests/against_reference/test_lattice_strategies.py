"""The strategies of DL8 against the reference: the same optimum, and as many itemsets as the definitions say."""

from __future__ import annotations

import re

import numpy as np
import pytest
from engine_cases import Case, Twins, covering_cases, make_data
from oracle import cheapest, price
from questions import assert_close, assert_in_space, close, query_of
from test_known_traps import TRAPS, cp4im

from everytree import reference
from everytree.errors import NoTreeError
from everytree.query.strategies import STRATEGIES
from everytree.reference.lattice import Census, Lattice
from everytree.space.tree_space import TreeSpace
from everytree.weights.constraints import ChiSquare, Margin

MINERS = [name for name in STRATEGIES if name != "auto"]


def assert_census(census: Census, twin: reference.Space, strategy: str, info: dict[str, int]) -> None:
    """What a strategy says it stored. A root of one class is not relevant, but has its leaf all the same."""
    relevant, max_depth = max(census.relevant, 1), twin.max_depth
    if strategy.startswith("closed"):
        closed = census.closed if strategy == "closed" else len(Lattice(twin).closed_frequent())
        assert info["itemsets"] == max(closed, 1)
        assert info["states"] == max(census.closed if max_depth is None else census.states, 1)
        return
    assert info["itemsets"] == (census.frequent if "frequent" in strategy else relevant)
    assert info["states"] == info["relevant"] == relevant


def check(case: Case, leaf_penalty: float = 0.0) -> None:
    twins = Twins(case)
    query = query_of(twins, case.cost)
    ask = {"minimize": (case.cost, "size"), "cost_matrix": query.cost_matrix, "leaf_penalty": leaf_penalty}
    engine = twins.space.best(**ask)
    census = Lattice(twins.twin).census() if twins.space.n_tests < 9 else None
    for strategy in MINERS:
        tree = twins.space.best(**ask, strategy=strategy)
        assert_in_space(tree, twins)
        assert_close(tree.info["objective"], engine.info["objective"], f"{strategy}: objective")
        assert tree.size == engine.size, f"{strategy}: size {tree.size}, the engine's {engine.size}"
        own = price(tree.nested, twins.twin, query) + leaf_penalty * tree.n_leaves
        assert_close(own, tree.info["objective"], f"{strategy}: {case.cost} of the tree")
        if not leaf_penalty:
            assert_close(own, cheapest(twins.twin, query, 1)[0], f"{strategy}: least {case.cost}")
        if case.cost == "error" and not leaf_penalty:
            rank = reference.best(twins.twin, reference.Query(rank=("error", "size")))[0].rank
            assert_close(tree.error, rank[0], f"{strategy}: error")  # thirds of examples add up to rounding
            assert tree.size == rank[1]
        if census is not None:
            assert_census(census, twins.twin, strategy, tree.info)


@pytest.mark.parametrize("case", covering_cases(1, seed=7), ids=lambda case: str(case.seed))
def test_all_strategies_on_a_covering_sample(case: Case) -> None:
    check(case)
    check(case, leaf_penalty=0.75)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(8))
def test_all_strategies_on_a_larger_sample(block: int) -> None:
    for case in covering_cases(3, seed=100 + block):
        check(case, leaf_penalty=0.0 if case.seed % 2 else 1.5)


@pytest.mark.parametrize(("rows", "classes", "min_leaf"), TRAPS)
@pytest.mark.parametrize("strategy", MINERS)
def test_traps_of_other_solvers(rows: str, classes: str, min_leaf: int, strategy: str) -> None:
    X = np.array([[int(bit) for bit in row] for row in rows.split()], dtype=np.uint8)
    y = np.array([int(c) for c in classes])
    assert TreeSpace(X, y, 2, min_leaf).best(strategy=strategy).error == 1


@pytest.mark.parametrize("strategy", MINERS)
@pytest.mark.parametrize(
    ("name", "depth", "min_leaf", "error"),
    [("lymph", 3, 20, 20), ("vote", 3, 1, 12), ("heart-cleveland", 3, 1, 41), ("anneal", 2, 1, 137)],
)
def test_optima_on_real_data(name: str, depth: int, min_leaf: int, error: int, strategy: str) -> None:
    if "frequent" in strategy and (name, min_leaf) == ("heart-cleveland", 1):
        pytest.skip("a million frequent itemsets, for nothing that the smaller files do not show")
    X, y = cp4im(name)
    space = TreeSpace(X, y, depth, min_leaf)
    tree = space.best(strategy=strategy)
    assert tree.error == error == space.best().error
    assert tree.size == space.best().size
    assert close(float((tree.predict(X) != y).sum()), error)


CONSTRAINTS: list[dict[str, object]] = [
    {"leaf": Margin(2)},
    {"leaf": [Margin(1), 3]},
    {"leaf": ChiSquare(1.5)},
    {"leaf": [ChiSquare(p_value=0.3), Margin(1)], "leaf_penalty": 0.25},
    {"forbid": [0]},
    {"class_weight": "balanced"},
    {"max_depth": 2, "forbid": [1], "leaf": Margin(1)},
]


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("cost", ["error", "expected_error", "gini", "entropy"])
def test_constraints_on_leaves_and_tests(constraint: dict[str, object], n_classes: int, cost: str) -> None:
    """Also where no tree is left, and where pure nodes may not be leaves."""
    if "class_weight" in constraint and cost != "error":
        pytest.skip("class weights are for the error")
    trees = 0
    for seed in range(12):
        data = make_data(Case(seed, n_classes=n_classes, weights=seed % 2 == 1, max_depth=3))
        space = TreeSpace(data.X, data.y, (3, None)[seed % 2], 1 + seed % 3, data.weights)
        try:
            expected = space.best((cost, "size"), **constraint)
        except NoTreeError as none:
            for strategy in MINERS:
                with pytest.raises(NoTreeError, match=re.escape(str(none))):
                    space.best((cost, "size"), **constraint, strategy=strategy)
            continue
        trees += 1
        for strategy in MINERS:
            tree = space.best((cost, "size"), **constraint, strategy=strategy)
            assert_close(tree.info["objective"], expected.info["objective"], f"{strategy}: objective")
            assert tree.size == expected.size
    assert trees > 0
