"""The engine against the reference on tables at the edges of the core's layout.

Rows are sorted by class and padded to words of 64 per class, weights are bit planes, tests are taken eight or
sixteen at a time: so the edges are row numbers around 64 per class, weights around powers of two, and numbers
of tests around the width of a vector.
"""

from __future__ import annotations

import numpy as np
import pytest
from engine_cases import OPTIONS, Case, Data, Twins
from questions import QUESTIONS

from everytree import reference
from everytree.data.table import Table
from everytree.errors import DataError, QueryError
from everytree.space.tree_space import TreeSpace

KERNELS = OPTIONS["kernels"]
CHEAP = (
    "count",
    "best_error",
    "log_evidence",
    "map_tree",
    "predict_proba",
    "test_inclusion",
    "leaves_distribution",
)


def ask(twins: Twins, names: tuple[str, ...] = tuple(QUESTIONS)) -> None:
    for name in names:
        QUESTIONS[name](twins)


def distinct_rows(n: int, n_tests: int, rng: np.random.Generator) -> np.ndarray:
    """n different 0/1 rows."""
    numbers = rng.choice(2**n_tests, size=n, replace=False)
    return (numbers[:, None] >> np.arange(n_tests) & 1).astype(np.uint8)


@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("frontier", [True, False])
@pytest.mark.parametrize(
    "rows_per_class",
    [
        (1,),
        (63,),
        (64,),
        (65,),
        (64, 1),
        (0, 64),
        (63, 65),
        (64, 64),
        (65, 63),
        (128, 0),
        (127, 129),
        (1, 64, 127),
    ],
    ids=str,
)
def test_word_edges(rows_per_class: tuple[int, ...], frontier: bool, kernels: str) -> None:
    """Distinct rows, each of one class, with 64 or nearly 64 rows per class."""
    rng = np.random.default_rng(sum(rows_per_class))
    n = sum(rows_per_class)
    X = distinct_rows(n, 9, rng)
    y = np.repeat(np.arange(len(rows_per_class)), rows_per_class)
    case = Case(seed=n, max_depth=2, min_leaf=3 if n > 3 else 1, frontier=frontier, kernels=kernels)
    ask(Twins(case, Data(X, y, None, len(rows_per_class))), CHEAP)


@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("n_tests", [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33])
def test_vector_edges(n_tests: int, kernels: str) -> None:
    """Numbers of tests around the width of the pair-count kernels."""
    rng = np.random.default_rng(n_tests)
    n = 40
    X = rng.integers(0, 2, (n, n_tests)).astype(np.uint8)
    case = Case(seed=n_tests, n_classes=3, max_depth=2, min_leaf=4, kernels=kernels)
    ask(Twins(case, Data(X, rng.integers(0, 3, n), None, 3)), CHEAP)


@pytest.mark.parametrize("weight", [1, 2, 3, 127, 128, 129, 255, 256, 1023, 65535, 65536, 10**6])
@pytest.mark.parametrize("frontier", [True, False])
def test_weights_around_powers_of_two(weight: int, frontier: bool) -> None:
    """Bit planes: one heavy row beside light ones, and all rows heavy."""
    rng = np.random.default_rng(weight)
    X = rng.integers(0, 2, (14, 4)).astype(np.uint8)
    y = rng.integers(0, 3, 14)
    light = np.ones(14, dtype=np.int64)
    heavy = np.full(14, weight, dtype=np.int64)
    one = np.where(np.arange(14) == 5, weight, 1)
    for weights in (light, heavy, one):
        case = Case(seed=weight, n_classes=3, max_depth=3, min_leaf=3, weights=True, frontier=frontier)
        ask(Twins(case, Data(X, y, weights, 3)), CHEAP)


def test_weights_are_repetitions() -> None:
    rng = np.random.default_rng(3)
    X, y, w = rng.integers(0, 2, (20, 4)), rng.integers(0, 2, 20), rng.integers(0, 4, 20)
    weighted = TreeSpace(X, y, 3, 2, sample_weight=w)
    repeated = TreeSpace(np.repeat(X, w, axis=0), np.repeat(y, w), 3, 2)
    assert weighted.table == repeated.table
    assert weighted.n_trees == repeated.n_trees
    assert weighted.posterior().log_evidence == repeated.posterior().log_evidence


@pytest.mark.parametrize("n", [1, 2, 64, 65, 1000])
def test_identical_rows(n: int) -> None:
    """No test splits anything: the single leaf is the whole space."""
    y = np.arange(n) % 2
    twins = Twins(Case(seed=1, max_depth=3), Data(np.ones((n, 3), dtype=np.uint8), y, None, 2))
    ask(twins)
    assert twins.space.n_trees == 1
    assert twins.posterior.test_inclusion().tolist() == [0.0, 0.0, 0.0]
    assert twins.posterior.leaves_distribution()[1] == pytest.approx(1.0)


@pytest.mark.parametrize("max_depth", [0, 1, 3, None])
def test_no_tests_at_all(max_depth: int | None) -> None:
    data = Data(np.zeros((5, 0), dtype=np.uint8), np.array([0, 1, 1, 0, 1]), None, 2)
    twins = Twins(Case(seed=1, max_depth=max_depth), data)
    ask(twins)
    assert twins.space.n_trees == 1
    assert twins.posterior.root_distribution().shape == (0,)
    assert twins.posterior.predict_proba(np.zeros((2, 0))).tolist() == [pytest.approx([3 / 7, 4 / 7])] * 2


@pytest.mark.parametrize("prior", OPTIONS["prior"])
def test_one_class(prior: str) -> None:
    """Every leaf has marginal likelihood 1, so only the prior speaks; ties go to the single leaf."""
    rng = np.random.default_rng(0)
    data = Data(rng.integers(0, 2, (12, 3)).astype(np.uint8), np.zeros(12, dtype=np.intp), None, 1)
    twins = Twins(Case(seed=2, n_classes=1, max_depth=3, prior=prior), data)
    ask(twins)
    np.testing.assert_allclose(twins.posterior.predict_proba(data.X), np.ones((12, 1)), rtol=1e-14)
    assert twins.space.best().key == (-1,)
    if prior == "uniform":
        assert twins.posterior.log_evidence == pytest.approx(twins.space.log_n_trees)
        assert twins.posterior.map_tree().key == (-1,)


def test_an_absent_class_keeps_its_column() -> None:
    space = TreeSpace([[0], [1], [1]], ["a", "c", "c"], max_depth=1, classes=["a", "b", "c"])
    assert space.classes == ("a", "b", "c")
    model = reference.Bayes(
        reference.Space(reference.Table.from_data([[0], [1], [1]], [0, 2, 2], n_classes=3), 1)
    )
    assert space.posterior().predict_proba([[1]])[0] == pytest.approx(model.predict_proba([1]), abs=1e-12)
    assert space.posterior().predict([[0], [1]]).tolist() == ["a", "c"]


def test_a_minimum_leaf_size_beyond_the_data_is_refused() -> None:
    with pytest.raises(QueryError, match=r"3.* fewer than min_leaf=4.*lower min_leaf"):
        TreeSpace([[0], [1], [1]], [0, 1, 1], min_leaf=4)
    with pytest.raises(DataError, match="the data hold 0 examples"):
        TreeSpace([[0], [1], [1]], [0, 1, 1], sample_weight=[0, 0, 0])
    with pytest.raises(QueryError, match="fewer than min_leaf=6"):
        TreeSpace.from_table(Table([[0], [1]], [[2, 0], [0, 3]]), min_leaf=6)


def test_a_minimum_leaf_size_equal_to_the_data_leaves_one_tree() -> None:
    space = TreeSpace([[0], [1], [1]], [0, 1, 1], min_leaf=3)
    assert space.n_trees == 1
    assert space.best().error == 1


@pytest.mark.parametrize("min_leaf", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("max_depth", [2, 3, 4, None])
def test_xor_with_noise_tests(min_leaf: int, max_depth: int | None) -> None:
    """The target needs two tests that are worthless alone; leaves are just large enough, or too small."""
    rng = np.random.default_rng(min_leaf)
    X = np.array([[a, b] for a in (0, 1) for b in (0, 1)] * 4)
    y = X[:, 0] ^ X[:, 1]
    X = np.concatenate([X, rng.integers(0, 2, (16, 3))], axis=1).astype(np.uint8)
    twins = Twins(Case(seed=3, max_depth=max_depth, min_leaf=min_leaf), Data(X, y.astype(np.intp), None, 2))
    ask(twins, ("best_error", "k_best_sizes", "front", *CHEAP))
    if min_leaf <= 4:
        assert twins.space.best().error == 0


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("prior", ["size", "uniform", "shapes", "fair coding"])
def test_tests_that_coincide_only_inside_a_cover(prior: str, merge: bool) -> None:
    """Where test 0 says no, test 2 is test 1, test 3 is its complement and test 4 is constant."""
    rng = np.random.default_rng(4)
    side, a, noise = rng.integers(0, 2, (3, 40))
    same = np.where(side == 0, a, noise)
    turned = np.where(side == 0, 1 - a, rng.integers(0, 2, 40))
    constant = np.where(side == 0, 1, rng.integers(0, 2, 40))
    X = np.stack([side, a, same, turned, constant], axis=1).astype(np.uint8)
    y = (a ^ side ^ (rng.random(40) < 0.2)).astype(np.intp)
    for max_depth in (2, 3, None):
        case = Case(seed=5, max_depth=max_depth, min_leaf=2, prior=prior, merge=merge)
        ask(Twins(case, Data(X, y, None, 2)))


@pytest.mark.parametrize("n_classes", [6, 8, 9, 17, 40])
@pytest.mark.parametrize(("max_depth", "frontier"), [(2, True), (3, True), (3, False), (None, True)])
def test_many_classes(n_classes: int, max_depth: int | None, frontier: bool) -> None:
    """More classes than examples in most leaves, and more than any vector holds."""
    rng = np.random.default_rng(n_classes)
    X = rng.integers(0, 2, (60, 4)).astype(np.uint8)
    y = (8 * X[:, 0] + 4 * X[:, 1] + rng.integers(0, n_classes, 60)) % n_classes
    case = Case(seed=n_classes, n_classes=n_classes, max_depth=max_depth, min_leaf=3, frontier=frontier)
    ask(Twins(case, Data(X, y.astype(np.intp), None, n_classes)), ("best_cost", "front", *CHEAP))


@pytest.mark.long
@pytest.mark.parametrize("n_tests", [63, 64, 65, 130])
def test_more_tests_than_a_word_has_bits(n_tests: int) -> None:
    rng = np.random.default_rng(n_tests)
    X = rng.integers(0, 2, (30, n_tests)).astype(np.uint8)
    y = X[:, n_tests - 1] ^ (rng.random(30) < 0.2)
    for max_depth in (1, 2):
        case = Case(seed=n_tests, max_depth=max_depth, min_leaf=4, prior="fair size")
        ask(
            Twins(case, Data(X, y.astype(np.intp), None, 2)),
            ("count", "best_error", "log_evidence", "map_tree"),
        )
