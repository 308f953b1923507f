"""The near-best set: recursion against listing, and its two edges (nothing but the optima; everything)."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from reference_helpers import all_dirichlets, all_priors, random_table

from everytree.reference import (
    Bayes,
    CriterionCost,
    JointCost,
    Listing,
    Query,
    Space,
    Table,
    best,
    near_best,
    near_best_by_listing,
    top_trees,
)


@pytest.mark.parametrize("criterion", ["error", "penalised_error", "expected_error", "gini", "leaves"])
@pytest.mark.parametrize("seed", range(8))
def test_criteria_by_recursion_equal_listing(seed: int, criterion: str) -> None:
    table = random_table(seed, 3, 8, 2 + seed % 3, weights=seed % 2 == 1)
    space = Space(table, (None, 2, 1)[seed % 3], 1 + seed % 2)
    cost = CriterionCost(table, criterion, Query(penalty=0.1))
    sizes = []
    for slack, epsilon in [(0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (0.0, 0.25), (100.0, 0.0)]:
        got = near_best(space, cost, slack, epsilon)
        assert got == near_best_by_listing(space, cost, slack, epsilon)
        sizes.append(len(got))
    assert sizes[-1] == space.count()
    assert 1 <= sizes[0] <= sizes[1] <= sizes[2] <= sizes[-1]
    if criterion == "error":
        assert near_best(space, cost)[0].cost == best(space)[0].rank[0]


@pytest.mark.parametrize("seed", range(5))
def test_joint_by_recursion_equals_listing(seed: int) -> None:
    space = Space(random_table(seed, 3, 8, 2 + seed % 3), 2)
    for i, prior in enumerate(all_priors(3)):
        model = Bayes(space, prior, all_dirichlets(2 + seed % 3)[i % 4])
        for slack in (0.0, math.log(10), 1000.0):
            got = near_best(space, JointCost(model), slack)
            assert got == near_best_by_listing(space, JointCost(model), slack)
            listed = Listing(model).log_joint
            edge = max(listed.values()) - slack
            # Apart from rounding at the very edge, the set is what the slack says.
            assert {found.tree for found in got} >= {t for t, j in listed.items() if j > edge + 1e-9}
            assert {found.tree for found in got} <= {t for t, j in listed.items() if j > edge - 1e-9}
        possible = [tree for tree, j in Listing(model).log_joint.items() if j > -math.inf]
        assert len(near_best(space, JointCost(model), 1000.0)) == len(possible)
        assert near_best(space, JointCost(model))[0].tree in top_trees(model, len(possible))


def test_bad_arguments_are_refused() -> None:
    table = Table([(0,), (1,)], [(1, 0), (0, 1)])
    space, cost = Space(table), CriterionCost(table)
    with pytest.raises(ValueError, match="slack=-1"):
        near_best(space, cost, slack=-1)
    with pytest.raises(ValueError, match="epsilon=nan"):
        near_best(space, cost, epsilon=math.nan)
    with pytest.raises(ValueError, match="more than at_most=1 trees are near the best"):
        near_best(space, cost, slack=5, at_most=1)
    with pytest.raises(ValueError, match="criterion='depth' does not add up over leaves"):
        CriterionCost(table, "depth")

    class Reward:
        """A cost below zero, of which a share makes no sense."""

        def leaf(self, cover: int, depth: int) -> Fraction:
            return Fraction(-1)

        def split(self, cover: int, depth: int, test: int) -> Fraction:
            return Fraction(0)

    with pytest.raises(ValueError, match="which is below 0; use slack"):
        near_best(space, Reward(), epsilon=0.5)
