"""The lattice strategies of DL8 side by side: what each stored, counted and took, beside the engine's own way."""

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
from everytree.query.query import query_of
from everytree.query.strategies import STRATEGIES, check_strategy

__all__ = ["StrategyRun", "compare_strategies"]


@dataclass(frozen=True)
class StrategyRun:
    """One strategy at one minimum leaf size: the optimum it proved, and what that took.

    ``itemsets`` are those it stored and ``counted`` those it counted; ``states`` were given a best tree, and are the
    relevant itemsets except for closed (closures, by depth if that is bounded) and auto (stored states of the engine).
    ``bytes`` is the most it stored at once. ``stopped`` says which limit ended it; the numbers are then None.
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
    strategies: Sequence[str] = STRATEGIES,
    min_leaf: int | Iterable[int] | None = None,
    *,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    **query: Any,
) -> list[StrategyRun]:
    """Answer one query by several strategies, for each of several minimum leaf sizes.

    Parameters
    ----------
    space : the data and the depth limit; nothing that it has computed before is used
    strategies : names of strategies
    min_leaf : one size, or several; None for the space's own
    time_limit, memory_limit : for each run; None for the space's own. A strategy that reaches a limit is not tried
        at smaller sizes
    query : ``minimize`` and whatever else ``TreeSpace.best`` takes

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
                run = _run(space, name, size, limits, query)
                if run.stopped is not None:
                    stopped[name] = run.stopped
            runs.append(run)
    return runs


def _run(space: Engine, strategy: str, min_leaf: int, limits: Limits, query: dict[str, Any]) -> StrategyRun:
    fresh = Engine(space.table, space.max_depth, min_leaf, space.n_jobs, None, limits)
    fresh.core_table()  # the same for all of them, and not their work
    start = time.perf_counter()
    try:
        tree = best_trees(fresh, query_of(**{"minimize": ("error", "size")} | query), strategy=strategy)[0]
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
