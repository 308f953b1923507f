"""One tree of least cost by branch and bound, and what is known when a limit ends the search.

A space keeps its latest search, so the same question under another depth, or once more after a limit, continues from
what is proved already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import everytree._core as _core
from everytree.engine.engine import Engine
from everytree.engine.problem import BOUNDS
from everytree.query.plan import Inside, Plan, Session
from everytree.weights.costs import Cost

__all__ = ["Outcome", "Run", "new_search", "outcome_of", "run_search"]


class Outcome(NamedTuple):
    """What a search knows at its end: its best tree (or an empty key); no tree costs less than ``lower``."""

    cost: float
    lower: float
    proved: bool
    stopped: str
    key: Sequence[int]
    n_states: int
    n_bytes: int


Run = Callable[[Session, Plan, Inside, Cost], Outcome]


def new_search(space: Engine, cost: Cost, n_threads: int) -> _core.Search:
    """Make a search of a space that knows nothing yet."""
    switches = space.switches
    bounds = (switches[bound] for bound in BOUNDS)
    return _core.Search(
        space.table_of_search(), cost.core, space.min_count, n_threads, switches["merge"], *bounds
    )


def run_search(session: Session, plan: Plan, inside: Inside, cost: Cost) -> Outcome:
    """Search the space inside; continue the latest search of the whole space where it fits."""
    space = inside.space
    name = (space.min_count, None if inside.kept is None else tuple(inside.kept))
    searches = session.space.searches
    # The search is taken out while it runs, so that another thread starts its own.
    known, search = searches.pop(name, (None, None))
    if search is None or known is None or not known.same(cost.core):
        search = new_search(space, cost, space.n_threads)
    try:
        depth = -1 if space.max_depth is None else space.max_depth
        found = search.run(depth, "size" in plan.rank, session.control)
    finally:
        searches.clear()
        searches[name] = (cost.core, search)
    return outcome_of(found)


def outcome_of(found: _core.Found) -> Outcome:
    """Turn the core's answer into an ``Outcome``."""
    return Outcome(
        found.cost, found.lower, found.proved, found.stopped, found.key, found.n_states, found.n_bytes
    )
