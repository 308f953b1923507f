"""Answer a plan by the search, or by one of three folds of the graph; plan.py says when each applies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import everytree._core as _core
from everytree.engine.certificate import REASONS, certificate
from everytree.errors import LimitReached, QueryError
from everytree.query.ordered_tests import by_ordered_search
from everytree.query.plan import Examples, Inside, Plan, Session, bound_of, choose, cost_of
from everytree.query.run import Run, run_search
from everytree.query.strategies import mine
from everytree.weights.costs import Cost, as_text, tied

__all__ = ["Criteria", "Found", "best_by_strategy", "criteria_of", "front", "search_by", "shape_of", "solve"]


RULED = "closed"  # the strategy for plans with a constraint on paths, where none is asked for


class Found(NamedTuple):
    """A tree by its key, with the values of the ranked costs; the first cost includes the price of its leaves."""

    values: dict[str, float]
    leaves: int
    depth: int
    key: list[int]
    proof: Mapping[str, Any] = MappingProxyType({})

    def others(self, first: str) -> dict[str, float]:
        """Return the values of the ranked costs but the first."""
        return {name: value for name, value in self.values.items() if name != first}


def solve(
    session: Session, plan: Plan, k: int = 1, way: str | None = None, anytime: bool = False
) -> list[Found]:
    """Find the k best trees in order, or none if no tree satisfies the plan; ``way`` overrules ``choose``.

    With ``anytime``, the best tree so far is the answer where a limit ends the search; else that raises
    ``LimitReached``.
    """
    inside = session.inside(plan)
    if inside is None:
        return []
    if plan.paths is not None:
        return best_by_strategy(session, plan, k, RULED)[0]
    answer = {"search": _search, "best": _best, "front": _front, "pareto": _pareto}[way or choose(plan, k)]
    found = answer(session, plan, inside, k)
    if not anytime and any(not each.proof.get("optimal", True) for each in found):
        why = found[0].proof["stop_reason"]
        raise LimitReached(f"{why} reached", why.split()[0])
    return found


def found_tree(cost: Cost, value: float, key: list[int], inside: Inside) -> Found:
    """Describe a tree by the core's value of its only cost."""
    return Found({cost.name: cost.in_query_units(value)}, *shape_of(key), inside.key(key))


def _search(session: Session, plan: Plan, inside: Inside, k: int) -> list[Found]:
    if k != 1:
        raise QueryError("the search finds one tree; ask for k=1")
    ordered = by_ordered_search(session, plan, inside)
    if ordered is not None:
        values = {plan.costs[0]: ordered.objective}
        return [Found(values, *shape_of(ordered.key), ordered.key, ordered.proof)]
    return search_by(run_search, session, plan, inside)


def search_by(run: Run, session: Session, plan: Plan, inside: Inside) -> list[Found]:
    """Find the best tree of a plan, where ``run`` does the search; the list is empty if no tree satisfies the plan."""
    cost = cost_of(plan, plan.costs[0], inside.space, plan.penalty)
    found = run(session, plan, inside, cost)
    if not found.key and found.stopped:
        raise LimitReached(
            f"{REASONS[found.stopped]} reached before a tree that satisfies the query was found",
            found.stopped,
        )
    if not found.key:
        return []
    if not cost.within(found.cost, bound_of(plan)):
        if found.proved or not cost.within(found.lower, bound_of(plan)):
            return []
        best, least = as_text(cost.in_query_units(found.cost)), as_text(cost.in_query_units(found.lower))
        raise LimitReached(
            f"{REASONS[found.stopped]} reached; the best tree so far has {plan.costs[0]} {best}, the query asks for "
            f"{as_text(bound_of(plan))}, and {least} is not ruled out",
            found.stopped,
        )
    tree = found_tree(cost, found.cost, list(found.key), inside)
    proof = certificate(cost.in_query_units(found.cost), cost.in_query_units(found.lower), found.stopped)
    return [tree._replace(proof=proof | {"n_states": found.n_states, "n_bytes": found.n_bytes})]


def _best(session: Session, plan: Plan, inside: Inside, k: int) -> list[Found]:
    name = plan.costs[0]
    cost = cost_of(plan, name, inside.space, plan.penalty)
    graph = inside.space.graph_under(session.control)
    return [
        found_tree(cost, value, key, inside)
        for value, key in graph.best(cost.core, k, session.control)
        if cost.within(value, bound_of(plan))
    ]


def _front(session: Session, plan: Plan, inside: Inside, k: int) -> list[Found]:
    if k != 1:
        raise QueryError("the front holds one tree of each size; ask for k=1")
    name = plan.costs[0]
    best: tuple[tuple[float, ...], Found] | None = None
    for found in _points(session, plan, inside):
        objective = found.values[name] + plan.penalty * found.leaves
        value = {name: objective, "size": float(found.leaves)}
        rank = tuple(value[criterion] for criterion in plan.rank)
        if best is None or _before(rank, best[0]):
            best = (rank, found._replace(values={name: objective if plan.penalty else found.values[name]}))
    if best is None:
        return []
    return [best[1]._replace(proof={"n_states": int(inside.space.graph_under(session.control).n_states)})]


def _points(session: Session, plan: Plan, inside: Inside) -> Iterator[Found]:
    """Yield the least cost for every number of leaves, within the bounds."""
    name = plan.costs[0]
    cost = cost_of(plan, name, inside.space)
    for leaves, value, key in inside.space.graph_under(session.control).front(cost.core, session.control):
        if leaves <= plan.most_leaves and cost.within(value, bound_of(plan)):
            yield found_tree(cost, value, key, inside)


class Criteria(NamedTuple):
    """What the general fold compares: costs, then leaves and depth; the place of each by name, and bounds by place."""

    costs: list[Cost]
    place: dict[str, int]
    bounds: list[tuple[int, float]]

    def found(self, values: list[float], key: list[int], plan: Plan, n_states: int) -> Found:
        """Describe a tree by the values of all criteria."""
        return Found(
            {
                name: self.costs[self.place[name]].in_query_units(values[self.place[name]])
                for name in plan.costs
            },
            int(values[-2]),
            int(values[-1]),
            key,
            {"n_states": n_states},
        )


def criteria_of(plan: Plan, space: Examples, front: bool = False) -> Criteria:
    """List the criteria of a plan for the trees of a space."""
    # The first cost carries the price of leaves; its bound does not, and then has a criterion of its own.
    costs: list[Cost] = []
    place: dict[str, int] = {}
    for name in plan.costs:
        penalty = plan.penalty if name == plan.costs[0] and not front else 0.0
        place[name] = len(costs)
        costs.append(cost_of(plan, name, space, penalty))
    bounds: list[tuple[int, float]] = []
    for name, most in plan.bounds.items():
        where = place.get(name)
        if where is None or (plan.penalty and name == plan.costs[0]):
            where = len(costs)
            costs.append(cost_of(plan, name, space))
        bounds.append((where, costs[where].bound(most)))
    if not costs:  # the rule for leaves is part of a cost
        costs.append(cost_of(plan, "errors", space))
    place |= {"size": len(costs), "depth": len(costs) + 1}
    if math.isfinite(plan.most_leaves):
        bounds.append((len(costs), plan.most_leaves))
    return Criteria(costs, place, bounds)


def _pareto(session: Session, plan: Plan, inside: Inside, k: int, front: bool = False) -> list[Found]:
    criteria = criteria_of(plan, inside.space, front)
    graph = inside.space.graph_under(session.control)
    found = _core.pareto(
        graph,
        [cost.core for cost in criteria.costs],
        [criteria.place[name] for name in plan.rank],
        criteria.bounds,
        front,
        inside.bits(plan.require) if plan.require else [],
        k,
        session.control,
    )
    return [criteria.found(values, inside.key(key), plan, int(graph.n_states)) for values, key in found]


def front(session: Session, plan: Plan, by: str) -> list[Found]:
    """Find the least of the plan's one cost for every size or depth, each better than all before it."""
    inside = session.inside(plan)
    if inside is None:
        return []
    name = plan.costs[0]
    by_cost = replace(plan, rank=(name, "size"))
    quick = choose(by_cost) != "pareto"
    if by == "size" and quick:
        points = list(_points(session, plan, inside))
    elif (
        by == "depth" and quick and inside.space.max_depth is not None and inside.space.table.columns is None
    ):
        # The best tree of every depth limit: one quick fold each, and together quicker than the general one. (Where
        # states choose their own cuts, another limit would give the lowest ones other cuts.)
        deepest = min(inside.space.max_depth, inside.space.n_tests, inside.space.most_leaves)
        limited = (solve(session, replace(by_cost, max_depth=d)) for d in range(deepest + 1))
        points = [found for some in limited for found in some]
    else:
        points = _pareto(session, plan, inside, 1, front=True)
    kept: list[Found] = []
    for point in sorted(points, key=lambda found: found.leaves if by == "size" else found.depth):
        if not kept or (
            point.values[name] < kept[-1].values[name] and not tied(point.values[name], kept[-1].values[name])
        ):
            kept.append(point)
    return kept


def _before(x: tuple[float, ...], y: tuple[float, ...]) -> bool:
    """Return whether x comes before y in the ranking; values that are equal up to rounding are ties."""
    for a, b in zip(x, y, strict=True):
        if not tied(a, b):
            return a < b
    return False


def best_by_strategy(
    session: Session, plan: Plan, k: int, strategy: str
) -> tuple[list[Found], dict[str, Any]]:
    """Answer a query by one of the strategies, and return the answer with the strategy's report."""
    inside = session.inside(plan)
    if inside is None:
        return [], {}
    if choose(plan, k) == "search":  # one tree for each itemset is enough
        cost = cost_of(plan, plan.costs[0], inside.space, plan.penalty)
        trees, info = mine(
            inside.space, ([cost.core], [0, 1], [], [], 1), strategy, session.control, plan.paths
        )
        good = [(value, key) for (value,), key in trees if cost.within(value, bound_of(plan))]
        return [found_tree(cost, value, key, inside) for value, key in good], info
    criteria = criteria_of(plan, inside.space)
    query = (
        [cost.core for cost in criteria.costs],
        [criteria.place[name] for name in plan.rank],
        criteria.bounds,
        inside.bits(plan.require) if plan.require else [],
        k,
    )
    trees, info = mine(inside.space, query, strategy, session.control, plan.paths)
    return [criteria.found(values, inside.key(key), plan, info["states"]) for values, key in trees], info


def shape_of(key: list[int]) -> tuple[int, int]:
    """Return the number of leaves and the depth of a tree, from its key."""
    leaves = deepest = 0
    open_nodes = [0]
    for test in key:
        depth = open_nodes.pop()
        if test < 0:
            leaves, deepest = leaves + 1, max(deepest, depth)
        else:
            open_nodes += [depth + 1, depth + 1]
    return leaves, deepest
