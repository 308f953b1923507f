"""Iterative deepening: every step is the posterior of its depth, limits keep what is finished, and it knows its end."""

from __future__ import annotations

import json
import threading
import time
from itertools import pairwise

import numpy as np
import pytest

from everytree import DepthProfile, TreeSpace
from everytree.errors import DataError, LimitReached, QueryError
from everytree.weights.dirichlet import DepthDecay
from everytree.weights.priors import CodingPrior, LeafPenaltyPrior, Prior, ShapePrior, SizePrior, UniformPrior

PRIORS: list[Prior] = [SizePrior(), UniformPrior(), LeafPenaltyPrior(0.3), ShapePrior(), CodingPrior()]


def small(seed: int, max_depth: int | None, min_leaf: int = 1, n: int = 12, n_tests: int = 4) -> TreeSpace:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, n_tests))
    y = (X[:, 0] ^ (rng.random(n) < 0.25)).astype(int)
    return TreeSpace(X, y, max_depth, min_leaf, classes=[0, 1])


def wide(time_limit: float | None = None, memory_limit: int | None = None) -> TreeSpace:
    """Noise: depth 3 in a blink, depth 6 in hours."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 60))
    return TreeSpace(X, rng.integers(0, 2, 400), None, 2, time_limit=time_limit, memory_limit=memory_limit)


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
@pytest.mark.parametrize("seed", range(4))
def test_every_step_is_the_posterior_of_its_depth(prior: Prior, seed: int) -> None:
    space = small(seed, 3)
    profile = space.deepen(prior, 0.5)
    before = None
    for step in profile:
        post = small(seed, step.depth).posterior(prior, 0.5)
        assert step.log_evidence == post.log_evidence
        assert step.n_states == post.space.n_states
        p = post.predict_proba(space.table.rows)
        if before is None:
            assert step.largest_change is None
        else:
            assert step.largest_change == pytest.approx(np.abs(p - before).max(), abs=1e-14)
        before = p
    assert profile.posterior.log_evidence == profile.log_evidence == profile[-1].log_evidence
    assert profile.complete
    assert profile.stop_reason == ""


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
@pytest.mark.parametrize("min_leaf", [1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_without_a_limit_it_ends_where_no_deeper_tree_exists(prior: Prior, min_leaf: int, seed: int) -> None:
    free = small(seed, None, min_leaf)
    profile = free.deepen(prior)
    assert profile.complete
    assert profile.exhausted
    every = free.posterior(prior)
    assert profile.log_evidence == pytest.approx(every.log_evidence, abs=1e-11)
    assert np.allclose(
        profile.posterior.predict_proba(free.table.rows), every.predict_proba(free.table.rows), atol=1e-12
    )
    # It is the first such depth: the trees of the depth before are fewer.
    assert profile.posterior.space.n_trees == free.n_trees
    if profile.depth > 1:
        assert small(seed, profile.depth - 1, min_leaf).n_trees < free.n_trees


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("min_leaf", [1, 2, 4])
@pytest.mark.parametrize("frontier", [True, False])
def test_the_core_knows_whether_the_limit_matters(seed: int, min_leaf: int, frontier: bool) -> None:
    free = small(seed, None, min_leaf, n=20, n_tests=5).n_trees
    for depth in range(6):
        space = small(seed, depth, min_leaf, n=20, n_tests=5)
        space.switches["frontier"] = frontier
        with space.question("testing") as control:
            limited = space.graph_under(control).limited(control)
        assert limited == (space.n_trees < free)


def test_repeated_rows_do_not_look_deeper_than_they_are() -> None:
    """Many examples, but nothing left to split by."""
    space = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 25, [0, 1] * 50, None)
    profile = space.deepen()
    assert (profile.depth, profile.exhausted) == (2, True)


def test_a_depth_that_no_tree_needs_is_not_folded() -> None:
    profile = small(0, 9).deepen()
    assert profile.exhausted
    assert profile.depth < 9
    assert profile.log_evidence == pytest.approx(small(0, 9).posterior().log_evidence, abs=1e-12)


def test_the_single_leaf() -> None:
    profile = small(0, 0).deepen()
    assert (profile.depth, len(profile), profile.complete, profile.exhausted) == (0, 1, True, False)
    nothing = TreeSpace([[0], [0]], [0, 1], None).deepen()
    assert (nothing.depth, nothing.exhausted) == (1, True)


def test_max_depth_of_the_call() -> None:
    profile = small(1, None).deepen(max_depth=2)
    assert (profile.depth, profile.complete, profile.exhausted) == (2, True, False)
    with pytest.raises(QueryError, match="max_depth=5 is deeper than the space, whose limit is 3"):
        small(1, 3).deepen(max_depth=5)
    with pytest.raises(QueryError, match="max_depth='2'; expected a whole number"):
        small(1, 3).deepen(max_depth="2")  # type: ignore[arg-type]


def test_rows_that_are_watched() -> None:
    space = small(2, 3)
    one = space.deepen(X=space.table.rows[:1])
    every = space.deepen()
    for a, b in zip(one, every, strict=True):
        assert (a.largest_change or 0) <= (b.largest_change or 0)
    with pytest.raises(DataError, match="X has 2 columns; expected the 4 tests"):
        space.deepen(X=[[0, 1]])


def test_depth_dependent_leaves_and_fair_tests() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 2, (30, 4)), rng.integers(0, 3, 30)
    space = TreeSpace(X, y, 3, 2, attributes=[0, 0, 1, 2])
    prior = SizePrior(0.9, 0.4, attribute_fair=True)
    for a in (DepthDecay(0.9, 0.5), [0.5, 1, 2]):
        assert space.deepen(prior, a).log_evidence == space.posterior(prior, a).log_evidence


def test_the_space_keeps_the_graph_of_its_own_depth() -> None:
    space = small(0, 3)
    space.deepen()
    assert space.graphs


# Limits -----------------------------------------------------------------------------------------------------


def test_a_time_limit_counts_for_the_whole_run() -> None:
    space = wide(time_limit=0.8)
    start = time.perf_counter()
    profile = space.deepen()
    assert time.perf_counter() - start < 0.8 + 0.8
    assert profile.depth >= 2
    assert not profile.complete
    assert profile.stop_reason in ("time", "hopeless")
    assert [step.depth for step in profile] == list(range(1, profile.depth + 1))
    # What was finished is an answer like any other.
    plain = wide()
    plain.max_depth = profile.depth
    assert profile.log_evidence == plain.posterior().log_evidence
    assert profile.posterior.space.limits.time_limit == 0.8


def test_a_memory_limit_keeps_what_fits() -> None:
    profile = wide(memory_limit=2_000_000).deepen(X=np.zeros((1, 60)))
    assert profile.depth >= 3
    assert profile.stop_reason in ("memory", "hopeless")


def test_a_hopeless_depth_is_not_begun() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (200, 400)), rng.integers(0, 2, 200)
    # The posterior of a depth is there while that of the next one is made; under a limit it keeps less beside.
    made = [TreeSpace(X, y, depth, memory_limit=10**8).posterior() for depth in (2, 3)]
    enough = int(1.1 * sum(each.core.n_bytes for each in made))
    profile = TreeSpace(X, y, None, memory_limit=enough).deepen(X=np.zeros((0, 400)))
    assert (profile.depth, profile.stop_reason) == (3, "hopeless")
    assert "would not fit the limits" in str(profile)


def test_a_limit_met_at_the_last_depth_is_told() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (200, 400)), rng.integers(0, 2, 200)
    # The posterior of a depth is there while that of the next one is made; under a limit it keeps less beside.
    made = [TreeSpace(X, y, depth, memory_limit=10**8).posterior() for depth in (2, 3)]
    enough = int(1.1 * sum(each.core.n_bytes for each in made))
    profile = TreeSpace(X, y, 4, memory_limit=enough).deepen(X=np.zeros((0, 400)))
    assert (profile.depth, profile.complete, profile.stop_reason) == (3, False, "hopeless")


def test_not_even_the_first_depth() -> None:
    with pytest.raises(LimitReached, match=r"time limit.*; (give more seconds|try max_depth)") as limit:
        wide(time_limit=1e-9).deepen()
    assert limit.value.reason == "time"
    with pytest.raises(LimitReached, match="memory limit"):
        wide(memory_limit=1).deepen()


def test_stop_from_another_thread() -> None:
    space = wide()
    timer = threading.Timer(0.7, space.stop)
    timer.start()
    try:
        profile = space.deepen(X=np.zeros((1, 60)))
    finally:
        timer.cancel()
    assert profile.stop_reason == "stopped"
    assert not profile.complete


# For people -------------------------------------------------------------------------------------------------


def test_text_and_dict() -> None:
    profile = small(0, 2).deepen()
    assert isinstance(profile, DepthProfile)
    text = str(profile).splitlines()
    assert text[0].split() == ["depth", "log", "evidence", "largest", "change", "states", "seconds"]
    assert len({len(line) for line in text[:-1]}) == 1
    assert text[-1] == "all trees of depth at most 2"
    assert "depth=2" in repr(profile)
    told = json.loads(json.dumps(profile.to_dict()))
    assert told["depth"] == 2
    assert told["complete"] is True
    assert [step["log_evidence"] for step in told["steps"]] == [step.log_evidence for step in profile]


# What is monotone -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", PRIORS[1:], ids=repr)
@pytest.mark.parametrize("seed", range(5))
def test_what_grows_with_depth(prior: Prior, seed: int) -> None:
    """Where a tree weighs the same under every limit, more trees mean more evidence and no worse a best one."""
    posts = [small(seed, depth, 1 + seed % 2).posterior(prior, 0.5) for depth in range(5)]
    for shallow, deep in pairwise(posts):
        assert shallow.space.n_trees <= deep.space.n_trees
        assert shallow.log_evidence <= deep.log_evidence + 1e-12
        best = shallow.map_tree()
        assert deep.log_joint(best) == pytest.approx(shallow.log_joint(best), abs=1e-12)
        assert shallow.log_joint(best) <= deep.log_joint(deep.map_tree()) + 1e-12


def test_the_size_prior_is_not_monotone() -> None:
    """It is a distribution over the trees of each limit: mass for deeper trees is taken from the others."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (60, 5)), rng.integers(0, 2, 60)
    one, two, three = (TreeSpace(X, y, depth, 5).posterior().log_evidence for depth in (1, 2, 3))
    assert one > two < three
