"""Tasks on the workers of joblib's active backend: processes of this machine, or a cluster.

    with joblib.parallel_config(backend="loky", n_jobs=8):      # or "dask", "ray", "spark"
        for k, value in results(function, tasks): ...

Results come as they are finished, so that the caller can keep them. A worker that dies (killed, out of memory, its
machine gone) costs the tasks it had: they are handed out again. An error that a task raises is an answer, not an
accident: it is raised here and not tried again.
"""

from __future__ import annotations

import itertools
import os
import pickle
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import Any

from everytree.common.arguments import refused, whole
from everytree.errors import LimitReached, QueryError

__all__ = [
    "BACKENDS",
    "PARTS_PER_JOB",
    "OnDemand",
    "distribute",
    "held",
    "n_elsewhere",
    "n_workers",
    "release",
    "results",
    "use_backend",
]

BACKENDS = ("loky", "threading", "multiprocessing", "dask", "ray", "spark")

RETRIES = 3
PARTS_PER_JOB = 4  # with so many, little is lost with a worker, and sending the parts costs next to nothing
WAVE = 4  # so many tasks per worker are handed out at once where results come all together


class OnDemand(Sequence[tuple[Any, ...]]):
    """Tasks that are made when they are handed out, so that few of them are in memory at once.

    One may be made in another thread, and again if its worker dies.

    >>> distribute(pow, OnDemand(2, lambda k: (k, 3)))
    [0, 1]
    """

    def __init__(self, n: int, make: Callable[[int], tuple[Any, ...]]) -> None:
        self._n, self._make = n, make

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, k: Any) -> Any:
        return self._make(range(self._n)[k])


def results(
    function: Callable[..., Any],
    tasks: Iterable[Sequence[Any]],
    *,
    n_jobs: int | None = None,
    retries: int = RETRIES,
) -> Generator[tuple[int, Any], None, None]:
    """Run a function on joblib's workers, and return results as they are finished.

    If workers die, the tasks that have no result yet are handed out again.

    Parameters
    ----------
    function : callable
        The function to call; it must be importable on the workers.
    tasks : iterable of sequences
        The arguments of each call.
    n_jobs : int, optional
        The number of workers; by default that of ``joblib.parallel_config``, or else 1.
    retries : int, default 3
        How often in a row tasks are handed out again without any new result.

    Returns
    -------
    generator of (int, object)
        The number k of a task and ``function(*tasks[k])``, in the order in which tasks are finished.

    Raises
    ------
    LimitReached
        If the workers keep ending without a result.

    Examples
    --------
    >>> sorted(results(pow, [(2, 3), (3, 2)]))
    [(0, 8), (1, 9)]
    """
    work = tasks if isinstance(tasks, OnDemand) else [tuple(task) for task in tasks]
    whole("retries", retries, 0)
    return _results(function, work, n_jobs, retries)


def distribute(
    function: Callable[..., Any],
    tasks: Iterable[Sequence[Any]],
    *,
    n_jobs: int | None = None,
    retries: int = RETRIES,
) -> list[Any]:
    """Run a function on joblib's workers, and return all results in the order of the tasks.

    Parameters
    ----------
    function : callable
        The function to call; it must be importable on the workers.
    tasks : iterable of sequences
        The arguments of each call.
    n_jobs : int, optional
        The number of workers; by default that of ``joblib.parallel_config``, or else 1.
    retries : int, default 3
        How often in a row tasks are handed out again without any new result.

    Returns
    -------
    list
        ``[function(*task) for task in tasks]``.

    Raises
    ------
    LimitReached
        If the workers keep ending without a result.

    Examples
    --------
    >>> distribute(pow, [(2, 3), (3, 2)])
    [8, 9]
    """
    found = dict(results(function, tasks, n_jobs=n_jobs, retries=retries))
    return [found[k] for k in range(len(found))]


def n_workers(n_jobs: int | None = None) -> int:
    """Return how many workers there are with this ``n_jobs``, or with that of ``joblib.parallel_config``.

    >>> n_workers(), n_workers(1)
    (1, 1)
    """
    import joblib

    return max(1, int(joblib.effective_n_jobs(n_jobs)))


def n_elsewhere() -> int:
    """Return how many workers in other processes ``joblib.parallel_config`` asks for; 0 if the work is done here.

    Only a backend that was chosen by name counts, and only for work that is not itself a task of joblib: what runs on a
    worker stays there, so that nothing is started twice over.

    >>> n_elsewhere()
    0
    """
    if "joblib" not in sys.modules:  # nobody has chosen anything
        return 0
    from joblib.parallel import get_active_backend

    # The core can use threads, so this is the hint to joblib: without a backend by name it answers with threads.
    backend, n_jobs = get_active_backend(prefer="threads")
    if getattr(backend, "uses_threads", False) or backend.nesting_level or _on_a_dask_worker():
        return 0
    n = int(backend.effective_n_jobs(n_jobs))
    return n if n > 1 else 0


@contextmanager
def use_backend(name: str, n_jobs: int = -1) -> Iterator[None]:
    """Use a backend of joblib inside a ``with`` block; Dask gets a client, and Ray and Spark are registered.

    Dask and Ray use the cluster that their own settings name (``DASK_SCHEDULER_ADDRESS``, ``RAY_ADDRESS``), or else
    processes of this machine; Spark uses the session there is, or a new one.

    Parameters
    ----------
    name : {"loky", "threading", "multiprocessing", "dask", "ray", "spark"}
        The backend.
    n_jobs : int, default -1
        The number of workers; −1 is all that the machine or the cluster has.

    Yields
    ------
    None
        Inside the block, joblib's workers are those of the backend.

    Raises
    ------
    QueryError
        If the backend is not known or not installed.

    Examples
    --------
    >>> with use_backend("threading", 2):
    ...     distribute(pow, [(2, 3), (3, 2)])
    [8, 9]
    """
    import joblib

    if name not in BACKENDS:
        raise refused(QueryError, "backend", name, f"one of {', '.join(BACKENDS)}")
    with ExitStack() as open_now:
        try:
            if name == "dask":
                import dask
                from distributed import Client

                alone = dask.config.get("scheduler-address", None) is None
                own = {"n_workers": n_workers(n_jobs), "threads_per_worker": 1, "dashboard_address": None}
                open_now.enter_context(Client(**(own if alone else {})))
            elif name == "ray":
                import ray
                from ray.util.joblib import register_ray

                if not ray.is_initialized():
                    own = {} if "RAY_ADDRESS" in os.environ else {"include_dashboard": False}
                    ray.init(log_to_driver=False, **own)
                    open_now.callback(ray.shutdown)
                register_ray()
            elif name == "spark":
                from joblibspark import register_spark

                os.environ.setdefault(
                    "PYSPARK_PYTHON", sys.executable
                )  # otherwise Spark would take any python3
                register_spark()
        except ModuleNotFoundError as missing:
            raise refused(
                QueryError,
                "backend",
                name,
                says=f' needs {missing.name}, which is not installed; pip install "everytree[cluster]"',
            ) from missing
        open_now.enter_context(joblib.parallel_config(backend=name, n_jobs=n_jobs))
        yield


def _on_a_dask_worker() -> bool:
    """Return whether this process is a worker of Dask, whose tasks joblib does not mark as nested."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True


def _results(
    function: Callable[..., Any], work: Sequence[tuple[Any, ...]], n_jobs: int | None, retries: int
) -> Generator[tuple[int, Any], None, None]:
    left = dict.fromkeys(range(len(work)))  # a dict keeps the order
    failures = 0
    while left:
        before = len(left)
        try:
            with closing(_handed_out(function, work, list(left), n_jobs)) as answers:
                for k, good, value in answers:
                    if not good:
                        raise _Refused from value
                    del left[k]
                    yield k, value
        except _Refused as refused:
            raise refused.__cause__ from None  # type: ignore[misc]
        except Exception as error:  # a worker died: every backend has its own kind for that
            if _cannot_be_sent(error):
                raise
            failures = 0 if len(left) < before else failures + 1
            if failures > retries:
                lines = str(error).strip().splitlines()
                text = " … ".join(dict.fromkeys(lines[:1] + lines[-1:]))  # a remote traceback is long
                raise LimitReached(
                    f"the workers ended {failures} times without a result ({type(error).__name__}: {text}); "
                    f"{len(work) - len(left)} of {len(work)} parts are done. Look for their memory, or use fewer at a "
                    "time",
                    "stopped",
                ) from error


def _cannot_be_sent(error: Exception) -> bool:
    """Return whether a task or a result cannot be pickled, so that sending it again would fail again."""
    # joblibspark 0.6 with joblib 1.4 and later raises this, whatever has failed.
    if "_ExceptionWithTraceback" in str(error):
        return False
    return isinstance(error, pickle.PickleError | TypeError | AttributeError)


def _handed_out(
    function: Callable[..., Any], work: Sequence[tuple[Any, ...]], left: list[int], n_jobs: int | None
) -> Generator[tuple[int, bool, Any], None, None]:
    """Yield the answers to these tasks: as they come, or else wave by wave (multiprocessing, Spark)."""
    import joblib
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    if type(backend).__module__.startswith("ray."):
        yield from _with_ray(backend, function, work, left, n_workers(n_jobs))
        return
    if getattr(backend, "supports_return_generator", False):
        # joblib makes two calls for each worker ahead.
        calls = (joblib.delayed(_guarded)(k, function, work[k]) for k in left)
        yield from joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")(calls)
        return
    size = WAVE * n_workers(n_jobs)
    for start in range(0, len(left), size):
        wave = [joblib.delayed(_guarded)(k, function, work[k]) for k in left[start : start + size]]
        yield from joblib.Parallel(n_jobs=n_jobs)(wave)


def _with_ray(
    backend: Any, function: Callable[..., Any], work: Sequence[tuple[Any, ...]], left: list[int], n: int
) -> Iterator[tuple[int, bool, Any]]:
    """Yield the answers to tasks of Ray itself, ``n`` at a time.

    Its backend for joblib is a pool that gives all results together, and is made anew when a worker dies, without any
    of them. Tasks give theirs one by one, and a worker that dies costs one.
    """
    import ray

    call = ray.remote(_guarded).options(max_retries=0, **(backend.ray_remote_args or {}))
    waiting, lost = iter(left), None
    running: list[Any] = []
    try:
        while True:
            for k in itertools.islice(waiting, n - len(running)):
                running.append(call.remote(k, function, work[k]))
            if not running:
                break
            ready, running = ray.wait(running)
            try:
                answer = ray.get(ready[0])
            except ray.exceptions.RayError as error:
                lost = error  # it is raised after the other tasks, which would otherwise be done twice
                continue
            yield answer
    finally:
        for reference in running:  # nobody waits for these any more
            ray.cancel(reference)
    if lost is not None:
        raise lost


_HOLDING = threading.Lock()
_HELD: dict[str, Any] = {}  # by token: what the latest question sent to this worker, with the graph it built


def held(token: str, sent: Any) -> Any:
    """Return what was first sent with this token, so that a graph is built once per worker and not once per part."""
    with _HOLDING:
        if token not in _HELD:
            _HELD.clear()
            _HELD[token] = sent
        return _HELD[token]


def release(token: str) -> None:
    """Forget what this process holds for the token, once its question is answered."""
    with _HOLDING:
        _HELD.pop(token, None)


class _Refused(Exception):
    """A sign that a task raised an error, not that a worker died."""


def _guarded(k: int, function: Callable[..., Any], task: tuple[Any, ...]) -> tuple[int, bool, Any]:
    try:
        return k, True, function(*task)
    except Exception as error:
        return k, False, error
