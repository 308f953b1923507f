"""Questions on many processes: the answers of one process, whatever the backend, also when a worker dies."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
import pytest

import everytree as et
from everytree import cluster
from everytree.errors import QueryError


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
        assert np.array_equal(cluster.predict_proba(parts, rows, block=7), whole.predict_proba(rows))
        assert parts.map_tree() == whole.map_tree()
        assert np.array_equal(parts.test_inclusion(), whole.test_inclusion())


def test_the_best_tree_has_the_error_and_the_size_of_the_search() -> None:
    for k, space in enumerate(spaces(40, seed=1)):
        found, expected = cluster.best(space, per_round=1 + k % 4), space.best()
        assert (found.error, found.size) == (expected.error, expected.size)
        assert found.depth <= (space.max_depth or 0)
        assert int(found.counts[found.test < 0].sum(axis=1).min()) >= space.min_leaf
        assert found.info["optimal"]


def test_two_processes() -> None:
    space = spaces(1, seed=5)[0]
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert cluster.posterior(space).log_evidence == space.posterior().log_evidence
        assert cluster.best(space).error == space.best().error


def test_bad_arguments() -> None:
    space = spaces(1)[0]
    with pytest.raises(QueryError, match="n_parts"):
        cluster.posterior(space, n_parts=0)
    with pytest.raises(QueryError, match="needs a depth limit"):
        cluster.best(et.TreeSpace([[0], [1]], [0, 1], max_depth=None))
