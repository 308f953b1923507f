"""The best tree whose top is given: some nodes ask what a person chose, everything below is optimised again, exactly.

    fixed      path → a test, or None for a leaf; a path holds the outcomes from the root down, 1 for yes and 0 for no
    open end   where the fixed top ends: its rows, with the levels that are left, are a space of their own
    best       the fixed top with a best tree at every open end

A cost of leaves adds up over the open ends, so a best whole is made of best parts. Bounds on the whole tree are shared
out: with a bound on leaves the ends offer their fronts, and a column that must be used may be used at any of them.
Where states choose their own cuts, an end with one level left below a node with two asks the tests of that node, as
everywhere (``engine.offered``); ``fixed_tests`` finds what a node may ask.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.common.arguments import refused
from everytree.data.table import Table
from everytree.engine.certificate import REASONS, certificate
from everytree.engine.engine import Engine
from everytree.errors import LimitReached, NoTreeError, QueryError
from everytree.query.best import depth_within
from everytree.query.fixed_tests import Fixed, Path, Place, asked_test, path_words
from everytree.query.plan import Plan, Session, cost_of, plan_of
from everytree.query.query import Query
from everytree.query.selection import Item
from everytree.query.solve import Found, front, solve
from everytree.trees.answers import answered
from everytree.trees.tree import Tree
from everytree.weights.costs import class_weights, tied

__all__ = ["best_with"]

Rows = npt.NDArray[np.intp]
MOST_SHARED = 6  # required columns that the fixed nodes leave to the open ends: every set of them is asked


class End(NamedTuple):
    """An open end: its space, what its tests are called in the whole space, and the plan in its own words."""

    path: Path
    space: Engine
    tests: Sequence[int] | None
    plan: Plan


class Part(NamedTuple):
    """A tree for some open ends together: what it costs, the least it could cost, its leaves, and the keys."""

    cost: float
    lower: float
    leaves: int
    keys: tuple[list[int], ...]

    def before(self, other: Part) -> bool:
        """Return whether this one is better: it costs less, or the same with fewer leaves."""
        return self.leaves < other.leaves if tied(self.cost, other.cost) else self.cost < other.cost


# For every set of required columns (as bits) the parts that use them, by the number of leaves where that matters.
Shares = dict[int, dict[int, Part]]


def best_with(engine: Engine, query: Query, fixed: Mapping[Any, Any]) -> Tree:
    """Find the best tree that asks the fixed tests; ``tree.info`` says how sure it is the best of those."""
    plan = _checked(plan_of(query, engine), engine)
    depth = depth_within(plan, engine)
    with engine.question("finding the best tree with fixed nodes") as control:
        top, ends, used = _opened(engine, plan, Fixed.of(fixed), depth)
        plan = replace(plan, require=tuple(item for item in plan.require if not item.tests & used))
        if len(plan.require) > MOST_SHARED:
            raise QueryError(
                f"{len(plan.require)} columns must be used beside the fixed nodes; expected at most {MOST_SHARED}"
            )
        bounded = math.isfinite(plan.most_leaves)
        shares: Shares = {0: {0: Part(0, 0, 0, ())}}
        stopped = ""
        for end in ends:
            found, why = _shares(end, plan, control, bounded)
            stopped = stopped or why
            shares = _joined(shares, found, plan.most_leaves)
        whole = _best(shares.get((1 << len(plan.require)) - 1, {}))
        if whole is None:
            raise NoTreeError(
                "no tree with these fixed nodes satisfies the query; free one of them, or loosen a bound or a "
                "column that must be used"
            )
        keys = dict(zip((end.path for end in ends), whole.keys, strict=True))
        facts = {"objective": whole.cost} | certificate(whole.cost, whole.lower, stopped)
        tree = engine.tree_of(_key((), top, keys), facts, depth)
        return answered(tree, cost_of(plan, query.cost, engine))


def _checked(plan: Plan, engine: Engine) -> Plan:
    """Refuse what does not add up over the parts of a tree; weights by class become those of the whole table."""
    if plan.rank not in ((plan.costs[0],), (plan.costs[0], "size")):
        raise refused(
            QueryError, "minimize", plan.rank, "a cost, then size: fixed nodes go with no other ranking"
        )
    for name, there in (
        ("max_error or min_accuracy", plan.bounds),
        ("a chi-square of leaves", plan.leaf.chi2 or plan.leaf.p_value),
    ):
        if there:
            raise QueryError(f"the query bounds {name}, which fixed nodes do not go with; leave it out")
    if plan.class_weight is None:
        return plan
    return replace(plan, class_weight=[float(w) for w in class_weights(plan.class_weight, engine.table)])


# --- the fixed top, and its open ends


def _opened(
    engine: Engine, plan: Plan, fixed: Fixed, depth: int | None
) -> tuple[dict[Path, int], list[End], set[int]]:
    """Walk the fixed nodes; return the test of each, the open ends in preorder, and all tests that are asked."""
    rule = plan.leaf.rule(engine.table.class_totals, engine.table.per_example)
    least = max(engine.min_count, int(rule.least_support()))
    table = engine.table
    weights = table.class_counts.sum(axis=1)
    top: dict[Path, int] = {}
    ends: list[End] = []
    waiting = [Place((), np.arange(table.n_rows), None)]
    while waiting:
        place = waiting.pop()
        left = None if depth is None else depth - len(place.path)
        if place.path not in fixed.tests:
            ends.append(_end(engine, plan, place, left))
            continue
        given = fixed.tests[place.path]
        if given is None:  # a leaf is all trees without a level
            ends.append(_end(engine, plan, place, 0))
            continue
        if left == 0:
            raise NoTreeError(
                f"{path_words(place.path)} is as deep as a tree may be; it can only be a leaf. Raise max_depth"
            )
        test = asked_test(engine, place, given, left)
        yes = table.rows[place.rows, test] > 0
        for side, word in ((yes, "yes"), (~yes, "no")):
            n = int(weights[place.rows[side]].sum())
            if n < least:
                raise NoTreeError(
                    f"the test of {path_words(place.path)} leaves {n} examples on its {word} side; a leaf needs at "
                    f"least {least}"
                )
        top[place.path] = test
        for outcome in (1, 0):  # the zero child is popped first
            rows = place.rows[yes if outcome else ~yes]
            waiting.append(Place((*place.path, outcome), rows, place.rows))
    strange = fixed.tests.keys() - top.keys() - {end.path for end in ends}
    if strange:
        raise QueryError(
            f"{path_words(min(strange))} is fixed, but not every node above it; fix these too, with a test"
        )
    return top, ends, set(top.values())


def _end(engine: Engine, plan: Plan, place: Place, left: int | None) -> End:
    """Make the space of an open end with so many levels left."""
    table, tests = engine.table, None
    rows, counts = table.rows[place.rows], table.class_counts[place.rows]
    own = replace(plan, max_depth=None, max_size=None, max_leaves=None)
    if table.columns is None or left != 1 or place.above is None:
        part = Table.trusted(
            rows, counts, None, table.classes, columns=table.columns, per_example=table.per_example
        )
        attributes: Any = engine.attribute_names
    else:  # the lowest level asks the tests of the state above it: fixed ones
        tests = sorted(engine.local_cuts.offered(place.above))
        # The core takes no table without tests; one that never holds splits nothing.
        bits = rows[:, tests] > 0 if tests else np.zeros((len(rows), 1))
        part = Table.trusted(
            bits.astype(np.uint8), counts, None, table.classes, distinct=False, per_example=table.per_example
        )
        attributes = None
        own = replace(own, require=_renamed(own.require, tests), forbid=_renamed(own.forbid, tests))
    space = type(engine).__new__(type(engine))
    Engine.__init__(
        space, part, left, engine.min_leaf, engine.n_jobs, attributes, engine.limits, engine.switches
    )
    return End(place.path, space, tests, own)


def _renamed(items: tuple[Item, ...], tests: Sequence[int]) -> tuple[Item, ...]:
    """Return the items of a plan with the numbers that some of their tests have in a smaller table."""
    number = {test: k for k, test in enumerate(tests)}
    return tuple(Item(item.name, frozenset(number[t] for t in item.tests if t in number)) for item in items)


# --- parts, and a whole of them


def _shares(end: End, plan: Plan, control: _core.Control, bounded: bool) -> tuple[Shares, str]:
    """Ask an open end for every set of the columns that are left to use; also say whether a limit ended the search."""
    names = {item.name for item in plan.require}
    items = tuple(item for item in end.plan.require if item.name in names)
    session = Session(end.space, control)
    found: Shares = {}
    stopped = ""
    for chosen in range(1 << len(items)):
        wanted = tuple(item for k, item in enumerate(items) if chosen >> k & 1)
        if not all(item.tests for item in wanted):
            continue
        asked = replace(end.plan, require=wanted)
        try:
            trees = front(session, replace(asked, rank=("size", plan.costs[0])), "size") if bounded else None
            trees = solve(session, asked, anytime=True) if trees is None else trees
        except LimitReached as limit:
            if limit.reason not in ("time", "stopped") or bounded or wanted:
                raise
            raise LimitReached(
                f"{REASONS[limit.reason]} reached before a tree with the fixed nodes was found", limit.reason
            ) from None
        found[chosen] = {}
        for tree in trees:
            part, why = _part(end, tree, plan, bounded)
            stopped = stopped or why
            found[chosen][part.leaves if bounded else 0] = part
    return found, stopped


def _part(end: End, tree: Found, plan: Plan, bounded: bool) -> tuple[Part, str]:
    cost = tree.values[plan.costs[0]]
    if bounded:  # a front does not count the price of leaves
        cost += plan.penalty * tree.leaves
    proved = tree.proof.get("optimal", True)
    lower = cost if proved else tree.proof["lower_bound"]
    words = {words: reason for reason, words in REASONS.items()}
    why = "" if proved else words[tree.proof["stop_reason"]]
    key = tree.key if end.tests is None else [t if t < 0 else end.tests[t] for t in tree.key]
    return Part(cost, lower, tree.leaves, (list(key),)), why


def _joined(left: Shares, right: Shares, most: float) -> Shares:
    """Join the parts of some ends with those of another: columns are used on either side, costs and leaves add up."""
    made: Shares = {}
    for one, with_one in left.items():
        for other, with_other in right.items():
            best = made.setdefault(one | other, {})
            for k, a in with_one.items():
                for m, b in with_other.items():
                    both = Part(a.cost + b.cost, a.lower + b.lower, a.leaves + b.leaves, a.keys + b.keys)
                    if both.leaves <= most and (k + m not in best or both.before(best[k + m])):
                        best[k + m] = both
    return made


def _best(parts: Mapping[int, Part]) -> Part | None:
    found: Part | None = None
    for part in parts.values():
        if found is None or part.before(found):
            found = part
    return found


def _key(path: Path, top: Mapping[Path, int], keys: Mapping[Path, list[int]]) -> list[int]:
    """Return the whole tree in preorder, the zero child first."""
    if path not in top:
        return keys[path]
    return [top[path], *_key((*path, 0), top, keys), *_key((*path, 1), top, keys)]
