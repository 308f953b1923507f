"""DL8's queries: the best tree, the k best and the front, each by listing every tree and by recursion.

    best(query) = least of { T in the space : T satisfies the query }   ordered by  (rank of T, key of T)

The recursion keeps, per state, one cell for each vector of values that the query looks at (the ranked
criteria and the bounded ones), and in each cell the k least keys:

    cells(s) = {leaf's vector: [leaf]} ∪ ⋃_i { join(v0, v1): i + key0 + key1 }

over the cells v0 and v1 of the two children.

Trees in one cell differ in nothing that the query can see but the key, so k of them are enough. No better
cell displaces another: a tree that is worse below may be the one that meets a bound above (the max in depth
does not decompose).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

from everytree.reference.criteria import (
    BOUNDS,
    ERRORS,
    Query,
    Value,
    join,
    leaf_allowed,
    leaf_value,
    value_of,
)
from everytree.reference.space import Space
from everytree.reference.table import Cover
from everytree.reference.trees import Tree, from_key, key, leaves_of

__all__ = [
    "Answer",
    "FrontPoint",
    "NoTreeError",
    "best",
    "best_by_listing",
    "best_tree",
    "front",
    "front_by_listing",
]
__all__ += ["satisfies"]

Key: TypeAlias = tuple[int, ...]
Vector: TypeAlias = tuple[Value, ...]
Cells: TypeAlias = dict[Vector, list[Key]]


class NoTreeError(ValueError):
    """No tree satisfies the query. ``constraints`` names what is too tight.

    Either each of them, relaxed alone, would admit a tree (``together`` is False), or no constraint alone is
    to blame and these must be relaxed together.
    """

    def __init__(self, message: str, constraints: tuple[str, ...], together: bool) -> None:
        super().__init__(message)
        self.constraints = constraints
        self.together = together


class Answer(NamedTuple):
    """A tree and its values of the ranked criteria."""

    rank: tuple[float, ...]
    tree: Tree


class FrontPoint(NamedTuple):
    """The least error among trees of at most this size (or depth), and a tree that has it."""

    at: int
    value: float
    tree: Tree


def satisfies(tree: Tree, space: Space, query: Query) -> bool:
    """Return whether a tree of the space meets every bound and leaf constraint of the query."""
    table = space.table
    if not all(leaf_allowed(table.class_counts(leaf.cover), table, query) for leaf in leaves_of(tree, table)):
        return False
    return all(
        value_of(criterion, tree, table, query) <= getattr(query, bound)
        for bound, criterion in BOUNDS.items()
        if getattr(query, bound) is not None
    )


# By listing -------------------------------------------------------------------------------------------------


def best_by_listing(
    space: Space, query: Query | None = None, k: int = 1, at_most: int = 200_000
) -> list[Answer]:
    """Return the k best trees by looking at every tree of the space."""
    query = _check(query, k)
    found = [
        (tuple(value_of(name, tree, space.table, query) for name in query.rank), key(tree), tree)
        for tree in space.enumerate_trees(at_most)
        if satisfies(tree, space, query)
    ]
    if not found:
        raise _no_tree(space, query)
    return [Answer(_plain(rank), tree) for rank, _, tree in sorted(found, key=lambda each: each[:2])[:k]]


def front_by_listing(
    space: Space, query: Query | None = None, by: str = "size", at_most: int = 200_000
) -> list[FrontPoint]:
    """Return the front by looking at every tree of the space; see ``front``."""
    query = _check(query, 1)
    criterion = _front_criterion(query, by)
    table = space.table
    points = [
        (value_of(by, tree, table, query), value_of(criterion, tree, table, query), key(tree))
        for tree in space.enumerate_trees(at_most)
        if satisfies(tree, space, query)
    ]
    return _undominated(space, query, points)


# By recursion -----------------------------------------------------------------------------------------------


def best(space: Space, query: Query | None = None, k: int = 1) -> list[Answer]:
    """Return the k best trees, distinct as trees; fewer if fewer satisfy the query, and NoTreeError if none does.

    >>> from everytree.reference import Table
    >>> xor = Table([(0, 0), (0, 1), (1, 0), (1, 1)], [(1, 0), (0, 1), (0, 1), (1, 0)])
    >>> best(Space(xor, max_depth=2))
    [Answer(rank=(0, 7), tree=(0, (1, None, None), (1, None, None)))]
    >>> best(Space(xor, max_depth=1), Query(max_error=1))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    everytree.reference.queries.NoTreeError: no tree satisfies the query: ...is too tight (2 would do)
    """
    query = _check(query, k)
    tracked = _tracked(query, query.rank)
    found = [
        (vector[: len(query.rank)], each)
        for vector, keys in _cells(space, query, tracked, k).items()
        for each in keys
    ]
    if not found:
        raise _no_tree(space, query)
    return [Answer(_plain(rank), from_key(each)) for rank, each in sorted(found)[:k]]


def best_tree(space: Space, query: Query | None = None) -> Tree:
    """Return the best tree alone."""
    return best(space, query)[0].tree


def front(space: Space, query: Query | None = None, by: str = "size") -> list[FrontPoint]:
    """Return the least error for every size (or number of leaves, or depth), dominated points left out.

    The criterion is the first error in the query's ranking; the query's constraints hold for every point.
    Among trees with the same two values the one with the least key is given.

    >>> from everytree.reference import Table
    >>> xor = Table([(0, 0), (0, 1), (1, 0), (1, 1)], [(1, 0), (0, 1), (0, 1), (1, 0)])
    >>> [(point.at, point.value) for point in front(Space(xor))]
    [(1, 2), (5, 1), (7, 0)]
    """
    query = _check(query, 1)
    criterion = _front_criterion(query, by)
    tracked = _tracked(query, (by, criterion))
    cells = _cells(space, query, tracked, 1)
    points = [(vector[0], vector[1], keys[0]) for vector, keys in cells.items()]
    return _undominated(space, query, points)


def _tracked(query: Query, wanted: Sequence[str]) -> tuple[str, ...]:
    bounded = [criterion for bound, criterion in BOUNDS.items() if getattr(query, bound) is not None]
    return tuple(dict.fromkeys([*wanted, *bounded]))


def _cells(space: Space, query: Query, tracked: tuple[str, ...], k: int) -> Cells:
    table = space.table
    limits = [
        (tracked.index(criterion), getattr(query, bound))
        for bound, criterion in BOUNDS.items()
        if getattr(query, bound) is not None
    ]
    known: dict[tuple[Cover, int], Cells] = {}

    def cells(cover: Cover, depth: int) -> Cells:
        state = (cover, depth)
        if state in known:
            return known[state]
        found: Cells = {}

        def offer(vector: Vector, each: Key) -> None:
            # Bounded criteria never shrink on the way up, so a subtree over a bound is lost for good.
            if all(vector[place] <= limit for place, limit in limits):
                found.setdefault(vector, []).append(each)

        counts = table.class_counts(cover)
        if leaf_allowed(counts, table, query):
            offer(tuple(leaf_value(name, counts, query) for name in tracked), (-1,))
        for test in space.feasible(cover, depth):
            zero, one = table.children(cover, test)
            for v0, keys0 in cells(zero, depth + 1).items():
                for v1, keys1 in cells(one, depth + 1).items():
                    vector = tuple(join(name, a, b) for name, a, b in zip(tracked, v0, v1, strict=True))
                    for key0 in keys0:
                        for key1 in keys1:
                            offer(vector, (test, *key0, *key1))
        known[state] = {vector: sorted(keys)[:k] for vector, keys in found.items()}
        return known[state]

    return cells(space.root, 0)


# Shared -----------------------------------------------------------------------------------------------------


def _check(query: Query | None, k: int) -> Query:
    if k < 1:
        raise ValueError(f"k={k!r}; ask for at least one tree")
    return Query() if query is None else query


def _front_criterion(query: Query, by: str) -> str:
    if by not in ("size", "leaves", "depth"):
        raise ValueError(f"by={by!r}; a front runs over 'size', 'leaves' or 'depth'")
    return next(name for name in query.rank if name in ERRORS)


def _undominated(space: Space, query: Query, points: list[tuple[Value, Value, Key]]) -> list[FrontPoint]:
    if not points:
        raise _no_tree(space, query)
    kept: list[FrontPoint] = []
    least: Value | None = None
    for at, value, each in sorted(points):
        if least is None or value < least:
            least = value
            kept.append(FrontPoint(int(at), _plain((value,))[0], from_key(each)))
    return kept


def _plain(values: Vector) -> tuple[float, ...]:
    return tuple(value if isinstance(value, int) else float(value) for value in values)


def _no_tree(space: Space, query: Query) -> NoTreeError:
    """Find the smallest set of constraints whose removal admits a tree, and say so."""
    active = query.constraints()
    for how_many in range(1, len(active) + 1):
        guilty = [names for names in combinations(active, how_many) if _admits(space, _without(query, names))]
        if guilty:
            break
    if how_many > 1:
        blamed = " and ".join(f"{name}={active[name]}" for name in guilty[0])
        return NoTreeError(
            f"no tree satisfies the query: {blamed} are too tight together; relax them all", guilty[0], True
        )
    parts = []
    for (name,) in guilty:
        part = f"{name}={active[name]} is too tight"
        if name in BOUNDS:
            part += f" ({_least(space, _without(query, (name,)), BOUNDS[name])} would do)"
        parts.append(part)
    names = tuple(name for (name,) in guilty)
    return NoTreeError("no tree satisfies the query: " + ", or ".join(parts), names, False)


def _without(query: Query, names: Sequence[str]) -> Query:
    # Only feasibility is asked from here on, so a ranking that is legal without any bound will do.
    free: Any = dict.fromkeys(names)
    return replace(query, rank=("error",), **free)


def _admits(space: Space, query: Query) -> bool:
    return bool(_cells(space, query, _tracked(query, ("error",)), 1))


def _least(space: Space, query: Query, criterion: str) -> Value:
    return min(vector[0] for vector in _cells(space, query, _tracked(query, (criterion,)), 1))
