"""Bounds on the space without a depth limit: they hold, they close, and they refuse what they cannot promise."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from everytree import Bracket, PredictionBracket, TreeSpace
from everytree.errors import DataError, LimitReached, QueryError
from everytree.weights.dirichlet import DepthDecay
from everytree.weights.priors import (
    CodingPrior,
    LeafPenaltyPrior,
    Prior,
    PriorTables,
    ShapePrior,
    SizePrior,
    UniformPrior,
)

CP4IM = Path(__file__).parents[3] / "shared" / "data" / "cp4im"


def space(seed: int, max_depth: int | None, min_leaf: int = 1, n: int = 25, n_tests: int = 6) -> TreeSpace:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, n_tests))
    y = (X[:, 0] ^ (rng.random(n) < 0.25)).astype(int) + 2 * (rng.random(n) < 0.1)
    return TreeSpace(X, y, max_depth, min_leaf, classes=range(4))


@pytest.mark.parametrize(
    "prior",
    [SizePrior(), SizePrior(0.95, 0.5), SizePrior(0.5, 3.0), CodingPrior(), CodingPrior(weight=1.5)],
    ids=repr,
)
@pytest.mark.parametrize("seed", range(5))
def test_it_holds_the_unlimited_value_and_closes(prior: Prior, seed: int) -> None:
    min_leaf = 1 + seed % 3
    free = space(seed, None, min_leaf).posterior(prior, 0.7)
    every = free.bracket()
    assert every == (free.log_evidence, free.log_evidence)
    rows = free.space.table.rows
    exact = free.predict_proba(rows)
    posts = [space(seed, depth, min_leaf).posterior(prior, 0.7) for depth in range(7)]
    brackets = [post.bracket() for post in posts]
    for bracket in brackets:
        assert bracket.lower <= free.log_evidence + 1e-11
        assert bracket.upper >= free.log_evidence - 1e-11
    for wide, narrow in pairwise(brackets):
        assert wide.lower <= narrow.lower + 1e-9
        assert wide.upper >= narrow.upper - 1e-9
    assert brackets[0].width > 1
    assert brackets[6].width == 0  # six tests: no tree is deeper
    assert brackets[6].lower == pytest.approx(free.log_evidence, abs=1e-11)
    for post in posts:
        bounds = post.predict_bracket(rows)
        assert (bounds.lower <= exact + 1e-11).all()
        assert (exact <= bounds.upper + 1e-11).all()
        assert (bounds.lower >= 0).all()
        assert (bounds.upper <= 1).all()
    last = posts[6].predict_bracket(rows)
    assert last.known == 1
    np.testing.assert_allclose(last.lower, exact, atol=1e-11)
    np.testing.assert_array_equal(last.lower, last.upper)


def test_predictions_are_narrow_where_deep_trees_cannot_weigh_much() -> None:
    post = space(1, 3).posterior(SizePrior(0.5, 6.0))
    bounds = post.predict_bracket(post.space.table.rows)
    assert isinstance(bounds, PredictionBracket)
    assert bounds.known > 0.5
    assert (bounds.upper - bounds.lower).max() < 0.5
    loose = space(1, 1).posterior(SizePrior(0.99, 0.1)).predict_bracket(post.space.table.rows)
    assert loose.known < bounds.known
    assert (loose.upper - loose.lower).max() > (bounds.upper - bounds.lower).max()


def test_repeated_rows_are_known_to_be_closed() -> None:
    """At the depth limit every leaf holds equal rows of different classes: nothing is left open."""
    free = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 10, [0, 1, 1, 0, 0, 0, 1, 1] * 5, 2)
    assert free.posterior().bracket().width == 0
    # One of the leaves at the limit can be split, the others cannot.
    X = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]] * 8)
    y = np.arange(40) % 3 % 2
    bracket = TreeSpace(X, y, 2).posterior().bracket()
    every = TreeSpace(X, y, None).posterior().log_evidence
    assert bracket.lower < every < bracket.upper


def test_many_classes_and_large_tables_use_no_table_of_counts() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 2, (3000, 3)), rng.integers(0, 2, 3000)
    X = np.column_stack([X, X[:, :1] ^ (rng.random((3000, 1)) < 0.01)])
    free = TreeSpace(X, y, None, 5).posterior()
    bracket = TreeSpace(X, y, 2, 5).posterior().bracket()
    assert bracket.lower < free.log_evidence < bracket.upper
    threads = TreeSpace(X, y, 2, 5, n_jobs=2).posterior().bracket()
    assert threads == bracket


@pytest.mark.parametrize(
    "prior", [UniformPrior(), LeafPenaltyPrior(0.5), ShapePrior(), CodingPrior(weight=0.5)], ids=repr
)
def test_priors_that_bound_nothing_are_refused(prior: Prior) -> None:
    post = space(0, 2).posterior(prior)
    for ask in (post.bracket, lambda: post.predict_bracket(post.space.table.rows)):
        with pytest.raises(
            QueryError, match=f"{type(prior).__name__}.*total weight.*use SizePrior or CodingPrior"
        ):
            ask()


class Greedy(Prior):
    """Proper above depth 3, but not below."""

    def tables(self, deepest: int) -> PriorTables:
        split = [-1.0, -1.0, -1.0] + [0.5] * max(0, deepest - 2)
        return PriorTables(split[: deepest + 1], [-1.0], [0.0], per_test=True)


def test_a_prior_of_ones_own_is_checked_below_the_limit_too() -> None:
    with pytest.raises(QueryError, match="total weight"):
        space(0, 2).posterior(Greedy()).bracket()


def test_what_else_is_refused() -> None:
    with pytest.raises(
        QueryError, match=r"DepthDecay.*changes with depth; a bracket needs the same parameters"
    ):
        space(0, 2).posterior(dirichlet=DepthDecay(0.5, 0.5)).bracket()
    with pytest.raises(DataError, match="X has 1 columns; expected the 6 tests"):
        space(0, 2).posterior().predict_bracket([[0]])
    post = space(0, 2).posterior()
    post.space.limits = type(post.space.limits)(time_limit=1e-9)
    with pytest.raises(LimitReached, match="time limit reached while bracketing the evidence"):
        post.bracket()


@pytest.mark.long
def test_heart_cleveland() -> None:
    """A known pair of numbers, for the trees of depth at most 4."""
    path = CP4IM / "heart-cleveland.txt"
    if not path.exists():
        pytest.skip(
            f"needs {path.name} of the CP4IM files (pydl8.5's datasets folder) in ../shared/data/cp4im"
        )
    data = np.loadtxt(path, dtype=np.uint8)
    bracket = TreeSpace(data[:, 1:], data[:, 0], 4).posterior(SizePrior(0.95, 0.5), 2.5).bracket()
    assert isinstance(bracket, Bracket)
    assert round(bracket.lower, 1) == -149.2
    assert round(bracket.upper, 1) == -61.1
