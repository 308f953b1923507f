"""Plan: a query for one space, with names looked up, bounds in whole numbers, and the quickest way to answer it.

    search   a cost, then perhaps size, no bound but on that cost: branch and bound for the one best tree
    best     the same by one (min, +) fold of the whole graph; also the k best
    front    one cost and size in any order, bounds on both: read off the least cost for every size
    pareto   everything else: several costs, depth, required tests, the k best under bounds

``choose`` picks; all give the same answers where they apply (solve.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import everytree._core as _core
from everytree.common.arguments import whole
from everytree.data.local_columns import LocalColumns
from everytree.engine.engine import Engine
from everytree.errors import QueryError
from everytree.query.paths import Paths
from everytree.query.query import Query
from everytree.query.selection import Item, select, select_columns
from everytree.weights.constraints import LeafConstraints, leaf_constraints
from everytree.weights.cost_words import COSTS
from everytree.weights.costs import ClassCounts, Cost, make_cost

__all__ = [
    "Examples",
    "Inside",
    "Plan",
    "Session",
    "bound_of",
    "choose",
    "cost_of",
    "most_errors",
    "plan_of",
]

MOST_REQUIRED = 32
KEPT_SPACES = 3  # that one question keeps with their graphs, because explaining a query looks at many in turn


class Counted(ClassCounts, Protocol):
    """The part of a table of examples that plans need."""

    @property
    def columns(self) -> LocalColumns | None: ...


class Examples(Protocol):
    """What a plan needs to know of the data: tests by name, and how many examples of each class there are."""

    @property
    def n_tests(self) -> int: ...
    @property
    def test_names(self) -> Sequence[str] | None: ...
    @property
    def attribute_names(self) -> Sequence[str] | None: ...
    @property
    def table(self) -> Counted: ...


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
    min_accuracy: float = 0.0  # as given, for messages; ``bounds`` has it as a number of errors
    paths: Paths | None = None  # the caller's own constraint, which only the lattice strategies know

    @property
    def most_leaves(self) -> float:
        """The most leaves that max_size (in nodes) and max_leaves both allow."""
        nodes = math.inf if self.max_size is None else (self.max_size + 1) // 2
        return min(nodes, math.inf if self.max_leaves is None else self.max_leaves)

    @property
    def costs(self) -> tuple[str, ...]:
        """The criteria of the ranking that are costs."""
        return tuple(name for name in self.rank if name in COSTS or name == "errors")


class Session:
    """One question to a space: its control, and the smaller spaces that the question has looked at."""

    def __init__(self, space: Engine, control: _core.Control) -> None:
        self.space = space
        self.control = control
        self._inside: dict[Any, Inside] = {}

    def inside(self, plan: Plan) -> Inside | None:
        """Return the space of trees that the plan's leaves, depth and forbidden tests leave; None if it is empty."""
        space = self.space
        rule = plan.leaf.rule(space.table.class_totals, space.table.per_example)
        min_count = max(space.min_count, int(rule.least_support()))
        if min_count > space.table.total:
            return None
        depths = [d for d in (space.max_depth, plan.max_depth) if d is not None]
        depth = min(depths) if depths else None
        forbidden = frozenset[int]().union(*(item.tests for item in plan.forbid))
        name = (depth, min_count, forbidden)
        if name not in self._inside:
            if len(self._inside) >= KEPT_SPACES:
                del self._inside[next(iter(self._inside))]
            kept = [k for k in range(space.n_tests) if k not in forbidden] if forbidden else None
            self._inside[name] = Inside(space.subspace(depth, min_count, kept), kept)
        return self._inside[name]


@dataclass
class Inside:
    """A space inside another, over some of its tests."""

    space: Engine
    kept: list[int] | None

    def key(self, key: list[int]) -> list[int]:
        """Turn a key over the kept tests into a key over all tests."""
        return key if self.kept is None else [test if test < 0 else self.kept[test] for test in key]

    def bits(self, items: tuple[Item, ...]) -> list[int]:
        """Return for each kept test a number with one bit for every item that the test belongs to."""
        kept = range(self.space.n_tests) if self.kept is None else self.kept
        return [sum(1 << k for k, item in enumerate(items) if test in item.tests) for test in kept]


def plan_of(query: Query, space: Examples) -> Plan:
    """Make the plan of a query for a space."""

    def items(what: str) -> tuple[Item, ...]:
        wanted, columns = getattr(query, what), space.table.columns
        if columns is not None:
            return tuple(select_columns(what, wanted, columns))
        return tuple(select(what, wanted, space.n_tests, space.test_names, space.attribute_names))

    require, forbid = items("require"), items("forbid")
    forbidden = frozenset[int]().union(*(item.tests for item in forbid))
    for item in require:
        if item.tests <= forbidden:
            raise QueryError(f"the query requires and forbids {item.name!r}; drop one of them")
    if len(require) > MOST_REQUIRED:
        raise QueryError(f"require has {len(require)} entries; expected at most {MOST_REQUIRED}")
    bounds = query.error_bounds
    if query.min_accuracy is not None:
        errors, parts = most_errors(query.min_accuracy, space.table.total), space.table.per_example
        bounds["errors"] = errors if parts == 1 else errors / parts

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
    """Return the most errors e with (total − e) / total ≥ accuracy, in floats as a person would compute it.

    >>> most_errors(0.9, 10), most_errors(1.0, 10), most_errors(0.0, 10)
    (1, 0, 10)
    """
    errors = min(total, max(0, math.floor((1 - accuracy) * total) + 1))
    while errors > 0 and (total - errors) / total < accuracy:
        errors -= 1
    return errors


def cost_of(plan: Plan, name: str, space: Examples, penalty: float = 0.0) -> Cost:
    """Make a cost of the plan, with its rule for leaves; ``space`` may be any space over the same examples."""
    constrained = plan.leaf.margin or plan.leaf.chi2 or plan.leaf.p_value
    return make_cost(
        name,
        space.table,
        cost_matrix=plan.cost_matrix,
        class_weight=plan.class_weight,
        confidence=plan.confidence,
        penalty=penalty,
        rule=plan.leaf.rule(space.table.class_totals, space.table.per_example) if constrained else None,
    )


def choose(plan: Plan, k: int = 1) -> str:
    """Choose the quickest way to answer the plan: "search", "best", "front" or "pareto"."""
    costs = set(plan.costs)
    if len(costs) != 1 or "depth" in plan.rank or plan.require:
        return "pareto"
    (cost,) = costs
    bounded = set(plan.bounds)
    if plan.class_weight is None and costs <= {"error", "errors"}:  # both names mean the same cost
        bounded = {cost if name in ("error", "errors") else name for name in bounded}
    if not bounded <= costs:
        return "pareto"
    if plan.rank[0] == cost and math.isinf(plan.most_leaves) and not (bounded and plan.penalty):
        return "search" if k == 1 else "best"
    return "front" if k == 1 else "pareto"


def bound_of(plan: Plan) -> float:
    """Return the bound on the one cost of a plan; infinity where there is none."""
    return min(plan.bounds.values(), default=math.inf)
