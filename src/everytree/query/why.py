"""Why no tree satisfies a query: the smallest set of constraints whose removal admits one, in one sentence.

If removing one constraint is enough, each such constraint is named with the tightest value that admits a tree; if
several must go together, the first smallest set of them is named.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from everytree.errors import LimitReached, NoTreeError
from everytree.query.plan import Plan, Session
from everytree.query.selection import Item
from everytree.query.solve import Found, solve
from everytree.weights.constraints import LeafConstraints, Margin, Support
from everytree.weights.costs import as_text

__all__ = ["explained", "why_none"]


Ask = Callable[[Plan], list[Found]]  # the best tree of a plan, or none


@dataclass(frozen=True)
class Constraint:
    """One constraint of a plan, in words.

    ``having`` goes into "no tree with …", ``failing`` into "no tree …"; ``free`` gives the plan without it, and
    ``enough`` the tightest value that admits a tree, or None where there is no such value.
    """

    name: str
    given: str
    having: str
    failing: str
    free: Callable[[Plan], Plan]
    enough: Callable[[Ask, Plan], float | None]
    most: bool = False  # larger values are tighter


def why_none(session: Session, plan: Plan) -> NoTreeError:
    """Make the error to raise when no tree of a space satisfies the plan."""
    return explained(lambda plan: solve(session, plan), session.space.table.examples, plan)


def explained(ask: Ask, total: float, plan: Plan) -> NoTreeError:
    """Make the error to raise when no tree satisfies the plan, of those that ``ask`` knows over ``total`` examples."""
    try:
        return _explain(ask, total, plan)
    except LimitReached as limit:
        return NoTreeError(
            f"no tree satisfies the query; which constraint is too tight is not known ({limit})"
        )


def _explain(ask: Ask, total: float, plan: Plan) -> NoTreeError:
    active = _constraints(plan, total)
    # Only whether there is a tree matters from here on, so any ranking will do.
    plain = replace(plan, rank=("errors",), penalty=0.0)

    def without(constraints: tuple[Constraint, ...]) -> Plan:
        free = plain
        for each in constraints:
            free = each.free(free)
        return free

    guilty: list[tuple[Constraint, ...]] = []
    for how_many in range(1, len(active) + 1):
        guilty = [some for some in combinations(active, how_many) if ask(without(some))]
        if guilty:
            break
    if not guilty:  # cannot happen: without any constraint the single leaf is a tree
        return NoTreeError("no tree satisfies the query")
    if len(guilty[0]) > 1:
        some = guilty[0]
        text = " and ".join(each.given for each in some)
        return NoTreeError(
            f"no tree satisfies the query: {text} are too tight together; relax {'both' if len(some) == 2 else 'all'}",
            tuple(each.name for each in some),
            True,
        )
    alone = [each for (each,) in guilty]
    first = next((each for each in alone if each.name in ("max_error", "min_accuracy")), alone[0])
    others = [each.having for each in active if each is not first]
    text = f"no tree{' with ' + _listed(others) if others else ''} {first.failing}"
    value = first.enough(ask, without((first,)))
    if value is not None:
        text += f"; the {'most' if first.most else 'least'} is {as_text(value)}"
    for other in alone:
        if other is not first:
            value = other.enough(ask, without((other,)))
            text += f"; or relax {other.given}" + ("" if value is None else f" to {as_text(value)}")
    return NoTreeError(text, tuple(each.name for each in alone), False)


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def _constraints(plan: Plan, total: float) -> list[Constraint]:
    found: list[Constraint] = []

    def add(
        name: str,
        given: str,
        having: str,
        failing: str,
        free: Callable[[Plan], Plan],
        enough: Callable[[Ask, Plan], float | None],
        most: bool = False,
    ) -> None:
        found.append(Constraint(name, given, having, failing, free, enough, most))

    def drop(**changes: Any) -> Callable[[Plan], Plan]:
        return lambda plan: replace(plan, **changes)

    size, leaves, depth = plan.max_size, plan.max_leaves, plan.max_depth
    if size is not None:
        add(
            "max_size", f"max_size={size}", f"≤ {size} nodes", f"has ≤ {size} nodes",
            drop(max_size=None), _least("size", lambda n: 2 * n - 1),
        )  # fmt: skip
    if leaves is not None:
        add(
            "max_leaves", f"max_leaves={leaves}", f"≤ {leaves} leaves", f"has ≤ {leaves} leaves",
            drop(max_leaves=None), _least("size", lambda n: n),
        )  # fmt: skip
    if depth is not None:
        add(
            "max_depth", f"max_depth={depth}", f"depth ≤ {depth}", f"has depth ≤ {depth}",
            drop(max_depth=None), _least("depth", lambda d: d),
        )  # fmt: skip
    for cost, most in plan.bounds.items():
        _add_bound(add, plan, cost, most, total)
    _add_leaves(add, plan.leaf, total)
    for item in plan.require:
        add(
            "require", f"require={item.name!r}", f"a test on {item.name}", f"tests {item.name}",
            _without_item(item),
            lambda ask, plan: None,
        )  # fmt: skip
    if plan.forbid:
        names = ", ".join(item.name for item in plan.forbid)
        add(
            "forbid", f"forbid={names}", f"no test on {names}", f"does without {names}",
            drop(forbid=()), lambda ask, plan: None,
        )  # fmt: skip
    if plan.paths is not None:
        text = f"paths={plan.paths.name}"
        add(
            "paths", text, f"nodes within {text}", f"keeps every node within {text}",
            drop(paths=None), lambda ask, plan: None,
        )  # fmt: skip
    return found


def _without_item(item: Item) -> Callable[[Plan], Plan]:
    return lambda plan: replace(plan, require=tuple(x for x in plan.require if x != item))


def _add_bound(add: Callable[..., None], plan: Plan, cost: str, most: float, total: float) -> None:
    def free(plan: Plan) -> Plan:
        return replace(plan, bounds={name: bound for name, bound in plan.bounds.items() if name != cost})

    if cost != "errors":
        text = f"{cost} ≤ {as_text(most)}"
        given = (
            f"max_error={as_text(most)}"
            if len(plan.bounds) == 1
            else f"max_error on {cost} = {as_text(most)}"
        )
        add("max_error", given, text, f"reaches {text}", free, _least_cost(cost))
        return

    def accuracy(ask: Ask, plan: Plan) -> float | None:
        errors = _least_cost("errors")(ask, plan)
        return None if errors is None else (total - errors) / total

    text = f"accuracy ≥ {as_text(plan.min_accuracy)}"
    given = f"min_accuracy={as_text(plan.min_accuracy)}"
    add("min_accuracy", given, text, f"reaches {text}", free, accuracy, True)


def _add_leaves(add: Callable[..., None], leaf: LeafConstraints, total: float) -> None:
    def free(kind: str) -> Callable[[Plan], Plan]:
        return lambda plan: replace(plan, leaf=replace(plan.leaf, **{kind: None}))

    if leaf.support is not None:
        text = f"≥ {leaf.support.examples} examples in every leaf"
        add(
            "support",
            f"leaf={leaf.support!r}",
            text,
            f"has {text}",
            free("support"),
            _largest("support", total),
            True,
        )
    if leaf.margin is not None:
        text = f"a margin ≥ {leaf.margin.examples} in every leaf"
        add(
            "margin",
            f"leaf={leaf.margin!r}",
            text,
            f"has {text}",
            free("margin"),
            _largest("margin", total),
            True,
        )
    if leaf.chi2 is not None and leaf.chi2.threshold is not None:
        text = f"χ² ≥ {as_text(leaf.chi2.threshold)} in every leaf"
        add("chi2", f"leaf={leaf.chi2!r}", text, f"has {text}", free("chi2"), lambda ask, plan: None)
    if leaf.p_value is not None and leaf.p_value.p_value is not None:
        text = f"a p-value ≤ {as_text(leaf.p_value.p_value)} in every leaf"
        add(
            "p_value",
            f"leaf={leaf.p_value!r}",
            text,
            f"has {text}",
            free("p_value"),
            lambda ask, plan: None,
        )


def _least(criterion: str, tell: Callable[[int], int]) -> Callable[[Ask, Plan], float | None]:
    def enough(ask: Ask, plan: Plan) -> float | None:
        found = ask(replace(plan, rank=(criterion, "errors")))
        return tell(found[0].leaves if criterion == "size" else found[0].depth) if found else None

    return enough


def _least_cost(cost: str) -> Callable[[Ask, Plan], float | None]:
    def enough(ask: Ask, plan: Plan) -> float | None:
        found = ask(replace(plan, rank=(cost,)))
        return found[0].values[cost] if found else None

    return enough


def _largest(kind: str, total: float) -> Callable[[Ask, Plan], float | None]:
    """Find the largest support or margin that admits a tree, by bisection: larger ones are tighter."""
    make: Any = {"support": Support, "margin": Margin}[kind]
    least = {"support": 1, "margin": 0}[kind]

    def enough(ask: Ask, plan: Plan) -> float | None:
        def admits(n: int) -> bool:
            return bool(ask(replace(plan, leaf=replace(plan.leaf, **{kind: make(n)}))))

        low, high = least, int(total) + 1  # `low` admits a tree, `high` does not
        while high - low > 1:
            middle = (low + high) // 2
            if admits(middle):
                low = middle
            else:
                high = middle
        return low

    return enough
