"""NearBest as people use it: borders, arguments and their messages, draws, limits. Answers: against_reference."""

from __future__ import annotations

import pickle
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import everytree as et
from everytree.query.near_best import Level, NearBest

CP4IM = Path(__file__).parents[2] / "shared" / "data" / "cp4im"
XOR = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5


@pytest.fixture
def space() -> et.TreeSpace:
    return et.TreeSpace(XOR, [0, 1, 1, 0] * 5, max_depth=2)


def wide_space(**options: Any) -> et.TreeSpace:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 40))
    return et.TreeSpace(X, (X[:, 0] & X[:, 1]) ^ (rng.random(300) < 0.2), **options)


def test_epsilon_zero_holds_the_best_trees_only(space: et.TreeSpace) -> None:
    near = space.near_best(epsilon=0)
    best = space.best(leaf_penalty=0.01 * 20)
    assert near.n_trees == 2
    assert best in near
    assert near[0] == best
    assert near.best_objective == near.bound == 0.04


def test_a_large_epsilon_holds_the_whole_space(space: et.TreeSpace) -> None:
    near = space.near_best(epsilon=1e300)
    assert near.n_trees == len(near) == len(set(near)) == space.n_trees == 9
    assert near.by_objective[0] == Level(0.04, 0, 4, 2)
    assert near.by_objective[-1] == Level(0.52, 10, 2, 2)
    assert [level.objective for level in near.by_objective] == sorted(
        level.objective for level in near.by_objective
    )


def test_without_a_penalty_only_errors_count(space: et.TreeSpace) -> None:
    assert [tree.error for tree in space.near_best(0.5, 0)] == [0, 0]


@pytest.mark.parametrize(("max_depth", "min_leaf"), [(0, 1), (3, 1), (None, 1), (None, 20), (3, 20)])
def test_one_class_or_one_row(max_depth: int | None, min_leaf: int) -> None:
    one_class = et.TreeSpace(XOR, ["yes"] * 20, max_depth, min_leaf).near_best()
    assert (one_class.n_trees, one_class.best_objective) == (1, 0.01)
    assert one_class.predict_proba(XOR[:2]).tolist() == [[1.0], [1.0]]
    assert one_class.predict(XOR[:2]).tolist() == ["yes", "yes"]
    one_row = et.TreeSpace([[1, 0]], [7], max_depth).near_best(10, 0)
    assert [tree.key for tree in one_row] == [(-1,)]
    assert one_row.test_use().tolist() == [0, 0]


def test_the_border_is_exact() -> None:
    """Ten errors in a thousand weigh as much as a leaf at exactly 1/100; the float 0.01 is a little more."""
    flat = et.TreeSpace([[0]] * 990 + [[1]] * 10, [0] * 990 + [1] * 10, max_depth=1)
    for exact in (Fraction(1, 100), Decimal("0.01")):
        near = flat.near_best(0, exact)
        assert near.by_objective == [Level(0.02, 10, 1, 1), Level(0.02, 0, 2, 1)]
    assert flat.near_best(0, 0.01).by_objective == [Level(0.02, 10, 1, 1)]
    # The single leaf has 29/8 of the objective of the stump: 1/2 + 2/25 beside 2 · 2/25.
    stump = et.TreeSpace([[0]] * 10 + [[1]] * 10, [0] * 10 + [1] * 10, max_depth=1)
    assert stump.near_best(Fraction(21, 8), Fraction(2, 25)).n_trees == 2
    assert stump.near_best(Fraction(21, 8) - Fraction(1, 10**30), Fraction(2, 25)).n_trees == 1


def test_weights_repeat_rows() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 2, (40, 6)), rng.integers(0, 3, 40)
    weight = rng.integers(1, 4, 40)
    weighted = et.TreeSpace(X, y, 3, 2, weight).near_best(0.2)
    repeated = et.TreeSpace(np.repeat(X, weight, axis=0), np.repeat(y, weight), 3, 2).near_best(0.2)
    assert weighted.by_objective == repeated.by_objective
    assert weighted[5].key == repeated[5].key
    np.testing.assert_array_equal(weighted.votes(X), repeated.votes(X))


def test_trees_carry_the_probabilities_of_the_set(space: et.TreeSpace) -> None:
    near = space.near_best(dirichlet=1.0)
    assert (
        near[0].predict_proba([[0, 0]]).tolist() == near.predict_proba([[0, 0]]).tolist() == [[6 / 7, 1 / 7]]
    )
    low, high = near.range_of([[0, 0]])
    assert low.tolist() == high.tolist() == [[6 / 7, 1 / 7]]
    assert space.near_best().predict_proba([[0, 1]]).tolist() == [[0.0, 1.0]]


@pytest.mark.long
def test_draws_are_uniform(space: et.TreeSpace) -> None:
    near = space.near_best(1e9)
    drawn = Counter(tree.key for tree in near.sample(4500, random_state=1))
    assert len(drawn) == 9
    assert all(abs(n - 500) < 5 * (4500 * 8 / 81) ** 0.5 for n in drawn.values())
    assert near.sample(5, random_state=2) == near.sample(5, random_state=np.random.default_rng(2))
    assert near.sample(0) == []


def test_trees_by_number(space: et.TreeSpace) -> None:
    near = space.near_best(1e9)
    trees = list(near)
    assert near[2:8:3] == [trees[2], trees[5]]
    assert near[-1] == trees[8]
    assert list(islice(near, 3)) == near[:3]
    assert [tree.info["objective"] for tree in trees] == sorted(tree.info["objective"] for tree in trees)


def test_what_is_not_in_the_set(space: et.TreeSpace) -> None:
    near = space.near_best()
    assert (-1,) not in near
    assert (0, 1, -1, -1, 1, -1, -1) in near
    assert (0, 0, -1, -1, 1, -1, -1) not in near  # the second test 0 splits nothing
    assert (7, -1, -1) not in near
    assert (0, -1) not in near
    assert "tree" not in near
    assert 3 not in near
    other = et.TreeSpace([[*row, 0] for row in XOR], [0, 1, 1, 0] * 5, max_depth=2)
    assert other.near_best()[0] not in near


def test_any_number_of_threads_gives_the_same() -> None:
    one, two = (wide_space(max_depth=3, n_jobs=n).near_best(0.1) for n in (1, 2))
    X = one.space.table.rows
    assert one.by_objective == two.by_objective
    np.testing.assert_array_equal(one.test_use(), two.test_use())
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_the_set_survives_a_pickle(space: et.TreeSpace) -> None:
    near = pickle.loads(pickle.dumps(space.near_best(0.3, dirichlet=2.0)))
    assert isinstance(near, NearBest)
    assert near.n_trees == 2
    assert near.epsilon == 0.3
    assert "2 trees" in repr(near)


@pytest.mark.parametrize("name", ["epsilon", "leaf_share"])
@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf"), "0.1", None, True, Decimal("nan"), 1j])
def test_numbers_that_make_no_sense(space: et.TreeSpace, name: str, value: Any) -> None:
    with pytest.raises(et.QueryError, match=rf"{name}=.*expected a finite number ≥ 0, such as"):
        space.near_best(**{name: value})


def test_other_bad_arguments(space: et.TreeSpace) -> None:
    with pytest.raises(et.QueryError, match=r"dirichlet=DepthDecay.*one number, one per class"):
        space.near_best(dirichlet=et.DepthDecay())
    with pytest.raises(et.QueryError, match="dirichlet"):
        space.near_best(dirichlet=[1.0, 2.0, 3.0])
    near = space.near_best()
    with pytest.raises(et.DataError, match="X has 3 columns; expected the 2 tests"):
        near.votes([[0, 1, 1]])
    with pytest.raises(et.QueryError, match="n=-1; expected a whole number ≥ 0"):
        near.sample(-1)
    with pytest.raises(IndexError, match="tree 2 of a set of 2 trees"):
        near[2]
    with pytest.raises(et.QueryError, match="expected the number of a tree, or a slice"):
        near["first"]  # type: ignore[call-overload]


def test_rows_without_columns_and_no_rows() -> None:
    near = et.TreeSpace(np.zeros((3, 0)), [0, 1, 1]).near_best()
    assert near.n_trees == 1
    assert near.predict_proba(np.zeros((2, 0))).round(3).tolist() == [[0.333, 0.667]] * 2
    assert near.predict_proba(np.zeros((0, 0))).shape == (0, 2)
    assert near.test_use().shape == (0,)


@pytest.mark.long
def test_more_trees_than_len_can_say() -> None:
    near = wide_space(max_depth=4).near_best(1e6)
    assert near.n_trees == near.space.n_trees > 2**63
    with pytest.raises(OverflowError, match="use n_trees"):
        len(near)
    assert near
    assert next(iter(near)) == near[0]


def test_limits_end_the_question_with_advice() -> None:
    with pytest.raises(et.LimitReached, match=r"time limit reached while .*a smaller epsilon"):
        wide_space(max_depth=5, time_limit=0.05).near_best(10)
    space = wide_space(max_depth=4, memory_limit=2 * 10**7)
    assert space.near_best(0.01).n_trees >= 1
    with pytest.raises(et.LimitReached, match=r"memory limit reached while .*a smaller epsilon"):
        space.near_best(1e6)


def test_an_error_of_the_progress_callback_ends_the_work() -> None:
    class Enough(Exception):
        pass

    def progress(stage: str, done: int, total: int, seconds: float) -> None:
        if "near-best" in stage:
            raise Enough

    with pytest.raises(Enough):
        wide_space(max_depth=5, progress=progress).near_best(10)


@pytest.mark.skipif(not CP4IM.exists(), reason="needs the CP4IM files")
def test_tic_tac_toe() -> None:
    data = np.loadtxt(CP4IM / "tic-tac-toe.txt", dtype=np.uint8)
    near = et.TreeSpace(data[:, 1:], data[:, 0], max_depth=4).near_best(0.05, 0.01)
    assert near.n_trees == 13488
    # Counts that a program which stores every tree agrees with.
    first = {(190, 6): 8, (153, 10): 48, (182, 7): 8, (154, 10): 48, (183, 7): 8, (145, 11): 16}
    assert {(level.errors, level.leaves): level.n_trees for level in near.by_objective[:6]} == first
    assert near[0].error == 190
    assert near.votes(data[:5, 1:]).sum(axis=1) == pytest.approx(1)
