"""Answer a query with trees: the best, the k best, or the front; or say why there is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from everytree.common.arguments import refused
from everytree.engine.certificate import certificate
from everytree.engine.engine import Engine
from everytree.errors import QueryError
from everytree.query.paths import Paths
from everytree.query.plan import Plan, Session, cost_of, plan_of
from everytree.query.query import Query
from everytree.query.solve import Found, best_by_strategy, front, solve
from everytree.query.strategies import STRATEGIES, check_strategy
from everytree.query.why import why_none
from everytree.trees.answers import answered
from everytree.trees.tree import Tree

__all__ = ["best_trees", "front_of", "trees_of"]


def best_trees(
    engine: Engine, query: Query, k: int = 1, strategy: str = "auto", paths: Paths | None = None
) -> list[Tree]:
    """Find the ``k`` best trees in order; for k = 1 ``tree.info`` also says how sure it is the best.

    ``paths`` is a constraint on the class counts of every node, for the lattice strategies.
    """
    plan = replace(plan_of(query, engine), paths=paths)
    if paths is not None and strategy == "auto":
        raise refused(
            QueryError, "strategy", strategy,
            f"one of {', '.join(STRATEGIES[1:])}: the engine does not know paths={paths.name}",
        )  # fmt: skip
    how = "" if check_strategy(strategy) == "auto" else f" by strategy {strategy!r}"
    if strategy != "auto":
        engine.refuse_local(f"strategy={strategy!r}")
    with engine.question("finding the best tree" + how) as control:
        session = Session(engine, control)
        info: dict[str, Any] = {}
        if strategy == "auto":
            found = solve(session, plan, k, anytime=True)
        else:
            found, info = best_by_strategy(session, plan, k, strategy)
        return trees_of(session, query, plan, found, k > 1, info)


def trees_of(
    session: Session, query: Query, plan: Plan, found: list[Found], many: bool, info: dict[str, Any]
) -> list[Tree]:
    """Make trees of what was found; a single tree also says how sure it is the best."""
    if not found:
        raise why_none(session, plan)
    cost = cost_of(plan, query.cost, session.space)
    trees = []
    within = depth_within(plan, session.space)
    for each in found:
        if many:
            session.control.check()
        objective = each.values[query.cost]
        proof = {} if many else certificate(objective) | dict(each.proof)
        facts = {"objective": objective} | each.others(query.cost) | proof | info
        trees.append(answered(session.space.tree_of(each.key, facts, within), cost))
    return trees


def depth_within(plan: Plan, space: Engine) -> int | None:
    """Return the depth of the space that a query is answered in, which may have a smaller one than the whole."""
    depths = [depth for depth in (space.max_depth, plan.max_depth) if depth is not None]
    return min(depths, default=None)


def front_of(engine: Engine, query: Query, by: str) -> list[tuple[int, float, Tree]]:
    """Find the least cost for every size, number of leaves or depth: (size, cost, tree), smallest first."""
    along = "depth" if by == "depth" else "size"
    plan = replace(plan_of(query, engine), rank=(along, query.cost))
    with engine.question("finding the front") as control:
        session = Session(engine, control)
        points = front(session, plan, along)
        if not points:
            raise why_none(session, plan)
        counted, within = cost_of(plan, query.cost, engine), depth_within(plan, engine)
        entries = []
        for point in points:
            control.check()  # a tree counts its nodes in all rows
            value = point.values[query.cost]
            size = {"size": 2 * point.leaves - 1, "leaves": point.leaves, "depth": point.depth}[by]
            tree = engine.tree_of(point.key, {query.cost: value}, within)
            entries.append((size, value, answered(tree, counted)))
        return entries
