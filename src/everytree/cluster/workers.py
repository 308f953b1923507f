"""Tasks on the workers of joblib's backend in force: all of them are done, also when workers die on the way."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from everytree.arguments import whole
from everytree.errors import LimitReached

__all__ = ["distribute", "held", "n_workers"]

RETRIES = 3


def distribute(
    function: Callable[..., Any],
    tasks: Iterable[Sequence[Any]],
    *,
    n_jobs: int | None = None,
    retries: int = RETRIES,
) -> list[Any]:
    """``[function(*task) for task in tasks]`` on the workers of joblib's backend in force.

    If workers die, the tasks that have no result yet are handed out again, up to ``retries`` times in a row without
    any progress. An error that ``function`` raises ends all and is raised here. ``n_jobs`` is that of
    ``joblib.parallel_config``, or else 1.

    >>> distribute(pow, [(2, 3), (3, 2)])
    [8, 9]
    """
    import joblib

    work = [tuple(task) for task in tasks]
    whole("retries", retries, 0)
    done: dict[int, Any] = {}
    failures = 0
    while len(done) < len(work):
        before = len(done)
        waiting = [k for k in range(len(work)) if k not in done]
        try:
            parallel = joblib.Parallel(n_jobs=n_jobs, **_as_they_come())
            for k, good, value in parallel(joblib.delayed(_guarded)(k, function, work[k]) for k in waiting):
                if not good:
                    raise _Refused from value
                done[k] = value
        except _Refused as refused:
            raise refused.__cause__ from None  # type: ignore[misc]
        except Exception as error:  # a worker died: every backend has its own kind for that
            failures = 0 if len(done) > before else failures + 1
            if failures > retries:
                lines = str(error).strip().splitlines()
                text = " … ".join(dict.fromkeys(lines[:1] + lines[-1:]))  # a remote traceback is long
                raise LimitReached(
                    f"the workers ended {failures} times without a result ({type(error).__name__}: {text}); "
                    f"{len(done)} of {len(work)} parts are done. Look for their memory, or use fewer at a time",
                    "stopped",
                ) from error
    return [done[k] for k in range(len(work))]


class _Refused(Exception):
    """A task that raised, not a worker that died."""


def _guarded(k: int, function: Callable[..., Any], task: tuple[Any, ...]) -> tuple[int, bool, Any]:
    try:
        return k, True, function(*task)
    except Exception as error:
        return k, False, error


def _as_they_come() -> dict[str, Any]:
    """So that finished parts are kept when a later one is lost, on backends that can."""
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    # Ray says that it can, but the actors of a pool that was left half way keep their processors: the next pool waits
    # for them for ever.
    able = getattr(backend, "supports_return_generator", False) and "ray" not in type(backend).__module__
    return {"return_as": "generator_unordered"} if able else {}


_HOLDING = threading.Lock()
_HELD: dict[str, Any] = {}  # what the last question sent to this worker, with the graph it built


def held(token: str, sent: Any) -> Any:
    """What was sent with this token first, so that a graph is built once per worker and not once per part."""
    with _HOLDING:
        if token not in _HELD:
            _HELD.clear()
            _HELD[token] = sent
        return _HELD[token]


def n_workers(n_jobs: int | None) -> int:
    """How many tasks joblib's backend in force runs at a time."""
    import joblib

    return max(1, int(joblib.Parallel(n_jobs=n_jobs)._effective_n_jobs()))
