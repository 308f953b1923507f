"""Large questions on many processes or machines, through joblib: the answer is that of one process.

    with joblib.parallel_config(backend="loky", n_jobs=8):      # or "dask", "ray", "spark"
        post = cluster.posterior(space)

What is handed out are independent parts of the graph:

    evidence      the closed states (their two lowest levels are nearly all of the work), every k-th one to a part; each
                  worker builds the graph again from the table, which needs no messages, and the driver folds the rest
    best tree     the trees with one root test: two smaller questions; the least error so far is told in each round
    predictions   blocks of rows

A worker that dies costs its parts only: they are handed out again, and what was finished is kept.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.arguments import whole
from everytree.data.table import Table
from everytree.errors import LimitReached, NoTreeError, QueryError
from everytree.posterior import Posterior
from everytree.priors import Prior, SizePrior, as_prior
from everytree.weights import Dirichlet

if TYPE_CHECKING:
    from everytree.space import TreeSpace
    from everytree.tree import Tree

__all__ = ["best", "distribute", "posterior", "predict_proba"]

RETRIES = 3
PARTS_PER_JOB = 4  # small enough to lose little with a worker, large enough that sending them is nothing
BLOCK = 1000  # rows

Reals = npt.NDArray[np.float64]


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


# --- the evidence


def posterior(
    space: TreeSpace,
    prior: Prior | str | None = None,
    dirichlet: Dirichlet = 1.0,
    *,
    n_parts: int | None = None,
    n_jobs: int | None = None,
) -> Posterior:
    """``space.posterior(prior, dirichlet)`` with the frontier folded by the workers of joblib's backend in force.

    Every number of the result is the same to the last bit. ``n_parts`` is how many parts are handed out.

    >>> from everytree import TreeSpace
    >>> space = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, max_depth=2)
    >>> posterior(space).log_evidence == space.posterior().log_evidence
    True
    """
    chosen = SizePrior() if prior is None else as_prior(prior)
    parts = _n_parts(n_parts, n_jobs)
    token = uuid.uuid4().hex
    tasks = [(token, space, chosen, dirichlet, part, parts) for part in range(parts)]
    values = distribute(_fold_part, tasks, n_jobs=n_jobs)
    with space._question("folding the posterior") as control:
        arguments, rows = _fold_arguments(space, chosen, dirichlet, control)
        core = _core.Posterior.from_parts(parts=values, **arguments)
    return Posterior._of(space, chosen, dirichlet, core, rows)


def _fold_arguments(
    space: TreeSpace, prior: Prior, dirichlet: Dirichlet, control: _core.Control
) -> tuple[dict[str, Any], list[list[float]]]:
    """What a fold of the posterior needs, and the Dirichlet parameters by depth."""
    graph, rows = space._posterior_graph(prior, dirichlet, control)
    tables = prior.tables(int(graph.deepest) + 2)
    return {
        "graph": graph,
        "log_split": tables.log_split,
        "log_leaf_open": tables.log_leaf_open,
        "log_leaf_closed": tables.log_leaf_closed,
        "per_test": tables.per_test,
        "attributes": space._attributes_for(prior),
        "dirichlet": rows,
        "linear": space._switches["linear"],
        "n_threads": space._threads,
        "control": control,
    }, rows


def _fold_part(
    token: str, space: TreeSpace, prior: Prior, dirichlet: Dirichlet, part: int, n_parts: int
) -> Reals:
    held: TreeSpace = _held(token, space)
    with held._question("folding a part of the frontier") as control:
        arguments, _ = _fold_arguments(held, prior, dirichlet, control)
        values: Reals = _core.Posterior.fold_part(part=part, n_parts=n_parts, **arguments)
    return values


_HELD: dict[str, Any] = {}  # what the last question sent to this worker, with the graph it built


def _held(token: str, sent: Any) -> Any:
    """What was sent with this token first, so that a graph is built once per worker and not once per part."""
    if token not in _HELD:
        _HELD.clear()
        _HELD[token] = sent
    return _HELD[token]


def _n_parts(n_parts: int | None, n_jobs: int | None) -> int:
    if n_parts is not None:
        return whole("n_parts", n_parts, 1)
    import joblib

    return PARTS_PER_JOB * max(1, int(joblib.Parallel(n_jobs=n_jobs)._effective_n_jobs()))


# --- predictions


def predict_proba(
    post: Posterior, X: npt.ArrayLike, *, block: int = BLOCK, n_jobs: int | None = None
) -> Reals:
    """``post.predict_proba(X)`` with blocks of rows on the workers; each of them folds the posterior once."""
    from everytree.data.table import as_tests

    rows = as_tests(X, post.space.test_names)
    size = whole("block", block, 1)
    token = uuid.uuid4().hex
    tasks = [(token, post, rows[start : start + size]) for start in range(0, max(1, len(rows)), size)]
    return np.concatenate(distribute(_predict_block, tasks, n_jobs=n_jobs))


def _predict_block(token: str, post: Posterior, rows: npt.NDArray[np.uint8]) -> Reals:
    proba: Reals = _held(token, post).predict_proba(rows)
    return proba


# --- the best tree


def best(space: TreeSpace, *, per_round: int | None = None, n_jobs: int | None = None) -> Tree:
    """A tree of the least error, and of the least size among those, as ``space.best()`` finds; found in rounds.

    Where several are equally good, the one with the first root test; a search in one process may choose another.
    A round hands out the next ``per_round`` root tests with the least error so far, which bounds them. Tests that look
    best alone come first. Limits of the space hold for each part; one that is reached ends the whole with its message.

    >>> from everytree import TreeSpace
    >>> space = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, max_depth=2)
    >>> best(space).error, best(space).size
    (0, 7)
    """
    if space.max_depth is None:
        raise QueryError("max_depth=None; the search on a cluster needs a depth limit")
    table = space.table
    leaf = table.class_totals
    answer: tuple[int, int, int, tuple[int, ...]] = (int(table.total - leaf.max()), 1, -1, (-1,))
    order = _by_stump(table, space.min_leaf) if space.max_depth > 0 else []
    size = _n_parts(per_round, n_jobs)
    token = uuid.uuid4().hex
    for start in range(0, len(order), size):
        tasks = [(token, space, test, answer[0]) for test in order[start : start + size]]
        found = [each for each in distribute(_best_below, tasks, n_jobs=n_jobs) if each is not None]
        answer = min([answer, *found])
        if answer[:2] == (0, 1):
            break
    error = answer[0]
    info = {"optimal": True, "objective": error, "lower_bound": error, "gap": 0.0, "stop_reason": "proved"}
    return space._tree(answer[3], info)


def _by_stump(table: Table, min_leaf: int) -> list[int]:
    """The tests with both sides large enough, those with the least error of one split first."""
    ones = table.rows.T.astype(np.int64) @ table.class_counts  # n_tests × n_classes
    zeros = table.class_totals - ones
    feasible = (ones.sum(axis=1) >= min_leaf) & (zeros.sum(axis=1) >= min_leaf)
    right = ones.max(axis=1) + zeros.max(axis=1)
    return [int(t) for t in np.argsort(-right, kind="stable") if feasible[t]]


def _best_below(
    token: str, space: TreeSpace, test: int, bound: int
) -> tuple[int, int, int, tuple[int, ...]] | None:
    """(error, size, test, key) of the best tree with this root test, or None if its error is above the bound."""
    from everytree.space import TreeSpace

    held: TreeSpace = _held(token, space)
    assert held.max_depth is not None
    error, size, key = 0, 1, [test]
    for side in (0, 1):
        rows = held.table.rows[:, test] == side
        part = TreeSpace.from_table(
            Table(held.table.rows[rows], held.table.class_counts[rows]),
            held.max_depth - 1,
            held.min_leaf,
            held.n_jobs,
            time_limit=held.limits.time_limit,
            memory_limit=held.limits.memory_limit,
        )
        try:
            tree = part.best(max_error=bound - error)
        except NoTreeError:
            return None
        if not tree.info["optimal"]:
            raise LimitReached(f"a limit ended the part below test {test}; raise it", "time")
        error, size, key = error + int(tree.error), size + tree.size, [*key, *tree.key]
    return error, size, test, tuple(key)
