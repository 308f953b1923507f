"""The most probable tree as a person asks for it: limits, errors, real files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from everytree import BalancedPrior, LeafPenaltyPrior, QueryError, SizePrior, TreeSpace, UniformPrior
from everytree.weights.priors import Prior, PriorTables

CP4IM = Path(__file__).parents[3] / "shared" / "data" / "cp4im"


def noisy(n: int = 200, tests: int = 30, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, tests))
    y = (X[:, 0] & X[:, 1]) ^ (rng.random(n) < 0.2)
    return X, y


def test_with_room_enough_a_depth_limit_changes_nothing() -> None:
    X, y = noisy()
    free = TreeSpace(X, y, max_depth=None).most_probable()
    assert free.info["optimal"]
    roomy = TreeSpace(X, y, max_depth=free.depth + 5).most_probable()
    assert roomy.key == free.key
    assert roomy.info["log_joint"] == pytest.approx(free.info["log_joint"], abs=1e-9)


def test_a_time_limit_gives_the_best_tree_so_far_and_a_bound_and_the_next_call_goes_on() -> None:
    X, y = noisy(400, 60)
    space = TreeSpace(X, y, max_depth=None, time_limit=0.05)
    first = space.most_probable()
    assert not first.info["optimal"]
    assert first.info["stop_reason"] == "time limit"
    assert first.info["gap"] > 0
    assert first.info["upper_bound"] > first.info["log_joint"]
    second = space.most_probable()
    for _ in range(100):  # a busy machine may not get far in one call
        if second.info["n_states"] > first.info["n_states"]:
            break
        second = space.most_probable()
    assert second.info["n_states"] > first.info["n_states"]
    assert second.info["upper_bound"] <= first.info["upper_bound"]
    assert second.info["log_joint"] >= first.info["log_joint"]


def test_a_memory_limit_holds() -> None:
    X, y = noisy(400, 60)
    space = TreeSpace(X, y, max_depth=None, memory_limit=20_000_000)
    info = space.most_probable().info
    assert info["stop_reason"] == "memory limit"
    assert info["n_bytes"] < 21_000_000


def test_the_same_answer_for_rows_in_any_order() -> None:
    X, y = noisy(150, 12)
    order = np.random.default_rng(3).permutation(len(y))
    one = TreeSpace(X, y, max_depth=None).most_probable()
    two = TreeSpace(X[order], y[order], max_depth=None).most_probable()
    assert one == two
    assert one.info["log_joint"] == pytest.approx(two.info["log_joint"], abs=1e-9)


def test_one_class_and_one_row() -> None:
    one_class = TreeSpace([[0], [1], [1]], ["a", "a", "a"], max_depth=None)
    assert one_class.most_probable() == one_class.posterior().map_tree()
    assert one_class.most_probable(SizePrior(0.3, 1.0)).n_leaves == 1
    assert TreeSpace([[0]], ["a"], max_depth=None).most_probable().n_leaves == 1


class Bonus(Prior):
    """A prior that rewards every leaf: no bound holds, the space is folded."""

    def tables(self, deepest: int) -> PriorTables:
        return PriorTables([0.0], [0.5], [0.5], per_test=False)


def test_a_prior_with_factors_above_one_is_folded() -> None:
    X, y = noisy(40, 4)
    space = TreeSpace(X, y, max_depth=3)
    tree = space.most_probable(Bonus())
    assert tree.key == space.posterior(Bonus()).map_tree().key
    assert tree.info["optimal"]


@pytest.mark.parametrize("kind", [UniformPrior, LeafPenaltyPrior, BalancedPrior])
def test_attribute_fair_priors_without_shares_are_folded(kind: type[Prior]) -> None:
    """The only test of a column then weighs more than 1 beside many of another."""
    X, y = noisy(40, 5)
    space = TreeSpace(X, y, max_depth=3, attributes=["a", "a", "a", "a", "b"])
    prior = kind(attribute_fair=True)  # type: ignore[call-arg]
    assert space.most_probable(prior).key == space.posterior(prior).map_tree().key


@pytest.mark.parametrize("kappa", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_search_knows_bounds_of_balanced_leaves(kappa: float, n_classes: int) -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (120, 9))
    y = np.where(
        rng.random(120) < 0.8, X[:, :n_classes].sum(axis=1) % n_classes, rng.integers(0, n_classes, 120)
    )
    for depth, dirichlet, power in ((3, 1.0, 1.0), (None, 0.4, 1.0), (4, 1.0, 0.5)):
        space = TreeSpace(X, y, max_depth=depth, min_leaf=3)
        prior = BalancedPrior(kappa)
        found = space.most_probable(prior, dirichlet, power)
        best = space.posterior(prior, dirichlet, power).map_tree()
        assert found.key == best.key
        assert found.info["upper_bound"] == found.info["log_joint"]


class Never(Prior):
    def tables(self, deepest: int) -> PriorTables:
        never = -float("inf")
        return PriorTables([never], [never], [never], per_test=False)


def test_a_prior_that_allows_nothing_says_so() -> None:
    with pytest.raises(QueryError, match="probability zero"):
        TreeSpace([[0], [1]], [0, 1], max_depth=None).most_probable(Never())


def test_an_attribute_fair_prior_needs_attributes() -> None:
    with pytest.raises(QueryError, match="attributes="):
        TreeSpace([[0], [1]], [0, 1]).most_probable(SizePrior(attribute_fair=True))


def test_an_unknown_prior_is_named() -> None:
    with pytest.raises(QueryError, match="prior='bernoulli'"):
        TreeSpace([[0], [1]], [0, 1]).most_probable("bernoulli")


def test_huge_counts_and_three_classes() -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (60, 5))
    y = rng.integers(0, 3, 60)
    weight = rng.integers(1, 3000, 60)
    space = TreeSpace(X, y, max_depth=None, sample_weight=weight)
    assert space.most_probable(UniformPrior()).key == space.posterior(UniformPrior()).map_tree().key


@pytest.mark.skipif(not CP4IM.is_dir(), reason="the CP4IM files are not here")
@pytest.mark.parametrize(
    ("name", "log_joint", "leaves"), [("hepatitis", -63.2971, 3), ("zoo-1", -19.9180, 2)]
)
def test_real_files_are_proved(name: str, log_joint: float, leaves: int) -> None:
    data = np.loadtxt(CP4IM / f"{name}.txt", dtype=int)
    tree = TreeSpace(data[:, 1:], data[:, 0], max_depth=None).most_probable(SizePrior(0.95, 0.5), 2.5)
    assert tree.info["optimal"]
    assert tree.info["log_joint"] == pytest.approx(log_joint, abs=1e-4)
    assert tree.n_leaves == leaves
