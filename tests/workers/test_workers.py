"""Tasks on the workers of every backend: all results, as they come, also when a worker dies in the middle."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import pytest

import everytree as et
from everytree import cluster
from everytree.common.workers import OnDemand, n_elsewhere, n_workers, use_backend
from everytree.errors import DataError, LimitReached, QueryError


def square(k: int) -> int:
    return k * k


def squares() -> Callable[[int], int]:
    """The same function, sent by value: the workers of some backends do not find this file."""
    return lambda k: k * k


def lethal() -> Callable[[str, int, bool], int]:
    """k squared; but a process that meets 3 is killed, the first time or always."""

    def squared(folder: str, k: int, always: bool) -> int:
        import os
        import signal

        if k == 3 and (always or not os.path.exists(f"{folder}/died")):
            open(f"{folder}/died", "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        open(f"{folder}/{k}.{os.getpid()}.{os.urandom(4).hex()}", "w").close()
        return k * k

    return squared


def test_every_result(backend: str) -> None:
    function = square if backend == "multiprocessing" else squares()
    assert cluster.distribute(function, [(k,) for k in range(20)]) == [k * k for k in range(20)]
    assert cluster.distribute(function, []) == []
    assert sorted(cluster.results(function, [(k,) for k in range(5)])) == [(k, k * k) for k in range(5)]


def test_tasks_are_made_when_they_are_handed_out() -> None:
    made: list[int] = []
    found = cluster.results(abs, OnDemand(50, lambda k: (made.append(k) or -k,)), n_jobs=1)
    first = next(found)
    assert first == (0, 0)
    assert len(made) < 5
    assert dict([first, *found]) == {k: k for k in range(50)}


def test_errors_of_a_task_are_raised_and_not_tried_again(backend: str) -> None:
    with pytest.raises(ZeroDivisionError):
        cluster.distribute(divmod, [(7, 2), (1, 0), (5, 1)])
    assert cluster.distribute(divmod, [(7, 2)]) == [(3, 1)]  # and the workers are still there


@pytest.mark.parametrize("backend", ["loky", "dask", "ray", "spark"], indirect=True)
def test_a_worker_that_dies_is_replaced(backend: str, tmp_path: Path) -> None:
    tasks = [(str(tmp_path), k, False) for k in range(12)]
    found = dict(cluster.results(lethal(), tasks))
    assert found == {k: k * k for k in range(12)}
    assert (tmp_path / "died").exists()
    runs = [path.name.split(".")[0] for path in tmp_path.iterdir() if path.name != "died"]
    assert set(runs) == {str(k) for k in range(12)}
    if backend == "ray":
        assert len(runs) == 12  # only the task of the dead worker is done again
    space = et.TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, max_depth=2)
    assert cluster.posterior(space).log_evidence == space.posterior().log_evidence


@pytest.mark.parametrize("backend", ["loky", "ray", "spark"], indirect=True)
def test_workers_that_always_die_end_with_a_message(backend: str, tmp_path: Path) -> None:
    with pytest.raises(LimitReached, match=r"ended 2 times without a result .* of 1 parts are done"):
        cluster.distribute(lethal(), [(str(tmp_path), 3, True)], retries=1)


def test_results_come_before_the_last_is_done() -> None:
    with joblib.parallel_config(backend="threading", n_jobs=2):
        begun = time.monotonic()
        answers = cluster.results(time.sleep, [(0.01,), (2.0,)])
        assert next(answers) == (0, None)
        assert time.monotonic() - begun < 1.9
        with pytest.warns(UserWarning, match="cancelled"):
            answers.close()


def test_what_cannot_be_sent_is_refused_at_once() -> None:
    with (
        joblib.parallel_config(backend="loky", n_jobs=2),
        pytest.raises((pickle.PicklingError, TypeError), match="pickle"),
    ):
        cluster.distribute(len, [((k for k in range(3)),)] * 2)


def test_bad_arguments() -> None:
    with pytest.raises(QueryError, match="retries"):
        cluster.distribute(pow, [(1, 2)], retries=-1)
    with pytest.raises(QueryError, match="backend='slurm'; expected one of loky"), use_backend("slurm"):
        pass


@pytest.mark.long
def test_names_of_backends() -> None:
    for name in ("loky", "threading", "multiprocessing"):
        with use_backend(name, 2):
            assert n_workers() == 2
            assert cluster.distribute(os.path.basename, [("a/b",)]) == ["b"]
    with use_backend("loky", 1):
        assert n_workers() == 1


@pytest.mark.parametrize("name", ["dask", "ray", "spark"])
def test_backends_that_are_not_installed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins

    real = builtins.__import__

    def refuse(module: str, *rest: Any) -> Any:
        if module.split(".")[0] in ("dask", "distributed", "ray", "joblibspark"):
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)
        return real(module, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with (
        pytest.raises(QueryError, match=r"is not installed; pip install .everytree\[cluster\]"),
        use_backend(name),
    ):
        pass


def test_what_counts_as_elsewhere() -> None:
    assert n_elsewhere() == 0
    with joblib.parallel_config(n_jobs=4):  # no backend by name: threads of the core will do
        assert n_elsewhere() == 0
    with joblib.parallel_config(backend="threading", n_jobs=4):
        assert n_elsewhere() == 0
    with joblib.parallel_config(backend="loky", n_jobs=1):
        assert n_elsewhere() == 0
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert n_elsewhere() == 2
        assert cluster.distribute(n_elsewhere, [(), ()]) == [0, 0]  # not from a worker to further ones


def test_a_worker_of_any_backend_keeps_its_work(backend: str) -> None:
    assert cluster.distribute(n_elsewhere, [(), ()]) == [0, 0]


def refuse(k: int) -> None:
    error = DataError(f"no {k}")
    error.add_note("told by the task")
    raise error


@pytest.mark.long
def test_notes_of_errors_come_along() -> None:
    with joblib.parallel_config(backend="multiprocessing", n_jobs=2), pytest.raises(DataError) as told:
        cluster.distribute(refuse, [(4,)])
    assert told.value.__notes__ == ["told by the task"]
