"""How a query is answered: a search or one of three folds of the graph, from the quickest to the most general.

    search   a cost, then perhaps size, no bound but on that cost: branch and bound for the one best tree
    best     the same by one (min, +) fold of the whole graph; also the k best
    front    one cost and size in any order, bounds on both: read off the least cost for every size
    pareto   everything else: several costs, depth, required tests, the k best under bounds

``choose`` picks; all give the same answers where they apply.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from everytree.common.arguments import whole
from everytree.errors import LimitReached, QueryError
from everytree.query.run import REASONS, Run, certificate, run_search
from everytree.query.selection import Item, select
from everytree.weights.constraints import LeafConstraints, leaf_constraints
from everytree.weights.costs import Cost, as_text, make_cost, tied
from everytree.weights.dirichlet import COSTS

if TYPE_CHECKING:
    import everytree._core as _core
    from everytree.query.query import Query
    from everytree.space.tree_space import TreeSpace

__all__ = [
    "Found",
    "Plan",
    "Session",
    "bound_of",
    "choose",
    "cost_of",
    "found_tree",
    "front",
    "plan_of",
    "search_by",
    "solve",
]

MOST_REQUIRED = 32
KEPT_SPACES = 3  # graphs that one question keeps: explaining a query looks at many spaces in turn


@dataclass(frozen=True)
class Plan:
    """A query for one space, with names looked up and bounds in whole numbers."""

    rank: tuple[str, ...]
    bounds: dict[str, float] = field(default_factory=dict)  # by cost
    max_size: int | None = None
    max_leaves: int | None = None
    max_depth: int | None = None
    leaf: LeafConstraints = field(default_factory=LeafConstraints)
    require: tuple[Item, ...] = ()
    forbid: tuple[Item, ...] = ()
    cost_matrix: Any = None
    class_weight: Any = None
    confidence: float = 0.25
    penalty: float = 0.0
    min_accuracy: float = 0.0  # for people: ``bounds`` has it as a number of errors

    @property
    def most_leaves(self) -> float:
        """The tighter of max_size (nodes) and max_leaves."""
        nodes = math.inf if self.max_size is None else (self.max_size + 1) // 2
        return min(nodes, math.inf if self.max_leaves is None else self.max_leaves)

    @property
    def costs(self) -> tuple[str, ...]:
        return tuple(name for name in self.rank if name in COSTS or name == "errors")


class Found(NamedTuple):
    """A tree by its key, with the values of the ranked costs; of the first one with the price of its leaves."""

    values: dict[str, float]
    leaves: int
    depth: int
    key: list[int]
    proof: Mapping[str, Any] = MappingProxyType({})

    def others(self, first: str) -> dict[str, float]:
        """The values of the other ranked costs."""
        return {name: value for name, value in self.values.items() if name != first}


class Session:
    """One question to a space: its limits, and the spaces inside it that the question has looked at."""

    def __init__(self, space: TreeSpace, control: _core.Control) -> None:
        self.space = space
        self.control = control
        self._inside: dict[Any, Inside] = {}

    def inside(self, plan: Plan) -> Inside | None:
        """The space of trees that the plan's leaves, depth and forbidden tests leave; None if it is empty."""
        space = self.space
        rule = plan.leaf.rule(space.table.class_totals)
        min_leaf = max(space.min_leaf, int(rule.least_support()))
        if min_leaf > space.table.total:
            return None
        depths = [d for d in (space.max_depth, plan.max_depth) if d is not None]
        depth = min(depths) if depths else None
        forbidden = frozenset[int]().union(*(item.tests for item in plan.forbid))
        name = (depth, min_leaf, forbidden)
        if name not in self._inside:
            if len(self._inside) >= KEPT_SPACES:
                del self._inside[next(iter(self._inside))]
            kept = [k for k in range(space.n_tests) if k not in forbidden] if forbidden else None
            self._inside[name] = Inside(space._subspace(depth, min_leaf, kept), kept)
        return self._inside[name]


@dataclass
class Inside:
    """A space inside another, over some of its tests."""

    space: TreeSpace
    kept: list[int] | None

    def key(self, key: list[int]) -> list[int]:
        """A key over the kept tests as a key over all of them."""
        return key if self.kept is None else [test if test < 0 else self.kept[test] for test in key]

    def bits(self, items: tuple[Item, ...]) -> list[int]:
        """For each kept test, one bit for every item that it belongs to."""
        kept = range(self.space.n_tests) if self.kept is None else self.kept
        return [sum(1 << k for k, item in enumerate(items) if test in item.tests) for test in kept]


def plan_of(query: Query, space: TreeSpace) -> Plan:
    """The plan of a query for a space."""

    def items(what: str) -> tuple[Item, ...]:
        names = space._attribute_names
        return tuple(select(what, getattr(query, what), space.n_tests, space.test_names, names))

    require, forbid = items("require"), items("forbid")
    forbidden = frozenset[int]().union(*(item.tests for item in forbid))
    for item in require:
        if item.tests <= forbidden:
            raise QueryError(f"the query requires and forbids {item.name!r}; drop one of them")
    if len(require) > MOST_REQUIRED:
        raise QueryError(f"require has {len(require)} entries; expected at most {MOST_REQUIRED}")
    bounds = query.error_bounds
    if query.min_accuracy is not None:
        bounds["errors"] = most_errors(query.min_accuracy, space.table.total)

    def bound(name: str, least: int) -> int | None:
        value = getattr(query, name)
        return None if value is None else whole(name, value, least)

    plan = Plan(
        query.ranking,
        bounds,
        bound("max_size", 1),
        bound("max_leaves", 1),
        bound("max_depth", 0),
        leaf_constraints(query.leaf),
        require,
        forbid,
        query.cost_matrix,
        query.class_weight,
        query.confidence,
        query.leaf_penalty,
        query.min_accuracy or 0.0,
    )
    for name in (*plan.costs, *bounds):  # a bad matrix or weight is refused before any work
        cost_of(plan, name, space)
    return plan


def most_errors(accuracy: float, total: int) -> int:
    """The most errors e with (total − e) / total ≥ accuracy, in floats as a person would compute it.

    >>> most_errors(0.9, 10), most_errors(1.0, 10), most_errors(0.0, 10)
    (1, 0, 10)
    """
    errors = min(total, max(0, math.floor((1 - accuracy) * total) + 1))
    while errors > 0 and (total - errors) / total < accuracy:
        errors -= 1
    return errors


def cost_of(plan: Plan, name: str, space: TreeSpace, penalty: float = 0.0) -> Cost:
    """A cost of the plan, with its rule for leaves; ``space`` may be any space over the same examples."""
    constrained = plan.leaf.margin or plan.leaf.chi2 or plan.leaf.p_value
    return make_cost(
        name,
        space.table,
        cost_matrix=plan.cost_matrix,
        class_weight=plan.class_weight,
        confidence=plan.confidence,
        penalty=penalty,
        rule=plan.leaf.rule(space.table.class_totals) if constrained else None,
    )


def choose(plan: Plan, k: int = 1) -> str:
    """The quickest way to answer the plan: "search", "best", "front" or "pareto"."""
    costs = set(plan.costs)
    if len(costs) != 1 or "depth" in plan.rank or plan.require:
        return "pareto"
    (cost,) = costs
    bounded = set(plan.bounds)
    if plan.class_weight is None and costs <= {"error", "errors"}:  # one and the same
        bounded = {cost if name in ("error", "errors") else name for name in bounded}
    if not bounded <= costs:
        return "pareto"
    if plan.rank[0] == cost and math.isinf(plan.most_leaves) and not (bounded and plan.penalty):
        return "search" if k == 1 else "best"
    return "front" if k == 1 else "pareto"


def solve(
    session: Session, plan: Plan, k: int = 1, way: str | None = None, anytime: bool = False
) -> list[Found]:
    """The k best trees in order; none if no tree satisfies the plan. ``way`` overrules ``choose``.

    ``anytime`` takes the best tree so far where a limit ends the search; else that raises ``LimitReached``.
    """
    inside = session.inside(plan)
    if inside is None:
        return []
    answer = {"search": _search, "best": _best, "front": _front, "pareto": _pareto}[way or choose(plan, k)]
    found = answer(session, plan, inside, k)
    if not anytime and any(not each.proof.get("optimal", True) for each in found):
        why = found[0].proof["stop_reason"]
        raise LimitReached(f"{why} reached", why.split()[0])
    return found


def bound_of(plan: Plan) -> float:
    """The bound on the one cost of a plan."""
    return min(plan.bounds.values(), default=math.inf)


def found_tree(cost: Cost, value: float, key: list[int], inside: Inside) -> Found:
    """A tree with the core's value of its only cost."""
    return Found({cost.name: cost.told(value)}, *_shape(key), inside.key(key))


def _search(session: Session, plan: Plan, inside: Inside, k: int) -> list[Found]:
    if k != 1:
        raise QueryError("the search finds one tree; ask for k=1")
    return search_by(run_search, session, plan, inside)


def search_by(run: Run, session: Session, plan: Plan, inside: Inside) -> list[Found]:
    """The best tree of a plan for the search, by whatever runs it; none if no tree satisfies the plan."""
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
        best, least = as_text(cost.told(found.cost)), as_text(cost.told(found.lower))
        raise LimitReached(
            f"{REASONS[found.stopped]} reached; the best tree so far has {plan.costs[0]} {best}, the query asks for "
            f"{as_text(bound_of(plan))}, and {least} is not ruled out",
            found.stopped,
        )
    tree = found_tree(cost, found.cost, list(found.key), inside)
    proof = certificate(cost.told(found.cost), cost.told(found.lower), found.stopped)
    return [tree._replace(proof=proof | {"n_states": found.n_states, "n_bytes": found.n_bytes})]


def _best(session: Session, plan: Plan, inside: Inside, k: int) -> list[Found]:
    name = plan.costs[0]
    cost = cost_of(plan, name, inside.space, plan.penalty)
    graph = inside.space._graph(session.control)
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
    return [best[1]._replace(proof={"n_states": int(inside.space._graph(session.control).n_states)})]


def _points(session: Session, plan: Plan, inside: Inside) -> Iterator[Found]:
    """The least cost for every number of leaves, within the bounds."""
    name = plan.costs[0]
    cost = cost_of(plan, name, inside.space)
    for leaves, value, key in inside.space._graph(session.control).front(cost.core, session.control):
        if leaves <= plan.most_leaves and cost.within(value, bound_of(plan)):
            yield found_tree(cost, value, key, inside)


def _pareto(session: Session, plan: Plan, inside: Inside, k: int, front: bool = False) -> list[Found]:
    # The first cost carries the price of leaves; its bound does not, and then has a criterion of its own.
    costs: list[Cost] = []
    place: dict[str, int] = {}
    for name in plan.costs:
        penalty = plan.penalty if name == plan.costs[0] and not front else 0.0
        place[name] = len(costs)
        costs.append(cost_of(plan, name, inside.space, penalty))
    bounds: list[tuple[int, float]] = []
    for name, most in plan.bounds.items():
        where = place.get(name)
        if where is None or (plan.penalty and name == plan.costs[0]):
            where = len(costs)
            costs.append(cost_of(plan, name, inside.space))
        bounds.append((where, costs[where].bound(most)))
    if not costs:  # the rule for leaves is part of a cost
        costs.append(cost_of(plan, "errors", inside.space))
    place |= {"size": len(costs), "depth": len(costs) + 1}
    if math.isfinite(plan.most_leaves):
        bounds.append((len(costs), plan.most_leaves))
    import everytree._core as _core

    graph = inside.space._graph(session.control)
    found = _core.pareto(
        graph,
        [cost.core for cost in costs],
        [place[name] for name in plan.rank],
        bounds,
        front,
        inside.bits(plan.require) if plan.require else [],
        k,
        session.control,
    )
    return [
        Found(
            {name: costs[place[name]].told(values[place[name]]) for name in plan.costs},
            int(values[-2]),
            int(values[-1]),
            inside.key(key),
            {"n_states": int(graph.n_states)},
        )
        for values, key in found
    ]


def front(session: Session, plan: Plan, by: str) -> list[Found]:
    """The least of the plan's one cost for every size or depth, each better than all before it."""
    inside = session.inside(plan)
    if inside is None:
        return []
    name = plan.costs[0]
    by_cost = replace(plan, rank=(name, "size"))
    quick = choose(by_cost) != "pareto"
    if by == "size" and quick:
        points = list(_points(session, plan, inside))
    elif by == "depth" and quick and inside.space.max_depth is not None:
        # The best tree of every depth limit: one quick fold each, and together quicker than the general one.
        deepest = min(
            inside.space.max_depth, inside.space.n_tests, inside.space.table.total // inside.space.min_leaf
        )
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
    for a, b in zip(x, y, strict=True):
        if not tied(a, b):
            return a < b
    return False


def _shape(key: list[int]) -> tuple[int, int]:
    """Leaves and depth of a tree, from its key."""
    leaves = deepest = 0
    open_nodes = [0]
    for test in key:
        depth = open_nodes.pop()
        if test < 0:
            leaves, deepest = leaves + 1, max(deepest, depth)
        else:
            open_nodes += [depth + 1, depth + 1]
    return leaves, deepest
