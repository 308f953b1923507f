"""Hypothesis looks for a small table on which the engine and the reference differ, and shrinks it."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from engine_cases import OPTIONS, Case, Data, Twins
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import cheapest, front_of, random_tree
from questions import QUESTIONS, log_evidence, predict_proba, query_of

from everytree import reference
from everytree.reference import Query

PLAIN = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@st.composite
def tables(draw: st.DrawFn) -> Data:
    """Up to ten rows of up to four tests, of up to four classes; small means close to the empty table."""
    n_tests = draw(st.integers(0, 4))
    n_classes = draw(st.integers(1, 4))
    row = st.tuples(*[st.integers(0, 1)] * n_tests, st.integers(0, n_classes - 1), st.integers(1, 3))
    rows = np.array(draw(st.lists(row, min_size=1, max_size=10)), dtype=np.int64)
    return Data(
        rows[:, :n_tests].astype(np.uint8),
        rows[:, -2].astype(np.intp),
        rows[:, -1].astype(np.int64),
        n_classes,
    )


@st.composite
def twins(draw: st.DrawFn) -> Twins:
    """A table and a choice of every option."""
    data = draw(tables())
    assert data.weights is not None
    n_examples = int(data.weights.sum())
    case = Case(
        seed=draw(st.integers(0, 1000)),
        n_classes=data.n_classes,
        min_leaf=draw(st.integers(1, min(5, n_examples))),
        max_depth=draw(st.sampled_from([*range(5), None])),
        prior=draw(st.sampled_from(OPTIONS["prior"])),
        dirichlet=draw(st.sampled_from(OPTIONS["dirichlet"])),
        cost=draw(st.sampled_from(OPTIONS["cost"])),
        merge=draw(st.booleans()),
        frontier=draw(st.booleans()),
        linear=draw(st.booleans()),
    )
    return Twins(case, data)


@pytest.mark.long
@PLAIN
@given(twins())
def test_evidence_and_predictions(both: Twins) -> None:
    log_evidence(both)
    predict_proba(both)


@pytest.mark.long
@PLAIN
@given(twins())
def test_count_and_best(both: Twins) -> None:
    for name in ("count", "best_error", "best_cost", "k_best", "k_best_sizes", "front"):
        QUESTIONS[name](both)


@pytest.mark.long
@PLAIN
@given(twins())
def test_posterior_questions(both: Twins) -> None:
    for name in (
        "map_tree", "top_trees", "root_distribution", "test_inclusion", "leaves_distribution",
        "depth_distribution", "log_prob", "sample",
    ):  # fmt: skip
        QUESTIONS[name](both)


@PLAIN
@given(twins())
def test_the_oracle_of_this_folder_is_the_reference(both: Twins) -> None:
    """``oracle`` stands in for ``reference.best`` and ``reference.front`` where those are slow."""
    query = query_of(both, both.case.cost)
    if both.twin.count() > 500:
        return
    answers = reference.best(both.twin, query, k=8)
    np.testing.assert_allclose(cheapest(both.twin, query, 8), [answer.rank[0] for answer in answers])
    exact = Query(rank=("error", "size"))
    points = reference.front(both.twin, exact)
    assert front_of(both.twin, exact) == [(point.at, point.value) for point in points]


@settings(PLAIN, max_examples=80)
@given(twins(), st.randoms(use_true_random=False))
def test_any_tree_has_the_reference_s_log_joint(both: Twins, rng: Random) -> None:
    tree = random_tree(rng, both.table.n_tests, 4)
    ours = both.posterior.log_joint(reference.key(tree))
    if tree in both.twin:
        np.testing.assert_allclose(ours, both.bayes.log_joint(tree), rtol=1e-9, atol=1e-11)
    else:
        assert ours == -np.inf
