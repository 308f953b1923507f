"""Priors: what they weigh each tree with, tree by tree, and what bad parameters are told."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from everytree import reference
from everytree.errors import QueryError
from everytree.estimators.smoothed import SmoothedTreeClassifier
from everytree.space.tree_space import TreeSpace
from everytree.weights.dirichlet import DepthDecay, dirichlet_rows, leaf_cost
from everytree.weights.priors import (
    BalancedPrior,
    CodingPrior,
    LeafPenaltyPrior,
    Prior,
    PriorTables,
    ShapePrior,
    SizePrior,
    UniformPrior,
    as_prior,
)

ATTRIBUTES = [7, 7, 3, 9]


def one_class(seed: int, max_depth: int | None, min_leaf: int) -> tuple[TreeSpace, reference.Space]:
    """With a single class every likelihood is 1, so the engine's log joint is the log prior alone."""
    X = np.random.default_rng(seed).integers(0, 2, (11, 4))
    y = np.zeros(11, dtype=int)
    table = reference.Table.from_data(X.tolist(), y.tolist(), 1)
    return (
        TreeSpace(X, y, max_depth, min_leaf, attributes=ATTRIBUTES),
        reference.Space(table, max_depth, min_leaf),
    )


@pytest.mark.parametrize(
    "prior", [SizePrior(), SizePrior(0.95, 0.3), SizePrior(0.5, 2.0), SizePrior(0.7, 0.0)]
)
@pytest.mark.parametrize("fair", [False, True])
@pytest.mark.parametrize(("max_depth", "min_leaf"), [(0, 1), (1, 1), (2, 3), (3, 2), (None, 2)])
def test_the_size_prior_sums_to_one(
    prior: SizePrior, fair: bool, max_depth: int | None, min_leaf: int
) -> None:
    """Over every tree of the space, listed one by one; the evidence without data is the same sum."""
    prior = SizePrior(prior.alpha, prior.beta, attribute_fair=fair)
    for seed in range(3):
        space, twin = one_class(seed, max_depth, min_leaf)
        post = space.posterior(prior)
        trees = list(twin.enumerate_trees())
        total = math.fsum(math.exp(post.log_joint(reference.key(tree))) for tree in trees)
        assert total == pytest.approx(1.0, abs=1e-12)
        assert post.log_evidence == pytest.approx(0.0, abs=1e-12)
        assert len(trees) == space.n_trees


@pytest.mark.parametrize(
    ("prior", "twin_prior"),
    [
        (UniformPrior(), reference.UniformPrior()),
        (SizePrior(0.6, 0.9), reference.SizePrior(0.6, 0.9)),
        (SizePrior(0.6, 0.9, attribute_fair=True), reference.SizePrior(0.6, 0.9, ATTRIBUTES)),
        (LeafPenaltyPrior(0.35), reference.LeafPenaltyPrior(0.35)),
        (ShapePrior(), reference.ShapePrior()),
        (ShapePrior(attribute_fair=True), reference.ShapePrior(ATTRIBUTES)),
        (CodingPrior(), reference.CodingPrior()),
        (CodingPrior(weight=0.3), reference.CodingPrior(weight=0.3)),
        (CodingPrior(weight=2), reference.CodingPrior(weight=2)),
        (CodingPrior(weight=0), reference.UniformPrior()),
        (CodingPrior(attribute_fair=True), reference.CodingPrior(ATTRIBUTES)),
        (BalancedPrior(), reference.BalancedPrior()),
        (BalancedPrior(0.3, attribute_fair=True), reference.BalancedPrior(0.3, ATTRIBUTES)),
    ],
    ids=lambda value: repr(value)[:40],
)
@pytest.mark.parametrize("max_depth", [0, 1, 2, 3])
def test_every_tree_weighs_what_the_reference_says(prior: Prior, twin_prior: Any, max_depth: int) -> None:
    space, twin = one_class(1, max_depth, 2)
    post, model = space.posterior(prior), reference.Bayes(twin, twin_prior)
    for tree in twin.enumerate_trees():
        ours = post.log_joint(reference.key(tree))
        assert ours == pytest.approx(model.log_prior(tree), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("kappa", [0.5, 1.0, 3.0])
def test_balanced_leaves_weigh_as_balanced_splits(kappa: float) -> None:
    """The product over the leaves of (n / N)^κ is that over the splits of (n₁ · n₀ / (n · N))^κ."""
    space, twin = one_class(5, 3, 1)
    post = space.posterior(BalancedPrior(kappa))
    total = sum(map(sum, twin.table.counts))
    for tree in twin.enumerate_trees():
        splits = 0.0
        for node in reference.nodes_of(tree, twin.table):
            if node.test is not None:
                zero, one = (
                    sum(twin.table.class_counts(side)) for side in twin.table.children(node.cover, node.test)
                )
                splits += kappa * math.log(zero * one / ((zero + one) * total))
        assert post.log_joint(reference.key(tree)) == pytest.approx(splits, abs=1e-12)


def test_balanced_tests_are_likelier_roots() -> None:
    """One class says nothing, so the roots have the odds of n₁ · n₀: 5 · 5, 2 · 8 and 1 · 9."""
    X = np.array([[i < 5, i < 2, i < 1] for i in range(10)], dtype=int)
    space = TreeSpace(X, [0] * 10, 1, classes=[0])
    for kappa in (1.0, 2.0):
        roots = space.posterior(BalancedPrior(kappa)).root_distribution()
        assert roots / roots[0] == pytest.approx([1, (16 / 25) ** kappa, (9 / 25) ** kappa])


def test_grown_trees_refuse_the_balanced_prior() -> None:
    with pytest.raises(QueryError, match=r"weighs leaves by their examples.*BayesOptimalClassifier"):
        SmoothedTreeClassifier(prior="balanced").fit([[0.0], [1.0]] * 5, [0, 1] * 5)


def test_a_weight_makes_the_code_of_the_tree_count_so_often() -> None:
    space, twin = one_class(4, 3, 1)
    once, half = (space.posterior(CodingPrior(weight=weight)) for weight in (1.0, 0.5))
    for tree in map(reference.key, twin.enumerate_trees()):
        assert half.log_joint(tree) == pytest.approx(once.log_joint(tree) / 2)


def test_a_lighter_code_prunes_less() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (200, 5)).astype(float)
    y = (X[:, 0] + X[:, 1] > 3) ^ (rng.random(200) < 0.2)
    leaves = [
        SmoothedTreeClassifier(
            prior="uniform", stop_factor=0, prune="map", prune_prior=CodingPrior(weight=weight)
        ).fit(X, y).n_leaves_
        for weight in (0.0, 0.3, 1.0, 6.0)
    ]  # fmt: skip
    assert leaves == sorted(leaves, reverse=True)
    assert leaves[0] > leaves[1] > leaves[3]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"weight": -1}, "weight=-1"),
        ({"weight": 11}, "weight=11; expected at most 10"),
        ({"weight": "a"}, "weight='a'"),
        ({"weight": 0.5, "attribute_fair": True}, "weight=0.5 with attribute_fair=True"),
    ],
)
def test_bad_weights_of_the_code_are_named(words: dict[str, Any], message: str) -> None:
    with pytest.raises(QueryError, match=message):
        CodingPrior(**words)


def test_the_uniform_prior_counts_trees() -> None:
    space, twin = one_class(2, 3, 1)
    assert space.posterior("uniform").log_evidence == pytest.approx(math.log(twin.count()), rel=1e-12)


def test_a_leaf_penalty_near_one_is_uniform() -> None:
    space, _ = one_class(3, 3, 1)
    almost = space.posterior(LeafPenaltyPrior(1 - 1e-13)).log_evidence
    assert almost == pytest.approx(space.log_n_trees, abs=1e-10)


def test_attribute_fair_with_one_test_per_attribute_changes_nothing() -> None:
    X = np.random.default_rng(0).integers(0, 2, (30, 4))
    y = X[:, 0] ^ X[:, 1]
    space = TreeSpace(X, y, 3, attributes=["d", "a", "c", "b"])
    for plain, fair in [(SizePrior(), SizePrior(attribute_fair=True)), (CodingPrior(), CodingPrior(True))]:
        a, b = space.posterior(plain), space.posterior(fair)
        assert a.log_evidence == pytest.approx(b.log_evidence, rel=1e-12)
        np.testing.assert_allclose(a.test_inclusion(), b.test_inclusion(), rtol=1e-9)


def test_attribute_fair_shares_by_hand() -> None:
    """Three tests of one attribute, one of another, all equally good: 1/6, 1/6, 1/6 and 1/2."""
    X = np.array([[0, 0, 0, 0], [1, 1, 1, 1]] * 3)
    space = TreeSpace(X, [0, 1] * 3, 1, attributes=[0, 0, 0, 1])
    roots = space.posterior(SizePrior(attribute_fair=True)).root_distribution()
    assert roots / roots.sum() == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2])


def test_priors_by_name() -> None:
    for name, prior in {
        "uniform": UniformPrior(), "size": SizePrior(0.8, 0.8), "leaf_penalty": LeafPenaltyPrior(0.5),
        "shapes": ShapePrior(), "coding": CodingPrior(), "balanced": BalancedPrior(1.0),
    }.items():  # fmt: skip
        assert as_prior(name) == prior
        assert as_prior(prior) is prior
    space, _ = one_class(0, 2, 1)
    assert space.posterior().prior == SizePrior(0.8, 0.8)


def test_a_prior_of_one_s_own() -> None:
    """A new prior is a class with tables; here: at most one split, whatever the depth limit."""

    class Stumps(Prior):
        def tables(self, deepest: int) -> PriorTables:
            return PriorTables([0.0, -math.inf], [0.0], [0.0], per_test=False)

    X = np.random.default_rng(0).integers(0, 2, (30, 4))
    y = X[:, 0] ^ X[:, 1]
    deep = TreeSpace(X, y, 3).posterior(Stumps())
    flat = TreeSpace(X, y, 1).posterior("uniform")
    assert deep.log_evidence == pytest.approx(flat.log_evidence, rel=1e-12)
    np.testing.assert_allclose(deep.test_inclusion(), flat.test_inclusion(), atol=1e-12)
    assert {tree.depth for tree in deep.sample(100, random_state=0)} <= {0, 1}
    assert deep.log_prob((0, 1, -1, -1, -1)) == -math.inf


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SizePrior(alpha=0), r"alpha=0; expected .*between 0 and 1"),
        (lambda: SizePrior(alpha=1.5), r"alpha=1.5"),
        (lambda: SizePrior(alpha=math.nan), r"alpha=nan"),
        (lambda: SizePrior(beta=-1), r"beta=-1; expected"),
        (lambda: SizePrior(beta=math.inf), r"beta=inf"),
        (lambda: LeafPenaltyPrior(0), r"omega=0; expected .*between 0 and 1"),
        (lambda: LeafPenaltyPrior(1), r"omega=1; expected"),
        (lambda: BalancedPrior(0), r"kappa=0; expected"),
        (lambda: BalancedPrior(11), r"kappa=11; expected at most 10"),
        (lambda: PriorTables([0.0], [0.0], [0.0], False, kappa=-1), r"kappa=-1; expected a number from 0 to"),
        (lambda: DepthDecay(scale=1.0), r"scale=1.0; expected .*between 0 and 1"),
        (lambda: DepthDecay(rate=0.0), r"rate=0.0; expected .*between 0 and 1"),
        (lambda: as_prior("flat"), r"prior='flat'; expected one of 'uniform', 'size'.*SizePrior\(0.8, 0.8\)"),
        (lambda: as_prior(3), r"prior=3; expected one of"),  # type: ignore[arg-type]
        (lambda: as_prior(SizePrior), r"expected one of"),  # type: ignore[arg-type]
        (lambda: dirichlet_rows(0.0, 2, 1), r"dirichlet=0.0; expected positive"),
        (lambda: dirichlet_rows([1.0, -1.0], 2, 1), r"expected positive"),
        (lambda: dirichlet_rows([1.0, math.inf], 2, 1), r"expected positive"),
        (lambda: dirichlet_rows([1.0], 2, 1), r"shape \(1,\); expected one number, or one for each of the 2"),
        (lambda: dirichlet_rows("1/N", 2, 1), r"dirichlet='1/N'; expected a number"),
        (lambda: leaf_cost("accuracy", 2), r"'accuracy' is not a cost of leaves"),
    ],
)
def test_messages(make: Any, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        make()


@pytest.mark.parametrize("dirichlet", [["a", "b"], object(), {"a": 1}], ids=["texts", "object", "dict"])
def test_dirichlet_of_the_wrong_type_is_named(dirichlet: Any) -> None:
    with pytest.raises(QueryError, match="dirichlet"):
        dirichlet_rows(dirichlet, 2, 1)


@pytest.mark.parametrize("dirichlet", [1e308, [1e308, 1e308]], ids=repr)
def test_dirichlet_parameters_whose_sum_is_not_finite_are_refused(dirichlet: Any) -> None:
    space = TreeSpace([[0], [1]], [0, 1], 1)
    with pytest.raises(QueryError, match="dirichlet"):
        space.posterior(dirichlet=dirichlet)


def test_attribute_fair_needs_attributes() -> None:
    space = TreeSpace([[0], [1]], [0, 1], 1)
    for prior in (SizePrior(attribute_fair=True), ShapePrior(True), CodingPrior(True)):
        with pytest.raises(QueryError, match=r"needs TreeSpace\(..., attributes=...\)"):
            space.posterior(prior)


@pytest.mark.parametrize("omega", [1e-300, 1e-320])
def test_a_leaf_penalty_near_zero_gives_probabilities(omega: float) -> None:
    X = np.random.default_rng(0).integers(0, 2, (30, 4))
    post = TreeSpace(X, X[:, 0] ^ X[:, 1], 3).posterior(LeafPenaltyPrior(omega))
    np.testing.assert_allclose(post.predict_proba(X).sum(axis=1), 1.0, rtol=1e-12)
    assert post.leaves_distribution()[1] == pytest.approx(1.0)


class Flat(Prior):
    """A prior of one's own: the same log weight for every split, and for every leaf."""

    def __init__(self, log_split: float, log_leaf: float) -> None:
        self.log = (log_split, log_leaf)

    def tables(self, deepest: int) -> PriorTables:
        split, leaf = self.log
        return PriorTables([split], [leaf], [leaf], per_test=False)


class FlatTwin:
    """The same for the reference."""

    def __init__(self, log_split: float, log_leaf: float) -> None:
        self.log = (log_split, log_leaf)

    def log_split(self, depth: int, feasible: Any, test: int) -> float:
        return self.log[0]

    def log_leaf(self, depth: int, feasible: Any) -> float:
        return self.log[1]


@pytest.mark.parametrize(
    "log",
    [(10, 0), (90, 0), (0, 90), (-90, 40), (-800, 0), (0, -800), (0, -1e4), (240, 0), (0, 240), (1e4, 0)],
)
def test_tables_of_one_s_own_with_heavy_weights(log: tuple[float, float]) -> None:
    """Any finite weight gives the right answer, or is refused with its name; never a wrong answer."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (40, 5)), rng.integers(0, 2, 40)
    twin = reference.Space(reference.Table.from_data(X.tolist(), y.tolist(), 2), 3)
    model = reference.Bayes(twin, FlatTwin(*log))
    try:
        post = TreeSpace(X, y, 3).posterior(Flat(*log))
    except QueryError:
        assert max(log) > 100, "a weight as small as this must be taken"
        return
    assert post.log_evidence == pytest.approx(model.log_evidence, rel=1e-9)
    assert post.map_tree().info["log_joint"] == pytest.approx(reference.log_map(model), rel=1e-9)
    np.testing.assert_allclose(post.test_inclusion(), reference.test_inclusion(model), atol=1e-9)
    wanted = [model.predict_proba(row) for row in X[:3].tolist()]
    np.testing.assert_allclose(post.predict_proba(X[:3]), wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("log", [(math.nan, 0.0), (0.0, math.nan), (math.inf, 0.0), (0.0, math.inf)])
def test_tables_of_one_s_own_that_are_no_numbers_are_refused(log: tuple[float, float]) -> None:
    with pytest.raises(QueryError, match="log_"):
        TreeSpace([[0], [1]], [0, 1], 1).posterior(Flat(*log))
