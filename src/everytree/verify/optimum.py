"""The claim that no allowed tree is better: the objective, its bound, and a proof or a counter-example."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from everytree.verify.examples import Examples
from everytree.verify.facts import FALSE, TRUE, UNCHECKED, UNPROVED, Fact
from everytree.verify.model import Model
from everytree.verify.problem import is_number
from everytree.verify.prove import GivenUp, Space, best_tree, rank_of, show_tree
from everytree.verify.query import Query, Value

__all__ = ["check_optimum"]

CLOSE = 1e-9
OUTCOMES: tuple[str, ...] = ("objective", "lower_bound", "optimal")
HOPELESS = 3  # a space estimated this many times too large is not tried


def check_optimum(
    model: Model,
    examples: Examples,
    counts: list[tuple[int, ...]],
    query: Query,
    max_states: int,
    time_limit: float,
) -> tuple[list[Fact], tuple[str, ...]]:
    """Check the objective and the optimum; also return the lines of a better tree if there is one."""
    claims = model.claims
    if model.estimator != "OptimalTreeClassifier":
        named = [name for name in OUTCOMES if name in claims]
        note = f"the checker does not know how a {model.estimator} is scored"
        return [Fact(name, _shown(claims[name]), None, UNCHECKED, note) for name in named], ()
    leaves = [k for k, node in enumerate(model.nodes) if node.test < 0]
    depth = max(model.nodes[k].depth for k in leaves)
    rank = rank_of(query, [counts[k] for k in leaves], depth)
    place = query.rank.index(query.first_cost)
    objective = rank[place]
    if query.first_cost in (
        "error",
        "cost",
    ):  # it counts what the leaves predict, also where another class is better
        said = [query.prices(query.first_cost, counts[k])[model.said(k)] for k in leaves]
        objective = sum(said, 0) + (query.penalty * len(leaves) if query.penalty else 0)
        rank = (*rank[:place], objective, *rank[place + 1 :])
    facts = []
    if query.unread:
        note = f"not all parameters are known to the checker: {', '.join(query.unread)}"
        named = [name for name in OUTCOMES if name in claims]
        return [Fact(name, _shown(claims[name]), None, UNCHECKED, note) for name in named], ()
    if "objective" in claims:
        fine = _close(claims["objective"], objective)
        facts.append(
            Fact("objective", _shown(claims["objective"]), _plain(objective), TRUE if fine else FALSE)
        )
    optimal, bound = claims.get("optimal"), claims.get("lower_bound")
    if optimal is not True and bound is None:
        return facts, ()
    more, better = _optimum_facts(model, examples, query, rank, max_states, time_limit)
    return facts + more, better


def _optimum_facts(
    model: Model,
    examples: Examples,
    query: Query,
    rank: tuple[Value, ...],
    max_states: int,
    time_limit: float,
) -> tuple[list[Fact], tuple[str, ...]]:
    claimed_optimal, bound = model.claims.get("optimal"), model.claims.get("lower_bound")
    space = Space(examples, query, max_states, time_limit, model)
    place = query.rank.index(query.first_cost)
    facts: list[Fact] = []
    about = space.estimate()
    try:
        if about > HOPELESS * max_states:
            raise GivenUp("not tried")
        found = best_tree(space)
    except GivenUp as reason:
        note = f"optimality not re-proved: the space is too large, about {about:.2g} states ({reason})"
        if bound is not None:
            facts.append(_bound_without_proof(bound, rank[place], note))
        if claimed_optimal is True:
            facts.append(Fact("optimal", True, None, UNPROVED, note))
        return facts, ()
    proof = f"{space.n_states} states searched"
    if found.rank is None or found.tree is None:
        note = "no tree of the space satisfies the query, so this one does not either"
        return [Fact("optimal", claimed_optimal, False, FALSE, note)], ()
    least = found.rank[place]
    if bound is not None and place == 0:
        fine = is_number(bound) and _at_most(bound, least)
        note = "" if fine else f"a tree with {query.first_cost} {_plain(least)} exists"
        facts.append(Fact("lower bound", _shown(bound), f"≤ {_plain(least)}", TRUE if fine else FALSE, note))
    if claimed_optimal is not True:
        return facts, ()
    if not _better(found.rank, rank):
        facts.append(Fact("optimal", True, True, TRUE, proof))
        return facts, ()
    names = [model.test_name(test) for test in range(len(model.tests))]
    note = f"a better tree has {_worded(query, found.rank)}; this one has {_worded(query, rank)}"
    facts.append(Fact("optimal", True, False, FALSE, note))
    return facts, tuple(show_tree(space, found.tree, names, model.classes))


def _bound_without_proof(bound: Any, objective: Value, note: str) -> Fact:
    """Check a bound without a search: one above the tree's own objective is false in any space."""
    if not is_number(bound) or not _at_most(bound, objective):
        return Fact(
            "lower bound", _shown(bound), f"≤ {_plain(objective)}", FALSE, "above the tree's own objective"
        )
    return Fact("lower bound", _shown(bound), None, UNPROVED, note)


def _better(a: tuple[Value, ...], b: tuple[Value, ...]) -> bool:
    """Return whether rank a is before rank b by more than the rounding of floats."""
    for x, y in zip(a, b, strict=True):
        slack = 0 if _is_exact(x) and _is_exact(y) else CLOSE * max(1.0, abs(float(y)))
        if x < y - slack:
            return True
        if x > y + slack:
            return False
    return False


def _close(claimed: Any, found: Value) -> bool:
    if not is_number(claimed):
        return False
    if isinstance(found, int):
        return claimed == found
    return abs(claimed - float(found)) <= CLOSE * max(1.0, abs(float(found)))


def _at_most(bound: float, value: Value) -> bool:
    slack = 0.0 if isinstance(value, int) else CLOSE * max(1.0, abs(float(value)))
    return bound <= float(value) + slack


def _is_exact(value: Value) -> bool:
    return isinstance(value, int | Fraction)


def _worded(query: Query, rank: tuple[Value, ...]) -> str:
    return ", ".join(f"{name} {_plain(value)}" for name, value in zip(query.rank, rank, strict=True))


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    return value


def _shown(value: Any) -> Any:
    """Return a claim for a report; infinity is written as an object in the file."""
    return value["$float"] if isinstance(value, dict) and "$float" in value else value
