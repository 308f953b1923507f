"""Metropolis–Hastings: detailed balance on spaces that can be listed, ratios by hand, short chains."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from random import Random

import pytest
from local_helpers import case
from reference_helpers import random_table

from everytree.reference import (
    Addition,
    Bayes,
    ChipmanKernel,
    CodingPrior,
    EnergyTarget,
    Listing,
    LocalSpace,
    SizePrior,
    Space,
    StackKernel,
    Table,
    Tree,
    UniformPrior,
    chain,
    energy,
    error,
    leaves_of,
    log_hastings_ratio,
    more_orders,
    n_orders,
    once_per_tree,
    risk,
    transition,
)

TABLE = Table([(0, 0), (0, 1), (1, 0), (1, 1)], [(3, 1), (0, 4), (1, 5), (4, 0)])


def skewed(space: Space) -> Callable[[int, int], Mapping[int, float]]:
    """A test proposal that favours higher tests, so that it does not cancel by symmetry."""

    def proposal(cover: int, depth: int) -> Mapping[int, float]:
        feasible = space.feasible(cover, depth)
        total = sum(test + 1 for test in feasible)
        return {test: (test + 1) / total for test in feasible}

    return proposal


def targets(space: Space) -> list[Callable[[Tree], float]]:
    """Posterior and energy targets."""
    return [
        Bayes(space, SizePrior()).log_joint,
        Bayes(space, UniformPrior(), "1/C").log_joint,
        Bayes(space, CodingPrior()).log_joint,
        EnergyTarget(space.table, alpha=1.5),
        EnergyTarget(space.table, alpha=1.5, phi="entropy", scale=1.0),
    ]


SPACES = [
    Space(TABLE),
    Space(random_table(1, 3, 9), 2, 2),
    Space(random_table(2, 3, 10, 3), 2, 1),
    Space(random_table(4, 3, 12), 3, 3),
    Space(random_table(5, 3, 7, weights=True), None, 2),
    LocalSpace(case("mixed", 3, 3, n_rows=7, n_columns=3).table(), 2, 2),
    LocalSpace(case("numeric missing", 2, 1, n_rows=8).table(), 3, 2),
]


@pytest.mark.parametrize("number", range(len(SPACES)))
@pytest.mark.parametrize("proposal", [None, skewed])
@pytest.mark.parametrize(
    "probabilities",
    [
        None,
        {"grow": 0.4, "prune": 0.1, "change": 0.3, "swap": 0.2},
        {"grow": 0.5, "prune": 0.5, "change": 0, "swap": 0},
    ],
)
def test_chipman_is_in_detailed_balance(
    number: int, proposal, probabilities: Mapping[str, float] | None
) -> None:
    space = SPACES[number]
    kernel = ChipmanKernel(space, proposal(space) if proposal else None, probabilities)
    trees = list(space.enumerate_trees())
    assert 3 <= len(trees) < 2000
    for log_target in targets(space):
        log_pi = {tree: log_target(tree) for tree in trees}
        matrix = {tree: transition(kernel, log_pi.__getitem__, tree) for tree in trees}
        for tree, odds in matrix.items():
            assert all(p >= -1e-12 for p in odds.values())
            assert math.fsum(odds.values()) == pytest.approx(1)
            for other, p in odds.items():
                flow, back = log_pi[tree] + math.log(max(p, 1e-300)), matrix[other].get(tree, 0.0)
                if p > 1e-12:
                    assert flow == pytest.approx(log_pi[other] + math.log(back), abs=1e-9)


@pytest.mark.parametrize("number", range(len(SPACES)))
def test_every_chipman_move_has_its_undoing(number: int) -> None:
    space = SPACES[number]
    kernel = ChipmanKernel(space, skewed(space))
    undo = {"grow": "prune", "prune": "grow", "change": "change", "swap": "swap"}
    kinds = set()
    for tree in space.enumerate_trees():
        moves = kernel.moves(tree)
        assert math.fsum(math.exp(move.log_forward) for move in moves) <= 1 + 1e-12
        for move in moves:
            kinds.add(move.kind)
            assert move.state in space
            assert move.state != tree
            back = [
                (each.log_forward, each.log_reverse)
                for each in kernel.moves(move.state)
                if each.state == tree and each.kind == undo[move.kind]
            ]
            assert any(pair == pytest.approx((move.log_reverse, move.log_forward)) for pair in back)
    assert {"grow", "prune"} <= kinds


def test_some_space_uses_every_kind_of_move_and_swaps_both_children() -> None:
    rows = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    space = Space(Table(rows, [(1, 2)] * 8))
    kernel = ChipmanKernel(space)
    both = (0, (1, None, None), (1, None, None))
    assert {move.kind for move in kernel.moves(both)} == {"grow", "prune", "change", "swap"}
    swaps = [move for move in kernel.moves(both) if move.kind == "swap"]
    # Two pairs (root, zero child) and (root, one child), and both lead to the same tree.
    assert [move.state for move in swaps] == [(1, (0, None, None), (0, None, None))] * 2
    assert math.exp(swaps[0].log_forward) == pytest.approx(1 / 8)


def test_the_hastings_ratio_counts_leaves_that_can_be_split() -> None:
    # min_leaf 4 on TABLE (corners of 4, 4, 6, 4 examples): after test 0 both leaves can be split by test 1.
    # Growing the zero leaf of the stump: 2 growable leaves, 1 feasible test; the new tree has 1 cherry.
    space = Space(TABLE, min_leaf=4)
    kernel = ChipmanKernel(space)
    stump = (0, None, None)
    (move,) = [m for m in kernel.moves(stump) if m.state == (0, (1, None, None), None)]
    assert math.exp(move.log_forward) == pytest.approx(1 / 4 / 2 / 1)
    assert math.exp(move.log_reverse) == pytest.approx(1 / 4 / 1)
    # Without a minimum, one step further: the two leaves of a corner each cannot be split, the third can.
    (move,) = [m for m in ChipmanKernel(Space(TABLE)).moves((0, (1, None, None), None)) if m.kind == "grow"]
    assert math.exp(move.log_forward) == pytest.approx(1 / 4 / 1 / 1)
    assert math.exp(move.log_reverse) == pytest.approx(1 / 4 / 2)
    # min_leaf 5: a stump's leaves split into 4 + 4, 6 + 4, …; none of them can be split again.
    kernel = ChipmanKernel(Space(TABLE, min_leaf=5))
    assert [m.kind for m in kernel.moves(stump)] == ["prune", "change"]
    # Pruning back to the root: 1 growable leaf, 2 feasible tests.
    assert math.exp(kernel.moves(stump)[0].log_reverse) == pytest.approx(1 / 4 / 1 / 2)


# The stack kernel -------------------------------------------------------------------------------------------


def every_sequence(kernel: StackKernel) -> list[tuple[Addition, ...]]:
    """All states that growth reaches from the empty sequence."""
    found: list[tuple[Addition, ...]] = []
    level: set[tuple[Addition, ...]] = {()}
    while level:
        found += level
        level = {move.state for state in level for move in kernel.moves(state) if move.kind == "grow"}
    return found


@pytest.mark.parametrize("number", [0, 1, 2, 4])
@pytest.mark.parametrize("proposal", [None, skewed])
def test_stack_is_in_detailed_balance_on_sequences(number: int, proposal) -> None:
    space = SPACES[number]
    kernel = StackKernel(space, proposal(space) if proposal else None)
    states = every_sequence(kernel)
    orders = Counter(kernel.tree(state) for state in states)
    assert orders == {tree: n_orders(tree) for tree in space.enumerate_trees()}
    for log_target in targets(space)[::3]:
        log_pi = {tree: log_target(tree) for tree in orders}
        matrix = {state: transition(kernel, log_pi.__getitem__, state) for state in states}
        for state, odds in matrix.items():
            assert math.fsum(odds.values()) == pytest.approx(1)
            for other, p in odds.items():
                if p > 1e-12:
                    flow = log_pi[kernel.tree(state)] + math.log(p)
                    assert flow == pytest.approx(
                        log_pi[kernel.tree(other)] + math.log(matrix[other][state]), abs=1e-9
                    )


@pytest.mark.parametrize("number", [0, 1, 2, 4])
@pytest.mark.parametrize("proposal", [None, skewed])
def test_divided_by_the_orders_the_stack_has_the_target_on_trees(number: int, proposal) -> None:
    """Each order weighs π / orders: in detailed balance, and what the orders of a tree weigh together is π."""
    space = SPACES[number]
    kernel = StackKernel(space, proposal(space) if proposal else None)
    states = every_sequence(kernel)
    trees = {state: kernel.tree(state) for state in states}
    for log_target in targets(space)[::3]:
        log_pi = {tree: log_target(tree) for tree in set(trees.values())}
        divided = once_per_tree(log_pi.__getitem__)
        weight = {state: math.exp(divided(tree)) for state, tree in trees.items()}
        matrix = {state: transition(kernel, divided, state) for state in states}
        total = math.fsum(weight.values())
        flow = dict.fromkeys(states, 0.0)
        for state, odds in matrix.items():
            for other, p in odds.items():
                assert weight[state] * p == pytest.approx(weight[other] * matrix[other][state], abs=1e-12)
                flow[other] += weight[state] / total * p
        # One step leaves the law of the states as it is, and their sum over the orders is the target.
        marginal = dict.fromkeys(log_pi, 0.0)
        for state in states:
            assert flow[state] == pytest.approx(weight[state] / total, rel=1e-9)
            marginal[trees[state]] += flow[state]
        whole = math.fsum(math.exp(x) for x in log_pi.values())
        for tree, p in marginal.items():
            assert p == pytest.approx(math.exp(log_pi[tree]) / whole, rel=1e-9)


@pytest.mark.parametrize("number", range(len(SPACES)))
def test_growth_multiplies_the_orders(number: int) -> None:
    kernel = StackKernel(SPACES[number])
    for state in every_sequence(kernel)[:200]:
        tree = kernel.tree(state)
        for move in kernel.moves(state):
            if move.kind == "grow":
                place = move.state[-1].place
                assert n_orders(kernel.tree(move.state)) == n_orders(tree) * more_orders(tree, place)


def test_the_stack_ratio_by_hand() -> None:
    # From the single leaf (ℓ = 1) to a stump over two feasible tests: forward 1/2 · 1/2, reverse 1/3.
    kernel = StackKernel(Space(TABLE))
    move = kernel.moves(())[0]
    assert math.exp(move.log_forward) == pytest.approx(1 / 4)
    assert math.exp(move.log_reverse) == pytest.approx(1 / 3)
    # With a flat target the ratio is (ℓ+1)/(ℓ+2) divided by the density of the test: 2/3 · 2.
    ratio = log_hastings_ratio(lambda tree: 0.0, None, kernel.tree(move.state), move)
    assert math.exp(ratio) == pytest.approx(2 / 3 / (1 / 2))
    (undo,) = [m for m in kernel.moves(move.state) if m.kind == "undo"]
    assert undo.state == ()
    assert (undo.log_forward, undo.log_reverse) == pytest.approx((move.log_reverse, move.log_forward))


def test_orders_by_hand() -> None:
    # A root with subtrees of 2 and 1 splits: 4! / (4 · 2 · 1 · 1) = 3 orders.
    tree = (0, (1, (2, None, None), None), (3, None, None))
    assert n_orders(tree) == 3
    assert n_orders(None) == 1


# Chains -----------------------------------------------------------------------------------------------------


def total_variation(drawn: Counter, expected: Mapping) -> float:
    n = sum(drawn.values())
    return sum(abs(drawn[state] / n - p) for state, p in expected.items()) / 2


def test_a_chipman_chain_visits_trees_by_their_posterior() -> None:
    model = Bayes(Space(TABLE, min_leaf=4), SizePrior())
    posterior = Listing(model).posterior
    drawn = Counter(chain(ChipmanKernel(model.space), model.log_joint, None, 8000, Random(5)))
    assert set(drawn) <= set(posterior)
    assert total_variation(drawn, posterior) < 0.05


def test_a_stack_chain_counts_each_tree_once_per_order() -> None:
    # A flat target over the 9 trees: the two trees with three splits have two orders, so 2/11 against 1/11.
    # (Flat, because the stack kernel undoes everything to change the root: a sharp target takes long.)
    space = Space(TABLE)
    kernel = StackKernel(space)
    expected = {tree: n_orders(tree) / 11 for tree in space.enumerate_trees()}
    assert sum(expected.values()) == pytest.approx(1)
    drawn = Counter(kernel.tree(state) for state in chain(kernel, lambda tree: 0.0, (), 8000, Random(6)))
    assert total_variation(drawn, expected) < 0.03
    assert total_variation(drawn, dict.fromkeys(expected, 1 / 9)) > 0.1


# Risk and energy --------------------------------------------------------------------------------------------


def test_risk_and_energy_by_hand() -> None:
    # The single leaf (8, 10) of 18: misclassification 8/18.
    assert risk(None, TABLE, "misclassification") == pytest.approx(8 / 18)
    # Test 0: (3, 5) and (5, 5); vol 8/18 and 10/18; Gini 1 − 9/64 − 25/64 and 1/2.
    tree = (0, None, None)
    assert risk(tree, TABLE, "gini") == pytest.approx(8 / 18 * 30 / 64 + 10 / 18 / 2)
    h = -(3 / 8) * math.log(3 / 8) - 5 / 8 * math.log(5 / 8)
    assert risk(tree, TABLE, "entropy") == pytest.approx(8 / 18 * h + 10 / 18 * math.log(2))
    assert energy(tree, TABLE, 1.5, scale=1) == pytest.approx(risk(tree, TABLE) + 3)
    # By default the risk is weighed per example: with misclassification it is the number of errors.
    assert energy(tree, TABLE, 2.0, "misclassification") == pytest.approx(
        sum(error(TABLE.class_counts(leaf.cover)) for leaf in leaves_of(tree, TABLE)) + 4
    )


def test_a_weak_penalty_warns() -> None:
    with pytest.warns(UserWarning, match="only for alpha ≥ ln 4"):
        EnergyTarget(TABLE, alpha=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        EnergyTarget(TABLE, alpha=math.log(4))


def test_bad_arguments_are_refused() -> None:
    space = Space(TABLE)
    with pytest.raises(ValueError, match="phi='f1'"):
        risk(None, TABLE, "f1")
    for wrong in ({"grow": 1.0}, {"grow": 0.5, "prune": 0, "change": 0.5, "swap": 0}):
        with pytest.raises(ValueError, match="grow and prune both positive or both zero"):
            ChipmanKernel(space, probabilities=wrong)
    for odds in ({0: 1.0}, {0: 0.5, 1: 0.4}, {0: 1.0, 1: 0.0}):
        with pytest.raises(
            ValueError, match="give each feasible test a positive probability, summing to one"
        ):
            StackKernel(space, lambda cover, depth, odds=odds: odds).moves(())
