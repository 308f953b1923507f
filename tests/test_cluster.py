"""Questions on many processes: the answers of one process, whatever the backend, also when a worker dies."""

from __future__ import annotations

import math
from typing import Any

import joblib
import numpy as np
import pytest

import everytree as et
from everytree import cluster
from everytree.bayes import fold_parts
from everytree.common.limits import Limits
from everytree.errors import LimitReached, QueryError


def spaces(n: int, seed: int = 0) -> list[et.TreeSpace]:
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(n):
        rows, tests = int(rng.integers(10, 80)), int(rng.integers(2, 7))
        X = rng.integers(0, 2, (rows, tests))
        y = rng.integers(0, int(rng.integers(2, 4)), rows)
        made.append(et.TreeSpace(X, y, max_depth=int(rng.integers(0, 5)), min_leaf=int(rng.integers(1, 4))))
    return made


@pytest.mark.parametrize("prior", [None, "uniform", et.LeafPenaltyPrior(0.5), "coding"])
def test_the_evidence_is_that_of_one_process_to_the_last_bit(prior: Any) -> None:
    for k, space in enumerate(spaces(12)):
        whole = space.posterior(prior, dirichlet=0.5 + k / 7)
        parts = cluster.posterior(space, prior, dirichlet=0.5 + k / 7, n_parts=1 + k)
        assert parts.log_evidence == whole.log_evidence
        rows = space.table.rows
        assert np.array_equal(parts.predict_proba(rows), whole.predict_proba(rows))
        # How rows are asked together may change the last bit of a sum.
        blocks = cluster.predict_proba(parts, rows, block=7)
        np.testing.assert_allclose(blocks, whole.predict_proba(rows), rtol=0, atol=1e-14)
        assert parts.map_tree() == whole.map_tree()
        assert np.array_equal(parts.test_inclusion(), whole.test_inclusion())


@pytest.mark.long
def test_two_processes() -> None:
    space = spaces(1, seed=5)[0]
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert cluster.posterior(space).log_evidence == space.posterior().log_evidence
        assert cluster.best(space) == space.best()


def test_a_long_fold_follows_the_backend_in_force(monkeypatch: pytest.MonkeyPatch) -> None:
    handed: list[int] = []

    def counted(function: Any, tasks: Any, **how: Any) -> Any:
        handed.append(len(tasks))
        return distribute(function, tasks, **how)

    distribute = fold_parts.distribute
    monkeypatch.setattr(fold_parts, "distribute", counted)
    space = spaces(1, seed=5)[0]
    here = space.posterior().log_evidence
    model = et.BayesOptimalClassifier(max_depth=2)
    X, y = np.repeat(space.table.rows, 3, axis=0), np.arange(3 * space.table.n_rows) % 2
    proba = model.fit(X, y).predict_proba(X)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert space.posterior().log_evidence == here
        assert not handed  # too short to be worth it
        monkeypatch.setattr(fold_parts, "LONG", 0)
        assert space.posterior().log_evidence == here
        assert np.array_equal(model.fit(X, y).predict_proba(X), proba)
        assert handed == [8, 8]
    space.posterior()
    assert len(handed) == 2  # no backend, no workers


class Nothing(et.Prior):
    def tables(self, deepest: int) -> et.PriorTables:
        return et.PriorTables([-math.inf], [-math.inf], [-math.inf], per_test=False)


def test_a_prior_that_allows_no_tree_is_refused_as_in_one_process() -> None:
    with pytest.raises(QueryError, match="probability zero"):
        cluster.posterior(spaces(1)[0], Nothing())


def test_bad_arguments() -> None:
    space = spaces(1)[0]
    with pytest.raises(QueryError, match="n_parts"):
        cluster.posterior(space, n_parts=0)


def test_blocks_of_rows_share_one_limit_of_time_and_of_memory() -> None:
    rng = np.random.default_rng(5)
    space = et.TreeSpace(rng.integers(0, 2, (300, 12)), rng.integers(0, 2, 300), max_depth=3)
    post, rows = space.posterior(), rng.integers(0, 2, (4_000, 12))
    space.limits = Limits(time_limit=0.05)
    with pytest.raises(LimitReached) as limit:  # each block of one row takes far less, all of them far more
        cluster.predict_proba(post, rows, block=1)
    assert limit.value.reason == "time"
    space.limits = Limits(memory_limit=post.core.n_bytes + 1_000)
    with pytest.raises(LimitReached) as limit:
        cluster.predict_proba(post, rows)
    assert limit.value.reason == "memory"
    space.limits = Limits()
    assert cluster.predict_proba(post, rows[:0]).shape == (0, 2)
    assert np.allclose(cluster.predict_proba(post, rows), post.predict_proba(rows), rtol=0, atol=1e-14)
