"""Questions on many processes: the answers of one process, whatever the backend, also when a worker dies."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

import everytree as et
from everytree import cluster
from everytree.errors import DataError, LimitReached, QueryError


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


def mark_and_die(folder: str, k: int, victim: int) -> int:
    """k squared; but the first time that the victim runs, its process is killed."""
    marker = Path(folder) / "died"
    if k == victim and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    (Path(folder) / f"{k}.{os.getpid()}").touch()
    return k * k


def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    with joblib.parallel_config(backend="loky", n_jobs=2):
        tasks = [(str(tmp_path), k, 3) for k in range(8)]
        assert cluster.distribute(mark_and_die, tasks) == [k * k for k in range(8)]
    assert (tmp_path / "died").exists()


def die(folder: str) -> None:
    (Path(folder) / f"{len(list(Path(folder).iterdir()))}").touch()
    os.kill(os.getpid(), signal.SIGKILL)


def test_workers_that_always_die_end_with_a_message(tmp_path: Path) -> None:
    with (
        joblib.parallel_config(backend="loky", n_jobs=2),
        pytest.raises(LimitReached, match=r"ended 2 times without a result .*0 of 1 parts are done"),
    ):
        cluster.distribute(die, [(str(tmp_path),)], retries=1)


def refuse(k: int) -> None:
    raise DataError(f"no {k}")


def test_errors_of_a_task_are_raised_and_not_tried_again() -> None:
    with pytest.raises(DataError, match="no 4"):
        cluster.distribute(refuse, [(4,)])
    assert cluster.distribute(refuse, []) == []


def test_bad_arguments() -> None:
    space = spaces(1)[0]
    with pytest.raises(QueryError, match="n_parts"):
        cluster.posterior(space, n_parts=0)
    with pytest.raises(QueryError, match="needs a depth limit"):
        cluster.best(et.TreeSpace([[0], [1]], [0, 1], max_depth=None))
    with pytest.raises(QueryError, match="retries"):
        cluster.distribute(pow, [(1, 2)], retries=-1)


@pytest.mark.slow
def test_dask_with_a_killed_worker(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="dask is not installed (the extra cluster)")
    space = spaces(1, seed=5)[0]
    local = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with local, distributed.Client(local), joblib.parallel_config(backend="dask"):
        tasks = [(str(tmp_path), k, 3) for k in range(8)]
        assert cluster.distribute(mark_and_die, tasks) == [k * k for k in range(8)]
        assert (tmp_path / "died").exists()
        assert cluster.posterior(space).log_evidence == space.posterior().log_evidence


@pytest.mark.slow
def test_ray_with_a_killed_worker(tmp_path: Path) -> None:
    ray = pytest.importorskip("ray", reason="ray is not installed (the extra cluster)")
    from ray.util.joblib import register_ray

    space = spaces(1, seed=5)[0]

    def square(folder: str, k: int) -> int:  # sent by value: the workers of Ray do not find this file
        import os
        import signal

        if k == 3 and not os.path.exists(f"{folder}/died"):
            open(f"{folder}/died", "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return k * k

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        register_ray()
        with joblib.parallel_config(backend="ray", n_jobs=2):
            tasks = [(str(tmp_path), k) for k in range(8)]
            assert cluster.distribute(square, tasks) == [k * k for k in range(8)]
            assert (tmp_path / "died").exists()
            assert cluster.posterior(space).log_evidence == space.posterior().log_evidence
    finally:
        ray.shutdown()
