"""Compare the lattice strategies of DL8: what each stored, counted and took, beside the engine's own way."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from everytree.common.arguments import whole
from everytree.common.limits import Limits
from everytree.engine.engine import Engine
from everytree.errors import LimitReached
from everytree.query.best import best_trees
from everytree.query.paths import PathPredicate, Paths, paths_of
from everytree.query.query import query_of
from everytree.query.strategies import STRATEGIES, check_strategy

__all__ = ["StrategyRun", "compare_strategies"]


@dataclass(frozen=True)
class StrategyRun:
    """One strategy at one minimum leaf size: the optimum it proved, and what that took.

    ``compare_strategies`` makes it. Numbers are None where they do not apply or a limit ended the run.

    Parameters
    ----------
    strategy : str
        The name of the strategy.
    min_leaf : int
        The fewest examples in a leaf.
    max_depth : int or None
        The most tests on a path; None means no limit.
    objective : float or None, default=None
        The least cost that was proved.
    size : int or None, default=None
        The number of nodes of the tree.
    itemsets : int or None, default=None
        The number of itemsets that the strategy stored.
    counted : int or None, default=None
        The number of itemsets whose examples it counted.
    states : int or None, default=None
        The number of itemsets that were given a best tree: the relevant itemsets; for "closed" and "closed_frequent"
        closures (by depth if that is bounded), for "auto" stored states of the engine.
    bytes : int or None, default=None
        The most bytes that it stored at once.
    seconds_mining : float or None, default=None
        The time to mine the itemsets, where that is a step of its own.
    seconds_total : float or None, default=None
        The time of the whole run.
    stopped : str or None, default=None
        The limit that ended the run; None if it was finished.

    Examples
    --------
    >>> import everytree as et
    >>> space = et.TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, max_depth=2)
    >>> (run,) = et.compare_strategies(space, ["eclat"], 5)
    >>> run.strategy, run.min_leaf, run.objective, run.size, run.stopped
    ('eclat', 5, 0.0, 7, None)
    """

    strategy: str
    min_leaf: int
    max_depth: int | None
    objective: float | None = None
    size: int | None = None
    itemsets: int | None = None
    counted: int | None = None
    states: int | None = None
    bytes: int | None = None
    seconds_mining: float | None = None
    seconds_total: float | None = None
    stopped: str | None = None


def compare_strategies(
    space: Engine,
    strategies: Sequence[str] | None = None,
    min_leaf: int | Iterable[int] | None = None,
    *,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    paths: PathPredicate | None = None,
    **query: Any,
) -> list[StrategyRun]:
    """Answer one query by several strategies, for each of several minimum leaf sizes.

    A strategy that reaches a limit is not tried at smaller sizes.

    Parameters
    ----------
    space : TreeSpace
        The data and the depth limit; nothing that it has computed before is used.
    strategies : sequence of str or None, default=None
        The names of the strategies: auto, simple, frequent, apriori, eclat, closed, eclat_frequent, closed_frequent.
        None means all of them, with ``paths`` all but auto.
    min_leaf : int, iterable of int or None, default=None
        One minimum leaf size, or several; None means that of the space.
    time_limit : float or None, default=None
        The most seconds for each run; None means that of the space.
    memory_limit : int or None, default=None
        The most bytes for each run; None means that of the space.
    paths : callable or None, default=None
        A constraint on the class counts of every node, as in ``TreeSpace.best``.
    **query : object
        The arguments ``minimize`` and others of ``TreeSpace.best``.

    Returns
    -------
    list of StrategyRun
        One entry for each size, largest first, and strategy.

    Examples
    --------
    >>> import everytree as et
    >>> space = et.TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, max_depth=2)
    >>> for run in et.compare_strategies(space, ["simple", "frequent", "closed"], [5, 6]):
    ...     print(run.min_leaf, run.strategy, run.objective, run.itemsets)
    6 simple 10.0 5
    6 frequent 10.0 5
    6 closed 10.0 5
    5 simple 0.0 9
    5 frequent 0.0 9
    5 closed 0.0 9
    """
    rule = paths_of(paths)
    if strategies is None:
        strategies = STRATEGIES if rule is None else STRATEGIES[1:]
    names = [strategies] if isinstance(strategies, str) else list(strategies)
    for name in names:
        check_strategy(name)
    if min_leaf is None or not isinstance(min_leaf, Iterable):
        min_leaf = [space.min_leaf if min_leaf is None else min_leaf]
    sizes = sorted({whole("min_leaf", size, 1) for size in min_leaf}, reverse=True)
    limits = Limits(
        space.limits.time_limit if time_limit is None else time_limit,
        space.limits.memory_limit if memory_limit is None else memory_limit,
        space.limits.progress,
    )
    runs: list[StrategyRun] = []
    stopped: dict[str, str] = {}
    for size in sizes:
        for name in names:
            if name in stopped:
                run = StrategyRun(name, size, space.max_depth, stopped=f"not tried after: {stopped[name]}")
            else:
                run = _run(space, name, size, limits, rule, query)
                if run.stopped is not None:
                    stopped[name] = run.stopped
            runs.append(run)
    return runs


def _run(
    space: Engine, strategy: str, min_leaf: int, limits: Limits, paths: Paths | None, query: dict[str, Any]
) -> StrategyRun:
    fresh = Engine(space.table, space.max_depth, min_leaf, space.n_jobs, None, limits)
    fresh.core_table()  # every strategy needs this table, so that its time counts for none
    start = time.perf_counter()
    try:
        asked = query_of(**{"minimize": ("error", "size")} | query)
        tree = best_trees(fresh, asked, strategy=strategy, paths=paths)[0]
    except LimitReached as limit:
        reason = next((what for what in ("time limit", "memory limit") if what in str(limit)), None)
        if reason is None:  # somebody stopped it
            raise
        return StrategyRun(strategy, min_leaf, space.max_depth, stopped=reason)
    seconds = time.perf_counter() - start
    info = tree.info
    known = {name: info.get(name) for name in ("itemsets", "counted", "states", "bytes", "seconds_mining")}
    if strategy == "auto":
        if not info["optimal"]:
            return StrategyRun(strategy, min_leaf, space.max_depth, stopped=info["stop_reason"])
        known |= (
            {"states": info["n_states"], "bytes": info["n_bytes"]}
            if "n_bytes" in info
            else _engine_size(fresh)
        )
    return StrategyRun(
        strategy,
        min_leaf,
        space.max_depth,
        float(info["objective"]),
        tree.size,
        seconds_total=info.get("seconds_total", seconds),
        **known,
    )


def _engine_size(space: Engine) -> dict[str, Any]:
    graphs = list(space.graphs.values())
    if not graphs:
        return {}
    return {"states": sum(int(g.n_states) for g in graphs), "bytes": sum(int(g.n_bytes) for g in graphs)}
