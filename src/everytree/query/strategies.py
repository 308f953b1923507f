"""The ways of DL8 to build the itemset lattice, beside the engine (Nijssen & Fromont 2007, section 5).

    simple    one step: paths are counted while the tree is built, results kept by itemset
    frequent  all frequent itemsets by Apriori first, then DL8 on their trie
    apriori   Apriori level by level, with relevancy inside: only itemsets that a tree may contain
    eclat     Eclat depth first on sets of rows, with relevancy inside
    closed    one step, results kept by the closure of the itemset
    auto      the engine of everytree

All of them find a tree of the same least (cost, size). They differ in what they store and in how long they take,
which ``compare_strategies`` lists: the numbers behind Figure 7 of the paper.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import everytree._core as _core
from everytree.common.arguments import whole
from everytree.errors import LimitReached, QueryError

if TYPE_CHECKING:
    from everytree.query.plan import Found, Plan, Session
    from everytree.space.tree_space import TreeSpace
    from everytree.trees.tree import Tree

__all__ = ["STRATEGIES", "StrategyRun", "check_strategy", "compare_strategies"]

STRATEGIES = ("auto", "simple", "frequent", "apriori", "eclat", "closed")


def check_strategy(strategy: str) -> str:
    """``strategy``, if it is one.

    >>> check_strategy("eclat")
    'eclat'
    """
    if strategy not in STRATEGIES:
        raise QueryError(f"strategy={strategy!r}; expected one of {', '.join(STRATEGIES)}")
    return strategy


def mine(
    space: TreeSpace, cost: _core.LeafCost, strategy: str, control: _core.Control
) -> tuple[float, list[int], dict[str, Any]]:
    """The tree of least (cost, size) of a space: its cost, its key, and what the strategy did.

    The key is empty where the cost forbids every tree.
    """
    depth = -1 if space.max_depth is None else space.max_depth
    value, key, report = _core.mine(space._counts(), strategy, cost, depth, space.min_leaf, control)
    info: dict[str, Any] = {"strategy": strategy, **report}
    if strategy != "closed":  # there the states are closures, not itemsets
        info["relevant"] = info["states"]
    return value, key, info


def best_by_strategy(
    session: Session, plan: Plan, k: int, strategy: str
) -> tuple[list[Found], dict[str, Any]]:
    """The answer to a query by one of the strategies, and its report."""
    from everytree.query.plan import bound_of, choose, cost_of, found_tree

    if choose(plan, k) != "search":
        raise QueryError(
            f"strategy={strategy!r} finds one tree of the least cost and then the least size, under bounds on depth, "
            'leaves and that cost; this query asks for more: use strategy="auto"'
        )
    inside = session.inside(plan)
    if inside is None:
        return [], {}
    cost = cost_of(plan, plan.costs[0], inside.space, plan.penalty)
    value, key, info = mine(inside.space, cost.core, strategy, session.control)
    if not key or not cost.within(value, bound_of(plan)):
        return [], info
    return [found_tree(cost, value, key, inside)], info


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
    space: TreeSpace,
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
    from everytree.common.limits import Limits

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


def _run(space: TreeSpace, strategy: str, min_leaf: int, limits: Any, query: dict[str, Any]) -> StrategyRun:
    fresh = type(space).from_table(
        space.table,
        space.max_depth,
        min_leaf,
        space.n_jobs,
        time_limit=limits.time_limit,
        memory_limit=limits.memory_limit,
        progress=limits.progress,
    )
    fresh._counts()  # the same for all of them, and not their work
    start = time.perf_counter()
    try:
        tree: Tree = fresh.best(**query, strategy=strategy)
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


def _engine_size(space: TreeSpace) -> dict[str, Any]:
    graphs = list(space._graphs.values())
    if not graphs:
        return {}
    return {"states": sum(int(g.n_states) for g in graphs), "bytes": sum(int(g.n_bytes) for g in graphs)}
